/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/vm_run.h"

#include <termios.h>

#include "base/caller.h"
#include "base/io.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "base/deadline.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "export/documents.h"
#include "export/matrix.h"
#include "store/run_json.h"
#include "store/store.h"
#include "vm/guest.h"
#include "vm/initramfs.h"
#include "vm/kernels.h"
#include "vm/machine.h"
#include "vm/saved.h"

#define ARGS struct bb_measure_args

const struct bb_option bb_vm_options[] = {
	{"vm", 0, "KERNEL[,...]", bb_read_once, BB_ARG(kernels),
	 "run the programs in these kernels instead, each in an emulated guest (QEMU) that counts "
	 "machine instructions; needs no root. KERNEL is one of `bpfbench vm list`, or the path "
	 "of a bzImage"},
	{"vm-limit", 0, "SECONDS", bb_read_double, BB_ARG(vm_limit_s),
	 "kill a guest that takes more CPU time than that (default 300), or four times as long", 1,
	 86400},
	{0},
};

struct guest {
	struct bb_kernel kernel;
	struct bb_machine machine;
	struct bb_new_guest fresh; /* the guest while it boots */
	/* descriptors of the saved guest and of the archive of its job; -1 if there is none */
	int saved_fd, job_fd;
	bool runs;
	/* true if no saved guest exists, or if QEMU cannot continue it */
	bool must_boot;
	struct bb_report *run;     /* NULL if the guest failed, for the reason in `err` */
	struct bb_machine_end end; /* if `run` is set, only `port` and `trace_fd` are of use */
	struct bb_err err;
};

struct guests {
	struct guest *v;
	size_t n;
	const struct bb_measure_args *m;
	const struct bb_vm_work *work;
	size_t n_failing; /* programs that have failed by work->judge */
	enum {
		MEASURES,
		BUILDS, /* boots and saves guests, and gives them no job */
		OPENS_SHELL,
	} aim;
	int status;                       /* exit code of the shell, or -1 if unknown */
	struct bb_matrix_kernel *columns; /* columns[n], made when all guests have ended */
	struct bb_progress_bar bar;
};

/* CPU time in which QEMU boots and saves a guest on an AMD EPYC, s, for the progress bar */
#define BOOT_S 15.0

/* A guest's budget without --budget, as a share of --vm-limit. A second of the guest's clock is
 * about one second of QEMU's CPU time. */
#define GUEST_BUDGET 0.5

#define GUEST_SAMPLES 1000u
#define LINE_SAMPLES 200u

void bb_vm__append_option(struct bb_vm_work *work, const char *name, const char *value)
{
	if (value)
		bb_strings__append(&work->args, bb_asprintf("--%s=%s", name, value));
}

void bb_vm__append_options(struct bb_vm_work *work, const char *name, const struct bb_strings *v)
{
	for (size_t i = 0; i < v->n; i++)
		bb_vm__append_option(work, name, v->v[i]);
}

void bb_vm__append_file(struct bb_vm_work *work, const char *path)
{
	char *dir = getcwd(NULL, 0), *whole;

	whole = bb_asprintf("%s/%s", dir ? dir : "", path);
	bb_strings__append(&work->files, path[0] == '/' ? path : whole);
	free(dir);
}

