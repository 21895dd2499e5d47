/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a BPF object file by libbpf: first in a child process, then here. A fork of a process with
 * sanitizers takes 10 ms, so one child opens many inputs, until an input makes it crash. The
 * functions below replace those of object_trial.c.
 */
#include "fuzz/fuzz.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "bpf/object_info.h"
#include "bpf/object_trial.h"

#define MAX_BYTES ((size_t)1 << 20)
#define TRIAL_S 10

extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static struct {
	char *elf; /* memory of MAX_BYTES that the child shares */
	int to, from;
	pid_t pid; /* 0: there is no child */
} child;

static void open_object(const char *elf, size_t len)
{
	struct bpf_object *obj = bpf_object__open_mem(elf, len, NULL);
	struct bpf_program *p;
	struct bpf_map *map;

	if (!obj)
		return;
	bpf_object__for_each_program(p, obj)
	{
		fuzz_touch(bpf_program__name(p), strlen(bpf_program__name(p)));
		fuzz_touch(bpf_program__section_name(p), strlen(bpf_program__section_name(p)));
	}
	bpf_object__for_each_map(map, obj)
		fuzz_touch(bpf_map__name(map), strlen(bpf_map__name(map)));
	bpf_object__close(obj);
}

/* Resets signal handlers, so that libFuzzer does not report a crash of the child as a find. Each
 * input is copied to memory of its exact size, so that the sanitizers see reads beyond its end. */
static __attribute__((noreturn)) void run_child(int from, int to)
{
	static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGTERM};
	size_t len;

	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		signal(deadly[i], SIG_DFL);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(NULL);
	if (!freopen("/dev/null", "w", stderr))
		_exit(1);
	libbpf_set_print(NULL);
	while (read(from, &len, sizeof(len)) == sizeof(len)) {
		char *elf = malloc(len);

		if (!elf)
			_exit(1);
		memcpy(elf, child.elf, len);
		alarm(TRIAL_S);
		open_object(elf, len);
		alarm(0);
		free(elf);
		if (write(to, "", 1) != 1)
			break;
	}
	_exit(0);
}

static void start_child(void)
{
	int to[2], from[2];

	if (!child.elf)
		child.elf = mmap(NULL, MAX_BYTES, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (child.elf == MAP_FAILED || pipe(to) || pipe(from))
		abort();
	child.pid = fork();
	if (child.pid < 0)
		abort();
	if (!child.pid) {
		close(to[1]);
		close(from[0]);
		run_child(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	child.to = to[1];
	child.from = from[0];
}

static void bury_child(void)
{
	close(child.to);
	close(child.from);
	waitpid(child.pid, NULL, 0);
	child.pid = 0;
}

/* This function and the next replace those that bpf/object_trial.h declares. */
int bb_object_trial_open(const char *path, const char *elf, size_t len, struct bb_err *err)
{
	char done;

	if (len > MAX_BYTES)
		return bb_fail(err, -EFBIG, "%s: too long", path);
	if (!child.pid)
		start_child();
	memcpy(child.elf, elf, len);
	if (write(child.to, &len, sizeof(len)) == sizeof(len) && read(child.from, &done, 1) == 1)
		return 0;
	bury_child();
	return bb_fail(err, -EINVAL, "%s: libbpf crashes", path);
}

int bb_object_trial_load(const char *path, struct bpf_object *obj, struct bb_err *err)
{
	(void)obj;
	return bb_fail(err, -ENOTSUP, "%s: nothing is loaded here", path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bb_object_info info;
	struct bb_err err = {0};

	if (bb_object_info__read(fuzz_file(data, size), &info, &err))
		return 0;
	for (size_t i = 0; i < info.n_programs; i++)
		fuzz_touch(info.programs[i].name, strlen(info.programs[i].name));
	bb_object_info__done(&info);
	return 0;
}
