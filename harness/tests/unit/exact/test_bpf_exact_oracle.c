/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instruction counts against an interpreter that counts by itself, for random programs and for
 * those of this project.
 *
 * slow: hundreds of programs are loaded and run
 * no turn: it counts instructions and times nothing */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/mman.h>

#include "bpf/attach.h"
#include "exact/clone.h"
#include "exact/cfg.h"
#include "base/insn.h"
#include "exact/rewrite.h"
#include "unit/bpf_testing.h"
#include "unit/interpreter.h"
#include "unit/random_program.h"

#define PROGRAMS 250u /* random programs that the verifier accepts */
#define PACKETS 24u   /* runs of each random program */
/* bb_counts__are_whole() must accept the counts of one run, and reject them if the last block of
 * the run is counted once more. */
static void look_whole(const struct bb_cfg *g, const struct bb_code *code, uint64_t *counts)
{
	uint64_t *in = calloc(g->n_blocks, sizeof(*in));

	assert_non_null(in);
	if (!bb_counts__are_whole(g, code, 1, counts, in))
		fail_msg("%s: the counts of one run are not seen to be one", code->name);
	for (uint32_t b = 0; b < g->n_blocks; b++)
		if (counts[b] && !g->blocks[b].func && !g->blocks[b].n_next) {
			counts[b]++;
			assert_false(bb_counts__are_whole(g, code, 1, counts, in));
			break;
		}
	free(in);
}

/* Compares the interpreter's count of every slot with the counter of its block. */
static void compare(const struct bb_clone *clone, const struct interp *I,
		    const struct bb_code *code)
{
	const char *name = code->name;
	const struct bb_cfg *g = &clone->cfg;
	uint64_t *counts = calloc(g->n_blocks, sizeof(*counts));

	assert_non_null(counts);
	bb_clone__read(clone, counts);
	for (uint32_t at = 0; at < I->n; at++)
		if (!bb_insn_is_second_half(I->insns, at) && I->hits[at] != counts[g->block_of[at]])
			fail_msg("%s: instruction %u was executed %llu times, not %llu", name, at,
				 (unsigned long long)I->hits[at],
				 (unsigned long long)counts[g->block_of[at]]);
	assert_int_equal(bb_counts__instructions(g, counts), I->steps);
	look_whole(g, code, counts);
	free(counts);
}

/* --- random programs --- */

struct tally {
	uint32_t programs, saved, callbacks, globals, functions, too_short;
	uint64_t runs, steps;
};

static void play(const struct bb_code *code, const struct bb_clone *clone, int original_fd,
		 uint8_t *low, struct bb_rng *rng, struct tally *tally)
{
	struct interp *I = calloc(1, sizeof(*I));
	uint64_t *hits = calloc(code->n, sizeof(*hits));

	assert_non_null(I);
	assert_non_null(hits);
	for (uint32_t i = 0; i < PACKETS; i++) {
		uint8_t *packet = low + 4096;
		size_t len = random_packet(rng, low);
		uint64_t args[5] = {LOW_ADDRESS}, expected;

		memset(hits, 0, code->n * sizeof(*hits));
		*I = (struct interp){.insns = code->insns, .n = code->n, .hits = hits};
		expected = interp_run(I, 0, args, 0);
		if (I->why[0])
			fail_msg("the interpreter does not know %s", I->why);
		bb_clone__reset(clone);
		assert_int_equal(run_fd(original_fd, packet, len), (uint32_t)expected);
		assert_int_equal(run_fd(clone->prog_fd, packet, len), (uint32_t)expected);
		compare(clone, I, code);
		interp_done(I);
		tally->runs++;
		tally->steps += I->steps;
		tally->too_short += len < GEN_PACKET;
	}
	free(hits);
	free(I);
}

