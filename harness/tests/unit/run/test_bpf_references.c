/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The references in the running kernel: each takes time, and a wakeup is an interrupt to the same
 * CPU. No figures are tested.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <sched.h>

#include "drivers/driver.h"
#include "env/sysfile.h"
#include "run/round.h"
#include "unit/bpf_testing.h"

static struct bb_references *open_references(void)
{
	struct bb_references *r = NULL;
	struct bb_err err = {0};
	char dir[4096];
	int rc = bb_references__open(built("bpf", dir, sizeof(dir)), &r, &err);

	if (rc == -ENOTSUP) {
		print_message("# skip: %s\n", err.msg);
		skip();
	}
	if (rc)
		fail_msg("%s", err.msg);
	return r;
}

static void test_all_are_measured(void **state)
{
	double ns[BB_N_REFERENCES];
	struct bb_references *r;

	(void)state;
	need_root();
	r = open_references();
	for (int turn = 0; turn < 20; turn++) {
		bb_references__measure(r, ns);
		for (int i = 0; i < BB_N_REFERENCES; i++)
			if (!(ns[i] > 0))
				fail_msg("%s: %g ns", bb_reference_name((enum bb_reference)i),
					 ns[i]);
	}
	bb_references__free(r);
	bb_references__measure(NULL, ns);
	for (int i = 0; i < BB_N_REFERENCES; i++)
		assert_true(isnan(ns[i]));
	bb_references__free(NULL);
}

/* Each wakeup of the reference is an interrupt; there are hundreds. */
static void test_a_wakeup_is_an_interrupt(void **state)
{
	double ns[BB_N_REFERENCES];
	struct bb_references *r;
	struct bb_err err = {0};
	uint64_t before, after;
	int cpu = sched_getcpu();

	(void)state;
	need_root();
	if (bb_pin_to_cpu(cpu, &err))
		fail_msg("%s", err.msg);
	if (bb_irq_works__read("", cpu, &before, &err)) {
		print_message("# skip: %s\n", err.msg);
		skip();
	}
	r = open_references();
	bb_references__measure(r, ns);
	assert_int_equal(bb_irq_works__read("", cpu, &after, &err), 0);
	assert_true(after - before > 200);
	bb_references__free(r);
}

static void test_no_object(void **state)
{
	struct bb_references *r = NULL;
	struct bb_err err = {0};

	(void)state;
	assert_int_equal(bb_references__open("/nonexistent", &r, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "/nonexistent/references.bpf.o"));
	assert_null(r);
	assert_string_equal(bb_reference_name(BB_N_REFERENCES), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_are_measured),
		cmocka_unit_test(test_a_wakeup_is_an_interrupt),
		cmocka_unit_test(test_no_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
