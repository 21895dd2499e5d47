/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/discover.h"

#include "base/deadline.h"

/* limit: windows for one trigger; each lasts from one reading of the run counter to the next */
#define WINDOWS 12u
/* after this time, no window begins if there are ENOUGH windows */
#define WINDOWS_NS 30000000u
#define ENOUGH 3u
#define DEATHS 2u /* the search ends when the process that fires has died this many times */

/* The process that fires works on a copy of this struct in shared memory. */
struct list {
	struct bb_stats_reader reader;
	struct bb_attach_point point;
	bool all;
	size_t n, next; /* tried[next..n) are not tried yet */
	struct bb_tried tried[BB_TRIGGERS_MOST];
};

/* --- in the process that fires --- */

struct windows {
	uint64_t runs[WINDOWS];
	size_t n;
	double ns; /* mean time of a window */
	int rc;    /* 0 or -errno of the last firing */
};

static uint64_t runs_of(const struct bb_stats_reader *r)
{
	struct bb_prog_stats s = {0};

	bb_stats_reader__info(r, &s);
	return s.run_cnt;
}

/* Counts the program's runs in several windows. The trigger fires once in each. If `f` is NULL,
 * nothing fires, and a window takes idle_ns. */
static void count_runs(const struct list *l, struct bb_firing *f, double idle_ns,
		       struct bb_fire_task *t, struct windows *ret_windows)
{
	uint64_t began_ns = bb_now_ns(), last = runs_of(&l->reader), at_ns = began_ns;
	struct windows w = {0};

	while (w.n < WINDOWS && (w.n < ENOUGH || at_ns - began_ns < WINDOWS_NS)) {
		uint64_t now, until_ns = at_ns + (uint64_t)idle_ns;

		/* do not stop at an error, which the program may have caused by running */
		if (f)
			w.rc = bb_firing__fire(f);
		while (!f && bb_now_ns() < until_ns)
			;
		now = runs_of(&l->reader);
		at_ns = bb_now_ns();
		w.runs[w.n++] = now - last;
		last = now;
		t->beats++;
	}
	w.ns = (double)(at_ns - began_ns) / (double)w.n;
	*ret_windows = w;
}

static int try_all(void *, struct bb_fire_task *t, void *shared)
{
	struct list *l = shared;

	while (l->next < l->n) {
		struct bb_tried *tried = &l->tried[l->next++];
		struct windows fired, idle;
		struct bb_firing f;

		t->in_work = tried->trigger;
		tried->rc = bb_firing__open(&f, tried->trigger, &l->point, l->reader.prog_fd, t);
		if (!tried->rc) {
			/* the first firing is slower than the later ones, so it is not counted */
			bb_firing__fire(&f);
			count_runs(l, &f, 0, t, &fired);
			tried->runs = (uint32_t)bb_fewest_runs(fired.runs, fired.n);
			tried->fired = (uint32_t)fired.n;
			tried->ns = fired.ns;
			tried->rc = fired.rc;
		}
		/* runs that also happen without the trigger do not count */
		if (tried->runs && tried->trigger->fire) {
			count_runs(l, NULL, fired.ns, t, &idle);
			if (bb_fewest_runs(idle.runs, idle.n) >= tried->runs)
				tried->runs = 0;
		}
		bb_firing__close(&f);
		if (tried->runs == 1 && !l->all)
			l->n = l->next;
	}
	t->in_work = NULL;
	return 0;
}

/* --- in our process --- */

uint64_t bb_fewest_runs(const uint64_t *runs, size_t n)
{
	uint64_t least = UINT64_MAX;
	size_t same = 0;

	for (size_t i = 0; i < n; i++) {
		same = runs[i] < least ? 0 : same;
		least = runs[i] < least ? runs[i] : least;
		same += runs[i] == least;
	}
	return n && same * 4 >= n ? least : 0;
}

