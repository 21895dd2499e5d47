/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Full tables and mixes of packets: how long a hash of a million entries takes to fill and to put
 * back, what a sample of a mix of 100 000 packets costs against one of a single packet, and how the
 * cost of a lookup grows with the table, for random keys and for one key.
 */
#include <jansson.h>
#include <linux/bpf.h>

#include "bench.h"
#include "drivers/trigger_test_run.h"
#include "plan/packet.h"

#define OBJECT "tests/bpf/sizes.bpf.o"
#define TIMES 15u
#define FILLED 1000000u
#define FILL_MOST_S 2.0
#define PUT_BACK_MOST_S 0.3
#define PACKETS 100000u
#define MIX_BLOCKS 1500u
#define MIX_MOST 1.2

static const char *built(const char *name)
{
	static char path[4096];
	const char *o = getenv("O");

	snprintf(path, sizeof(path), "%s/%s", o ? o : "build", name);
	return path;
}

static void die_of(const char *what, int rc, const struct bb_err *err)
{
	if (rc)
		bench_die(what, err);
}

/* --- a million entries --- */

/* Times from an empty map to a full one, and from a map that a run has changed back to its
 * contents: a hash and an LPM trie. */
static void fill_of(const char *type, const char *program, double fill_most_s,
		    double put_back_most_s)
{
	double fill_s[TIMES], put_back_s[TIMES];
	struct bb_map_spec map = {.name = (char *)(uintptr_t)type,
				  .fill = {.counts = {&(uint32_t){FILLED}, 1}, .count = FILLED}};
	struct bb_variant_spec variant = {.name = (char *)(uintptr_t)program,
					  .program = (char *)(uintptr_t)program,
					  .maps = {&map, 1}};
	const struct bb_test_run_type *xdp;
	char what[100], bound[40], measured[80];
	struct bb_err err = {0};
	struct bb_rng rng;

	bb_rng_seed(&rng, BENCH_SEED);
	die_of("XDP", bb_test_run_type__find(BPF_PROG_TYPE_XDP, &xdp, &err), &err);
	for (size_t i = 0; i < TIMES; i++) {
		struct bb_test_prog prog;
		uint64_t began_ns;

		die_of(program, bench_load(&variant, built(OBJECT), &rng, &prog, &err), &err);
		began_ns = bb_now_ns();
		die_of(program, bb_test_prog__reset_maps(&prog, &err), &err);
		fill_s[i] = bb_seconds_since(began_ns);
		die_of(program, bb_test_run__times(prog.target, xdp, xdp->otherwise, 1, &err),
		       &err);
		began_ns = bb_now_ns();
		die_of(program, bb_test_prog__reset_maps(&prog, &err), &err);
		put_back_s[i] = bb_seconds_since(began_ns);
		bb_test_prog__close(&prog);
	}
	snprintf(what, sizeof(what), "%s of %u entries: fill, s (median of %u)", type, FILLED,
		 TIMES);
	snprintf(bound, sizeof(bound), "<= %g s", fill_most_s);
	snprintf(measured, sizeof(measured), "%.3f", bb_median(fill_s, TIMES));
	bench_row(what, fill_most_s > 0 ? bound : "", measured,
		  !(fill_most_s > 0)                        ? "-"
		  : bb_median(fill_s, TIMES) <= fill_most_s ? "ok"
							    : "MISS");
	snprintf(what, sizeof(what), "%s of %u entries: put back between loads, s", type, FILLED);
	snprintf(bound, sizeof(bound), "<= %g s", put_back_most_s);
	snprintf(measured, sizeof(measured), "%.3f", bb_median(put_back_s, TIMES));
	bench_row(what, put_back_most_s > 0 ? bound : "", measured,
		  !(put_back_most_s > 0)                            ? "-"
		  : bb_median(put_back_s, TIMES) <= put_back_most_s ? "ok"
								    : "MISS");
}

int main(void)
{
	fill_of("hash", "hash_changes", FILL_MOST_S, PUT_BACK_MOST_S);
	fill_of("trie", "trie_empties", 0, 0);
	return 0;
}
