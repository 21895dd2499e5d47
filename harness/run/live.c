/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/live.h"

#include "base/deadline.h"
#include "base/io.h"
#include "stats/quantile.h"

void bb_live_row__count(struct bb_live_row *row, const struct bb_prog_stats *before,
			const struct bb_prog_stats *after, double seconds)
{
	double ran_ns = (double)(after->run_time_ns - before->run_time_ns);

	row->seconds = seconds;
	row->total = *after;
	row->runs = after->run_cnt - before->run_cnt;
	row->misses = after->recursion_misses - before->recursion_misses;
	row->runs_per_s = (double)row->runs / seconds;
	row->misses_per_s = (double)row->misses / seconds;
	row->ns_per_run = row->runs ? ran_ns / (double)row->runs : NAN;
	row->cpu_share = ran_ns * 1e-9 / seconds;
}

/* Subtracts the runs that bpfbench itself caused from the figures of the row. */
static void take_out(struct bb_live_row *row, const struct bb_own_runs *own,
		     const struct bb_own_share *share)
{
	double ns = bb_own_share__others_ns(share, own->ns);

	row->unclear = own->unclear || share->unclear;
	if (row->unclear) {
		row->runs = 0;
		row->runs_per_s = row->ns_per_run = row->cpu_share = NAN;
		return;
	}
	row->own_runs = share->own + share->mixed_own;
	row->runs = share->others;
	row->runs_per_s = (double)row->runs / row->seconds;
	row->ns_per_run = row->runs ? ns / (double)row->runs : NAN;
	row->cpu_share = row->runs ? ns * 1e-9 / row->seconds : 0;
}

void bb_live_windows__add(struct bb_live_windows *w, uint64_t runs, uint64_t ns)
{
	if (runs <= BB_WINDOWS_MEAN_OF_MAX)
		bb_hist_add(&w->means[runs - 1], (ns + runs / 2) / runs, 1);
}

void bb_live_windows__done(struct bb_live_windows *w)
{
	for (uint32_t i = 0; i < BB_WINDOWS_MEAN_OF_MAX; i++)
		bb_hist_done(&w->means[i]);
}

void bb_live_row__distribute(struct bb_live_row *row, const struct bb_live_windows *windows)
{
	uint64_t n[BB_WINDOWS_MEAN_OF_MAX];
	const struct bb_hist *means;
	struct bb_sorted sorted;

	for (uint32_t i = 0; i < BB_WINDOWS_MEAN_OF_MAX; i++)
		n[i] = windows->means[i].n;
	uint32_t k = bb_windows_mean_of(n);
	means = &windows->means[k ? k - 1 : 0];
	bb_hist_sort(means, &sorted);
	row->mean_of = k;
	row->windows = means->n;
	row->windows_ns = means->sum_ns * k;
	row->p50 = bb_hist_quantile(&sorted, 0.5);
	row->p90 = means->n >= BB_P90_MIN ? bb_hist_quantile(&sorted, 0.9) : NAN;
	row->p99 = means->n >= BB_P99_MIN ? bb_hist_quantile(&sorted, 0.99) : NAN;
	bb_sorted_done(&sorted);
}

double bb_live_row__share(const struct bb_live_row *row)
{
	return row->runs ? (double)(row->windows * row->mean_of) / (double)row->runs : NAN;
}

/* Returns the figure at `offset`, or -1 if it is unknown, so that the row sorts last. */
static double figure_of(const struct bb_live_row *row, size_t offset)
{
	double x = *(const double *)((const char *)row + offset);

	return isnan(x) ? -1 : x;
}

/* Sorts equal rows by id, so that they keep their places on the screen. */
static int by_order(const void *a, const void *b, void *order)
{
	size_t figure = ((const struct bb_live_order *)order)->figure;
	const struct bb_live_row *x = a, *y = b;
	double more = figure ? figure_of(y, figure) - figure_of(x, figure)
			     : strcmp(x->program.name, y->program.name);

	if (more > 0 || more < 0)
		return more > 0 ? 1 : -1;
	return BB_ORDER(x->program.id, y->program.id);
}