const struct bb_tried *bb_choose(const struct bb_attach_point *point, const struct bb_tried *tried,
				 size_t n)
{
	const struct bb_tried *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct bb_tried *t = &tried[i];

		if (!t->runs || (best && t->runs > best->runs))
			continue;
		if (!best || t->runs < best->runs ||
		    (t->runs > 1 && t->ns < best->ns &&
		     bb_trigger__distance(t->trigger, point) ==
			     bb_trigger__distance(best->trigger, point)))
			best = t;
	}
	return best;
}

static int run_part(const struct bb_fire_site *site, const struct bb_hook *open_hook,
		    struct list *l, struct bb_err *ended, struct bb_err *err)
{
	char how[100];
	struct bb_firer firer;
	struct bb_hook own = {0};
	const struct bb_hook *hook = open_hook ? open_hook : &own;
	int link_fd, rc = bb_firer__start(site, &l->point, NULL, sizeof(*l), &firer, err);

	if (rc)
		return rc;
	if (!open_hook)
		rc = bb_hook__open(&l->point, bb_firer__probed(&firer, &l->point), site, true, &own,
				   err);
	if (!rc) {
		rc = bb_hook__put(hook, l->reader.prog_fd, &link_fd, err);
		if (!rc) {
			memcpy(firer.shared, l, sizeof(*l));
			rc = bb_firer__do(&firer, try_all, ended);
			memcpy(l, firer.shared, sizeof(*l));
			bb_hook__take_off(hook, link_fd);
		}
		if (!open_hook)
			bb_hook__close(&own);
	}
	if (firer.call.pid && !ended->msg[0]) {
		bb_call_child__say_end(&firer.call, how, sizeof(how));
		if (how[0])
			bb_fail(ended, -ESRCH, "calling '%s' %s", l->point.by->call, how);
	}
	bb_firer__stop(&firer);
	return rc;
}

int bb_discover(const struct bb_fire_site *site, const struct bb_attach_point *point,
		const struct bb_hook *hook, const struct bb_stats_reader *reader, bool all,
		struct bb_discovery *ret_discovery, struct bb_err *err)
{
	struct list *l = bb_calloc(1, sizeof(*l));
	const struct bb_trigger *t;
	const struct bb_tried *best;
	struct bb_discovery d = {0};
	struct bb_err ended = {0};
	unsigned int deaths = 0;
	int rc;

	l->reader = *reader;
	l->point = *point;
	l->all = all;
	/* Triggers whose words match the hook's name best are tried first (bb_trigger__distance()).
	 * Among equal matches, system calls that the kernel refuses are tried last. */
	for (unsigned int pass = 0; pass < 6; pass++)
		for (size_t i = 0; (t = bb_trigger_at(i)) && l->n < BB_TRIGGERS_MOST; i++)
			if (bb_trigger__is_for(t, point) &&
			    bb_trigger__distance(t, point) == pass / 2 &&
			    (t->calls[0].kind == BB_CALL_FAILS) == pass % 2)
				l->tried[l->n++].trigger = t;
	do {
		rc = run_part(site, hook, l, &ended, err);
		if (rc == -ESRCH && l->next) {
			l->tried[l->next - 1].rc = rc;
			if (!deaths)
				snprintf(d.ended, sizeof(d.ended), "%.190s", ended.msg);
			rc = ++deaths < DEATHS ? 0 : rc;
		} else if (!rc && ended.msg[0]) {
			snprintf(d.ended, sizeof(d.ended), "%.190s", ended.msg);
		}
	} while (!rc && l->next < l->n && !bb_must_end());
	rc = rc == -ESRCH ? 0 : rc;
	if (!rc) {
		d.tried = bb_calloc(l->n, sizeof(*d.tried));
		d.n_tried = l->next < l->n ? l->next : l->n;
		memcpy(d.tried, l->tried, d.n_tried * sizeof(*d.tried));
		best = bb_choose(point, d.tried, d.n_tried);
		d.trigger = best ? best->trigger : NULL;
		d.runs_each = best ? best->runs : 0;
		*ret_discovery = d;
	}
	free(l);
	return rc;
}

void bb_discovery__done(struct bb_discovery *d)
{
	if (!d)
		return;
	free(d->tried);
	*d = (struct bb_discovery){0};
}
