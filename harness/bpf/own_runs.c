/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/own_runs.h"

#define TRIES 512u
/* The smallest number of runs in a window counts as certain if at least FEWEST windows have it. */
#define FEWEST 16u
/* limit: time of the search, ns; one window may take milliseconds if others use our CPU */
#define MOST_NS 10000000u

/* The runs of many windows. A window is the time between two readings of the counters. */
struct tries {
	/* number and time of the runs in each window; ns is UINT64_MAX if the kernel did not time
	 * one of them */
	uint64_t runs[TRIES], ns[TRIES];
	size_t n;
	uint64_t least; /* smallest number of runs in a window */
	size_t n_least; /* number of windows with `least` runs */
};

/* The action in a window, between its two readings. */
enum act {
	ACT_READ,
	ACT_SLEEP,
	/* a sleep until a time in the past, so that the system call returns at once */
	ACT_SLEEP_OVER,
};

static int act(enum act what, const struct bb_stats_reader *r)
{
	static const struct timespec shortly = {.tv_nsec = 1};
	struct bb_prog_stats unused;

	if (what == ACT_READ)
		return bb_stats_reader__info(r, &unused);
	/* to the kernel, this call is the same as nanosleep(), which `live` calls */
	clock_nanosleep(CLOCK_MONOTONIC, what == ACT_SLEEP_OVER ? TIMER_ABSTIME : 0, &shortly,
			NULL);
	return 0;
}

/* Measures one window. The action is done within it; if spin_ns is not 0, a busy wait of spin_ns is
 * done instead. *ret_took_ns receives the time of the action or wait. */
static int try_once(const struct bb_stats_reader *r, enum act what, uint64_t spin_ns,
		    struct tries *t, uint64_t *ret_took_ns)
{
	struct bb_prog_stats before, after, window;
	uint64_t began_ns, runs;
	int rc = bb_stats_reader__info(r, &before);

	if (rc)
		return rc;
	began_ns = bb_now_ns();
	while (spin_ns && bb_now_ns() - began_ns < spin_ns)
		;
	if (!spin_ns)
		rc = act(what, r);
	*ret_took_ns = bb_now_ns() - began_ns;
	if (!rc)
		rc = bb_stats_reader__info(r, &after);
	if (rc)
		return rc;
	window = bb_prog_stats__since(&after, &before);
	/* the kernel does not add a run that preempts another run of the program to run_cnt; we
	 * count it all the same */
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

/* Measures windows with the action and windows with a busy wait of the same length, in turns, until
 * the smallest number of runs is certain for both kinds of windows. */
static int find_least(const struct bb_stats_reader *r, enum act what, struct tries *idle,
		      struct tries *doing)
{
	uint64_t began_ns = bb_now_ns();
	int rc = 0;

	while (!rc && doing->n < TRIES && bb_now_ns() - began_ns < MOST_NS) {
		uint64_t took_ns, spun_ns;

		rc = try_once(r, what, 0, doing, &took_ns);
		if (!rc && !doing->least) /* no run in such a window: the action causes none */
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

	return (x > y) - (x < y);
}

/* Finds how many runs one reading of the counters causes, and the time of one run. A window
 * includes the runs that the reading at its end causes. The time is the median over windows that
 * have only our runs. */
static int find_by_read(const struct bb_stats_reader *r, struct bb_own_runs *own)
{
	struct tries idle = {0}, doing = {0};
	int rc = find_least(r, ACT_READ, &idle, &doing);
	double ns[TRIES];
	size_t n = 0;

	/* our reading causes no run: all runs are caused by other processes */
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

/*
 * Finds how many runs one sleep causes. While we sleep, other processes run on our CPU and may run
 * the program by system calls. If the result is therefore not certain, we try a sleep that returns
 * at once, which leaves other processes no time. That is done only if our readings run the program.
 * If they do not and the result is not certain, we assume that our sleeps cause no runs. The error
 * is small: we sleep a few thousand times a second at most, and such a program has a hundred
 * thousand runs a second.
 */
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
