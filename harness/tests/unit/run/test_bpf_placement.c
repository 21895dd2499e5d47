/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placement in the running kernel, also with JIT hardening on and with the JIT off. These settings
 * affect the whole kernel, so they are changed only if nobody else uses the machine (BB_ALONE,
 * which ci/vm-test.sh sets).
 */
#include "unit/stats_testing.h"

#include <errno.h>

#include "run/round.h"
#include "unit/bpf_testing.h"

#define SETTINGS "/proc/sys/net/core/"
#define MOST_S 5.0

static int write_setting(const char *name, const char *value)
{
	char path[128];
	FILE *f;
	int rc;

	snprintf(path, sizeof(path), SETTINGS "%s", name);
	f = fopen(path, "we");
	if (!f)
		return -errno;
	rc = fputs(value, f) < 0 ? -errno : 0;
	if (fclose(f) && !rc)
		rc = -errno;
	return rc;
}

/* The settings before the test. The teardown restores them, also after a failure. */
static char *harden, *enable;

static char *read_setting(const char *name)
{
	char path[128], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), SETTINGS "%s", name);
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	return *text ? strdup(text) : NULL;
}

static int keep_settings(void **state)
{
	(void)state;
	harden = read_setting("bpf_jit_harden");
	enable = read_setting("bpf_jit_enable");
	return 0;
}

static int restore_settings(void **state)
{
	int rc = 0;

	(void)state;
	if (getenv("BB_ALONE") && harden)
		rc |= write_setting("bpf_jit_harden", harden);
	if (getenv("BB_ALONE") && enable)
		rc |= write_setting("bpf_jit_enable", enable);
	free(harden);
	free(enable);
	harden = enable = NULL;
	return rc;
}

/* Loads in 12 rounds. Every load is at a place that was seen, or none has a place. Returns the
 * number of places. */
static unsigned int look(struct bb_test_prog *prog)
{
	struct bb_placement p;
	struct bb_err err = {0};
	struct bb_rng rng;
	unsigned int places = 0, taken = 0;

	bb_rng_seed(&rng, 1);
	*prog = (struct bb_test_prog){.target = open_target("tests/bpf/loop.bpf.o", "loop")};
	if (bb_placement__find(&p, prog, &rng, MOST_S, &err))
		fail_msg("%s", err.msg);
	for (int i = 0; i < 12; i++) {
		if (bb_placement__load(&p, prog, &rng, &err))
			fail_msg("%s", err.msg);
		if (prog->jit_mod64 < 0)
			assert_nan(bb_placement_share(prog, prog->jit_mod64));
		else
			assert_true(prog->seen_mod64[prog->jit_mod64] > 0);
	}
	for (int i = 0; i < BB_PLACES; i++) {
		places += prog->seen_mod64[i] > 0;
		taken += p.taken[i];
	}
	assert_int_equal(taken, places ? 12 : 0);
	assert_true(p.spent_s <= MOST_S + p.load_s);
	bb_target__free(prog->target);
	return places;
}

static void test_as_it_is(void **state)
{
	struct bb_test_prog prog;

	(void)state;
	need_root();
	print_message("# %u places\n", look(&prog));
}

/* Changes a setting, or skips the test. */
static void need_setting(const char *name, const char *value)
{
	int rc;

	need_root();
	if (!getenv("BB_ALONE")) {
		print_message("# skip: " SETTINGS "%s is of the whole machine, which others use, "
			      "too\n",
			      name);
		skip();
	}
	rc = write_setting(name, value);
	if (rc) {
		print_message("# skip: " SETTINGS "%s cannot be %s here: %s\n", name, value,
			      strerror(-rc));
		skip();
	}
}

static void test_hardened(void **state)
{
	struct bb_test_prog prog;

	(void)state;
	need_setting("bpf_jit_harden", "2");
	print_message("# %u places\n", look(&prog));
}

static void test_jit_off(void **state)
{
	struct bb_test_prog prog;

	(void)state;
	need_setting("bpf_jit_enable", "0");
	assert_int_equal(look(&prog), 0);
	assert_int_equal(prog.jit_mod64, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_as_it_is, keep_settings, restore_settings),
		cmocka_unit_test_setup_teardown(test_hardened, keep_settings, restore_settings),
		cmocka_unit_test_setup_teardown(test_jit_off, keep_settings, restore_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