void bb_live_rows__sort(struct bb_live_row *rows, size_t n, const struct bb_live_order *order)
{
	qsort_r(rows, n, sizeof(*rows), by_order, (void *)(uintptr_t)order);
}

const struct bb_live_order bb_live_orders[BB_N_LIVE_ORDERS] = {
	{"cpu", "share of a CPU", offsetof(struct bb_live_row, cpu_share), 'c'},
	{"runs", "runs per second", offsetof(struct bb_live_row, runs_per_s), 'r'},
	{"ns", "mean cost of a run", offsetof(struct bb_live_row, ns_per_run), 't'},
	{"name", "name", 0, 'n'},
};

/* Time between two looks at the kernel's list of programs. A look reopens all descriptors. */
#define LOOK_AGAIN_NS 250000000u
/* shortest pause, ns (the kernel makes a shorter sleep about this long) */
#define SHORTEST_NS 50000u
#define LONGEST_NS 1000000u
/* length of a burst, ns: sweeps (readings of all counters) without pauses */
#define BURST_NS 5000000u
#define REST_NS 15000000u /* time after a burst with pauses between sweeps, ns */
/* Time from one burst of a sparing watch (bb_live_filter.sparing) to the next, ns. */
#define SPARING_NS 1000000000u
/* A sparing watch calls find_own() for a program only at one of this many looks. */
#define ASK_EVERY 16u
#define SPARING_BURST_NS 2000000u
/* An idle program is read in one of this many sweeps. */
#define IDLE_EVERY 8u

struct watched {
	struct bb_loaded program;
	struct bb_stats_reader reader; /* prog_fd is owned (it is -1 if the program is unloaded) */
	/* counters at the beginning of the period, and at the last reading */
	struct bb_prog_stats first, last;
	/* when the period began or, if the program is newer, when it was first seen */
	uint64_t since_ns;
	uint64_t until_ns; /* when the program was unloaded; 0 if it is loaded */
	/* true if the program did not run between the last two looks at the list */
	bool idle;
	uint64_t looked_cnt;
	struct bb_live_windows windows;
	struct bb_time_buckets single; /* windows with one run, from all earlier periods */
	/* true if the program did not run while we slept, which shows that we do not cause its
	 * runs */
	bool is_apart;
	struct bb_own_runs own;
	/* the watch's `reads` and `sleeps` when this program was last read */
	uint64_t reads, sleeps;
	/* time of the last reading; set only if we cause runs of the program */
	uint64_t last_at_ns;
	struct bb_own_share share;
};

struct bb_live_watch {
	struct bb_live_filter filter;
	struct watched *v;
	size_t n;
	uint64_t looked_ns;
	uint64_t burst_ns; /* when the present burst began; 0 if there is none */
	/* when a sparing watch last began a burst; 0 before the first one */
	uint64_t spared_ns;
	uint64_t pause_ns;
	unsigned int sweeps, looks;
	uint64_t reads, sleeps;
};

uint64_t bb_live_next_pause(uint64_t pause_ns, bool shared)
{
	if (shared)
		return pause_ns < 2 * SHORTEST_NS ? 0 : pause_ns / 2;
	/* a burst goes on until the next look, because one good sweep proves little */
	if (!pause_ns)
		return 0;
	pause_ns += pause_ns / 16;
	return pause_ns < LONGEST_NS ? pause_ns : LONGEST_NS;
}

static void forget(struct watched *w)
{
	bb_close(&w->reader.prog_fd);
	bb_live_windows__done(&w->windows);
}

static int say_unreadable(const struct watched *w, int rc, struct bb_err *err)
{
	return rc ? bb_fail(err, rc, "cannot read the counters of program '%s' (id %u): %m",
			    w->program.name, w->program.id)
		  : 0;
}

