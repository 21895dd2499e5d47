/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/runner.h"

#include "base/child.h"
#include "base/deadline.h"
#include "base/give_way.h"
#include "base/text.h"
#include "judge/diff.h"
#include "run/count.h"
#include "run/record.h"
#include "run/round.h"
#include "stats/loads.h"
#include "stats/quantile.h"
#include "store/run_json.h"

#define BATCH_MIN 100u

/* Time limits for loading programs until they have a wanted place in memory (PLACING), and for
 * waiting for a calm CPU (WAITING). The smaller of seconds and share of the time left applies. */
#define PLACING_MOST_S 2.0 /* for each program */
#define PLACING_SHARE 0.15 /* for all programs together */
#define WAITING_MOST_S 3.0
#define WAITING_SHARE 0.15

/* The time of a source line differs more between processes than between loads, because each process
 * gets other pages for maps, stacks and kernel tables. So a plan that only times lines is measured
 * by several processes, one after another. This process is the first one. It keeps its maps until
 * the end, so that the others get other pages. */
/* loads in each process (with fewer, opening the programs would take too much of the time) */
#define LOADS_EACH 4u
/* Other processes are used only if opening the programs takes at most this many times as long as
 * measuring the first process's loads. */
#define OPEN_MOST 2.0

/* Returns how many loads the first process measures, which is plan->loads if it measures all. */
static uint32_t first_loads(const struct bb_plan *plan, const struct bb_run_opts *opts)
{
	bool by_line = BB_ANY(plan->cases, plan->n_cases, it->drive->kind->by_line),
	     others = BB_ANY(plan->cases, plan->n_cases,
			     !it->drive->kind->by_line && !it->drive->kind->counts);

	/* compared programs need the same rounds and maps, and thus one process */
	return by_line && !others && !opts->share_maps && plan->loads >= 2 * LOADS_EACH
		       ? LOADS_EACH
		       : plan->loads;
}

/* Adds a skip for the loads `first` to `end` - 1, counted from 0. */
static void leave_out_loads(struct bb_run *r, uint32_t first, uint32_t end)
{
	char why[200];

	snprintf(why, sizeof(why),
		 "%u of %u loads did not fit the budget of %g s; a larger --budget narrows the "
		 "intervals",
		 end - first, r->session.plan->loads, r->session.opts->budget_s);
	bb_record__skip(r->session.report, why, "%s/loads %u..%u", r->session.plan->scenario->name,
			first + 1, end);
}

/* Counts the samples that a case got in the first `loads` loads, and those that the plan wants.
 * Counts ms instead for a drive that measures for a fixed time. */
static void count_samples(const struct bb_run *r, size_t planned, uint32_t loads,
			  uint64_t *ret_taken, uint64_t *ret_wanted)
{
	const struct bb_plan_case *c = &r->session.plan->cases[planned];
	const struct bb_case *k = bb_run__case(r, planned);
	uint64_t rounds = 0;
	double taken_s = 0;

	for (uint32_t load = 0; load < loads; load++)
		rounds += bb_plan_case__has_turn(r->session.plan, c, load);
	*ret_taken = 0;
	for (size_t i = 0; i < k->n_series; i++) {
		*ret_taken += k->series[i].fired;
		taken_s += k->series[i].elapsed_s;
	}
	*ret_wanted = rounds * bb_round__samples(c);
	/* a slice may be up to 1 ms too short, because it ends with its last window */
	if (c->seconds > 0) {
		*ret_taken = (uint64_t)(1e3 * taken_s + 1);
		*ret_wanted = (uint64_t)(1e3 * c->seconds / c->loads * (double)rounds);
	}
}

/* A case with at least this share of its samples gets no skip. */
#define FEW_MISSING 0.95

/* Adds skips for the samples that are missing in the first `loads` loads, and drops cases without
 * samples. Returns -ETIME if no case has samples. */
