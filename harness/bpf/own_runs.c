/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/own_runs.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"

#define TRIES 64u
#define FEWEST (TRIES / 4) /* tries that must have shown the least, or it may be chance */

/* What happened between two readings, many times. */
struct tries {
	uint64_t runs[TRIES], ns[TRIES];
	size_t n;
	uint64_t least; /* runs of any */
	size_t n_least; /* how many had no more */
};

static void sleep_shortly(void)
{
	const struct timespec t = {.tv_nsec = 1};

	nanosleep(&t, NULL);
}

static void spin(uint64_t ns)
{
	uint64_t began_ns = bb_now_ns();

	while (bb_now_ns() - began_ns < ns)
		;
}

static void note(struct tries *t, const struct bb_prog_stats *a, const struct bb_prog_stats *b)
{
	uint64_t runs = b->run_cnt - a->run_cnt;

	if (!t->n || runs < t->least) {
		t->least = runs;
		t->n_least = 0;
	}
	t->n_least += runs == t->least;
	t->runs[t->n] = runs;
	t->ns[t->n++] = b->run_time_ns - a->run_time_ns;
}

/* One window in which we do something, a reading besides the last or a sleep; or spin as long. */
static int try_once(const struct bb_stats_reader *r, bool sleeps, uint64_t spin_ns, struct tries *t,
		    uint64_t *ret_took_ns)
{
	struct bb_prog_stats before, between, after;
	uint64_t began_ns;
	int rc = bb_stats_reader__info(r, &before);

	if (rc)
		return rc;
	began_ns = bb_now_ns();
	if (spin_ns)
		spin(spin_ns);
	else if (sleeps)
		sleep_shortly();
	else
		rc = bb_stats_reader__info(r, &between);
	*ret_took_ns = bb_now_ns() - began_ns;
	if (!rc)
		rc = bb_stats_reader__info(r, &after);
	if (!rc)
		note(t, &before, &after);
	return rc;
}

static bool is_certain(const struct tries *t)
{
	return t->n_least >= FEWEST;
}

/*
 * How many runs the doing causes: the least of the windows with it, less that of the windows that
 * are as long without it. *ret_idle: of those without it.
 */
static int find_least(const struct bb_stats_reader *r, bool sleeps, struct tries *idle,
		      struct tries *doing)
{
	int rc = 0;

	*idle = *doing = (struct tries){0};
	while (!rc && doing->n < TRIES) {
		uint64_t took_ns, spun_ns;

		rc = try_once(r, sleeps, 0, doing, &took_ns);
		if (!rc && !doing->least) /* whatever we do, it does not run by it */
			return 0;
		if (!rc)
			rc = try_once(r, sleeps, took_ns ? took_ns : 1, idle, &spun_ns);
	}
	return rc;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median cost of a run, of the windows that held only ours. */
static double cost_of(const struct tries *t)
{
	double ns[TRIES];
	size_t n = 0;

	for (size_t i = 0; t->least && i < t->n; i++)
		if (t->runs[i] == t->least)
			ns[n++] = (double)t->ns[i] / (double)t->least;
	qsort(ns, n, sizeof(*ns), by_value);
	return n ? ns[n / 2] : (double)NAN;
}

/* A window that ends in a reading has the runs of that reading in it, too. */
static int find_by_read(const struct bb_stats_reader *r, struct bb_own_runs *own)
{
	struct tries idle, doing;
	int rc = find_least(r, false, &idle, &doing);

	if (rc || !idle.least || doing.least <= idle.least) /* its own load, not ours */
		return rc;
	own->by_read = (uint32_t)(doing.least - idle.least);
	own->ns = cost_of(&doing);
	own->unclear = idle.least != own->by_read || !is_certain(&idle) || !is_certain(&doing);
	return 0;
}

/*
 * A program that runs in each of these windows by itself is taken to have none by our sleeps: there
 * are a few thousand of them a second at the most, and such a program has a hundred thousand runs.
 */
static int find_by_sleep(const struct bb_stats_reader *r, struct bb_own_runs *own)
{
	struct tries idle, doing;
	int slack_ns = prctl(PR_GET_TIMERSLACK), rc;

	prctl(PR_SET_TIMERSLACK, 1UL);
	rc = find_least(r, true, &idle, &doing);
	prctl(PR_SET_TIMERSLACK, slack_ns > 0 ? (unsigned long)slack_ns : 0UL);
	if (rc || doing.least <= own->by_read || doing.least <= idle.least)
		return rc;
	if (idle.least == own->by_read && is_certain(&idle)) {
		own->by_sleep = (uint32_t)(doing.least - idle.least);
		own->unclear |= !is_certain(&doing);
	} else {
		own->unclear |= own->by_read > 0;
	}
	return 0;
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

void bb_own_share__add(struct bb_own_share *s, uint64_t runs, uint64_t ns, uint64_t own)
{
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
