/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/matrix.h"

#include "base/json_writer.h"
#include "core/drive_kind.h"
#include "export/table_cells.h"
#include "judge/gate.h"

struct matrix {
	const struct bb_matrix_kernel *kernels;
	size_t n;
	struct bb_doc *d;
	struct bb_strings variants; /* names of the programs, without floors */
};

static const struct bb_program *program_of(const struct bb_report *r, const char *variant)
{
	for (size_t i = 0; r && i < r->n_programs; i++)
		if (!strcmp(r->programs[i].variant, variant))
			return &r->programs[i];
	return NULL;
}

/* Returns the variant in the name of a skip, "scenario/variant"; NULL if the skip is about a
 * drive, "scenario/variant/drive". */
static const char *variant_of_skip(const struct bb_skip *s)
{
	const char *slash = strchr(s->what, '/');

	return slash && !strchr(slash + 1, '/') ? slash + 1 : NULL;
}

static const struct bb_skip *skip_of(const struct bb_report *r, const char *variant)
{
	for (size_t i = 0; r && i < r->n_skips; i++) {
		const char *name = variant_of_skip(&r->skips[i]);

		if (name && !strcmp(name, variant))
			return &r->skips[i];
	}
	return NULL;
}

static bool is_step(const struct bb_case *c)
{
	return !strcmp(c->drive, "step");
}

static bool is_floor(const struct matrix *m, const char *variant)
{
	for (size_t k = 0; k < m->n; k++) {
		const struct bb_report *r = m->kernels[k].run;

		for (size_t i = 0; r && i < r->n_cases; i++)
			if (!strcmp(r->cases[i].variant, variant) && bb_is_floor(r, &r->cases[i]))
				return true;
	}
	return false;
}

static void add_variant(struct matrix *m, const char *variant)
{
	const char **v = (const char **)(uintptr_t)m->variants.v;

	if (is_floor(m, variant))
		return;
	for (size_t i = 0; i < m->variants.n; i++)
		if (!strcmp(v[i], variant))
			return;
	v = realloc(v, (m->variants.n + 1) * sizeof(*v));
	if (!v) {
		m->d->failed = true;
		return;
	}
	v[m->variants.n++] = variant;
	m->variants.v = v;
}

/* Lists the programs in the order of the runs: those that load, then the others. */
static void find_variants(struct matrix *m)
{
	for (size_t k = 0; k < m->n; k++) {
		const struct bb_report *r = m->kernels[k].run;

		for (size_t i = 0; r && i < r->n_programs; i++)
			add_variant(m, r->programs[i].variant);
		for (size_t i = 0; r && i < r->n_skips; i++)
			if (variant_of_skip(&r->skips[i]))
				add_variant(m, variant_of_skip(&r->skips[i]));
	}
}

/* Begins a row. `*first` is the program's name for its first row; it is then "". */
static void begin_row(struct matrix *m, const char **first, const char *figure,
		      const struct bb_case *c)
{
	bb_doc__text_cell(m->d, *first);
	*first = "";
	if (c && c->param_text)
		bb_doc__cell(m->d, "%s, %s", figure, c->param_text);
	else
		bb_doc__text_cell(m->d, figure);
}

static void add_loads(struct matrix *m, const char *variant, const char **first)
{
	bool refused = false;

	for (size_t k = 0; k < m->n; k++)
		refused |= skip_of(m->kernels[k].run, variant) != NULL;
	if (!refused)
		return;
	begin_row(m, first, "loads", NULL);
	for (size_t k = 0; k < m->n; k++) {
		const struct bb_report *r = m->kernels[k].run;

		bb_doc__text_cell(m->d, program_of(r, variant) ? "yes"
					: skip_of(r, variant)  ? "no"
							       : NULL);
	}
}

static void add_verified(struct matrix *m, const char *variant, const char **first)
{
	begin_row(m, first, "verified", NULL);
	for (size_t k = 0; k < m->n; k++) {
		const struct bb_program *p = program_of(m->kernels[k].run, variant);
		double verified = p ? p->metrics.verified_insns : NAN;

		if (isfinite(verified))
			bb_doc__cell(m->d, "%s (%.1f %%)",
				     bb_table_cell_number(verified, BB_WHOLE).text,
				     100 * verified / BB_VERIFIER_LIMIT);
		else
			bb_doc__text_cell(m->d, NULL);
	}
}

