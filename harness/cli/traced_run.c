/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/traced_run.h"

#include "base/clean.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "bpf/marks.h"
#include "bpf/trace_record.h"
#include "profile/traced.h"

/* most functions that are named below a source line, without and with --all */
#define NAMED 3u
#define NAMED_BY_ALL 100u
#define MOST_DIFFERENCES 5u /* rows of each kind that a comparison shows */
#define HOTTEST 20u         /* lines that --hottest shows */

static int by_number(const void *a, const void *b)
{
	const struct bb_traced_line *x = *(const struct bb_traced_line *const *)a,
				    *y = *(const struct bb_traced_line *const *)b;

	return BB_ORDER(x->number, y->number);
}

static int by_size(const void *a, const void *b)
{
	const struct bb_traced_line *x = *(const struct bb_traced_line *const *)a,
				    *y = *(const struct bb_traced_line *const *)b;
	uint64_t p = x->own + x->called, q = y->own + y->called;

	return p != q ? BB_ORDER(q, p) : by_number(a, b);
}

/* `own` is the number of machine instructions of the code itself, `called` the number in functions
 * that it called. */
static void add_row(const struct bb_traced *t, uint64_t own, uint64_t called, uint32_t number,
		    const char *text, struct bb_doc *d)
{
	bb_doc__cell_if(d, own, "%" PRIu64, own);
	bb_doc__cell_if(d, called, "%" PRIu64, called);
	bb_doc__cell(d, "%.1f", 100. * (double)(own + called) / (double)t->n);
	bb_doc__cell_if(d, number, "%u", number);
	bb_doc__cell(d, "%s", text);
}

/* Below each line are the functions that it called, those with the most instructions first, and one
 * row for those that are not named. */
static void add_table(const struct bb_traced *t, const struct bb_traced_opts *o, struct bb_doc *d)
{
	const struct bb_traced_line **order = bb_calloc(t->n_lines + 1, sizeof(*order));
	char text[300];

	for (size_t i = 0; i < t->n_lines; i++)
		order[i] = &t->lines[i];
	qsort(order, t->n_lines, sizeof(*order), o->hottest ? by_size : by_number);
	bb_doc__columns(d, {BB_NUMBER("own"), .doc = "machine instructions of the line itself"},
			{BB_NUMBER("called"), .doc = "those of the functions that it called"},
			{BB_NUMBER("% of run")}, {BB_NUMBER("line")}, {BB_CODE("source")});
	for (size_t i = 0; i < t->n_lines && (i < HOTTEST || !o->hottest); i++) {
		const struct bb_traced_line *l = order[i];
		size_t n = 0, n_named = o->all ? NAMED_BY_ALL : NAMED;
		uint64_t rest = l->called;

		add_row(t, l->own, l->called, l->number, l->number ? l->text : "(no line)", d);
		for (size_t k = 0; k < t->n_parts; k++) {
			const struct bb_traced_part *p = &t->parts[k];

			if (&t->lines[p->of] != l || n++ >= n_named)
				continue;
			snprintf(text, sizeof(text), "    %.250s",
				 bb_names__text(&t->stacks.names, p->name));
			add_row(t, 0, p->n, 0, text, d);
			rest -= p->n;
		}
		snprintf(text, sizeof(text), "    (%zu more)", n - n_named);
		if (rest)
			add_row(t, 0, rest, 0, text, d);
	}
	add_row(t, t->around, 0, 0, "(the call and its timing)", d);
	free(order);
}

static void add_program(const struct bb_traced *t, const struct bb_traced_opts *o, struct bb_doc *d)
{
	if (!t->n) {
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
			    "%s: no run was traced: none ran alone between two readings of its "
			    "counters, it has more than %u million instructions, or all before it "
			    "have more than %u million, memory accesses included",
			    t->name, BB_TRACE_MOST >> 20, BB_TRACE_MOST_IN_ALL >> 20);
		return;
	}
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
		    "%s by kernel function: one run, %" PRIu64 " machine instructions between two "
		    "readings of the clock",
		    t->name, t->n);
	if (t->n != t->ns)
		bb_doc__append(d, "; the clock says %" PRIu64, t->ns);
	add_table(t, o, d);
	bb_doc__add(d, BB_DOC_CLOSING, NULL,
		    "a model of caches (L1 of %u KiB each for code and data, LL of %u MiB; after "
		    "%zu earlier run%s): %" PRIu64 " accesses to L1, %" PRIu64 " to LL, %" PRIu64
		    " to RAM; estimated cycles %" PRIu64 " (L1 + 5 LL + 35 RAM)",
		    BB_CACHE_L1_BYTES >> 10, BB_CACHE_LL_BYTES >> 20, t->n_warm,
		    bb_plural(t->n_warm), t->cache.l1, t->cache.ll, t->cache.ram,
		    bb_cache_counts__cycles(&t->cache));
}

