/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lines/path.h"

#include <bpf/btf.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "bpf/insn.h"
#include "exact/helper.h"
#include "exact/source.h"

#define MEASURE_ALL 80u /* places; of longer paths parts of each kind are measured */
#define OF_EACH_KIND 3u /* the first, and others over the path */
#define MOST_MEASURED 240u
#define LEAST_NS 0.05 /* of a part, when time is shared out */

struct maker {
	const struct bb_code *code;
	const struct bb_cfg *g;
	const struct bb_cuts *cuts;
	struct btf *kernel;
	struct bb_line_path out;
};

/* --- which row a part belongs to --- */

static const struct bpf_line_info *line_at(const struct bb_code *code, uint32_t slot)
{
	uint32_t lo = 0, hi = code->n_lines;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (code->lines[mid].insn_off <= slot)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &code->lines[lo - 1] : NULL;
}

static const char *btf_name(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf && id ? btf__type_by_id(btf, id) : NULL;
	const char *name = t ? btf__name_by_offset(btf, t->name_off) : NULL;

	return name && name[0] ? name : NULL;
}

static void name_call(const struct maker *m, uint32_t slot, char *buf, size_t size)
{
	const struct bpf_insn *i = &m->code->insns[slot];
	const char *name;
	uint32_t func;

	if (bb_insn_is_function_call(i)) {
		func = m->g->blocks[m->g->block_of[bb_insn_function_target(i, slot)]].func;
		name = btf_name(m->code->btf, m->g->funcs[func].type_id);
		snprintf(buf, size, "%s()", name ? name : "a function");
		return;
	}
	if (bb_insn_is_kfunc_call(i)) {
		name = btf_name(m->kernel, (uint32_t)i->imm);
		snprintf(buf, size, name ? "%s" : "kfunc %s%d", name ? name : "", i->imm);
		if (name)
			snprintf(buf, size, "%s", name);
		return;
	}
	name = bb_helper__name(i->imm);
	if (name)
		snprintf(buf, size, "bpf_%s", name);
	else
		snprintf(buf, size, "helper %d", i->imm);
}

/* The slots that a part of the program's own code may execute: [first, last]. */
static void span_of(const struct maker *m, const struct bb_cut *from, const struct bb_cut *to,
		    uint32_t *ret_first, uint32_t *ret_last, bool *ret_loop)
{
	uint32_t first = from->slot + from->after, last = to->slot;

	last = !to->after && last > first ? last - 1 : last;
	*ret_loop = to->slot < first || (m->cuts->in_loop[first] && !m->cuts->in_loop[to->slot]);
	if (*ret_loop) { /* all of the loop */
		uint32_t low = first < last ? first : last;

		last = first > last ? first : last;
		while (low && m->cuts->in_loop[low - 1] && m->cuts->in_loop[low])
			low--;
		while (last + 1 < m->g->funcs[0].end && m->cuts->in_loop[last] &&
		       m->cuts->in_loop[last + 1])
			last++;
		first = low;
	}
	*ret_first = first;
	*ret_last = last;
}

/* Of its first file: what is inlined from another is the line that it is inlined in, or near. */
static void put_lines(const struct maker *m, struct bb_line_row *row)
{
	const struct bpf_line_info *first = NULL;

	row->line = UINT32_MAX;
	for (uint32_t at = row->first_insn; at <= row->last_insn; at++) {
		const struct bpf_line_info *l = line_at(m->code, at);
		uint32_t line = l ? BB_SOURCE_LINE(l->line_col) : 0;

		first = line && !first ? l : first;
		if (!line || l->file_name_off != first->file_name_off)
			continue;
		row->line = line < row->line ? line : row->line;
		row->last_line = line > row->last_line ? line : row->last_line;
	}
	if (row->line == UINT32_MAX)
		row->line = row->last_line = 0;
}

static bool is_call_part(const struct maker *m, const struct bb_cut *from)
{
	return !from->after && bb_insn_is_call(&m->code->insns[from->slot]);
}