static int leave_out_samples(struct bb_run *r, uint32_t loads, struct bb_err *err)
{
	const struct bb_plan *plan = r->session.plan;
	double budget_s = r->session.opts->budget_s;
	const char *option = bb_run_opts__budget_option(r->session.opts);
	char why[200], *none = bb_asprintf("not measured within the budget of %g s, %s gives more",
					   budget_s, option);
	size_t n_none = 0;
	int rc = 0;

	snprintf(why, sizeof(why), "the budget of %g s holds no more; %s gives more", budget_s,
		 option);
	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct bb_plan_case *c = &plan->cases[i];
		struct bb_case *k = bb_run__case(r, i);
		uint64_t taken, wanted;

		if (!k)
			continue;
		count_samples(r, i, loads, &taken, &wanted);
		if ((double)taken >= FEW_MISSING * (double)wanted)
			continue;
		bb_case__drop_empty_series(k);
		if (!k->n_series)
			bb_add_words(&none, n_none++ ? ", " : ": ", "%s", c->name);
		else
			bb_record__skip(r->session.report, why, "%s: %llu of %llu %s", c->name,
					(unsigned long long)(wanted - taken),
					(unsigned long long)wanted,
					c->seconds > 0 ? "ms" : "samples");
	}
	/* one skip names all cases without a sample, because they are nowhere else in the report */
	if (n_none)
		bb_record__skip(r->session.report, none, "%s: %zu of %zu cases",
				plan->scenario->name, n_none, plan->n_cases);
	bb_report__drop_empty_cases(r->session.report);
	if (n_none && !bb_report__has_samples(r->session.report))
		rc = bb_fail(err, -ETIME,
			     "scenario '%s': the budget of %g s was used up before anything was "
			     "measured; %s gives more",
			     plan->scenario->name, budget_s, option);
	free(none);
	return rc;
}

static void add_cases(struct bb_run *r)
{
	const struct bb_session *ss = &r->session;
	const struct bb_plan *plan = ss->plan;

	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct bb_plan_case *c = &plan->cases[i];
		const struct bb_open_drive *d = &ss->drives[bb_session__drive(ss, c)];

		r->case_of[i] = SIZE_MAX;
		if (!bb_session__can_time(ss, c))
			continue;
		bb_record__case(r->session.report, plan, c, NULL, &r->case_of[i]);
		struct bb_case *k = bb_run__case(r, i);
		if (d->state->command)
			k->command = bb_strdup(d->state->command);
		bb_record__fired_by(k, d->driver, c, &ss->progs[bb_session__variant(ss, c)]);
		r->total += bb_round__expected_s(c) * c->loads;
	}
	for (size_t i = 0; i < plan->n_cases; i++) {
		size_t floor = plan->cases[i].floor;
		const struct bb_report *report = ss->report;

		if (floor == BB_NO_CASE || !bb_run__case(r, i))
			continue;
		const struct bb_case *f = bb_run__case(r, floor);
		if (!f && ss->opts->only) /* an earlier session may have measured the floor */
			f = bb_report__find_case(report, plan->cases[floor].name);
		if (f)
			bb_run__case(r, i)->floor = (size_t)(f - report->cases);
	}
}

/* Links the cases with the same drive and variant, because they share one attachment. Otherwise
 * each round would have to search for them among thousands of cases. */
static void link_cases(struct bb_run *r)
{
	const struct bb_plan *plan = r->session.plan;
	size_t n_variants = plan->scenario->n_variants;
	/* for each drive and variant: 1 + index of the last case so far, or 0 */
	size_t *last = bb_calloc(n_variants * plan->scenario->n_drives + 1, sizeof(*last));

	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct bb_plan_case *c = &plan->cases[i];
		size_t *l = &last[bb_session__drive(&r->session, c) * n_variants +
				  bb_session__variant(&r->session, c)];

		r->cases[i].first = *l ? r->cases[*l - 1].first : i;
		r->cases[i].next = BB_NO_CASE;
		if (*l)
			r->cases[*l - 1].next = i;
		*l = i + 1;
	}
	free(last);
}

/* Returns true if the case's samples depend on the program's place in memory and the CPU's speed.
 * Numbers of instructions do not. */
static bool is_placed(const struct bb_run *r, size_t planned)
{
	return !r->session.opts->driver.is_exact && bb_run__case(r, planned) &&
	       bb_round__is_placed(&r->session.plan->cases[planned]);
}

/* Finds the places of all programs in memory, and the speed of a calm CPU. A later process copies
 * both from the first. Sets the limit for waiting for a calm CPU. */
