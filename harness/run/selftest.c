/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/selftest.h"

#include <jansson.h>

#include "base/deadline.h"
#include "base/io.h"
#include "base/json_writer.h"
#include "stats/quantile.h"
#include "store/run_index.h"
#include "store/store.h"

static void add(struct bb_numbers *list, double x)
{
	if (!isnan(x))
		bb_numbers__append(list, &x, 1);
}

enum bb_repeat_class bb_repeat_class_of(const struct bb_report *r, const struct bb_case *c)
{
	if (BB_ANY(r->cases, r->n_cases, it->floor < r->n_cases && &r->cases[it->floor] == c))
		return c->emptied ? BB_REPEAT_EMPTY_COLD : BB_REPEAT_EMPTY;
	return c->emptied                                     ? BB_REPEAT_COLD
	       : bb_case__reference(c) == BB_REFERENCE_WAKEUP ? BB_REPEAT_WAKES
							      : BB_REPEAT_CALM;
}

/* Returns ln(latency in the second half of the loads / latency in the first half). It is the mean
 * over those JIT addresses modulo 64 that occur in both halves, or NAN if there are none. ns[i] is
 * the latency in series i. */
static double halves_of(const struct bb_case *c, const double *ns)
{
	double sum[2][BB_PLACES] = {0}, n[2][BB_PLACES] = {0}, ln = 0, places = 0;

	for (size_t i = 0; i < c->n_series; i++) {
		int place = c->series[i].jit_mod64, half = 2 * i >= c->n_series;

		if (place < 0 || place >= BB_PLACES || !(ns[i] > 0))
			continue;
		sum[half][place] += log(ns[i]);
		n[half][place]++;
	}
	for (size_t k = 0; k < BB_PLACES; k++) {
		if (n[0][k] <= 0 || n[1][k] <= 0)
			continue;
		ln += sum[1][k] / n[1][k] - sum[0][k] / n[0][k];
		places++;
	}
	return places > 0 ? ln / places : (double)NAN;
}

static void take_case(struct bb_repeat_row *row, const struct bb_report *report, size_t i,
		      bool alone)
{
	static const enum bb_predictor by[BB_N_REPEATS] = {BB_BY_LATENCY, BB_BY_RELATIVE};
	const struct bb_case *c = &report->cases[i];
	struct bb_run_point p;

	bb_run_point__make(report, i, &p);
	if (alone) {
		add(&row->alone, log(p.figure[BB_BY_LATENCY].value));
		return;
	}
	for (int of = 0; of < BB_N_REPEATS; of++)
		add(&row->ln[of], log(p.figure[by[of]].value));
	double *ns = bb_calloc(c->n_series, sizeof(*ns));
	bb_case__locations(c, ns);
	add(&row->halves, halves_of(c, ns));
	free(ns);
}

static void take_run(struct bb_repeat *r, const struct bb_scenario *s, struct bb_report *report,
		     bool alone)
{
	const struct bb_case *first = report->cases;

	bb_report__summarise(report);
	for (size_t i = 0; i < report->n_cases; i++) {
		const struct bb_case *c = &report->cases[i];
		enum bb_repeat_class class = bb_repeat_class_of(report, c);

		if (isnan(c->summary.latency.value))
			continue;
		struct bb_repeat_row *row = BB_FIND(r->rows, r->n_rows,
						    it->class == class &&
							    !strcmp(it->program, c->variant));
		if (!row) {
			row = bb_append(&r->rows, &r->n_rows, sizeof(*row));
			row->class = class;
			/* the scenario's string outlives the report */
			row->program = bb_scenario__variant(s, c->variant)->name;
		}
		take_case(row, report, i, alone);
	}
	if (!report->n_cases)
		return;
	/* All cases of a drive have the same times of the fixed work, so one case suffices. */
	add(&r->memory, first->summary.reference[BB_REFERENCE_MEMORY].value);
	for (size_t i = 0; i < first->n_series; i++)
		add(&r->clock, first->series[i].reference_ns[BB_REFERENCE_INSTRUCTIONS]);
}

