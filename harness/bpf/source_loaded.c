/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program that somebody else has loaded: it is looked at, never changed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/loaded.h"
#include "bpf/source.h"

struct loaded {
	struct bb_source head;
	uint32_t id;
	int prog_fd;
};

/*
 * Let go of it and take it up again. If ours was the last hold on it, it goes now, as its owner
 * wanted it to: we delay that by the time between two loads at the most.
 */
static int loaded_load(struct bb_source *source, int *ret_prog_fd, struct bb_err *err)
{
	struct loaded *s = (struct loaded *)source;
	int rc = bb_loaded__open(s->id, &s->prog_fd, err);

	if (rc == -ENOENT)
		bb_fail(err, rc, "program '%s' (id %u) is gone: its owner unloaded it or ended",
			source->program, s->id);
	if (rc)
		s->prog_fd = -1;
	else
		*ret_prog_fd = s->prog_fd;
	return rc;
}

static void loaded_unload(struct bb_source *source)
{
	struct loaded *s = (struct loaded *)source;

	if (s->prog_fd >= 0)
		close(s->prog_fd);
	s->prog_fd = -1;
}

static void loaded_free(struct bb_source *source)
{
	loaded_unload(source);
	free(source->program);
	free(source->where);
	free(source);
}

static const struct bb_source_ops loaded_ops = {
	.load = loaded_load,
	.unload = loaded_unload,
	.free = loaded_free,
};

int bb_source_loaded__open(uint32_t id, const char *pinned, struct bb_source **ret_source,
			   struct bb_err *err)
{
	struct loaded *s = calloc(1, sizeof(*s));
	struct bb_loaded loaded;
	int rc, fd = -1;

	if (!s)
		return bb_fail_nomem(err);
	s->head.ops = &loaded_ops;
	s->prog_fd = -1;
	rc = pinned ? bb_loaded__open_pinned(pinned, &fd, err) : bb_loaded__open(id, &fd, err);
	if (!rc)
		rc = bb_loaded__read(fd, &loaded, err);
	if (!rc) {
		s->id = loaded.id;
		s->head.program = strdup(loaded.name);
		s->head.where = strdup("a loaded program");
		rc = s->head.program && s->head.where ? 0 : bb_fail_nomem(err);
	}
	if (fd >= 0)
		close(fd);
	if (rc)
		loaded_free(&s->head);
	else
		*ret_source = &s->head;
	return rc;
}
