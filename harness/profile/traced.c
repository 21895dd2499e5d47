/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/traced.h"

#include <sys/mman.h>

#include "base/parse.h"
#include "bpf/trace_record.h"

#define DEPTH 128u /* the most functions of a stack; deeper functions are left out */

/* machine code of a function of the program under test */
struct function {
	uint64_t start, size;
};

/* A stretch of machine code that belongs to one line of the program. It ends where the next stretch
 * begins. */
struct line_start {
	uint64_t address;
	uint32_t number;
	const char *text;
	/* position in the guest's text; if two lines have the same address, the later one counts */
	size_t order;
	/* True if an instruction of the stretch was traced. Then `line`, an index in
	 * bb_traced.lines, and `frame` are set. */
	bool is_known;
	size_t line;
	uint32_t frame;
};

/* The records that the plugin wrote between two marks (bpf/marks.h), while the guest ran
 * programs[program]. */
struct window {
	size_t program;
	/* number of instructions by the guest's clock, which counts each as 1 ns; 0 if unknown */
	uint64_t ns;
	const struct bb_trace_record *v;
	size_t n;
};

struct program {
	const char *name, *object;
	struct function *functions;
	size_t n_functions;
	struct line_start *lines; /* sorted by address */
	size_t n_lines;
	struct line_start no_line; /* stands for the code before lines[0] */
};

struct reading {
	struct program *programs;
	size_t n_programs;
	struct window *windows;
	size_t n_windows;
	struct bb_symtab kernel;
	uint64_t faults[2]; /* addresses of the kernel's entry points for memory faults */
};

/* A function that has not returned yet. */
struct call {
	uint64_t start;
	uint64_t returns_at; /* stack address of its return address; UINT64_MAX if unknown */
	uint32_t frame;
	/* name of the function that was called; it may since have jumped to the current function */
	uint32_t called;
	bool is_interrupt; /* true if an interrupt or a fault entered the function */
	bool is_own;       /* true if the function belongs to the program under test */
};

struct folding {
	const struct reading *r;
	struct program *program;
	struct bb_traced *traced;
	struct call calls[DEPTH];
	/* `depth`: number of calls in calls[]; `above`: number of inner calls for which calls[] has
	 * no room */
	uint32_t depth, above;
	/* (`of`, `name`) of a bb_traced_part -> its index: in bb_traced.parts for `by_line`, in
	 * bb_traced.calls for `by_called` */
	struct bb_idmap by_line;
	struct bb_idmap by_called;
};

/* Reads "ADDRESS NUMBER ", with the address in hexadecimal. Returns false if something else is
 * there. */
static bool read_numbers(const char **at, uint64_t *ret_address, uint64_t *ret_number)
{
	return !bb_parse_hex_digits(at, ret_address) && *(*at)++ == ' ' &&
	       !bb_parse_digits(at, ret_number) && *(*at)++ == ' ';
}

/* Reads a line of the guest's text. Ignores a line that it does not understand. */
static void read_line(struct reading *r, char *line)
{
	struct program *p = r->n_programs ? &r->programs[r->n_programs - 1] : NULL;
	const char *word = strsep(&line, " "), *at = line;
	uint64_t address, number;

	if (!at)
		return;
	if (!strcmp(word, "program")) {
		p = bb_append(&r->programs, &r->n_programs, sizeof(*p));
		p->name = at;
		p->object = "";
		p->no_line = (struct line_start){.text = ""};
	} else if (!p) {
		return;
	} else if (!strcmp(word, "object")) {
		p->object = at;
	} else if (!strcmp(word, "run")) {
		BB_PUSH(r->windows, r->n_windows, (struct window){.program = r->n_programs - 1});
		if (!bb_parse_u64(at, &number))
			r->windows[r->n_windows - 1].ns = number;
	} else if (!strcmp(word, "function")) {
		if (read_numbers(&at, &address, &number))
			BB_PUSH(p->functions, p->n_functions, (struct function){address, number});
	} else if (!strcmp(word, "line")) {
		if (read_numbers(&at, &address, &number))
			BB_PUSH(p->lines, p->n_lines,
				(struct line_start){.address = address,
						    .number = (uint32_t)number,
						    .text = at,
						    .order = p->n_lines - 1});
	}
}

static int by_address(const void *a, const void *b)
{
	const struct line_start *x = a, *y = b;

	return BB_ORDER(x->address, y->address) ?: BB_ORDER(x->order, y->order);
}