/* Makes two plain runs (runs that compare nothing): one of the whole scenario opts->plain, and one
 * of only its first program and the floor in its first drive. If `turn` is odd, the run of the
 * first program comes first. Adds the figures of each run to `repeat`. Leaves out a run that
 * measured nothing within its budget, and a run in which the whole self-test had to end. */
static int run_plain(const struct bb_selftest_opts *opts, uint64_t seed, uint32_t turn,
		     struct bb_repeat *repeat, struct bb_err *err)
{
	const struct bb_scenario *s = opts->plain;
	const char *first = NULL, *hot = bb_drive_name(&s->drives[0]);
	const struct bb_plan_opts all = {0}, one = {.variants = {&first, 1}, .drives = {&hot, 1}};
	struct bb_run_opts run = opts->run;
	int rc = 0;

	run.seed = seed;
	run.budget_s = opts->experiment_budget_s;
	run.progress = NULL;
	for (size_t i = 0; !first && i < s->n_variants; i++)
		if (!bb_same_text(s->floor, s->variants[i].name))
			first = s->variants[i].name;
	for (uint32_t k = 0; !rc && k < 2; k++) {
		struct bb_report *report = bb_report__new();
		struct bb_plan plan = {0};
		bool alone = (turn + k) % 2;

		rc = bb_plan__make(s, alone ? &one : &all, &plan, err);
		if (!rc)
			rc = bb_run_plan(&plan, &run, report, err);
		/* Leave out a run that measured nothing within its budget, and a run in which the
		 * self-test had to end. Only a signal is an error. */
		if (rc == -ETIME || (!rc && bb_must_end()))
			rc = bb_stop_signal ? -EINTR : 0;
		else if (!rc)
			take_run(repeat, s, report, alone);
		bb_plan__done(&plan);
		bb_report__free(report);
	}
	return rc;
}

const char *bb_selftest_mode_name(enum bb_selftest_mode mode)
{
	static const char *const names[] = {"same-load", "reloads", "injected"};

	return mode < BB_N_SELFTEST_MODES ? names[mode] : "?";
}

static void take_experiment(struct bb_selftest_row *row, const struct bb_comparison *c)
{
	double truth = 1 + row->injected, log_ratio = log(c->ratio.value),
	       half_width = log(c->ratio.hi / c->ratio.lo) / 2;

	if (!c->n_matched) {
		row->voids++;
		return;
	}
	bb_numbers__append(&row->log_ratios, &log_ratio, 1);
	bb_numbers__append(&row->half_widths, &half_width, 1);
	row->verdicts[c->verdict]++;
	/* An experiment without an interval excludes no ratio, so it counts as covered, too. */
	row->covered += isnan(c->ratio.lo) || (c->ratio.lo <= truth && truth <= c->ratio.hi);
	row->n++;
}

static int run_experiment(const struct bb_scenario *scenario, const struct bb_selftest_opts *opts,
			  uint64_t seed, struct bb_selftest_row *row, struct bb_err *err)
{
	struct bb_plan_opts plan_opts = {.variants = {&row->program, 1}};
	struct bb_report *report = bb_report__new();
	struct bb_plan plan = {0};
	struct bb_ab_opts ab = {
		.run = opts->run,
		.base = row->program,
		.head = row->program,
		.threshold = opts->threshold,
		.alpha = opts->alpha,
		.same_load = row->mode == BB_SELFTEST_SAME_LOAD,
		.inject = row->injected,
		.watch = opts->watch,
	};
	uint64_t began_ns = bb_now_ns();
	int rc = bb_plan__make(scenario, &plan_opts, &plan, err);

	ab.run.seed = seed;
	ab.run.budget_s = opts->experiment_budget_s;
	ab.run.progress = NULL;
	if (!rc)
		rc = bb_run_ab(&plan, &ab, report, err);
	/* Leave out an experiment that measured nothing within its budget, and one in which the
	 * self-test had to end. Only a signal is an error. */
	if (rc == -ETIME || (!rc && bb_must_end()))
		rc = bb_stop_signal ? -EINTR : 0;
	else if (!rc)
		take_experiment(row, &report->comparisons[0]);
	row->seconds += bb_seconds_since(began_ns);
	bb_plan__done(&plan);
	bb_report__free(report);
	return rc;
}

