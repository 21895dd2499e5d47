/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libbpf opens and loads an object in a child process first. In these tests, a handler for the
 * section "my_section" of sections.bpf.o stands for a damaged object that crashes libbpf.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/io.h"
#include "bpf/object_file.h"
#include "bpf/object_trial.h"

#define OBJECT BB_BUILD_DIR "/tests/bpf/sections.bpf.o"

static void (*in_open)(void), (*in_load)(void);
static pid_t parent;
static char *elf;
static size_t len;

static void crash(void)
{
	if (getpid() != parent)
		__builtin_trap();
}

static void hang(void)
{
	for (;;)
		(void)getppid();
}

static bool is_refused(long rc)
{
	return rc < 0 && errno == EPERM;
}

/* Crashes if the child may do more, or less, than it should. */
static void look_around(void)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "m", 4, 4, 1, NULL), file;
	bool ok = fd > 2;

	/* The child gets a map from bpf(), but there is no map behind it. */
	ok = ok && is_refused(bpf_map_lookup_elem(fd, &file, &file));
	ok = ok && is_refused(bpf_prog_test_run_opts(fd, &opts));
	ok = ok && !close(fd) && !close(0) && fcntl(0, F_GETFD) >= 0;
	file = open("/proc/self/status", O_RDONLY);
	ok = ok && file >= 0 && !close(file);
	ok = ok && is_refused(open("/dev/null", O_WRONLY));
	ok = ok && is_refused(open("/dev/null", O_RDWR));
	ok = ok && is_refused(socket(AF_UNIX, SOCK_STREAM, 0));
	ok = ok && is_refused(kill(parent, 0));
	ok = ok && is_refused(fork());
	if (!ok)
		__builtin_trap();
}

static int setup(struct bpf_program *prog, long cookie)
{
	(void)prog;
	(void)cookie;
	if (in_open)
		in_open();
	return 0;
}

static int prepare_load(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	(void)prog;
	(void)opts;
	(void)cookie;
	if (in_load)
		in_load();
	return 0;
}

/* Calls bb_object_trial_load() for the program my_section alone, or for all programs of the
 * object. */
static int load(bool alone, struct bb_err *err)
{
	struct bpf_object *obj;
	struct bpf_program *p;
	int rc;

	assert_int_equal(bb_object_open(OBJECT, elf, len, &obj, err), 0);
	bpf_object__for_each_program(p, obj)
		bpf_program__set_autoload(p, !alone || !strcmp(bpf_program__section_name(p), "my_"
											     "secti"
											     "on"));
	rc = bb_object_trial_load(OBJECT, obj, err);
	bpf_object__close(obj);
	return rc;
}

static int begin(void **state)
{
	(void)state;
	in_open = in_load = NULL;
	bb_stop_signal = 0;
	return 0;
}

static void test_sound(void **state)
{
	struct bb_err err = {0};

	(void)state;
	assert_int_equal(bb_object_trial_open(OBJECT, elf, len, &err), 0);
	assert_int_equal(load(true, &err), 0);
	assert_int_equal(load(false, &err), 0);
}

static void test_crashes(void **state)
{
	struct bb_err err = {0};

	(void)state;
	in_load = crash;
	assert_int_equal(load(true, &err), -EINVAL);
	assert_non_null(strstr(err.msg, OBJECT ": a damaged BPF object: the process in which "
					       "libbpf is to load it was killed by signal "));
	in_load = NULL;
	in_open = crash;
	assert_int_equal(bb_object_trial_open(OBJECT, elf, len, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "libbpf is to open it was killed by"));
}

static void test_rights(void **state)
{
	struct bb_err err = {0};

	(void)state;
	in_load = look_around;
	assert_int_equal(load(true, &err), 0);
}

static void on_alarm(int sig)
{
	(void)sig;
	bb_stop_signal = SIGTERM;
}

static void test_stop(void **state)
{
	struct itimerval soon = {.it_value.tv_usec = 20000, .it_interval.tv_usec = 20000};
	const struct itimerval never = {0};
	struct sigaction action = {.sa_handler = on_alarm};
	struct bb_err err = {0};

	(void)state;
	sigaction(SIGALRM, &action, NULL);
	in_load = hang;
	setitimer(ITIMER_REAL, &soon, NULL);
	assert_int_equal(load(true, &err), -EINTR);
	setitimer(ITIMER_REAL, &never, NULL);
	assert_non_null(strstr(err.msg, "stopped by signal 15 (Terminated)"));
}