static void read_text(struct reading *r, char *text)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (!strcmp(line, "symbols")) {
			if (text)
				bb_symtab__add_kallsyms(&r->kernel, text);
			break;
		}
		read_line(r, line);
	}
	for (size_t i = 0; i < r->n_programs; i++)
		if (r->programs[i].n_lines)
			qsort(r->programs[i].lines, r->programs[i].n_lines,
			      sizeof(struct line_start), by_address);
	bb_symtab__sort(&r->kernel);
	for (size_t i = 0; i < r->kernel.n; i++) {
		const struct bb_symbol *s = &r->kernel.symbols[i];

		if (!strcmp(bb_symtab__name(&r->kernel, s), "asm_exc_page_fault"))
			r->faults[0] = s->start;
		if (!strcmp(bb_symtab__name(&r->kernel, s), "asm_exc_general_protection"))
			r->faults[1] = s->start;
	}
}

/* Finds the records of each window. The plugin's marks come in the order of the windows. Also marks
 * instructions that caused a memory fault. The guest's clock does not count such an instruction,
 * because it was not executed, or was executed again later. */
static void read_records(struct reading *r, struct bb_trace_record *v, size_t n)
{
	struct bb_trace_record *begin = NULL, *before = NULL; /* before: the last instruction */
	size_t k = 0;

	for (struct bb_trace_record *now = v; now < v + n; now++) {
		if (now->kind == BB_TRACE_BEGIN) {
			begin = now + 1;
			before = NULL;
		} else if (now->kind == BB_TRACE_END && begin && k < r->n_windows) {
			r->windows[k].v = begin;
			r->windows[k++].n = (size_t)(now - begin);
			begin = NULL;
		} else if (now->kind == BB_TRACE_INSN) {
			if (before &&
			    (now->address == r->faults[0] || now->address == r->faults[1]))
				before->kind = BB_TRACE_FAULT;
			before = now;
		}
	}
}

static const struct function *own_function(const struct program *p, uint64_t address)
{
	return BB_FIND(p->functions, p->n_functions, address - it->start < it->size);
}

static bool is_clock(const struct bb_trace_record *r)
{
	return r->kind == BB_TRACE_INSN && r->class == BB_TRACE_CLOCK;
}

/* The records of a window between the two readings of the guest's clock. */
struct cut {
	size_t from, to;
	size_t first, last; /* indexes of the first and the last record of the program itself */
	uint64_t n;
};

/* Returns false if the window does not hold a whole run of the program. */
static bool find_cut(const struct program *p, const struct window *w, struct cut *c)
{
	*c = (struct cut){.first = SIZE_MAX, .from = SIZE_MAX};
	for (size_t i = 0; i < w->n; i++) {
		if (w->v[i].kind != BB_TRACE_INSN || !own_function(p, w->v[i].address))
			continue;
		if (c->first == SIZE_MAX)
			c->first = i;
		c->last = i;
	}
	if (c->first == SIZE_MAX)
		return false;
	for (size_t i = 0; i < c->first; i++)
		if (is_clock(&w->v[i]))
			c->from = i;
	if (c->from == SIZE_MAX)
		return false;
	for (c->to = c->last; c->to < w->n; c->to++)
		if (is_clock(&w->v[c->to]) && w->v[c->to].address == w->v[c->from].address)
			break;
	for (size_t i = c->from; i < c->to; i++)
		c->n += w->v[i].kind == BB_TRACE_INSN;
	return c->to < w->n;
}

/* Adds the line of the stretch and its frame, unless another stretch of the line has added them. */
static void add_line(struct folding *f, struct line_start *s)
{
	struct bb_traced *t = f->traced;
	char *text = s->number ? bb_asprintf("%u %.100s", s->number, s->text)
			       : bb_strdup("(no line)");

	s->is_known = true;
	s->frame = bb_stacks__frame(&f->traced->stacks, text, BB_FRAME_USER);
	free(text);
	for (s->line = 0; s->line < t->n_lines; s->line++)
		if (t->lines[s->line].number == s->number &&
		    !strcmp(t->lines[s->line].text, s->text))
			return;
	BB_PUSH(t->lines, t->n_lines,
		(struct bb_traced_line){.number = s->number, .text = s->text});
}

/* Updates the stack for the instruction at `address` in the function `now`. `before` is the
 * previous instruction, or NULL. If it was a call or a return, `at` is the stack address at which
 * it wrote or read the return address. */
