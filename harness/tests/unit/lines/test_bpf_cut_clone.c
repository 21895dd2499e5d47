/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clones that end at a cut, against an interpreter that stops there. The programs are random, and
 * write what they compute to a map.
 *
 * no turn: it times nothing */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/insn.h"
#include "exact/rewrite.h"
#include "lines/cut_clone.h"
#include "unit/bpf_testing.h"
#include "unit/interpreter.h"
#include "unit/random_program.h"

#define PROGRAMS 200u /* programs that the verifier accepts, with their cuts */
#define PACKETS 4u    /* runs of each program */
#define MOST_ENDS 24u /* cuts of one run at which the clone is ended */
#define MOST_PASSED 4096u

/* A random program and its clones. */
struct prog {
	struct gen gen;
	struct bpf_func_info funcs[GEN_FUNCS];
	struct bpf_line_info lines[GEN_INSNS];
	struct bb_code code;
	struct bb_cfg cfg;
	struct bb_registers live;
	struct bb_helds helds;
	struct bb_cuts cuts;
	uint32_t stack_bytes[GEN_FUNCS];
	struct bb_cut_form form;
	int original_fd, clone_fd, logger_fd;
};

struct fixture {
	int map_fd, trace_fd;
	struct bb_shared_memory memory;
	uint8_t *low;
	uint32_t programs, runs, ends, passed, unseen, in_functions;
};

/* The cuts that a run of the interpreter passes. */
struct passed {
	const struct bb_cuts *cuts;
	const bool *is_seen; /* for each cut, whether the clone checks there; NULL: all cuts */
	uint32_t v[MOST_PASSED], n;
	uint32_t most; /* the run ends at the cut after these */
};

/* --- the interpreter --- */

static bool note_cut(void *user, uint32_t slot, bool after)
{
	struct passed *p = user;

	for (uint32_t k = 0; k < p->cuts->n; k++) {
		if (p->cuts->v[k].slot != slot || p->cuts->v[k].after != after ||
		    (p->is_seen && !p->is_seen[k]))
			continue;
		assert_true(p->n < MOST_PASSED);
		p->v[p->n++] = k;
		return p->n > p->most;
	}
	return false;
}

/* Interprets a run up to its cut number `most` (0 is the first). Fills `p` and the trace. Returns
 * r0. */
static uint64_t interpret(const struct prog *s, const struct fixture *f, uint32_t most,
			  const bool *is_seen, struct passed *p, uint64_t *ret_trace)
{
	struct interp *I = calloc(1, sizeof(*I));
	const uint64_t args[5] = {LOW_ADDRESS};
	uint64_t r0;

	assert_non_null(I);
	*p = (struct passed){.cuts = &s->cuts, .is_seen = is_seen, .most = most};
	*I = (struct interp){.insns = s->code.insns,
			     .n = s->code.n,
			     .ends_at = note_cut,
			     .user = p};
	interp_map(I, f->trace_fd);
	r0 = interp_run(I, 0, args, 0);
	if (I->why[0])
		fail_msg("%s: the interpreter does not know %s", s->code.name, I->why);
	memcpy(ret_trace, interp_entry(&I->maps[0], 0) + interp_value_at(&I->maps[0]),
	       GEN_TRACE * sizeof(*ret_trace));
	interp_done(I);
	free(I);
	return r0;
}

/* --- the kernel --- */

static void clear_trace(const struct fixture *f)
{
	const uint64_t zeros[GEN_TRACE] = {0};
	const uint32_t zero = 0;

	assert_int_equal(bpf_map_update_elem(f->trace_fd, &zero, zeros, 0), 0);
}

/* Runs the program and compares its trace with `expected`. Returns r0. */
static uint32_t run_traced(const struct prog *s, const struct fixture *f, int fd, size_t len,
			   const uint64_t *expected)
{
	const uint32_t zero = 0;
	uint64_t trace[GEN_TRACE];
	uint32_t r0 = run_fd(fd, f->low + 4096, len);

	assert_int_equal(bpf_map_lookup_elem(f->trace_fd, &zero, trace), 0);
	for (uint32_t k = 0; k < GEN_TRACE; k++)
		if (trace[k] != expected[k])
			fail_msg("%s: word %u of the trace is %llx, not %llx", s->code.name, k,
				 (unsigned long long)trace[k], (unsigned long long)expected[k]);
	clear_trace(f);
	return r0;
}