static int find_places(struct bb_run *r, struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	const struct bb_run *before = ss->opts->before;
	size_t n = ss->plan->scenario->n_variants;
	uint32_t all = (before ? before : r)->session.plan->loads;
	double left_s = bb_deadline_left_s(),
	       share = first_loads(ss->plan, ss->opts) / fmax(all, BB_DEFAULT_SLICES), most_s;
	int rc = 0;

	for (size_t v = 0; before && v < n; v++) {
		memcpy(ss->progs[v].seen_mod64, before->session.progs[v].seen_mod64,
		       sizeof(ss->progs[v].seen_mod64));
		r->places[v] = before->places[v];
		r->places[v].spent_s = 0;
	}
	/* takes many loads, so it is left out if there was no time to load each program once */
	for (size_t i = 0; !rc && !before && !ss->out_of_time && i < ss->plan->n_cases; i++) {
		size_t v = bb_session__variant(ss, &ss->plan->cases[i]);

		/* bb_stratified_mean() uses the shares of places only with more loads */
		if (ss->plan->cases[i].loads <= BB_STRATA_DF_LEAST)
			continue;
		if (is_placed(r, i) && ss->usable[v] && !(r->places[v].most_s > 0))
			rc = bb_placement__find(&r->places[v], &ss->progs[v], &ss->rng,
						fmin(PLACING_MOST_S,
						     PLACING_SHARE * left_s / (double)n),
						err);
	}
	/* Each process gets a share of the waiting time in proportion to its loads. A run of few
	 * loads is soon over, and waits less. */
	most_s = fmin(WAITING_MOST_S * share,
		      WAITING_SHARE * bb_deadline_left_s() * (before ? 1 : share));
	if (before)
		r->calm = (struct bb_calm){.best_ns = before->calm.best_ns, .most_s = most_s};
	else if (!ss->opts->driver.is_exact)
		bb_calm__begin(&r->calm, most_s);
	return rc;
}

/* A series does not count if its time to read a line of memory differs from the median of all loads
 * by more than this factor. */
#define EMPTIED_ALIKE 1.5

/* Marks series whose caches were emptied less or more than in other loads as not counted. */
static void judge_emptied(struct bb_case *c)
{
	double *line_ns = bb_calloc(c->n_series + 1, sizeof(*line_ns)), usual_ns;
	size_t n = 0;

	for (size_t i = 0; i < c->n_series; i++)
		if (!isnan(c->series[i].line_ns))
			line_ns[n++] = c->series[i].line_ns;
	usual_ns = n ? bb_median(line_ns, n) : NAN;
	for (size_t i = 0; i < c->n_series; i++) {
		struct bb_series *s = &c->series[i];

		if (s->line_ns > usual_ns * EMPTIED_ALIKE || s->line_ns < usual_ns / EMPTIED_ALIKE)
			bb_record__void(s,
					"its caches were warmer or colder than in the other "
					"loads: a read of memory took %.1f ns, in the median "
					"load %.1f",
					s->line_ns, usual_ns);
	}
	free(line_ns);
}

/* Stores in each series the share of random loads that get its place, as seen in all loads. */
static void note_shares(struct bb_run *r)
{
	const struct bb_session *ss = &r->session;

	for (size_t i = 0; i < ss->plan->n_cases; i++) {
		size_t variant = bb_session__variant(ss, &ss->plan->cases[i]);
		struct bb_case *k = is_placed(r, i) ? bb_run__case(r, i) : NULL;

		for (size_t s = 0; k && s < k->n_series; s++)
			k->series[s].jit_share = bb_placement_share(&ss->progs[variant],
								    k->series[s].jit_mod64);
	}
}

static int open_references(struct bb_run *r, struct bb_err *err)
{
	bool needed = false;

	for (size_t i = 0; i < r->session.plan->n_cases; i++)
		needed |= is_placed(r, i);
	if (!needed)
		return 0;
	int rc = bb_unless_broken_off(
		bb_references__open(r->session.opts->driver.object_dir, &r->references, err));
	if (rc == -ETIME) /* not an error: the rounds report what was left out */
		return 0;
	if (rc != -ENOTSUP)
		return rc;
	bb_record__skip(r->session.report, err->msg, "references");
	return 0;
}

/* The range of 6 rounds is a 97 % interval for the median. One more round is a reserve, because the
 * last round may not fit into the budget. */
#define FEWEST_ROUNDS 7u
/* Compared lines are judged after LOOK_AFTER times the plan's rounds. They get at most FILL_MOST
 * times as many rounds as the plan has. */
#define LOOK_AFTER 4u
#define FILL_MOST 256u
#define SLOW_FIRINGS 5u /* firings of a slow program in a round (the first is warm-up) */

