/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lines/path.h"

#include <bpf/btf.h>

#include "exact/registers.h"

/* in a path of at most this many positions, all parts are measured */
#define MEASURE_ALL 80u
#define OF_EACH_KIND 3u /* most parts of a kind that are measured in a long path */
/* time to pass the count from one function to another, in units of a check's time */
#define HANDED_OVER 2.0
#define MOST_DEEP 8u /* MAX_CALL_FRAMES of the kernel */
/* least time of a part when the time of several parts is divided among them */
#define LEAST_NS 0.05

struct frame {
	uint32_t func;
	uint32_t site; /* slot, in the caller, of the call that led to this function */
};

struct frames {
	struct frame v[MOST_DEEP];
	uint32_t n;
};

struct maker {
	const struct bb_code *code;
	const struct bb_cfg *g;
	const struct bb_cuts *cuts;
	struct btf *kernel;
	struct bb_line_path out;
};

static const char *func_name(const struct maker *m, uint32_t func)
{
	const char *name = bb_btf_name(m->code->btf, m->g->funcs[func].type_id);

	return name ? name : "a function";
}

static void name_call(const struct maker *m, uint32_t slot, char *buf, size_t size)
{
	const struct bpf_insn *i = &m->code->insns[slot];
	bool is_kfunc = bb_insn_is_kfunc_call(i);
	const char *name = is_kfunc ? bb_btf_name(m->kernel, (uint32_t)i->imm)
				    : bb_helper__name(i->imm);

	if (bb_insn_is_function_call(i))
		snprintf(buf, size, "%s()", func_name(m, bb_cfg__callee(m->g, m->code, slot)));
	else if (name)
		snprintf(buf, size, "%s%s", is_kfunc ? "" : "bpf_", name);
	else
		snprintf(buf, size, "%s %d", is_kfunc ? "kfunc" : "helper", i->imm);
}

static uint32_t slot_behind(const struct bb_cut *cut)
{
	return cut->slot + cut->after;
}

/* Finds the slots [first, last] that a part of the program's own code may execute. Of a part in a
 * loop, that is the whole loop. */
static void span_of(const struct maker *m, const struct bb_cut *from, const struct bb_cut *to,
		    uint32_t *ret_first, uint32_t *ret_last, bool *ret_loop)
{
	uint32_t first = slot_behind(from), last = to->slot;

	last = !to->after && last > first ? last - 1 : last;
	*ret_loop = to->slot < first || (m->cuts->in_loop[first] && !m->cuts->in_loop[to->slot]);
	if (*ret_loop) {
		uint32_t low = first < last ? first : last, func = bb_cfg__func_at(m->g, low);

		last = first > last ? first : last;
		while (low > m->g->funcs[func].first && m->cuts->in_loop[low - 1] &&
		       m->cuts->in_loop[low])
			low--;
		while (last + 1 < m->g->funcs[func].end && m->cuts->in_loop[last] &&
		       m->cuts->in_loop[last + 1])
			last++;
		first = low;
	}
	*ret_first = first;
	*ret_last = last;
}

/* True if the part from one cut to the next is a call. Between two calls without an instruction
 * between them, the only cut is the one after the first call. `to` is NULL for the last part. */
static bool is_call_part(const struct maker *m, const struct bb_cut *from, const struct bb_cut *to)
{
	bool follows = to && to->after && to->slot == slot_behind(from);

	return (!from->after || follows) && bb_insn_is_call(&m->code->insns[slot_behind(from)]);
}

/* Returns the slot of the first call of function `func` after the cut `from`. */
static uint32_t site_of(const struct maker *m, const struct bb_cut *from, uint32_t func)
{
	uint32_t end = m->g->funcs[bb_cfg__func_at(m->g, from->slot)].end;

	for (uint32_t at = slot_behind(from); at < end; at += bb_insn_slots(&m->code->insns[at]))
		if (bb_insn_is_function_call(&m->code->insns[at])
			    ? bb_cfg__callee(m->g, m->code, at) == func
			    : bb_cuts__called_back(m->code, m->g, at) == func)
			return at;
	return from->slot;
}

