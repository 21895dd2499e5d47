/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of counting instructions, over our programs, those of the tests, and those of xdp-tools
 * if they are installed:
 * - how many of the programs that load can be counted;
 * - the time to make a clone, against the bare load of the original;
 * - the time of a run of the clone, against a run of the original;
 * - whether the count is the same every time on a busy machine, from the same contents of maps.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <glob.h>

#include "base/std.h"
#include "bench.h"
#include "bpf/map_contents.h"
#include "bpf/source.h"
#include "exact/clone.h"
#include "exact/cfg.h"
#include "exact/rewrite.h"
#include "hogs.h"

#define LOADS 5u    /* of each program; the median is taken */
#define RUNS 20000u /* runs of one call */
#define CALLS 9u
#define REPEATS 100u
#define MAX_PROGRAMS 512u

struct corpus {
	unsigned int loaded, counted;
	double load_ratios[MAX_PROGRAMS], run_ratios[MAX_PROGRAMS];
	size_t n_loads, n_runs;
	unsigned int differ; /* programs whose count was not the same in all repeats */
	unsigned int repeated;
};

static const uint8_t frame[64] = {0x02, 0, 0,   0,  0, 2, 2,    0, 0,  0,  0,    1,    8,   0,
				  0x45, 0, 0,   50, 0, 0, 0x40, 0, 64, 17, 0xb6, 0xb7, 192, 0,
				  2,    1, 192, 0,  2, 2, 0,    9, 0,  9,  0,    30};

static bool takes_packets(const struct bb_code *c)
{
	return c->type == BPF_PROG_TYPE_XDP || c->type == BPF_PROG_TYPE_SCHED_CLS;
}

/* Wall time of the call divided by its runs, ns; 0: this program has no test run. */
static double run_ns(int fd, uint32_t repeat)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = (int)repeat);
	uint64_t began_ns = bb_now_ns();
	int rc = bpf_prog_test_run_opts(fd, &opts);

	return rc ? 0 : (double)(bb_now_ns() - began_ns) / repeat;
}

static void time_runs(struct corpus *c, int original_fd, int clone_fd)
{
	double original[CALLS], clone[CALLS];

	for (size_t i = 0; i < CALLS; i++) {
		original[i] = run_ns(original_fd, RUNS);
		clone[i] = run_ns(clone_fd, RUNS);
		if (original[i] <= 0 || clone[i] <= 0)
			return;
	}
	c->run_ratios[c->n_runs++] = bb_median(clone, CALLS) / bb_median(original, CALLS);
}

/* True if the map must be, and can be, put back to its contents after the load. Queues and rings
 * are drained instead. */
static bool keeps_state(const struct bpf_map *map)
{
	switch (bpf_map__type(map)) {
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_LPM_TRIE: return bpf_map__fd(map) >= 0;
	default: return false;
	}
}

/* The map's name in a scenario. NULL: it holds constants or the like. */
static const char *state_name(const struct bpf_map *map)
{
	const char *name = bpf_map__name(map), *dot = strrchr(name, '.');

	if (!bpf_map__is_internal(map))
		return name;
	return dot && (!strcmp(dot, ".bss") || !strcmp(dot, ".data")) ? dot : NULL;
}

/* The contents of all maps of the program as they are after the load, to be written before each
 * run, like `reset: run` in a scenario. */
static struct bb_map_contents *fresh_maps(struct bb_target *t, struct bb_map_specs *specs)
{
	const struct bpf_object *obj = bb_source_object__get(t);
	struct bb_map_contents *contents;
	struct bb_err err = {0};
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj)
	{
		const char *name = keeps_state(map) ? state_name(map) : NULL;
		struct bb_map_spec *spec = name ? bb_append(&specs->v, &specs->n, sizeof(*spec))
						: NULL;

		if (!name)
			continue;
		if (spec)
			spec->name = strdup(name);
		if (!spec || !spec->name)
			bench_die(name, &err);
		spec->each_run = true;
	}
	if (bb_map_contents__make(t, specs, NULL, &contents, &err))
		bench_die(t->program, &err);
	return contents;
}

/* Counts one run, from the same contents of maps. The program's output is discarded, as the drives
 * do, because a full queue would be another state. */
static uint64_t count_once(struct bb_target *t, struct bb_map_contents *maps,
			   struct bb_clone *clone, uint64_t *counts)
{
	int rc = bb_map_contents__write_for_run(maps);

	if (rc)
		bench_die(t->program, &(struct bb_err){.code = rc, .msg = "writing its maps"});
	bb_clone__reset(clone);
	run_ns(clone->prog_fd, 1);
	bb_target__drain(t, false);
	bb_clone__read(clone, counts);
	return bb_counts__instructions(&clone->cfg, counts);
}

static void repeat_counts(struct corpus *c, struct bb_target *t, struct bb_clone *clone)
{
	uint64_t *counts = bench_alloc(clone->cfg.n_blocks, sizeof(*counts)), first;
	struct bb_map_specs specs = {0};
	struct bb_map_contents *maps = fresh_maps(t, &specs);
	unsigned int others = 0;

	first = count_once(t, maps, clone, counts);
	for (unsigned int i = 1; i < REPEATS; i++)
		others += count_once(t, maps, clone, counts) != first;
	if (others) /* on stderr: the table has no room for names */
		fprintf(stderr, "%s: %u of %u runs had another count\n", t->program, others,
			REPEATS - 1);
	c->differ += others != 0;
	c->repeated++;
	bb_map_contents__free(maps);
	for (size_t i = 0; i < specs.n; i++)
		free(specs.v[i].name);
	free(specs.v);
	free(counts);
}