/* Returns how many rounds fit into the budget, the first one included, if each slow program is
 * fired SLOW_FIRINGS times per round. The first round took `first_s`, and may have fired a slow
 * program less often. Returns all rounds of the plan if a drive measures for a fixed time or a case
 * has fewer loads than the plan. */
static uint32_t count_rounds(const struct bb_run *r, double first_s)
{
	const struct bb_plan *plan = r->session.plan;
	double round_s = first_s, rounds;

	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct bb_plan_case *c = &plan->cases[i];

		if (c->seconds > 0 || c->loads != plan->loads)
			return plan->loads;
		if (!bb_run__case(r, i) || !r->cases[i].is_slow)
			continue;
		const struct bb_series *s = bb_run__case(r, i)->series;
		round_s += s->elapsed_s *
			   (SLOW_FIRINGS / fmax((double)(s->fired + s->warmup), 1) - 1);
	}
	rounds = fmax(1 + bb_deadline_left_s() / round_s, FEWEST_ROUNDS);
	return (uint32_t)fmin(rounds, plan->loads);
}

/* Tells whether no compared line is "inconclusive" any more. */
static int are_lines_decided(struct bb_run *r, bool *ret_decided, struct bb_err *err)
{
	struct bb_report *report = r->session.report;
	size_t n_before = report->n_timed;
	struct bb_time_diff d = {0};

	bb_note_lines(&r->session);
	int rc = bb_time_diff__make(report, r->session.opts->lines, &d, err);
	*ret_decided = !rc && !bb_time_diff__count(&d, BB_VERDICT_INCONCLUSIVE);
	bb_time_diff__done(&d);
	while (report->n_timed > n_before)
		bb_record__done(&bb_timed_record, &report->timed[--report->n_timed]);
	return rc == -ENODATA ? 0 : rc;
}

/* Adds rounds after the last one, while the budget lasts: those that count_rounds() left out, and
 * some if compared lines are undecided. `took_s` is the time of all rounds. Judges lines only once,
 * because each judgement adds to the chance of a false verdict. */
static int add_rounds(struct bb_run *r, double took_s, struct bb_err *err)
{
	uint32_t loads = r->session.plan->loads;
	bool decided = false;
	int rc = 0;

	if (r->rounds < loads) {
		double more = floor(bb_deadline_left_s() * r->rounds / took_s),
		       rounds = fmin(r->rounds + fmax(more, 0), loads);

		r->total *= rounds / r->rounds;
		r->rounds = (uint32_t)rounds;
		return 0;
	}
	if (!r->session.opts->lines || r->rounds >= FILL_MOST * loads ||
	    !isfinite(bb_deadline_left_s()))
		return 0;
	if (r->rounds == LOOK_AFTER * loads)
		rc = are_lines_decided(r, &decided, err);
	r->rounds += !rc && !decided;
	return rc;
}

/* Measures the rounds of this process. If other processes must measure the rest, sets *ret_others
 * to the number of rounds done. Otherwise does not change it. */
static int run_rounds(struct bb_run *r, double open_s, uint32_t *ret_others, struct bb_err *err)
{
	uint32_t load = 0, loads = r->session.plan->loads,
		 first = first_loads(r->session.plan, r->session.opts);
	int rc = find_places(r, err);
	uint64_t began_ns = bb_now_ns();

	for (; !rc && load < r->rounds; load++) {
		double took_s = bb_seconds_since(began_ns),
		       others = ceil((double)loads / LOADS_EACH) - 1;

		/* ends if an average round would not fit into the time left */
		if (load && took_s / load > bb_deadline_left_s())
			break;
		if (load == first && first < loads && open_s <= OPEN_MOST * took_s &&
		    others * (open_s + took_s) <= bb_deadline_left_s()) {
			*ret_others = load;
			break;
		}
		if (load == first)
			r->calm.most_s *= (double)loads / first;
		rc = bb_round__measure(r, load, err);
		if (!load && r->is_cut && first == loads) {
			r->rounds = count_rounds(r, bb_seconds_since(began_ns));
			r->total *= (double)r->rounds / loads;
		}
		if (!rc && load + 1 == r->rounds)
			rc = add_rounds(r, bb_seconds_since(began_ns), err);
	}
	note_shares(r);
	for (size_t i = 0; !rc && i < r->session.report->n_cases; i++)
		judge_emptied(&r->session.report->cases[i]);
	if (rc == -ETIME) /* not an error: the samples taken before the time was over are kept */
		rc = 0;
	if (!rc && load < loads && !*ret_others)
		leave_out_loads(r, load, loads);
	if (!rc && (r->is_cut || bb_deadline_has_passed))
		rc = leave_out_samples(r, load, err);
	return rc;
}