/* --- one program --- */

/* Makes a line for every third instruction, and one for the first of each function. */
static void make_lines(struct prog *s)
{
	struct bb_code *c = &s->code;
	uint32_t func = 0;

	c->lines = s->lines;
	for (uint32_t at = 0; at < c->n; at++) {
		bool begins = func < c->n_funcs && c->funcs[func].insn_off == at;

		func += begins;
		if (!bb_insn_is_second_half(c->insns, at) && (begins || at % 3 == 0))
			s->lines[c->n_lines++] = (struct bpf_line_info){.insn_off = at,
									.line_col = (at + 1) << 10};
	}
}

static int load_clones(struct prog *s, const struct fixture *f, enum bb_cut_detail detail)
{
	const struct bb_cut_form logs = {.logs = true};
	struct bb_cut_parts parts = {.code = s->code,
				     .cfg = s->cfg,
				     .live = s->live,
				     .helds = s->helds,
				     .stack_bytes = s->stack_bytes,
				     .memory_fd = f->memory.fd};
	struct bb_err err = {0};
	int rc;

	bb_cuts__find(&s->code, &s->cfg, detail, 1, &s->cuts);
	parts.cuts = s->cuts;
	rc = bb_cut_clone__load(&parts, &s->form, &s->clone_fd, &err);
	if (!rc)
		rc = bb_cut_clone__load(&parts, &logs, &s->logger_fd, &err);
	if (rc && rc != -ENOTSUP)
		fail_msg("%s: %s", s->code.name, err.msg);
	if (rc)
		bb_cuts__done(&s->cuts);
	return rc;
}

static void close_clones(struct prog *s)
{
	if (s->clone_fd >= 0)
		close(s->clone_fd);
	if (s->logger_fd >= 0)
		close(s->logger_fd);
	s->clone_fd = s->logger_fd = -1;
}

/* Returns false if the verifier accepts no clone, not even with the fewest cuts. */
static bool open_clones(struct prog *s, const struct fixture *f)
{
	int rc = -ENOTSUP;

	assert_int_equal(bb_cfg__make(&s->code, &s->cfg, NULL), 0);
	bb_registers__find(&s->code, &s->cfg, &s->live);
	bb_helds__find(&s->code, &s->cfg, &s->helds);
	assert_int_equal(bb_load__stack_bytes(&s->code, &s->cfg, s->stack_bytes, NULL), 0);
	for (int detail = BB_CUT_ALL; rc && detail >= BB_CUT_CALLS; detail--) {
		close_clones(s);
		rc = load_clones(s, f, (enum bb_cut_detail)detail);
	}
	return !rc;
}

/* True if the clone has no check at this cut, because all ten registers are in use there. */
static bool has_no_check(const struct prog *s, uint32_t cut)
{
	const struct bb_cut *c = &s->cuts.v[cut];

	return !c->after && s->live.live[c->slot] == 0x3ff;
}

/* Compares the log of a run with the interpreter's cuts, without those that have no check. Sets
 * `ret_seen` for the cuts in the log. */
static void compare_log(const struct prog *s, struct fixture *f, const struct passed *way,
			bool *ret_seen)
{
	const struct bb_shared_memory *m = &f->memory;
	uint64_t n = bb_cut_memory__logged(m);
	uint32_t at = 0;

	for (uint64_t i = 0; i < n; i++)
		ret_seen[bb_cut_memory__log(m, i)] = true;
	for (uint32_t i = 0; i < way->n; i++) {
		f->passed++;
		if (has_no_check(s, way->v[i]))
			f->unseen++;
		else if (at == n || bb_cut_memory__log(m, at++) != way->v[i])
			fail_msg("%s: the log differs at its cut %u", s->code.name, at);
	}
	assert_int_equal(at, n);
}

