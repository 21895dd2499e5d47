/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/object_trial.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/deadline.h"
#include "base/stop.h"

#define TRIAL_S 10

/* What is tried: to open elf[len], or to load obj. */
struct trial {
	const char *elf;
	size_t len;
	struct bpf_object *obj;
};

/* Opened, and looked through as we do: the length of all names. */
static size_t open_object(const struct trial *t)
{
	struct bpf_object *obj = bpf_object__open_mem(t->elf, t->len, NULL);
	size_t n = 0;
	struct bpf_program *p;
	struct bpf_map *map;

	if (!obj)
		return 0;
	bpf_object__for_each_program(p, obj)
		n += strlen(bpf_program__name(p)) + strlen(bpf_program__section_name(p));
	bpf_object__for_each_map(map, obj) n += strlen(bpf_map__name(map));
	bpf_object__close(obj);
	return n;
}

static __attribute__((noreturn)) void run_child(const struct trial *t, pid_t parent)
{
	static const int to_default[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL, SIGABRT,
					 SIGALRM, SIGTERM, SIGINT, SIGHUP};
	const struct rlimit none = {0, 0};

	for (size_t i = 0; i < sizeof(to_default) / sizeof(to_default[0]); i++)
		signal(to_default[i], SIG_DFL);
	setrlimit(RLIMIT_CORE, &none);
	alarm(TRIAL_S);
	libbpf_set_print(NULL);
	if (t->obj && !bb_confine_trial(parent))
		bpf_object__close(bpf_object__load(t->obj) ? NULL : t->obj);
	else if (!t->obj && !bb_confine(NULL, 0, parent))
		_exit(open_object(t) > 0); /* whichever: it is alive */
	_exit(0);
}

static int try(const char *path, const struct trial *t, struct bb_err *err)
{
	pid_t parent = getpid(), pid = fork(), rc;
	int status = 0;
	bool is_late = false;

	if (pid == 0)
		run_child(t, parent);
	while ((rc = pid < 0 ? pid : waitpid(pid, &status, 0)) < 0 && pid > 0 && errno == EINTR)
		if (bb_must_end()) {
			is_late = true;
			kill(pid, SIGKILL);
		}
	if (bb_stop_signal)
		return bb_fail(err, -EINTR, "stopped by signal %d (%s) while reading %s",
			       (int)bb_stop_signal, strsignal(bb_stop_signal), path);
	if (is_late)
		return bb_fail(err, -ETIME, "%s: libbpf had not %s it when the budget was over",
			       path, t->obj ? "loaded" : "opened");
	if (rc > 0 && WIFSIGNALED(status))
		return bb_fail(err, -EINVAL,
			       "%s: a damaged BPF object, on which libbpf itself %s (%s) when it "
			       "%s "
			       "it; build it with clang -target bpf -g -O2 -c",
			       path, WTERMSIG(status) == SIGALRM ? "goes on forever" : "crashes",
			       strsignal(WTERMSIG(status)), t->obj ? "loads" : "opens");
	return 0;
}

int bb_object_trial_open(const char *path, const char *elf, size_t len, struct bb_err *err)
{
	return try(path, &(struct trial){.elf = elf, .len = len}, err);
}

int bb_object_trial_load(const char *path, struct bpf_object *obj, struct bb_err *err)
{
	return try(path, &(struct trial){.obj = obj}, err);
}