struct part {
	const struct bb_run *of;
	uint32_t first, loads;
	double budget_s;
};

/* Runs in another process. Measures the loads of the part `arg` (struct part), and writes a report
 * to the descriptor `out`. After a failure, writes a NUL byte and the message. */
static int measure_part(void *arg, int out)
{
	const struct part *p = arg;
	const struct bb_run *r = p->of;
	struct bb_run_opts opts = *r->session.opts;
	struct bb_report *part = bb_report__new();
	struct bb_plan plan = *r->session.plan;
	struct bb_err err = {0};
	FILE *file = fdopen(out, "w");

	plan.loads = p->loads;
	plan.cases = bb_calloc(plan.n_cases, sizeof(*plan.cases));
	for (size_t i = 0; i < plan.n_cases; i++) {
		struct bb_plan_case *c = &plan.cases[i];

		*c = r->session.plan->cases[i];
		c->samples = bb_round__samples(c) * p->loads;
		c->loads = p->loads;
	}
	int rc = file ? 0 : -errno;
	opts.seed += p->first; /* gives other random orders than in other processes */
	opts.driver.seed += p->first;
	opts.budget_s = isinf(p->budget_s) ? 0 : fmax(p->budget_s, 1e-3);
	opts.before = r;
	bb_run_ahead_of_others();
	if (!rc) {
		part->id = bb_strdup("part");
		part->command = bb_strdup("");
		part->started = bb_strdup("");
		part->fingerprint = r->session.report->fingerprint;
		rc = bb_run_plan(&plan, &opts, part, &err);
	}
	if (!rc)
		bb_report__summarise(part);
	if (!rc)
		bb_run_json__write(part, file);
	if (rc && file)
		fprintf(file, "%c%s", 0, err.code ? err.msg : strerror(-rc));
	return !file || fclose(file);
}

/* Measures the part `p` in a child process. *ret_text is the child's report, which the caller
 * frees. Passes a signal on to the child. */
