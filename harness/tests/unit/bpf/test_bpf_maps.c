/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A map holds exactly what the scenario says, at the start of a series (`reset: load`) or before
 * every run (`reset: run`). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>

#include "bpf/map_contents.h"
#include "bpf/prog_stats.h"
#include "drivers/driver.h"
#include "exact/only_reads.h"
#include "unit/bpf_testing.h"

#define MAPS "tests/bpf/maps.bpf.o"
#define VARIABLES "tests/bpf/variables.bpf.o"
#define LONG_NAMES "tests/bpf/long_names.bpf.o"

/* In SAYS(), `maps` is line 4 of the scenario. The variant has the program's name. */
#define HEAD "name: n\nobject: o\nvariants: [{name: p}]\n"
#define STEP "drive: [{with: step, trigger: test-run}]\n"
#define SAYS(maps) HEAD "maps: [" maps "]\n" STEP

/* One program, loaded, with the maps of a scenario. */
struct loaded {
	struct bb_scenario *scenario;
	struct bb_target *target;
};

static struct bb_scenario *parse(const char *text)
{
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};

	if (bb_scenario__parse(text, strlen(text), "t.yml", &s, &err))
		fail_msg("%s", err.msg);
	return s;
}

static struct loaded begin(const char *object, const char *program, const char *text)
{
	struct loaded l = {.scenario = parse(text), .target = open_target(object, program)};

	bb_target__say_maps(l.target, &l.scenario->variants[0].maps);
	load(l.target);
	return l;
}

/* Loads one variant of a scenario that the caller keeps, with the maps of `lender` (NULL: its
 * own). */
static struct loaded begin_variant(const struct bb_scenario *s, size_t variant, const char *program,
				   struct bb_target *lender)
{
	struct loaded l = {.target = open_target(MAPS, program)};

	bb_target__say_maps(l.target, &s->variants[variant].maps);
	if (lender)
		bb_target__borrow_maps(l.target, lender);
	load(l.target);
	return l;
}

static void end(struct loaded *l)
{
	bb_target__free(l->target);
	bb_scenario__free(l->scenario);
}

static void reset(const struct loaded *l)
{
	struct bb_err err = {0};

	if (bb_target__reset_maps(l->target, &err))
		fail_msg("%s", err.msg);
}

static void reset_for_run(const struct loaded *l)
{
	assert_int_equal(bb_target__reset_for_run(l->target), 0);
}

static int run(const struct loaded *l)
{
	static uint8_t frame[64];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = 1);

	assert_int_equal(bpf_prog_test_run_opts(l->target->prog_fd, &opts), 0);
	return (int)opts.retval;
}

/* Returns a descriptor of the map that the program uses. */
static int map_of(const struct loaded *l, const char *name)
{
	int fd = bpf_map_get_fd_by_id(map_id(l->target, name));

	assert_true(fd >= 0);
	return fd;
}

static size_t count_keys(int fd, void *key)
{
	size_t n = 0;
	int rc;

	for (rc = bpf_map_get_next_key(fd, NULL, key); !rc; rc = bpf_map_get_next_key(fd, key, key))
		n++;
	assert_int_equal(rc, -ENOENT);
	return n;
}

/* The program's return value shows what it found. With `reset: load`, a run finds what the run
 * before it left; with `reset: run`, never. */
static void check_runs(const char *program, const char *map, int first, int second)
{
	for (int each_run = 0; each_run < 2; each_run++) {
		struct loaded l;
		char text[512];

		snprintf(text, sizeof(text), SAYS("{%s, reset: %s}"), map,
			 each_run ? "run" : "load");
		l = begin(MAPS, program, text);
		for (int series = 0; series < 3; series++) {
			reset(&l);
			for (int i = 0; i < 3; i++) {
				int expected = i && !each_run ? second + (i - 1) * (second - first)
							      : first,
				    got;

				reset_for_run(&l);
				got = run(&l);
				if (got != expected)
					fail_msg("%s, %s, run %d: %d, not %d", program, text, i,
						 got, expected);
			}
			if (series == 1)
				load(l.target); /* maps are kept from load to load */
		}
		end(&l);
	}
}

