/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

struct bb_report *bb_report__new(void)
{
	struct bb_report *r = bb_calloc(1, sizeof(*r));

	bb_record__init(&bb_report_record, r);
	return r;
}

void bb_report__free(struct bb_report *r)
{
	if (r)
		bb_record__done(&bb_report_record, r);
	free(r);
}

void bb_case__drop_empty_series(struct bb_case *c)
{
	BB_REMOVE(c->series, c->n_series,
		  !it->fired && !it->run_cnt && !it->hist.n && !it->void_why && !it->flow,
		  bb_record__done(&bb_series_record, it));
}

static void put_map(const struct bb_in_vain *v, FILE *mem)
{
	if (!v->map) {
		fputs("a map", mem);
		return;
	}
	fprintf(mem, "%s '%s'", v->is_inner ? "an inner map of" : "map", v->map);
	if (v->type)
		fprintf(mem, " (%s)", v->type);
}

static void put_entries(const struct bb_in_vain *v, FILE *mem)
{
	if (v->entries == 0)
		fputs(" is empty", mem);
	else if (v->entries > 0)
		fprintf(mem, " has %.0f%s entr%s", v->entries,
			v->entries >= BB_IN_VAIN_MANY ? " or more" : "",
			v->entries > 1 ? "ies" : "y");
}

static void put_place(const struct bb_in_vain *v, FILE *mem)
{
	if (v->file)
		fprintf(mem, " (%s:%" PRIu32, basename(v->file), v->line);
	if (v->file && v->places > 1)
		fprintf(mem, " and %" PRIu32 " more", v->places - 1);
	if (v->file)
		putc(')', mem);
}

char *bb_in_vain__words(const struct bb_in_vain *v)
{
	char *text = NULL;
	size_t len;
	FILE *mem = bb_open_memstream(&text, &len);

	if (v->is_tail_call) {
		fputs("the tail call into ", mem);
		put_map(v, mem);
		if (!isnan(v->index))
			fprintf(mem, " at index %.0f", v->index);
		put_place(v, mem);
		fputs(isnan(v->entries) ? " did not happen" : " did not happen: the map", mem);
		put_entries(v, mem);
	} else {
		put_map(v, mem);
		put_entries(v, mem);
		fputs(isnan(v->entries) ? ": " : ", and ", mem);
		if (v->in_vain < v->calls)
			fprintf(mem, "%.0f %% of ", 100 * (double)v->in_vain / (double)v->calls);
		fputs("its lookups", mem);
		put_place(v, mem);
		fputs(" found nothing", mem);
	}
	bb_close_memstream(mem);
	return text;
}

struct bb_estimate bb_counted_case__instructions(const struct bb_counted_case *c)
{
	struct bb_estimate e = {NAN, NAN, NAN};

	if (!bb_counted_case__counts(c))
		return e;
	e.value = (double)c->instructions / (double)c->runs;
	if (!bb_counted_case__is_exact(c)) {
		e.lo = (double)c->least;
		e.hi = (double)c->most;
	}
	return e;
}

static bool same_rows(const struct bb_timed *a, const struct bb_timed *b)
{
	for (size_t i = 0; i < a->n_rows && i < b->n_rows; i++) {
		const struct bb_timed_row *x = &a->rows[i], *y = &b->rows[i];

		if (x->insn != y->insn || x->line != y->line || x->last_line != y->last_line ||
		    x->turns != y->turns || strcmp(x->call, y->call) ||
		    bb_timed_row__compare_from(x, y, SIZE_MAX))
			return false;
	}
	return a->n_rows == b->n_rows;
}

static void append(struct bb_numbers *into, const struct bb_numbers *more)
{
	bb_numbers__append(into, more->x, more->n);
}

static struct bb_timed *like_timed(struct bb_report *r, const struct bb_timed *like)
{
	return BB_FIND(r->timed, r->n_timed, !strcmp(it->name, like->name));
}

int bb_report__take_loads(struct bb_report *into, struct bb_report *from, uint32_t first)
{
	for (size_t i = 0; i < from->n_timed; i++) {
		const struct bb_timed *t = like_timed(into, &from->timed[i]);

		if (!t || !same_rows(t, &from->timed[i]))
			return -EINVAL;
	}
	/* append the times of the loads, row by row */
	for (size_t i = 0; i < from->n_timed; i++) {
		const struct bb_timed *t = &from->timed[i];
		struct bb_timed *to = like_timed(into, t);
		double n = (double)to->program_ns.n, more = (double)t->program_ns.n;

		if (n + more > 0)
			to->check_ns = (n * to->check_ns + more * t->check_ns) / (n + more);
		to->runs += t->runs;
		to->other_ways += t->other_ways;
		to->sweeps += t->sweeps;
		to->disturbed += t->disturbed;
		to->processes += t->processes;
		append(&to->program_ns, &t->program_ns);
		append(&to->empty_ns, &t->empty_ns);
		append(&to->rest_ns, &t->rest_ns);
		append(&to->hidden_ns, &t->hidden_ns);
		for (size_t k = 0; k < to->n_rows; k++) {
			append(&to->rows[k].ns, &t->rows[k].ns);
			append(&to->rows[k].first_ns, &t->rows[k].first_ns);
		}
	}
	for (size_t i = 0; i < from->n_cases; i++) {
		struct bb_case *of = &from->cases[i],
			       *c = (struct bb_case *)bb_report__find_case(into, of->name);

		for (size_t k = 0; c && k < of->n_series; k++) {
			struct bb_series *s = bb_append(&c->series, &c->n_series, sizeof(*s));

			*s = of->series[k];
			s->load += first;
			of->series[k] = (struct bb_series){0};
		}
	}
	return 0;
}