static bool same_row(const struct bb_line_row *a, const struct bb_line_row *b)
{
	if (strcmp(a->call, b->call) || strcmp(a->file, b->file) || a->is_loop != b->is_loop)
		return false;
	if (!a->line && !b->line)
		return a->first_insn == b->first_insn;
	return a->line == b->line && a->last_line == b->last_line;
}

/* The text of the line where a row begins, without its indentation. */
static const char *text_of(const struct bb_code *code, const struct bb_line_row *row,
			   const char **ret_file)
{
	const char *text = "";

	*ret_file = "";
	for (uint32_t at = row->first_insn; at <= row->last_insn; at++) {
		const struct bpf_line_info *l = line_at(code, at);

		if (!l || BB_SOURCE_LINE(l->line_col) != row->line)
			continue;
		text = bb_source_text(code, l->line_off);
		*ret_file = bb_source_text(code, l->file_name_off);
		break;
	}
	return text + strspn(text, " \t");
}

/* The row of the part from one cut to the next, made when it is new. UINT32_MAX: out of memory. */
static uint32_t row_of(struct maker *m, const struct bb_cut *from, const struct bb_cut *to)
{
	struct bb_line_row row = {.turns = 0}, *added;
	char call[160] = "";
	const char *file, *text;

	if (is_call_part(m, from)) {
		row.first_insn = row.last_insn = from->slot;
		name_call(m, from->slot, call, sizeof(call));
	} else {
		span_of(m, from, to, &row.first_insn, &row.last_insn, &row.is_loop);
	}
	put_lines(m, &row);
	row.call = call;
	text = text_of(m->code, &row, &file);
	row.file = (char *)(uintptr_t)file;
	for (uint32_t i = 0; i < m->out.n_rows; i++)
		if (same_row(&m->out.rows[i], &row))
			return i;
	row.file = strdup(file);
	row.text = strdup(text);
	row.call = strdup(call);
	added = row.file && row.text && row.call
			? bb_append(&m->out.rows, &m->out.n_rows, sizeof(*added))
			: NULL;
	if (!added) {
		free(row.file);
		free(row.text);
		free(row.call);
		return UINT32_MAX;
	}
	*added = row;
	return (uint32_t)(m->out.n_rows - 1);
}

static int make_rows(struct maker *m)
{
	struct bb_line_path *p = &m->out;

	for (uint32_t i = 0; i + 1 < p->n; i++) {
		uint32_t row = row_of(m, &m->cuts->v[p->cuts[i]], &m->cuts->v[p->cuts[i + 1]]);

		if (row == UINT32_MAX)
			return -ENOMEM;
		if (!p->rows[row].turns++)
			p->rows[row].first = i;
		p->row_of[i] = row;
	}
	return 0;
}

/* --- which places are measured --- */

struct kind {
	uint32_t from, to, place;
};

static int by_kind(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* Of kinds[n], which are of one kind, by place: the first and some over the path. */
static void want_some(const struct kind *kinds, uint32_t n, bool *wanted)
{
	for (uint32_t k = 0; k < OF_EACH_KIND && k < n; k++) {
		uint32_t i = n <= OF_EACH_KIND ? k : k * (n - 1) / OF_EACH_KIND;

		wanted[kinds[i].place] = wanted[kinds[i].place + 1] = true;
	}
}

static int choose_some(const struct bb_line_path *p, bool *wanted)
{
	struct kind *kinds = calloc(p->n, sizeof(*kinds));
	uint32_t n = p->n - 1;

	if (!kinds)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		kinds[i] = (struct kind){p->cuts[i], p->cuts[i + 1], i};
	qsort(kinds, n, sizeof(*kinds), by_kind);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1;
		     end < n && kinds[end].from == kinds[i].from && kinds[end].to == kinds[i].to;)
			end++;
		want_some(&kinds[i], end - i, wanted);
	}
	free(kinds);
	return 0;
}

