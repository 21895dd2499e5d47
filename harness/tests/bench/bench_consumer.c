/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole profiler: how fast the fixed consumer empties a full ring; whether it keeps up with 10
 * kHz on all CPUs; and by how much a profiler at 1000 Hz slows a workload down, compared with
 * `perf record -F 1000 -g`. The profilers are `bpfbench profile` and two of our programs, each
 * with its consumer.
 *
 * The workload takes most of a second, because the bench is about the price of samples. To start
 * `bpfbench profile` also has a price: it evicts caches, and a command that begins right after it
 * takes longer, by about 1.3 ms on an AMD EPYC. (Writing to 16 MB of memory has the same effect.)
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>

#include "bench.h"
#include "base/give_way.h"
#include "bpf/rings.h"
#include "drivers/consumer.h"
#include "bpf/attach.h"
#include "hogs.h"
#include "stats/estimate.h"

#define RING_SAMPLES 4000u /* the ring has room for 4064 */
#define FILLS 40u
#define ALL_CPUS_HZ 10000u
#define ALL_CPUS_S 3
#define TARGET_HZ 1000u
#define TARGET_RUNS 30u

static struct bb_test_prog prog;

static void open_prog(struct bb_variant_spec *v, struct bb_test_prog *s)
{
	struct bb_err err = {0};
	struct bb_rng rng;
	int rc = bb_test_prog__open(v, bench_object(), s, &err);

	bb_rng_seed(&rng, BENCH_SEED);
	if (!rc)
		rc = bb_test_prog__load(s, &rng, BB_ANYWHERE, 1, &err);
	if (rc)
		bench_die(v->name, &err);
}

/* Touches RING_SAMPLES pages that are not mapped yet: each page fault brings one sample. */
static void fill_ring(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.exclude_kernel = 1,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *region = mmap(NULL, RING_SAMPLES * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct bb_err err = {0};
	int fd;

	if (region == MAP_FAILED || madvise(region, RING_SAMPLES * page, MADV_NOHUGEPAGE) ||
	    bb_perf_event__open(&attr, 0, -1, prog.target->prog_fd, &fd, &err))
		bench_die("filling the ring", &err);
	bb_perf_event__enable(fd);
	for (size_t i = 0; i < RING_SAMPLES; i++)
		(void)*(volatile char *)(region + i * page);
	bb_perf_event__disable(fd);
	close(fd);
	munmap(region, RING_SAMPLES * page);
}

static int on_sample(void *arg, void *data, size_t size)
{
	return bb_process_sample_fixed.process(data, size, arg);
}

static void bench_rate(void)
{
	static char text[64u << 10];
	struct bb_sample_log log = {.text = text, .size = sizeof(text), .fd = -1};
	struct ring_buffer *ring = ring_buffer__new(bb_target__ring(prog.target)->map_fd, on_sample,
						    &log, NULL);
	double per_s[FILLS], rate;
	char measured[128];

	if (!ring) {
		fprintf(stderr, "ring_buffer__new: %s\n", strerror(errno));
		exit(1);
	}
	for (size_t i = 0; i < FILLS; i++) {
		uint64_t began_ns;
		int n;

		fill_ring();
		began_ns = bb_now_ns();
		n = ring_buffer__consume(ring);
		per_s[i] = n / bb_seconds_since(began_ns);
		if (n < (int)RING_SAMPLES) {
			fprintf(stderr, "%u page faults brought %d samples\n", RING_SAMPLES, n);
			exit(1);
		}
	}
	ring_buffer__free(ring);
	rate = bb_median(per_s, FILLS);
	snprintf(measured, sizeof(measured), "%.1f million/s (%.0f ns a sample)", rate * 1e-6,
		 1e9 / rate);
	bench_judge("consumer: fixed, samples a second from a full ring", ">= 5 million", measured,
		    rate >= 5e6);
}

static int open_on_cpu(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = ALL_CPUS_HZ,
	};
	struct bb_err err = {0};
	int fd = -1;

	if (bb_perf_event__open(&attr, -1, cpu, prog.target->prog_fd, &fd, &err))
		bench_die("an event on a CPU", &err);
	bb_perf_event__enable(fd);
	return fd;
}

