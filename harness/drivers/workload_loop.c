/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/workload_loop.h"

#include "base/child.h"
#include "base/deadline.h"
#include "drivers/windows.h"

/* after more executions of the workload in a row without a run of the program, the batch fails */
#define MAX_EMPTY_PASSES 3

int bb_workload_loop__start(struct bb_workload_loop *l, bool paused, struct bb_err *err)
{
	int rc = 0;

	if (!l->workload.pid) {
		l->pass_had_run = false;
		rc = bb_command__start(&l->workload_spec, &l->workload, err);
	}
	if (!rc && paused)
		bb_command__pause(&l->workload);
	return rc;
}

void bb_workload_loop__close(void *loop)
{
	struct bb_workload_loop *l = loop;

	bb_command__done(&l->workload);
}

int bb_workload_loop__open(void *loop, struct bb_err *err)
{
	struct bb_workload_loop *l = loop;
	const struct bb_drive_spec *spec = l->common.spec;
	const struct bb_driver_opts *opts = &l->common.opts;

	l->workload_spec = (struct bb_command_spec){
		.noun = "workload",
		.when = "midway",
		.program = spec->target.workload,
		.args = (const char *const *)spec->target.args,
		.n_args = spec->target.n_args,
		.dir = opts->workload_dir,
		.is_pinned = true,
		.place = {.cpu = opts->cpu, .uid = opts->uid, .gid = opts->gid, .env = opts->env},
	};
	int rc = bb_workload_loop__start(l, false, err);
	bb_command__done(&l->workload);
	return rc;
}

/* True if the time of the batch is over. The CPU time of the workload counts, because the events
 * follow it. A batch may take up to twice as much wall time, because other processes may keep the
 * workload from its CPU. If target_cpu_s is NAN, the wall time counts. */
static bool time_is_up(const struct bb_batch *b, uint64_t began_ns, double target_cpu_s)
{
	double wall_s = bb_seconds_since(began_ns);

	return b->max_s > 0 && (wall_s >= 2 * b->max_s ||
				(isnan(target_cpu_s) ? wall_s : target_cpu_s) >= b->max_s);
}

/* Samples one execution of the workload, or a part of it. Returns 0 when the batch is full or its
 * time is over, 1 when the workload has ended, or -errno. It is -ESRCH after too many executions in
 * a row without a run of the program. */
static int sample_pass(struct bb_workload_loop *l, struct bb_target *target,
		       const struct bb_workload_event *event, struct bb_batch *b, uint64_t began_ns,
		       struct bb_err *err)
{
	uint64_t runs_before = b->run_cnt;
	double cpu_s = NAN, event_s = NAN, cpu_before_s;
	struct bb_windows windows;
	int rc = bb_workload_loop__start(l, false, err);

	if (!rc)
		rc = bb_windows__begin(target, &windows, err);
	if (!rc && event->begin)
		rc = event->begin(event->arg, &l->workload, err);
	if (rc == -ESRCH) {
		/* no event can be opened on the workload any more, because it is about to end */
		while (!(rc = bb_command__ended(&l->workload, err)) && !bb_must_end() &&
		       !time_is_up(b, began_ns, b->target_cpu_s))
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	} else if (!rc) {
		cpu_before_s = bb_process_cpu_s(l->workload.pid);
		while (!rc && b->n < b->want) {
			rc = bb_windows__poll(&windows, b, err);
			cpu_s = bb_process_cpu_s(l->workload.pid) - cpu_before_s;
			if (!rc && time_is_up(b, began_ns, b->target_cpu_s + cpu_s))
				break;
			if (!rc)
				rc = bb_command__ended(&l->workload, err);
		}
		if (event->end)
			event_s = event->end(event->arg);
		b->target_cpu_s += isnan(event_s) ? cpu_s : event_s;
		l->pass_had_run |= b->run_cnt != runs_before;
	}
	if (rc != 1)
		return rc;
	l->empty_passes = l->pass_had_run ? 0 : l->empty_passes + 1;
	return l->empty_passes > MAX_EMPTY_PASSES ? -ESRCH : 1;
}

int bb_workload_loop__batch(const struct bb_drive_slot *slot, const struct bb_workload_event *event,
			    struct bb_batch *b, struct bb_err *err)
{
	struct bb_workload_loop *l = (struct bb_workload_loop *)slot->state;
	int rc = bb_workload_loop__start(l, false, err);

	if (rc)
		return rc;
	/* the start of the workload does not count, because it may take as long as a short batch */
	uint64_t began_ns = bb_now_ns();
	b->target_cpu_s = 0;
	bb_command__resume(&l->workload);
	do
		rc = sample_pass(l, slot->prog->target, event, b, began_ns, err);
	while (rc == 1 && b->n < b->want && !time_is_up(b, began_ns, b->target_cpu_s));
	/* paused, because the workload would otherwise run while the next program is measured */
	bb_command__pause(&l->workload);
	b->elapsed_s = bb_seconds_since(began_ns);
	if (rc == -ESRCH)
		return bb_fail(err, rc,
			       "workload '%s' ends before it can be sampled once; it must use CPU "
			       "time for longer than it takes until the event comes",
			       l->common.spec->target.workload);
	return rc < 0 && rc != -ETIME ? rc : 0;
}