static int read_counters(struct bb_live_watch *l, struct watched *w, struct bb_prog_stats *ret_now)
{
	l->reads++;
	return bb_stats_reader__info(&w->reader, ret_now);
}

static void keep(const struct bb_live_watch *l, struct watched *w, const struct bb_prog_stats *now)
{
	w->last = *now;
	w->reads = l->reads;
	w->sleeps = l->sleeps;
	if (bb_own_runs__any(&w->own))
		w->last_at_ns = bb_now_ns();
}

/* Leaves the time since the last reading out of the period of each program of which we cause runs.
 * We did more than read and sleep in this time, so our share of the runs is unknown. */
static int skip_stretches(struct bb_live_watch *l, struct bb_err *err)
{
	for (size_t i = 0; i < l->n; i++) {
		struct watched *w = &l->v[i];
		struct bb_prog_stats now;

		if (w->until_ns || !bb_own_runs__any(&w->own))
			continue;
		int rc = read_counters(l, w, &now);
		if (rc)
			return say_unreadable(w, rc, err);
		w->first.run_cnt += now.run_cnt - w->last.run_cnt;
		w->first.run_time_ns += now.run_time_ns - w->last.run_time_ns;
		w->since_ns += bb_now_ns() - w->last_at_ns;
		keep(l, w, &now);
	}
	return 0;
}

/* Finds out which of the program's runs we cause ourselves. It must be called again and again,
 * because the program may be attached to another hook. Keeps the last answer if the new one is
 * unclear. Drops the figures of this period if the answer changed. */
static int find_own(struct watched *w)
{
	struct bb_own_runs before = w->own;
	int rc = 0;

	w->own = (struct bb_own_runs){0};
	if (!w->is_apart)
		rc = bb_own_runs__find(&w->reader, &w->own);
	w->is_apart = false;
	if (w->own.unclear && bb_own_runs__any(&before))
		w->own = before;
	if (rc || (before.by_read == w->own.by_read && before.by_sleep == w->own.by_sleep &&
		   before.unclear == w->own.unclear))
		return rc;
	w->share.unclear = true;
	bb_live_windows__done(&w->windows);
	w->last_at_ns = bb_now_ns();
	return 0;
}

/* Reads the counters of all programs, and adds the windows since the last readings to w->windows.
 * If our readings or sleeps cause runs of a program, adds its window only to w->share, because the
 * time of our own runs in it is unknown. Sets *ret_shared if a window has several runs. If `whole`
 * is false, reads idle programs only in one of IDLE_EVERY sweeps. */
static int sweep(struct bb_live_watch *l, bool whole, bool *ret_shared, struct bb_err *err)
{
	for (size_t i = 0; i < l->n; i++) {
		struct watched *w = &l->v[i];
		struct bb_prog_stats now, window;

		if (w->until_ns || (!whole && w->idle && (l->sweeps + i) % IDLE_EVERY))
			continue;
		int rc = read_counters(l, w, &now);
		if (rc)
			return say_unreadable(w, rc, err);
		window = bb_prog_stats__since(&now, &w->last);
		w->is_apart |= !window.run_cnt && !window.recursion_misses &&
			       l->sleeps != w->sleeps;
		if (bb_own_runs__any(&w->own)) {
			bb_own_share__add(&w->share, &window,
					  (l->reads - w->reads) * w->own.by_read +
						  (l->sleeps - w->sleeps) * w->own.by_sleep);
		} else {
			if (window.run_cnt)
				bb_live_windows__add(&w->windows, window.run_cnt,
						     window.run_time_ns);
			*ret_shared |= window.run_cnt > 1;
		}
		w->idle &= !window.run_cnt;
		keep(l, w, &now);
	}
	l->sweeps += !whole;
	return 0;
}