static void bench_all_cpus(void)
{
	int n_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN),
	    *fds = bench_alloc((size_t)n_cpus, sizeof(*fds));
	size_t room = (size_t)n_cpus * ALL_CPUS_HZ * (ALL_CPUS_S + 2);
	const struct bb_child_place place = {.cpu = 0};
	double *lag_ns = bench_alloc(room, sizeof(*lag_ns));
	uint64_t drops_before = 0, drops = 0;
	struct bb_consumed done = {0};
	struct bb_consumer reading;
	struct bb_err err = {0};
	struct hogs hogs;
	char measured[128];

	bb_target__drain(prog.target, false);
	bb_target__drops(prog.target, &drops_before);
	if (bb_consumer__start(&bb_process_sample_fixed, bb_target__ring(prog.target)->map_fd, room,
			       &place, &reading, &err))
		bench_die("consumer", &err);
	hogs = start_hogs();
	for (int i = 0; i < n_cpus; i++)
		fds[i] = open_on_cpu(i);
	sleep(ALL_CPUS_S);
	for (int i = 0; i < n_cpus; i++)
		close(fds[i]);
	stop_hogs(&hogs);
	if (bb_consumer__stop(&reading, &done, &err))
		bench_die("consumer", &err);
	bb_target__drops(prog.target, &drops);
	drops -= drops_before;
	for (size_t i = 0; i < done.n; i++)
		lag_ns[i] = (double)done.lag_ns[i];
	bb_sort_doubles(lag_ns, done.n);
	snprintf(measured, sizeof(measured), "%llu of %llu, lag p99 %.1f ms",
		 (unsigned long long)drops, (unsigned long long)(done.samples + drops),
		 bb_quantile_sorted(lag_ns, done.n, 0.99) * 1e-6);
	bench_judge("consumer: drops at 10 kHz on all CPUs, all busy", "0", measured,
		    !drops && done.samples > 0);
	bb_consumer__close(&reading);
	free(lag_ns);
	free(fds);
}

/* Runs the workload once under a sampler, by the drive `overhead`; returns its time, s. */
static double time_target(struct bb_drive_slot *slot)
{
	struct bb_batch b = {.want = 1};
	struct bb_err err = {0};
	uint64_t ns = 0;

	b.ns = &ns;
	if (bb_driver__batch(slot, TARGET_HZ, &b, &err))
		bench_die("overhead", &err);
	if (b.void_why[0]) {
		fprintf(stderr, "overhead: %s\n", b.void_why);
		exit(1);
	}
	return (double)ns * 1e-9;
}

static struct bb_drive_slot *attach(struct bb_drive_state *state, struct bb_test_prog *s)
{
	struct bb_err err = {0};
	struct bb_drive_slot *slot = NULL;

	if (bb_driver__attach(state, s, &slot, &err))
		bench_die(s->spec->name, &err);
	return slot;
}

static void judge_overhead(const char *name, const char *bound, const double *ratios, double ours,
			   double perfs)
{
	struct bb_location l = bb_location_over_loads(ratios, TARGET_RUNS, 0.05);
	char what[128], measured[128];

	snprintf(what, sizeof(what), "target sampled by %s / by perf record -g", name);
	snprintf(measured, sizeof(measured), "%.4f [%.4f, %.4f] (%+.1f, %+.1f %%)", l.value,
		 l.interval.lo, l.interval.hi, 100 * (ours - 1), 100 * (perfs - 1));
	/* no bound, or an interval that does not tell whether the bound is missed */
	if (!bound || (l.interval.lo <= 1 && l.value > 1))
		bench_row(what, bound ? bound : "-", measured, "-");
	else
		bench_judge(what, bound, measured, l.value <= 1);
}

/* The samplers of the workload, which take turns. */
enum { BARE, PERF_RECORD, PROFILE, NOWAKEUP, RINGBUF, N_SAMPLERS };

/* Fills took_s[sampler][run]. The order of the samplers is rotated from run to run, and reversed
 * after every N_SAMPLERS runs. */
static void time_in_turns(struct bb_drive_slot *const *slots, double (*took_s)[TARGET_RUNS])
{
	for (size_t i = 0; i < TARGET_RUNS; i++)
		for (size_t k = 0; k < N_SAMPLERS; k++) {
			size_t which = (i + (i / N_SAMPLERS % 2 ? N_SAMPLERS - k : k)) % N_SAMPLERS;

			took_s[which][i] = time_target(slots[which]);
		}
}