int bb_vm__begin_work(struct bb_vm_work *work, const struct bb_measure_args *m,
		      const struct bb_object_args *a, struct bb_err *err)
{
	static const char *const common[] = {"bpfbench",      "run",
					     "--no-store",    "--quiet",
					     "--format=json", "--no-wait",
					     "--in-guest",    "--output=" BB_GUEST_LINE};
	int rc = bb_caller__become(err);

	for (size_t i = 0; i < BB_LEN(common); i++)
		bb_strings__append(&work->args, common[i]);
	bb_strings__append(&work->args, bb_asprintf("--seed=%" PRIu64, m->seed));
	bb_strings__append(&work->args,
			   bb_asprintf("--budget=%g",
				       m->has_budget ? m->budget_s : GUEST_BUDGET * m->vm_limit_s));
	for (const struct bb_option *o = bb_object_options; a && o->name; o++) {
		const void *member = (const char *)a + o->at;
		const struct bb_strings *v = member;

		if (o->read == bb_read_strings)
			bb_vm__append_options(work, o->name, v);
		else if (o->read == bb_read_text)
			bb_vm__append_option(work, o->name, *(const char *const *)member);
		else if (*(const bool *)member)
			bb_strings__append(&work->args, bb_asprintf("--%s", o->name));
		for (size_t i = 0; o->value && strstr(o->value, "FILE") && i < v->n; i++)
			bb_vm__append_file(work, bb_object_args__path(v->v[i]));
	}
	return rc;
}

/* `most` is the default of `samples`. */
static void name_amounts(struct bb_vm_work *work, uint32_t loads, uint32_t samples, uint32_t most)
{
	bb_strings__append(&work->args, bb_asprintf("--loads=%u", loads ? loads : 1));
	bb_strings__append(&work->args, bb_asprintf("--samples=%u", samples ? samples : most));
}

void bb_vm__name_drives(struct bb_vm_work *work, const struct bb_scenario *s,
			const struct bb_strings *drives, uint32_t loads, uint32_t samples)
{
	static const char *const counting[] = {"step", "exact"};

	bb_vm__append_options(work, "drive", drives);
	for (size_t i = 0; !drives->n && i < BB_LEN(counting); i++)
		if (!s || BB_ANY(s->drives, s->n_drives, !strcmp(bb_drive_name(it), counting[i])))
			bb_vm__append_option(work, "drive", counting[i]);
	name_amounts(work, loads, samples, GUEST_SAMPLES);
}

void bb_vm__name_lines(struct bb_vm_work *work, uint32_t loads, uint32_t samples)
{
	bb_strings__append(&work->args, "--lines");
	name_amounts(work, loads, samples, LINE_SAMPLES);
}

static int add_kernel(struct guests *g, const char *name, struct bb_err *err)
{
	struct guest *guest = bb_append(&g->v, &g->n, sizeof(*guest));

	guest->saved_fd = guest->job_fd = guest->fresh.fd = guest->end.trace_fd = -1;
	return bb_kernel__find(name, &guest->kernel, err);
}

static int find_kernels(struct guests *g, struct bb_err *err)
{
	char *names = bb_strdup(g->m->kernels), *rest = names, *name;
	int rc = 0;

	while (!rc && (name = strsep(&rest, ",")))
		rc = add_kernel(g, name, err);
	free(names);
	return rc;
}

/* Packs the command and its files. Returns a descriptor of the archive, or -errno with a
 * message. */
static int pack_job(const struct guests *g, struct bb_err *err)
{
	static const char *folders[1];
	const struct bb_paths *paths = bb_paths(err);
	struct bb_guest_job job = {
		.program = g->aim == OPENS_SHELL ? g->work->args.v[0] : NULL,
		.args = g->work->args,
	};
	char *dir = paths ? getcwd(NULL, 0) : NULL;

	if (!paths)
		return err->code;
	if (!dir)
		return bb_fail(err, -errno, "the current folder: %m");
	const char **all = bb_calloc(g->work->files.n + 2, sizeof(*all));
	all[0] = paths->object_dir;
	all[1] = paths->workload_dir;
	for (size_t i = 0; i < g->work->files.n; i++)
		all[i + 2] = g->work->files.v[i];
	folders[0] = paths->scenario_dir;
	job.dir = dir;
	job.files = (struct bb_strings){all, g->work->files.n + 2};
	job.folders = (struct bb_strings){folders, 1};
	int rc = bb_guest_job__make(&job, err);
	free(all);
	free(dir);
	return rc;
}