static int run_part(struct part *p, char **ret_text, size_t *ret_len, struct bb_err *err)
{
	static const struct bb_child_rules rules = {.link = BB_LINK_FROM_CHILD};
	FILE *into = bb_open_memstream(ret_text, ret_len);
	bool is_told = false;
	struct bb_child c;
	char buf[65536];
	ssize_t n;

	fflush(NULL);
	int rc = bb_child__start(&rules, measure_part, p, &c);
	if (rc) {
		fclose(into);
		return bb_fail(err, rc, "fork: %m");
	}
	while ((n = read(c.fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)) {
		if (n > 0)
			fwrite(buf, 1, (size_t)n, into);
		if (bb_stop_signal && !is_told)
			is_told = !kill(c.pid, bb_stop_signal);
	}
	close(c.fd);
	bb_wait_for(c.pid);
	bb_close_memstream(into);
	return 0;
}

/* Counts the places of another process's loads as used, so that later loads prefer others. */
static void count_places(struct bb_run *r, const struct bb_report *part)
{
	const struct bb_scenario *s = r->session.plan->scenario;

	for (size_t v = 0; v < s->n_variants; v++) {
		/* all cases of a variant share its loads */
		const struct bb_case *c = BB_FIND(part->cases, part->n_cases,
						  !strcmp(it->variant, s->variants[v].name));

		for (size_t k = 0; c && k < c->n_series; k++)
			if (c->series[k].jit_mod64 >= 0)
				r->places[v].taken[c->series[k].jit_mod64]++;
	}
}

static int take_part(struct bb_run *r, uint32_t first, uint32_t loads, char *text, size_t len)
{
	FILE *in = len && text[0] ? fmemopen(text, len, "r") : NULL;
	const char *why = "its process ended before it was done";
	struct bb_report *part = NULL;
	struct bb_err other = {0};
	int rc = 0;

	if (in) {
		why = bb_run_json__read(in, "another process", &part, &other) ? other.msg : NULL;
		fclose(in);
	} else if (len > 1) {
		why = text + 1;
	}
	if (why && bb_stop_signal)
		return 0;
	if (!why) {
		count_places(r, part);
		rc = bb_report__take_loads(r->session.report, part, first);
	}
	if (rc == -EINVAL)
		why = "the runs of these loads take another path than those of earlier loads";
	if (why)
		bb_record__skip(r->session.report, why, "%s/loads %u..%u",
				r->session.plan->scenario->name, first + 1, first + loads);
	else if (!rc && part->n_cases && part->cases[0].n_series < loads)
		leave_out_loads(r, first + (uint32_t)part->cases[0].n_series, first + loads);
	bb_report__free(part);
	return rc == -EINVAL ? 0 : rc;
}

/* Measures the loads from `first` on in other processes, at most `first` loads in each, and adds
 * them to the report. Loads that do not fit into the budget, and loads of a failed process, become
 * skips. Returns -EINTR after a signal, or -errno with a message. */
static int run_others(struct bb_run *r, uint32_t first, struct bb_err *err)
{
	uint32_t all = r->session.plan->loads, each = first;
	int rc = 0;

	for (uint32_t load = first; !rc && load < all; load += each) {
		uint32_t loads = all - load < each ? all - load : each;
		struct part part = {r, load, loads, bb_deadline_left_s() * loads / (all - load)};
		char *text = NULL;
		size_t len = 0;

		if (bb_must_end()) {
			if (!bb_stop_signal)
				leave_out_loads(r, load, all);
			break;
		}
		rc = run_part(&part, &text, &len, err);
		if (!rc)
			rc = take_part(r, load, loads, text, len);
		free(text);
		r->done += (r->total - r->done) * loads / (all - load);
	}
	return !rc && bb_stop_signal ? -EINTR : rc;
}

/* Adds a skip for each live program that was unloaded in its last slice of time. */
static void note_gone(struct bb_run *r)
{
	const struct bb_scenario *sc = r->session.plan->scenario;

	for (size_t v = 0; v < sc->n_variants; v++) {
		struct bb_err why = {0};

		if (!r->session.usable[v] || !bb_variant_is_live(&sc->variants[v]) ||
		    bb_test_prog__load(&r->session.progs[v], &r->session.rng, BB_ANYWHERE, 1,
				       &why) != -ENOENT)
			continue;
		bb_record__skip(r->session.report, why.msg, "%s/%s: the end of its last slice",
				sc->name, sc->variants[v].name);
	}
}

/* Returns the number of samples in the largest batch: that of a turn or, for a drive that measures
 * for a fixed time, of a slice. A slice with an unknown rate ends early when the batch is full. */
static size_t batch_size(const struct bb_plan *plan, bool is_exact)
{
	size_t most = BATCH_MIN;

	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct bb_plan_case *c = &plan->cases[i];
		size_t room = c->drive->kind->batch_samples;
		/* Samples per second. The parameter is a number of events per second, each of which
		 * gives samples. Without a parameter, this is a guess. */
		double hz = c->param ? c->drive->kind->samples_per_event * (double)c->param_value
				     : 1e5;
		size_t n = room ? room : (size_t)(c->seconds / c->loads * hz) + 64;

		n = c->seconds > 0 ? n : bb_round__turn(c, is_exact);
		most = n > most ? n : most;
	}
	return most;
}

bool bb_plan_takes_cpu(const struct bb_plan *plan)
{
	return BB_ANY(plan->cases, plan->n_cases,
		      !it->drive->kind->synthetic && strcmp(it->drive->kind->with, "live"));
}

/* Makes all programs except floors and live programs use the maps of the first one. Otherwise their
 * latencies could differ because their maps are in other pages of memory. */
static int share_maps(struct bb_session *ss, struct bb_err *err)
{
	struct bb_test_prog *lender = NULL;
	int rc = 0;

	for (size_t v = 0; !rc && v < ss->plan->scenario->n_variants; v++) {
		struct bb_test_prog *s = &ss->progs[v];
		const struct bb_plan_case *c = BB_FIND(ss->plan->cases, ss->plan->n_cases,
						       bb_session__variant(ss, it) == v);

		if (!ss->usable[v] || !s->target || !c || bb_plan_case__is_floor(c) ||
		    bb_variant_is_live(s->spec))
			continue;
		if (!lender) {
			lender = s;
			continue;
		}
		bb_target__borrow_maps(s->target, lender->target);
		rc = bb_test_prog__load(s, &ss->rng, BB_ANYWHERE, 1, err);
	}
	return rc;
}