static int make_rows(const struct bb_scenario *s, const struct bb_selftest_opts *opts,
		     struct bb_selftest *t, struct bb_err *err)
{
	t->rows = bb_calloc(s->n_variants * BB_N_SELFTEST_MODES, sizeof(*t->rows));
	for (size_t i = 0; i < s->n_variants; i++) {
		const char *name = s->variants[i].name;

		if (bb_same_text(s->floor, name) || (opts->program && strcmp(name, opts->program)))
			continue;
		for (int mode = 0; mode < BB_N_SELFTEST_MODES; mode++) {
			if (opts->mode >= 0 && opts->mode != mode)
				continue;
			t->rows[t->n_rows++] = (struct bb_selftest_row){
				.program = name,
				.mode = (enum bb_selftest_mode)mode,
				.injected = mode == BB_SELFTEST_INJECTED ? opts->inject : 0,
			};
		}
	}
	return t->n_rows ? 0
			 : bb_fail(err, -ENOENT,
				   "the self-test has no program '%s'; `bpfbench list` shows them",
				   opts->program);
}

/* Sets the resolution from the experiments in the mode "reloads". Their true ratio is 1. Their
 * estimates include the effects of code addresses and of timing. */
static void find_resolution(struct bb_selftest *t)
{
	struct bb_numbers all = {0};

	for (size_t i = 0; i < t->n_rows; i++)
		if (t->rows[i].mode == BB_SELFTEST_RELOADS)
			bb_numbers__append(&all, t->rows[i].log_ratios.x, t->rows[i].n);
	for (size_t i = 0; i < all.n; i++)
		all.x[i] = fabs(expm1(all.x[i]));
	if (all.n)
		bb_sort_doubles(all.x, all.n);
	t->resolution = all.n ? bb_quantile_sorted(all.x, all.n, 0.95) : (double)NAN;
	free(all.x);
}

int bb_selftest__run(const struct bb_scenario *scenario, const struct bb_selftest_opts *opts,
		     struct bb_selftest *ret_selftest, struct bb_err *err)
{
	struct bb_selftest t = {.resolution = NAN};
	const struct bb_progress *p = opts->run.progress;
	uint64_t began_ns = bb_now_ns();
	struct bb_deadline budget;
	struct bb_rng rng;
	int rc = make_rows(scenario, opts, &t, err);

	bb_rng_seed(&rng, opts->run.seed);
	bb_deadline__begin(&budget, opts->run.budget_s);
	for (uint32_t i = 0; !rc && !bb_must_end() && (!opts->experiments || i < opts->experiments);
	     i++) {
		for (size_t r = 0; !rc && !bb_must_end() && r < t.n_rows; r++) {
			if (p)
				p->update(p->arg,
					  opts->experiments ? i * (double)t.n_rows + (double)r
							    : bb_seconds_since(began_ns),
					  opts->experiments ? opts->experiments * (double)t.n_rows
							    : opts->run.budget_s,
					  t.rows[r].program);
			rc = run_experiment(scenario, opts, bb_rng_u64(&rng), &t.rows[r], err);
		}
		if (!rc && !opts->program && opts->mode < 0 && !bb_must_end())
			rc = run_plain(opts, bb_rng_u64(&rng), i, &t.repeat, err);
	}
	bb_deadline__end(&budget);
	if (!rc && bb_stop_signal)
		rc = -EINTR;
	if (!rc && !BB_ANY(t.rows, t.n_rows, it->n || it->voids))
		rc = bb_fail(err, -ETIME,
			     "no experiment ended within the budget of %g s; --budget gives more",
			     opts->run.budget_s);
	if (!rc)
		find_resolution(&t);
	*ret_selftest = t;
	return rc;
}

