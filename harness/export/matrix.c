/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/matrix.h"

#include "base/json_writer.h"
#include "base/text.h"
#include "export/documents.h"

/* The figures of a program, each a row of the matrix. Those before N_LOADED are known once the
 * kernel has loaded the program, and are also written in BMF under the name `slug`. */
enum { VERIFIED, STATES, STACK, N_LOADED, EXECUTED = N_LOADED, MACHINE, N_FIGURES };

static const struct figure {
	const char *name, *slug, *meaning;
	size_t offset; /* in struct bb_prog_static, for figures before N_LOADED */
	/* the table of pairs has this figure, too, under the first word of `name` */
	bool of_pairs;
} figures[] = {
	[VERIFIED] = {"verified insns", "verified-instructions",
		      "instructions that the verifier processed, and from 1 % on their share of "
		      "its limit of 1 000 000",
		      offsetof(struct bb_prog_static, verified_insns), true},
	[STATES] = {"verifier states", "verifier-states",
		    "that the verifier saved to compare later paths with",
		    offsetof(struct bb_prog_static, total_states), false},
	[STACK] = {"stack bytes", "stack-depth-bytes",
		   "of its functions added up; one chain of calls may have 512",
		   offsetof(struct bb_prog_static, stack_bytes), false},
	[EXECUTED] = {"BPF insns/run", NULL, "without those of helpers", 0, false},
	[MACHINE] = {"machine insns/run", NULL,
		     "helpers included, less those of the floor (an empty program): the most "
		     "frequent value, and the share of other values if it is 1 % or more",
		     0, true},
};

#define SHARE_SHOWN 0.01 /* a share below this is not written after its figure */

/* How one figure differs between the kernels, over all rows of the matrix. */
struct difference {
	size_t n;
	const char *variant; /* program of the row where it differs most */
	/* the extreme values in that row, where `from` is of the earlier kernel */
	double from, to;
};

struct matrix {
	const struct bb_matrix_kernel *kernels;
	size_t n;
	struct bb_doc *d;
	struct bb_strings variants; /* without floors (empty programs) */
	struct difference differences[N_FIGURES];
	size_t n_refused; /* number of programs that only some of the kernels load */
	/* only for the table of pairs */
	struct pair_row *rows;
	size_t n_rows;
};

static const struct bb_program *program_of(const struct bb_report *r, const char *variant)
{
	return r ? BB_FIND(r->programs, r->n_programs, !strcmp(it->variant, variant)) : NULL;
}

/* Returns the variant if all of it was skipped ("scenario/variant"). Returns NULL if only a drive
 * of it was ("scenario/variant/drive"). */
static const char *variant_of_skip(const struct bb_skip *s)
{
	const char *slash = strchr(s->what, '/');

	return slash && !strchr(slash + 1, '/') ? slash + 1 : NULL;
}

static const struct bb_skip *skip_of(const struct bb_report *r, const char *variant)
{
	return r ? BB_FIND(r->skips, r->n_skips, bb_same_text(variant_of_skip(it), variant)) : NULL;
}

static bool is_step(const struct bb_case *c)
{
	return !strcmp(c->drive, "step");
}

/* Does nothing if the variant is a floor, or is in the list already. */
static void add_variant(struct matrix *m, const char *variant)
{
	if (BB_ANY(m->variants.v, m->variants.n, !strcmp(*it, variant)))
		return;
	for (size_t k = 0; k < m->n; k++) {
		const struct bb_report *r = m->kernels[k].run;

		if (r && BB_ANY(r->cases, r->n_cases,
				!strcmp(it->variant, variant) && bb_is_floor(r, it)))
			return;
	}
	const char **added = bb_append(&m->variants.v, &m->variants.n, sizeof(*added));
	*added = variant;
}

/* Lists the variants of all kernels' runs, each once. */
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

