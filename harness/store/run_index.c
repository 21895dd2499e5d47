/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/run_index.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/io.h"
#include "base/deadline.h"
#include "stats/quantile.h"
#include "store/store.h"

/* standard error of a median divided by that of a mean: sqrt(pi / 2) */
#define MEDIAN_SE 1.2533

/* Returns the standard error of the median of x[n], without its NAN values. Returns NAN for fewer
 * than 2 values. Overwrites scratch[n]. */
static double median_se(const double *x, size_t n, double *scratch)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(x[i]))
			scratch[m++] = x[i];
	if (m < 2)
		return NAN;
	double median = bb_median(scratch, m);
	for (size_t i = 0; i < m; i++)
		scratch[i] = fabs(scratch[i] - median);
	return MEDIAN_SE * BB_MAD_TO_SD * bb_median(scratch, m) / sqrt((double)m);
}

void bb_run_point__make(const struct bb_report *r, size_t i, struct bb_run_point *ret_point)
{
	const struct bb_case *c = &r->cases[i];
	const struct bb_case *anchor =
		c->is_anchor ? NULL
			     : BB_FIND(r->cases, r->n_cases, it->is_anchor && bb_same_table(it, c));
	size_t n = c->n_series, n_anchor = anchor ? anchor->n_series : 0;
	struct bb_run_point p = {
		.loads = c->summary.loads,
		.voids = c->summary.voids,
		.is_anchor = c->is_anchor,
	};
	double *ns = bb_calloc(3 * n + n_anchor + 1, sizeof(*ns)), *x = ns + n, *scratch = x + n,
	       *anchor_ns = scratch + n;
	struct bb_over_loads l;

	bb_case__locations(c, ns);
	if (anchor)
		bb_case__locations(anchor, anchor_ns);
	for (int by = 0; by < BB_N_PREDICTORS; by++) {
		memcpy(x, ns, n * sizeof(*ns));
		if (by == BB_BY_RELATIVE)
			bb_case__relative(c, ns, x);
		for (size_t k = 0; by == BB_BY_RATIO && k < n; k++)
			x[k] = anchor ? ns[k] / bb_case__at_load(anchor, anchor_ns,
								 c->series[k].load)
				      : NAN;
		for (size_t k = 0; k < n; k++)
			x[k] = x[k] > 0 ? log(x[k]) : NAN;
		bb_case__over_loads(c, x, &l);
		p.se[by] = isnan(l.se) ? median_se(x, n, scratch) : l.se;
		p.figure[by] = (struct bb_estimate){exp(l.estimate.value), exp(l.estimate.lo),
						    exp(l.estimate.hi)};
	}
	/* all other output shows this latency, so the history shows it, too */
	p.figure[BB_BY_LATENCY] = c->summary.latency;
	*ret_point = p;
	free(ns);
}

void bb_run_index__done(struct bb_run_index *x)
{
	bb_record__done(&bb_run_index_record, x);
}

/* Replaces the texts of an item that was copied by assignment with texts of its own. */
static void own_texts(const struct bb_record *record, void *item)
{
	for (size_t i = 0; i < record->n_members; i++) {
		const struct bb_member *m = &record->members[i];
		char **text = (void *)((char *)item + m->offset);

		if ((m->type == BB_NAME || m->type == BB_TEXT || m->type == BB_TEXT_OR_NULL) &&
		    *text)
			*text = bb_strdup(*text);
	}
}

static int is_name_of(const void *name, const void *run)
{
	return strcmp(name, ((const struct bb_index_run *)run)->name);
}

const struct bb_index_run *bb_run_index__find(const struct bb_run_index *x, const char *name)
{
	return x->n_runs ? bsearch(name, x->runs, x->n_runs, sizeof(*x->runs), is_name_of) : NULL;
}

/* Finds the case with the name of `c`, or adds a copy of `c`. The search begins at `*next`, which
 * becomes the index after the case, because most runs have the same cases in the same order. */
