/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * in-situ: the program under its real event. A clock samples a workload on one CPU; from another CPU the counters
 * are polled much faster than the event comes, so that nearly every change of them is one run. Caches are as cold
 * as the workload leaves them: expect more than step says.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bpf/perf_event.h"
#include "drivers/driver.h"
#include "drivers/windows.h"
#include "drivers/workload.h"

#define MAX_EMPTY_LIVES 3	/* how often the workload may end without a single run before we give up */

struct insitu_state {
	const struct bb_drive_spec *spec;
	struct bb_driver_opts opts;
	struct bb_workload_spec workload_spec;
	struct bb_workload workload;
	int empty_lives;		/* of the workload, one after the other */
	bool life_had_run;		/* the life in progress, in whichever batch and of whichever program */
};

struct insitu_slot {
	struct bb_target *target;
	int event_fd;			/* -1: none open */
	pid_t event_pid;		/* the process it is on */
	uint32_t event_freq_hz;
	uint64_t whole_periods;		/* of the event's time on the CPU, since it was opened */
};

static int start_workload(struct insitu_state *s, struct bb_err *err)
{
	if (s->workload.pid)
		return 0;
	s->life_had_run = false;
	return bb_workload__start(&s->workload_spec, &s->workload, err);
}

static void insitu_close(void *state)
{
	struct insitu_state *s = state;

	if (!s)
		return;
	bb_workload__stop(&s->workload);
	free(s);
}

static int insitu_open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts, void **ret_state,
		       struct bb_err *err)
{
	struct insitu_state *s;
	int rc;

	if (opts->cpu == opts->poll_cpu)
		return bb_fail(err, -ENOTSUP, "in-situ needs two CPUs, one for the workload and one to poll from; "
			       "only CPU %d is allowed here", opts->cpu);
	s = calloc(1, sizeof(*s));
	if (!s)
		return bb_fail_nomem(err);
	s->spec = spec;
	s->opts = *opts;
	s->workload_spec = (struct bb_workload_spec){
		.program = spec->workload,
		.args = spec->args,
		.n_args = spec->n_args,
		.dir = opts->workload_dir,
		.cpu = opts->cpu,
		.uid = opts->uid,
		.gid = opts->gid,
	};
	rc = start_workload(s, err);	/* here, so that what cannot start is said before anything is measured */
	if (rc) {
		insitu_close(s);
		return rc;
	}
	bb_workload__stop(&s->workload);
	*ret_state = s;
	return 0;
}

static void close_event(struct insitu_slot *slot)
{
	if (slot->event_fd >= 0)
		close(slot->event_fd);
	slot->event_fd = -1;
}

static void insitu_detach(void *state, void *slot)
{
	(void)state;
	if (!slot)
		return;
	close_event(slot);
	free(slot);
}

static int insitu_attach(void *state, struct bb_subject *subject, void **ret_slot, struct bb_err *err)
{
	struct insitu_slot *slot = calloc(1, sizeof(*slot));

	(void)state;
	if (!slot)
		return bb_fail_nomem(err);
	slot->target = subject->target;
	slot->event_fd = -1;
	*ret_slot = slot;
	return 0;
}

/* An event of this frequency on the process that runs now; an older one of the slot goes. */
static int open_event(struct insitu_state *s, struct insitu_slot *slot, uint32_t freq_hz, struct bb_err *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = !strcmp(s->spec->event, "task-clock") ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = freq_hz,
		.inherit = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int rc;

	if (slot->event_fd >= 0 && slot->event_pid == s->workload.pid && slot->event_freq_hz == freq_hz)
		return 0;
	close_event(slot);
	rc = bb_perf_event__open(&attr, s->workload.pid, -1, bb_target__prog_fd(slot->target), &slot->event_fd, err);
	if (rc) {
		slot->event_fd = -1;
		return rc;
	}
	slot->event_pid = s->workload.pid;
	slot->event_freq_hz = freq_hz;
	slot->whole_periods = 0;
	return 0;
}

/*
 * The time that the workload was on its CPU with the event on, by the event's own clock (a process' CPU clock, read from
 * outside, is up to a tick old), in whole periods: the part of one that is left brings no run, and would make every short
 * batch look as if samples were lost. NAN if it cannot be read.
 */