static bool is_same(const struct bb_case *a, const char *variant, const char *param_text)
{
	return is_step(a) && !strcmp(a->variant, variant) &&
	       bb_same_text(a->param_text, param_text);
}

static const struct bb_case *case_of(const struct bb_report *r, const struct bb_case *like)
{
	for (size_t i = 0; r && i < r->n_cases; i++)
		if (is_same(&r->cases[i], like->variant, like->param_text))
			return &r->cases[i];
	return NULL;
}

static const struct bb_counted_case *counted_of(const struct bb_report *r,
						const struct bb_case *like)
{
	for (size_t i = 0; r && i < r->n_counted; i++)
		for (size_t k = 0; k < r->counted[i].n_cases; k++) {
			const struct bb_counted_case *c = &r->counted[i].cases[k];

			if (!strcmp(r->counted[i].variant, like->variant) &&
			    bb_same_text(c->param_text, like->param_text))
				return c;
		}
	return NULL;
}

static void add_executed(struct matrix *m, const struct bb_case *like, const char **first)
{
	begin_row(m, first, "BPF", like);
	for (size_t k = 0; k < m->n; k++) {
		const struct bb_counted_case *c = counted_of(m->kernels[k].run, like);

		bb_doc__number_cell(m->d, c ? bb_counted_case__instructions(c).value : NAN,
				    BB_WHOLE);
	}
}

/* Returns the machine instructions of one run less those of the floor. */
static struct bb_most_frequent machine_net(const struct bb_report *r, const struct bb_case *c)
{
	struct bb_most_frequent m = bb_case__most_frequent(c);

	if (c->floor != BB_NO_FLOOR)
		m.value -= bb_case__most_frequent(&r->cases[c->floor]).value;
	return m;
}

static void add_machine(struct matrix *m, const struct bb_case *like, const char **first)
{
	begin_row(m, first, "machine", like);
	for (size_t k = 0; k < m->n; k++) {
		const struct bb_report *r = m->kernels[k].run;
		const struct bb_case *c = case_of(r, like);
		struct bb_most_frequent net = {NAN, NAN};

		if (c)
			net = machine_net(r, c);
		if (isfinite(net.value) && net.others > 0)
			bb_doc__cell(m->d, "%s (%.1f %%)",
				     bb_table_cell_number(net.value, BB_WHOLE).text,
				     100 * net.others);
		else
			bb_doc__table_cell(m->d, bb_table_cell_number(net.value, BB_WHOLE));
	}
}

/* Adds the figures of runs: one pair of rows for each case, in the order of the first kernel that
 * has it. */
static void add_runs(struct matrix *m, const char *variant, const char **first)
{
	for (size_t k = 0; k < m->n; k++) {
		const struct bb_report *r = m->kernels[k].run;

		for (size_t i = 0; r && i < r->n_cases; i++) {
			const struct bb_case *c = &r->cases[i];
			bool is_shown = !is_step(c) || strcmp(c->variant, variant);

			for (size_t earlier = 0; !is_shown && earlier < k; earlier++)
				is_shown = case_of(m->kernels[earlier].run, c) != NULL;
			if (is_shown)
				continue;
			add_executed(m, c, first);
			add_machine(m, c, first);
		}
	}
}

/* Adds a note for each case of kernel `k` without a valid sample. */
static void add_voids(struct matrix *m, size_t k)
{
	const struct bb_report *r = m->kernels[k].run;

	for (size_t i = 0; i < r->n_cases; i++)
		if (isnan(bb_case__most_frequent(&r->cases[i]).value))
			bb_doc__add(m->d, BB_DOC_ITEM, m->kernels[k].name, "%s: %s",
				    r->cases[i].name, bb_case__why_no_sample(&r->cases[i]));
	if (r->incomplete)
		bb_doc__add(m->d, BB_DOC_BAD_ITEM, m->kernels[k].name, "incomplete: %s",
			    r->incomplete);
}