void bb_selftest__done(struct bb_selftest *t)
{
	struct bb_repeat *plain = &t->repeat;

	for (size_t i = 0; i < t->n_rows; i++) {
		free(t->rows[i].log_ratios.x);
		free(t->rows[i].half_widths.x);
	}
	for (size_t i = 0; i < plain->n_rows; i++) {
		for (int of = 0; of < BB_N_REPEATS; of++)
			free(plain->rows[i].ln[of].x);
		free(plain->rows[i].halves.x);
		free(plain->rows[i].alone.x);
	}
	free(plain->rows);
	free(plain->clock.x);
	free(plain->memory.x);
	free(t->rows);
	memset(t, 0, sizeof(*t));
}

#define FORMAT "bpfbench-selftest"
#define FOLDER "selftest"
#define MAX_BYTES (64u << 20)

static const char *const class_names[BB_N_REPEAT_CLASSES] = {"calm", "wakes", "cold", "empty",
							     "empty cold"};
static const char *const repeat_keys[BB_N_REPEATS] = {"ln_latency", "ln_relative"};

static void add_list(struct bb_json *w, const char *key, const struct bb_numbers *list)
{
	bb_json__open(w, key, "[");
	for (size_t i = 0; i < list->n; i++)
		bb_json__add_double(w, NULL, list->x[i]);
	bb_json__close(w);
}

static void add_row(struct bb_json *w, const struct bb_selftest_row *r)
{
	bb_json__open(w, NULL, "{");
	bb_json__add_text(w, "program", r->program);
	bb_json__add_text(w, "mode", bb_selftest_mode_name(r->mode));
	bb_json__add_double(w, "injected", r->injected);
	bb_json__add_u64(w, "experiments", r->n);
	bb_json__add_u64(w, "void", r->voids);
	bb_json__add_u64(w, "covered", r->covered);
	bb_json__add_double(w, "seconds", r->seconds);
	bb_json__open(w, "verdicts", "{");
	for (int i = 0; i < BB_N_VERDICTS; i++)
		bb_json__add_u64(w, bb_verdict_name((enum bb_verdict)i), r->verdicts[i]);
	bb_json__close(w);
	add_list(w, "log_ratios", &r->log_ratios);
	add_list(w, "half_widths", &r->half_widths);
	bb_json__close(w);
}

int bb_selftest__write(const char *results, const struct bb_report *head,
		       const struct bb_selftest *t, const struct bb_selftest_opts *opts,
		       struct bb_err *err)
{
	char *text = NULL, *dir = bb_asprintf("%s/" FOLDER, results),
	     *name = bb_asprintf("%s.json", head->id);
	size_t len;
	struct bb_json w = {.out = bb_open_memstream(&text, &len), .indent = 1};

	bb_json__open(&w, NULL, "{\n");
	bb_json__add_text(&w, "format", FORMAT);
	bb_json__add_u64(&w, "version", 1);
	bb_json__add_text(&w, "id", head->id);
	bb_json__add_text(&w, "started", head->started);
	bb_json__add_text(&w, "command", head->command);
	bb_json__add_double(&w, "threshold", opts->threshold);
	bb_json__add_double(&w, "alpha", opts->alpha);
	bb_json__add_double(&w, "noise_floor", t->resolution);
	bb_json__open(&w, "fingerprint", "{\n");
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++)
		bb_json__add_text(&w, bb_fingerprint_fields[i].key,
				  bb_fingerprint_get(&head->fingerprint, i));
	bb_json__close(&w);
	bb_json__open(&w, "rows", "[\n");
	for (size_t i = 0; i < t->n_rows; i++)
		add_row(&w, &t->rows[i]);
	bb_json__close(&w);
	bb_json__open(&w, "plain_runs", "{\n");
	bb_json__open(&w, "programs", "[\n");
	for (size_t i = 0; i < t->repeat.n_rows; i++) {
		const struct bb_repeat_row *r = &t->repeat.rows[i];

		bb_json__open(&w, NULL, "{");
		bb_json__add_text(&w, "program", r->program);
		bb_json__add_text(&w, "class", class_names[r->class]);
		for (int of = 0; of < BB_N_REPEATS; of++)
			add_list(&w, repeat_keys[of], &r->ln[of]);
		bb_json__close(&w);
	}
	bb_json__end(&w);
	bb_close_memstream(w.out);
	int rc = bb_store__write_text(dir, name, text, len, false, NULL, err);
	free(name);
	free(dir);
	free(text);
	return rc;
}

