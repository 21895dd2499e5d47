/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/read_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/stop.h"
#include "store/store.h"

#define MOST_THREADS 8
#define AHEAD 32

struct bb_read_ahead {
	const char *dir;
	char *const *names;
	size_t n, begun, given; /* begun: by the threads; given: to the caller */
	bool (*wanted)(void *arg, const struct bb_read_run *run);
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_over;
	struct {
		struct bb_read_run run;
		bool is_done;
	} slots[AHEAD];
	pthread_t threads[MOST_THREADS];
	int n_threads;
};

static void read_run(const struct bb_read_ahead *a, struct bb_read_run *run)
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
	struct bb_read_ahead *a = arg;

	pthread_mutex_lock(&a->lock);
	while (!a->is_over && a->begun < a->n) {
		size_t slot = a->begun % AHEAD;

		if (a->begun - a->given >= AHEAD) {
			pthread_cond_wait(&a->changed, &a->lock);
			continue;
		}
		a->slots[slot].run = (struct bb_read_run){.name = a->names[a->begun++]};
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
static void start_threads(struct bb_read_ahead *a)
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

struct bb_read_ahead *bb_read_ahead__new(const char *dir, char *const *names, size_t n,
					 bool (*wanted)(void *arg, const struct bb_read_run *run),
					 void *arg)
{
	struct bb_read_ahead *a = calloc(1, sizeof(*a));

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
		bb_read_ahead__free(a);
		return NULL;
	}
	return a;
}

bool bb_read_ahead__next(struct bb_read_ahead *a, struct bb_read_run *ret_run)
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

void bb_read_ahead__free(struct bb_read_ahead *a)
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