/* Ends the clone at some of the cuts that the run passes. */
static void end_everywhere(struct prog *s, struct fixture *f, size_t len, const bool *is_seen,
			   uint32_t n)
{
	struct passed way;
	uint64_t trace[GEN_TRACE];

	for (uint32_t i = 0; i < n && i < MOST_ENDS; i++) {
		uint32_t nth = n <= MOST_ENDS ? i : gen_below(&s->gen, n), cut;

		interpret(s, f, nth, is_seen, &way, trace);
		cut = way.v[nth];
		bb_cut_memory__end_at(&f->memory, nth, i % 2);
		assert_int_equal(run_traced(s, f, s->clone_fd, len, trace), s->form.retval);
		if (bb_cut_memory__ended_at(&f->memory) != cut)
			fail_msg("%s: ended at cut %lld, not %u", s->code.name,
				 (long long)bb_cut_memory__ended_at(&f->memory), cut);
		f->ends++;
		f->in_functions += s->cuts.v[cut].slot >= s->cfg.funcs[0].end;
	}
}

static void play_packet(struct prog *s, struct fixture *f)
{
	size_t len = random_packet(&s->gen.rng, f->low);
	bool *is_seen = calloc(s->cuts.n, sizeof(*is_seen));
	struct passed way;
	uint64_t trace[GEN_TRACE];
	uint32_t r0 = (uint32_t)interpret(s, f, UINT32_MAX, NULL, &way, trace);

	assert_non_null(is_seen);
	assert_int_equal(run_traced(s, f, s->original_fd, len, trace), r0);
	bb_cut_memory__begin_log(&f->memory);
	assert_int_equal(run_traced(s, f, s->logger_fd, len, trace), r0);
	compare_log(s, f, &way, is_seen);
	bb_cut_memory__end_nowhere(&f->memory);
	assert_int_equal(run_traced(s, f, s->clone_fd, len, trace), r0);
	assert_int_equal(bb_cut_memory__ended_at(&f->memory), -1);
	end_everywhere(s, f, len, is_seen, (uint32_t)bb_cut_memory__logged(&f->memory));
	free(is_seen);
	f->runs++;
}

static void play(struct prog *s, struct fixture *f, uint64_t number)
{
	s->form = (struct bb_cut_form){.doubled = number & 1,
				       .stub_first = number & 2,
				       .retval = number & 4 ? 2 : 0};
	s->clone_fd = s->logger_fd = -1;
	make_lines(s);
	if (open_clones(s, f)) {
		for (uint32_t i = 0; i < PACKETS; i++)
			play_packet(s, f);
		f->programs++;
		bb_cuts__done(&s->cuts);
	}
	close_clones(s);
	bb_helds__done(&s->helds);
	bb_registers__done(&s->live);
	bb_cfg__done(&s->cfg);
}

static void play_number(struct fixture *f, uint64_t number)
{
	struct prog *s = calloc(1, sizeof(*s));
	struct btf *btf;

	assert_non_null(s);
	gen_make(&s->gen, number, f->map_fd, f->trace_fd);
	if (s->gen.n <= GEN_INSNS) {
		btf = describe(&s->gen, s->funcs);
		random_code(&s->gen, number, btf, s->funcs, &s->code);
		if (!bb_load__program(&s->code, NULL, &s->original_fd, NULL)) {
			play(s, f, number);
			close(s->original_fd);
		}
		btf__free(btf);
	}
	free(s);
}

static void test_random_programs(void **state)
{
	struct fixture f = {0};

	(void)state;
	need_root();
	f.low = low_memory();
	f.map_fd = make_array();
	f.trace_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "trace", 4, 8 * GEN_TRACE, 1, NULL);
	assert_true(f.trace_fd >= 0);
	assert_int_equal(bb_cut_memory__open(&f.memory, NULL), 0);
	stay_on_this_cpu();
	for (uint64_t number = 0; number < 20 * PROGRAMS && f.programs < PROGRAMS; number++)
		play_number(&f, number);
	print_message("# %u programs, %u runs that pass %u cuts, of which %u are not seen; %u "
		      "ended "
		      "at a cut, %u of them in a function\n",
		      f.programs, f.runs, f.passed, f.unseen, f.ends, f.in_functions);
	assert_int_equal(f.programs, PROGRAMS);
	assert_true(f.ends > f.runs && f.in_functions);
	bb_shared_memory__close(&f.memory);
	close(f.trace_fd);
	close(f.map_fd);
	munmap(f.low, LOW_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
