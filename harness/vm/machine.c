/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vm/machine.h"

#include "base/io.h"
#include "base/parse.h"
#include "bpf/marks.h"
#include "vm/guest.h"

#ifdef __x86_64__
#define IS_X86_64 true
#else
#define IS_X86_64 false
#endif

#define BB_TEXT_OF(number) BB_TEXT_OF_(number)
#define BB_TEXT_OF_(number) #number
#define LAST_LINES 8
#define MAX_TEXT (UINT32_C(256) << 20)

/* The kernel's command line. tsc_early_khz makes the TSC exactly 1 GHz. HPET and PM timer are off,
 * because Linux 6.12 measured 999.999 MHz by them, and some runs then had one instruction more. */
#define KERNEL_ARGS                                                                                \
	"console=ttyS0 panic=-1 tsc=reliable tsc_early_khz=1000000 hpet=disable pmtmr=0 "          \
	"no_timer_check mitigations=off nokaslr quiet rdinit=/init"

/* most bytes of each file that QEMU writes: 1.25 times the memory of the guest */
#define MOST_BYTES (UINT64_C(5) << 28)

static int limit_files(void *)
{
	const struct rlimit most = {MOST_BYTES, MOST_BYTES};
	struct rlimit now;

	if (getrlimit(RLIMIT_FSIZE, &now) || (now.rlim_max < MOST_BYTES))
		return 0; /* a lower limit holds already */
	return setrlimit(RLIMIT_FSIZE, &most) ? -errno : 0;
}

static int execute(void *arg, int)
{
	char *const *argv = arg;

	execvp(argv[0], argv);
	return -errno;
}

/* Makes the value of QEMU's option -plugin in text[size]. A comma in the path must be doubled. */
static void name_plugin(const char *path, int trace_fd, char *text, size_t size)
{
	size_t n = 0;

	for (; *path && n + 2 < size; path++) {
		text[n++] = *path;
		if (*path == ',')
			text[n++] = ',';
	}
	snprintf(text + n, size - n, ",out=/proc/self/fd/%d", trace_fd);
}

/* `more` are further arguments of QEMU, ended by NULL. `plugin` is the plugin's path, or NULL. */
static int start_qemu(struct bb_machine *m, const char *const *more, const char *plugin,
		      struct bb_err *err)
{
	bool boots = m->state == BB_MACHINE_BOOTS;
	char console[48], answer[48], plugin_and_out[2 * PATH_MAX + 64], port[64];
	const char *argv[48] = {BB_QEMU, "-nodefaults", "-no-user-config", "-display", "none",
				"-no-reboot", "-M", "pc", "-accel", "tcg,thread=single", "-smp",
				"1", "-m", "1G", "-cpu", BB_MACHINE_CPU, "-icount",
				/* While the guest is idle, its clock jumps to the next timer. At a
				 * terminal it keeps to real time. */
				m->on_terminal ? "shift=0,align=off,sleep=on"
					       : "shift=0,align=off,sleep=off",
				"-rtc", "base=2026-01-01,clock=vm", "-seed", "1", "-serial",
				console, "-serial", answer, "-chardev", port, "-device",
				"isa-debugcon,iobase=" BB_TEXT_OF(BB_MARKS_PORT) ",chardev=port"};
	const char *const traced[] = {"-plugin", plugin_and_out};
	const char *const terminal[] = {"-chardev", "stdio,id=console,signal=off"};
	const struct bb_child_rules rules = {
		.is_program = true,
		.own_group = !m->on_terminal,
		.link = boots ? BB_LINK_TO_CHILD : BB_LINK_NONE,
		.signals = BB_SIGNALS_DEFAULT,
		.std = {boots            ? BB_STD_LINK
			: m->on_terminal ? STDIN_FILENO
					 : BB_STD_NULL,
			m->on_terminal ? STDOUT_FILENO : m->log_fd, m->log_fd},
		.closes_others = true,
		.before = limit_files,
		.keep = (int[]){m->console_fd, m->answer_fd, m->archive_fd, m->saved_fd, m->port_fd,
				m->trace_fd},
		.n_keep = m->trace_fd < 0 ? 5 : 6,
		.no_new_privs = true,
	};
	size_t n = 0;

	while (argv[n])
		n++;
	while (*more)
		argv[n++] = *more++;
	if (m->trace_fd >= 0) {
		memcpy(argv + n, traced, sizeof(traced));
		name_plugin(plugin, m->trace_fd, plugin_and_out, sizeof(plugin_and_out));
	} else if (m->on_terminal) {
		memcpy(argv + n, terminal, sizeof(terminal));
	}
	snprintf(port, sizeof(port), "file,id=port,path=/proc/self/fd/%d", m->port_fd);
	snprintf(console, sizeof(console),
		 m->on_terminal ? "chardev:console" : "file:/proc/self/fd/%d", m->console_fd);
	snprintf(answer, sizeof(answer), "file:/proc/self/fd/%d", m->answer_fd);
	int rc = bb_child__start(&rules, execute, argv, &m->qemu);
	if (!rc)
		rc = bb_child__executed(&m->qemu);
	if (rc == -ENOENT)
		return bb_fail(err, -ENOTSUP,
			       "there is no " BB_QEMU " here, which runs the kernels of --vm: "
			       "install QEMU (Debian: apt install qemu-system-x86)");
	return rc ? bb_fail(err, rc, BB_QEMU ": cannot be started: %m") : 0;
}

