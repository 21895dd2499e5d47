/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/processes.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/give_way.h"
#include "run/round.h"
#include "store/run_json.h"

#define LOADS_EACH 4u /* as few as make opening a small part of the time */

/* Opening the programs anew may take as long as so many times their loads. */
#define OPEN_MOST 2.0

uint32_t bb_processes_first_loads(const struct bb_plan *plan, const struct bb_run_opts *opts)
{
	bool by_line = false;

	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct bb_drive_kind *kind = plan->cases[i].drive->kind;

		by_line |= kind->by_line;
		if (!kind->by_line && !kind->counts)
			return plan->loads;
	}
	/* two programs are compared in the same rounds, on the same maps */
	return by_line && !opts->share_maps && plan->loads >= 2 * LOADS_EACH ? LOADS_EACH
									     : plan->loads;
}

bool bb_processes_are_worth(const struct bb_plan *plan, double open_s, double loads_s)
{
	double others = ceil((double)plan->loads / LOADS_EACH) - 1;

	return open_s <= OPEN_MOST * loads_s && others * (open_s + loads_s) <= bb_deadline_left_s();
}

/* --- a process beside the first one --- */

/* The plan of `loads` of them: what was counted is counted. */
static int plan_part(const struct bb_plan *whole, uint32_t loads, struct bb_plan *ret_plan)
{
	size_t *now = calloc(whole->n_cases + 1, sizeof(*now)); /* where a case is in the part */
	struct bb_plan p = {.scenario = whole->scenario, .loads = loads};

	p.cases = calloc(whole->n_cases + 1, sizeof(*p.cases));
	if (!now || !p.cases) {
		free(now);
		free(p.cases);
		return -ENOMEM;
	}
	for (size_t i = 0; i < whole->n_cases; i++) {
		struct bb_plan_case *c = &p.cases[p.n_cases];

		if (whole->cases[i].drive->kind->counts)
			continue;
		now[i] = p.n_cases++;
		*c = whole->cases[i];
		c->samples = bb_round__samples(c) * loads;
		c->loads = loads;
	}
	for (size_t i = 0; i < p.n_cases; i++)
		if (p.cases[i].floor != BB_NO_CASE)
			p.cases[i].floor = now[p.cases[i].floor];
	free(now);
	*ret_plan = p;
	return 0;
}

/* Progress of the whole run. */
struct further {
	const struct bb_progress *of;
	double done, total;
};

static void update(void *arg, double done, double total, const char *what)
{
	const struct further *f = arg;

	(void)total;
	f->of->update(f->of->arg, f->done + done, f->total, what);
}

struct part {
	const struct bb_run *of;
	bb_run_fn *run;
	uint32_t first, loads;
	double budget_s;
};

/* Measure, and write the report, or the message of a failure behind a NUL, into `out`. */
static int measure_part(void *arg, int out)
{
	const struct part *p = arg;
	const struct bb_run *r = p->of;
	struct further further = {r->session.opts->progress, r->done, r->total};
	const struct bb_progress progress = {update, &further};
	struct bb_run_opts opts = *r->session.opts;
	struct bb_report *part = bb_report__new();
	struct bb_plan plan = {0};
	struct bb_err err = {0};
	FILE *file = fdopen(out, "w");
	int rc = !part || !file || plan_part(r->session.plan, p->loads, &plan) ? -ENOMEM : 0;

	opts.seed += p->first; /* other orders */
	opts.driver.seed += p->first;
	opts.budget_s = isinf(p->budget_s) ? 0 : fmax(p->budget_s, 1e-3);
	opts.progress = opts.progress ? &progress : NULL;
	opts.before = r;
	bb_run_ahead_of_others();
	if (!rc) {
		part->id = strdup("part");
		part->command = strdup("");
		part->started = strdup("");
		part->fingerprint = r->report->fingerprint;
		rc = p->run(&plan, &opts, part, &err);
	}
	if (!rc)
		rc = bb_report__summarise(part);
	if (!rc)
		rc = bb_run_json__write(part, file);
	if (rc && file)
		fprintf(file, "%c%s", 0, err.code ? err.msg : strerror(-rc));
	return !file || fclose(file);
}

/* --- here --- */