/* Time of BPF_PROG_LOAD of the original's code, ns, without libbpf's work. 0: it does not load. */
static double load_original(const struct bb_code *code)
{
	uint64_t began_ns = bb_now_ns();
	int fd, rc = bb_load__program(code, NULL, &fd, NULL);
	double ns = (double)(bb_now_ns() - began_ns);

	if (!rc)
		close(fd);
	return rc ? 0 : ns;
}

/* Time to make a clone, ns: read the code, instrument it, create its map, load it. 0: failed. */
static double load_clone(struct bb_target *t, struct bb_code *code, struct bb_clone *clone,
			 struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns();

	if (bb_target__code(t, t->prog_fd, code, err))
		return 0;
	if (!bb_clone__load(code, false, clone, err))
		return (double)(bb_now_ns() - began_ns);
	bb_code__done(code);
	return 0;
}

/* Loads original and clone in turns; the last clone stays loaded. False: it cannot be counted. */
static bool load_both(struct corpus *c, struct bb_target *t, struct bb_code *code,
		      struct bb_clone *clone, const char *name)
{
	double original_ns[LOADS], clone_ns[LOADS];
	struct bb_err err = {0};

	for (size_t i = 0; i < LOADS; i++) {
		clone_ns[i] = load_clone(t, code, clone, &err);
		if (clone_ns[i] <= 0) {
			fprintf(stderr, "%s: %s\n", name, err.msg);
			return false;
		}
		original_ns[i] = load_original(code);
		if (i + 1 < LOADS) {
			bb_clone__done(clone);
			bb_code__done(code);
		}
	}
	c->counted++;
	if (bb_median(original_ns, LOADS) > 0)
		c->load_ratios[c->n_loads++] = bb_median(clone_ns, LOADS) /
					       bb_median(original_ns, LOADS);
	return true;
}

static void measure_program(struct corpus *c, const char *path, const char *program, bool busy)
{
	struct bb_target *t;
	struct bb_clone clone;
	struct bb_code code;
	struct bb_err err = {0};

	if (c->n_loads == MAX_PROGRAMS ||
	    bb_target__open(&(struct bb_source_spec){.path = path, .program = program}, &t, &err))
		return;
	if (bb_target__load(t, &err)) {
		bb_target__free(t);
		return;
	}
	c->loaded++;
	if (load_both(c, t, &code, &clone, program)) {
		if (takes_packets(&code) && !busy)
			time_runs(c, t->prog_fd, clone.prog_fd);
		/* `varies` is made so that its counts differ */
		if (takes_packets(&code) && busy && strcmp(program, "varies"))
			repeat_counts(c, t, &clone);
		bb_clone__done(&clone);
		bb_code__done(&code);
	}
	bb_target__free(t);
}

static void measure_object(struct corpus *c, const char *path, bool busy)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	struct bpf_program *p;

	if (!obj)
		return;
	bpf_object__for_each_program(p, obj) measure_program(c, path, bpf_program__name(p), busy);
	bpf_object__close(obj);
}

static void measure_all(struct corpus *c, bool busy)
{
	static const char *const patterns[] = {"%s/bpf/*.bpf.o", "%s/tests/bpf/*.bpf.o",
					       "/usr/lib/*/bpf/*.o"};
	const char *build = getenv("O");

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		char pattern[512];
		glob_t found;

		if (i < 2)
			snprintf(pattern, sizeof(pattern),
				 i ? "%s/tests/bpf/*.bpf.o" : "%s/bpf/*.bpf.o",
				 build ? build : "build");
		if (glob(i < 2 ? pattern : patterns[i], 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++)
			measure_object(c, found.gl_pathv[k], busy);
		globfree(&found);
	}
}

static void judge_ratio(const char *what, const char *bound, double most, double *ratios, size_t n)
{
	double median = bb_median(ratios, n), worst = 0;
	char measured[80];

	for (size_t i = 0; i < n; i++)
		worst = fmax(worst, ratios[i]);
	snprintf(measured, sizeof(measured), "%.2f (worst %.2f) over %zu programs", median, worst,
		 n);
	bench_judge(what, bound, measured, median <= most);
}

int main(void)
{
	struct corpus *quiet = bench_alloc(1, sizeof(*quiet)),
		      *busy = bench_alloc(1, sizeof(*busy));
	struct hogs hogs;
	char measured[80];

	libbpf_set_print(NULL);
	measure_all(quiet, false);
	hogs = start_hogs();
	measure_all(busy, true);
	stop_hogs(&hogs);
	snprintf(measured, sizeof(measured), "%u of %u", quiet->counted, quiet->loaded);
	bench_judge("exact: programs that can be counted, of those that load", ">= 95 %", measured,
		    quiet->loaded && quiet->counted >= 0.95 * quiet->loaded);
	judge_ratio("exact: making a clone / BPF_PROG_LOAD of the original, median", "<= 3", 3,
		    quiet->load_ratios, quiet->n_loads);
	judge_ratio("exact: a run of the clone / of the original, median", "<= 2", 2,
		    quiet->run_ratios, quiet->n_runs);
	snprintf(measured, sizeof(measured), "%u of %u", busy->differ, busy->repeated);
	bench_judge("exact: programs with another count in 100 runs, CPUs busy", "0", measured,
		    busy->repeated && !busy->differ);
	free(quiet);
	free(busy);
	return 0;
}