/* Updates the call stack from one cut to the next, at which the run may be in another function. */
static void go_on(const struct maker *m, struct frames *f, const struct bb_cut *from,
		  const struct bb_cut *to)
{
	uint32_t func = bb_cfg__func_at(m->g, to->slot), k = f->n;

	while (k && f->v[k - 1].func != func)
		k--;
	if (k)
		f->n = k;
	else if (f->n < MOST_DEEP)
		f->v[f->n++] = (struct frame){func, from ? site_of(m, from, func) : 0};
}

static bool same_row(const struct bb_line_row *a, const struct bb_line_row *b)
{
	return !strcmp(a->call, b->call) && !strcmp(a->file, b->file) &&
	       !strcmp(a->from, b->from) && a->is_loop == b->is_loop &&
	       (a->line || b->line ? a->line == b->line && a->last_line == b->last_line
				   : a->first_insn == b->first_insn);
}

/* Returns the row that has the lines of `row`, the call `call` and the call stack f[n], or adds it.
 * `row` has only instructions and flags. */
static uint32_t find_row(struct maker *m, struct bb_line_row row, char *call,
			 const struct frames *f, uint32_t n)
{
	const struct bpf_line_info *first = NULL;
	const char *text = "";
	char from[600];

	/* Only lines of the first instruction's file count. Code inlined from another file counts
	 * towards the line that it is inlined in. */
	row.line = UINT32_MAX;
	for (uint32_t at = row.first_insn; at <= row.last_insn; at++) {
		const struct bpf_line_info *l = bb_code__line_at(m->code, at);
		uint32_t line = l ? BB_SOURCE_LINE(l->line_col) : 0;

		first = line && !first ? l : first;
		if (!line || l->file_name_off != first->file_name_off)
			continue;
		row.line = line < row.line ? line : row.line;
		row.last_line = line > row.last_line ? line : row.last_line;
	}
	if (row.line == UINT32_MAX)
		row.line = row.last_line = 0;
	from[0] = '\0';
	for (uint32_t i = 1, len = 0; i < n && len < sizeof(from); i++) {
		const struct bpf_line_info *l = bb_code__line_at(m->code, f->v[i].site);

		len += (uint32_t)snprintf(from + len, sizeof(from) - len, "%s%u %.60s()",
					  i > 1 ? ";" : "", l ? BB_SOURCE_LINE(l->line_col) : 0,
					  func_name(m, f->v[i].func));
	}
	row.call = call;
	row.from = from;
	row.file = (char *)(uintptr_t) "";
	/* the text of the row is its first line of source */
	for (uint32_t at = row.first_insn; at <= row.last_insn; at++) {
		const struct bpf_line_info *l = bb_code__line_at(m->code, at);

		if (!l || BB_SOURCE_LINE(l->line_col) != row.line)
			continue;
		text = bb_code__text(m->code, l->line_off);
		row.file = (char *)(uintptr_t)bb_code__text(m->code, l->file_name_off);
		break;
	}
	for (uint32_t i = 0; i < m->out.n_rows; i++)
		if (same_row(&m->out.rows[i], &row))
			return i;
	row.file = bb_strdup(row.file);
	row.text = bb_strdup(text + strspn(text, " \t"));
	row.call = bb_strdup(call);
	row.from = bb_strdup(from);
	BB_PUSH(m->out.rows, m->out.n_rows, row);
	return (uint32_t)(m->out.n_rows - 1);
}

/* Returns the row of the part from one cut to the next, at which the call stacks are `before` and
 * `now`. Entering and leaving a function belongs to the row of the call. *ret_comes is false if the
 * run only comes back to the row from a called function. */
