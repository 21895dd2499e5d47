/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/live_look.h"

#include "bpf/prog_type.h"
#include "run/agent.h"
#include "run/record.h"

#define SCENARIO "live"
#define NO_NAME "no-name"
#define NOBODY "(loaded already)" /* owner of a program that no process has open */

static bool has_variant(const struct bb_report *r, const char *variant)
{
	return BB_ANY(r->cases, r->n_cases, !strcmp(it->variant, variant));
}

/* Returns `name`, with a number if either report has a variant of this name. Free it. */
static char *name_apart(const struct bb_report *r, const struct bb_report *other, const char *name)
{
	char *text = bb_strdup(*name ? name : NO_NAME);

	for (size_t k = 2; has_variant(r, text) || has_variant(other, text); k++) {
		free(text);
		text = bb_asprintf("%s-%zu", *name ? name : NO_NAME, k);
	}
	return text;
}

static int add_case(struct bb_live_look *look, const struct bb_live_row *row, struct bb_err *err)
{
	const struct bb_loaded *program = &row->program;
	struct bb_report *r = look->report;
	struct bb_prog_facts facts = {0};
	int fd, rc = bb_loaded__open(program->id, &fd, err);

	if (!rc) {
		rc = bb_prog_static__read(fd, &facts, err);
		close(fd);
	} else if (rc == -ENOENT) {
		bb_static_clear(&facts.metrics);
		snprintf(facts.type, sizeof(facts.type), "%s",
			 bb_prog_type_name(program->type).text);
		memcpy(facts.tag, program->tag, sizeof(facts.tag));
		rc = 0;
	}
	if (rc)
		return rc;
	char *variant = name_apart(r, r, program->name);
	struct bb_program *p = bb_record__facts(r, SCENARIO, variant, &facts);
	p->program = bb_strdup(*program->name ? program->name : NO_NAME);
	p->object = bb_strdup(NOBODY);
	BB_PUSH(look->ids, look->n, program->id);
	struct bb_case *c = BB_ADD(bb_case_record, r, cases);
	c->name = bb_asprintf(SCENARIO "/%s/" BB_DRIVE_WATCH, variant);
	c->scenario = bb_strdup(SCENARIO);
	c->variant = variant;
	c->drive = bb_strdup(BB_DRIVE_WATCH);
	c->is_live = true;
	return 0;
}

/* Without a distribution, the only sample is the mean of the slice. */
static void add_series(struct bb_case *c, uint32_t slice, const struct bb_live_row *row)
{
	struct bb_series *s = bb_record__series(c, slice, -1);

	s->elapsed_s = row->seconds;
	if (row->unclear) {
		bb_record__void(s, "bpfbench's own readings make it run, and these runs cannot be "
				   "told from the others");
		return;
	}
	s->misses = row->misses;
	s->run_cnt = row->runs;
	if (!row->runs) {
		bb_record__void(s, "no run in %.3g s", row->seconds);
		return;
	}
	s->multi = row->runs - row->windows * row->mean_of;
	s->run_time_ns = (uint64_t)llround(row->ns_per_run * (double)row->runs);
	if (row->samples.n)
		bb_hist_merge(&s->hist, &row->samples);
	else
		bb_hist_add(&s->hist, (uint64_t)llround(row->ns_per_run), 1);
}

int bb_live_look__add(struct bb_live_look *look, const struct bb_live_row *rows, size_t n,
		      struct bb_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		size_t k = 0;

		while (k < look->n && look->ids[k] != rows[i].program.id)
			k++;
		if (k == look->n && !rows[i].runs)
			continue;
		if (k == look->n)
			rc = add_case(look, &rows[i], err);
		if (!rc)
			add_series(&look->report->cases[k], look->n_slices, &rows[i]);
	}
	look->n_slices++;
	return rc;
}

int bb_live_look__end(struct bb_live_look *look, struct bb_err *err)
{
	struct bb_owner *owners = bb_calloc(look->n + 1, sizeof(*owners));
	int rc = look->n ? bb_owners__find(look->ids, look->n, owners) : -ENODATA;

	if (rc == -ENODATA)
		bb_fail(err, rc, "none of the watched programs ran");
	else if (rc)
		bb_fail(err, rc, "the descriptors of processes: %m");
	for (size_t i = 0; !rc && i < look->n; i++)
		if (owners[i].name[0]) {
			free(look->report->programs[i].object);
			look->report->programs[i].object = bb_strdup(owners[i].name);
		}
	free(owners);
	return rc;
}

void bb_live_look__done(struct bb_live_look *look)
{
	free(look->ids);
	*look = (struct bb_live_look){0};
}

/* Returns how alike two programs are: 2 to 7 if they may be the same program, else 0. */
static int likeness(const struct bb_program *a, const struct bb_program *b)
{
	bool tag = a->tag && b->tag && *a->tag && !strcmp(a->tag, b->tag);
	bool name = bb_same_text(a->program, b->program) && bb_same_text(a->type, b->type);

	return tag || name ? 4 * tag + 2 * name + bb_same_text(a->object, b->object) : 0;
}

/* Takes ownership of `variant`. */
static void rename_variant(struct bb_report *r, struct bb_program *p, char *variant)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		struct bb_case *c = &r->cases[i];

		if (strcmp(c->variant, p->variant))
			continue;
		free(c->variant);
		free(c->name);
		c->variant = bb_strdup(variant);
		c->name = bb_asprintf(SCENARIO "/%s/%s", variant, c->drive);
	}
	free(p->variant);
	free(p->name);
	p->variant = variant;
	p->name = bb_asprintf(SCENARIO "/%s", variant);
}

void bb_live_look__match(const struct bb_report *base, struct bb_report *now)
{
	/* of[i] is 1 + the index in `base` of program i of `now`, or 0 if `base` lacks it */
	size_t *of = bb_calloc(now->n_programs + 1, sizeof(*of));
	bool *taken = bb_calloc(base->n_programs + 1, sizeof(*taken));

	for (int least = 7; least > 0; least--)
		for (size_t i = 0; i < now->n_programs; i++)
			for (size_t k = 0; !of[i] && k < base->n_programs; k++)
				if (!taken[k] &&
				    likeness(&now->programs[i], &base->programs[k]) >= least) {
					of[i] = k + 1;
					taken[k] = true;
				}
	/* gives temporary names first, because a new name may be another's old name */
	for (size_t i = 0; i < now->n_programs; i++)
		rename_variant(now, &now->programs[i], bb_asprintf("/%zu", i));
	for (size_t i = 0; i < now->n_programs; i++)
		if (of[i])
			rename_variant(now, &now->programs[i],
				       bb_strdup(base->programs[of[i] - 1].variant));
	for (size_t i = 0; i < now->n_programs; i++)
		if (!of[i])
			rename_variant(now, &now->programs[i],
				       name_apart(base, now, now->programs[i].program));
	free(of);
	free(taken);
}