static void intern_case(struct bb_run_index *x, const struct bb_index_case *c, size_t *next,
			uint32_t *ret_index)
{
	for (size_t n = 0; n < x->n_cases; n++) {
		size_t i = (*next + n) % x->n_cases;

		if (strcmp(x->cases[i].name, c->name))
			continue;
		*next = i + 1;
		*ret_index = (uint32_t)i;
		return;
	}
	*ret_index = (uint32_t)x->n_cases;
	BB_PUSH(x->cases, x->n_cases, *c);
	own_texts(&bb_index_case_record, &x->cases[*ret_index]);
	*next = x->n_cases;
}

static bool same_identity(const struct bb_fingerprint *a, const struct bb_fingerprint *b)
{
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++)
		if (bb_fingerprint_fields[i].identity &&
		    strcmp(bb_fingerprint_get(a, i), bb_fingerprint_get(b, i)))
			return false;
	return true;
}

/* Copies a run with its points, cases and machine from the index `from` to the index `x`. */
static void add_run(struct bb_run_index *x, const struct bb_run_index *from,
		    const struct bb_index_run *of)
{
	const struct bb_fingerprint *fp = &from->machines[of->machine];
	struct bb_index_run run = *of;
	size_t next = 0, machine = x->n_machines;

	/* The search begins at the end, because most runs are from the latest machine. */
	while (machine && !same_identity(&x->machines[machine - 1], fp))
		machine--;
	if (!machine) {
		BB_PUSH(x->machines, x->n_machines, *fp);
		machine = x->n_machines;
	}
	run.machine = (uint32_t)(machine - 1);
	run.first_point = x->n_points;
	for (size_t i = 0; i < of->n_points; i++) {
		const struct bb_run_point *p = &from->points[of->first_point + i];
		struct bb_run_point *point = bb_append(&x->points, &x->n_points, sizeof(*point));

		*point = *p;
		point->run = (uint32_t)x->n_runs;
		intern_case(x, &from->cases[p->what], &next, &point->what);
	}
	own_texts(&bb_index_run_record, &run);
	BB_PUSH(x->runs, x->n_runs, run);
}

struct file {
	char *name;                     /* name of the file, without .json */
	const struct bb_index_run *old; /* the run in the old index, if the file has not changed */
	struct bb_run_index own;        /* has only this run, if the file was read again */
	char *fault;                    /* why the file is not a run, owned; NULL if it is one */
};

/* A file that changed less than this time before it was read is read anew the next time, because it
 * may change again without a new mtime. */
#define SETTLED_NS (2 * NS_PER_S)
#define NS_PER_S 1000000000LL
#define COMPARE "bpfbench compare " /* start of the command line that made a comparison */

