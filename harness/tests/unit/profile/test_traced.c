/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A traced run of a guest: which instructions are between the two clock readings, by source line
 * and by kernel function; which run is chosen; damaged texts and records. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/trace_record.h"
#include "profile/traced.h"

#define CALLER 0xffffffff81000000u
#define CLOCK 0xffffffff81001000u
#define HELPER 0xffffffff81002000u
#define FAULT 0xffffffff81003000u
#define OTHER 0xffffffff81004000u
#define PROGRAM 0xffffffffc0000000u
#define STACK 0xffffc90000001000u

#define TEXT                                                                                       \
	"program one\nfunction ffffffffc0000000 64 one\nline ffffffffc0000000 7 x = help();\n"     \
	"line ffffffffc0000008 8 return x;\n"
#define SYMBOLS                                                                                    \
	"symbols\nffffffff81000000 T caller\nffffffff81001000 T clock\n"                           \
	"ffffffff81002000 T helper\nffffffff81003000 T asm_exc_page_fault\n"                       \
	"ffffffff81004000 T other\nffffffff81005000 T end\n"

/* One run of 14 instructions. One instruction of the helper faults. */
static const struct bb_trace_record whole[] = {
	{0, BB_TRACE_BEGIN, 0, 0},
	{CLOCK, BB_TRACE_INSN, BB_TRACE_CLOCK, 1}, /* a clock reading before the run */
	{CLOCK + 2, BB_TRACE_INSN, BB_TRACE_CLOCK, 1},
	{CLOCK + 4, BB_TRACE_INSN, BB_TRACE_RETURN, 1},
	{STACK, BB_TRACE_ACCESS, 0, 8},
	{CALLER, BB_TRACE_INSN, BB_TRACE_CALL, 1},
	{STACK, BB_TRACE_ACCESS, 0, 8},
	{PROGRAM, BB_TRACE_INSN, 0, 1},
	{PROGRAM + 1, BB_TRACE_INSN, BB_TRACE_CALL, 1},
	{STACK - 32, BB_TRACE_ACCESS, 0, 8},
	{HELPER, BB_TRACE_INSN, 0, 1},
	{HELPER + 1, BB_TRACE_INSN, 0, 1}, /* this one faults */
	{FAULT, BB_TRACE_INSN, 0, 1},
	{FAULT + 1, BB_TRACE_INSN, BB_TRACE_INTERRUPT_RETURN, 1},
	{HELPER + 1, BB_TRACE_INSN, 0, 1},
	{HELPER + 2, BB_TRACE_INSN, BB_TRACE_RETURN, 1},
	{STACK - 32, BB_TRACE_ACCESS, 0, 8},
	{PROGRAM + 6, BB_TRACE_INSN, 0, 1},
	{PROGRAM + 8, BB_TRACE_INSN, BB_TRACE_RETURN, 1},
	{STACK, BB_TRACE_ACCESS, 0, 8},
	{CALLER + 5, BB_TRACE_INSN, BB_TRACE_CALL, 1},
	{STACK, BB_TRACE_ACCESS, 0, 8},
	{CLOCK, BB_TRACE_INSN, 0, 1},
	{CLOCK + 2, BB_TRACE_INSN, BB_TRACE_CLOCK, 1},
	{0, BB_TRACE_END, 0, 0},
};
#define N (sizeof(whole) / sizeof(whole[0]))

/* Reads the records v[n], repeated `times` times. The names are in a copy of the text that the next
 * call frees. */
static struct bb_traced *read_all(const char *text, const struct bb_trace_record *v, size_t n,
				  int times, size_t *ret_n)
{
	static char *copy;
	struct bb_err err = {0};
	struct bb_traced *traced;
	int fd = memfd_create("trace", 0);

	free(copy);
	copy = strdup(text);
	for (int i = 0; i < times; i++)
		assert_int_equal(write(fd, v, n * sizeof(*v)), (ssize_t)(n * sizeof(*v)));
	assert_int_equal(bb_traced__read(copy, fd, &traced, ret_n, &err), 0);
	close(fd);
	return traced;
}