static int start_job(const struct guests *g, struct guest *guest, struct bb_err *err)
{
	int rc = bb_machine__run(guest->saved_fd, BB_SAVED_KEY_BYTES, guest->job_fd,
				 g->work->plugin, g->aim == OPENS_SHELL, &guest->machine, err);

	guest->job_fd = -1; /* the machine owns job_fd now */
	guest->runs = !rc;
	return rc;
}

static int start(const struct guests *g, struct guest *guest, struct bb_err *err)
{
	int rc = 0;

	if (g->aim != BUILDS) {
		rc = pack_job(g, err);
		if (rc < 0)
			return rc;
		guest->job_fd = rc;
	}
	if (guest->saved_fd >= 0 && g->aim != BUILDS)
		return start_job(g, guest, err);
	if (guest->saved_fd >= 0) {
		bb_tell("Linux %s: its guest is there already", guest->kernel.name);
		return 0;
	}
	if (!g->m->quiet && !g->bar.on)
		bb_tell("booting Linux %s; the next time it is ready at once", guest->kernel.name);
	rc = bb_new_guest__begin(&guest->kernel, &guest->fresh, err);
	if (rc)
		return rc;
	rc = bb_initramfs__make(guest->kernel.modules, err);
	if (rc >= 0)
		rc = bb_machine__boot(guest->kernel.image, guest->kernel.args, rc, guest->fresh.fd,
				      &guest->machine, err);
	guest->runs = !rc;
	return rc ? bb_new_guest__finish(&guest->fresh, rc, err) : 0;
}

/* Returns the last message of bpfbench in the guest, or all of the console if there is none. */
static const char *last_message(char *console)
{
	static const char by_us[] = "bpfbench: ";
	char *last = NULL;

	for (char *at = console; (at = strstr(at, by_us)); at++)
		if (at == console || at[-1] == '\n')
			last = at + strlen(by_us);
	if (!last)
		return console;
	last[strcspn(last, "\n")] = '\0';
	return last;
}

/* The run gets a new id, because all guests begin with the same clock and seed and would make equal
 * ids. */
static int read_run(const struct guests *g, struct guest *guest, struct bb_err *err)
{
	const struct bb_machine_end *end = &guest->end;
	const char *slash = strrchr(guest->kernel.name, '/');
	FILE *in = *end->answer ? fmemopen(end->answer, strlen(end->answer), "r") : NULL;
	char *name = NULL;
	int rc = in ? bb_run_json__read(in, "(the guest's run)", &guest->run, err)
		    : bb_fail(err, -EIO, "bpfbench in the guest ended with exit code %d: %s",
			      end->status, last_message(end->console));

	if (in)
		fclose(in);
	if (rc)
		return rc;
	for (size_t i = 0; i < guest->run->n_timed; i++)
		guest->run->timed[i].counts_instructions = true;
	name = bb_asprintf("%s-%s", g->work->name, slash ? slash + 1 : guest->kernel.name);
	bb_measure__name_run(guest->run, g->m, name);
	free(name);
	return rc;
}

/* Takes the result of a guest that has ended. After booting it is the saved guest, in which the job
 * then begins. After a job it is the guest's run and exit code. Returns false if the guest goes
 * on. */
static bool take_end(struct guests *g, struct guest *guest, int rc)
{
	guest->runs = false;
	if (guest->fresh.fd >= 0) {
		bb_machine_end__done(&guest->end);
		rc = bb_new_guest__finish(&guest->fresh, rc, &guest->err);
		guest->saved_fd = rc < 0 ? -1 : rc;
		return rc < 0 || g->aim == BUILDS || start_job(g, guest, &guest->err);
	}
	/* The saved guest could not finish its job. Boot its kernel again, but only once. */
	if (rc == -EUCLEAN && !guest->must_boot && !g->work->plugin) {
		bb_tell("Linux %s boots again, as its saved guest may be damaged: %s",
			guest->kernel.name, guest->err.msg);
		guest->must_boot = true;
		guest->err = (struct bb_err){0};
		bb_close(&guest->saved_fd);
		if (!start(g, guest, &guest->err))
			return false;
	}
	g->status = guest->end.status;
	if (!rc && g->aim == MEASURES)
		rc = read_run(g, guest, &guest->err);
	if (rc) {
		bb_report__free(guest->run);
		guest->run = NULL;
	}
	return true;
}