static void test_what_runs_find(void **state)
{
	(void)state;
	need_root();
	/* The first run finds three keys, and 5 at key 2. It adds key 3, the number of keys it
	 * found. So the next run finds four keys, and 6; and so on. */
	check_runs("finds_in_hash",
		   "name: hash, entries: [{key: 0, value: 1}, {key: \"02 00 00 00\", value: \"05 "
		   "00\"}, "
		   "{key: 1, value: 0xffff}]",
		   35, 46);
	check_runs("finds_in_array",
		   "name: array, entries: [{key: 7, value: 30}, {key: 2, value: 4}]", 34, 42);
	check_runs("finds_in_array", "name: array", 0, 8);
	check_runs("finds_in_percpu_array", "name: percpu_array, entries: [{key: 1, value: 9}]", 9,
		   10);
}

static void test_hash_without_entries(void **state)
{
	struct loaded l;

	(void)state;
	need_root();
	l = begin(MAPS, "finds_in_hash", SAYS("{name: hash}"));
	assert_int_equal(run(&l), 0);
	assert_int_equal(run(&l), 10);
	assert_int_equal(run(&l), 20);
	reset(&l);
	assert_int_equal(run(&l), 0);
	end(&l);
}

/* Every CPU gets the value, and what the program left there is overwritten. Values of 12 bytes take
 * 16 in the kernel. */
static void test_per_cpu_values(void **state)
{
	int n_cpus = libbpf_num_possible_cpus();
	uint8_t *values;
	uint64_t key;
	struct loaded l;
	int fd;

	(void)state;
	need_root();
	assert_true(n_cpus > 0);
	values = calloc((size_t)n_cpus, 16);
	assert_non_null(values);
	l = begin(MAPS, "fills",
		  SAYS("{name: percpu_hash, reset: run, entries: ["
		       "{key: -2, value: \"00 01 02 03 04 05 06 07 08 09 0a 0b\"}, {key: 5, value: "
		       "-1}]}"));
	fd = map_of(&l, "percpu_hash");
	for (int i = 0; i < 3; i++) {
		if (i == 2)
			reset_for_run(&l);
		else
			reset(&l);
		assert_int_equal(count_keys(fd, &key), 2);
		key = (uint64_t)-2;
		assert_int_equal(bpf_map_lookup_elem(fd, &key, values), 0);
		for (int cpu = 0; cpu < n_cpus; cpu++)
			for (uint8_t b = 0; b < 12; b++)
				assert_int_equal(values[cpu * 16 + b], b);
		key = 5;
		assert_int_equal(bpf_map_lookup_elem(fd, &key, values), 0);
		for (int cpu = 0; cpu < n_cpus; cpu++)
			for (uint8_t b = 0; b < 12; b++)
				assert_int_equal(values[cpu * 16 + b], 0xff);
		run(&l);
		assert_int_equal(count_keys(fd, &key), 3);
	}
	close(fd);
	end(&l);
	free(values);
}

/* The map has two keys after a reset and three after a run. */
static void check_count(const char *text, const char *name)
{
	struct loaded l = begin(MAPS, "fills", text);
	int fd = map_of(&l, name);
	uint8_t key[64];

	for (int i = 0; i < 3; i++) {
		reset(&l);
		assert_int_equal(count_keys(fd, key), 2);
		run(&l);
		assert_int_equal(count_keys(fd, key), 3);
	}
	close(fd);
	end(&l);
}

static void test_other_hashes(void **state)
{
	(void)state;
	need_root();
	check_count(SAYS("{name: lru_hash, entries: [{key: 1, value: 2}, {key: 2, value: 3}]}"),
		    "lru_hash");
	check_count(SAYS("{name: trie, entries: [{key: \"08 00 00 00 0a 00 00 00\", value: 2}, "
			 "{key: \"10 00 00 00 0a 01 00 00\", value: 3}]}"),
		    "trie");
}

/* More entries than one batch of a reset removes. */
static void test_many_entries(void **state)
{
	uint32_t key, value = 1;
	struct loaded l;
	int fd;

	(void)state;
	need_root();
	l = begin(MAPS, "fills", SAYS("{name: lru_hash, entries: [{key: 1, value: 2}]}"));
	fd = map_of(&l, "lru_hash");
	for (key = 0; key < 500; key++)
		assert_int_equal(bpf_map_update_elem(fd, &key, &value, BPF_ANY), 0);
	reset(&l);
	assert_int_equal(count_keys(fd, &key), 1);
	key = 1;
	assert_int_equal(bpf_map_lookup_elem(fd, &key, &value), 0);
	assert_int_equal(value, 2);
	close(fd);
	end(&l);
}