static void test_run(void **state)
{
	char *folded = NULL;
	size_t n, size;
	struct bb_traced *t = read_all(TEXT "run 14\n" SYMBOLS, whole, N, 1, &n);
	FILE *out = open_memstream(&folded, &size);

	(void)state;
	assert_int_equal(n, 1);
	assert_string_equal(t->name, "one");
	assert_int_equal(t->ns, 14);
	assert_int_equal(t->n, 14);
	assert_int_equal(t->around, 5);
	assert_int_equal(t->n_lines, 2);
	assert_string_equal(t->lines[0].text, "x = help();");
	assert_int_equal(t->lines[0].own, 3);
	assert_int_equal(t->lines[0].called, 5);
	assert_int_equal(t->lines[1].own, 1);
	assert_int_equal(t->lines[1].called, 0);
	assert_int_equal(t->n_parts, 2);
	assert_string_equal(bb_names__text(&t->stacks.names, t->parts[0].name), "helper");
	assert_int_equal(t->parts[0].n, 3);
	assert_int_equal(t->stacks.total, 14);
	/* 14 instructions and 6 accesses. Their 5 lines of code and 2 of data are not cached yet,
	 * except the line of CLOCK, which was read before. */
	assert_int_equal(t->cache.l1 + t->cache.ll + t->cache.ram, 20);
	assert_int_equal(t->cache.ram, 6);
	assert_int_equal(t->cache.ll, 0);
	assert_int_equal(t->n_warm, 0);
	bb_stacks__write_folded(&t->stacks, out);
	fclose(out);
	assert_non_null(strstr(folded, "one;caller_[k];7 x = help():;helper_[k] 3\n"));
	assert_non_null(strstr(folded, "one;caller_[k];7 x = "
				       "help():;helper_[k];asm_exc_page_fault_[k] 2"
				       "\n"));
	assert_non_null(strstr(folded, "one;caller_[k];8 return x: 1\n"));
	free(folded);
	bb_traced__free(t, n);
}

/* The lines may be in any order. Of two at one address, the later one counts. Also: the calls, and
 * functions that a called function jumps to. */
static void test_lines_and_calls(void **state)
{
	static const char text[] = "program one\nfunction ffffffffc0000000 64 one\n"
				   "line ffffffffc0000008 8 return x;\n"
				   "line ffffffffc0000000 6 nothing;\n"
				   "line ffffffffc0000000 7 x = help();\n"
				   "line ffffffffc0000010 9 never;\nrun 14\n" SYMBOLS;
	struct bb_trace_record jumps[N];
	size_t n;
	struct bb_traced *t = read_all(text, whole, N, 1, &n);

	(void)state;
	assert_int_equal(t->n_lines, 2);
	assert_int_equal(t->lines[0].number, 7);
	assert_int_equal(t->lines[1].number, 8);
	assert_int_equal(t->n_calls, 2);
	assert_string_equal(bb_names__text(&t->stacks.names, (uint32_t)t->calls[1].of), "helper");
	assert_string_equal(bb_names__text(&t->stacks.names, t->calls[1].name), "asm_exc_page_"
										"fault");
	assert_int_equal(t->calls[1].n, 2);
	bb_traced__free(t, n);
	memcpy(jumps, whole, sizeof(whole));
	for (size_t i = 0; i < N; i++)
		if (jumps[i].address == HELPER + 2)
			jumps[i].address = OTHER;
	t = read_all(text, jumps, N, 1, &n);
	assert_int_equal(t->n_calls, 3);
	for (size_t i = 0; i < t->n_calls; i++)
		assert_string_equal(bb_names__text(&t->stacks.names, (uint32_t)t->calls[i].of),
				    "helper");
	assert_string_equal(bb_names__text(&t->stacks.names, t->calls[2].name), "other");
	assert_int_equal(t->calls[2].n, 1);
	bb_traced__free(t, n);
}

/* The latest run that agrees with the clock is chosen. */
static void test_choice(void **state)
{
	size_t n;
	struct bb_traced *t = read_all(TEXT "run 0\nrun 14\nrun 15\n" SYMBOLS, whole, N, 3, &n);

	(void)state;
	assert_int_equal(t->ns, 14);
	/* The run before it has filled the caches. */
	assert_int_equal(t->n_warm, 1);
	assert_int_equal(t->cache.l1, 20);
	bb_traced__free(t, n);
	t = read_all(TEXT "run 13\nrun 15\n" SYMBOLS, whole, N, 2, &n);
	assert_int_equal(t->ns, 15);
	assert_int_equal(t->n, 14);
	bb_traced__free(t, n);
}

/* No part of a trace or of its text may be read as a whole run. */
static void test_damaged(void **state)
{
	size_t n;
	struct bb_traced *t;

	(void)state;
	for (size_t i = 1; i < N; i++) {
		t = read_all(TEXT "run 14\n" SYMBOLS, whole, i, 1, &n);
		assert_int_equal(t->n, 0);
		bb_traced__free(t, n);
		t = read_all(TEXT "run 14\n" SYMBOLS, whole + i, N - i, 1, &n);
		assert_int_equal(t->n, 0);
		bb_traced__free(t, n);
	}
	for (size_t i = 0; i < strlen(TEXT); i++) {
		char text[sizeof(TEXT)];

		memcpy(text, TEXT, i);
		text[i] = '\0';
		t = read_all(text, whole, N, 1, &n);
		assert_int_equal(n ? t->n : 0, 0);
		bb_traced__free(t, n);
	}
	t = read_all("line\nfunction 1\nrun 3\n\n" SYMBOLS, whole, N, 1, &n);
	assert_int_equal(n, 0);
	bb_traced__free(t, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_lines_and_calls),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
