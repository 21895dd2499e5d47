/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * in-situ, event: attach. The program is attached where its own section says, and runs when the
 * kernel or a process comes by there while the workload has a CPU to itself. All of its runs count,
 * whoever makes them.
 *
 * The polling itself is a system call: a program on sys_enter would run for each. So the counters
 * are polled for a moment before the workload goes on; a program that runs for most of those
 * readings is ours to blame, and its series is void.
 */
#include <bpf/libbpf.h>

#include "base/deadline.h"
#include "drivers/windows.h"
#include "drivers/workload_loop.h"

#define READINGS 512u
#define MOST_RUNS                                                                                  \
	(READINGS /                                                                                \
	 2) /* others may make it run in that time, but not once for every other reading */

static int attach_probe(void *state, struct bb_test_prog *prog, struct bb_err *err)
{
	struct bpf_link *link;
	int rc = bb_target__attach(prog->target, &link, err);

	(void)state;
	if (!rc)
		bpf_link__destroy(link);
	return rc;
}

/* The workload stands still. 0, or -errno with a message; what is to blame goes to `void_why`. */
static int look_at_our_own(struct bb_target *target, struct bb_batch *b, struct bb_err *err)
{
	struct bb_prog_stats first, now;
	int rc = bb_read_counters(target, &first, err);

	for (unsigned int i = 0; !rc && i < READINGS && !bb_must_end(); i++) {
		rc = bb_read_counters(target, &now, err);
		bb_target__drain(target, false);
	}
	if (rc)
		return rc;
	if (now.run_cnt - first.run_cnt > MOST_RUNS)
		snprintf(b->void_why, sizeof(b->void_why),
			 "bpfbench's own readings make it run: %llu runs in %u readings while the "
			 "workload stood still",
			 (unsigned long long)(now.run_cnt - first.run_cnt), READINGS);
	return 0;
}

static int attach_batch(void *state, void *slot, uint32_t param, struct bb_batch *b,
			struct bb_err *err)
{
	static const struct bb_workload_event nothing_to_do = {0};
	struct bb_target *target = ((struct bb_test_prog *)slot)->target;
	struct bb_workload_loop *l = state;
	struct bpf_link *link = NULL;
	int rc = bb_pin_to_cpu(l->opts.poll_cpu, err);

	(void)param;
	if (!rc)
		rc = bb_workload_loop__start(l, true, err);
	if (!rc)
		rc = bb_target__attach(target, &link, err);
	if (!rc)
		rc = look_at_our_own(target, b, err);
	if (!rc)
		rc = bb_workload_loop__batch(l, target, &nothing_to_do, b, err);
	bpf_link__destroy(link);
	return rc;
}

static const struct bb_drive_key keys[] = {
	{.name = "event"}, {.name = "workload"}, {.name = "args"}, {.name = "seconds"}, {0},
};

const struct bb_driver bb_driver_insitu_attach = {
	.kind =
		{
			.with = "in-situ",
			.by_key = "event",
			.by = {"attach"},
			.name = "in-situ-attach",
			.title = "in-situ by attach",
			.doc = "the program where its own section attaches it, over a workload, "
			       "counters polled from another CPU",
			.keys = keys,
			.seconds = 0.6,
			.pace = BB_TIMED_PACE,
			.sample = BB_SAMPLE_RUN,
			.needs_bpf = true,
			.watches_workload = true,
		},
	.open = bb_workload_loop__open,
	.probe = attach_probe,
	.attach = bb_driver__attach_nothing, /* but for its batches: others have their turn, too */
	.batch = attach_batch,
	.detach = bb_driver__detach_nothing,
	.close = bb_workload_loop__close,
};