static uint32_t row_of(struct maker *m, const struct bb_cut *from, const struct bb_cut *to,
		       const struct frames *before, const struct frames *now, bool *ret_comes)
{
	bool in = now->n > before->n, out = now->n < before->n,
	     again = !in && !out && now->n > 1 && bb_insn_is_exit(&m->code->insns[from->slot]);
	struct bb_line_row row = {.enters = in || out || again};
	const struct frames *deeper = out ? before : now;
	uint32_t depth = out ? now->n : in ? before->n : again ? now->n - 1 : now->n;
	char call[160] = "";

	*ret_comes = !out && !again;
	if (row.enters) {
		row.first_insn = row.last_insn = deeper->v[depth].site;
		name_call(m, row.first_insn, call, sizeof(call));
	} else if (is_call_part(m, from, to)) {
		row.first_insn = row.last_insn = slot_behind(from);
		name_call(m, row.first_insn, call, sizeof(call));
	} else {
		span_of(m, from, to, &row.first_insn, &row.last_insn, &row.is_loop);
	}
	return find_row(m, row, call, deeper, depth);
}

static void make_rows(struct maker *m)
{
	struct bb_line_path *p = &m->out;
	struct frames before = {0}, now;
	struct bb_line_row rest = {0};
	const struct bb_cut *last;
	char call[200] = "";
	uint32_t row;

	if (p->n)
		go_on(m, &before, NULL, &m->cuts->v[p->cuts[0]]);
	for (uint32_t i = 0; i + 1 < p->n; i++) {
		const struct bb_cut *from = &m->cuts->v[p->cuts[i]],
				    *to = &m->cuts->v[p->cuts[i + 1]];
		bool comes;

		now = before;
		go_on(m, &now, from, to);
		row = row_of(m, from, to, &before, &now, &comes);
		p->rows[row].enters |= now.n > before.n;
		if (comes && !p->rows[row].turns++)
			p->rows[row].first = i;
		p->row_of[i] = row;
		p->checks[i + 1] = p->checks[i] + 1 + (now.n != before.n ? HANDED_OVER : 0);
		before = now;
	}
	if (!p->leaves)
		return;
	/* the last row: a tail call and what it leads to, or a function without cuts */
	last = &m->cuts->v[p->cuts[p->n - 1]];
	rest.first_insn = rest.last_insn = last->slot;
	if (is_call_part(m, last, NULL)) {
		name_call(m, last->slot, call, sizeof(call));
		snprintf(call + strlen(call), sizeof(call) - strlen(call),
			 ", and the program that it leads to");
	}
	row = find_row(m, rest, call, &before, before.n);
	if (!p->rows[row].turns++)
		p->rows[row].first = p->n - 1;
	p->row_of[p->n - 1] = row;
}

struct kind {
	uint32_t from, to, position;
};

static int by_kind(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;

	return BB_ORDER(x->from, y->from) ?: BB_ORDER(x->to, y->to)
	       ?: BB_ORDER(x->position, y->position);
}

/* Chooses up to `some` parts of each kind: the first two, because later ones are measured less
 * exactly, and one in the middle. Marks both ends of each in wanted[]. */
static void choose_some(const struct bb_line_path *p, const struct kind *kinds, uint32_t some,
			bool *wanted)
{
	for (uint32_t i = 0, end; i + 1 < p->n; i = end) {
		for (end = i + 1; end + 1 < p->n && kinds[end].from == kinds[i].from &&
				  kinds[end].to == kinds[i].to;)
			end++;
		for (uint32_t k = 0; k < some && k < end - i; k++) {
			uint32_t of = k < 2 || (end - i) / 2 < k ? k : (end - i) / 2,
				 position = kinds[i + of].position;

			wanted[position] = wanted[position + 1] = true;
		}
	}
}

/* Chooses the measured positions: all, or those of some parts of each kind. While they are more
 * than `most`, takes fewer parts of each kind, and in the end only every second position, or every
 * third, and so on. */
static void choose(struct bb_line_path *p, uint32_t most)
{
	bool *wanted = bb_calloc(p->n + 1, sizeof(*wanted));
	struct kind *kinds = bb_calloc(p->n, sizeof(*kinds));
	uint32_t n = p->n, every, some = OF_EACH_KIND + (n <= MEASURE_ALL && n <= most);

	memset(wanted, true, p->n);
	for (uint32_t i = 0; i + 1 < p->n; i++)
		kinds[i] = (struct kind){p->cuts[i], p->cuts[i + 1], i};
	qsort(kinds, p->n - 1, sizeof(*kinds), by_kind);
	while (some > 0 && some <= OF_EACH_KIND) {
		memset(wanted, false, p->n);
		wanted[0] = wanted[p->n - 1] = true;
		choose_some(p, kinds, some, wanted);
		n = (uint32_t)BB_SUM(wanted, p->n, *it);
		some = n > most ? some - 1 : 0;
	}
	every = n > most ? (n + most - 1) / most : 1;
	for (uint32_t i = 0, seen = 0; i < p->n; i++)
		if (wanted[i] && (!(seen++ % every) || i + 1 == p->n))
			p->measured[p->n_measured++] = i;
	free(wanted);
	free(kinds);
}