/* The plain runs of one program in several self-tests. */
struct pooled_program {
	char *program;
	enum bb_repeat_class class;
	/* spreads[of][i]: standard deviation of ln(figure `of`) in self-test i of n[of] */
	struct bb_spread *spreads[BB_N_REPEATS];
	size_t n[BB_N_REPEATS];
	/* by figure: for each run, its distance from the median of its self-test
	 * (bb_offsets_of()) */
	struct bb_numbers offsets[BB_N_REPEATS];
};

struct pool {
	struct pooled_program *v;
	size_t n;
};

/* Adds the runs of one program in one self-test to the pool. `ln` has ln(figure `of`) of each run
 * (enum bb_repeat_of). Adds nothing if there are fewer runs than BB_REPEAT_LEAST. */
static void pool_runs(struct pool *p, const char *program, enum bb_repeat_class class, int of,
		      const struct bb_numbers *ln)
{
	struct bb_numbers *offsets;

	if (ln->n < BB_REPEAT_LEAST)
		return;
	struct pooled_program *row = BB_FIND(p->v, p->n,
					     it->class == class && !strcmp(it->program, program));
	if (!row) {
		row = bb_append(&p->v, &p->n, sizeof(*row));
		row->class = class;
		row->program = bb_strdup(program);
	}
	BB_PUSH(row->spreads[of], row->n[of], bb_spread_of(ln->x, ln->n));
	offsets = &row->offsets[of];
	bb_numbers__append(offsets, ln->x, ln->n);
	bb_offsets_of(ln->x, ln->n, offsets->x + offsets->n - ln->n);
}

static struct bb_between between(const struct pool *p)
{
	struct bb_between b = {.n_selftests = 0};

	for (int class = 0; class < BB_N_REPEAT_CLASSES; class ++)
		for (int of = 0; of < BB_N_REPEATS; of++)
			b.of[class][of] = (struct bb_pooled_spread){NAN, NAN};
	for (size_t i = 0; i < p->n; i++)
		for (int of = 0; of < BB_N_REPEATS; of++) {
			const struct pooled_program *row = &p->v[i];
			struct bb_pooled_spread s = bb_pool_spreads(row->spreads[of], row->n[of],
								    row->offsets[of].x,
								    row->offsets[of].n, BB_ALPHA);

			b.n_selftests = row->n[of] > b.n_selftests ? row->n[of] : b.n_selftests;
			if (!isnan(s.half_width) &&
			    !(s.half_width <= b.of[row->class][of].half_width))
				b.of[row->class][of] = s;
		}
	return b;
}

static bool fits(const json_t *root, const struct bb_fingerprint *fp)
{
	const char *format = json_string_value(json_object_get(root, "format")), *key;
	json_t *fields = json_object_get(root, "fingerprint"), *value;
	struct bb_fingerprint theirs;

	if (!format || strcmp(format, FORMAT) || !json_is_object(fields))
		return false;
	bb_fingerprint_init(&theirs);
	json_object_foreach(fields, key, value)
		bb_fingerprint_set(&theirs, key,
				   json_is_string(value) ? json_string_value(value) : "");
	return bb_fingerprint_differences(fp, &theirs, NULL, 0) == 0;
}

static int take_resolution(const json_t *root, void *arg)
{
	const json_t *floor = json_object_get(root, "noise_floor");

	if (json_is_number(floor))
		*(double *)arg = json_number_value(floor);
	return json_is_number(floor);
}