static void add_loads(struct matrix *m, const char *variant, const char **first)
{
	if (!BB_ANY(m->kernels, m->n, skip_of(it->run, variant)))
		return;
	m->n_refused += BB_ANY(m->kernels, m->n, program_of(it->run, variant));
	bb_doc__text_cell(m->d, *first);
	bb_doc__text_cell(m->d, "loads");
	*first = "";
	for (size_t k = 0; k < m->n; k++) {
		const struct bb_report *r = m->kernels[k].run;

		bb_doc__text_cell(m->d, program_of(r, variant) ? "yes"
					: skip_of(r, variant)  ? "no"
							       : NULL);
	}
}

static bool is_same(const struct bb_case *a, const char *variant, const char *param_text)
{
	return is_step(a) && !strcmp(a->variant, variant) &&
	       bb_same_text(a->param_text, param_text);
}

static const struct bb_case *case_of(const struct bb_report *r, const struct bb_case *like)
{
	return r ? BB_FIND(r->cases, r->n_cases, is_same(it, like->variant, like->param_text))
		 : NULL;
}

static const struct bb_counted_case *counted_of(const struct bb_report *r,
						const struct bb_case *like)
{
	const struct bb_counted_case *found = NULL;

	for (size_t i = 0; r && !found && i < r->n_counted; i++)
		if (!strcmp(r->counted[i].variant, like->variant))
			found = BB_FIND(r->counted[i].cases, r->counted[i].n_cases,
					bb_same_text(it->param_text, like->param_text));
	return found;
}

/* Returns the most frequent number of machine instructions of a run, minus an empty program's. */
static struct bb_most_frequent machine_net(const struct bb_report *r, const struct bb_case *c)
{
	struct bb_most_frequent m = bb_case__most_frequent(c);

	if (c->floor != BB_NO_FLOOR)
		m.value -= bb_case__most_frequent(&r->cases[c->floor]).value;
	return m;
}

static double loaded_value(const struct bb_program *p, const struct figure *f)
{
	return p ? *(const double *)((const char *)&p->metrics + f->offset) : (double)NAN;
}

/* Returns figure `f` of a variant on the input of the case `like`, or NAN. *ret_share receives the
 * share that is shown with it: of the verifier's limit for verified instructions, and of runs with
 * other values for machine instructions. It is 0 for other figures. */
static double value_of(const struct bb_report *r, const char *variant, size_t f,
		       const struct bb_case *like, double *ret_share)
{
	const struct bb_counted_case *counted = f == EXECUTED ? counted_of(r, like) : NULL;
	const struct bb_case *c = f == MACHINE ? case_of(r, like) : NULL;
	struct bb_most_frequent net = {NAN, 0};

	if (f < N_LOADED)
		net.value = loaded_value(program_of(r, variant), &figures[f]);
	if (f == VERIFIED)
		net.others = net.value / BB_VERIFIER_LIMIT;
	if (counted)
		net.value = bb_counted_case__instructions(counted).value;
	if (c)
		net = machine_net(r, c);
	*ret_share = net.others;
	return net.value;
}

/* Adds the row of a figure, which is faint if the figure is the same on all kernels. `like` is NULL
 * for a figure that comes from loading. Such a figure has no row if no kernel reports it. *first,
 * the name of the program, stands only in the program's first row. */
static void add_figure(struct matrix *m, const char *variant, size_t f, const struct bb_case *like,
		       const char **first)
{
	double *values = bb_calloc(2 * m->n, sizeof(*values)), *shares = values + m->n;
	/* indexes of the kernels with the least and with the largest value */
	size_t least = 0, most = 0;

	for (size_t k = 0; k < m->n; k++) {
		values[k] = value_of(m->kernels[k].run, variant, f, like, &shares[k]);
		least = values[k] < values[least] || isnan(values[least]) ? k : least;
		most = values[k] > values[most] || isnan(values[most]) ? k : most;
	}
	bool differs = values[most] > values[least];
	if (differs) {
		struct difference *x = &m->differences[f];
		double from = values[least < most ? least : most];
		double to = values[least < most ? most : least];

		x->n++;
		if (x->n == 1 || fabs(log(to / from)) > fabs(log(x->to / x->from)))
			*x = (struct difference){x->n, variant, from, to};
	}
	if (like || isfinite(values[least])) {
		bb_doc__text_cell(m->d, *first);
		m->d->faint = m->n > 1 && !differs;
		*first = "";
		bb_doc__cell(m->d, "%s%s%s", figures[f].name, like && like->param_text ? ", " : "",
			     like && like->param_text ? like->param_text : "");
		for (size_t k = 0; k < m->n; k++) {
			struct bb_table_cell cell = bb_table_cell_number(values[k], BB_WHOLE);

			if (isfinite(values[k]) && shares[k] >= SHARE_SHOWN)
				bb_doc__cell(m->d, "%s (%.0f %%)", cell.text, 100 * shares[k]);
			else
				bb_doc__table_cell(m->d, cell);
		}
		m->d->faint = false;
	}
	free(values);
}

