/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangling gives the names of the source. Some mangled names here are made to take forever or to
 * crash. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "profile/symbolize.h"

#define SIZE 4097u
#define N_ROUNDS 200000

static const struct name {
	const char *mangled, *source; /* source NULL: not demangled */
} names[] = {
	{"_ZN3foo3barEv", "foo::bar"},
	{"_ZN3foo3barEi", "foo::bar"},
	{"_ZN3foo3barEv.constprop.0", "foo::bar"},
	{"_ZN3foo3barEv.cold", "foo::bar"},
	{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back"},
	{"_ZSt4sortIPiEvT_S1_", "std::sort<int*>"},
	{"_ZNK1AclEv", "A::operator()"},
	/* Rust, legacy: the hash is removed. */
	{"_ZN4core3fmt9Formatter9write_fmt17h0123456789abcdefE", "core::fmt::Formatter::write_fmt"},
	{"_ZN4core3fmt9Formatter9write_fmt17h0123456789abcdefE.llvm.99", "core::fmt::Formatter::"
									 "write_fmt"},
	{"_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$"
	 "4drop17habcdef0123456789E",
	 "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop"},
	/* Rust, v0 (RFC 2603). */
	{"_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example"},
	{"_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE", "std::mem::align_of::<std::mem::"
								  "Discriminant>"},
	{"_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3new", "<std::path::PathBuf>::new"},
	{"main", NULL},
	{"", NULL},
	{"_start", NULL},
	{"_Z", NULL},
	{"_R", NULL},
	{"_ZN", NULL},
	{"_ZN3foo", NULL},
	{"_RNvXs_", NULL},
	{"__libc_start_main", NULL},
	{"_Return_is_no_Rust", NULL},
};

#define N_NAMES (sizeof(names) / sizeof(names[0]))

static void known(void **state)
{
	char text[SIZE];

	(void)state;
	for (size_t i = 0; i < N_NAMES; i++) {
		bool is_mangled = bb_demangle(names[i].mangled, text, sizeof(text));

		if (is_mangled != (names[i].source != NULL))
			fail_msg("%s", names[i].mangled);
		if (is_mangled)
			assert_string_equal(text, names[i].source);
	}
}

static void bounded(void **state)
{
	char text[32];

	(void)state;
	assert_true(bb_demangle("_ZN3foo3barEv", text, sizeof("foo::bar")));
	assert_string_equal(text, "foo::bar");
	assert_false(bb_demangle("_ZN3foo3barEv", text, sizeof("foo::bar") - 1));
}

/* a<int, int>, a<that, that>, and so on: "int" would come 2 to the power of 60 times. */
static void endless(void **state)
{
	char name[2048] = "_Z1fI1aIiiES0_IS1_S1_E", text[SIZE];
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	(void)state;
	for (unsigned int i = 2; i < 60; i++) {
		char id[8], *end = name + strlen(name);

		if (i < 36)
			snprintf(id, sizeof(id), "S%c_", digits[i]);
		else
			snprintf(id, sizeof(id), "S1%c_", digits[i - 36]);
		snprintf(end, sizeof(name) - strlen(name), "S0_I%s%sE", id, id);
	}
	strcat(name, "Evv");
	assert_false(bb_demangle(name, text, sizeof(text)));
	/* With few levels, it is a valid name. */
	assert_true(bb_demangle("_Z1fI1aIiiES0_IS1_S1_EEvv", text, sizeof(text)));
	assert_string_equal(text, "f<a<int, int>, a<a<int, int>, a<int, int> > >");
}

/* Names nested very deeply, beyond the demangler's limit. */
static void deep(void **state)
{
	static const struct {
		const char *begin, *again;
	} nests[] = {
		{"_ZN", "1aI"},   {"_Z1fI", "P"},   {"_Z", "N1a"},    {"_Z1fIX", "pp"},
		{"_Z1fI", "1aI"}, {"_R", "Nv"},     {"_R", "INvC1a"}, {"_RNvC1a", "B_"},
		{"_RYR", "S"},    {"_RMC1aT", "T"}, {"_RIC1a", "F"},
	};
	char *name = malloc(100001), text[SIZE];

	(void)state;
	assert_non_null(name);
	for (size_t i = 0; i < sizeof(nests) / sizeof(nests[0]); i++)
		for (size_t len = 1000; len <= 100000; len *= 2) {
			size_t at = strlen(nests[i].begin), step = strlen(nests[i].again);

			strcpy(name, nests[i].begin);
			for (; at + step < len; at += step)
				memcpy(name + at, nests[i].again, step + 1);
			/* Any result will do, but the call must return. */
			bb_demangle(name, text, sizeof(text));
		}
	free(name);
}

/* Real names with some bytes changed, or put together from two names. */
static void damaged(void **state)
{
	size_t n_demangled = 0;
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 11);
	for (int i = 0; i < N_ROUNDS; i++) {
		const char *a = names[bb_rng_below(&rng, N_NAMES)].mangled,
			   *b = names[bb_rng_below(&rng, N_NAMES)].mangled;
		char name[256], text[300];
		size_t len;

		snprintf(name, sizeof(name), "%.*s%s", (int)bb_rng_below(&rng, strlen(a) + 1), a,
			 b + bb_rng_below(&rng, strlen(b) + 1));
		len = strlen(name);
		for (uint64_t k = bb_rng_below(&rng, 3); k && len > 2; k--)
			name[2 + bb_rng_below(&rng, len - 2)] =
				b[0] ? b[bb_rng_below(&rng, strlen(b))] : 'E';
		memset(text, 0x7f, sizeof(text));
		if (!bb_demangle(name, text, sizeof(text)))
			continue;
		assert_in_range(strnlen(text, sizeof(text)), 1, sizeof(text) - 1);
		n_demangled++;
	}
	/* otherwise this tested little */
	assert_in_range(n_demangled, N_ROUNDS / 50, N_ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known), cmocka_unit_test(bounded), cmocka_unit_test(endless),
		cmocka_unit_test(deep),  cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