/* After an error, m->archive_fd is closed. */
static int start(struct bb_machine *m, const char *const *more, const char *plugin,
		 struct bb_err *err)
{
	int rc;

	m->qemu = (struct bb_child){.fd = -1, .report_fd = -1};
	m->console_fd = memfd_create("bpfbench-console", 0);
	m->answer_fd = memfd_create("bpfbench-answer", 0);
	m->log_fd = memfd_create("bpfbench-qemu", 0);
	m->port_fd = memfd_create("bpfbench-port", 0);
	m->trace_fd = plugin ? memfd_create("bpfbench-trace", 0) : -1;
	m->began_ns = bb_now_ns();
	if (!IS_X86_64)
		rc = bb_fail(err, -ENOTSUP,
			     "--vm needs a host of x86_64: the guest runs this "
			     "bpfbench itself");
	else if (m->console_fd < 0 || m->answer_fd < 0 || m->log_fd < 0 || m->port_fd < 0 ||
		 (plugin && m->trace_fd < 0))
		rc = bb_fail(err, -errno, "no memory for the files of a guest: %m");
	else
		rc = start_qemu(m, more, plugin, err);
	if (rc)
		bb_machine__stop(m);
	return rc;
}

int bb_machine__boot(const char *image, const char *args, int archive_fd, int saved_fd,
		     struct bb_machine *ret_machine, struct bb_err *err)
{
	char initrd[32], command_line[512];
	const char *const booting[] = {"-fw_cfg", "name=" BB_GUEST_JOB ",string=-", "-kernel",
				       image, "-initrd", initrd, "-append", command_line,
				       "-monitor", "stdio",
				       /* do not save that the guest was stopped, so that a copy of
					* it goes on at once */
				       "-global", "migration.store-global-state=off", NULL};

	*ret_machine = (struct bb_machine){.state = BB_MACHINE_BOOTS,
					   .archive_fd = archive_fd,
					   .saved_fd = saved_fd};
	snprintf(initrd, sizeof(initrd), "/proc/self/fd/%d", archive_fd);
	snprintf(command_line, sizeof(command_line), KERNEL_ARGS " %s -- vm-guest", args);
	return start(ret_machine, booting, NULL, err);
}

int bb_machine__run(int saved_fd, size_t skip, int archive_fd, const char *plugin, bool on_terminal,
		    struct bb_machine *ret_machine, struct bb_err *err)
{
	char job[96], incoming[96];
	const char *const going_on[] = {"-fw_cfg", job, "-incoming", incoming, NULL};

	*ret_machine = (struct bb_machine){.state = BB_MACHINE_WORKS,
					   .on_terminal = on_terminal,
					   .archive_fd = archive_fd,
					   .saved_fd = saved_fd};
	snprintf(job, sizeof(job), "name=" BB_GUEST_JOB ",file=/proc/self/fd/%d", archive_fd);
	/* QEMU runs the command after "exec:" in a shell, whose $PPID is QEMU */
	snprintf(incoming, sizeof(incoming), "exec:tail -c +%zu /proc/$PPID/fd/%d", skip + 1,
		 saved_fd);
	return start(ret_machine, going_on, plugin, err);
}

/* Tells QEMU to save the guest and then to end. The guest is stopped first, because QEMU 7.2 once
 * lost a write of a running guest, and the saved guest then panicked each time. */
static int save(struct bb_machine *m, struct bb_err *err)
{
	char commands[192];
	int len = snprintf(commands, sizeof(commands),
			   "stop\nmigrate_set_parameter max-bandwidth 1T\n"
			   "migrate \"exec:cat >>/proc/$PPID/fd/%d\"\ninfo migrate\nquit\n",
			   m->saved_fd);
	int rc = bb_write_all(m->qemu.fd, commands, (size_t)len);

	m->state = BB_MACHINE_IS_SAVED;
	return rc ? bb_fail(err, rc, BB_QEMU " takes no commands: %m") : 0;
}

/* Closes the file and returns its text, or NULL after an error. The caller must free() it. */
static char *take_text(int *fd)
{
	char *text = NULL;
	size_t len = 0;

	if (lseek(*fd, 0, SEEK_SET) || bb_read_and_close(*fd, MAX_TEXT, &text, &len))
		text = NULL;
	*fd = -1;
	return text;
}