/* Appends to the text of block `at` what differs between the kernels. */
static void add_differences(const struct matrix *m, size_t at)
{
	char **text = &m->d->blocks[at].text;
	const char *between = "";

	if (m->n_refused) {
		bb_add_words(text, "", "%zu of loads", m->n_refused);
		between = ", ";
	}
	for (size_t f = 0; f < N_FIGURES; f++) {
		const struct difference *x = &m->differences[f];

		if (!x->n)
			continue;
		bb_add_words(text, between, "%zu of %s (%s%s: %s to %s)", x->n, figures[f].name,
			     x->n > 1 ? "most in " : "", x->variant,
			     bb_table_cell_number(x->from, BB_WHOLE).text,
			     bb_table_cell_number(x->to, BB_WHOLE).text);
		between = ", ";
	}
	if (!*between)
		bb_add_words(text, "", "none");
}

/* Adds two rows for each case of the program. A case of several kernels is added only once. */
static void add_runs(struct matrix *m, const char *variant, const char **first)
{
	for (size_t k = 0; k < m->n; k++) {
		const struct bb_report *r = m->kernels[k].run;

		for (size_t i = 0; r && i < r->n_cases; i++) {
			const struct bb_case *c = &r->cases[i];
			if (!is_step(c) || strcmp(c->variant, variant) ||
			    BB_ANY(m->kernels, k, case_of(it->run, c)))
				continue;
			add_figure(m, variant, EXECUTED, c, first);
			add_figure(m, variant, MACHINE, c, first);
		}
	}
}

#define NAMES_SHOWN 3u /* a note has at most this many names, and counts the others */

/* Adds a note for each reason in skips[n] of kernel `k`, with the first names for it. */
static void add_reasons(struct matrix *m, size_t k, const struct bb_skip *skips, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t same = 0;

		if (BB_ANY(skips, i, !strcmp(it->why, skips[i].why)))
			continue;
		bb_doc__add(m->d, BB_DOC_ITEM, m->kernels[k].name, "%s", "");
		for (size_t j = i; j < n; j++)
			if (!strcmp(skips[j].why, skips[i].why) && same++ < NAMES_SHOWN)
				bb_doc__append(m->d, "%s%s", same > 1 ? ", " : "", skips[j].what);
		if (same > NAMES_SHOWN)
			bb_doc__append(m->d, " and %zu more", same - NAMES_SHOWN);
		bb_doc__append(m->d, ": %s", skips[i].why);
	}
}

/* Explains the figures of the matrix or, with `of_pairs`, of the table of pairs. */
static void add_meanings(const struct matrix *m, bool of_pairs)
{
	bool has_runs = BB_ANY(m->kernels, m->n, it->run && it->run->n_cases);

	for (size_t f = 0; f < N_FIGURES; f++)
		if ((figures[f].of_pairs || !of_pairs) && (has_runs || f < N_LOADED))
			bb_doc__add(m->d, BB_DOC_FAINT,
				    bb_table_cell_of("%.*s",
						     of_pairs ? (int)strcspn(figures[f].name, " ")
							      : INT_MAX,
						     figures[f].name)
					    .text,
				    "%s", figures[f].meaning);
}

/* Adds a line about each kernel, and notes about programs that it does not load and cases without a
 * valid sample. */
