/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/io.h"
#include "base/parse.h"
#include "base/stop.h"
#include "profile/task_events.h"

/*
 * The command to profile: a child of ours, which waits before its exec until it is let go, so that
 * nothing of it is missed. It runs as the user given, in a clean environment with `env`
 * (base/child.h), its stdout goes to our stderr, and the kernel kills it if we die.
 */
struct command {
	struct bb_child child; /* pid 0: none, or it has ended */
	int status;            /* as of waitpid(), once it has ended */
};

#define TERM_MS 2000 /* what it has to end by itself */

/* Where no byte comes, our parent has ended: nobody is there to be told. */
static int wait_and_execute(void *arg, int go_fd)
{
	char *const *argv = arg;

	if (bb_child__sleep(go_fd) != 'g')
		return -ESRCH;
	execvp(argv[0], argv);
	return -errno;
}

/* argv ends with NULL. */
static int command_start(const struct bb_recording_opts *o, struct command *ret_command,
			 struct bb_err *err)
{
	const struct bb_child_rules rules = {
		.link = BB_LINK_TO_CHILD,
		.signals = BB_SIGNALS_DEFAULT,
		.is_program = true,
		.env = o->env,
		.std = {0, STDERR_FILENO},
		.uid = o->uid,
		.gid = o->gid,
	};
	int rc = bb_child__start(&rules, wait_and_execute, (void *)(uintptr_t)o->argv,
				 &ret_command->child);

	return rc ? bb_fail(err, rc, "cannot start '%s': %s", o->argv[0], strerror(-rc)) : 0;
}

/* Let it run. Errors: it cannot be executed. */
static int command_go(struct command *c, const char *name, struct bb_err *err)
{
	int rc;

	if (write(c->child.fd, "g", 1) < 0)
		return 0; /* it died as it waited: has_ended() will say so */
	rc = bb_child__executed(&c->child);
	return rc ? bb_fail(err, rc, "cannot run '%s': %s", name, strerror(-rc)) : 0;
}

static bool command_has_ended(struct command *c)
{
	if (c->child.pid && waitpid(c->child.pid, &c->status, WNOHANG) == c->child.pid)
		c->child.pid = 0;
	return !c->child.pid;
}

/* End it, first by SIGTERM. Nothing if it has ended. */
static void command_end(struct command *c)
{
	const struct timespec step = {.tv_nsec = 10000000};

	close(c->child.fd); /* it may wait for that */
	if (c->child.report_fd >= 0)
		close(c->child.report_fd);
	if (command_has_ended(c))
		return;
	kill(c->child.pid, SIGTERM);
	kill(c->child.pid, SIGCONT);
	for (int waited_ms = 0; waited_ms < TERM_MS && !command_has_ended(c); waited_ms += 10)
		nanosleep(&step, NULL);
	if (!c->child.pid)
		return;
	kill(c->child.pid, SIGKILL);
	c->status = bb_wait_for(c->child.pid);
}

/* how soon files of new processes are opened, and the end of the workload is seen */
#define POLL_MS 50
#define KALLSYMS_MAX_BYTES (256u << 20)
#define FIRST_PID_NAMESPACE 0xEFFFFFFCu /* PROC_PID_INIT_INO of include/linux/proc_ns.h */

/* `pid` 0: all processes. */
static int check_process(pid_t pid, struct bb_err *err)
{
	char path[64];
	struct stat st;

	/* BPF counts processes as the first PID namespace does. */
	if (!stat("/proc/self/ns/pid", &st) && st.st_ino != FIRST_PID_NAMESPACE)
		return bb_fail(err, -ENOTSUP,
			       "profile cannot tell processes apart from within a PID namespace (a "
			       "container); run it on the host");
	/* A thread's number is in /proc too, but not among its folders. */
	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)pid);
	if (pid && stat(path, &st))
		return bb_fail(err, -ESRCH, "there is no process %d in /proc", (int)pid);
	return 0;
}

/* What is mapped already, by the process or by all. */
static int log_existing(struct bb_spaces *spaces, pid_t pid)
{
	uint64_t now_ns = bb_now_ns();
	struct dirent *entry;
	DIR *proc;
	int rc = 0;

	if (pid)
		return bb_spaces__log_proc(spaces, pid, now_ns);
	proc = opendir("/proc");
	if (!proc)
		return -errno;
	while (!rc && (entry = readdir(proc))) {
		uint64_t number;

		if (!bb_parse_u64(entry->d_name, &number))
			rc = bb_spaces__log_proc(spaces, (pid_t)number, now_ns);
	}
	closedir(proc);
	return rc;
}