/* Runs one random program if the verifier accepts it. */
static void play_number(uint64_t number, int map_fd, uint8_t *low, struct tally *tally)
{
	struct gen *g = calloc(1, sizeof(*g));
	struct bpf_func_info funcs[GEN_FUNCS];
	struct bb_code code;
	struct bb_clone clone;
	struct bb_err err = {0};
	struct btf *btf;
	int fd;

	assert_non_null(g);
	gen_make(g, number, map_fd, -1);
	if (g->n <= GEN_INSNS) {
		btf = describe(g, funcs);
		random_code(g, number, btf, funcs, &code);
		if (!bb_load__program(&code, NULL, &fd, NULL)) {
			if (bb_clone__load(&code, false, &clone, &err))
				fail_msg("%s", err.msg);
			play(&code, &clone, fd, low, &g->rng, tally);
			tally->programs++;
			tally->saved += clone.n_saved;
			tally->functions += g->n_funcs - 1;
			for (uint32_t f = 1; f < g->n_funcs; f++) {
				tally->callbacks += g->funcs[f].is_callback;
				tally->globals += g->funcs[f].is_global;
			}
			bb_clone__done(&clone);
			close(fd);
		}
		btf__free(btf);
	}
	free(g);
}

static void test_random_programs(void **state)
{
	struct tally tally = {0};
	uint8_t *low;
	int map_fd;

	(void)state;
	need_root();
	low = low_memory();
	map_fd = make_array();
	stay_on_this_cpu();
	for (uint64_t number = 0; number < 20 * PROGRAMS && tally.programs < PROGRAMS; number++)
		play_number(number, map_fd, low, &tally);
	print_message("# %u programs, %u functions (%u global, %u callbacks), %u blocks that saved "
		      "registers, %llu runs, %llu "
		      "instructions\n",
		      tally.programs, tally.functions, tally.globals, tally.callbacks, tally.saved,
		      (unsigned long long)tally.runs, (unsigned long long)tally.steps);
	assert_int_equal(tally.programs, PROGRAMS);
	assert_true(tally.saved && tally.callbacks && tally.globals && tally.too_short);
	close(map_fd);
	munmap(low, LOW_BYTES);
}

/* --- programs of this project --- */

/* How a program of a type is run once: on a packet, on a context, or by a page fault. */
struct way {
	uint32_t type;
	bool has_packet, is_event;
	uint32_t header; /* bytes that the kernel removes from the packet first */
};

#define PROG_TYPE_NETFILTER 32 /* new in Linux 6.4; the headers of Debian 12 lack it */

static const struct way ways[] = {
	{BPF_PROG_TYPE_XDP, true, false, 0},
	{BPF_PROG_TYPE_SCHED_CLS, true, false, 0},
	{BPF_PROG_TYPE_SCHED_ACT, true, false, 0},
	{BPF_PROG_TYPE_SOCKET_FILTER, true, false, 14},
	{BPF_PROG_TYPE_CGROUP_SKB, true, false, 14},
	{BPF_PROG_TYPE_LWT_IN, true, false, 14},
	{BPF_PROG_TYPE_LWT_OUT, true, false, 14},
	{BPF_PROG_TYPE_LWT_XMIT, true, false, 14},
	{BPF_PROG_TYPE_FLOW_DISSECTOR, true, false, 14},
	{PROG_TYPE_NETFILTER, true, false, 14},
	{BPF_PROG_TYPE_SK_LOOKUP, false, false, 0},
	{BPF_PROG_TYPE_RAW_TRACEPOINT, false, false, 0},
	{BPF_PROG_TYPE_SYSCALL, false, false, 0},
	{BPF_PROG_TYPE_PERF_EVENT, false, true, 0},
};

#define OWN_RUNS 20u
#define CONTEXT_BYTES 96u
#define REGION_PAGES 64u

static const struct way *way_of(uint32_t type)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (ways[i].type == type)
			return &ways[i];
	return NULL;
}

/* Causes exactly one page fault in user mode. */
static void fault_once(int event_fd, volatile char *page)
{
	assert_int_equal(bb_perf_event__enable(event_fd), 0);
	(void)*page;
	assert_int_equal(bb_perf_event__disable(event_fd), 0);
}

static int open_event(int prog_fd)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_PAGE_FAULTS,
				       .sample_period = 1,
				       .exclude_kernel = 1};
	struct bb_err err = {0};
	int fd;

	if (bb_perf_event__open(&attr, 0, -1, prog_fd, &fd, &err))
		fail_msg("%s", err.msg);
	return fd;
}

