/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/own_runs.h"

#define TRIES 512u
/* The smallest number of runs in a window is certain if at least FEWEST windows have it. */
#define FEWEST 16u
/* most time of the search, ns; one window may take milliseconds if others use our CPU */
#define MOST_NS 10000000u

/* Results of many windows. A window is the time between two readings of the program's counters. */
struct tries {
	/* runs in each window and their time; ns is UINT64_MAX if the kernel did not time one of
	 * them */
	uint64_t runs[TRIES], ns[TRIES];
	size_t n;
	uint64_t least;
	size_t n_least;
};

enum act {
	ACT_READ,
	ACT_SLEEP,
	/* a sleep until a time in the past, which returns at once */
	ACT_SLEEP_OVER,
};

/* Measures one window with the action, or with a busy wait if spin_ns is not 0. *ret_took_ns is its
 * time. */
static int try_once(const struct bb_stats_reader *r, enum act what, uint64_t spin_ns,
		    struct tries *t, uint64_t *ret_took_ns)
{
	static const struct timespec shortly = {.tv_nsec = 1};
	struct bb_prog_stats before, after, window, unused;
	uint64_t began_ns, runs;
	int rc = bb_stats_reader__info(r, &before);

	if (rc)
		return rc;
	began_ns = bb_now_ns();
	while (spin_ns && bb_now_ns() - began_ns < spin_ns)
		;
	/* in the kernel, clock_nanosleep() is the same as nanosleep(), which `live` calls */
	if (!spin_ns && what == ACT_READ)
		rc = bb_stats_reader__info(r, &unused);
	else if (!spin_ns)
		clock_nanosleep(CLOCK_MONOTONIC, what == ACT_SLEEP_OVER ? TIMER_ABSTIME : 0,
				&shortly, NULL);
	*ret_took_ns = bb_now_ns() - began_ns;
	if (!rc)
		rc = bb_stats_reader__info(r, &after);
	if (rc)
		return rc;
	window = bb_prog_stats__since(&after, &before);
	/* a run that preempts another run of the program is not in run_cnt, but we count it */
	runs = window.run_cnt + window.recursion_misses;
	if (!t->n || runs < t->least) {
		t->least = runs;
		t->n_least = 0;
	}
	t->n_least += runs == t->least;
	t->runs[t->n] = runs;
	t->ns[t->n++] = window.recursion_misses ? UINT64_MAX : window.run_time_ns;
	return 0;
}

static bool is_certain(const struct tries *t)
{
	return t->n_least >= FEWEST;
}

/* Measures windows with the action and windows with an equally long busy wait, in turns. Ends when
 * the smallest number of runs is certain for each of the two kinds. */
static int find_least(const struct bb_stats_reader *r, enum act what, struct tries *idle,
		      struct tries *doing)
{
	uint64_t began_ns = bb_now_ns();
	int rc = 0;

	while (!rc && doing->n < TRIES && bb_now_ns() - began_ns < MOST_NS) {
		uint64_t took_ns, spun_ns;

		rc = try_once(r, what, 0, doing, &took_ns);
		if (!rc && !doing->least) /* a window without runs shows that the action causes
					   * none */
			return 0;
		if (!rc)
			rc = try_once(r, what, took_ns ? took_ns : 1, idle, &spun_ns);
		if (!rc && is_certain(idle) && is_certain(doing) && doing->n >= 2 * FEWEST)
			return 0;
	}
	return rc;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return BB_ORDER(x, y);
}

/* Finds how many runs one reading of the counters causes, and their median time. A window includes
 * the runs that the reading at its end causes. Only windows without other runs give a time. */
static int find_by_read(const struct bb_stats_reader *r, struct bb_own_runs *own)
{
	struct tries idle = {0}, doing = {0};
	int rc = find_least(r, ACT_READ, &idle, &doing);
	double ns[TRIES];
	size_t n = 0;

	/* our reading causes no run, so all runs are caused by other processes */
	if (rc || !idle.least || doing.least <= idle.least)
		return rc;
	own->by_read = (uint32_t)(doing.least - idle.least);
	for (size_t i = 0; i < doing.n; i++)
		if (doing.runs[i] == doing.least && doing.ns[i] != UINT64_MAX)
			ns[n++] = (double)doing.ns[i] / (double)doing.least;
	qsort(ns, n, sizeof(*ns), by_value);
	own->ns = n ? ns[n / 2] : (double)NAN;
	own->unclear = idle.least != own->by_read || !is_certain(&idle) || !is_certain(&doing);
	return 0;
}

static int try_sleep(const struct bb_stats_reader *r, enum act what, struct bb_own_runs *own,
		     bool *ret_certain)
{
	struct tries idle = {0}, doing = {0};
	int rc = find_least(r, what, &idle, &doing);

	if (rc)
		return rc;
	own->by_sleep = doing.least > idle.least ? (uint32_t)(doing.least - idle.least) : 0;
	*ret_certain = doing.least <= own->by_read ||
		       (idle.least == own->by_read && is_certain(&idle) && is_certain(&doing));
	return 0;
}

/* Finds how many runs one sleep causes. While we sleep, other processes on our CPU may run the
 * program, and the result may not be certain. If our readings run the program, we then try a sleep
 * that returns at once. If they do not, we assume that sleeps cause no runs. That error is small,
 * because such a program runs a hundred thousand times a second and we sleep a few thousand times
 * at most. */
static int find_by_sleep(const struct bb_stats_reader *r, struct bb_own_runs *own)
{
	int slack_ns = prctl(PR_GET_TIMERSLACK), rc;
	bool certain = false;

	prctl(PR_SET_TIMERSLACK, 1UL);
	rc = try_sleep(r, ACT_SLEEP, own, &certain);
	prctl(PR_SET_TIMERSLACK, slack_ns > 0 ? (unsigned long)slack_ns : 0UL);
	if (!rc && !certain && own->by_read)
		rc = try_sleep(r, ACT_SLEEP_OVER, own, &certain);
	if (!certain && !own->by_read)
		own->by_sleep = 0;
	own->unclear |= !certain && own->by_read;
	return rc;
}

int bb_own_runs__find(const struct bb_stats_reader *r, struct bb_own_runs *ret_own)
{
	struct bb_own_runs own = {.ns = NAN};
	int rc = find_by_read(r, &own);

	if (!rc)
		rc = find_by_sleep(r, &own);
	if (!rc)
		*ret_own = own;
	return rc;
}

void bb_own_share__add(struct bb_own_share *s, const struct bb_prog_stats *window, uint64_t own)
{
	uint64_t runs = window->run_cnt, ns = window->run_time_ns;

	own = bb_own_runs__left(window, own);
	if (runs < own) {
		s->unclear = true;
	} else if (runs == own) {
		s->own += own;
		s->own_ns += ns;
	} else {
		s->others += runs - own;
		s->mixed_own += own;
		s->mixed_ns += ns;
	}
}

double bb_own_share__others_ns(const struct bb_own_share *s, double own_ns)
{
	double each_ns = s->own ? (double)s->own_ns / (double)s->own : own_ns, ns;

	if (!s->others || (s->mixed_own && isnan(each_ns)))
		return NAN;
	ns = (double)s->mixed_ns - (s->mixed_own ? (double)s->mixed_own * each_ns : 0);
	return ns > 0 ? ns : (double)NAN;
}