static void show_overheads(double (*took_s)[TARGET_RUNS])
{
	static const struct {
		int sampler;
		const char *name, *bound;
	} rows[] = {
		/* the command that users call */
		{PROFILE, "bpfbench profile", "<= 1"},
		/* a profiler whose consumer polls instead of being woken for each sample */
		{NOWAKEUP, "ringbuf_nowakeup", "<= 1"},
		/* the profiler as published: each sample wakes the consumer, by an interrupt */
		{RINGBUF, "ringbuf", NULL},
	};
	double perfs[TARGET_RUNS];

	for (size_t i = 0; i < TARGET_RUNS; i++)
		perfs[i] = took_s[PERF_RECORD][i] / took_s[BARE][i];
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		const double *took = took_s[rows[row].sampler];
		double ours[TARGET_RUNS], ratios[TARGET_RUNS];

		for (size_t i = 0; i < TARGET_RUNS; i++) {
			ours[i] = took[i] / took_s[BARE][i];
			ratios[i] = took[i] / took_s[PERF_RECORD][i];
		}
		judge_overhead(rows[row].name, rows[row].bound, ratios,
			       bb_median(ours, TARGET_RUNS), bb_median(perfs, TARGET_RUNS));
	}
}

static void bench_overheads(struct bb_driver_opts *opts, struct bb_test_prog *nowakeup,
			    struct bb_test_prog *ringbuf)
{
	static char *args[] = {"40000"};
	struct bb_variant_spec none = {.name = "bare", .sampler = "none", .consumer = "fixed"};
	struct bb_variant_spec perf = {.name = "perf_record",
				       .sampler = "perf-record",
				       .consumer = "fixed"};
	struct bb_variant_spec profile = {.name = "profile",
					  .sampler = "profile",
					  .consumer = "fixed"};
	struct bb_test_prog bare = {.spec = &none}, by_perf = {.spec = &perf},
			    by_profile = {.spec = &profile};
	struct bb_test_prog *const progs[] = {
		[BARE] = &bare,        [PERF_RECORD] = &by_perf, [PROFILE] = &by_profile,
		[NOWAKEUP] = nowakeup, [RINGBUF] = ringbuf,
	};
	struct bb_drive_spec drive = {.kind = bb_drive_kind_find("overhead", NULL),
				      .target = {.workload = "amicable_pairs",
						 .args = args,
						 .n_args = 1}};
	struct bb_drive_state *state = NULL;
	struct bb_drive_slot *slots[N_SAMPLERS];
	double took_s[N_SAMPLERS][TARGET_RUNS];
	struct bb_err err = {0};
	int rc = bb_driver__open(&drive, opts, &state, &err);

	if (!rc)
		rc = bb_driver__probe(state, &by_perf, &err);
	if (rc == -ENOTSUP) {
		bench_row("target sampled at 1000 Hz / by perf record -g", "<= 1", err.msg, "skip");
		bb_driver__close(state);
		return;
	}
	if (rc)
		bench_die("overhead", &err);
	for (size_t k = 0; k < N_SAMPLERS; k++)
		slots[k] = attach(state, progs[k]);
	time_in_turns(slots, took_s);
	show_overheads(took_s);
	for (size_t k = 0; k < N_SAMPLERS; k++)
		bb_driver__detach(slots[k]);
	bb_driver__close(state);
}

int main(void)
{
	struct bb_variant_spec ringbuf = {.name = "ringbuf",
					  .program = "ringbuf",
					  .consumer = "fixed",
					  .sampler = "program"};
	struct bb_variant_spec nowakeup = {.name = "ringbuf_nowakeup",
					   .program = "ringbuf_nowakeup",
					   .consumer = "fixed",
					   .sampler = "program"};
	const char *build = getenv("O") ? getenv("O") : "build";
	struct bb_driver_opts opts = {.seed = BENCH_SEED};
	struct bb_test_prog by_polling;
	struct bb_stats_enable stats;
	struct bb_err err = {0};
	char dirs[2][512];

	snprintf(dirs[0], sizeof(dirs[0]), "%s/workloads", build);
	snprintf(dirs[1], sizeof(dirs[1]), "%s/bpf", build);
	opts.workload_dir = dirs[0];
	opts.object_dir = dirs[1];
	/* This must come first, because a drive pins us to one CPU. */
	if (bb_machine_cpus(-1, &opts.cpu, &opts.poll_cpu, &err))
		bench_die("CPUs", &err);
	open_prog(&ringbuf, &prog);
	open_prog(&nowakeup, &by_polling);
	bench_rate();
	bench_all_cpus();
	bb_run_ahead_of_others();
	if (bb_stats_enable__on(&stats, &err))
		bench_die("bpf_stats", &err);
	bench_overheads(&opts, &by_polling, &prog);
	bb_stats_enable__off(&stats);
	bb_test_prog__close(&by_polling);
	bb_test_prog__close(&prog);
	return 0;
}