static int draw(const struct bb_traced *t, const char *path, struct bb_err *err)
{
	static const char *const legend[BB_N_FRAME_KINDS] = {
		[BB_FRAME_COMM] = "program",
		[BB_FRAME_USER] = "line",
		[BB_FRAME_KERNEL] = "kernel",
	};
	char title[300];
	const struct bb_flame_opts opts = {.title = title,
					   .unit = "instructions",
					   .legend = legend};

	snprintf(title, sizeof(title), "%.250s: one run", t->name);
	return bb_output_stacks(&t->stacks, &opts, path, err);
}

/* False if the program was measured only as the floor, the empty program, of other programs. */
static bool is_shown(const struct bb_report *r, const char *name)
{
	for (size_t i = 0; i < r->n_cases; i++) {
		const char *variant = r->cases[i].variant, *dot = strrchr(variant, '.');

		if (!strcmp(dot ? dot + 1 : variant, name) && !bb_is_floor(r, &r->cases[i]))
			return true;
	}
	return false;
}

static int by_name(const void *a, const void *b)
{
	const struct bb_traced *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* A line or a function, with its machine instructions in two runs. The runs are of two objects in
 * one kernel, or of one object in two kernels. */
struct part {
	enum part_kind {
		PART_LINE, /* a line, with the functions that it called */
		PART_FUNCTION,
		PART_CALLED,    /* a function that the program called, with all that it called */
		PART_OF_CALLED, /* a kernel function that ran inside a called function */
	} kind;
	const char *called, *name; /* `called` is set only for PART_OF_CALLED */
	uint64_t n[2];             /* machine instructions in each run */
};

/* A kernel may call a function "f", and another kernel "f.isra.0". */
static bool is_same_function(const char *a, const char *b)
{
	size_t n = strcspn(a, ".");

	return n == strcspn(b, ".") && !memcmp(a, b, n);
}

static bool is_same(const struct part *a, const struct part *b)
{
	if (a->kind != b->kind)
		return false;
	/* Compare lines by text, because an edit moves the numbers of later lines. */
	if (a->kind == PART_LINE)
		return !strcmp(a->name, b->name);
	return is_same_function(a->called, b->called) && is_same_function(a->name, b->name);
}

struct parts {
	struct part *v;
	size_t n;
};

static void add_to(struct parts *parts, int side, uint64_t count, struct part part)
{
	struct part *same = BB_FIND(parts->v, parts->n, is_same(it, &part));

	if (!same) {
		BB_PUSH(parts->v, parts->n, part);
		same = &parts->v[parts->n - 1];
	}
	same->n[side] += count;
}

static int64_t more(const struct part *p)
{
	return (int64_t)(p->n[1] - p->n[0]);
}

static int by_difference(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int64_t p = llabs(more(x)), q = llabs(more(y));

	return p != q ? BB_ORDER(q, p) : strcmp(x->name, y->name);
}

static void add_rows(const struct parts *parts, enum part_kind kind, struct bb_doc *d)
{
	size_t n_named = 0;

	for (size_t i = 0; i < parts->n && n_named < MOST_DIFFERENCES; i++) {
		const struct part *p = &parts->v[i];

		if (p->kind != kind || !more(p))
			continue;
		n_named++;
		bb_doc__cell(d, "%+" PRId64, more(p));
		for (int side = 0; side < 2; side++)
			bb_doc__cell_if(d, p->n[side], "%" PRIu64, p->n[side]);
		bb_doc__cell(d, "%s", kind == PART_LINE ? "line" : "kernel function");
		bb_doc__cell(d, "%.100s", p->name);
	}
}

static void add_called(const struct parts *parts, const char *in, struct bb_doc *d)
{
	size_t n_called = 0;

	for (size_t i = 0; i < parts->n && n_called < MOST_DIFFERENCES; i++) {
		const struct part *p = &parts->v[i];
		size_t n_named = 0;

		if (p->kind != PART_CALLED || !more(p))
			continue;
		n_called++;
		bb_doc__add(d, BB_DOC_ITEM, NULL, "%.100s costs %lld %s in %s", p->name,
			    llabs(more(p)), more(p) > 0 ? "more" : "less", in);
		for (size_t k = 0; k < parts->n && n_named < NAMED; k++) {
			const struct part *of = &parts->v[k];

			if (of->kind == PART_OF_CALLED && more(of) &&
			    is_same_function(of->called, p->name))
				bb_doc__append(d, "%s %+" PRId64 " in %.100s",
					       n_named++ ? "," : ":", more(of), of->name);
		}
	}
}

/* in[2] names the object or the kernel of each run. */
static void add_difference(const struct bb_traced *const pair[2], const char *const in[2],
			   struct bb_doc *d)
{
	struct parts parts = {0};

	for (int side = 0; side < 2; side++) {
		const struct bb_traced *t = pair[side];

		for (size_t i = 0; i < t->n_lines; i++) {
			const struct bb_traced_line *l = &t->lines[i];
			const char *text = l->number ? l->text : "(no line)";

			add_to(&parts, side, l->own + l->called,
			       (struct part){PART_LINE, "", text, {0}});
		}
		add_to(&parts, side, t->around,
		       (struct part){PART_LINE, "", "(the call and its timing)", {0}});
		for (size_t i = 0; i < t->n_calls; i++) {
			const struct bb_traced_part *p = &t->calls[i];
			const char *called = bb_names__text(&t->stacks.names, (uint32_t)p->of),
				   *name = bb_names__text(&t->stacks.names, p->name);

			add_to(&parts, side, p->n, (struct part){PART_FUNCTION, "", name, {0}});
			add_to(&parts, side, p->n, (struct part){PART_CALLED, "", called, {0}});
			add_to(&parts, side, p->n,
			       (struct part){PART_OF_CALLED, called, name, {0}});
		}
	}
	qsort(parts.v, parts.n, sizeof(*parts.v), by_difference);
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
		    "%s: one run in %s has %" PRIu64 " machine instructions, in %s %" PRIu64
		    " (%+" PRId64 ", with the call and its timing)",
		    pair[0]->name, in[0], pair[0]->n, in[1], pair[1]->n,
		    (int64_t)(pair[1]->n - pair[0]->n));
	bb_doc__append(d, "; estimated cycles, by a model of caches: %" PRIu64 " and %" PRIu64,
		       bb_cache_counts__cycles(&pair[0]->cache),
		       bb_cache_counts__cycles(&pair[1]->cache));
	bb_doc__columns(d, {BB_NUMBER("difference"), .doc = "B less A"}, {BB_NUMBER(in[0])},
			{BB_NUMBER(in[1])}, {BB_TEXT("in the")}, {BB_CODE("source")});
	add_rows(&parts, PART_LINE, d);
	add_rows(&parts, PART_FUNCTION, d);
	add_called(&parts, in[1], d);
	free(parts.v);
}