static void add_kernels(struct matrix *m)
{
	for (size_t k = 0; k < m->n; k++) {
		const struct bb_report *r = m->kernels[k].run;
		size_t n = 0;

		if (!r) {
			bb_doc__add(m->d, BB_DOC_BAD_ITEM, m->kernels[k].name, "%s",
				    m->kernels[k].why);
			continue;
		}
		bb_doc__add(m->d, BB_DOC_FAINT, m->kernels[k].name, "Linux %s, %s",
			    r->fingerprint.kernel_release, r->fingerprint.cpu_model);
		add_reasons(m, k, r->skips, r->n_skips);
		struct bb_skip *voids = bb_calloc(r->n_cases, sizeof(*voids));
		for (size_t i = 0; i < r->n_cases; i++)
			if (isnan(bb_case__most_frequent(&r->cases[i]).value))
				voids[n++] =
					(struct bb_skip){.what = r->cases[i].name,
							 .why = bb_strdup(bb_case__why_no_sample(
								 &r->cases[i]))};
		add_reasons(m, k, voids, n);
		for (size_t i = 0; i < n; i++)
			free(voids[i].why);
		free(voids);
		if (r->incomplete)
			bb_doc__add(m->d, BB_DOC_BAD_ITEM, m->kernels[k].name, "incomplete: %s",
				    r->incomplete);
	}
}

void bb_doc_matrix(const struct bb_matrix_kernel *kernels, size_t n, struct bb_doc *d)
{
	struct matrix m = {.kernels = kernels, .n = n, .d = d};
	size_t title = d->n;

	find_variants(&m);
	bb_doc__add(d, BB_DOC_TITLE, NULL, "programs by kernel (emulated: exact counts, no times)");
	if (n > 1)
		bb_doc__add(d, BB_DOC_PARAGRAPH, "rows that differ", "%s", "");
	bb_doc__columns(d, {BB_TEXT("program")}, {BB_TEXT("figure")});
	for (size_t k = 0; k < n; k++)
		bb_doc__column(d, (struct bb_doc_column){BB_NUMBER(kernels[k].name)});
	for (size_t i = 0; i < m.variants.n; i++) {
		const char *first = m.variants.v[i];

		add_loads(&m, m.variants.v[i], &first);
		for (size_t f = 0; f < N_LOADED; f++)
			add_figure(&m, m.variants.v[i], f, NULL, &first);
		add_runs(&m, m.variants.v[i], &first);
	}
	if (n > 1)
		add_differences(&m, title + 1);
	add_meanings(&m, false);
	add_kernels(&m);
	free((void *)(uintptr_t)m.variants.v);
}

/* A row of the table of two revisions: a program on one kernel and one input. In arrays, index 0 is
 * base and index 1 is head. */
struct pair_row {
	char name[1024]; /* "OBJECT.PROGRAM, INPUT" */
	const char *kernel;
	bool is_there[2];
	/* NULL if the program loads, or if the revision does not have it */
	const char *why_not[2];
	double machine[2];
	/* reasons for which the row fails, beside too many verified instructions */
	bool costs_more, is_refused;
	struct bb_gate_verified verified;
};

/* Returns PROGRAM if the variant is "OBJECT.PROGRAM" of this object, else NULL. */
static const char *name_in(const char *object, const char *variant)
{
	size_t len = strlen(object);

	return !strncmp(variant, object, len) && variant[len] == '.' ? variant + len + 1 : NULL;
}

static bool has_failed(const struct pair_row *row)
{
	return row->verified.too_many || row->verified.grew || row->costs_more || row->is_refused;
}

/* Adds a copy of `like` with the machine instructions on the input of case `c`, which is NULL if
 * the program was not run. variants[0] is the program in base, variants[1] the program in head. */
static void add_row(struct matrix *m, const struct pair_row *like, const struct bb_report *r,
		    const char *const variants[2], const struct bb_case *c)
{
	struct pair_row *row = bb_append(&m->rows, &m->n_rows, sizeof(*row));

	*row = *like;
	for (int side = 0; side < 2; side++) {
		const struct bb_case *of = c ? BB_FIND(r->cases, r->n_cases,
						       is_same(it, variants[side], c->param_text))
					     : NULL;

		row->machine[side] = of ? machine_net(r, of).value : (double)NAN;
	}
	if (c && c->param_text)
		snprintf(row->name + strlen(row->name), sizeof(row->name) - strlen(row->name),
			 ", %s", c->param_text);
}