/* Makes the i-th input: a context for the interpreter, and a packet or context for the kernel. */
static void make_input(const struct way *w, uint8_t *low, uint32_t i, size_t *ret_len)
{
	/* At least an IPv4 header. */
	static const size_t lengths[] = {64, 34, 60, 150, 1000};
	uint8_t *packet = low + 4096;
	size_t len = w->has_packet ? lengths[i % 5] : CONTEXT_BYTES;

	memset(low, 0, 8192);
	if (w->has_packet) {
		packet[0] = (uint8_t)(i * 17);
		packet[12] = 8; /* IPv4, with a different address in each run */
		packet[14] = 0x45;
		packet[26] = (uint8_t)(i * 13);
		if (w->type == BPF_PROG_TYPE_XDP)
			memcpy(low,
			       &(struct xdp_md){.data_meta = LOW_ADDRESS + 4096,
						.data = LOW_ADDRESS + 4096,
						.data_end = (uint32_t)(LOW_ADDRESS + 4096 + len)},
			       sizeof(struct xdp_md));
		else
			memcpy(low,
			       &(struct __sk_buff){.len = (uint32_t)len - w->header,
						   .data = LOW_ADDRESS + 4096 + w->header,
						   .data_end =
							   (uint32_t)(LOW_ADDRESS + 4096 + len)},
			       sizeof(struct __sk_buff));
	} else if (w->type == BPF_PROG_TYPE_SK_LOOKUP) {
		memcpy(low,
		       &(struct bpf_sk_lookup){.family = 2 /* AF_INET */, .protocol = 17 /* UDP */},
		       sizeof(struct bpf_sk_lookup));
	} else if (!w->is_event) {
		memcpy(low, &(uint64_t){i + 1}, sizeof(uint64_t));
	}
	*ret_len = len;
}

static void run_own(const struct way *w, int prog_fd, const uint8_t *low, size_t len, int event_fd,
		    volatile char *page)
{
	uint8_t context[CONTEXT_BYTES];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = context, .ctx_size_in = sizeof(context));
	int rc;

	memcpy(context, low, sizeof(context));
	if (w->is_event) {
		fault_once(event_fd, page);
		return;
	}
	if (w->has_packet) {
		run_fd(prog_fd, low + 4096, len);
		return;
	}
	do
		rc = bpf_prog_test_run_opts(prog_fd, &opts);
	while (rc == -EINTR);
	assert_int_equal(rc, 0);
}

/* Returns false if the interpreter cannot run the program, because it does not know a helper or
 * kfunc. */
static bool play_own(const struct bb_clone *clone, const struct way *w, uint8_t *low,
		     struct tally *tally)
{
	const struct bb_code *code = clone->code;
	struct interp *I = calloc(1, sizeof(*I));
	size_t page = (size_t)sysconf(_SC_PAGESIZE), len;
	char *region = mmap(NULL, REGION_PAGES * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int event_fd = w->is_event ? open_event(clone->prog_fd) : -1;
	const uint64_t args[5] = {LOW_ADDRESS};
	bool known = true;

	assert_non_null(I);
	assert_ptr_not_equal(region, MAP_FAILED);
	madvise(region, REGION_PAGES * page, MADV_NOHUGEPAGE);
	*I = (struct interp){.insns = code->insns,
			     .n = code->n,
			     .hits = calloc(code->n, sizeof(*I->hits))};
	assert_non_null(I->hits);
	for (uint32_t i = 0; i < OWN_RUNS && known; i++) {
		make_input(w, low, i, &len);
		memset(I->hits, 0, code->n * sizeof(*I->hits));
		I->steps = 0;
		I->left = false;
		I->packet = low + 4096 + w->header;
		I->packet_len = len - w->header;
		bb_clone__reset(clone);
		interp_run(I, 0, args, 0); /* before the kernel's run, which may change globals */
		run_own(w, clone->prog_fd, low, len, event_fd, region + i * page);
		known = !strstr(I->why, "helper") && !strstr(I->why, "kfunc");
		if (known && I->why[0])
			fail_msg("%s: the interpreter does not know %s", code->name, I->why);
		if (!known) {
			print_message("# not played: %s calls %s\n", code->name, I->why);
			continue;
		}
		/* The first fault's run may itself touch pages; these are present in later runs. */
		if (!w->is_event || i)
			compare(clone, I, code);
		tally->runs++;
		tally->steps += I->steps;
	}
	if (event_fd >= 0)
		close(event_fd);
	munmap(region, REGION_PAGES * page);
	free(I->hits);
	interp_done(I);
	free(I);
	return known;
}

/* Returns why the program was not run, or NULL if it was. */
static const char *play_program(const char *path, const char *program, uint8_t *low,
				struct tally *tally)
{
	const char *why = NULL;
	struct bb_target *t;
	struct bb_code code = {0};
	struct bb_clone clone;
	struct bb_err err = {0};
	int rc = bb_target__open(&(struct bb_source_spec){.path = path, .program = program}, &t,
				 &err);