static void follow(struct folding *f, const struct bb_trace_record *before, uint64_t at,
		   struct call now, uint64_t address)
{
	uint32_t class = before ? before->class : BB_TRACE_OTHER;

	if (class == BB_TRACE_RETURN) {
		/* remove all functions that have returned */
		f->above = 0;
		while (f->depth && f->calls[f->depth - 1].returns_at <= at &&
		       !f->calls[f->depth - 1].is_interrupt)
			f->depth--;
	} else if (class == BB_TRACE_INTERRUPT_RETURN) {
		f->above = 0;
		while (f->depth > 1 && !f->calls[f->depth - 1].is_interrupt)
			f->depth--;
		if (f->depth > 1)
			f->depth--;
	}
	now.returns_at = UINT64_MAX;
	if (class == BB_TRACE_CALL)
		now.returns_at = at;
	now.is_interrupt &= class != BB_TRACE_CALL && address == now.start;
	if (!f->depth || class == BB_TRACE_CALL || now.is_interrupt) {
		if (f->depth < DEPTH)
			f->calls[f->depth++] = now;
		else
			f->above++;
		/* the instruction is in the same function, or in one that was jumped to */
	} else if (!f->above) {
		f->calls[f->depth - 1].frame = now.frame;
		f->calls[f->depth - 1].start = now.start;
		f->calls[f->depth - 1].is_own = now.is_own;
	}
}

/* Counts an instruction in the element of (*v)[*n] that has these `of` and `name`. Adds this
 * element if there is none. `ids` has the indexes of the elements. */
static void add_part(struct bb_traced_part **v, size_t *n, struct bb_idmap *ids, size_t of,
		     uint32_t name)
{
	uint32_t id = bb_idmap__get(ids, of, name);

	if (id == BB_NO_ID) {
		BB_PUSH(*v, *n, (struct bb_traced_part){.of = of, .name = name});
		id = (uint32_t)*n - 1;
		bb_idmap__put(ids, of, name, id);
	}
	(*v)[id].n++;
}

/* Counts an instruction of a kernel function that this line of the program called. */
static void add_called(struct folding *f, size_t line, uint32_t frame)
{
	struct bb_traced *t = f->traced;
	uint32_t name = t->stacks.frames[frame].name, called = f->depth - 1;

	while (called && !f->calls[called - 1].is_own)
		called--;
	t->lines[line].called++;
	add_part(&t->parts, &t->n_parts, &f->by_line, line, name);
	add_part(&t->calls, &t->n_calls, &f->by_called, f->calls[called].called, name);
}

/* Finds the function of an instruction. Sets *line if the function belongs to the program. */
static struct call find_call(struct folding *f, uint64_t address, size_t *line)
{
	struct program *p = f->program;
	const struct function *own = own_function(p, address);
	const char *name = "[other machine code]";
	struct call now = {0};

	if (own) {
		size_t n = BB_N_LEADING(p->lines, p->n_lines, it->address <= address);
		struct line_start *s = n ? &p->lines[n - 1] : &p->no_line;

		if (!s->is_known)
			add_line(f, s);
		*line = s->line;
		return (struct call){own->start, .frame = s->frame, .is_own = true};
	}
	const struct bb_symbol *symbol = bb_symtab__find(&f->r->kernel, address);
	/* This is the nearest symbol below the address. If it is 1 MiB away or more, the code at
	 * the address is not part of its function, but has no symbol. An example is a BPF
	 * trampoline: the kernel has freed it before the guest reads the symbols. */
	if (symbol && address - symbol->start < UINT32_C(1) << 20) {
		now.start = symbol->start;
		name = bb_symtab__name(&f->r->kernel, symbol);
	}
	now.frame = bb_stacks__frame(&f->traced->stacks, name, BB_FRAME_KERNEL);
	now.called = f->traced->stacks.frames[now.frame].name;
	now.is_interrupt = !strncmp(name, "asm_", 4);
	return now;
}

static int compare_parts(const void *a, const void *b)
{
	const struct bb_traced_part *x = a, *y = b;

	return BB_ORDER(x->of, y->of) ?: BB_ORDER(y->n, x->n);
}

static void fold(const struct reading *r, const struct window *w, const struct cut *c,
		 struct bb_traced *t)
{
	struct folding f = {.r = r, .program = &r->programs[w->program], .traced = t};
	const struct bb_trace_record *before = NULL;
	uint32_t frames[DEPTH + 1]; /* the program's name, then the functions of f.calls */
	uint64_t at = 0;
	size_t line = 0;