/* Adds the rows of a program on kernel `k`, one for each input of head or, without any, of base. */
static void add_pair(struct matrix *m, const struct bb_matrix_pair *pair, const char *program,
		     size_t k)
{
	const struct bb_report *r = m->kernels[k].run;
	struct pair_row row = {.kernel = m->kernels[k].name};
	char names[2][512];
	const char *const variants[2] = {names[0], names[1]};
	size_t before = m->n_rows;

	snprintf(row.name, sizeof(row.name), "%s%s%s", pair->label ? pair->label : "",
		 pair->label ? "." : "", program);
	for (int side = 0; side < 2; side++) {
		snprintf(names[side], sizeof(names[side]), "%s.%s", side ? pair->head : pair->base,
			 program);
		const struct bb_program *p = program_of(r, names[side]);
		const struct bb_skip *skip = skip_of(r, names[side]);
		row.is_there[side] = p;
		row.why_not[side] = p || !skip ? NULL : skip->why;
		row.verified.insns[side] = p ? p->metrics.verified_insns : NAN;
	}
	for (int side = 1; r && side >= 0 && m->n_rows == before; side--)
		for (size_t i = 0; i < r->n_cases; i++)
			if (is_step(&r->cases[i]) && !strcmp(r->cases[i].variant, names[side]))
				add_row(m, &row, r, variants, &r->cases[i]);
	if (r && m->n_rows == before)
		add_row(m, &row, r, variants, NULL);
}

/* Makes the rows of all pairs, and judges them by `judge`. */
static void find_rows(struct matrix *m, const struct bb_matrix_judge *judge)
{
	find_variants(m);
	for (size_t p = 0; p < judge->n_pairs; p++)
		for (size_t i = 0; i < m->variants.n; i++) {
			const struct bb_matrix_pair *pair = &judge->pairs[p];
			const char *program = name_in(pair->head, m->variants.v[i]);
			const char *of_base = name_in(pair->base, m->variants.v[i]);

			/* a program of base that head does not have */
			if (!program && of_base &&
			    !BB_ANY(m->variants.v, m->variants.n,
				    bb_same_text(name_in(pair->head, *it), of_base)))
				program = of_base;
			for (size_t k = 0; program && k < m->n; k++)
				add_pair(m, pair, program, k);
		}
	for (size_t i = 0; judge->gate && i < m->n_rows; i++) {
		struct pair_row *row = &m->rows[i];

		row->is_refused = row->is_there[0] && !row->is_there[1] && row->why_not[1];
		bb_gate__judge_verified(judge->gate, &row->verified);
		/* one more instruction is enough to fail, because the count is exact */
		row->costs_more = row->machine[1] > row->machine[0];
	}
}

static void add_failure(const struct pair_row *row, const struct bb_gate *g, struct bb_doc *d)
{
	bb_doc__add(d, BB_DOC_BAD_ITEM, row->kernel, "%s: ", row->name);
	if (row->is_refused)
		bb_doc__append(d, "head does not load, base does: %s", row->why_not[1]);
	if (row->costs_more)
		bb_doc__append(d, "machine instructions: %.0f to %.0f (%+.0f)", row->machine[0],
			       row->machine[1], row->machine[1] - row->machine[0]);
	bb_doc_gate_verified(g, &row->verified, row->costs_more ? "; " : "", d);
}

static void add_difference(const double v[2], struct bb_doc *d)
{
	for (int side = 0; side < 2; side++)
		bb_doc__number_cell(d, v[side], BB_WHOLE);
	bb_doc__cell_if(d, isfinite(v[0]) && isfinite(v[1]), v[1] == v[0] ? "0" : "%+.0f",
			v[1] - v[0]);
}