/* A filled map has as many different keys as the scenario says, and each has the value. */
static void check_fill(const char *program, const char *fill, const char *name, size_t n)
{
	struct loaded l;
	char text[512];
	uint64_t key;
	int fd;

	snprintf(text, sizeof(text), SAYS("{name: %s, fill: %s}"), name, fill);
	l = begin(MAPS, program, text);
	fd = map_of(&l, name);
	for (int i = 0; i < 2; i++) {
		size_t with_value = 0;
		uint64_t value;

		reset(&l);
		if (count_keys(fd, &key) != n)
			fail_msg("%s: %zu keys, not %zu", text, count_keys(fd, &key), n);
		for (int rc = bpf_map_get_next_key(fd, NULL, &key); !rc;
		     rc = bpf_map_get_next_key(fd, &key, &key)) {
			value = 0;
			assert_int_equal(bpf_map_lookup_elem(fd, &key, &value), 0);
			with_value += value == 9;
		}
		assert_int_equal(with_value, n);
		run(&l);
	}
	close(fd);
	end(&l);
}

static void test_fill(void **state)
{
	uint64_t value = 1;
	uint8_t prefix[8] = {32, 0, 0, 0, 0, 0, 0, 5};
	struct loaded l;
	int fd;

	(void)state;
	need_root();
	check_fill("finds_in_big_hash", "{count: 100000, key: random, value: 9}", "big_hash",
		   100000);
	check_fill("finds_in_big_hash", "{count: 8, value: 9}", "big_hash", 8);
	check_fill("fills", "{count: 700, key: random, value: 9}", "lru_hash", 700);
	check_fill("fills", "{count: 7, key: random, value: 9}", "trie", 7);
	check_fill("fills", "{count: 8, key: random, prefixes: [2, 24, 32], value: 9}", "trie", 8);
	check_fill("fills", "{count: 7, prefixes: [24, 24, 32, 24], value: 9}", "trie", 7);
	check_fill("fills", "{count: 1, prefixes: [1, 1, 1], value: 9}", "trie", 1);

	l = begin(MAPS, "finds_in_big_hash", SAYS("{name: big_hash, fill: {count: 8, value: 9}}"));
	reset(&l);
	assert_int_equal(run(&l), 9); /* keys are sequential: 7 is the last one */
	end(&l);

	l = begin(MAPS, "fills", SAYS("{name: trie, fill: {count: 6, value: 9}}"));
	fd = map_of(&l, "trie");
	reset(&l);
	assert_int_equal(bpf_map_lookup_elem(fd, prefix, &value), 0);
	prefix[7]++;
	assert_int_not_equal(bpf_map_lookup_elem(fd, prefix, &value), 0);
	close(fd);
	end(&l);

	/* Given entries win over the fill; the rest of an array is zero. */
	l = begin(MAPS, "finds_in_array",
		  SAYS("{name: array, fill: {count: 3, value: 9}, entries: [{key: 1, value: 4}]}"));
	fd = map_of(&l, "array");
	reset(&l);
	for (uint32_t i = 0; i < 4; i++) {
		static const uint64_t expected[] = {9, 4, 9, 0};

		assert_int_equal(bpf_map_lookup_elem(fd, &i, &value), 0);
		assert_int_equal(value, expected[i]);
	}
	close(fd);
	end(&l);
}

static void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* An LRU hash drops entries before it is full if another CPU has its free ones. The reset then
 * fails with a message. */