/* Adds a note for each reason of kernel `k`, with all programs that have it. */
static void add_reasons(struct matrix *m, size_t k)
{
	const struct bb_report *r = m->kernels[k].run;

	for (size_t i = 0; i < r->n_skips; i++) {
		const struct bb_skip *s = &r->skips[i];
		bool is_new = true;

		for (size_t j = 0; j < i; j++)
			is_new &= strcmp(r->skips[j].why, s->why) != 0;
		if (!is_new)
			continue;
		bb_doc__add(m->d, BB_DOC_ITEM, m->kernels[k].name, "%s", s->what);
		for (size_t j = i + 1; j < r->n_skips; j++)
			if (!strcmp(r->skips[j].why, s->why))
				bb_doc__append(m->d, ", %s", r->skips[j].what);
		bb_doc__append(m->d, ": %s", s->why);
	}
}

void bb_doc_matrix(const struct bb_matrix_kernel *kernels, size_t n, struct bb_doc *d)
{
	static const struct bb_doc_column columns[] = {{BB_TEXT("program")}, {BB_TEXT("figure")}};
	struct matrix m = {kernels, n, d, {0}};

	find_variants(&m);
	bb_doc__add(d, BB_DOC_TITLE, NULL, "programs by kernel");
	bb_doc__table(d, columns, BB_LEN(columns));
	for (size_t k = 0; k < n; k++)
		bb_doc__column(d, (struct bb_doc_column){BB_NUMBER(kernels[k].name)});
	for (size_t i = 0; i < m.variants.n; i++) {
		const char *first = m.variants.v[i];

		add_loads(&m, m.variants.v[i], &first);
		add_verified(&m, m.variants.v[i], &first);
		add_runs(&m, m.variants.v[i], &first);
	}
	bb_doc__add(d, BB_DOC_FAINT, "verified",
		    "instructions that the verifier processed, and their share of its limit of "
		    "1 000 000");
	bb_doc__add(d, BB_DOC_FAINT, "BPF",
		    "BPF instructions of one run, without those of helpers");
	bb_doc__add(d, BB_DOC_FAINT, "machine",
		    "machine instructions of one run, helpers included, less those of the floor "
		    "(an empty program): the most frequent value, and the share of other values");
	for (size_t k = 0; k < n; k++) {
		const struct bb_report *r = kernels[k].run;

		if (r)
			bb_doc__add(d, BB_DOC_FAINT, kernels[k].name, "Linux %s, %s",
				    r->fingerprint.kernel_release, r->fingerprint.cpu_model);
		else
			bb_doc__add(d, BB_DOC_BAD_ITEM, kernels[k].name, "%s", kernels[k].why);
		if (r) {
			add_reasons(&m, k);
			add_voids(&m, k);
		}
	}
	free((void *)(uintptr_t)m.variants.v);
}

/* --- BMF --- */

static void write_measure(struct bb_json *w, const char *slug, double value)
{
	if (!isfinite(value))
		return;
	bb_json__open(w, slug, "{");
	bb_json__add_fixed(w, "value", value);
	bb_json__close(w);
}

static void open_benchmark(struct bb_json *w, const char *name, const char *kernel)
{
	char whole[1024];

	snprintf(whole, sizeof(whole), "%s/kernel=%s", name, kernel);
	bb_json__open(w, whole, "{\n");
}

static void write_kernel(struct bb_json *w, const char *kernel, const struct bb_report *r)
{
	for (size_t i = 0; i < r->n_programs; i++) {
		double verified = r->programs[i].metrics.verified_insns;

		if (!isfinite(verified))
			continue;
		open_benchmark(w, r->programs[i].name, kernel);
		write_measure(w, "verified-instructions", verified);
		bb_json__close(w);
	}
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];
		const struct bb_counted_case *counted = counted_of(r, c);
		double net = machine_net(r, c).value;

		if (!is_step(c) || !isfinite(net))
			continue;
		open_benchmark(w, c->name, kernel);
		write_measure(w, "machine-instructions", net);
		if (counted)
			write_measure(w, bb_metric_instructions.slug,
				      bb_counted_case__instructions(counted).value);
		bb_json__close(w);
	}
}

void bb_matrix__write_bmf(const struct bb_matrix_kernel *kernels, size_t n, FILE *out)
{
	struct bb_json w = {.out = out, .indent = 2};

	bb_json__open(&w, NULL, "{\n");
	for (size_t k = 0; k < n; k++)
		if (kernels[k].run)
			write_kernel(&w, kernels[k].name, kernels[k].run);
	bb_json__end(&w);
}