void bb_line_path__make(const struct bb_code *code, const struct bb_cfg *g,
			const struct bb_cuts *cuts, uint32_t *path, uint32_t n, uint32_t most,
			struct bb_line_path *ret_path)
{
	struct maker m = {.code = code, .g = g, .cuts = cuts, .out = {.cuts = path, .n = n}};
	struct bb_line_path *p = &m.out;
	const struct bb_cut *last = n ? &cuts->v[path[n - 1]] : NULL;

	p->row_of = bb_calloc(n + 1, sizeof(*p->row_of));
	p->measured = bb_calloc(n + 1, sizeof(*p->measured));
	p->checks = bb_calloc(n + 1, sizeof(*p->checks));
	p->leaves = last &&
		    (!bb_insn_is_exit(&code->insns[last->slot]) || last->slot >= g->funcs[0].end);
	if (bb_code__calls_kfuncs(code))
		m.kernel = btf__load_vmlinux_btf();
	make_rows(&m);
	if (n)
		choose(p, most < 8 ? 8 : most);
	if (p->leaves)
		p->measured[p->n_measured++] = n;
	btf__free(m.kernel);
	*ret_path = m.out;
}

void bb_line_path__done(struct bb_line_path *p)
{
	for (size_t i = 0; i < p->n_rows; i++) {
		free(p->rows[i].file);
		free(p->rows[i].text);
		free(p->rows[i].call);
		free(p->rows[i].from);
	}
	free(p->rows);
	free(p->cuts);
	free(p->row_of);
	free(p->measured);
	free(p->checks);
	*p = (struct bb_line_path){0};
}

struct rate {
	double sum, weight;
};

void bb_line_path__share(const struct bb_line_path *p, const double *cumulative, double *ret_rows,
			 double *ret_first)
{
	struct rate *rates = bb_calloc(p->n_rows + 1, sizeof(*rates));

	for (size_t r = 0; r < p->n_rows; r++) {
		ret_first[r] = NAN;
		ret_rows[r] = 0;
	}
	/* Estimate the time of one part of each row, from its parts that were measured alone. Later
	 * parts get less weight, because they have more noise. Caches may be cold at the first
	 * part. So it counts only if there is no other part, or if the row has `enters`. */
	for (uint32_t i = 0; i + 1 < p->n_measured; i++) {
		uint32_t at = p->measured[i], row = p->row_of[at];
		double ns = cumulative[i + 1] - cumulative[i], base = fmax(cumulative[i + 1], 50),
		       weight = 1 / (base * base);

		if (p->measured[i + 1] != at + 1)
			continue;
		if (p->rows[row].first == at && !p->rows[row].enters) {
			ret_first[row] = ns;
			continue;
		}
		rates[row].sum += ns * weight;
		rates[row].weight += weight;
	}
	for (size_t r = 0; r < p->n_rows; r++) {
		double rate = rates[r].weight > 0 ? rates[r].sum / rates[r].weight : ret_first[r];

		rates[r].sum = isnan(rate) ? LEAST_NS : fmax(rate, LEAST_NS);
	}
	for (uint32_t i = 0; i + 1 < p->n_measured; i++) {
		double ns = cumulative[i + 1] - cumulative[i], expected = 0;

		for (uint32_t at = p->measured[i]; at < p->measured[i + 1]; at++)
			expected += rates[p->row_of[at]].sum;
		for (uint32_t at = p->measured[i]; at < p->measured[i + 1]; at++)
			ret_rows[p->row_of[at]] += ns * rates[p->row_of[at]].sum / expected;
	}
	free(rates);
}