static int choose(struct bb_line_path *p)
{
	bool *wanted = calloc(p->n + 1, sizeof(*wanted));
	int rc = wanted ? 0 : -ENOMEM;
	uint32_t n = 0, every;

	if (!rc && p->n > MEASURE_ALL)
		rc = choose_some(p, wanted);
	for (uint32_t i = 0; !rc && i < p->n; i++) {
		wanted[i] |= p->n <= MEASURE_ALL || !i || i + 1 == p->n;
		n += wanted[i];
	}
	every = n / MOST_MEASURED + 1;
	for (uint32_t i = 0, seen = 0; !rc && i < p->n; i++)
		if (wanted[i] && (!(seen++ % every) || i + 1 == p->n))
			p->measured[p->n_measured++] = i;
	free(wanted);
	return rc;
}

int bb_line_path__make(const struct bb_code *code, const struct bb_cfg *g,
		       const struct bb_cuts *cuts, uint32_t *path, uint32_t n,
		       struct bb_line_path *ret_path, struct bb_err *err)
{
	struct maker m = {.code = code, .g = g, .cuts = cuts, .out = {.cuts = path, .n = n}};
	struct bb_line_path *p = &m.out;
	const struct bb_cut *last = n ? &cuts->v[path[n - 1]] : NULL;
	int rc;

	p->row_of = calloc(n + 1, sizeof(*p->row_of));
	p->measured = calloc(n + 1, sizeof(*p->measured));
	p->leaves = last && !bb_insn_is_exit(&code->insns[last->slot]);
	if (bb_code__calls_kfuncs(code))
		m.kernel = btf__load_vmlinux_btf();
	rc = p->row_of && p->measured ? make_rows(&m) : -ENOMEM;
	if (!rc && n)
		rc = choose(p);
	btf__free(m.kernel);
	if (rc) {
		bb_line_path__done(p);
		return bb_fail_nomem(err);
	}
	*ret_path = m.out;
	return 0;
}

void bb_line_path__done(struct bb_line_path *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_rows; i++) {
		free(p->rows[i].file);
		free(p->rows[i].text);
		free(p->rows[i].call);
	}
	free(p->rows);
	free(p->cuts);
	free(p->row_of);
	free(p->measured);
	*p = (struct bb_line_path){0};
}

/* --- times of rows --- */

/* What a part of the row takes, from those that were measured by themselves; LEAST_NS: none was. */
static void find_rates(const struct bb_line_path *p, const double *cumulative, double *rates,
		       double *firsts)
{
	uint32_t *n = calloc(p->n_rows + 1, sizeof(*n));

	for (size_t r = 0; r < p->n_rows; r++) {
		rates[r] = 0;
		firsts[r] = NAN;
	}
	for (uint32_t i = 0; n && i + 1 < p->n_measured; i++) {
		uint32_t at = p->measured[i], row = p->row_of[at];
		double ns = cumulative[i + 1] - cumulative[i];

		if (p->measured[i + 1] != at + 1)
			continue;
		rates[row] += ns;
		n[row]++;
		if (p->rows[row].first == at)
			firsts[row] = ns;
	}
	for (size_t r = 0; r < p->n_rows; r++)
		rates[r] = n && n[r] ? fmax(rates[r] / n[r], LEAST_NS) : LEAST_NS;
	free(n);
}

int bb_line_path__share(const struct bb_line_path *p, const double *cumulative, double *ret_rows,
			double *ret_first)
{
	double *rates = calloc(p->n_rows + 1, sizeof(*rates));

	if (!rates)
		return -ENOMEM;
	find_rates(p, cumulative, rates, ret_first);
	for (size_t r = 0; r < p->n_rows; r++)
		ret_rows[r] = 0;
	for (uint32_t i = 0; i + 1 < p->n_measured; i++) {
		double ns = cumulative[i + 1] - cumulative[i], expected = 0;

		for (uint32_t at = p->measured[i]; at < p->measured[i + 1]; at++)
			expected += rates[p->row_of[at]];
		for (uint32_t at = p->measured[i]; at < p->measured[i + 1]; at++)
			ret_rows[p->row_of[at]] += ns * rates[p->row_of[at]] / expected;
	}
	free(rates);
	return 0;
}