static void test_full_lru(void **state)
{
	enum { FULL = 1024 }; /* the map's max_entries */
	struct bb_err err = {0};
	cpu_set_t allowed;
	char *text = NULL;
	size_t len = 0, there;
	int cpus[2], n_cpus = 0, fd, rc;
	uint32_t key = 99999;
	struct loaded l;
	FILE *mem;

	(void)state;
	need_root();
	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && n_cpus < 2; cpu++)
		if (CPU_ISSET((size_t)cpu, &allowed))
			cpus[n_cpus++] = cpu;
	if (n_cpus < 2) {
		print_message("# skip: needs two CPUs\n");
		skip();
	}
	mem = open_memstream(&text, &len);
	assert_non_null(mem);
	fputs(HEAD "maps: [{name: lru_hash, entries: [", mem);
	for (int i = 0; i < FULL; i++)
		fprintf(mem, "%s{key: %d, value: 1}", i ? ", " : "", i);
	fputs("]}]\n" STEP, mem);
	fclose(mem);
	l = begin(MAPS, "fills", text);
	fd = map_of(&l, "lru_hash");
	pin_to(cpus[0]);
	reset(&l); /* all fit while no other CPU has free entries */
	assert_int_equal(count_keys(fd, &key), FULL);
	bb_target__free(l.target);
	close(fd);
	l.target = open_target(MAPS, "fills");
	bb_target__say_maps(l.target, &l.scenario->variants[0].maps);
	load(l.target);
	fd = map_of(&l, "lru_hash");
	pin_to(cpus[1]);
	key = 99999;
	assert_int_equal(bpf_map_update_elem(fd, &key, &key, BPF_ANY), 0);
	pin_to(cpus[0]);
	rc = bb_target__reset_maps(l.target, &err);
	there = count_keys(fd, &key);
	assert_int_equal(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
	if (rc ? rc != -ENOSPC || there == FULL || !strstr(err.msg, "give it a larger max_entries")
	       : there != FULL)
		fail_msg("%zu of %d are there, and: %d, %s", there, FULL, rc, err.msg);
	print_message("# %zu of %d entries kept: %d, %s\n", there, FULL, rc, err.msg);
	close(fd);
	end(&l);
	free(text);
}

/* At every load, a prog array gets the programs of that load. A slot without an entry stays empty,
 * so the jump to it fails. */
static void test_prog_array(void **state)
{
	struct loaded l;

	(void)state;
	need_root();
	l = begin(MAPS, "jumps_to_slot",
		  SAYS("{name: jumps, entries: [{key: 3, program: tail_b}, {key: 0, program: "
		       "tail_a}]}"));
	assert_int_equal(run(&l), 7);
	for (int i = 0; i < 3; i++) {
		reset(&l);
		assert_int_equal(run(&l), 200);
		load(l.target);
	}
	end(&l);
	l = begin(MAPS, "jumps_to_slot",
		  SAYS("{name: jumps, entries: [{key: 0, program: tail_a}]}"));
	reset(&l);
	assert_int_equal(run(&l), 7);
	end(&l);
}

/* Two programs that are compared share the maps about which the scenario says the same. They never
 * share a prog array. */
static void test_borrowed_maps(void **state)
{
	static const char text[] =
		"name: n\nobject: o\nmaps: [{name: hash}]\nvariants:\n"
		"  - {name: p, maps: [{name: jumps, entries: [{key: 3, program: tail_b}]}]}\n"
		"  - {name: q, maps: [{name: jumps, entries: [{key: 3, program: tail_a}]}]}\n"
		"  - {name: r, maps: [{name: hash, entries: [{key: 2, value: 5}]}]}\n" STEP;
	struct bb_scenario *s;
	struct loaded lender, same, other;

	(void)state;
	need_root();
	s = parse(text);
	lender = begin_variant(s, 0, "jumps_to_slot", NULL);
	other = begin_variant(s, 1, "jumps_to_slot", lender.target);
	reset(&lender);
	reset(&other);
	assert_int_equal(run(&lender), 200);
	assert_int_equal(run(&other), 100);
	bb_target__free(other.target);
	bb_target__free(lender.target);
	lender = begin_variant(s, 0, "finds_in_hash", NULL);
	same = begin_variant(s, 1, "finds_in_hash", lender.target);
	other = begin_variant(s, 2, "finds_in_hash", lender.target);
	assert_int_equal(map_id(same.target, "hash"), map_id(lender.target, "hash"));
	assert_int_not_equal(map_id(other.target, "hash"), map_id(lender.target, "hash"));
	reset(&other);
	reset(&lender);
	assert_int_equal(run(&lender), 0);
	assert_int_equal(run(&same), 10);
	assert_int_equal(run(&other), 15);
	bb_target__free(same.target);
	bb_target__free(other.target);
	bb_target__free(lender.target);
	bb_scenario__free(s);
}

