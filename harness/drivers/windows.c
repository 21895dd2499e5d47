/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/windows.h"

#include <errno.h>
#include <string.h>

#include "base/stop.h"

#define POLLS 1024u

static int read_counters(const struct bb_target *t, struct bb_prog_stats *ret_stats,
			 struct bb_err *err)
{
	int rc = bb_stats_reader__info(bb_target__reader(t), ret_stats);

	return rc ? bb_fail(err, rc, "reading the counters of '%s': %s", bb_target__program(t),
			    strerror(-rc))
		  : 0;
}

int bb_windows__begin(struct bb_target *target, struct bb_windows *ret_windows, struct bb_err *err)
{
	ret_windows->target = target;
	return read_counters(target, &ret_windows->last, err);
}

/* What moved since the last reading: one run is a sample, several in one window are only counted.
 */
static void take_window(struct bb_batch *b, struct bb_prog_stats *last,
			const struct bb_prog_stats *now)
{
	uint64_t runs = now->run_cnt - last->run_cnt, ns = now->run_time_ns - last->run_time_ns;

	b->run_cnt += runs;
	b->run_time_ns += ns;
	if (runs == 1)
		b->ns[b->n++] = ns;
	else
		b->multi += runs;
	*last = *now;
}

int bb_windows__poll(struct bb_windows *w, struct bb_batch *b, struct bb_err *err)
{
	for (unsigned int i = 0; i < POLLS && b->n < b->want; i++) {
		struct bb_prog_stats now;
		int rc = read_counters(w->target, &now, err);

		if (rc)
			return rc;
		if (now.run_cnt == w->last.run_cnt)
			continue;
		/*
		 * The kernel counts a run before it adds its time, and readers look without a lock:
		 * one that falls between sees a run of 0 ns, and the next run would have the time
		 * of both. A moment later both are there.
		 */
		rc = read_counters(w->target, &now, err);
		if (rc)
			return rc;
		take_window(b, &w->last, &now);
		bb_target__drain(w->target, !b->drain_always);
	}
	return bb_stop_signal ? -EINTR : 0;
}

int bb_windows__rest(struct bb_windows *w, struct bb_batch *b, struct bb_err *err)
{
	struct bb_prog_stats now;
	int rc = read_counters(w->target, &now, err);

	if (rc)
		return rc;
	b->multi += now.run_cnt - w->last.run_cnt;
	b->run_cnt += now.run_cnt - w->last.run_cnt;
	b->run_time_ns += now.run_time_ns - w->last.run_time_ns;
	w->last = now;
	bb_target__drain(w->target, !b->drain_always);
	return 0;
}

int bb_windows__can_poll(const struct bb_driver_opts *opts, struct bb_err *err)
{
	if (opts->cpu == opts->poll_cpu)
		return bb_fail(err, -ENOTSUP,
			       "it needs two CPUs, one for the workload and one to watch from; "
			       "only CPU %d is allowed here",
			       opts->cpu);
	return 0;
}
