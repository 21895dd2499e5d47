/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/run_index.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/stop.h"
#include "report/report.h"
#include "store/history_db.h"
#include "store/store.h"

/* Stored runs, read by as many threads as there are CPUs and handed out in the order of their
 * names: most of the time goes into parsing. At most a few dozen are in memory at once. */
struct read_ahead;

struct read_run {
	const char *name;
	struct stat st; /* zeroed: there is no such file */
	struct timespec read_at;
	struct bb_report *report; /* free it; NULL: not wanted, or err says why not */
	struct bb_err err;
};

#define MOST_THREADS 8
#define AHEAD 32

struct read_ahead {
	const char *dir;
	char *const *names;
	size_t n, begun, given; /* begun: by the threads; given: to the caller */
	bool (*wanted)(void *arg, const struct read_run *run);
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_over;
	struct {
		struct read_run run;
		bool is_done;
	} slots[AHEAD];
	pthread_t threads[MOST_THREADS];
	int n_threads;
};

static void read_run(const struct read_ahead *a, struct read_run *run)
{
	char *path;

	if (asprintf(&path, "%s/%s.json", a->dir, run->name) < 0) {
		bb_fail_nomem(&run->err);
		return;
	}
	if (stat(path, &run->st))
		run->st = (struct stat){0};
	clock_gettime(CLOCK_REALTIME, &run->read_at);
	if (a->wanted(a->arg, run) && bb_store__read(path, NULL, &run->report, &run->err))
		run->report = NULL;
	free(path);
}

