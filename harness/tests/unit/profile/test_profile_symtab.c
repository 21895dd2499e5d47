/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds functions by address, in what kernels and JITs write. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "profile/symtab.h"

/* Returns the name at an address, or NULL. */
static const char *at(const struct bb_symtab *t, uint64_t address)
{
	const struct bb_symbol *s = bb_symtab__find(t, address);

	return s ? bb_symtab__name(t, s) : NULL;
}

static void kallsyms(void **state)
{
	struct bb_symtab t = {0};

	(void)state;
	bb_symtab__add_kallsyms(&t, "0000000000000000 A fixed_percpu_data\n"
				    "ffffffff81000200 T second\n"
				    "ffffffff81000000 T _text\n"
				    "ffffffff81000000 t local_alias\n"
				    "ffffffff81000100 t first\n"
				    "ffffffff82000000 D some_data\n"
				    "nonsense\n"
				    "\n"
				    "ffffffffc0001000 t in_module\t[some_module]\n"
				    "ffffffffc0002000 t "
				    "bpf_prog_6deef7357e7b4530_sample\t[bpf]");
	bb_symtab__sort(&t);
	assert_null(at(&t, 0));
	assert_null(at(&t, 0xffffffff80ffffff));
	assert_string_equal(at(&t, 0xffffffff81000000), "_text"); /* global before local names */
	assert_string_equal(at(&t, 0xffffffff810001ff), "first");
	assert_string_equal(at(&t, 0xffffffff81000200), "second");
	assert_string_equal(at(&t, 0xffffffffc0001fff), "in_module");
	assert_string_equal(at(&t, 0xffffffffc0002010), "bpf_prog_6deef7357e7b4530_sample");
	assert_int_equal(t.n, 5);
	bb_symtab__done(&t);
}

static void hidden_kallsyms(void **state)
{
	struct bb_symtab t = {0};

	(void)state;
	bb_symtab__add_kallsyms(&t, "0000000000000000 T _text\n0000000000000000 T "
				    "schedule\n");
	bb_symtab__sort(&t);
	assert_int_equal(t.n, 0);
	assert_null(at(&t, 0xffffffff81000000));
	bb_symtab__done(&t);
}

static void perf_map(void **state)
{
	struct bb_symtab t = {0};

	(void)state;
	bb_symtab__add_perf_map(&t, "7f0000001000 80 LazyCompile:*f main.js:1\n"
				    "7f0000001080 10 old\n"
				    "7f0000001080 20 new, in its place\n"
				    "7f0000002000 0 nothing\n"
				    "7f0000003000\n"
				    "7f0000003000 10\n"
				    "7f0000003000 10 \n"
				    "zzz 10 no address\n"
				    "fffffffffffffffff 10 too long\n"
				    "7f0000004000 10 without a line's end");
	bb_symtab__sort(&t);
	assert_string_equal(at(&t, 0x7f000000107f), "LazyCompile:*f main.js:1");
	assert_string_equal(at(&t, 0x7f0000001090), "new, in its place");
	assert_null(at(&t, 0x7f00000010a0));
	assert_null(at(&t, 0x7f0000002000));
	assert_null(at(&t, 0x7f0000003000));
	assert_string_equal(at(&t, 0x7f000000400f), "without a line's end");
	assert_null(at(&t, 0x7f0000004010));
	bb_symtab__done(&t);
}

/* A cold part within a function, a symbol without a size, two symbols at one address. */
static void overlapping(void **state)
{
	struct bb_symtab t = {0};

	(void)state;
	bb_symtab__add(&t, 100, 100, "outer", 5, 0);
	bb_symtab__add(&t, 150, 10, "inner", 5, 0);
	bb_symtab__add(&t, 300, 0, "label", 5, 0);
	bb_symtab__add(&t, 300, 50, "sized", 5, 9);
	bb_symtab__add(&t, 400, 0, "assembly", 8, 0);
	bb_symtab__sort(&t);
	assert_string_equal(at(&t, 149), "outer");
	assert_string_equal(at(&t, 159), "inner");
	assert_string_equal(at(&t, 160), "outer");
	assert_null(at(&t, 200));
	assert_string_equal(at(&t, 300), "sized");
	assert_null(at(&t, 350));
	assert_string_equal(at(&t, 5000), "assembly");
	bb_symtab__done(&t);
}

/* Every id is found again, and no others. */
static void idmap(void **state)
{
	struct bb_idmap m = {0};
	struct bb_rng rng;

	(void)state;
	assert_int_equal(bb_idmap__get(&m, 0, 0), BB_NO_ID);
	for (uint32_t i = 0; i < 5000; i++)
		bb_idmap__put(&m, i % 100, i / 100, i);
	bb_idmap__put(&m, 7, 3, 9999);
	assert_int_equal(m.n, 5000);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(bb_idmap__get(&m, i % 100, i / 100), i == 307 ? 9999 : i);
	bb_rng_seed(&rng, 1);
	for (int i = 0; i < 5000; i++)
		assert_int_equal(bb_idmap__get(&m, 100 + bb_rng_below(&rng, 1u << 30),
					       bb_rng_u64(&rng)),
				 BB_NO_ID);
	bb_idmap__done(&m);
}

static void names(void **state)
{
	struct bb_names n = {0};
	uint32_t a, b, c, d;

	(void)state;
	a = bb_names__add(&n, "main", 4);
	b = bb_names__add(&n, "mainly", 6);
	c = bb_names__add(&n, "mainly", 4);
	d = bb_names__add(&n, "", 0);
	assert_int_equal(a, c);
	assert_int_not_equal(a, b);
	assert_string_equal(bb_names__text(&n, b), "mainly");
	assert_string_equal(bb_names__text(&n, d), "");
	assert_int_equal(n.n, 3);
	bb_names__done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kallsyms), cmocka_unit_test(hidden_kallsyms),
		cmocka_unit_test(perf_map), cmocka_unit_test(overlapping),
		cmocka_unit_test(idmap),    cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