/* Removes the carriage returns that a kernel adds to its console. */
static char *take_console(struct bb_machine *m)
{
	char *text = take_text(&m->console_fd), *to = text;

	for (const char *at = text; text && (*to = *at); at++)
		to += *at != '\r';
	return text;
}

static const char *last_lines(const char *text)
{
	const char *at = text + strlen(text);
	int lines = 0;

	while (at > text && isspace((unsigned char)at[-1]))
		at--;
	while (at > text && (at[-1] != '\n' || ++lines < LAST_LINES))
		at--;
	return at;
}

/* Moves the exit code from the end of the answer to end->status. Returns false if there is none. */
static bool split_end(struct bb_machine_end *end)
{
	char *at = end->answer, *last = NULL;
	uint64_t status;

	while ((at = strstr(at, BB_GUEST_ENDED)))
		last = at++;
	if (!last)
		return false;
	*last = '\0';
	last += strlen(BB_GUEST_ENDED);
	last[strcspn(last, "\n")] = '\0';
	end->status = bb_parse_u64(last, &status) ? -1 : (int)status;
	return true;
}

static int read_end(struct bb_machine *m, int status, struct bb_machine_end *end,
		    struct bb_err *err)
{
	char *log = take_text(&m->log_fd);
	int rc = 0;

	*end = (struct bb_machine_end){.answer = take_text(&m->answer_fd),
				       .console = take_console(m),
				       .trace_fd = -1};
	if (m->trace_fd >= 0) {
		end->port = take_text(&m->port_fd);
		end->trace_fd = m->trace_fd;
		m->trace_fd = -1;
	}
	if (!log || !end->answer || !end->console)
		rc = bb_fail(err, -EIO, "the files of the guest cannot be read");
	else if (!WIFEXITED(status) || WEXITSTATUS(status))
		rc = bb_fail(err, m->state == BB_MACHINE_WORKS ? -EUCLEAN : -EIO, BB_QEMU " %s: %s",
			     bb_how_ended(status).text, last_lines(log));
	else if (m->state == BB_MACHINE_IS_SAVED && !strstr(log, "Migration status: completed"))
		rc = bb_fail(err, -EIO, BB_QEMU " cannot save the guest: %s", last_lines(log));
	else if (m->state != BB_MACHINE_IS_SAVED && !split_end(end))
		rc = bb_fail(err, m->state == BB_MACHINE_WORKS ? -EUCLEAN : -EIO,
			     "the guest ended early; its console ended with:\n%s",
			     last_lines(end->console));
	free(log);
	if (rc)
		bb_machine_end__done(end);
	return rc;
}

void bb_machine_end__done(struct bb_machine_end *end)
{
	free(end->answer);
	free(end->console);
	free(end->port);
	bb_close(&end->trace_fd);
	*end = (struct bb_machine_end){.trace_fd = -1};
}

bool bb_machine__has_ended(struct bb_machine *m, double limit_s, struct bb_machine_end *ret_end,
			   int *ret_rc, struct bb_err *err)
{
	struct stat st;
	char *console;
	int status;
	pid_t pid = waitpid(m->qemu.pid, &status, WNOHANG);

	if (pid == m->qemu.pid) {
		m->qemu.pid = 0;
		*ret_rc = read_end(m, status, ret_end, err);
	} else if (bb_process_cpu_s(m->qemu.pid) > limit_s ||
		   bb_seconds_since(m->began_ns) > limit_s * BB_MACHINE_WAITS) {
		/* CPU time does not depend on how busy the host is. A guest that hangs may use
		 * none. */
		bb_child__stop(&m->qemu);
		console = take_console(m);
		*ret_rc = bb_fail(err, -ETIMEDOUT,
				  "the guest did not end within %g s of CPU time or %g s in all "
				  "(--vm-limit); its console ended with:\n%s",
				  limit_s, limit_s * BB_MACHINE_WAITS,
				  console && *console ? last_lines(console) : "(nothing)");
		free(console);
	} else if (m->state != BB_MACHINE_BOOTS || fstat(m->answer_fd, &st) ||
		   st.st_size < (off_t)strlen(BB_GUEST_READY)) {
		return false;
	} else {
		/* A guest that was saved in the middle of BB_GUEST_READY would send the rest before
		 * each later answer. */
		*ret_rc = save(m, err);
		if (!*ret_rc)
			return false;
	}
	bb_machine__stop(m);
	return true;
}

void bb_machine__stop(struct bb_machine *m)
{
	bb_child__stop(&m->qemu);
	bb_close(&m->qemu.fd);
	bb_close(&m->qemu.report_fd);
	bb_close(&m->archive_fd);
	bb_close(&m->console_fd);
	bb_close(&m->answer_fd);
	bb_close(&m->log_fd);
	bb_close(&m->port_fd);
	bb_close(&m->trace_fd);
}