static void *read_runs(void *arg)
{
	struct read_ahead *a = arg;

	pthread_mutex_lock(&a->lock);
	while (!a->is_over && a->begun < a->n) {
		size_t slot = a->begun % AHEAD;

		if (a->begun - a->given >= AHEAD) {
			pthread_cond_wait(&a->changed, &a->lock);
			continue;
		}
		a->slots[slot].run = (struct read_run){.name = a->names[a->begun++]};
		a->slots[slot].is_done = false;
		pthread_mutex_unlock(&a->lock);
		read_run(a, &a->slots[slot].run);
		pthread_mutex_lock(&a->lock);
		a->slots[slot].is_done = true;
		pthread_cond_broadcast(&a->changed);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* Signals are for the thread that waits for something: none of these. */
static void start_threads(struct read_ahead *a)
{
	sigset_t all, before;
	cpu_set_t allowed;
	int n = sched_getaffinity(0, sizeof(allowed), &allowed) ? 1 : CPU_COUNT(&allowed);

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (a->n_threads < n && a->n_threads < MOST_THREADS &&
	       !pthread_create(&a->threads[a->n_threads], NULL, read_runs, a))
		a->n_threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void read_ahead_free(struct read_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->is_over = true;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
	for (int i = 0; i < a->n_threads; i++)
		pthread_join(a->threads[i], NULL);
	for (; a->given < a->begun; a->given++)
		bb_report__free(a->slots[a->given % AHEAD].run.report);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

/*
 * Begin to read DIR/NAME.json of n names. `wanted` is called by the threads, with name and st;
 * where it says no, the file is not read. Arguments are borrowed until read_ahead_free(). NULL
 * without memory.
 */
static struct read_ahead *read_ahead_new(const char *dir, char *const *names, size_t n,
					 bool (*wanted)(void *arg, const struct read_run *run),
					 void *arg)
{
	struct read_ahead *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->dir = dir;
	a->names = names;
	a->n = n;
	a->wanted = wanted;
	a->arg = arg;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	start_threads(a);
	if (!a->n_threads) {
		read_ahead_free(a);
		return NULL;
	}
	return a;
}

/* The next one: false after the last, and once a signal asked us to stop. */
static bool read_ahead_next(struct read_ahead *a, struct read_run *ret_run)
{
	size_t slot = a->given % AHEAD;

	if (a->given == a->n || bb_stop_signal)
		return false;
	pthread_mutex_lock(&a->lock);
	while (a->begun == a->given || !a->slots[slot].is_done)
		pthread_cond_wait(&a->changed, &a->lock);
	*ret_run = a->slots[slot].run;
	a->given++;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
	return true;
}

#define NS_PER_S 1000000000LL
/* A file that was changed later may change again at what looks like the same time. */
#define SETTLED_NS (2 * NS_PER_S)

/* An index in the making, and the one from which runs are taken over. */
struct making {
	struct bb_run_index new, old;
	/* where the case that comes next is likely to be: runs have theirs in one order */
	size_t next_case;
	size_t n_taken, n_read;
};

/* A case by its texts, wherever these are. */
struct named_case {
	const char *name, *scenario, *variant, *drive, *param;
	uint32_t param_value;
};

/* The index of the case of that name, which is added when it is new. */
static int intern_case(struct making *m, const struct named_case *c, uint32_t *ret_index)
{
	struct bb_run_index *x = &m->new;
	struct bb_index_case *k;

	for (size_t n = 0; n < x->n_cases; n++) {
		size_t i = (m->next_case + n) % x->n_cases;

		if (strcmp(bb_index_text(x, x->cases[i].name), c->name))
			continue;
		m->next_case = i + 1;
		*ret_index = (uint32_t)i;
		return 0;
	}
	k = bb_append(&x->cases, &x->n_cases, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->param_value = c->param_value;
	if (bb_run_index__add_text(x, c->name, &k->name) ||
	    bb_run_index__add_text(x, c->scenario, &k->scenario) ||
	    bb_run_index__add_text(x, c->variant, &k->variant) ||
	    bb_run_index__add_text(x, c->drive, &k->drive) ||
	    bb_run_index__add_text(x, c->param, &k->param))
		return -ENOMEM;
	*ret_index = (uint32_t)x->n_cases - 1;
	m->next_case = x->n_cases;
	return 0;
}

static bool same_identity(const struct bb_fingerprint *a, const struct bb_fingerprint *b)
{
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++)
		if (bb_fingerprint_fields[i].identity &&
		    strcmp(bb_fingerprint_get(a, i), bb_fingerprint_get(b, i)))
			return false;
	return true;
}

/* Index of the machine, the last ones first. */
static int intern_machine(struct making *m, const struct bb_fingerprint *fp, uint32_t *ret_index)
{
	struct bb_run_index *x = &m->new;
	struct bb_fingerprint *machine;

	for (size_t i = x->n_machines; i-- > 0;) {
		*ret_index = (uint32_t)i;
		if (same_identity(&x->machines[i], fp))
			return 0;
	}
	*ret_index = (uint32_t)x->n_machines;
	machine = bb_append(&x->machines, &x->n_machines, sizeof(*machine));
	if (!machine)
		return -ENOMEM;
	*machine = *fp;
	return 0;
}

/* One more point, of the run that is being added. */
static int add_point(struct making *m, const struct named_case *c, struct bb_run_point p,
		     struct bb_index_run *run)
{
	struct bb_run_index *x = &m->new;
	struct bb_run_point *point;

	if (intern_case(m, c, &p.what))
		return -ENOMEM;
	point = bb_append(&x->points, &x->n_points, sizeof(*point));
	if (!point)
		return -ENOMEM;
	*point = p;
	point->run = (uint32_t)x->n_runs;
	run->n_points++;
	return 0;
}

/* The texts of a run, and the run itself, once its points are there. */
static int add_run(struct making *m, const char *const texts[5], struct bb_index_run *run)
{
	struct bb_run_index *x = &m->new;
	struct bb_index_run *kept;

	if (bb_run_index__add_text(x, texts[0], &run->name) ||
	    bb_run_index__add_text(x, texts[1], &run->id) ||
	    bb_run_index__add_text(x, texts[2], &run->started) ||
	    bb_run_index__add_text(x, texts[3], &run->incomplete) ||
	    bb_run_index__add_text(x, texts[4], &run->commit))
		return -ENOMEM;
	kept = bb_append(&x->runs, &x->n_runs, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = *run;
	return 0;
}

/* --- from a report --- */

static int add_report(struct making *m, const char *name, const struct bb_report *r,
		      uint64_t size_bytes, int64_t changed_ns)
{
	const char *const texts[] = {name, r->id, r->started, r->incomplete,
				     r->fingerprint.git_commit};
	struct bb_index_run run = {
		.is_comparison = r->n_comparisons > 0,
		.first_point = m->new.n_points,
		.size_bytes = size_bytes,
		.changed_ns = changed_ns,
	};
	int rc = intern_machine(m, &r->fingerprint, &run.machine);

	m->next_case = 0;
	for (size_t i = 0; !rc && !run.is_comparison && i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];
		const struct named_case named = {c->name,  c->scenario, c->variant,
						 c->drive, c->param,    c->param_value};
		struct bb_run_point p;

		rc = bb_run_point__make(r, i, &p);
		if (!rc)
			rc = add_point(m, &named, p, &run);
	}
	return rc ? rc : add_run(m, texts, &run);
}

/* --- from the old index --- */

static int take_run(struct making *m, const struct bb_index_run *old)
{
	const struct bb_run_index *x = &m->old;
	const char *const texts[] = {
		bb_index_text(x, old->name),    bb_index_text(x, old->id),
		bb_index_text(x, old->started), bb_index_text(x, old->incomplete),
		bb_index_text(x, old->commit),
	};
	struct bb_index_run run = *old;
	int rc = intern_machine(m, &x->machines[old->machine], &run.machine);

	run.first_point = m->new.n_points;
	run.n_points = 0;
	m->next_case = 0;
	for (uint32_t i = 0; !rc && i < old->n_points; i++) {
		const struct bb_run_point *p = &x->points[old->first_point + i];
		const struct bb_index_case *c = &x->cases[p->what];
		const struct named_case named = {
			bb_index_text(x, c->name),    bb_index_text(x, c->scenario),
			bb_index_text(x, c->variant), bb_index_text(x, c->drive),
			bb_index_text(x, c->param),   c->param_value,
		};

		rc = add_point(m, &named, *p, &run);
	}
	return rc ? rc : add_run(m, texts, &run);
}

/* --- a folder --- */

static int64_t ns_of(struct timespec t)
{
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* The run in the old index, if its file is as it was; NULL. */
static const struct bb_index_run *find_old(const struct making *m, const struct read_run *run)
{
	const struct bb_index_run *old = bb_run_index__find(&m->old, run->name);

	return old && old->changed_ns == ns_of(run->st.st_mtim) &&
			       old->size_bytes == (uint64_t)run->st.st_size
		       ? old
		       : NULL;
}

static bool is_new(void *m, const struct read_run *run)
{
	return !find_old(m, run);
}

static int add_file(struct making *m, struct read_run *run,
		    void (*passed_over)(void *arg, const char *why), void *arg)
{
	const struct bb_index_run *old = find_old(m, run);
	int64_t changed_ns = ns_of(run->st.st_mtim);
	int rc;

	if (old) {
		m->n_taken++;
		return take_run(m, old);
	}
	if (!run->report) {
		if (run->err.code != -ENOMEM && passed_over)
			passed_over(arg, run->err.msg);
		return run->err.code == -ENOMEM ? -ENOMEM : 0;
	}
	m->n_read++;
	rc = add_report(m, run->name, run->report, (uint64_t)run->st.st_size,
			changed_ns < ns_of(run->read_at) - SETTLED_NS ? changed_ns
								      : BB_INDEX_READ_ANEW);
	bb_report__free(run->report);
	return rc;
}

int bb_run_index__read(const char *dir, void (*passed_over)(void *arg, const char *why), void *arg,
		       struct bb_run_index *ret_index, struct bb_err *err)
{
	struct read_ahead *ahead;
	struct read_run run;
	struct making m = {0};
	char **names = NULL;
	size_t n = 0;
	int rc = bb_store__list(dir, &names, &n, err);

	if (rc)
		return rc;
	bb_history_db__load(dir, &m.old);
	ahead = read_ahead_new(dir, names, n, is_new, &m);
	if (!ahead)
		rc = -ENOMEM;
	while (!rc && read_ahead_next(ahead, &run))
		rc = add_file(&m, &run, passed_over, arg);
	read_ahead_free(ahead);
	if (!rc && bb_stop_signal)
		rc = -EINTR;
	/* What cannot be kept is made anew the next time. */
	if (!rc && (m.n_read || m.n_taken < m.old.n_runs))
		bb_history_db__save(dir, &m.new);
	bb_store__list_free(names, n);
	bb_run_index__done(&m.old);
	if (rc) {
		bb_run_index__done(&m.new);
		return rc == -ENOMEM ? bb_fail_nomem(err)
				     : bb_fail(err, rc, "stopped by signal %d (%s)",
					       (int)bb_stop_signal, strsignal(bb_stop_signal));
	}
	*ret_index = m.new;
	return 0;
}