int bb_kernel_symbols(struct bb_symtab *t, struct bb_err *err)
{
	char *text;
	size_t len;
	int rc = bb_read_proc("/proc/kallsyms", KALLSYMS_MAX_BYTES, &text, &len, NULL);

	if (rc)
		return rc == -ENOMEM ? bb_fail_nomem(err) : 0; /* without names, then */
	rc = bb_symtab__add_kallsyms(t, text);
	free(text);
	bb_symtab__sort(t);
	return rc ? bb_fail_nomem(err) : 0;
}

struct bb_recorder {
	struct bb_task_events events;
	struct bb_sampler *sampler;
	struct bb_recording recording;
	uint64_t began_ns;
};

int bb_recorder__start(const struct bb_sampler_opts *opts, struct bb_recorder **ret_recorder,
		       struct bb_err *err)
{
	struct bb_recorder *r;
	int rc = check_process(opts->pid, err);

	if (rc)
		return rc;
	r = calloc(1, sizeof(*r));
	if (!r)
		return bb_fail_nomem(err);
	bb_open_files__allow_more(); /* each file that code is mapped from is kept open */
	rc = bb_task_events__open(&r->recording.spaces, &r->events, err);
	if (!rc) {
		rc = log_existing(&r->recording.spaces, opts->pid);
		if (rc)
			bb_fail(err, rc, "reading /proc: %s", strerror(-rc));
	}
	if (!rc)
		rc = bb_sampler__start(opts, &r->sampler, err);
	r->began_ns = bb_now_ns();
	if (rc)
		bb_recorder__free(r);
	else
		*ret_recorder = r;
	return rc;
}

static int drain(struct bb_recorder *r, struct bb_err *err)
{
	int rc = bb_task_events__drain(&r->events);

	return rc ? bb_fail(err, rc, "cannot follow the code mappings of processes: %s",
			    strerror(-rc))
		  : 0;
}

int bb_recorder__poll(struct bb_recorder *r, int timeout_ms, struct bb_err *err)
{
	int rc = bb_sampler__poll(r->sampler, timeout_ms, err);

	return rc ? rc : drain(r, err);
}

int bb_recorder__finish(struct bb_recorder *r, struct bb_recording *ret_recording,
			struct bb_err *err)
{
	struct bb_recording *recording = &r->recording;
	int rc;

	bb_sampler__stop(r->sampler);
	recording->seconds = bb_seconds_since(r->began_ns);
	rc = drain(r, err);
	if (!rc)
		rc = bb_sampler__collect(r->sampler, &recording->samples, &recording->stats, err);
	/* as long as our own programs are among them */
	if (!rc)
		rc = bb_kernel_symbols(&recording->kernel, err);
	if (!rc && bb_spaces__replay(&recording->spaces))
		rc = bb_fail_nomem(err);
	if (rc)
		return rc;
	recording->lost_task_events = r->events.lost;
	*ret_recording = *recording;
	memset(recording, 0, sizeof(*recording));
	return 0;
}

void bb_recorder__free(struct bb_recorder *r)
{
	if (!r)
		return;
	bb_recording__done(&r->recording);
	bb_sampler__free(r->sampler);
	bb_task_events__close(&r->events);
	free(r);
}

static bool is_over(const struct bb_recording_opts *o, struct command *command, uint64_t began_ns)
{
	if (bb_stop_signal || bb_seconds_since(began_ns) >= o->seconds)
		return true;
	if (o->argv)
		return command_has_ended(command);
	return o->sampler.pid && kill(o->sampler.pid, 0) && errno == ESRCH;
}

int bb_recording__take(const struct bb_recording_opts *opts, struct bb_recording *ret_recording,
		       struct bb_err *err)
{
	struct bb_sampler_opts sampler = opts->sampler;
	struct command command = {.child = {.fd = -1}};
	struct bb_recorder *r = NULL;
	uint64_t began_ns;
	int rc = opts->argv ? command_start(opts, &command, err) : 0;

	if (opts->argv)
		sampler.pid = command.child.pid;
	if (!rc)
		rc = bb_recorder__start(&sampler, &r, err);
	began_ns = bb_now_ns();
	if (!rc && opts->argv)
		rc = command_go(&command, opts->argv[0], err);
	while (!rc && !is_over(opts, &command, began_ns)) {
		double left_ms = (opts->seconds - bb_seconds_since(began_ns)) * 1000;

		rc = bb_recorder__poll(r, left_ms < POLL_MS ? (int)left_ms + 1 : POLL_MS, err);
	}
	if (!rc)
		rc = bb_recorder__finish(r, ret_recording, err);
	bb_recorder__free(r);
	if (command.child.fd >= 0)
		command_end(&command);
	if (!rc)
		ret_recording->command_status = command.status;
	return rc;
}

void bb_recording__done(struct bb_recording *r)
{
	bb_samples__done(&r->samples);
	bb_spaces__done(&r->spaces);
	bb_symtab__done(&r->kernel);
	memset(r, 0, sizeof(*r));
}