/* A reset gives variables the values that they had when the program was loaded. */
static void test_variables(void **state)
{
	struct loaded l;

	(void)state;
	need_root();
	l = begin(VARIABLES, "counts", SAYS("{name: .data, reset: run}, {name: .bss}"));
	for (int i = 0; i < 3; i++) {
		reset(&l);
		for (int k = 0; k < 3; k++) {
			reset_for_run(&l);
			assert_int_equal(run(&l), 40 + k);
		}
	}
	end(&l);
}

/* --- as the driver resets them --- */

/* Returns the first reason that makes a batch of the step drive void. The expected return value is
 * found only in a map that has just been reset. */
static void drive(const char *maps, char *ret_why, size_t size)
{
	struct bb_driver_opts opts = {0};
	struct bb_stats_enable stats;
	struct bb_test_prog prog = {0};
	struct bb_err err = {0};
	struct bb_batch b = {.want = 200, .warmup = 10};
	struct loaded l;
	cpu_set_t allowed;
	char text[512];
	uint64_t ns[200];
	struct bb_drive_state *state = NULL;
	struct bb_drive_slot *slot = NULL;

	snprintf(text, sizeof(text),
		 HEAD "maps: [%s]\ndrive:\n  - with: step\n    trigger: test-run\n    inputs:\n"
		      "      - {name: a, packet: {}, retval: 34}\n",
		 maps);
	l = begin(MAPS, "finds_in_array", text);
	b.ns = ns;
	prog.target = l.target;
	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET((size_t)opts.cpu, &allowed))
		opts.cpu++;
	assert_int_equal(bb_stats_enable__on(&stats, &err), 0);
	reset(&l);
	if (bb_driver__open(&l.scenario->drives[0], &opts, &state, &err) ||
	    bb_driver__attach(state, &prog, &slot, &err) || bb_driver__batch(slot, 0, &b, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(b.n, 200);
	snprintf(ret_why, size, "%s", b.void_why);
	bb_driver__detach(slot);
	bb_driver__close(state);
	bb_stats_enable__off(&stats);
	end(&l);
}

static void test_step(void **state)
{
	char why[200];

	(void)state;
	need_root();
	drive("{name: array, reset: load, entries: [{key: 7, value: 30}, {key: 2, value: 4}]}", why,
	      sizeof(why));
	/* 30 + 4, and 8 more by each of the 10 runs of the warm-up. */
	assert_non_null(strstr(why, "returned 114, 34 expected"));
	drive("{name: array, reset: run, entries: [{key: 7, value: 30}, {key: 2, value: 4}]}", why,
	      sizeof(why));
	assert_string_equal(why, "");
}

/* --- errors --- */

static void test_refusals(void **state)
{
	static const struct {
		const char *object, *program, *maps;
		int code;
		const char *says;
	} cases[] = {
		{MAPS, "finds_in_hash", "{name: hsah}", -ENOENT, "map 'hsah' (scenario 4:8): "},
		{MAPS, "finds_in_hash", "{name: hsah}", -ENOENT,
		 "has no such map (did you mean 'hash'?); it has: hash, array, "},
		{MAPS, "finds_in_hash", "{name: ring}", -EINVAL,
		 "a map of type ringbuf cannot be given; those of these can: hash, "},
		{MAPS, "finds_in_hash", "{name: .rodata}", -EINVAL, "its contents are constant"},
		{MAPS, "finds_in_hash", "{name: .bss}", -EINVAL, "and 'drops' is one of them"},
		{VARIABLES, "counts", "{name: .bss, entries: [{key: 0, value: 1}]}", -EINVAL,
		 "variables only get their old values back"},
		{MAPS, "finds_in_hash", "{name: hash, entries: [{key: 0, value: 65536}]}", -ERANGE,
		 "map 'hash' (scenario 4:31): the value 65536 does not fit into the 2 bytes of the "
		 "map"},
		{MAPS, "finds_in_hash", "{name: hash, entries: [{key: 4294967296, value: 1}]}",
		 -ERANGE, "the key 4294967296 does"},
		{MAPS, "finds_in_hash", "{name: hash, entries: [{key: 0, value: \"01\"}]}", -EINVAL,
		 "the value has 1 bytes, the map's have 2"},
		{MAPS, "finds_in_hash", "{name: hash, entries: [{key: \"00 01\", value: 1}]}",
		 -EINVAL, "the key has 2 bytes, the map's have 4"},
		{MAPS, "finds_in_hash",
		 "{name: hash, entries: [{key: 1, value: 1}, {key: \"01000000\", value: 2}]}",
		 -EEXIST, "map 'hash' (scenario 4:51): the key is that of the entry at 4:31"},
		{MAPS, "finds_in_hash", "{name: hash, entries: [{key: 1, program: tail_a}]}",
		 -EINVAL, "only a prog array"},
		{MAPS, "finds_in_array", "{name: array, entries: [{key: 8, value: 1}]}", -E2BIG,
		 "the map has room for 8 entries, with keys from 0 on"},
		{MAPS, "finds_in_hash",
		 "{name: hash, entries: [{key: 1, value: 1}, {key: 2, value: 1}, {key: 3, value: "
		 "1}, "
		 "{key: 4, value: 1}, {key: 5, value: 1}, {key: 6, value: 1}, {key: 7, value: 1}, "
		 "{key: 8, value: 1}, "
		 "{key: 9, value: 1}]}",
		 -E2BIG, "the map has room for 8 entries"},
		{MAPS, "jumps_to_slot", "{name: jumps, entries: [{key: 1, value: 1}]}", -EINVAL,
		 "a prog array takes 'program'"},
		{MAPS, "finds_in_hash", "{name: hash, fill: {count: 9}}", -E2BIG,
		 "map 'hash' (scenario 4:8): a fill of 9 entries, but the map has room for 8"},
		{MAPS, "finds_in_hash", "{name: hash, max_entries: 8, fill: {count: 9}}", -E2BIG,
		 "the map has room for 8; 'max_entries' makes it larger"},
		{VARIABLES, "counts", "{name: .bss, value_size: 8}", -EINVAL,
		 "variables have the sizes that the program gives them"},
		{MAPS, "finds_in_hash", "{name: hash, fill: {count: 2, value: 65536}}", -ERANGE,
		 "the value 65536 does not fit into the 2 bytes of the map"},
		{MAPS, "finds_in_hash", "{name: hash, fill: {count: 2, prefixes: [8]}}", -EINVAL,
		 "only the keys of an LPM trie have 'prefixes'"},
		{MAPS, "fills", "{name: trie, fill: {count: 2, prefixes: [33]}}", -ERANGE,
		 "a prefix of 33 bits, but the keys have 32"},
		{MAPS, "fills", "{name: trie, fill: {count: 5, prefixes: [1, 32, 1]}}", -E2BIG,
		 "3 entries have keys of 1 bits, and there are only 2"},
		{MAPS, "fills", "{name: trie, fill: {count: 8, prefixes: [1, 32]}}", -E2BIG,
		 "4 entries have keys of 1 bits, and there are only 2"},
		{MAPS, "jumps_to_slot", "{name: jumps, fill: {count: 2}}", -EINVAL,
		 "this map holds programs or cgroups: give 'entries', no 'fill'"},
		{MAPS, "jumps_to_slot", "{name: jumps, reset: run}", -EINVAL,
		 "no run changes a prog array"},
		{MAPS, "jumps_to_slot", "{name: jumps, entries: [{key: 1, program: tail_c}]}",
		 -ENOENT, "the object has no program 'tail_c' (did you mean 'tail_a'?)"},
	};

	(void)state;
	need_root();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bb_err err = {0};
		struct loaded l;
		char text[1024];
		int rc;

		snprintf(text, sizeof(text), SAYS("%s"), cases[i].maps);
		l = begin(cases[i].object, cases[i].program, text);
		rc = bb_target__reset_maps(l.target, &err);
		if (rc != cases[i].code || err.code != rc || !strstr(err.msg, cases[i].says))
			fail_msg("%s: %d, %s", cases[i].maps, rc, err.msg);
		end(&l);
	}
}

