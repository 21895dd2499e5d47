/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One copy of a capture for all that need it: the targets of a run, and who lists its programs. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/file.h"

struct lent {
	struct bb_capture *capture;
	struct stat file; /* when it was read */
	unsigned int n;   /* who has it */
	struct lent *next;
};

static struct lent *all;

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* The last one stays until another is read: a run opens its targets one after the other. */
static void drop_unused(void)
{
	struct lent **at = &all;

	while (*at) {
		struct lent *l = *at;

		if (l->n) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		bb_capture__free(l->capture);
		free(l);
	}
}

int bb_capture__borrow(const char *path, const struct bb_capture **ret_capture, struct bb_err *err)
{
	struct stat now = {0};
	struct lent *l;
	int rc;

	rc = stat(path, &now);
	for (l = all; l && !rc; l = l->next)
		if (is_unchanged(&l->file, &now) && !strcmp(l->capture->path, path)) {
			l->n++;
			*ret_capture = l->capture;
			return 0;
		}
	drop_unused();
	l = calloc(1, sizeof(*l));
	if (!l)
		return bb_fail_nomem(err);
	rc = bb_capture__read(path, &l->capture, err);
	if (rc) {
		free(l);
		return rc;
	}
	l->file = now;
	l->n = 1;
	l->next = all;
	all = l;
	*ret_capture = l->capture;
	return 0;
}

void bb_capture__give_back(const struct bb_capture *c)
{
	for (struct lent *l = all; l; l = l->next)
		if (l->capture == c)
			l->n--;
}