	if (rc == -ENOTSUP) /* the kernel has refused another program of its type */
		return "does not load";
	if (rc)
		fail_msg("%s", err.msg);
	if (bb_target__load(t, &err))
		why = "does not load";
	else if (bb_target__code(t, t->prog_fd, &code, &err))
		fail_msg("%s", err.msg);
	else if (!way_of(code.type))
		why = "has no run of this kind";
	else if (code.type == BPF_PROG_TYPE_XDP && code.expected_attach_type &&
		 code.expected_attach_type != BPF_XDP)
		why = "is called by a map only";
	else if (way_of(code.type)->is_event && HAS_ASAN)
		why = "AddressSanitizer takes page faults of its own";
	else if ((rc = bb_clone__load(&code, false, &clone, &err)) == -ENOTSUP)
		why = "cannot be instrumented";
	else if (rc)
		fail_msg("%s", err.msg);
	if (!why) {
		if (play_own(&clone, way_of(code.type), low, tally))
			tally->programs++;
		else
			why = "calls what the interpreter does not know";
		bb_clone__done(&clone);
	}
	bb_code__done(&code);
	bb_target__free(t);
	return why;
}

static void play_object(const char *path, uint8_t *low, struct tally *tally)
{
	/* A program that cannot be instrumented. */
	static const char *const may_fail[] = {"no_room"};
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	struct bpf_program *p;

	/* Skips programs with tail calls into others, which the interpreter cannot follow, programs
	 * that must be refused, and types that cannot run. */
	if (!obj || strstr(path, "tailcall") || strstr(path, "lines_leave") ||
	    strstr(path, "sections")) {
		bpf_object__close(obj);
		return;
	}
	bpf_object__for_each_program(p, obj)
	{
		const char *why = play_program(path, bpf_program__name(p), low, tally);
		bool expected = false;

		for (size_t i = 0; i < sizeof(may_fail) / sizeof(may_fail[0]); i++)
			expected |= strstr(bpf_program__name(p), may_fail[i]) ||
				    strstr(path, may_fail[i]);
		if (why && !expected && strstr(why, "instrumented"))
			fail_msg("%s of %s %s", bpf_program__name(p), path, why);
	}
	bpf_object__close(obj);
}

static void test_own_programs(void **state)
{
	static const char *const folders[] = {"bpf/*.bpf.o", "tests/bpf/*.bpf.o"};
	struct tally tally = {0};
	uint8_t *low;

	(void)state;
	need_root();
	low = low_memory();
	stay_on_this_cpu();
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char pattern[4096];
		glob_t found;

		assert_int_equal(glob(built(folders[i], pattern, sizeof(pattern)), 0, NULL, &found),
				 0);
		for (size_t k = 0; k < found.gl_pathc; k++)
			play_object(found.gl_pathv[k], low, &tally);
		globfree(&found);
	}
	print_message("# %u programs, %llu runs, %llu instructions\n", tally.programs,
		      (unsigned long long)tally.runs, (unsigned long long)tally.steps);
	assert_true(tally.programs > 40 || HAS_ASAN);
	munmap(low, LOW_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
		cmocka_unit_test(test_own_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