static __u32 maps_of(const struct bb_target *t, __u32 *ids, __u32 n)
{
	struct bpf_prog_info info = {.map_ids = (__u64)(uintptr_t)ids, .nr_map_ids = n};
	__u32 len = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(t->prog_fd, &info, &len), 0);
	return info.nr_map_ids;
}

/* Two maps whose names have the same first 63 characters keep their identity over loads. */
static void test_long_names(void **state)
{
	__u32 first[4] = {0}, later[4] = {0};
	struct bb_target *t;

	(void)state;
	need_root();
	t = open_target(LONG_NAMES, "a_name_of_sixty_two_characters_so_that_one_or_two_more_follow_"
				    "program");
	load(t);
	assert_int_equal(maps_of(t, first, 4), 2);
	assert_int_not_equal(first[0], first[1]);
	load(t);
	assert_int_equal(maps_of(t, later, 4), 2);
	assert_memory_equal(first, later, sizeof(first));
	bb_target__free(t);
}

/* --- maps that no program can change --- */

#define ONLY_READS "tests/bpf/only_reads.bpf.o"
#define TABLE(name) SAYS("{name: " name ", fill: {count: 5000, value: 7}}")

static bool is_steady(const struct loaded *l)
{
	bb_target__find_steady(l->target, bb_target__only_reads);
	return l->target->steady && l->target->steady[0].is_steady;
}

