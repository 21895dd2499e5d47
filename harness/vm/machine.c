/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vm/machine.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/parse.h"
#include "vm/guest.h"

#define QEMU "qemu-system-x86_64"
#ifdef __x86_64__
#define IS_X86_64 true
#else
#define IS_X86_64 false
#endif

#define LAST_LINES 8
#define MAX_TEXT (UINT32_C(256) << 20)

/* Paths of descriptors that QEMU inherits. */
struct paths {
	char initrd[32], console[48], answer[48];
};

static int execute(void *arg, int link_fd)
{
	char *const *argv = arg;

	(void)link_fd;
	execvp(argv[0], argv);
	return -errno;
}

/* Starts QEMU. `m` has the descriptors. */
static int start_qemu(struct bb_machine *m, const char *image, struct bb_err *err)
{
	struct paths p;
	const char *const argv[] = {QEMU, "-nodefaults", "-no-user-config", "-display", "none",
				    "-no-reboot", "-M", "pc", "-accel", "tcg,thread=single", "-smp",
				    "1", "-m", "1G", "-cpu", BB_MACHINE_CPU, "-icount",
				    "shift=0,align=off,sleep=off", "-rtc",
				    "base=2026-01-01,clock=vm", "-seed", "1", "-kernel", image,
				    "-initrd", p.initrd, "-append",
				    /* With tsc_early_khz the TSC is 1 GHz exactly. */
				    "console=ttyS0 panic=-1 tsc=reliable tsc_early_khz=1000000 "
				    "no_timer_check "
				    "mitigations=off nokaslr quiet rdinit=/init -- vm-guest",
				    "-serial", p.console, "-serial", p.answer, NULL};
	const struct bb_child_rules rules = {
		.is_program = true,
		.own_group = true,
		.signals = BB_SIGNALS_DEFAULT,
		.std = {BB_STD_NULL, m->log_fd, m->log_fd},
		.closes_others = true,
		.keep = (int[]){m->initrd_fd, m->console_fd, m->answer_fd},
		.n_keep = 3,
		.no_new_privs = true,
	};
	int rc;

	snprintf(p.initrd, sizeof(p.initrd), "/proc/self/fd/%d", m->initrd_fd);
	snprintf(p.console, sizeof(p.console), "file:/proc/self/fd/%d", m->console_fd);
	snprintf(p.answer, sizeof(p.answer), "file:/proc/self/fd/%d", m->answer_fd);
	rc = bb_child__start(&rules, execute, (void *)(uintptr_t)argv, &m->qemu);
	if (!rc)
		rc = bb_child__executed(&m->qemu);
	if (rc == -ENOENT)
		return bb_fail(err, -ENOTSUP,
			       "there is no " QEMU " here, which runs the kernels of --vm: install "
			       "QEMU (Debian: apt install qemu-system-x86)");
	return rc ? bb_fail(err, rc, QEMU ": cannot be started: %m") : 0;
}

int bb_machine__start(const char *image, int initrd_fd, struct bb_machine *ret_machine,
		      struct bb_err *err)
{
	struct bb_machine m = {.qemu = {.fd = -1, .report_fd = -1},
			       .initrd_fd = initrd_fd,
			       .console_fd = memfd_create("bpfbench-console", 0),
			       .answer_fd = memfd_create("bpfbench-answer", 0),
			       .log_fd = memfd_create("bpfbench-qemu", 0),
			       .began_ns = bb_now_ns()};
	int rc;

	if (!IS_X86_64)
		rc = bb_fail(err, -ENOTSUP,
			     "--vm needs a host of x86_64: the guest runs this "
			     "bpfbench itself");
	else if (m.console_fd < 0 || m.answer_fd < 0 || m.log_fd < 0)
		rc = bb_fail(err, -errno, "no memory for the files of a guest: %m");
	else
		rc = start_qemu(&m, image, err);
	if (rc)
		bb_machine__stop(&m);
	else
		*ret_machine = m;
	return rc;
}

/* Returns the text of a file in memory and closes it; free() it. NULL without memory. */
static char *take_text(int *fd)
{
	char *text = NULL;
	size_t len = 0;

	if (lseek(*fd, 0, SEEK_SET) || bb_read_and_close(*fd, MAX_TEXT, &text, &len))
		text = NULL;
	*fd = -1;
	return text;
}

/* Returns the beginning of the last lines of a text. */
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

/* Splits the exit code from the answer. Returns false if the guest ended before it was written. */
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
				       .console = take_text(&m->console_fd)};
	if (!log || !end->answer || !end->console)
		rc = bb_fail_nomem(err);
	else if (!WIFEXITED(status) || WEXITSTATUS(status))
		rc = bb_fail(err, -EIO, QEMU " %s: %s", bb_how_ended(status).text, last_lines(log));
	else if (!split_end(end))
		rc = bb_fail(err, -EIO, "the guest ended early; its console ended with:\n%s",
			     last_lines(end->console));
	free(log);
	if (rc) {
		free(end->answer);
		free(end->console);
		*end = (struct bb_machine_end){0};
	}
	return rc;
}

static int fail_late(struct bb_machine *m, double limit_s, struct bb_err *err)
{
	char *console = take_text(&m->console_fd);
	int rc = bb_fail(err, -ETIMEDOUT,
			 "the guest did not end within %g s (--vm-limit); its console ended "
			 "with:\n%s",
			 limit_s, console && *console ? last_lines(console) : "(nothing)");

	free(console);
	return rc;
}

bool bb_machine__has_ended(struct bb_machine *m, double limit_s, struct bb_machine_end *ret_end,
			   int *ret_rc, struct bb_err *err)
{
	int status;
	pid_t pid = waitpid(m->qemu.pid, &status, WNOHANG);

	if (pid == m->qemu.pid) {
		m->qemu.pid = 0;
		*ret_rc = read_end(m, status, ret_end, err);
	} else if (bb_seconds_since(m->began_ns) > limit_s) {
		bb_child__stop(&m->qemu);
		*ret_rc = fail_late(m, limit_s, err);
	} else {
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
	bb_close(&m->initrd_fd);
	bb_close(&m->console_fd);
	bb_close(&m->answer_fd);
	bb_close(&m->log_fd);
}