	frames[0] = bb_stacks__frame(&t->stacks, t->name, BB_FRAME_COMM);
	for (size_t i = c->from; i < c->to; i++) {
		const struct bb_trace_record *now = &w->v[i];
		struct call call;
		size_t own_line = SIZE_MAX;

		if (now->kind == BB_TRACE_ACCESS) {
			/* `call *address` has two accesses, and the one that writes the return
			 * address is the last */
			at = now->address;
			continue;
		}
		if (now->kind != BB_TRACE_INSN)
			continue;
		call = find_call(&f, now->address, &own_line);
		follow(&f, before, at, call, now->address);
		before = now;
		for (uint32_t k = 0; k < f.depth; k++)
			frames[k + 1] = f.calls[k].frame;
		bb_stacks__add(&t->stacks, frames, f.depth + 1, 1);
		if (own_line != SIZE_MAX)
			t->lines[line = own_line].own++;
		else if (i < c->first || i > c->last)
			t->around++;
		else
			add_called(&f, line, call.frame);
	}
	if (t->n_parts) {
		qsort(t->parts, t->n_parts, sizeof(*t->parts), compare_parts);
		qsort(t->calls, t->n_calls, sizeof(*t->calls), compare_parts);
	}
	bb_stacks__sort(&t->stacks);
	bb_idmap__done(&f.by_line);
	bb_idmap__done(&f.by_called);
}

static void access_caches(struct bb_cache_model *m, const struct bb_trace_record *v, size_t n,
			  struct bb_cache_counts *counts)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].kind == BB_TRACE_INSN || v[i].kind == BB_TRACE_ACCESS)
			bb_cache_model__access(m, v[i].address, v[i].size_bytes,
					       v[i].kind == BB_TRACE_INSN, counts);
}

/* Takes the last run that has as many traced instructions as the guest's clock counted. If there is
 * no such run, takes the last run. */
static void take_program(const struct reading *r, size_t program, struct bb_traced *t)
{
	const struct window *best = NULL;
	struct cut best_cut = {0}, c;

	t->name = r->programs[program].name;
	t->object = r->programs[program].object;
	for (size_t i = 0; i < r->n_windows; i++) {
		const struct window *w = &r->windows[i];

		if (w->program != program || !w->ns || !find_cut(&r->programs[program], w, &c) ||
		    (best && best->ns == best_cut.n && c.n != w->ns))
			continue;
		best = w;
		best_cut = c;
	}
	if (!best)
		return;
	t->ns = best->ns;
	t->n = best_cut.n;
	fold(r, best, &best_cut, t);
	/* The program's earlier runs fill the caches. */
	struct bb_cache_model *m = bb_cache_model__new();
	for (const struct window *w = r->windows; w < best; w++) {
		if (w->program != program || !w->n)
			continue;
		access_caches(m, w->v, w->n, NULL);
		t->n_warm++;
	}
	access_caches(m, best->v, best_cut.from, NULL);
	access_caches(m, best->v + best_cut.from, best_cut.to - best_cut.from, &t->cache);
	bb_cache_model__free(m);
}

int bb_traced__read(char *text, int trace_fd, struct bb_traced **ret_traced, size_t *ret_n,
		    struct bb_err *err)
{
	struct reading r = {0};
	struct stat st = {0};
	void *data = MAP_FAILED;

	*ret_traced = NULL;
	*ret_n = 0;
	if (fstat(trace_fd, &st))
		return bb_fail(err, -errno, "the trace of QEMU's plugin: %m");
	size_t size = (size_t)st.st_size;
	if (size)
		data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, trace_fd, 0);
	if (data == MAP_FAILED)
		return bb_fail(err, -ENODATA, "QEMU's plugin traced no instruction");
	read_text(&r, text);
	read_records(&r, data, size / sizeof(struct bb_trace_record));
	*ret_traced = bb_calloc(r.n_programs + 1, sizeof(**ret_traced));
	*ret_n = r.n_programs;
	for (size_t i = 0; i < r.n_programs; i++) {
		take_program(&r, i, &(*ret_traced)[i]);
		free(r.programs[i].functions);
		free(r.programs[i].lines);
	}
	munmap(data, size);
	free(r.programs);
	free(r.windows);
	bb_symtab__done(&r.kernel);
	return 0;
}

void bb_traced__free(struct bb_traced *traced, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(traced[i].lines);
		free(traced[i].parts);
		free(traced[i].calls);
		bb_stacks__done(&traced[i].stacks);
	}
	free(traced);
}