static void test_only_reads(void **state)
{
	static const struct {
		const char *program, *text;
		bool is_steady;
	} all[] = {
		{"reads", TABLE("table"), true},
		{"writes_other", TABLE("table"), true},
		{"writes_other", TABLE("other"), false},
		{"stores", TABLE("table"), false},
		{"updates", TABLE("table"), false},
		{"deletes", TABLE("table"), false},
		{"copies", TABLE("table"), false},
		{"reads_lru", TABLE("lru"), false},
		/* A small map is written, because that takes less time than asking whether it has
		 * changed. */
		{"reads", SAYS("{name: table, fill: {count: 50}}"), false},
		{"reads",
		 SAYS("{name: table, fill: {count: 5000}, entries: [{key: {pid: self}, value: "
		      "1}]}"),
		 false},
	};

	(void)state;
	need_root();
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct loaded l = begin(ONLY_READS, all[i].program, all[i].text);

		if (is_steady(&l) != all[i].is_steady)
			fail_msg("%s, %s", all[i].program, all[i].text);
		end(&l);
	}
}

/* A steady map is written once and keeps its contents over loads. Once it is shared with another
 * target, it is written each time. */
static void test_steady(void **state)
{
	struct loaded l, borrower;
	uint64_t key = 3, value = 1;
	int fd;

	(void)state;
	need_root();
	l = begin(ONLY_READS, "reads", TABLE("table"));
	assert_true(is_steady(&l));
	reset(&l);
	load(l.target);
	reset(&l);
	fd = map_of(&l, "table");
	assert_int_equal(count_keys(fd, &key), 5000);
	assert_int_equal(run(&l), 7);
	/* This change stays, so the map is not written again. */
	key = 3;
	assert_int_equal(bpf_map_update_elem(fd, &key, &value, BPF_ANY), 0);
	reset(&l);
	load(l.target);
	reset(&l);
	assert_int_equal(run(&l), 1);
	borrower = (struct loaded){.scenario = parse(TABLE("table")),
				   .target = open_target(ONLY_READS, "stores")};
	bb_target__say_maps(borrower.target, &borrower.scenario->variants[0].maps);
	bb_target__borrow_maps(borrower.target, l.target);
	assert_false(is_steady(&l));
	for (int i = 0; i < 3; i++) {
		reset(&l);
		assert_int_equal(run(&l), 7);
		key = 3;
		assert_int_equal(bpf_map_update_elem(fd, &key, &value, BPF_ANY), 0);
	}
	assert_true(l.target->steady[0].listed_id != 0);
	close(fd);
	end(&borrower);
	end(&l);
}

#define SIZES "tests/bpf/sizes.bpf.o"
#define LARGE 6000u

/* Writes the ith key of a filled hash or trie. */
static void large_key(bool is_trie, uint32_t i, uint32_t ret_key[2])
{
	ret_key[0] = is_trie ? 32 : i;
	ret_key[1] = is_trie ? htonl(i) : 0;
}

