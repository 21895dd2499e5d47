/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verifier rejects the profiler's own object, or the object is of another build. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "base/io.h"
#include "profile/recording.h"
#include "unit/bpf_testing.h"
#include "unit/folder_testing.h"

/* Tries to start with an object of the tests as profile.bpf.o. This must fail; returns the
 * error. */
static struct bb_err start_with(const char *object)
{
	const struct bb_sampler_opts opts = {.object_dir = folder, .freq_hz = 99, .on_cpu = true};
	struct bb_recorder *recorder = NULL;
	struct bb_err err = {0};
	char path[4096], *elf;
	size_t len;
	FILE *out;

	assert_int_equal(bb_read_file(built(object, path, sizeof(path)), SIZE_MAX, &elf, &len,
				      NULL),
			 0);
	out = fopen(in_folder("profile.bpf.o"), "w");
	assert_non_null(out);
	assert_int_equal(fwrite(elf, 1, len, out), len);
	fclose(out);
	free(elf);
	assert_true(bb_recorder__start(&opts, &recorder, &err) < 0);
	return err;
}

static void rejected(void **state)
{
	struct bb_err err;

	(void)state;
	need_root();
	err = start_with("tests/bpf/profile_rejected.bpf.o");
	if (err.code == -ENOTSUP) {
		print_message("# SKIP %s\n", err.msg);
		skip();
	}
	assert_non_null(strstr(err.msg, "the verifier rejects program 'sample'"));
}

static void of_another_build(void **state)
{
	struct bb_err err = start_with("tests/bpf/rejected.bpf.o");

	(void)state;
	assert_int_equal(err.code, -ENOENT);
	assert_non_null(strstr(err.msg, "has no program 'sample'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rejected),
		cmocka_unit_test(of_another_build),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