static void show_progress(struct guests *g)
{
	double done_s = 0, total_s = 0;
	char names[96] = "", what[128];

	for (size_t i = 0; i < g->n; i++) {
		const struct guest *guest = &g->v[i];
		bool boots = guest->runs && guest->fresh.fd >= 0;

		if (!guest->must_boot)
			continue;
		total_s += BOOT_S;
		if (boots) {
			bb_list_words(names, sizeof(names), ", ", "%s", guest->kernel.name);
			done_s += fmin(bb_process_cpu_s(guest->machine.qemu.pid), 0.95 * BOOT_S);
		} else if (guest->saved_fd >= 0 || guest->err.code) {
			done_s += BOOT_S;
		}
	}
	snprintf(what, sizeof(what), "booting Linux %s", names);
	if (*names)
		bb_progress_bar__update(&g->bar, done_s, total_s, what);
	else
		bb_progress_bar__erase(&g->bar);
}

/* Returns 0 when a guest has ended, or -EINTR. */
static int wait_for_one(struct guests *g, struct bb_err *err)
{
	while (!bb_stop_signal) {
		for (size_t i = 0; i < g->n; i++) {
			struct guest *guest = &g->v[i];
			int rc;

			if (guest->runs &&
			    bb_machine__has_ended(&guest->machine, g->m->vm_limit_s, &guest->end,
						  &rc, &guest->err) &&
			    take_end(g, guest, rc))
				return 0;
		}
		show_progress(g);
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	}
	return bb_fail_stopped(err, "", "");
}

/* Runs at most one guest per CPU at once. */
static int run_all(struct guests *g, struct bb_err *err)
{
	size_t most, running = 0, next = 0;
	cpu_set_t cpus;
	int rc = 0;

	for (size_t i = 0; i < g->n; i++) {
		int fd = bb_saved_guest__open(&g->v[i].kernel);

		g->v[i].must_boot = fd < 0;
		g->v[i].saved_fd = fd < 0 ? -1 : fd;
	}
	g->bar = bb_progress_bar__make(g->m->quiet);
	most = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : (size_t)CPU_COUNT(&cpus);
	while (!rc && (next < g->n || running)) {
		if (next < g->n && running < most) {
			rc = start(g, &g->v[next], err);
			running += g->v[next++].runs;
			continue;
		}
		rc = wait_for_one(g, err);
		running--;
	}
	bb_progress_bar__end(&g->bar);
	return rc;
}

static void write_text(struct guests *g, FILE *out)
{
	struct bb_doc d = {0};
	char *object = NULL;

	if (g->work->judge)
		g->n_failing = bb_doc_matrix_pairs(g->columns, g->n, g->work->judge, &d);
	else {
		object = bb_command_value(g->m->command, "--object");
		bb_doc_matrix(g->columns, g->n, &d);
		/* One kernel is enough, because failed lookups are the same on each kernel. */
		if (g->v[g->n - 1].run)
			bb_doc_in_vain(g->v[g->n - 1].run, NULL, &d);
		bb_doc__add(&d, BB_DOC_FAINT, "next",
			    "`bpfbench annotate --vm %s %s` (machine instructions by line)",
			    g->v[g->n - 1].kernel.name, object ? object : "OBJECT");
		bb_doc__add(&d, BB_DOC_FAINT, "after a change",
			    "`bpfbench compare OLD.o NEW.o --vm %s`", g->m->kernels);
	}
	free(object);
	bb_output_render(&d, g->m->format && g->m->format->is_markdown, g->m->output, out);
}