static void take_program(const json_t *o, struct pool *pool)
{
	const char *program = json_string_value(json_object_get(o, "program")),
		   *name = json_string_value(json_object_get(o, "class"));
	int class = 0;

	while (name && class < BB_N_REPEAT_CLASSES && strcmp(name, class_names[class]))
		class ++;
	if (!program || !name || class == BB_N_REPEAT_CLASSES)
		return;
	for (int of = 0; of < BB_N_REPEATS; of++) {
		const json_t *list = json_object_get(o, repeat_keys[of]);
		struct bb_numbers ln = {0};

		for (size_t i = 0; i < json_array_size(list); i++)
			if (json_is_number(json_array_get(list, i)))
				add(&ln, json_number_value(json_array_get(list, i)));
		pool_runs(pool, program, (enum bb_repeat_class) class, of, &ln);
		free(ln.x);
	}
}

/* Adds the plain runs of a stored self-test to the pool `arg`. Returns 1, or 0 if it has none. */
static int take_plain_runs(const json_t *root, void *arg)
{
	const json_t *programs = json_object_get(json_object_get(root, "plain_runs"), "programs");

	for (size_t i = 0; i < json_array_size(programs); i++)
		take_program(json_array_get(programs, i), arg);
	return json_array_size(programs) > 0;
}

/* Calls take() for each self-test of a machine like `fp`, the newest first, until take() has used
 * `most` of them. take() returns 1 if it used the self-test, else 0. *ret_id receives the id of the
 * newest self-test that take() used. `ret_id` may be NULL. Ignores unreadable files. Returns
 * -ENOENT without a message if take() used none, or another -errno. */
static int read_newest(const char *results, const struct bb_fingerprint *fp, size_t most,
		       int (*take)(const json_t *root, void *arg), void *arg, char **ret_id,
		       struct bb_err *err)
{
	char *dir = bb_asprintf("%s/" FOLDER, results), **ids = NULL;
	size_t n = 0, taken = 0;
	int rc = bb_store__list(dir, &ids, &n, err);

	for (size_t i = n; !rc && taken < most && i-- > 0;) {
		char *path = bb_asprintf("%s/%s.json", dir, ids[i]), *text = NULL;
		json_t *root = NULL;
		size_t len;

		if (!bb_read_own_file(path, MAX_BYTES, &text, &len, NULL))
			root = json_loadb(text, len, 0, NULL);
		free(text);
		free(path);
		int took = root && fits(root, fp) ? take(root, arg) : 0;
		json_decref(root);
		if (took && !taken++ && ret_id)
			*ret_id = bb_strdup(ids[i]);
	}
	bb_names_free(ids, n);
	free(dir);
	return rc ? rc : taken ? 0 : -ENOENT;
}

int bb_selftest__read_resolution(const char *results, const struct bb_fingerprint *fp,
				 double *ret_floor, char **ret_id, struct bb_err *err)
{
	return read_newest(results, fp, 1, take_resolution, ret_floor, ret_id, err);
}

int bb_selftest__read_between(const char *results, const struct bb_fingerprint *fp,
			      const struct bb_repeat *now, struct bb_between *ret_between)
{
	struct pool pool = {0};

	for (size_t i = 0; now && i < now->n_rows; i++)
		for (int of = 0; of < BB_N_REPEATS; of++)
			pool_runs(&pool, now->rows[i].program, now->rows[i].class, of,
				  &now->rows[i].ln[of]);
	int rc = read_newest(results, fp, BB_SELFTESTS_POOLED - (now != NULL), take_plain_runs,
			     &pool, NULL, NULL);
	if (rc == -ENOENT && pool.n)
		rc = 0;
	if (!rc)
		*ret_between = between(&pool);
	for (size_t i = 0; i < pool.n; i++) {
		free(pool.v[i].program);
		for (int of = 0; of < BB_N_REPEATS; of++) {
			free(pool.v[i].spreads[of]);
			free(pool.v[i].offsets[of].x);
		}
	}
	free(pool.v);
	return rc;
}
