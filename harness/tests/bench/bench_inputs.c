/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Full tables and mixes of packets: the time to fill a hash of a million entries, and to restore
 * it; the time of a sample of a mix of 100 000 packets, against one of a single packet; and how the
 * cost of a lookup grows with the table, for random keys and for one key. Also each lookup
 * of random keys compared with itself, AA times (environment; 1).
 */
#include <jansson.h>
#include <linux/bpf.h>

#include "base/parse.h"
#include "bench.h"
#include "drivers/trigger_test_run.h"
#include "plan/packet.h"
#include "stats/verdict.h"

#define OBJECT "tests/bpf/sizes.bpf.o"
#define TIMES 15u
#define FILLED 1000000u
#define FILL_MOST_S 2.0
#define PUT_BACK_MOST_S 0.3
#define PACKETS 100000u
#define MIX_BLOCKS 1500u
#define MIX_MOST 1.2

static const char *object(void)
{
	static char path[PATH_MAX], name[PATH_MAX];
	const char *o = getenv("O");

	snprintf(name, sizeof(name), "%s/" OBJECT, o ? o : "build");
	if (!realpath(name, path)) {
		perror(name);
		exit(1);
	}
	return path;
}

static void die_of(const char *what, int rc, const struct bb_err *err)
{
	if (rc)
		bench_die(what, err);
}

/* --- a million entries --- */

/* CPU time and wall time of a call, s. On a quiet machine both are the same. The bounds apply to
 * the CPU time, so that they can be judged on a busy machine. */
struct took {
	double cpu_s[TIMES], wall_s[TIMES];
};

static double cpu_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void time_reset(struct bb_test_prog *prog, struct took *t, size_t nth)
{
	double began_s = cpu_now_s();
	uint64_t began_ns = bb_now_ns();
	struct bb_err err = {0};

	die_of("contents", bb_test_prog__reset_maps(prog, &err), &err);
	t->cpu_s[nth] = cpu_now_s() - began_s;
	t->wall_s[nth] = bb_seconds_since(began_ns);
}

/* Prints a row. most_s: the bound of the CPU time, s; 0: none. */
static void say_took(const char *type, const char *of, struct took *t, double most_s)
{
	double cpu_s = bb_median(t->cpu_s, TIMES);
	char what[100], bound[40] = "", measured[80];

	snprintf(what, sizeof(what), "%s of %u entries: %s, CPU s (wall s)", type, FILLED, of);
	if (most_s > 0)
		snprintf(bound, sizeof(bound), "<= %g s", most_s);
	snprintf(measured, sizeof(measured), "%.3f (%.3f)", cpu_s, bb_median(t->wall_s, TIMES));
	bench_row(what, bound, measured, !(most_s > 0) ? "-" : cpu_s <= most_s ? "ok" : "MISS");
}

/* Times filling an empty map, and restoring a map's contents after a run. */
static void fill_of(const char *type, const char *program, double fill_most_s,
		    double put_back_most_s)
{
	struct bb_map_spec map = {.name = (char *)(uintptr_t)type,
				  .fill = {.counts = {&(uint32_t){FILLED}, 1}, .count = FILLED}};
	struct bb_variant_spec variant = {.name = (char *)(uintptr_t)program,
					  .program = (char *)(uintptr_t)program,
					  .maps = {&map, 1}};
	const struct bb_test_run_type *xdp;
	struct took fill, put_back;
	struct bb_err err = {0};
	struct bb_rng rng;

	bb_rng_seed(&rng, BENCH_SEED);
	die_of("XDP", bb_test_run_type__find(BPF_PROG_TYPE_XDP, &xdp, &err), &err);
	for (size_t i = 0; i < TIMES; i++) {
		struct bb_test_prog prog;

		die_of(program, bench_load(&variant, object(), &rng, &prog, &err), &err);
		time_reset(&prog, &fill, i);
		die_of(program, bb_test_run__times(prog.target, xdp, xdp->otherwise, 1, &err),
		       &err);
		time_reset(&prog, &put_back, i);
		bb_test_prog__close(&prog);
	}
	say_took(type, "fill", &fill, fill_most_s);
	say_took(type, "put back after a run", &put_back, put_back_most_s);
}

/* --- a mix --- */

/* An empty XDP program under two drives: one with a single packet, one with a mix. */
struct mix {
	struct bb_variant_spec variant;
	struct bb_drive_spec drives[2];
	struct bb_input *inputs;
	struct bb_stats_enable stats;
	struct bb_test_prog progs[2];
	struct bb_drive_state *states[2];
	struct bb_drive_slot *slots[2];
	uint64_t ns[BENCH_BLOCK];
	uint32_t returns[BENCH_BLOCK];
};

static void make_packets(struct mix *m)
{
	struct bb_packet p;

	bb_packet__init(&p);
	p.ip = BB_PACKET_IPV4;
	p.l4 = BB_PACKET_UDP;
	m->inputs = bench_alloc(PACKETS, sizeof(*m->inputs));
	for (uint32_t i = 0; i < PACKETS; i++) {
		uint8_t *frame = bench_alloc(1, 64);

		bb_packet__write(&p, frame, 64);
		bb_frame__move_flow(frame, 64, i);
		m->inputs[i] = (struct bb_input){.data = frame, .len = 64};
	}
}