/* All that the child writes, until it ends; after a signal it is told to. NULL: out of memory. */
static char *hear(pid_t child, int in, size_t *ret_len)
{
	char *text = NULL, buf[65536];
	FILE *into = open_memstream(&text, ret_len);
	bool is_told = false;
	ssize_t n;

	while (into && ((n = read(in, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR))) {
		if (n > 0)
			fwrite(buf, 1, (size_t)n, into);
		if (bb_stop_signal && !is_told)
			is_told = !kill(child, bb_stop_signal);
	}
	return into && !fclose(into) ? text : NULL;
}

/* A process of its own, and what it wrote. */
static int run_part(struct part *p, char **ret_text, size_t *ret_len, struct bb_err *err)
{
	static const struct bb_child_rules rules = {.link = BB_LINK_FROM_CHILD};
	struct bb_child c;
	int rc;

	fflush(NULL);
	rc = bb_child__start(&rules, measure_part, p, &c);
	if (rc)
		return bb_fail(err, rc, "fork: %s", strerror(-rc));
	*ret_text = hear(c.pid, c.fd, ret_len);
	close(c.fd);
	bb_wait_for(c.pid);
	return *ret_text ? 0 : bb_fail_nomem(err);
}

static int add_skip(struct bb_run *r, uint32_t first, uint32_t loads, const char *why)
{
	char what[600];

	snprintf(what, sizeof(what), "%s/loads %u..%u", r->session.plan->scenario->name, first + 1,
		 first + loads);
	return bb_report__add_skip(r->report, what, why);
}

/* Places that it has had, for the next. */
static void count_places(struct bb_run *r, const struct bb_report *part)
{
	const struct bb_scenario *s = r->session.plan->scenario;

	for (size_t v = 0; v < s->n_variants; v++)
		for (size_t i = 0; i < part->n_cases; i++) {
			const struct bb_case *c = &part->cases[i];

			if (strcmp(c->variant, s->variants[v].name))
				continue;
			for (size_t k = 0; k < c->n_series; k++)
				if (c->series[k].jit_mod64 >= 0)
					r->places[v].taken[c->series[k].jit_mod64]++;
			break; /* its cases share the loads */
		}
}

static int take_part(struct bb_run *r, uint32_t first, uint32_t loads, char *text, size_t len,
		     struct bb_err *err)
{
	FILE *in = len && text[0] ? fmemopen(text, len, "r") : NULL;
	const char *why = "its process ended before it was done";
	struct bb_report *part = NULL;
	struct bb_err other = {0};
	int rc = 0;

	if (in) {
		rc = bb_run_json__read(in, "another process", &part, &other);
		fclose(in);
		why = other.msg;
	} else if (len > 1) {
		why = text + 1;
	}
	if (!part || rc)
		return bb_stop_signal ? 0 : add_skip(r, first, loads, why) ? bb_fail_nomem(err) : 0;
	count_places(r, part);
	rc = bb_report__take_loads(r->report, part, first);
	if (rc == -EINVAL)
		rc = add_skip(r, first, loads, "their runs take another path than those before");
	else if (!rc && part->n_cases && part->cases[0].n_series < loads)
		rc = bb_left_out__loads(r, first + (uint32_t)part->cases[0].n_series, first + loads,
					err);
	bb_report__free(part);
	return rc ? bb_fail_nomem(err) : 0;
}

int bb_processes__measure(struct bb_run *r, uint32_t first, bb_run_fn *run, struct bb_err *err)
{
	uint32_t all = r->session.plan->loads, each = first;
	int rc = 0;

	for (uint32_t load = first; !rc && load < all; load += each) {
		uint32_t loads = all - load < each ? all - load : each;
		struct part part = {r, run, load, loads,
				    bb_deadline_left_s() * loads / (all - load)};
		char *text = NULL;
		size_t len = 0;

		if (bb_must_end()) {
			rc = bb_stop_signal ? -EINTR : bb_left_out__loads(r, load, all, err);
			break;
		}
		rc = run_part(&part, &text, &len, err);
		if (!rc)
			rc = take_part(r, load, loads, text, len, err);
		free(text);
		r->done += (r->total - r->done) * loads / (all - load);
	}
	return !rc && bb_stop_signal ? -EINTR : rc;
}
