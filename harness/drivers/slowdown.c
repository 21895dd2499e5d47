/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slowdown: what being sampled costs the one who is sampled. A sample is the wall time of one run
 * of the workload, taken by hyperfine, while the variant's `sampler` samples it: the program (with
 * a consumer on another CPU, as in a pipeline), `perf record`, what `bpfbench profile` samples
 * with, or nobody. The sampler is on before the command begins and starts up outside its time.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "bpf/perf_event.h"
#include "bpf/rings.h"
#include "drivers/consumer.h"
#include "drivers/driver.h"
#include "drivers/hyperfine.h"
#include "drivers/perf_record.h"
#include "drivers/windows.h"
#include "profile/recording.h"

#define PAUSE_NS 2000000 /* between two looks at hyperfine */

struct slowdown_state {
	const struct bb_drive_spec *spec;
	struct bb_driver_opts opts;
	struct bb_hyperfine hyperfine;
};

struct slowdown_slot {
	struct bb_target *target; /* NULL: the sampler is no program */
	bool by_perf, by_profile;
	/* NULL: the ring, if any, is emptied unread */
	const struct bb_sample_processor *processor;
	const struct bb_ring *ring;
};

/* One run of the command. */
struct timed_run {
	struct slowdown_state *state;
	struct slowdown_slot *slot;
	uint32_t freq_hz;
	struct bb_workload hyperfine, perf;
	struct bb_consumer consumer;
	struct bb_recorder *profile;
	int event_fd; /* -1: none */
};

static void slowdown_close(void *state)
{
	struct slowdown_state *s = state;

	if (!s)
		return;
	bb_hyperfine__close(&s->hyperfine);
	free(s);
}

static int slowdown_open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
			 void **ret_state, struct bb_err *err)
{
	const struct bb_child_place place = {opts->cpu, opts->uid, opts->gid, opts->env};
	struct slowdown_state *s;
	int rc = bb_windows__can_poll(opts, err);

	if (rc)
		return rc;
	s = calloc(1, sizeof(*s));
	if (!s)
		return bb_fail_nomem(err);
	s->spec = spec;
	s->opts = *opts;
	rc = bb_hyperfine__open(spec->target.workload, spec->target.args, spec->target.n_args,
				opts->workload_dir, &place, &s->hyperfine, err);
	if (rc)
		slowdown_close(s);
	else
		*ret_state = s;
	return rc;
}

static bool is_sampler(const struct bb_test_prog *subject, const char *name)
{
	return !strcmp(subject->spec->sampler, name);
}

static int slowdown_probe(void *state, struct bb_test_prog *subject, struct bb_err *err)
{
	(void)state;
	if (is_sampler(subject, "perf-record") && !bb_in_path("perf"))
		return bb_fail(err, -ENOTSUP,
			       "perf is not installed (Debian: linux-perf, Ubuntu: "
			       "linux-tools-generic)");
	return 0;
}

static int slowdown_attach(void *state, struct bb_test_prog *subject, void **ret_slot,
			   struct bb_err *err)
{
	struct slowdown_slot *slot = calloc(1, sizeof(*slot));

	(void)state;
	if (!slot)
		return bb_fail_nomem(err);
	slot->target = subject->target;
	slot->by_perf = is_sampler(subject, "perf-record");
	slot->by_profile = is_sampler(subject, "profile");
	slot->ring = slot->target ? bb_target__ring(slot->target) : NULL;
	slot->processor = slot->ring ? bb_sample_processor_find(subject->spec->consumer) : NULL;
	*ret_slot = slot;
	return 0;
}

static void slowdown_detach(void *state, void *slot)
{
	(void)state;
	free(slot);
}

static int put_event(struct timed_run *r, struct bb_err *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = r->freq_hz,
		.inherit = 1,
	};
	int rc = bb_perf_event__open(&attr, r->hyperfine.pid, -1,
				     bb_target__prog_fd(r->slot->target), &r->event_fd, err);

	if (rc) {
		r->event_fd = -1;
		return rc;
	}
	rc = bb_perf_event__enable(r->event_fd);
	return rc ? bb_fail(err, rc, "cannot enable the sampling event: %s", strerror(-rc)) : 0;
}

/* As `bpfbench profile -p PID -F HZ` does. */
static int start_profile(struct timed_run *r, struct bb_err *err)
{
	const struct bb_sampler_opts opts = {
		.object_dir = r->state->opts.object_dir,
		.pid = r->hyperfine.pid,
		.freq_hz = r->freq_hz,
		.on_cpu = true,
		.want_kernel = true,
		.want_user = true,
	};

	return bb_recorder__start(&opts, &r->profile, err);
}

/* hyperfine held still and the sampler on it. */
static int set_up(struct timed_run *r, struct bb_err *err)
{
	struct slowdown_state *s = r->state;
	const struct bb_child_place place = {s->opts.poll_cpu, s->opts.uid, s->opts.gid, NULL};
	int rc = 0;

	if (r->slot->target)
		bb_target__drain(r->slot->target, false);
	if (r->slot->processor)
		rc = bb_consumer__start(r->slot->processor, r->slot->ring->map_fd, 0, &place,
					&r->consumer, err);
	if (!rc)
		rc = bb_hyperfine__start(&s->hyperfine, &r->hyperfine, err);
	if (!rc && r->slot->target)
		rc = put_event(r, err);
	if (!rc && r->slot->by_perf)
		rc = bb_perf_record__start(r->hyperfine.pid, r->freq_hz, &place, &r->perf, err);
	if (!rc && r->slot->by_profile)
		rc = start_profile(r, err);
	return rc;
}

