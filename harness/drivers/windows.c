/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/windows.h"

#include <errno.h>
#include <string.h>

#include "base/stop.h"

#define POLLS 1024u

static int read_counters(const struct bb_target *t, struct bb_prog_stats *ret_stats, struct bb_err *err)
{
	int rc = bb_stats_reader__info(bb_target__reader(t), ret_stats);

	return rc ? bb_fail(err, rc, "reading the counters of '%s': %s", bb_target__program(t), strerror(-rc)) : 0;
}

int bb_windows__begin(struct bb_target *target, struct bb_windows *ret_windows, struct bb_err *err)
{
	ret_windows->target = target;
	return read_counters(target, &ret_windows->last, err);
}

/* What moved since the last reading: one run is a sample, several in one window are only counted. */
static void take_window(struct bb_batch *b, struct bb_prog_stats *last, const struct bb_prog_stats *now)
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
		take_window(b, &w->last, &now);
		bb_target__drain(w->target, !b->drain_always);
	}
	return bb_stop_signal ? -EINTR : 0;
}