/* If libbpf does not finish with an object, the budget ends it. */
static void test_budget(void **state)
{
	struct bb_deadline budget;
	struct bb_err err = {0};

	(void)state;
	in_load = hang;
	bb_deadline__begin(&budget, 0.05);
	assert_int_equal(load(true, &err), -ETIME);
	bb_deadline__end(&budget);
	assert_non_null(strstr(err.msg, "the budget was over before libbpf could load it"));
}

/* A child without the system calls `what` opens and loads the object. Returns its exit code, a sum
 * of: 1 the object was opened, 2 it was loaded, 4 a message lacked `expect`. 77: no seccomp
 * here. */
static int without(const int *what, size_t n, const char *expect)
{
	struct bpf_object *obj = NULL;
	struct bb_err err = {0};
	scmp_filter_ctx filter;
	int status = 0, got;
	pid_t pid;

	assert_int_equal(bb_object_open(OBJECT, elf, len, &obj, &err), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		filter = seccomp_init(SCMP_ACT_ALLOW);
		for (size_t i = 0; i < n; i++)
			seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), what[i], 0);
		if (seccomp_load(filter))
			_exit(77);
		got = bb_object_trial_open(OBJECT, elf, len, &err) ? 0 : 1;
		got |= strstr(err.msg, expect) ? 0 : 4;
		err = (struct bb_err){0};
		got |= bb_object_trial_load(OBJECT, obj, &err) ? 0 : 2;
		got |= strstr(err.msg, expect) ? 0 : 4;
		_exit(got);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	bpf_object__close(obj);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* If the child cannot be made or confined, no object is opened or loaded. */
static void test_no_trial_no_object(void **state)
{
	static const int forks[] = {SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(clone),
				    SCMP_SYS(clone3)};
	static const int confines[] = {SCMP_SYS(prctl), SCMP_SYS(capset), SCMP_SYS(seccomp)};
	int rc = without(NULL, 0, "");

	(void)state;
	if (rc == 77)
		skip(); /* no seccomp here */
	assert_int_equal(rc, 1 | 2);
	assert_int_equal(without(forks, 4,
				 "in a child process only, and there can be none: "
				 "Operation not permitted; allow more processes"),
			 0);
	for (size_t i = 0; i < sizeof(confines) / sizeof(confines[0]); i++)
		assert_int_equal(without(&confines[i], 1, "cannot be confined: "), 0);
}

/* Returns the object with its last program repeated `n` times in its symbol table. */
static char *with_programs(size_t n)
{
	const Elf64_Ehdr *head = (const void *)elf;
	char *many = calloc(1, len + (n + 8) * sizeof(Elf64_Sym));
	size_t at = (len + 7) / 8 * 8;

	assert_non_null(many);
	memcpy(many, elf, len);
	for (size_t i = 0; i < head->e_shnum; i++) {
		Elf64_Shdr *s = (Elf64_Shdr *)(many + head->e_shoff) + i;
		const Elf64_Sym *sym = (const void *)(elf + s->sh_offset);

		if (s->sh_type != SHT_SYMTAB)
			continue;
		sym += s->sh_size / sizeof(*sym) - 1;
		while (ELF64_ST_TYPE(sym->st_info) != STT_FUNC)
			sym--;
		for (size_t k = 0; k < n; k++)
			memcpy(many + at + (k + 1) * sizeof(*sym), sym, sizeof(*sym));
		s->sh_offset = at;
		s->sh_size = (n + 1) * sizeof(*sym);
	}
	return many;
}

/* An object with too many programs is refused before libbpf, which would take a minute, sees it. */
static void test_too_many(void **state)
{
	enum { MANY = 20000 };
	char *many = with_programs(MANY);
	struct bb_err err = {0};

	(void)state;
	in_open = crash;
	assert_int_equal(bb_object_trial_open(OBJECT, many, len + (MANY + 8) * sizeof(Elf64_Sym),
					      &err),
			 -E2BIG);
	assert_non_null(strstr(err.msg, OBJECT ": 20000 programs are too many for one object"));
	free(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_sound, begin),
		cmocka_unit_test_setup(test_crashes, begin),
		cmocka_unit_test_setup(test_rights, begin),
		cmocka_unit_test_setup(test_stop, begin),
		cmocka_unit_test_setup(test_budget, begin),
		cmocka_unit_test_setup(test_no_trial_no_object, begin),
		cmocka_unit_test_setup(test_too_many, begin),
	};
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_setup_fn = setup,
		    .prog_prepare_load_fn = prepare_load);
	struct bb_err err = {0};

	parent = getpid();
	libbpf_set_print(NULL);
	if (bb_read_file(OBJECT, SIZE_MAX, &elf, &len, &err) ||
	    libbpf_register_prog_handler("my_section", BPF_PROG_TYPE_XDP, 0, &opts) < 0) {
		print_error("%s\n", err.msg);
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
