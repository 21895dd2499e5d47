/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address spaces: which file is mapped where, after forks, execs and newly loaded libraries. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profile/spaces.h"

#define NO_PROCESS 0x7ffffff0 /* above any pid_max: files are found by their path alone */

static void log_event(struct bb_spaces *s, struct bb_task_event event, const char *comm)
{
	snprintf(event.comm, sizeof(event.comm), "%s", comm);
	bb_spaces__log(s, &event);
}

static struct bb_mapping map(uint64_t start, uint64_t end, uint32_t dso)
{
	return (struct bb_mapping){.start = start, .end = end, .file_offset = 0x1000, .dso = dso};
}

/* Returns the dso at an address of a sample, or BB_NO_ID. */
static uint32_t dso_at(const struct bb_spaces *s, uint32_t pid, const char *comm, uint64_t address)
{
	const struct bb_mapping *m = bb_spaces__find(s, bb_spaces__of(s, pid, comm), address);

	return m ? m->dso : BB_NO_ID;
}

static void maps_of_proc(void **state)
{
	struct bb_spaces s = {0};
	uint32_t space;

	(void)state;
	bb_spaces__log_maps(&s, NO_PROCESS, 1,
			    "00400000-00401000 r--p 00000000 08:01 11 /bin/a\n"
			    "00401000-00402000 r-xp 00001000 08:01 11             "
			    "           /bin/a\n"
			    "7f0000000000-7f0000002000 r-xp 00028000 08:01 12     "
			    "                   /lib/with a blank.so (deleted)\n"
			    "7f0000010000-7f0000011000 rwxp 00000000 00:00 0 \n"
			    "7f0000020000-7f0000021000 r-xs 00000000 00:01 9 "
			    "/memfd:jit (deleted)\n"
			    "7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0      "
			    "                    [vdso]\n"
			    "nonsense\n"
			    "7f00-\n"
			    "ffffffffff600000-ffffffffff601000 --xp 00000000 "
			    "00:00 0                  [vsyscall]");
	assert_int_equal(s.n_log, 6);
	assert_int_equal(s.dsos.n, 3);
	assert_string_equal(s.dsos.v[0].path, "/bin/a");
	assert_string_equal(s.dsos.v[1].path, "/lib/with a blank.so");
	assert_string_equal(bb_dso__short_name(&s.dsos.v[1]), "with a blank.so");
	assert_true(s.dsos.v[2].fd >= 0);
	bb_spaces__replay(&s);
	space = bb_spaces__of(&s, NO_PROCESS, "");
	assert_null(bb_spaces__find(&s, space, 0x400fff));
	assert_null(bb_spaces__find(&s, space, 0x402000));
	assert_int_equal(bb_spaces__find(&s, space, 0x401fff)->file_offset, 0x1000);
	assert_int_equal(bb_spaces__find(&s, space, 0x7f0000001000)->dso, 1);
	assert_int_equal(bb_spaces__find(&s, space, 0x7f0000010010)->dso, BB_NO_ID);
	assert_int_equal(bb_spaces__find(&s, space, 0x7f0000020010)->dso, BB_NO_ID);
	bb_spaces__done(&s);
}

