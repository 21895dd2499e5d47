/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/built_objects.h"

#include <errno.h>
#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/io.h"

#define EXTENSION ".bpf.o"
#define MAX_BYTES (256u << 20)
#define MAX_ALL_BYTES (512u << 20) /* /run is memory */
#define MOST_OBJECTS 10000u

struct bb_built_object *bb_built_objects__name(struct bb_built_objects *o, const char *path)
{
	struct bb_built_object *v;

	for (size_t i = 0; i < o->n; i++)
		if (!strcmp(o->v[i].path, path))
			return &o->v[i];
	v = bb_append(&o->v, &o->n, sizeof(*v));
	if (!v)
		return NULL;
	v->path = strdup(path);
	if (v->path)
		return v;
	o->n--;
	return NULL;
}

/* A file that is not there is left out. */
static int keep(struct bb_built_objects *o, const struct bb_repo *repo, enum bb_revision revision,
		const char *path, struct bb_err *err)
{
	struct bb_built_object *v = bb_built_objects__name(o, path);
	size_t bytes = 0, max = MAX_BYTES;
	char name[32];
	int rc;

	if (!v)
		return bb_fail_nomem(err);
	if (v->file[revision])
		return 0;
	snprintf(name, sizeof(name), "%s%zu.o", revision == BB_BASE ? "base" : "head",
		 (size_t)(v - o->v));
	if (max > MAX_ALL_BYTES - o->bytes)
		max = MAX_ALL_BYTES - o->bytes;
	rc = o->n > MOST_OBJECTS ? -EFBIG : bb_repo__keep(repo, path, name, max, &bytes, err);
	o->bytes += bytes;
	if (rc == -EFBIG && (max < MAX_BYTES || o->n > MOST_OBJECTS))
		bb_fail(err, rc,
			"%s: with this one, the objects of both builds are more than %u, or have "
			"more than 512 MiB; name those that count by --object",
			path, MOST_OBJECTS);
	if (!rc && asprintf(&v->file[revision], "%s/%s", repo->kept, name) < 0)
		rc = bb_fail_nomem(err);
	if (rc && !v->file[BB_BASE] && v == &o->v[o->n - 1]) {
		free(v->path);
		o->n--;
	}
	return rc == -ENOENT ? 0 : rc;
}

static bool is_object(const FTSENT *e)
{
	size_t len = strlen(EXTENSION);

	return e->fts_info == FTS_F && e->fts_namelen > len &&
	       !strcmp(e->fts_name + e->fts_namelen - len, EXTENSION);
}

/* By name, so that the order is that of neither the file system nor the build. */
static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int keep_all(struct bb_built_objects *o, const struct bb_repo *repo,
		    enum bb_revision revision, struct bb_err *err)
{
	char *roots[] = {(char *)(uintptr_t)repo->tree, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *e;
	int rc = 0;

	if (!fts)
		return bb_fail(err, -errno, "%s: %s", repo->tree, strerror(errno));
	while (!rc && (e = fts_read(fts)))
		if (is_object(e))
			rc = keep(o, repo, revision, e->fts_path + strlen(repo->tree) + 1, err);
	fts_close(fts);
	return rc;
}

int bb_built_objects__keep(struct bb_built_objects *o, const struct bb_repo *repo,
			   enum bb_revision revision, const char *const *paths, size_t n,
			   struct bb_err *err)
{
	int rc = n ? 0 : keep_all(o, repo, revision, err);

	for (size_t i = 0; !rc && i < n; i++)
		rc = keep(o, repo, revision, paths[i], err);
	return rc;
}

int bb_built_objects__add(struct bb_built_objects *o, enum bb_revision revision, const char *path,
			  const char *file, struct bb_err *err)
{
	struct bb_built_object *v = bb_built_objects__name(o, path);

	if (v)
		v->file[revision] = strdup(file);
	return v && v->file[revision] ? 0 : bb_fail_nomem(err);
}

int bb_built_objects__take_base(struct bb_built_objects *o, struct bb_err *err)
{
	for (size_t i = 0; i < o->n; i++) {
		o->v[i].file[BB_HEAD] = strdup(o->v[i].file[BB_BASE]);
		if (!o->v[i].file[BB_HEAD])
			return bb_fail_nomem(err);
	}
	return 0;
}

int bb_built_object__is_same(const struct bb_built_object *o, bool *ret_same, struct bb_err *err)
{
	char *data[BB_N_REVISIONS] = {0};
	size_t len[BB_N_REVISIONS] = {0};
	int rc = 0;

	for (int r = 0; !rc && r < BB_N_REVISIONS; r++)
		rc = bb_read_file(o->file[r], MAX_BYTES, &data[r], &len[r], err);
	if (!rc)
		*ret_same = len[BB_BASE] == len[BB_HEAD] &&
			    !memcmp(data[BB_BASE], data[BB_HEAD], len[BB_BASE]);
	free(data[BB_BASE]);
	free(data[BB_HEAD]);
	return rc;
}

const struct bb_built_object *bb_built_objects__find(const struct bb_built_objects *o,
						     const char *name)
{
	const struct bb_built_object *found = NULL;
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++) {
		if (!strcmp(o->v[i].path, name))
			return &o->v[i];
		if (!strcmp(basename(o->v[i].path), basename(name))) {
			found = &o->v[i];
			n++;
		}
	}
	return n == 1 ? found : NULL;
}

void bb_built_objects__done(struct bb_built_objects *o)
{
	for (size_t i = 0; i < o->n; i++) {
		free(o->v[i].path);
		for (int r = 0; r < BB_N_REVISIONS; r++)
			free(o->v[i].file[r]);
	}
	free(o->v);
	*o = (struct bb_built_objects){0};
}