size_t bb_doc_matrix_pairs(const struct bb_matrix_kernel *kernels, size_t n,
			   const struct bb_matrix_judge *judge, struct bb_doc *d)
{
	struct matrix m = {.kernels = kernels, .n = n, .d = d};
	size_t failing, n_not_run = BB_SUM(kernels, n, !it->run);

	find_rows(&m, judge);
	failing = judge->gate ? BB_SUM(m.rows, m.n_rows, has_failed(it)) : 0;
	if (!judge->gate)
		bb_doc__add(d, BB_DOC_TITLE, NULL, "A and B by kernel");
	else
		bb_doc_gate_headline(failing     ? BB_EXIT_REGRESSION
				     : n_not_run ? BB_EXIT_FAILURE
						 : BB_EXIT_OK,
				     d);
	if (failing)
		bb_doc__append(d, "%zu of %zu rows fail (a program on a kernel each)", failing,
			       m.n_rows);
	else if (judge->gate)
		bb_doc__append(d, "%s%s",
			       m.n_rows || n_not_run ? "no regression" : "nothing to compare",
			       n_not_run ? ", but not every kernel could be measured" : "");
	if (judge->gate)
		bb_doc_gate_revisions(judge->gate, d);
	for (size_t i = 0; judge->gate && i < m.n_rows; i++)
		if (has_failed(&m.rows[i]))
			add_failure(&m.rows[i], judge->gate, d);
	if (m.n_rows)
		bb_doc__columns(d, {BB_TEXT("program")}, {BB_TEXT("kernel")}, {BB_TEXT("loads")},
				{BB_NUMBER("verified A")}, {BB_NUMBER("B")}, {BB_NUMBER("diff")},
				{BB_NUMBER("machine A")}, {BB_NUMBER("B")}, {BB_NUMBER("diff")});
	for (size_t i = 0; i < m.n_rows; i++) {
		const struct pair_row *row = &m.rows[i];
		bool only_base = !row->is_there[1] && !row->why_not[1];
		bool only_head = !row->is_there[0] && !row->why_not[0];

		bb_doc__text_cell(d, row->name);
		bb_doc__text_cell(d, row->kernel);
		bb_doc__text_cell(d, only_base           ? "only A"
				     : only_head         ? "only B"
				     : !row->is_there[1] ? row->is_there[0] ? "only A" : "no"
				     : row->is_there[0]  ? "yes"
							 : "only B");
		add_difference(row->verified.insns, d);
		add_difference(row->machine, d);
	}
	if (judge->gate)
		bb_doc_gate_others(judge->gate, d);
	if (judge->n_pairs)
		add_meanings(&m, true);
	add_kernels(&m);
	free(m.rows);
	free((void *)(uintptr_t)m.variants.v);
	return failing;
}

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

void bb_matrix__write_bmf(const struct bb_matrix_kernel *kernels, size_t n, FILE *out)
{
	struct bb_json w = {.out = out, .indent = 2};

	bb_json__open(&w, NULL, "{\n");
	for (size_t k = 0; k < n; k++) {
		const char *kernel = kernels[k].name;
		const struct bb_report *r = kernels[k].run;

		for (size_t i = 0; r && i < r->n_programs; i++) {
			const struct bb_program *p = &r->programs[i];

			if (!isfinite(p->metrics.verified_insns))
				continue;
			open_benchmark(&w, p->name, kernel);
			for (size_t f = 0; f < N_LOADED; f++)
				write_measure(&w, figures[f].slug, loaded_value(p, &figures[f]));
			bb_json__close(&w);
		}
		for (size_t i = 0; r && i < r->n_cases; i++) {
			const struct bb_case *c = &r->cases[i];
			const struct bb_counted_case *counted = counted_of(r, c);
			double net = machine_net(r, c).value;

			if (!is_step(c) || !isfinite(net))
				continue;
			open_benchmark(&w, c->name, kernel);
			write_measure(&w, "machine-instructions", net);
			if (counted)
				write_measure(&w, bb_metric_instructions.slug,
					      bb_counted_case__instructions(counted).value);
			bb_json__close(&w);
		}
	}
	bb_json__end(&w);
}