/* Returns how much of the time left this session may use, s, or 0 if all of it. The rest is for the
 * programs that later sessions open. */
static double share_s(const struct bb_session *s)
{
	size_t n = s->plan->scenario->n_variants;
	double here = 0, put_off = 0, left_s = bb_deadline_left_s();

	for (size_t v = 0; s->opts->put_off && v < n; v++) {
		here += s->usable[v];
		put_off += s->opts->put_off[v];
	}
	return put_off > 0 && isfinite(left_s) ? fmax(left_s * here / (here + put_off), 1e-3) : 0;
}

static int run_session(const struct bb_plan *plan, const struct bb_run_opts *opts,
		       struct bb_report *report, struct bb_err *err)
{
	struct bb_run r = {.began_ns = bb_now_ns()};
	struct bb_deadline share;
	size_t n_before = report->n_cases;
	uint32_t others = 0;
	int rc = bb_session__open(plan, opts, report, &r.session, err);
	double open_s = bb_seconds_since(r.began_ns);

	if (rc == -ENOTSUP || rc == -ETIME || (rc && rc == r.session.failed))
		return rc; /* skips in the report tell why nothing can be measured */
	if (rc)
		return bb_record__incomplete(report, rc, err);
	bb_deadline__begin(&share, share_s(&r.session));
	r.ns_size = batch_size(plan, opts->driver.is_exact);
	r.rounds = plan->loads;
	r.case_of = bb_calloc(plan->n_cases, sizeof(*r.case_of));
	r.cases = bb_calloc(plan->n_cases, sizeof(*r.cases));
	r.ns = bb_calloc(r.ns_size, sizeof(*r.ns));
	r.places = bb_calloc(plan->scenario->n_variants + 1, sizeof(*r.places));
	link_cases(&r);
	if (opts->share_maps)
		rc = share_maps(&r.session, err);
	if (!rc)
		add_cases(&r);
	if (!rc)
		rc = bb_count_all(&r.session, r.total > 0 ? 0.5 : 1, err);
	if (!rc)
		rc = bb_note_executed(&r.session, r.case_of);
	if (!rc && r.total > 0)
		rc = open_references(&r, err);
	if (!rc && r.total > 0)
		rc = run_rounds(&r, open_s, &others, err);
	if (!rc)
		note_gone(&r);
	/* also stores the lines that were timed before a signal */
	if (!rc || rc == -EINTR)
		bb_note_lines(&r.session);
	if (!rc && others)
		rc = run_others(&r, others, err);
	if (!rc && opts->skip_failing)
		bb_report__skip_without_sample(report, n_before);
	bb_deadline__end(&share);
	if (rc && rc != -ETIME) /* after -ETIME, skips tell what is missing */
		rc = bb_record__incomplete(report, rc, err);
	bb_references__free(r.references);
	free(r.places);
	free(r.ns);
	free(r.cases);
	free(r.case_of);
	bb_session__close(&r.session);
	return rc;
}

/* time in which the kernel frees the maps of the last session, ns */
#define MAPS_GO_NS 200000000

int bb_run_plan(const struct bb_plan *plan, const struct bb_run_opts *opts,
		struct bb_report *report, struct bb_err *err)
{
	size_t n = plan->scenario->n_variants;
	bool *put_off = bb_calloc(2 * n, sizeof(*put_off)), *only = put_off + n;
	struct bb_run_opts each = *opts;
	struct bb_deadline budget;
	struct bb_err local = {0};
	int rc, more;

	err = err ? err : &local;
	/* Programs may be left to later sessions if memory is short. Compared programs, and the
	 * loads of another process, need one session. */
	if (opts->skip_failing && !opts->share_maps && !opts->before)
		each.put_off = put_off;
	bb_deadline__begin(&budget, opts->budget_s);
	rc = run_session(plan, &each, report, err);
	each.only = only;
	while ((!rc || rc == -ENOTSUP || rc == -ETIME) && BB_ANY(put_off, n, *it)) {
		memcpy(only, put_off, n * sizeof(*only));
		memset(put_off, 0, n * sizeof(*put_off));
		nanosleep(&(struct timespec){.tv_nsec = MAPS_GO_NS}, NULL);
		more = run_session(plan, &each, report, err);
		/* not an error: skips tell what this session could not measure */
		rc = more == -ENOTSUP || more == -ETIME ? rc : more;
	}
	bb_deadline__end(&budget);
	free(put_off);
	return rc;
}