static int add(struct bb_live_watch *l, uint32_t id, struct bb_err *err)
{
	int fd, rc = bb_loaded__open(id, &fd, err);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	struct watched *w = bb_append(&l->v, &l->n, sizeof(*w));
	*w = (struct watched){.reader = {.prog_fd = fd, .fdinfo_fd = -1}};
	rc = bb_loaded__read(fd, &w->program, err);
	if (!rc) {
		rc = read_counters(l, w, &w->first);
		if (!rc)
			rc = bb_own_runs__find(&w->reader, &w->own);
		say_unreadable(w, rc, err);
	}
	if (rc) {
		forget(w);
		l->n--;
		return rc;
	}
	keep(l, w, &w->first);
	w->since_ns = bb_now_ns();
	return 0;
}

static int look_again(struct bb_live_watch *l, struct bb_err *err)
{
	bool shared = false;
	uint32_t id = 0;
	/* Ends all windows first, because the code below does more than read and sleep. It also
	 * closes the descriptors, which unloads programs that only we hold. */
	int rc = sweep(l, true, &shared, err);

	for (size_t i = 0; !rc && i < l->n; i++) {
		struct watched *w = &l->v[i];
		bool asks = !l->filter.sparing || !((l->looks + i) % ASK_EVERY);

		if (w->until_ns)
			continue;
		w->idle = w->last.run_cnt == w->looked_cnt;
		w->looked_cnt = w->last.run_cnt;
		bb_close(&w->reader.prog_fd);
		rc = bb_loaded__open(w->program.id, &w->reader.prog_fd, err);
		if (rc == -ENOENT) {
			w->reader.prog_fd = -1;
			w->until_ns = bb_now_ns();
			rc = 0;
		} else if (!rc && asks) {
			rc = say_unreadable(w, find_own(w), err);
		}
	}
	l->looks++;
	while (!rc) {
		rc = bb_loaded__next(id, &id, err);
		if (!rc && !BB_ANY(l->v, l->n, it->program.id == id) &&
		    (!l->filter.wants || l->filter.wants(l->filter.arg, id)))
			rc = add(l, id, err);
	}
	l->looked_ns = bb_now_ns();
	if (!l->pause_ns) /* ends the burst (a new one begins if windows still have several runs) */
		l->pause_ns = SHORTEST_NS;
	l->burst_ns = 0;
	return rc && rc != -ENOENT ? rc : skip_stretches(l, err);
}

static void wait_ns(struct bb_live_watch *l, uint64_t ns)
{
	struct timespec t = {.tv_nsec = (long)ns}; /* ns is less than a second */

	l->sleeps++;
	nanosleep(&t, NULL);
}

/* Waits until the next sweep. The pause gets shorter or ends if `shared` (a window had several
 * runs). After BURST_NS without pauses, sweeps with pauses for REST_NS. */
static int rest(struct bb_live_watch *l, bool shared, struct bb_err *err)
{
	int rc = 0;

	l->pause_ns = bb_live_next_pause(l->pause_ns, shared);
	if (l->pause_ns) {
		wait_ns(l, l->pause_ns);
		return 0;
	}
	if (!l->burst_ns)
		l->burst_ns = bb_now_ns();
	if (bb_now_ns() - l->burst_ns < BURST_NS)
		return 0;
	uint64_t began_ns = bb_now_ns();
	while (!rc && bb_now_ns() - began_ns < REST_NS) {
		wait_ns(l, LONGEST_NS);
		rc = sweep(l, false, &shared, err);
	}
	l->burst_ns = bb_now_ns();
	return rc;
}

/* Makes the next burst of a sparing watch if it is due, else sleeps for at most `seconds`. Sleeps
 * between the burst's sweeps, to see whether programs run without us. */
