/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A prog array holds programs, and these hold the array. The kernel breaks this circle when the
 * last descriptor of the array is closed, even if its process is killed. The objects of this test
 * have names of their own, so that programs and maps of other processes are not counted.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "base/std.h"
#include "base/io.h"
#include "base/rng.h"
#include "unit/bpf_testing.h"

#define KILLS 25
#define LOADS 8
#define MAX_BYTES (1u << 20)

/* tailcall.bpf.o with other names of the same length. */
static struct {
	const char *was;
	char is[8];
} names[] = {{"jumps", ""}, {"first", ""}, {"third", ""}};
static char path[] = "/tmp/bpfbench-prog-array.XXXXXX";

static void sleep_ns(long ns)
{
	const struct timespec t = {.tv_nsec = ns};

	nanosleep(&t, NULL);
}

/* Replaces every whole string `was`. */
static void rename_in(char *data, size_t len, const char *was, const char *is)
{
	size_t n = strlen(was) + 1;

	for (char *at = data; (at = memmem(at, len - (size_t)(at - data), was, n)); at += n)
		memcpy(at, is, n);
}

static int make_object(void **state)
{
	char tailcall[4096], *data = NULL;
	size_t len = 0;
	FILE *out;

	(void)state;
	assert_int_equal(bb_read_file(built("tests/bpf/tailcall.bpf.o", tailcall, sizeof(tailcall)),
				      MAX_BYTES, &data, &len, NULL),
			 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(names[i].is, sizeof(names[i].is), "%c%04x", names[i].was[0],
			 (unsigned int)getpid() & 0xffff);
		rename_in(data, len, names[i].was, names[i].is);
	}
	out = fdopen(mkstemp(path), "w");
	assert_non_null(out);
	assert_int_equal(fwrite(data, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
	free(data);
	return 0;
}

static int remove_object(void **state)
{
	(void)state;
	return unlink(path);
}

static struct bb_target *open_renamed(void)
{
	struct bb_target *t = NULL;
	struct bb_err err = {0};

	if (bb_target__open(&(struct bb_source_spec){.path = path, .program = names[1].is}, &t,
			    &err))
		fail_msg("%s", err.msg);
	return t;
}

/* --- counting --- */

struct left {
	unsigned int programs, full, empty; /* full: prog arrays with programs in them */
};

static bool is_empty(int map_fd, const struct bpf_map_info *info)
{
	for (__u32 key = 0, id; key < info->max_entries; key++)
		if (!bpf_map_lookup_elem(map_fd, &key, &id))
			return false;
	return true;
}

static void count_maps(struct left *l)
{
	for (__u32 id = 0; !bpf_map_get_next_id(id, &id);) {
		struct bpf_map_info info = {0};
		__u32 len = sizeof(info);
		int fd = bpf_map_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) && !strcmp(info.name, names[0].is))
			*(is_empty(fd, &info) ? &l->empty : &l->full) += 1;
		close(fd);
	}
}

static void count_programs(struct left *l)
{
	for (__u32 id = 0; !bpf_prog_get_next_id(id, &id);) {
		struct bpf_prog_info info = {0};
		__u32 len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) &&
		    (!strcmp(info.name, names[1].is) || !strcmp(info.name, names[2].is)))
			l->programs++;
		close(fd);
	}
}

/* Counts programs first, which is always safe. Maps are opened only after the kernel has had time
 * to empty them, because opening an array before that keeps its programs in it. */
static struct left count_left(void)
{
	uint64_t began_ns = bb_now_ns();
	struct left l;

	do {
		sleep_ns(500000000);
		l = (struct left){0};
		count_programs(&l);
	} while (l.programs && bb_seconds_since(began_ns) < 600);
	sleep_ns(500000000);
	count_maps(&l);
	return l;
}

/* --- tests --- */

/* Starts a process that loads and unloads until it is killed. It writes a byte after its first
 * load. */
static pid_t start_loader(int said_fd)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct bb_target *t = open_renamed();

		for (bool said = false;; said = true) {
			load(t);
			if (!said && write(said_fd, "", 1) != 1)
				_exit(1);
		}
	}
	return pid;
}

static void test_killed(void **state)
{
	struct left l;
	struct bb_rng rng;
	int said[2], status;
	char byte;

	(void)state;
	need_prog_type(BPF_PROG_TYPE_XDP);
	bb_rng_seed(&rng, 13);
	assert_int_equal(pipe(said), 0);
	for (int i = 0; i < KILLS; i++) {
		pid_t pid = start_loader(said[1]);

		assert_true(pid > 0);
		assert_int_equal(read(said[0], &byte, 1), 1);
		sleep_ns((long)(bb_rng_u64(&rng) % 20000000));
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
	}
	close(said[0]);
	close(said[1]);
	l = count_left();
	assert_int_equal(l.programs, 0);
	assert_int_equal(l.full, 0);
	if (l.empty) {
		print_message("# skip: %u of the killed loaders' prog arrays stay, empty: another "
			      "process "
			      "lists maps here, and the kernel loses those that it lists as they "
			      "go\n",
			      l.empty);
		skip();
	}
}

static __u32 array_of(const struct bb_target *t)
{
	__u32 id = map_id(t, names[0].is);

	assert_true(id);
	return id;
}

static bool is_there(__u32 id)
{
	__u32 next;

	return !bpf_map_get_next_id(id - 1, &next) && next == id;
}

static bool goes(__u32 id)
{
	uint64_t began_ns = bb_now_ns();

	while (is_there(id) && bb_seconds_since(began_ns) < 3)
		sleep_ns(5000000);
	return !is_there(id);
}

/*
 * Runs with real-time priority, as bpfbench does, and opens each map right after its unload. If
 * bb_target__unload() did not let the kernel's worker run first, every array would stay for good.
 * Even so, some may stay on a busy machine.
 */
static void test_looked_at(void **state)
{
	const struct sched_param first = {.sched_priority = 1}, last = {0};
	struct bb_target *t;
	__u32 ids[LOADS];
	cpu_set_t all, one;
	unsigned int gone = 0;

	(void)state;
	need_prog_type(BPF_PROG_TYPE_XDP);
	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	t = open_renamed();
	if (sched_setscheduler(0, SCHED_FIFO, &first)) {
		print_message("# skip: no SCHED_FIFO here: %s\n", strerror(errno));
		skip();
	}
	for (int i = 0; i < LOADS; i++) {
		int fd;

		load(t);
		ids[i] = array_of(t);
		bb_target__unload(t);
		fd = bpf_map_get_fd_by_id(ids[i]);
		if (fd >= 0)
			close(fd);
	}
	sched_setscheduler(0, SCHED_OTHER, &last);
	sched_setaffinity(0, sizeof(all), &all);
	bb_target__free(t);
	for (int i = 0; i < LOADS; i++)
		gone += goes(ids[i]);
	assert_true(gone > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_looked_at),
	};

	return cmocka_run_group_tests(tests, make_object, remove_object);
}
