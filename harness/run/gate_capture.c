/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/gate_capture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/caller.h"
#include "base/clock.h"
#include "capture/file.h"
#include "capture/section.h"

int bb_gate_capture__keep(const struct bb_capture_opts *opts, const struct bb_repo *repo,
			  enum bb_revision revision, double *spent_s,
			  struct bb_built_objects *objects, struct bb_err *err)
{
	const char *name = revision == BB_BASE ? "base" : "head";
	struct bb_capture_facts facts = {0};
	struct bb_capture_opts here = *opts;
	struct bb_capture *capture = NULL;
	char path[PATH_MAX + 32];
	uint64_t began_ns = bb_now_ns();
	struct bb_err why = {0};
	int rc;

	here.dir = repo->tree;
	if (here.budget_s > 0)
		here.budget_s = fmax(here.budget_s - *spent_s, 1e-3);
	snprintf(path, sizeof(path), "%s/%s.capture", repo->kept, name);
	rc = bb_capture_command(&here, &capture, &facts, &why);
	if (!rc) {
		bb_root__begin(); /* the folder is ours, and the caller may read in it */
		rc = bb_capture__write(capture, path, &why);
		if (!rc && chmod(path, 0440))
			rc = bb_fail(&why, -errno, "%s: %s", path, strerror(errno));
		bb_root__end();
	}
	bb_capture__free(capture);
	*spent_s += bb_seconds_since(began_ns);
	if (rc)
		return bb_fail(err, rc, "%s: %s", name, why.msg);
	return bb_built_objects__add(objects, revision, BB_GATE_CAPTURE, path, err);
}

static const struct bb_object_program *namesake(const struct bb_object_info *info, const char *name)
{
	for (size_t i = 0; i < info->n_programs; i++)
		if (!strcmp(info->programs[i].name, name))
			return &info->programs[i];
	return NULL;
}

/* In the same place, and without a namesake in the other revision. */
static bool competes(const struct bb_object_program *q, const struct bb_object_program *p,
		     const struct bb_object_info *other)
{
	return q->type == p->type && !strcmp(q->section, p->section) && !namesake(other, q->name);
}

const struct bb_object_program *bb_gate_partner(const struct bb_object_info *own,
						const struct bb_object_program *p,
						const struct bb_object_info *other)
{
	const struct bb_object_program *found = namesake(other, p->name);
	size_t before = 0;

	if (found || !own->is_capture || !other->is_capture || !strcmp(p->section, BB_NOT_ATTACHED))
		return found;
	for (size_t i = 0; &own->programs[i] != p; i++)
		before += competes(&own->programs[i], p, other);
	for (size_t i = 0; i < other->n_programs; i++)
		if (competes(&other->programs[i], p, own) && !before--)
			return &other->programs[i];
	return NULL;
}

int bb_gate_capture__is_same(const struct bb_built_object *o, const char *base, const char *head,
			     bool *ret_same, struct bb_err *err)
{
	struct bb_capture *c[BB_N_REVISIONS] = {0};
	int rc = 0;

	*ret_same = false;
	if (strcmp(o->path, BB_GATE_CAPTURE))
		return 0;
	for (int r = 0; !rc && r < BB_N_REVISIONS; r++)
		rc = bb_capture__read(o->file[r], &c[r], err);
	if (!rc) {
		const struct bb_captured_prog *p = bb_capture__find(c[BB_BASE], base);
		const struct bb_captured_prog *q = bb_capture__find(c[BB_HEAD], head);

		*ret_same = p && q && bb_captured_prog__is_same(c[BB_BASE], p, c[BB_HEAD], q);
	}
	for (int r = 0; r < BB_N_REVISIONS; r++)
		bb_capture__free(c[r]);
	return rc;
}