static int64_t ns_of(struct timespec t)
{
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* `run` already has the name, the size and the time of the file with `r`. */
static void index_report(struct bb_report *r, struct bb_index_run run, struct bb_run_index *ret_own)
{
	struct bb_run_index lent = {.machines = &r->fingerprint};

	run.id = r->id;
	run.started = r->started;
	run.incomplete = r->incomplete;
	run.commit = r->fingerprint.git_commit;
	/* a run of `compare` has no struct bb_comparison if it timed lines or counted instructions,
	 * so the command line is checked, too */
	run.is_comparison = r->n_comparisons > 0 ||
			    (r->command && !strncmp(r->command, COMPARE, strlen(COMPARE)));
	run.n_points = run.is_comparison ? 0 : (uint32_t)r->n_cases;
	lent.cases = bb_calloc(r->n_cases + 1, sizeof(*lent.cases));
	lent.points = bb_calloc(r->n_cases + 1, sizeof(*lent.points));
	for (uint32_t i = 0; i < run.n_points; i++) {
		const struct bb_case *c = &r->cases[i];

		lent.cases[i] = (struct bb_index_case){c->name,  c->scenario, c->variant,
						       c->drive, c->param,    c->param_value};
		bb_run_point__make(r, i, &lent.points[i]);
		lent.points[i].what = i;
	}
	add_run(ret_own, &lent, &run);
	free(lent.cases);
	free(lent.points);
}

#define MOST_THREADS 8
/* number of files that are read before their runs are added to the index, to limit the memory */
#define BATCH 256

struct batch {
	const char *dir;
	const struct bb_run_index *old;
	struct file files[BATCH];
	size_t n;
	atomic_size_t begun;
};

static void *read_files(void *arg)
{
	struct batch *b = arg;
	size_t i;

	while (!bb_stop_signal && (i = atomic_fetch_add(&b->begun, 1)) < b->n) {
		struct file *f = &b->files[i];
		const struct bb_index_run *known = bb_run_index__find(b->old, f->name);
		struct bb_index_run run = {.name = f->name};
		struct bb_report *report;
		struct timespec now;
		struct stat st;
		struct bb_err err;
		char *path = bb_asprintf("%s/%s.json", b->dir, f->name);

		if (stat(path, &st))
			st = (struct stat){0};
		clock_gettime(CLOCK_REALTIME, &now);
		run.size_bytes = (uint64_t)st.st_size;
		int64_t changed_ns = ns_of(st.st_mtim);
		if (changed_ns > 0 && changed_ns < ns_of(now) - SETTLED_NS)
			run.changed_ns = (uint64_t)changed_ns;
		if (known && run.changed_ns && known->changed_ns == run.changed_ns &&
		    known->size_bytes == run.size_bytes) {
			f->old = known;
		} else if (bb_store__read(path, NULL, &report, &err)) {
			f->fault = bb_strdup(err.msg);
		} else {
			index_report(report, run, &f->own);
			bb_report__free(report);
		}
		free(path);
	}
	return NULL;
}

/* Several threads read the files, because parsing takes most of the time. The new threads block all
 * signals, so that the caller's thread receives them. */
static void read_batch(struct batch *b)
{
	pthread_t threads[MOST_THREADS];
	int n = 0, most = 1;
	sigset_t all, before;
	cpu_set_t allowed;

	if (!sched_getaffinity(0, sizeof(allowed), &allowed))
		most = CPU_COUNT(&allowed) < MOST_THREADS ? CPU_COUNT(&allowed) : MOST_THREADS;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (n + 1 < most && !pthread_create(&threads[n], NULL, read_files, b))
		n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	read_files(b);
	while (n)
		pthread_join(threads[--n], NULL);
}

int bb_run_index__read(const char *dir, void (*passed_over)(void *arg, const char *why), void *arg,
		       struct bb_run_index *ret_index, struct bb_err *err)
{
	struct bb_run_index new = {0}, old;
	size_t n = 0, n_taken = 0, n_read = 0;
	struct batch *b = NULL;
	char **names = NULL;
	int rc = bb_store__list(dir, &names, &n, err);

	if (rc)
		return rc;
	bb_history_db__load(dir, &old);
	b = bb_calloc(1, sizeof(*b));
	for (size_t first = 0; !rc && !bb_stop_signal && first < n; first += BATCH) {
		*b = (struct batch){.dir = dir, .old = &old};
		for (; b->n < BATCH && first + b->n < n; b->n++)
			b->files[b->n].name = names[first + b->n];
		read_batch(b);
		for (struct file *f = b->files; f < b->files + b->n; f++) {
			if (f->fault && passed_over)
				passed_over(arg, f->fault);
			if (!rc && f->old)
				add_run(&new, &old, f->old);
			else if (f->own.n_runs)
				add_run(&new, &f->own, f->own.runs);
			n_taken += f->old != NULL;
			n_read += f->own.n_runs;
			free(f->fault);
			bb_run_index__done(&f->own);
		}
	}
	free(b);
	if (!rc && bb_stop_signal)
		rc = -EINTR;
	/* If saving fails, the next call of this function reads the runs again. */
	if (!rc && (n_read || n_taken < old.n_runs))
		bb_history_db__save(dir, &new);
	bb_names_free(names, n);
	bb_run_index__done(&old);
	if (rc) {
		bb_run_index__done(&new);
		return bb_fail_stopped(err, "", "");
	}
	*ret_index = new;
	return 0;
}
