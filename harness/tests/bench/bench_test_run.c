/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time of a sample of the step drive by test run, against the two system calls that it needs at
 * least: BPF_PROG_TEST_RUN of the same attached XDP program on the same packet, and
 * BPF_OBJ_GET_INFO_BY_FD. Only the drive's figure includes the rest: the warm-up at the start of
 * every block, the run whose output is looked at, the checks. A second row shows the gain from
 * attaching: the same runs of a load that is not attached.
 */
#include <linux/bpf.h>
#include <sys/syscall.h>

#include "bench.h"

#define BLOCKS 500u

/* An XDP program that does nothing, loaded twice: attached by the drive, and alone. */
struct runs {
	struct bb_variant_spec variant;
	struct bb_drive_spec drive;
	struct bb_input input;
	uint8_t packet[64];
	struct bb_stats_enable stats;
	struct bb_test_prog attached, alone;
	struct bb_drive_state *state;
	struct bb_drive_slot *slot;
	uint64_t ns[BENCH_BLOCK], alone_ns[BENCH_BLOCK];
};

static void runs_open(struct runs *r)
{
	static char name[] = "empty_xdp", input[] = "zeros";
	struct bb_driver_opts opts = {.seed = BENCH_SEED};
	const char *build = getenv("O");
	struct bb_err err = {0};
	struct bb_rng rng;
	char path[512];
	int rc;

	memset(r, 0, sizeof(*r));
	bb_rng_seed(&rng, BENCH_SEED);
	snprintf(path, sizeof(path), "%s/bpf/loops.bpf.o", build ? build : "build");
	r->variant = (struct bb_variant_spec){.name = name, .program = name};
	r->input = (struct bb_input){.name = input,
				     .data = r->packet,
				     .len = sizeof(r->packet),
				     .has_retval = true,
				     .retval = XDP_PASS};
	r->drive.kind = bb_drive_kind_find("step", "test-run");
	r->drive.inputs = (struct bb_inputs){&r->input, 1};
	rc = bench_prepare(&opts, &r->stats, &err);
	if (!rc)
		rc = bench_load(&r->variant, path, &rng, &r->attached, &err);
	if (!rc)
		rc = bench_load(&r->variant, path, &rng, &r->alone, &err);
	if (!rc)
		rc = bb_driver__open(&r->drive, &opts, &r->state, &err);
	if (!rc)
		rc = bb_driver__attach(r->state, &r->attached, &r->slot, &err);
	if (rc)
		bench_die(name, &err);
}

static void runs_close(struct runs *r)
{
	bb_driver__detach(r->slot);
	bb_driver__close(r->state);
	bb_test_prog__close(&r->alone);
	bb_test_prog__close(&r->attached);
	bb_stats_enable__off(&r->stats);
}

static double drive_block(void *arg)
{
	struct runs *r = arg;

	return bench_drive_block(r->slot, r->ns, NULL, "test run");
}

static inline __attribute__((always_inline)) void call(int command, union bpf_attr *attr,
						       size_t size)
{
	if (syscall(__NR_bpf, command, attr, size)) {
		perror("bpf");
		exit(1);
	}
}

/* Runs the program once, then reads its counters. */
static inline __attribute__((always_inline)) uint64_t run_and_read(int prog_fd,
								   const uint8_t *packet,
								   size_t len)
{
	struct bpf_prog_info info;
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (__u32)prog_fd;
	attr.test.data_in = (__u64)(uintptr_t)packet;
	attr.test.data_size_in = (__u32)len;
	attr.test.repeat = 1;
	call(BPF_PROG_TEST_RUN, &attr, sizeof(attr.test));
	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (__u32)prog_fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (__u64)(uintptr_t)&info;
	call(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr.info));
	return info.run_time_ns;
}

static double bare_loop(const struct bb_test_prog *prog, const uint8_t *packet, size_t len,
			uint64_t *ns)
{
	int prog_fd = prog->target->prog_fd;
	uint64_t last = run_and_read(prog_fd, packet, len), began_ns = bb_now_ns();

	for (size_t i = 0; i < BENCH_BLOCK; i++) {
		uint64_t now = run_and_read(prog_fd, packet, len);

		ns[i] = now - last;
		last = now;
	}
	return (double)(bb_now_ns() - began_ns) / BENCH_BLOCK;
}

static double bare_block(void *arg)
{
	struct runs *r = arg;

	return bare_loop(&r->attached, r->packet, sizeof(r->packet), r->ns);
}

static double median_of(const uint64_t *ns)
{
	double x[BENCH_BLOCK];

	for (size_t i = 0; i < BENCH_BLOCK; i++)
		x[i] = (double)ns[i];
	return bb_median(x, BENCH_BLOCK);
}

/* The kernel's time of a run of the attached program. */
static double attached_block(void *arg)
{
	struct runs *r = arg;

	bare_block(r);
	return median_of(r->ns);
}

static double alone_block(void *arg)
{
	struct runs *r = arg;

	bare_loop(&r->alone, r->packet, sizeof(r->packet), r->alone_ns);
	return median_of(r->alone_ns);
}

int main(void)
{
	struct runs *r = bench_alloc(1, sizeof(*r));
	struct bench_medians m;
	struct bench_duel d;
	char measured[128];

	runs_open(r);
	d = bench_duel(drive_block, bare_block, r, BLOCKS);
	m = bench_decide(&d);
	snprintf(measured, sizeof(measured), "%.3f (%.0f / %.0f ns)", m.ratio, m.a, m.b);
	bench_judge("step by test run: a sample / bare run and read", "<= 1.15", measured,
		    m.ratio <= 1.15);
	d = bench_duel(attached_block, alone_block, r, BLOCKS / 5);
	m = bench_decide(&d);
	snprintf(measured, sizeof(measured), "%.3f (%.0f / %.0f ns)", m.ratio, m.a, m.b);
	bench_row("step by test run: a run of XDP attached / unattached", "", measured, "-");
	runs_close(r);
	free(r);
	return 0;
}