static void mix_open(struct mix *m)
{
	static char name[] = "sizes_empty";
	struct bb_driver_opts opts = {.seed = BENCH_SEED};
	struct bb_err err = {0};
	struct bb_rng rng;

	memset(m, 0, sizeof(*m));
	bb_rng_seed(&rng, BENCH_SEED);
	make_packets(m);
	m->variant = (struct bb_variant_spec){.name = name, .program = name};
	die_of(name, bench_prepare(&opts, &m->stats, &err), &err);
	for (int i = 0; i < 2; i++) {
		m->drives[i].kind = bb_drive_kind_find("step", "test-run");
		m->drives[i].inputs = (struct bb_inputs){m->inputs, i ? PACKETS : 1};
		m->drives[i].order = i ? BB_ORDER_RANDOM : BB_ORDER_NONE;
		die_of(name, bench_load(&m->variant, object(), &rng, &m->progs[i], &err), &err);
		die_of(name, bb_driver__open(&m->drives[i], &opts, &m->states[i], &err), &err);
		die_of(name, bb_driver__attach(m->states[i], &m->progs[i], &m->slots[i], &err),
		       &err);
	}
}

static double one_block(void *arg)
{
	struct mix *m = arg;

	return bench_drive_block(m->slots[0], m->ns, NULL, "a packet");
}

static double many_block(void *arg)
{
	struct mix *m = arg;

	return bench_drive_block(m->slots[1], m->ns, m->returns, "a mix");
}

static void mix_of(void)
{
	static struct mix m;
	struct bench_duel duel;
	struct bench_medians all;
	char measured[80];

	mix_open(&m);
	duel = bench_duel(many_block, one_block, &m, MIX_BLOCKS);
	all = bench_decide(&duel);
	snprintf(measured, sizeof(measured), "%.2f x (%.0f against %.0f ns)", all.ratio, all.a,
		 all.b);
	bench_judge("a sample of a mix of 100000 packets against one packet", "<= 1.2 x", measured,
		    all.ratio <= MIX_MOST);
	for (int i = 0; i < 2; i++) {
		bb_driver__detach(m.slots[i]);
		bb_driver__close(m.states[i]);
		bb_test_prog__close(&m.progs[i]);
	}
	bb_stats_enable__off(&m.stats);
}

/* --- cost against the size of a table --- */

static const char *const maps[] = {"hash", "lru", "trie", "array", "percpu"};
static const unsigned int sizes[] = {10, 1000, 100000, 1000000};
static const unsigned int aa_budgets_s[] = {8, 8, 12, 25}; /* twice that for an LRU map */
static const char *const keys[] = {"random", "one"};

/* Writes a scenario with a variant for each map, size and kind of key. */
static void write_curves(const char *path)
{
	FILE *out = fopen(path, "w");

	if (!out) {
		perror(path);
		exit(1);
	}
	fprintf(out,
		"name: sizes\nobject: %s\nfloor: sizes_empty\nvariants:\n  - {name: "
		"sizes_empty}\n",
		object());
	for (size_t m = 0; m < BB_LEN(maps); m++)
		for (size_t s = 0; s < BB_LEN(sizes); s++)
			for (size_t k = 0; k < BB_LEN(keys); k++)
				/* larger than its fill: a full LRU map evicts entries */
				fprintf(out,
					"  - {name: %s_%s_%u, program: %s_%s, globals: {entries: "
					"%u}, maps: [{name: %s, max_entries: %u, fill: {count: "
					"%u}}]}\n",
					maps[m], keys[k], sizes[s], maps[m], keys[k], sizes[s],
					maps[m],
					strcmp(maps[m], "lru") ? sizes[s]
							       : sizes[s] + sizes[s] / 2 + 1024,
					sizes[s]);
	fputs("drive:\n  - {with: step, trigger: test-run}\n", out);
	fclose(out);
}

static double net_of(const json_t *run, const char *map, const char *key, unsigned int size)
{
	char name[100];
	json_t *net;

	snprintf(name, sizeof(name), "sizes/%s_%s_%u/step", map, key, size);
	net = json_object_get(json_object_get(run, name), "latency-net");
	if (net)
		return json_number_value(json_object_get(net, "value"));
	fprintf(stderr, "no figure of %s\n", name);
	exit(1);
}

/* Runs bpfbench, whose command line is argv[] with NULL at its end, and returns the JSON that it
 * writes. argv[] names the file after the option --output. */
static json_t *json_of(const char *const argv[])
{
	size_t at = 0;
	json_t *run;

	bench_run(argv);
	while (strcmp(argv[at], "--output"))
		at++;
	run = json_load_file(argv[at + 1], 0, NULL);
	if (!run) {
		fprintf(stderr, "%s: no JSON\n", argv[at + 1]);
		exit(1);
	}
	return run;
}

