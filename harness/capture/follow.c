/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/supervise.h"

#include <bpf/bpf.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "base/bpf_info.h"
#include "base/io.h"
#include "capture/watched.h"
#include "capture/replay.h"

#define MAX_MAPS 64 /* limit: maps of one program: MAX_USED_MAPS of the kernel */

struct bb_follow {
	struct bb_watched command;
	struct bb_take take;
	pthread_mutex_t lock; /* protects `take` and `last_ns` */
	pthread_t thread;
	uint64_t last_ns; /* time of the last call that loaded or attached */
	int enough_fd;    /* an eventfd; writing to it ends the thread */
};

/* --- did the command load this program? --- */

struct maps_of_program {
	const struct bb_take *take;
	const uint32_t *ids;
	uint32_t n;
};

static int is_among(void *arg, size_t map)
{
	const struct maps_of_program *m = arg;

	if (BB_ANY(m->ids, m->n, *it == m->take->capture->maps[map].held.id))
		return 0;
	return -ENOENT;
}

static bool is_like(const struct bb_take *t, const struct bb_captured_prog *p,
		    const struct bpf_prog_info *info, const uint32_t *map_ids)
{
	struct maps_of_program maps = {t, map_ids, info->nr_map_ids};

	return p->type == info->type &&
	       !strncmp(p->kernel_name, info->name, sizeof(p->kernel_name)) &&
	       !bb_captured_prog__each_map(p, is_among, &maps);
}

static bool has_loaded(const struct bb_take *t, uint32_t id)
{
	uint32_t map_ids[MAX_MAPS];
	struct bpf_prog_info info = {.nr_map_ids = MAX_MAPS, .map_ids = (uintptr_t)map_ids};
	int fd, rc;

	if (id < t->first_prog_id)
		return false;
	/* the command has passed this program to a system call */
	for (size_t i = 0; i < t->n_seen; i++)
		if (t->seen[i].id == id)
			return true;
	fd = bpf_prog_get_fd_by_id(id);
	rc = fd < 0 ? -errno : bb_info__read(fd, &info);
	bb_close(&fd);
	if (rc || info.nr_map_ids > MAX_MAPS)
		return false;
	return BB_ANY(t->capture->progs, t->capture->n_progs, is_like(t, it, &info, map_ids));
}

/* --- the thread --- */

static size_t n_made(const struct bb_take *t)
{
	return t->capture->n_progs + t->capture->n_attachments;
}

/* The thread sleeps until the command makes a watched call. If it polled, it would make system
 * calls, which may run the programs that are measured. */
static void *serve(void *arg)
{
	struct bb_follow *f = arg;
	struct pollfd p[] = {{.fd = f->command.listener.fd, .events = POLLIN},
			     {.fd = f->enough_fd, .events = POLLIN}};
	size_t n_before;
	int rc = 0;
	bool any;

	while (!rc) {
		if (poll(p, BB_LEN(p), -1) < 0 && errno != EINTR)
			break;
		if (p[1].revents)
			break;
		pthread_mutex_lock(&f->lock);
		n_before = n_made(&f->take);
		rc = bb_watched__serve(&f->command, 0, &f->take, &any);
		if (n_made(&f->take) != n_before)
			f->last_ns = bb_now_ns();
		pthread_mutex_unlock(&f->lock);
	}
	return NULL;
}

/* The new thread blocks all signals, because the measuring thread handles them. */
static int start_thread(struct bb_follow *f)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	rc = pthread_create(&f->thread, NULL, serve, f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -rc;
}

/* --- from start to end --- */

int bb_follow__start(const char *const *argv, const char *const *env, struct bb_follow **ret_follow,
		     struct bb_err *err)
{
	struct bb_follow *f = bb_calloc(1, sizeof(*f));
	int rc;

	f->enough_fd = eventfd(0, EFD_CLOEXEC);
	f->take = bb_take__begin(argv);
	rc = f->enough_fd < 0 ? bb_fail(err, -errno, "eventfd: %m") : 0;
	if (!rc)
		rc = bb_watched__start(argv, NULL, env, true, &f->command, err);
	if (rc) {
		bb_close(&f->enough_fd);
		bb_take__free(&f->take);
		free(f);
		return rc;
	}
	pthread_mutex_init(&f->lock, NULL);
	f->last_ns = bb_now_ns();
	rc = start_thread(f);
	if (rc) {
		bb_fail(err, rc, "a thread to watch the command: %m");
		bb_follow__end(f);
		return rc;
	}
	*ret_follow = f;
	return 0;
}

bool bb_follow__loaded(struct bb_follow *f, uint32_t id)
{
	bool is_its;

	pthread_mutex_lock(&f->lock);
	is_its = has_loaded(&f->take, id);
	pthread_mutex_unlock(&f->lock);
	return is_its;
}

size_t bb_follow__n_loads(struct bb_follow *f, double *ret_quiet_s)
{
	size_t n;

	pthread_mutex_lock(&f->lock);
	n = f->take.capture->n_progs;
	*ret_quiet_s = bb_seconds_since(f->last_ns);
	pthread_mutex_unlock(&f->lock);
	return n;
}

bool bb_follow__ended(struct bb_follow *f, int *ret_status)
{
	bb_watched__look(&f->command);
	*ret_status = f->command.status;
	return f->command.ended;
}

bool bb_follow__end(struct bb_follow *f)
{
	uint64_t enough = 1;
	bool all_ended;

	if (!f)
		return true;
	if (f->thread && write(f->enough_fd, &enough, sizeof(enough)) == sizeof(enough))
		pthread_join(f->thread, NULL);
	all_ended = bb_watched__end(&f->command);
	bb_watched__close(&f->command, false);
	bb_take__free(&f->take);
	pthread_mutex_destroy(&f->lock);
	close(f->enough_fd);
	free(f);
	return all_ended;
}