/* Removes cases from index `first` on that have no series or, with `needs_valid`, no valid one. */
static void drop_cases(struct bb_report *r, size_t first, bool needs_valid)
{
	/* for each case, its new index, or BB_NO_FLOOR if it is removed */
	size_t *moved = bb_calloc(r->n_cases + 1, sizeof(*moved)), kept = 0;

	for (size_t i = 0; i < r->n_cases; i++) {
		struct bb_case *c = &r->cases[i];
		bool stays = i < first ||
			     (needs_valid ? !bb_case__why_no_sample(c) : c->n_series > 0);

		moved[i] = stays ? kept : BB_NO_FLOOR;
		if (stays)
			r->cases[kept++] = *c;
		else
			bb_record__done(&bb_case_record, c);
	}
	r->n_cases = kept;
	for (size_t i = 0; i < kept; i++)
		if (r->cases[i].floor != BB_NO_FLOOR)
			r->cases[i].floor = moved[r->cases[i].floor];
	free(moved);
}

const char *bb_case__why_no_sample(const struct bb_case *c)
{
	if (BB_ANY(c->series, c->n_series, !bb_series_why_void(it)))
		return NULL;
	return c->n_series ? bb_series_why_void(&c->series[0])
			   : "the run ended before it was measured";
}

void bb_report__drop_empty_cases(struct bb_report *r)
{
	drop_cases(r, 0, false);
}

void bb_report__skip_without_sample(struct bb_report *r, size_t first)
{
	if (first == r->n_cases ||
	    !BB_ANY(r->cases + first, r->n_cases - first, !bb_case__why_no_sample(it)))
		return;
	for (size_t i = first; i < r->n_cases; i++) {
		const char *why = bb_case__why_no_sample(&r->cases[i]);

		if (why)
			bb_report__add_skip(r, r->cases[i].name, why);
	}
	drop_cases(r, first, true);
}

bool bb_report__has_samples(const struct bb_report *r)
{
	for (size_t i = 0; i < r->n_cases; i++)
		if (BB_ANY(r->cases[i].series, r->cases[i].n_series, it->run_cnt || it->hist.n))
			return true;
	return r->n_counted;
}

const char *bb_series_why_void(const struct bb_series *s)
{
	if (s->void_why)
		return s->void_why;
	if (s->hist.n)
		return NULL;
	return s->run_cnt ? "no run had a window to itself (the poller was kept from its CPU)"
			  : "zero runs counted";
}

void bb_report__add_skip(struct bb_report *r, const char *what, const char *why)
{
	struct bb_skip *skip = BB_ADD(bb_skip_record, r, skips);

	*skip = (struct bb_skip){.what = bb_strdup(what), .why = bb_strdup(why)};
}

/* Returns the name of the only object, or NULL if there are several or a scenario file was run. */
static const char *only_object(const struct bb_report *r)
{
	const char *name = r->n_cases ? r->cases[0].scenario : NULL;

	return name && r->command && strstr(r->command, " --object") &&
			       !BB_ANY(r->cases, r->n_cases, strcmp(it->scenario, name)) &&
			       !BB_ANY(r->timed, r->n_timed, strcmp(it->scenario, name)) &&
			       !BB_ANY(r->counted, r->n_counted, strcmp(it->scenario, name))
		       ? name
		       : NULL;
}

static void rename_object(char **name, const char *from, const char *to)
{
	size_t len = strlen(from);
	char *old = *name;

	if (strncmp(old, from, len) || (old[len] && old[len] != '/'))
		return;
	*name = bb_asprintf("%s%s", to, old + len);
	free(old);
}

char *bb_report__rename_like(struct bb_report *r, const struct bb_report *like)
{
	const char *of_r = only_object(r), *to = only_object(like);

	if (!of_r || !to || !strcmp(of_r, to))
		return NULL;
	char *from = bb_strdup(of_r);
	for (size_t i = 0; i < r->n_cases; i++)
		rename_object(&r->cases[i].name, from, to);
	for (size_t i = 0; i < r->n_programs; i++)
		rename_object(&r->programs[i].name, from, to);
	for (size_t i = 0; i < r->n_timed; i++)
		rename_object(&r->timed[i].name, from, to);
	for (size_t i = 0; i < r->n_counted; i++) {
		struct bb_counted *c = &r->counted[i];

		rename_object(&c->name, from, to);
		for (size_t k = 0; k < c->n_cases; k++)
			rename_object(&c->cases[k].name, from, to);
	}
	return from;
}

const struct bb_case *bb_report__find_case(const struct bb_report *r, const char *name)
{
	return BB_FIND(r->cases, r->n_cases, it->name && !strcmp(it->name, name));
}

const struct bb_program *bb_report__find_program(const struct bb_report *r, const char *name)
{
	return BB_FIND(r->programs, r->n_programs, it->name && !strcmp(it->name, name));
}

const struct bb_program *bb_report__program_of(const struct bb_report *r, const struct bb_case *c)
{
	return BB_FIND(r->programs, r->n_programs,
		       bb_same_text(it->scenario, c->scenario) &&
			       bb_same_text(it->variant, c->variant));
}

size_t bb_report__count_verdict(const struct bb_report *r, enum bb_verdict verdict)
{
	return BB_SUM(r->comparisons, r->n_comparisons, it->verdict == verdict);
}