/* With a million entries, a lookup of a random key in a hash must cost more than one of the same
 * key again and again. A bench with one key would not show that. */
static void curves_of(const char *scenario, const char *out)
{
	json_t *run = json_of((const char *const[]){"./bpfbench", "--scenario", scenario,
						    "--no-store", "--format", "bmf", "--loads",
						    "12", "--budget", "150", "--quiet", "--output",
						    out, NULL});

	for (size_t m = 0; m < BB_LEN(maps); m++) {
		double grows = net_of(run, maps[m], "random", 1000000) -
			       net_of(run, maps[m], "one", 1000000);
		char what[100], measured[160];

		for (size_t k = 0; k < BB_LEN(keys); k++) {
			snprintf(what, sizeof(what), "%s of 10, 1000, 100000, 1000000: %s, net ns",
				 maps[m], k ? "one key" : "random keys");
			snprintf(measured, sizeof(measured), "%.1f  %.1f  %.1f  %.1f",
				 net_of(run, maps[m], keys[k], 10),
				 net_of(run, maps[m], keys[k], 1000),
				 net_of(run, maps[m], keys[k], 100000),
				 net_of(run, maps[m], keys[k], 1000000));
			bench_row(what, "", measured, "-");
		}
		snprintf(what, sizeof(what), "%s of 1000000: random keys above one key", maps[m]);
		snprintf(measured, sizeof(measured), "%+.1f ns", grows);
		if (strcmp(maps[m], "hash"))
			bench_row(what, "", measured, "-");
		else
			bench_judge(what, ">= 20 ns", measured, grows >= 20);
	}
	json_decref(run);
}

/* --- each lookup against itself --- */

/* Compares the lookup of random keys in a map with itself. Returns the verdict. */
static int aa_once(const char *scenario, const char *out, size_t map, size_t size, uint64_t seed)
{
	unsigned int budget_s = aa_budgets_s[size] * (strcmp(maps[map], "lru") ? 1 : 2);
	char variant[100], budget[20], seed_text[24];
	const char *verdict;
	json_t *run, *comparison;
	int v = 0;

	snprintf(variant, sizeof(variant), "%s_random_%u", maps[map], sizes[size]);
	snprintf(budget, sizeof(budget), "%u", budget_s);
	snprintf(seed_text, sizeof(seed_text), "%" PRIu64, seed);
	run = json_of((const char *const[]){"./bpfbench", "compare", "--scenario", scenario,
					    "--base", variant, "--head", variant, "--no-store",
					    "--quiet", "--budget", budget, "--seed", seed_text,
					    "--format", "json", "--output", out, NULL});
	comparison = json_array_get(json_object_get(run, "comparisons"), 0);
	verdict = json_string_value(json_object_get(json_object_get(comparison, "summary"), "verdic"
											    "t"));
	while (v < BB_N_VERDICTS && (!verdict || strcmp(verdict, bb_verdict_name(v))))
		v++;
	if (v == BB_N_VERDICTS) {
		fprintf(stderr, "%s: no verdict\n", variant);
		exit(1);
	}
	json_decref(run);
	return v;
}

static void aa_of(const char *scenario, const char *out)
{
	const char *text = getenv("AA");
	uint64_t times = 1;

	if (text && bb_parse_u64(text, &times))
		exit(2);
	for (size_t m = 0; m < BB_LEN(maps); m++) {
		unsigned int same[BB_LEN(sizes)] = {0}, wrong = 0;
		char what[100], measured[160];

		for (uint64_t t = 0; t < times; t++)
			for (size_t s = 0; s < BB_LEN(sizes); s++) {
				int v = aa_once(scenario, out, m, s, t + 1);

				same[s] += v == BB_VERDICT_SAME;
				wrong += v == BB_VERDICT_REGRESSED || v == BB_VERDICT_IMPROVED;
			}
		snprintf(what, sizeof(what), "%s, random keys, against itself: false verdicts",
			 maps[m]);
		snprintf(measured, sizeof(measured),
			 "%u of %zu (`same` of each size: %u, %u, %u, %u)", wrong,
			 (size_t)times * BB_LEN(sizes), same[0], same[1], same[2], same[3]);
		bench_judge(what, "0", measured, !wrong);
	}
}

int main(int argc, char **argv)
{
	char *scenario, *out;

	if (argc != 2) {
		fputs("usage: bench_inputs SCRATCH_FOLDER\n", stderr);
		return 2;
	}
	fill_of("hash", "hash_changes", FILL_MOST_S, PUT_BACK_MOST_S);
	fill_of("trie", "trie_empties", 0, 0);
	mix_of();
	scenario = bb_asprintf("%s/sizes.yml", argv[1]);
	out = bb_asprintf("%s/sizes.json", argv[1]);
	write_curves(scenario);
	curves_of(scenario, out);
	aa_of(scenario, out);
	free(scenario);
	free(out);
	return 0;
}