static int wait_for_end(struct timed_run *r, struct bb_err *err)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	int rc = 0;

	while (!rc) {
		nanosleep(&pause, NULL);
		rc = bb_must_end_why();
		if (rc)
			return rc;
		if (r->consumer.pid)
			rc = bb_consumer__check(&r->consumer, err);
		else if (r->slot->target)
			bb_target__drain(r->slot->target, false);
		else if (r->profile)
			rc = bb_recorder__poll(r->profile, 0, err);
		if (!rc)
			rc = bb_workload__ended(&r->hyperfine, "hyperfine", err);
	}
	return rc == 1 ? 0 : rc;
}

static int time_command(struct slowdown_state *s, struct slowdown_slot *slot, uint32_t freq_hz,
			uint64_t *ret_ns, struct bb_err *err)
{
	struct timed_run r = {.state = s, .slot = slot, .freq_hz = freq_hz, .event_fd = -1};
	int rc = set_up(&r, err);

	bb_workload__resume(&r.hyperfine);
	if (!rc)
		rc = wait_for_end(&r, err);
	if (!rc)
		rc = bb_hyperfine__read(&s->hyperfine, ret_ns, err);
	bb_workload__stop(&r.hyperfine);
	bb_workload__stop(&r.perf);
	bb_consumer__close(&r.consumer);
	bb_recorder__free(r.profile);
	if (r.event_fd >= 0)
		close(r.event_fd);
	return rc;
}

static int read_counters(const struct slowdown_slot *slot, struct bb_prog_stats *ret_stats,
			 struct bb_err *err)
{
	int rc = slot->target ? bb_stats_reader__info(bb_target__reader(slot->target), ret_stats)
			      : 0;

	return rc ? bb_fail(err, rc, "cannot read the counters of '%s': %s",
			    bb_target__program(slot->target), strerror(-rc))
		  : 0;
}

static int slowdown_batch(void *state, void *slot, uint32_t param, struct bb_batch *b,
			  struct bb_err *err)
{
	struct slowdown_state *s = state;
	const struct slowdown_slot *sl = slot;
	struct bb_prog_stats before = {0}, after = {0};
	uint64_t began_ns = bb_now_ns(), took_ns = 0;
	bool is_stopped;
	int rc = bb_pin_to_cpu(s->opts.poll_cpu, err);

	b->target_cpu_s = NAN;
	if (!rc)
		rc = read_counters(sl, &before, err);
	while (!rc && b->n < b->want && (!b->n || bb_seconds_since(began_ns) < b->max_s)) {
		rc = time_command(s, slot, param, &b->ns[b->n], err);
		if (!rc)
			took_ns += b->ns[b->n++];
	}
	is_stopped = rc == -EINTR;
	if (is_stopped || rc == -ETIME) /* the command was ended: no sample */
		rc = 0;
	if (!rc)
		rc = read_counters(sl, &after, err);
	b->elapsed_s = bb_seconds_since(began_ns);
	if (rc)
		return rc;
	b->run_cnt = sl->target ? after.run_cnt - before.run_cnt : b->n;
	b->run_time_ns = sl->target ? after.run_time_ns - before.run_time_ns : took_ns;
	if (sl->target && b->n && !b->run_cnt)
		snprintf(b->void_why, sizeof(b->void_why),
			 "the program never ran: the command took %.3g s, a period of %u Hz takes "
			 "%.3g s",
			 (double)took_ns * 1e-9, param, 1.0 / param);
	return is_stopped ? -EINTR : 0;
}

static const char *slowdown_command(void *state)
{
	return ((struct slowdown_state *)state)->hyperfine.shown;
}

static const struct bb_drive_key keys[] = {
	{.name = "workload"}, {.name = "args"}, {.name = "freq_hz"}, {.name = "seconds"}, {0},
};

const struct bb_driver bb_driver_slowdown = {
	.kind =
		{
			.with = "slowdown",
			.doc = "wall time of a command (by hyperfine) while it is sampled: by the "
			       "program, perf record, `bpfbench profile`, or not at all",
			.keys = keys,
			.param = "freq_hz",
			.param_default = 100,
			.seconds = 1.2,
			.pace = BB_TIMED_PACE,
			.samples_per_event = 2,
			.sample = {"command", "ns per run of the command", false},
			.is_whole = true,
			.fills = BB_FILLS_SLOWDOWN,
			.needs_bpf = true,
			.any_sampler = true,
		},
	.open = slowdown_open,
	.probe = slowdown_probe,
	.attach = slowdown_attach,
	.batch = slowdown_batch,
	.command = slowdown_command,
	.detach = slowdown_detach,
	.close = slowdown_close,
};