/* The log is not in the order of time, because several CPUs write records. */
static void fork_and_exec(void **state)
{
	struct bb_spaces s = {0};

	(void)state;
	log_event(&s,
		  (struct bb_task_event){.time_ns = 40,
					 .kind = BB_TASK_MAP,
					 .pid = 20,
					 .mapping = map(0x1000, 0x2000, 7)},
		  "");
	log_event(&s, (struct bb_task_event){.time_ns = 10, .kind = BB_TASK_EXEC, .pid = 10}, "sh");
	log_event(&s,
		  (struct bb_task_event){.time_ns = 11,
					 .kind = BB_TASK_MAP,
					 .pid = 10,
					 .mapping = map(0x1000, 0x3000, 1)},
		  "");
	log_event(&s, (struct bb_task_event){.time_ns = 30, .kind = BB_TASK_EXEC, .pid = 20}, "ls");
	log_event(&s,
		  (struct bb_task_event){.time_ns = 20,
					 .kind = BB_TASK_FORK,
					 .pid = 20,
					 .parent = 10},
		  "");
	log_event(&s,
		  (struct bb_task_event){.time_ns = 50,
					 .kind = BB_TASK_MAP,
					 .pid = 10,
					 .mapping = map(0x2000, 0x3000, 2)},
		  "");
	bb_spaces__replay(&s);
	/* Before its exec: the parent's code. */
	assert_int_equal(dso_at(&s, 20, "sh", 0x1500), 1);
	assert_int_equal(dso_at(&s, 20, "ls", 0x1500), 7);
	/* With another name of the task: the newest mapping. */
	assert_int_equal(dso_at(&s, 20, "a thread", 0x1500), 7);
	/* Nothing was mapped there since the exec, so the mapping from before it is found. */
	assert_int_equal(dso_at(&s, 20, "ls", 0x2500), 1);
	/* The later mapping hides the earlier one. */
	assert_int_equal(dso_at(&s, 10, "sh", 0x2500), 2);
	assert_int_equal(dso_at(&s, 10, "sh", 0x1500), 1);
	assert_int_equal(bb_spaces__of(&s, 99, "sh"), BB_NO_ID);
	assert_int_equal(s.n_replaced, 1); /* by 2; 7 belongs to another program */
	bb_spaces__done(&s);
}

/* A library is loaded again in the same place, then beside it, then where no file was, and at last
 * where another library was. */
static void unloaded(void **state)
{
	static const struct bb_mapping loads[] = {
		{0x1000, 0x3000, 0x1000, 1}, {0x1000, 0x3000, 0x1000, 1},
		{0x3000, 0x4000, 0x1000, 2}, {0x5000, 0x6000, 0, BB_NO_ID},
		{0x5000, 0x6000, 0x1000, 2}, {0x2fff, 0x3000, 0, 3},
	};
	struct bb_spaces s = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		log_event(&s,
			  (struct bb_task_event){.time_ns = i,
						 .kind = BB_TASK_MAP,
						 .pid = 1,
						 .mapping = loads[i]},
			  "");
	bb_spaces__replay(&s);
	assert_int_equal(s.n_replaced, 1);
	assert_int_equal(dso_at(&s, 1, "", 0x2ffe), 1);
	assert_int_equal(dso_at(&s, 1, "", 0x2fff), 3);
	bb_spaces__done(&s);
}

static void renamed(void **state)
{
	struct bb_spaces s = {0};

	(void)state;
	log_event(&s, (struct bb_task_event){.time_ns = 1, .kind = BB_TASK_EXEC, .pid = 5},
		  "first");
	log_event(&s, (struct bb_task_event){.time_ns = 2, .kind = BB_TASK_COMM, .pid = 5},
		  "renamed");
	log_event(&s, (struct bb_task_event){.time_ns = 3, .kind = BB_TASK_COMM, .pid = 6},
		  "unknown process");
	log_event(&s, (struct bb_task_event){.time_ns = 4, .kind = BB_TASK_EXEC, .pid = 5},
		  "second");
	bb_spaces__replay(&s);
	assert_int_equal(bb_spaces__of(&s, 5, "renamed"), 0);
	assert_int_equal(bb_spaces__of(&s, 5, "second"), 1);
	assert_int_equal(bb_spaces__of(&s, 6, "unknown process"), BB_NO_ID);
	bb_spaces__done(&s);
}

/* This process: its files are open. A process that does not exist has none. */
static void real_process(void **state)
{
	struct bb_spaces s = {0};
	const struct bb_mapping *m;

	(void)state;
	bb_spaces__log_proc(&s, NO_PROCESS, 1);
	assert_int_equal(s.n_log, 0);
	bb_spaces__log_proc(&s, getpid(), 1);
	bb_spaces__replay(&s);
	m = bb_spaces__find(&s, bb_spaces__of(&s, (uint32_t)getpid(), "test_profile_sp"),
			    (uint64_t)(uintptr_t)real_process);
	assert_non_null(m);
	assert_string_equal(bb_dso__short_name(&s.dsos.v[m->dso]), "test_profile_spaces");
	assert_true(s.dsos.v[m->dso].fd >= 0);
	bb_spaces__done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_of_proc), cmocka_unit_test(fork_and_exec),
		cmocka_unit_test(unloaded),     cmocka_unit_test(renamed),
		cmocka_unit_test(real_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