static int write_matrix(void *arg, FILE *out, struct bb_err *)
{
	struct guests *g = arg;
	const char *format = g->m->format ? g->m->format->name : "table";
	struct bb_json w = {.out = out};

	if (!strcmp(format, "json")) {
		bb_json__open(&w, NULL, "{");
		for (size_t i = 0; i < g->n; i++)
			if (g->v[i].run)
				bb_run_json__write(g->v[i].run,
						   bb_json__add(&w, g->v[i].kernel.name));
		bb_json__end(&w);
	} else if (!strcmp(format, "bmf")) {
		bb_matrix__write_bmf(g->columns, g->n, out);
	} else {
		write_text(g, out);
	}
	return 0;
}

static void done_guests(struct guests *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct guest *guest = &g->v[i];

		if (guest->runs)
			bb_machine__stop(&guest->machine);
		if (guest->fresh.fd >= 0)
			bb_new_guest__finish(&guest->fresh, -EINTR, NULL);
		bb_close(&guest->saved_fd);
		bb_close(&guest->job_fd);
		bb_machine_end__done(&guest->end);
		bb_report__free(guest->run);
		bb_kernel__done(&guest->kernel);
	}
	free(g->columns);
	free(g->v);
}

int bb_vm__check(const struct bb_measure_args *m, struct bb_err *err)
{
	struct guests g = {.m = m};
	int rc = find_kernels(&g, err);

	done_guests(&g);
	return rc;
}

int bb_vm__measure(const struct bb_measure_args *m, const struct bb_vm_work *work,
		   struct bb_err *err)
{
	struct guests g = {.m = m, .work = work};
	bool is_document = !m->format || m->format->is_markdown ||
			   !strcmp(m->format->name, "table");
	bool failed, is_judged = work->judge, has_work = !is_judged || work->judge->n_pairs;
	int rc = bb_output_check(m->output, err);

	if (is_judged && !is_document)
		bb_usage_error("a comparison by --vm has the formats table and markdown");
	if (!is_document && strcmp(m->format->name, "json") && strcmp(m->format->name, "bmf"))
		bb_usage_error("--vm has the formats table, markdown, json and bmf; `bpfbench show "
			       "--format %s` prints the stored run of one kernel",
			       m->format->name);
	if (!rc && has_work)
		rc = find_kernels(&g, err);
	if (!rc)
		rc = run_all(&g, err);
	for (size_t i = 0; !rc && !m->no_store && i < g.n; i++) {
		const struct bb_report *r = g.v[i].run;
		char *path = NULL;

		if (!r || !bb_report__has_samples(r))
			continue;
		rc = bb_store__write(m->results, r, &path, err);
		if (!rc && !m->quiet)
			bb_tell("run stored as %s%s%s", path,
				r->n_timed ? "; by line: bpfbench annotate --time " : "",
				r->n_timed ? r->id : "");
		free(path);
	}
	bool is_shown = work->show || is_judged || BB_ANY(g.v, g.n, it->run);
	g.columns = bb_calloc(g.n + 1, sizeof(*g.columns));
	for (size_t i = 0; i < g.n; i++)
		g.columns[i] = (struct bb_matrix_kernel){g.v[i].kernel.name, g.v[i].run,
							 g.v[i].err.msg, g.v[i].end.port,
							 g.v[i].end.trace_fd};
	if (!rc && is_shown)
		rc = work->show ? work->show(work->arg, g.columns, g.n, err)
				: bb_output_of(write_matrix, &g, m->output, err);
	/* some formats cannot say why guests failed */
	if (!rc && (!is_shown || (m->format && !m->format->is_markdown)))
		for (size_t i = 0; i < g.n; i++)
			if (!g.v[i].run)
				bb_tell("%s: %s", g.v[i].kernel.name, g.v[i].err.msg);
	failed = BB_ANY(g.v, g.n, !it->run || it->run->incomplete);
	done_guests(&g);
	return rc ? rc : g.n_failing ? BB_EXIT_REGRESSION : failed ? BB_EXIT_FAILURE : BB_EXIT_OK;
}