/* The traced runs of one kernel, sorted by the names of their programs. */
struct runs {
	const struct bb_matrix_kernel *kernel;
	struct bb_traced *v;
	size_t n;
};

/* Returns NULL if there is no such run. `object` NULL means any object. */
static const struct bb_traced *find_run(const struct runs *runs, const char *name,
					const char *object)
{
	for (size_t i = 0; i < runs->n; i++) {
		struct stat x, y;
		const struct bb_traced *t = &runs->v[i];

		/* `t->object` is a path in the guest, and the file has the same path on the host */
		if (!strcmp(t->name, name) &&
		    (!object || (!stat(t->object, &x) && !stat(object, &y) &&
				 x.st_dev == y.st_dev && x.st_ino == y.st_ino)))
			return t;
	}
	return NULL;
}

/* base and head are runs of two objects in one kernel, or of one object in two kernels. */
static void add_differences(const struct runs *base, const struct runs *head,
			    const struct bb_traced_opts *o, struct bb_doc *d)
{
	const char *const in[2] = {o->between_kernels ? base->kernel->name : "A",
				   o->between_kernels ? head->kernel->name : "B"};
	const char *last = "";

	for (size_t i = 0; i < base->n; i++) {
		const char *name = base->v[i].name;
		const struct bb_traced *pair[2] = {find_run(base, name, o->base),
						   find_run(head, name, o->head)};

		if (!strcmp(name, last) ||
		    (o->between_kernels && !is_shown(base->kernel->run, name)))
			continue;
		last = name;
		if (pair[0] && pair[1] && pair[0]->n && pair[1]->n && pair[0]->n != pair[1]->n)
			add_difference(pair, in, d);
	}
}

