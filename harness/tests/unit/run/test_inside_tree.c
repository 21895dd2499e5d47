/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of paths that `inside` stores: where paths part, and how the sides are named. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "run/inside.h"

#define N_BLOCKS 5u

/* A program of five blocks that begin at the instructions 0, 10, 20, 30 and 40. Each has a mark. */
struct made {
	struct bb_basic_block blocks[N_BLOCKS];
	uint32_t mark_of[N_BLOCKS];
	struct bb_inside_program program;
	struct bb_inside_path paths[3];
	uint64_t words[3];
	struct bb_inside_figures figures;
};

static void make(struct made *m, const char *name)
{
	*m = (struct made){0};
	for (uint32_t b = 0; b < N_BLOCKS; b++) {
		m->blocks[b].first = 10 * b;
		m->mark_of[b] = b + 1;
	}
	m->program.id = 1;
	snprintf(m->program.name, sizeof(m->program.name), "%s", name);
	m->program.cfg.blocks = m->blocks;
	m->program.cfg.n_blocks = N_BLOCKS;
	m->program.clone.mark_of = m->mark_of;
	m->program.clone.n_marks = N_BLOCKS;
	m->program.clone.n_words = 1;
	m->program.clone.marks_a_byte = 8;
	m->figures.paths = m->paths;
}

/* Adds a path of `runs` runs that executes the blocks in the set `blocks` (bit b is block b). */
static void add_path(struct made *m, unsigned int blocks, uint64_t runs)
{
	size_t n = m->figures.n_paths++;

	for (uint32_t b = 0; b < N_BLOCKS; b++)
		if (blocks >> b & 1)
			m->words[n] |= 1ull << bb_inside_clone__bit_of(&m->program.clone, b);
	m->paths[n] = (struct bb_inside_path){.key = n + 1, .runs = runs, .words = &m->words[n]};
	m->figures.all.runs += runs;
	m->figures.began += runs;
}

/* Returns the tree of programs[n] as folded stacks; the caller frees it. */
static char *tree_of(struct bb_inside_program *programs, struct bb_inside_figures *figures,
		     size_t n)
{
	const struct bb_inside in = {.programs = programs, .n_programs = n};
	struct bb_stacks stacks = {0};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	bb_inside__tree(&in, figures, &stacks);
	bb_stacks__write_folded(&stacks, out);
	bb_stacks__done(&stacks);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Two paths skip block 1, and each executes another block instead. No block is in both, so their
 * side must not have the name of a block that only one executes. */
static void test_side_of_two_paths(void **state)
{
	struct made m;
	char *text;

	(void)state;
	make(&m, "prog");
	add_path(&m, 0x13, 50);
	add_path(&m, 0x15, 30);
	add_path(&m, 0x19, 20);
	text = tree_of(&m.program, &m.figures, 1);
	assert_non_null(strstr(text, "prog;instruction 10 50\n"));
	assert_non_null(strstr(text, "prog;skips instruction 10;instruction 20 30\n"));
	assert_non_null(strstr(text, "prog;skips instruction 10;instruction 30 20\n"));
	free(text);
}

/* Both paths that skip block 1 execute block 3, so their side has its name. */
static void test_block_of_all(void **state)
{
	struct made m;
	char *text;

	(void)state;
	make(&m, "prog");
	add_path(&m, 0x13, 50);
	add_path(&m, 0x1d, 30);
	add_path(&m, 0x19, 20);
	text = tree_of(&m.program, &m.figures, 1);
	assert_non_null(strstr(text, "prog;instruction 30;instruction 20 30\n"));
	assert_non_null(strstr(text, "prog;instruction 30;skips instruction 20 20\n"));
	free(text);
}

/* Each of several programs with the same name has its own tree, named like its case. */
static void test_one_name(void **state)
{
	struct made m[2];
	struct bb_inside_program programs[2];
	struct bb_inside_figures figures[2];
	char *text;

	(void)state;
	for (int i = 0; i < 2; i++) {
		make(&m[i], "prog");
		add_path(&m[i], 0x13, 50 + (unsigned int)i);
		programs[i] = m[i].program;
		figures[i] = m[i].figures;
	}
	text = tree_of(programs, figures, 2);
	assert_string_equal(text, "prog 50\nprog-2 51\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_side_of_two_paths),
		cmocka_unit_test(test_block_of_all),
		cmocka_unit_test(test_one_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
