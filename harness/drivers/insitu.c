/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The drive `in-situ` with the events cpu-clock, task-clock and attach: the program runs at its
 * real event while a workload runs on one CPU. Another CPU polls the counters much faster than the
 * event comes, so nearly every change of the counters is one run. Times are longer than with the
 * drive `step`, because the workload uses the caches between two runs. */

#include <bpf/libbpf.h>

#include "base/io.h"
#include "bpf/attach.h"
#include "drivers/windows.h"
#include "drivers/workload_loop.h"

struct insitu_slot {
	struct bb_drive_slot common;
	int event_fd; /* -1 if not open */
	pid_t event_pid;
	/* frequency of the open event, and frequency that the batch asks for */
	uint32_t event_freq_hz, freq_hz;
	/* complete sampling periods in the CPU time that the event has counted so far */
	uint64_t whole_periods;
};

static void insitu_detach(void *slot)
{
	bb_close(&((struct insitu_slot *)slot)->event_fd);
}

static int insitu_attach(void *slot, struct bb_err *)
{
	((struct insitu_slot *)slot)->event_fd = -1;
	return 0;
}

static int begin_event(void *arg, const struct bb_command *workload, struct bb_err *err)
{
	struct insitu_slot *slot = arg;
	int rc = 0;

	if (slot->event_fd < 0 || slot->event_pid != workload->pid ||
	    slot->event_freq_hz != slot->freq_hz) {
		bb_close(&slot->event_fd);
		rc = bb_command__open_clock(workload, slot->common.state->spec->event,
					    slot->freq_hz, slot->common.prog->target->prog_fd,
					    &slot->event_fd, err);
		slot->event_pid = workload->pid;
		slot->event_freq_hz = slot->freq_hz;
		slot->whole_periods = 0;
	}
	return rc ? rc : bb_command__start_clock(slot->event_fd, err);
}

/* Returns the CPU time of the workload while the event was enabled, in complete periods of the
 * event, s; NAN if it cannot be read. An incomplete period causes no run. If its time counted, a
 * short batch would look as if samples were lost. The event's own clock measures the time, because
 * the CPU clock of another process is up to a tick late. */
static double end_event(void *arg)
{
	struct insitu_slot *slot = arg;
	uint64_t values[2], periods; /* values[1]: time that the event ran, ns */

	bb_perf_event__disable(slot->event_fd);
	if (read(slot->event_fd, values, sizeof(values)) != sizeof(values))
		return NAN;
	periods = (uint64_t)((double)values[1] * 1e-9 * slot->event_freq_hz) - slot->whole_periods;
	slot->whole_periods += periods;
	return (double)periods / slot->event_freq_hz;
}

static int insitu_batch(void *slot_, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	struct insitu_slot *slot = slot_;
	const struct bb_workload_event event = {begin_event, end_event, slot};

	slot->freq_hz = param;
	return bb_workload_loop__batch(slot_, &event, b, err);
}

const struct bb_driver bb_driver_insitu = {
	.kind.with = "in-situ",
	.kind.by_key = "event",
	.kind.by = {"cpu-clock", "task-clock"},
	.kind.doc = "the program under its real event over a workload, counters polled "
		    "from another CPU: cold caches are real",
	.kind.keys = {{"event"}, {"workload"}, {"args"}, {"freq_hz"}, {"seconds"}},
	.kind.param = "freq_hz",
	.kind.param_default = 100,
	.kind.seconds = 0.6,
	.kind.pace = BB_TIMED_PACE,
	.kind.samples_per_event = 2,
	.kind.sample = BB_SAMPLE_RUN,
	.kind.needs_bpf = true,
	.kind.watches_workload = true,
	.polls = true,
	.state_bytes = sizeof(struct bb_workload_loop),
	.slot_bytes = sizeof(struct insitu_slot),
	.open = bb_workload_loop__open,
	.attach = insitu_attach,
	.batch = insitu_batch,
	.detach = insitu_detach,
	.close = bb_workload_loop__close,
};

/*
 * The event attach: the program is attached where its own section says. All its runs count,
 * whatever causes them.
 *
 * Each reading of the counters is a system call, so it would run a program on sys_enter. We check
 * for this before the workload goes on. If our readings cause runs, the samples do not count.
 */
static int attach_probe(void *, struct bb_test_prog *prog, struct bb_err *err)
{
	struct bpf_link *link;
	int rc = bb_target__attach(prog->target, &link, err);

	if (!rc)
		bpf_link__destroy(link);
	return rc;
}

static int attach_batch(void *slot, uint32_t, struct bb_batch *b, struct bb_err *err)
{
	static const struct bb_workload_event nothing_to_do = {0};
	const struct bb_drive_slot *s = slot;
	struct bb_windows windows = {.target = s->prog->target};
	struct bpf_link *link = NULL;
	int rc = bb_workload_loop__start((struct bb_workload_loop *)s->state, true, err);

	if (!rc)
		rc = bb_target__attach(s->prog->target, &link, err);
	/* the workload is still paused */
	if (!rc)
		rc = bb_windows__find_own(&windows, b, err);
	if (!rc && windows.own.by_read && !b->void_why[0])
		snprintf(b->void_why, sizeof(b->void_why),
			 "bpfbench's own readings make it run: %u times each", windows.own.by_read);
	if (!rc)
		rc = bb_workload_loop__batch(s, &nothing_to_do, b, err);
	bpf_link__destroy(link);
	return rc;
}

const struct bb_driver bb_driver_insitu_attach = {
	.kind.with = "in-situ",
	.kind.by_key = "event",
	.kind.by = {"attach"},
	.kind.name = "in-situ-attach",
	.kind.title = "in-situ by attach",
	.kind.doc = "the program where its own section attaches it, over a workload, "
		    "counters polled from another CPU",
	.kind.keys = {{"event"}, {"workload"}, {"args"}, {"seconds"}},
	.kind.seconds = 0.6,
	.kind.pace = BB_TIMED_PACE,
	.kind.sample = BB_SAMPLE_RUN,
	.kind.needs_bpf = true,
	.kind.watches_workload = true,
	.polls = true,
	.state_bytes = sizeof(struct bb_workload_loop),
	.open = bb_workload_loop__open,
	.probe = attach_probe,
	/* no attach(), because other programs are measured between the batches */
	.batch = attach_batch,
	.close = bb_workload_loop__close,
};