static int run_all_or_fail(struct guests *g, struct bb_err *err)
{
	int rc = run_all(g, err);

	for (size_t i = 0; !rc && i < g->n; i++)
		if (g->v[i].err.code)
			rc = bb_fail(err, g->v[i].err.code, "%s: %s", g->v[i].kernel.name,
				     g->v[i].err.msg);
	return rc;
}

int bb_vm__build(const struct bb_strings *kernels, struct bb_err *err)
{
	const struct bb_measure_args m = {.vm_limit_s = BB_VM_LIMIT_S};
	struct guests g = {.m = &m, .aim = BUILDS};
	int rc = 0;

	for (size_t i = 0; !rc && i < kernels->n; i++)
		rc = add_kernel(&g, kernels->v[i], err);
	if (!rc)
		rc = run_all_or_fail(&g, err);
	for (size_t i = 0; i < g.n; i++) {
		const struct guest *guest = &g.v[i];
		struct stat st;

		if (guest->must_boot && guest->saved_fd >= 0 && !fstat(guest->saved_fd, &st))
			bb_tell("Linux %s: saved, %.0f MB", guest->kernel.name,
				1e-6 * (double)st.st_size);
	}
	done_guests(&g);
	return rc;
}

/* A static program needs no library in the guest. Debian has it in busybox-static. */
#define BUSYBOX "/bin/busybox"
#define WITH_COMMANDS                                                                              \
	BUSYBOX " --install -s /bin; stty -F /dev/ttyS0 cols 80; ln -sf \"$0\" /bin/bpfbench; "
#define ON_CONSOLE ">/dev/ttyS0 2>&1"

int bb_vm__shell(const char *kernel, const struct bb_strings *files, struct bb_err *err)
{
	const char *args[] = {BUSYBOX,
			      "sh",
			      "-c",
			      WITH_COMMANDS "exec setsid -c sh </dev/ttyS0 " ON_CONSOLE,
			      bb_guest_program(),
			      ""};
	const struct bb_measure_args m = {.kernels = kernel, .vm_limit_s = INFINITY};
	struct bb_vm_work work = {.args = {args, BB_LEN(args)}};
	struct guests g = {.m = &m, .work = &work, .aim = OPENS_SHELL};
	char *script = NULL;
	size_t size = 0;
	struct termios terminal;
	bool has_terminal = !tcgetattr(STDIN_FILENO, &terminal);
	int rc = find_kernels(&g, err);

	/* QEMU sets up the terminal, and the kernel stops a background process that does so. */
	if (!rc && has_terminal && tcgetpgrp(STDIN_FILENO) != getpgrp()) {
		has_terminal = false;
		rc = bb_fail(err, -EINVAL,
			     "the shell needs its terminal, and this process is in the background "
			     "of it: try `fg`, or `timeout --foreground`");
	}
	if (!rc && access(BUSYBOX, X_OK))
		rc = bb_fail(err, -ENOTSUP,
			     BUSYBOX ", which gives the guest its commands: %m (Debian: "
				     "apt install busybox-static)");
	if (!rc && !isatty(STDIN_FILENO)) {
		/* getdelim() below reads all of stdin, or up to a NUL */
		args[3] = WITH_COMMANDS "stty -F /dev/ttyS0 -onlcr; exec sh -c \"$1\" " ON_CONSOLE;
		args[5] = getdelim(&script, &size, '\0', stdin) > 0 ? script : "";
	}
	bb_vm__append_file(&work, BUSYBOX);
	for (size_t i = 0; i < files->n; i++)
		bb_vm__append_file(&work, files->v[i]);
	if (!rc)
		rc = run_all_or_fail(&g, err);
	done_guests(&g);
	if (has_terminal) /* QEMU does this itself, unless it was killed */
		tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal);
	free(script);
	return rc ? rc : g.status < 0 ? BB_EXIT_FAILURE : g.status;
}