static double count_periods(struct insitu_slot *slot)
{
	uint64_t values[2], periods;	/* count, time running in ns */

	if (read(slot->event_fd, values, sizeof(values)) != sizeof(values))
		return NAN;
	periods = (uint64_t)((double)values[1] * 1e-9 * slot->event_freq_hz) - slot->whole_periods;
	slot->whole_periods += periods;
	return (double)periods / slot->event_freq_hz;
}

/*
 * The time of a batch is the workload's own CPU time, in which its events come; where others keep it from its CPU, up to
 * twice as much by the wall clock.
 */
static bool time_is_up(const struct bb_batch *b, uint64_t began_ns, double target_cpu_s)
{
	double wall_s = bb_seconds_since(began_ns);

	return b->max_s > 0 && (wall_s >= 2 * b->max_s || (isnan(target_cpu_s) ? wall_s : target_cpu_s) >= b->max_s);
}

/* Poll until the batch is full or its time is over (0), the workload ended (1), or -errno. */
static int poll_windows(struct insitu_state *s, struct bb_windows *windows, struct bb_batch *b, uint64_t began_ns,
			struct bb_err *err)
{
	double cpu_before_s = bb_workload__cpu_s(&s->workload);
	int rc = 0;

	while (!rc && b->n < b->want) {
		rc = bb_windows__poll(windows, b, err);
		if (!rc && time_is_up(b, began_ns, b->target_cpu_s + bb_workload__cpu_s(&s->workload) - cpu_before_s))
			return 0;
		if (!rc)
			rc = bb_workload__ended(&s->workload, s->spec->workload, err);
	}
	return rc;
}

/* One life of the workload, or what is left of the batch's time in it. Returns as poll_windows. */
static int sample_life(struct insitu_state *s, struct insitu_slot *slot, uint32_t freq_hz, struct bb_batch *b,
		       uint64_t began_ns, struct bb_err *err)
{
	uint64_t runs_before = b->run_cnt;
	struct bb_windows windows;
	int rc = start_workload(s, err);

	if (!rc)
		rc = open_event(s, slot, freq_hz, err);
	if (rc == -ESRCH) {		/* it ended between start and open */
		rc = bb_workload__ended(&s->workload, s->spec->workload, err);
		return rc < 0 ? rc : (++s->empty_lives > MAX_EMPTY_LIVES ? -ESRCH : 1);
	}
	if (rc)
		return rc;
	rc = bb_windows__begin(slot->target, &windows, err);
	if (rc)
		return rc;
	rc = bb_perf_event__enable(slot->event_fd);
	if (rc)
		return bb_fail(err, rc, "enabling the sampling event: %s", strerror(-rc));
	rc = poll_windows(s, &windows, b, began_ns, err);
	bb_perf_event__disable(slot->event_fd);
	b->target_cpu_s += count_periods(slot);
	s->life_had_run |= b->run_cnt != runs_before;
	if (rc != 1)
		return rc;
	s->empty_lives = s->life_had_run ? 0 : s->empty_lives + 1;
	return s->empty_lives > MAX_EMPTY_LIVES ? -ESRCH : 1;
}

static int insitu_batch(void *state, void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	struct insitu_state *s = state;
	uint64_t began_ns;
	int rc = bb_pin_to_cpu(s->opts.poll_cpu, err);

	if (!rc)
		rc = start_workload(s, err);
	if (rc)
		return rc;
	began_ns = bb_now_ns();		/* the workload is running: to start one takes as long as a short batch */
	b->target_cpu_s = 0;
	bb_workload__resume(&s->workload);
	do
		rc = sample_life(s, slot, param, b, began_ns, err);
	while (rc == 1 && b->n < b->want && !time_is_up(b, began_ns, b->target_cpu_s));
	bb_workload__pause(&s->workload);	/* or it would share its CPU with what is stepped there next */
	b->elapsed_s = bb_seconds_since(began_ns);
	if (rc == -ESRCH)
		return bb_fail(err, rc, "workload '%s' ends before it can be sampled once; it must use CPU time for longer "
			       "than one period of %u Hz", s->spec->workload, param);
	return rc < 0 ? rc : 0;
}

const struct bb_driver bb_driver_insitu = {
	.name = "in-situ",
	.doc = "the program under its real event over a workload, counters polled from another CPU: cold caches are real",
	.needs_bpf = true,
	.fires = false,
	.open = insitu_open,
	.attach = insitu_attach,
	.batch = insitu_batch,
	.detach = insitu_detach,
	.close = insitu_close,
};