static int turn_sparingly(struct bb_live_watch *l, double seconds, struct bb_err *err)
{
	uint64_t since_ns = bb_now_ns() - l->spared_ns, began_ns;
	uint64_t left_ns = since_ns < SPARING_NS ? SPARING_NS - since_ns : 0;
	bool shared = false;

	if (left_ns) {
		left_ns = (double)left_ns < seconds * 1e9 ? left_ns : (uint64_t)(seconds * 1e9);
		wait_ns(l, left_ns < SPARING_NS ? left_ns : SPARING_NS - 1);
		return 0;
	}
	l->spared_ns = bb_now_ns();
	int rc = look_again(l, err);
	for (began_ns = bb_now_ns(); !rc && bb_now_ns() - began_ns < SPARING_BURST_NS;) {
		rc = sweep(l, false, &shared, err);
		wait_ns(l, SHORTEST_NS);
	}
	return rc;
}

int bb_live_watch__wait(struct bb_live_watch *l, double seconds, struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns();
	int rc = skip_stretches(l, err);

	while (!rc && bb_seconds_since(began_ns) < seconds) {
		bool shared = false;

		if (bb_stop_signal)
			return bb_fail_stopped(err, "", "");
		if (l->filter.sparing) {
			rc = turn_sparingly(l, seconds - bb_seconds_since(began_ns), err);
			continue;
		}
		rc = sweep(l, false, &shared, err);
		if (!rc && bb_now_ns() - l->looked_ns >= LOOK_AGAIN_NS)
			rc = look_again(l, err);
		if (!rc)
			rc = rest(l, shared, err);
	}
	return rc;
}

int bb_live_watch__snapshot(struct bb_live_watch *l, struct bb_live_row **ret_rows, size_t *ret_n,
			    struct bb_err *err)
{
	/* sweep() is enough for a sparing watch that has just looked */
	bool shared = false, is_fresh = bb_now_ns() - l->looked_ns < SPARING_NS / 2;
	int rc = l->filter.sparing && is_fresh ? sweep(l, true, &shared, err) : look_again(l, err);
	uint64_t now_ns = bb_now_ns();
	size_t n = l->n;

	if (rc)
		return rc;
	struct bb_live_row *rows = bb_calloc(n ? n : 1, sizeof(*rows));
	l->n = 0;
	for (size_t i = 0; i < n; i++) {
		struct watched *w = &l->v[i];
		uint64_t until_ns = w->until_ns ? w->until_ns : now_ns;

		rows[i] = (struct bb_live_row){.program = w->program, .gone = w->until_ns};
		bb_live_row__count(&rows[i], &w->first, &w->last,
				   (double)(until_ns - w->since_ns) * 1e-9);
		if (bb_own_runs__any(&w->own) || w->share.unclear)
			take_out(&rows[i], &w->own, &w->share);
		bb_live_row__distribute(&rows[i], &w->windows);
		bb_time_buckets__add(&w->single, &w->windows.means[0]);
		rows[i].single = w->single;
		if (rows[i].mean_of) {
			struct bb_hist *means = &w->windows.means[rows[i].mean_of - 1];

			rows[i].samples = *means;
			*means = (struct bb_hist){0};
		}
		bb_live_windows__done(&w->windows);
		if (w->until_ns)
			continue;
		w->first = w->last;
		w->since_ns = now_ns;
		w->share = (struct bb_own_share){0};
		l->v[l->n++] = *w;
	}
	*ret_rows = rows;
	*ret_n = n;
	return 0;
}

void bb_live_rows__free(struct bb_live_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bb_hist_done(&rows[i].samples);
	free(rows);
}

int bb_live_watch__open(const struct bb_live_filter *filter, struct bb_live_watch **ret_live,
			struct bb_err *err)
{
	struct bb_live_watch *l = bb_calloc(1, sizeof(*l));

	l->filter = *filter;
	l->pause_ns = 4 * SHORTEST_NS;
	int rc = look_again(l, err);
	if (rc)
		bb_live_watch__close(l);
	else
		*ret_live = l;
	return rc;
}

void bb_live_watch__close(struct bb_live_watch *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++)
		forget(&l->v[i]);
	free(l->v);
	free(l);
}
