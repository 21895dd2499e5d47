/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time of a sample of the step drive by fire, against the two calls that it needs at least: the
 * trigger (a thread gives itself a name) and BPF_OBJ_GET_INFO_BY_FD, with the same program
 * attached. The drive's figure is the time of its loop in the process that fires.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <sys/prctl.h>

#include "bench.h"
#include "fire/hook.h"

#define BLOCKS 200u

struct fired {
	struct bb_variant_spec variant;
	struct bb_drive_spec drive;
	struct bb_stats_enable stats;
	struct bb_test_prog prog;
	struct bb_hook hook;
	struct bb_drive_state *state;
	struct bb_drive_slot *slot;
	uint64_t ns[BENCH_BLOCK];
};

static void fired_open(struct fired *f)
{
	static char name[] = "on_raw_tp";
	struct bb_driver_opts opts = {.seed = BENCH_SEED};
	const char *build = getenv("O");
	struct bb_err err = {0};
	struct bb_rng rng;
	char path[512];
	int rc;

	bb_rng_seed(&rng, BENCH_SEED);
	snprintf(path, sizeof(path), "%s/tests/bpf/turns.bpf.o", build ? build : "build");
	f->variant = (struct bb_variant_spec){.name = name, .program = name};
	f->drive.kind = bb_drive_kind_find("step", "fire");
	rc = bench_prepare(&opts, &f->stats, &err);
	if (!rc)
		rc = bench_load(&f->variant, path, &rng, &f->prog, &err);
	if (!rc)
		rc = bb_driver__open(&f->drive, &opts, &f->state, &err);
	if (!rc)
		rc = bb_driver__probe(f->state, &f->prog, &err);
	if (!rc && strcmp(f->prog.fire.trigger->name, "task-rename"))
		rc = bb_fail(&err, -EINVAL, "fired by %s", f->prog.fire.trigger->name);
	if (!rc)
		rc = bb_driver__attach(f->state, &f->prog, &f->slot, &err);
	if (!rc)
		rc = bb_hook__open(&f->prog.fire.point, -1, NULL, true, &f->hook, &err);
	if (rc)
		bench_die(name, &err);
}

static void fired_close(struct fired *f)
{
	bb_hook__close(&f->hook);
	bb_driver__detach(f->slot);
	bb_driver__close(f->state);
	bb_test_prog__close(&f->prog);
	bb_stats_enable__off(&f->stats);
}

static double drive_block(void *arg)
{
	struct fired *f = arg;
	struct bb_batch b = {.ns = f->ns, .want = BENCH_BLOCK, .warmup = BENCH_WARMUP};
	struct bb_err err = {0};

	if (bb_driver__batch(f->slot, 0, &b, &err))
		bench_die("fire", &err);
	if (!b.fired) {
		fprintf(stderr, "nothing was fired: %s\n", b.void_why);
		exit(1);
	}
	/* the time includes the warm-up */
	return 1e9 * b.elapsed_s / (double)(b.fired + b.warmup);
}

static double bare_block(void *arg)
{
	struct fired *f = arg;
	struct bb_err err = {0};
	struct bb_prog_stats s;
	uint64_t began_ns;
	int link_fd;

	if (bb_hook__put(&f->hook, f->prog.target->prog_fd, &link_fd, &err))
		bench_die("hook", &err);
	for (size_t i = 0; i < BENCH_WARMUP; i++)
		prctl(PR_SET_NAME, "bpfbench");
	began_ns = bb_now_ns();
	for (size_t i = 0; i < BENCH_BLOCK; i++) {
		prctl(PR_SET_NAME, "bpfbench");
		bb_stats_reader__info(&f->prog.target->reader, &s);
	}
	began_ns = bb_now_ns() - began_ns;
	bb_hook__take_off(&f->hook, link_fd);
	return (double)began_ns / BENCH_BLOCK;
}

int main(void)
{
	struct fired *f = bench_alloc(1, sizeof(*f));
	struct bench_medians m;
	struct bench_duel d;
	char measured[128];

	fired_open(f);
	d = bench_duel(drive_block, bare_block, f, BLOCKS);
	m = bench_decide(&d);
	snprintf(measured, sizeof(measured), "%.3f (%.0f / %.0f ns)", m.ratio, m.a, m.b);
	bench_judge("step by fire: a sample / bare trigger and read", "<= 1.15", measured,
		    m.ratio <= 1.15);
	fired_close(f);
	free(f);
	return 0;
}