/* If kernels are compared, `first` holds the runs of the first kernel. Otherwise it is `runs`. */
static int show_kernel(const struct runs *first, struct runs *runs, const struct bb_traced_opts *o,
		       struct bb_err *err)
{
	bool compares = o->base || o->between_kernels;
	size_t n_titles, n_drawn = 0;
	struct bb_doc d = {0};
	int rc = 0;

	if (o->between_kernels)
		bb_doc__add(&d, BB_DOC_TITLE, NULL, "Linux %s, then %s",
			    first->kernel->run->fingerprint.kernel_release,
			    runs->kernel->run->fingerprint.kernel_release);
	else
		bb_doc__add(&d, BB_DOC_TITLE, NULL, "Linux %s",
			    runs->kernel->run->fingerprint.kernel_release);
	n_titles = d.n;
	if (compares)
		add_differences(first, runs, o, &d);
	/* --flame draws the only program, and fails if there are several */
	for (size_t i = 0; !rc && !compares && i < runs->n; i++) {
		if (!is_shown(runs->kernel->run, runs->v[i].name))
			continue;
		add_program(&runs->v[i], o, &d);
		if (!o->flame || !runs->v[i].n)
			continue;
		if (n_drawn++)
			rc = bb_fail(err, -EINVAL,
				     "--flame draws one program, and there are more; "
				     "choose one by --variant");
		else
			rc = draw(&runs->v[i], o->flame, err);
	}
	if (!rc && d.n > n_titles) {
		putchar('\n');
		bb_output_render(&d, o->is_markdown, NULL, stdout);
	} else {
		bb_doc__done(&d);
	}
	return rc;
}

static int show(void *arg, const struct bb_matrix_kernel *kernels, size_t n, struct bb_err *err)
{
	const struct bb_traced_opts *o = arg;
	struct runs *runs = bb_calloc(n + 1, sizeof(*runs));
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		runs[i].kernel = &kernels[i];
		if (!kernels[i].run || !kernels[i].port) {
			bb_tell("%s: not by kernel function: %s", kernels[i].name, kernels[i].why);
			continue;
		}
		rc = bb_traced__read(kernels[i].port, kernels[i].trace_fd, &runs[i].v, &runs[i].n,
				     err);
		/* A guest measures the programs in random order. */
		if (runs[i].n)
			qsort(runs[i].v, runs[i].n, sizeof(*runs[i].v), by_name);
	}
	for (size_t i = o->between_kernels; !rc && i < n; i++) {
		struct runs *first = o->between_kernels ? runs : &runs[i];

		if (first->n && runs[i].n)
			rc = show_kernel(first, &runs[i], o, err);
	}
	for (size_t i = 0; i < n; i++)
		bb_traced__free(runs[i].v, runs[i].n);
	free(runs);
	return rc ? rc : bb_clean__check(stdout, "stdout", err);
}

int bb_traced_run(const struct bb_measure_args *m, const struct bb_object_args *objects,
		  const struct bb_traced_opts *opts, struct bb_err *err)
{
	static struct bb_vm_work work = {.name = "traced", .show = show};
	static const char *const drive[] = {"step"};
	const struct bb_paths *paths = bb_paths(err);
	struct bb_traced_opts o = *opts;
	struct bb_measure_args args = *m;

	if (!paths)
		return err->code;
	if (access(paths->qemu_plugin, R_OK)) {
		bb_tell("not by kernel function: there is no %s (make builds it)",
			paths->qemu_plugin);
		return 0;
	}
	args.no_store = args.quiet = true;
	work.plugin = paths->qemu_plugin;
	work.arg = &o;
	int rc = bb_vm__begin_work(&work, m, objects, err);
	bb_vm__append_option(&work, "variant", opts->variant);
	bb_strings__append(&work.args, "--" BB_MARKS_OPTION);
	bb_vm__name_drives(&work, NULL, &(struct bb_strings){drive, 1}, 1, 64);
	if (!rc)
		rc = bb_vm__measure(&args, &work, err);
	/* rc is above 0 if a guest failed, which was printed already */
	return rc < 0 ? rc : 0;
}