/* Changes a map as a run might: a few entries, many entries, all of them, or none. */
static void disturb(int fd, bool is_trie, uint64_t *values, struct bb_rng *rng)
{
	uint32_t kind = (uint32_t)bb_rng_below(rng, 4), key[2];
	uint32_t n = kind == 0 ? 20 : kind == 1 ? 500 : kind == 2 ? LARGE : 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t what = (uint32_t)bb_rng_below(rng, 3);

		large_key(is_trie,
			  kind == 2 ? i : (uint32_t)bb_rng_below(rng, LARGE + LARGE * (what == 1)),
			  key);
		values[0] = bb_rng_below(rng, 3);
		if (!what || kind == 2)
			bpf_map_delete_elem(fd, key);
		else
			bpf_map_update_elem(fd, key, values, BPF_ANY);
	}
}

/* True if the kernel reads several entries of the map in one call; Linux 5.10 cannot do that for
 * tries. Closes `fd`. */
static bool can_batch(int fd)
{
	uint32_t cursor[2], n = 0;
	uint64_t none[2];
	int rc = bpf_map_lookup_batch(fd, NULL, cursor, none, none, &n, NULL);

	close(fd);
	return rc != -524; /* ENOTSUPP of the kernel */
}

/* A reset restores a large map exactly, whatever has changed, within one load and after the
 * next. */
static void test_put_back(void **state)
{
	static const struct {
		const char *map, *program;
		bool is_trie;
	} maps[] = {
		{"hash", "hash_changes", false},
		{"percpu", "percpu_changes", false},
		{"trie", "trie_empties", true},
	};
	int n_cpus = libbpf_num_possible_cpus();
	uint64_t *values;
	struct bb_rng rng;

	(void)state;
	need_root();
	bb_rng_seed(&rng, 11);
	values = bb_calloc((size_t)n_cpus, sizeof(*values));
	for (size_t m = 0; m < BB_LEN(maps); m++) {
		char text[512];
		struct loaded l;

		snprintf(text, sizeof(text),
			 SAYS("{name: %s, max_entries: 12000, fill: {count: 6000, value: 7}, "
			      "entries: [{key: %s, value: 9}]}"),
			 maps[m].map, maps[m].is_trie ? "'20 00 00 00 00 00 00 05'" : "5");
		l = begin(SIZES, maps[m].program, text);
		assert_false(is_steady(&l));
		for (int round = 0; round < 40; round++) {
			uint32_t key[2], cursor[2];
			int fd;

			if (round % 5 == 4)
				load(l.target);
			reset(&l);
			fd = map_of(&l, maps[m].map);
			assert_int_equal(count_keys(fd, cursor), LARGE);
			for (uint32_t i = 0; i < LARGE; i++) {
				large_key(maps[m].is_trie, i, key);
				assert_int_equal(bpf_map_lookup_elem(fd, key, values), 0);
				assert_int_equal(values[0], i == 5 ? 9 : 7);
				if (m == 1)
					assert_int_equal(values[n_cpus - 1], i == 5 ? 9 : 7);
			}
			disturb(fd, maps[m].is_trie, values, &rng);
			close(fd);
		}
		if (can_batch(map_of(&l, maps[m].map)))
			assert_true(l.target->steady[0].listed_id != 0);
		else
			print_message("# %s: this kernel reads no batches of it\n", maps[m].map);
		end(&l);
	}
	free(values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_runs_find), cmocka_unit_test(test_hash_without_entries),
		cmocka_unit_test(test_per_cpu_values), cmocka_unit_test(test_other_hashes),
		cmocka_unit_test(test_many_entries),   cmocka_unit_test(test_full_lru),
		cmocka_unit_test(test_only_reads),     cmocka_unit_test(test_steady),
		cmocka_unit_test(test_put_back),       cmocka_unit_test(test_prog_array),
		cmocka_unit_test(test_borrowed_maps),  cmocka_unit_test(test_variables),
		cmocka_unit_test(test_step),           cmocka_unit_test(test_fill),
		cmocka_unit_test(test_refusals),       cmocka_unit_test(test_long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
