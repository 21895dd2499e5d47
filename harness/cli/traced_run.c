/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/traced_run.h"

#include "base/clean.h"
#include "cli/lines_flame.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "bpf/marks.h"
#include "bpf/trace_record.h"
#include "profile/traced.h"

#define NAMED 3u /* functions that a line of the table names, and --all: */
#define NAMED_BY_ALL 100u
#define MOST_DIFFERENCES 5u /* rows of each kind that a comparison shows */
#define HOTTEST 20u         /* lines of --hottest */

static int by_number(const void *a, const void *b)
{
	const struct bb_traced_line *x = *(const struct bb_traced_line *const *)a,
				    *y = *(const struct bb_traced_line *const *)b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_size(const void *a, const void *b)
{
	const struct bb_traced_line *x = *(const struct bb_traced_line *const *)a,
				    *y = *(const struct bb_traced_line *const *)b;
	uint64_t p = x->own + x->called, q = y->own + y->called;

	return p > q ? -1 : p < q ? 1 : by_number(a, b);
}

/* Adds a row of the table. */
static void add_row(const struct bb_traced *t, uint64_t own, uint64_t called, uint32_t number,
		    const char *text, struct bb_doc *d)
{
	bb_doc__cell_if(d, own, "%" PRIu64, own);
	bb_doc__cell_if(d, called, "%" PRIu64, called);
	bb_doc__cell(d, "%.1f", 100. * (double)(own + called) / (double)t->n);
	bb_doc__cell_if(d, number, "%u", number);
	bb_doc__cell(d, "%s", text);
}

/* Adds a row for each of the functions that the line spent most instructions in. */
static void add_functions(const struct bb_traced *t, const struct bb_traced_line *line,
			  size_t n_named, struct bb_doc *d)
{
	uint64_t rest = line->called;
	size_t n = 0;
	char text[300];

	for (size_t i = 0; i < t->n_parts; i++) {
		const struct bb_traced_part *p = &t->parts[i];

		if (&t->lines[p->line] != line || n++ >= n_named)
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

static void add_table(const struct bb_traced *t, const struct bb_traced_opts *o, struct bb_doc *d)
{
	static const struct bb_doc_column columns[] = {
		{BB_NUMBER("own"), .doc = "machine instructions of the line itself"},
		{BB_NUMBER("called"), .doc = "those of the functions that it called"},
		{BB_NUMBER("% of run")},
		{BB_NUMBER("line")},
		{BB_CODE("source")},
	};
	const struct bb_traced_line **order = bb_calloc(t->n_lines + 1, sizeof(*order));

	for (size_t i = 0; i < t->n_lines; i++)
		order[i] = &t->lines[i];
	qsort(order, t->n_lines, sizeof(*order), o->hottest ? by_size : by_number);
	bb_doc__table(d, columns, BB_LEN(columns));
	for (size_t i = 0; i < t->n_lines && (i < HOTTEST || !o->hottest); i++) {
		const struct bb_traced_line *l = order[i];

		add_row(t, l->own, l->called, l->number, l->number ? l->text : "(no line)", d);
		add_functions(t, l, o->all ? NAMED_BY_ALL : NAMED, d);
	}
	add_row(t, t->around, 0, 0, "(the call and its timing)", d);
	free(order);
}

static void add_program(const struct bb_traced *t, const struct bb_traced_opts *o, struct bb_doc *d)
{
	if (!t->n) {
		bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
			    "%s: no run was traced: none ran alone between two readings of its "
			    "counters, or it has more than %u million instructions",
			    t->name, BB_TRACE_MOST >> 20);
		return;
	}
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
		    "%s by kernel function: one run, %" PRIu64 " machine instructions between two "
		    "readings of the clock",
		    t->name, t->n);
	if (t->n != t->ns)
		bb_doc__append(d, "; the clock says %" PRIu64, t->ns);
	add_table(t, o, d);
}

static int write_folded(void *arg, FILE *out, struct bb_err *)
{
	const struct bb_traced *t = arg;

	bb_stacks__write_folded(&t->stacks, out);
	return 0;
}

static int write_flame(void *arg, FILE *out, struct bb_err *)
{
	static const char *const legend[BB_N_FRAME_KINDS] = {
		[BB_FRAME_COMM] = "program",
		[BB_FRAME_USER] = "line",
		[BB_FRAME_KERNEL] = "kernel",
	};
	const struct bb_traced *t = arg;
	char title[300];
	const struct bb_flame_opts opts = {.title = title,
					   .unit = "instructions",
					   .legend = legend};

	snprintf(title, sizeof(title), "%.250s: one run", t->name);
	bb_flame__write(&t->stacks, &opts, out);
	return 0;
}

static int draw(struct bb_traced *t, const char *file, struct bb_err *err)
{
	return bb_output_of(bb_is_folded(file) ? write_folded : write_flame, t, file, err);
}

/* True if the program was measured, and not only as a floor of others. */
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

/* A line of a program, or a function of the kernel, in both runs. */
struct part {
	const char *name;
	bool is_function;
	uint64_t n[2];
};

static void add_to(struct part **v, size_t *n, const char *name, bool is_function, int side,
		   uint64_t count)
{
	size_t i = 0;

	while (i < *n && ((*v)[i].is_function != is_function || strcmp((*v)[i].name, name)))
		i++;
	if (i == *n)
		*(struct part *)bb_append(v, n, sizeof(**v)) =
			(struct part){.name = name, .is_function = is_function};
	(*v)[i].n[side] += count;
}

static int64_t more(const struct part *p)
{
	return (int64_t)(p->n[1] - p->n[0]);
}

static int by_difference(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int64_t p = llabs(more(x)), q = llabs(more(y));

	return p != q ? (p > q ? -1 : 1) : strcmp(x->name, y->name);
}

/* Adds the largest differences: of lines, each with what it called, or of the functions of the
 * kernel, each without. */
static void add_parts(const struct part *v, size_t n, bool functions, struct bb_doc *d)
{
	size_t n_named = 0;

	for (size_t i = 0; i < n && n_named < MOST_DIFFERENCES; i++) {
		if (v[i].is_function != functions || !more(&v[i]))
			continue;
		n_named++;
		bb_doc__cell(d, "%+" PRId64, more(&v[i]));
		for (int side = 0; side < 2; side++)
			bb_doc__cell_if(d, v[i].n[side], "%" PRIu64, v[i].n[side]);
		bb_doc__cell(d, "%s", functions ? "kernel function" : "line");
		bb_doc__cell(d, "%.100s", v[i].name);
	}
}

/* Adds what makes two runs of a program differ. Lines are the same if their text is, because their
 * numbers move. */
static void add_difference(const struct bb_traced *const pair[2], struct bb_doc *d)
{
	static const struct bb_doc_column columns[] = {
		{BB_NUMBER("B - A")}, {BB_NUMBER("A")},    {BB_NUMBER("B")},
		{BB_TEXT("in the")},  {BB_CODE("source")},
	};
	struct part *v = NULL;
	size_t n = 0;

	for (int side = 0; side < 2; side++) {
		const struct bb_traced *t = pair[side];

		for (size_t i = 0; i < t->n_lines; i++)
			add_to(&v, &n, t->lines[i].number ? t->lines[i].text : "(no line)", false,
			       side, t->lines[i].own + t->lines[i].called);
		for (size_t i = 0; i < t->n_parts; i++)
			add_to(&v, &n, bb_names__text(&t->stacks.names, t->parts[i].name), true,
			       side, t->parts[i].n);
		add_to(&v, &n, "(the call and its timing)", false, side, t->around);
	}
	qsort(v, n, sizeof(*v), by_difference);
	bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
		    "%s: one run of A has %" PRIu64 " machine instructions, of B %" PRIu64
		    " (%+" PRId64 ", with the call and its timing)",
		    pair[0]->name, pair[0]->n, pair[1]->n, (int64_t)(pair[1]->n - pair[0]->n));
	bb_doc__table(d, columns, BB_LEN(columns));
	add_parts(v, n, false, d);
	add_parts(v, n, true, d);
	free(v);
}

/* True if both paths name one file. Paths in a guest are those of the host. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Adds the differences of all programs that both objects have. */
static void add_differences(const struct bb_traced *traced, size_t n,
			    const struct bb_traced_opts *o, struct bb_doc *d)
{
	for (size_t i = 0; i < n; i++) {
		const struct bb_traced *pair[2] = {&traced[i], NULL};

		for (size_t k = 0; k < n; k++)
			if (!strcmp(traced[k].name, traced[i].name) &&
			    is_same_file(traced[k].object, o->head))
				pair[1] = &traced[k];
		if (is_same_file(traced[i].object, o->base) && pair[1] && pair[0]->n &&
		    pair[1]->n && pair[0]->n != pair[1]->n)
			add_difference(pair, d);
	}
}

static int show_kernel(const struct bb_matrix_kernel *k, const struct bb_traced_opts *o,
		       struct bb_err *err)
{
	struct bb_traced *traced = NULL;
	struct bb_doc d = {0};
	size_t n = 0, n_drawn = 0;
	int rc = bb_traced__read(k->port, k->trace_fd, &traced, &n, err);

	/* a guest measures the programs in random order */
	if (!rc)
		qsort(traced, n, sizeof(*traced), by_name);
	bb_doc__add(&d, BB_DOC_TITLE, NULL, "Linux %s", k->run->fingerprint.kernel_release);
	if (!rc && o->base)
		add_differences(traced, n, o, &d);
	for (size_t i = 0; !rc && !o->base && i < n; i++) {
		if (!is_shown(k->run, traced[i].name))
			continue;
		add_program(&traced[i], o, &d);
		if (!o->flame || !traced[i].n)
			continue;
		if (n_drawn++)
			rc = bb_fail(err, -EINVAL,
				     "--flame draws one program, and there are more; "
				     "choose one by --variant");
		else
			rc = draw(&traced[i], o->flame, err);
	}
	if (!rc && d.n > 1) {
		putchar('\n');
		rc = bb_output_document(&d, stdout, err);
	}
	bb_traced__free(traced, n);
	return rc;
}

static int show(void *arg, const struct bb_matrix_kernel *kernels, size_t n, struct bb_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		if (kernels[i].run && kernels[i].port)
			rc = show_kernel(&kernels[i], arg, err);
		else
			bb_tell("%s: not by kernel function: %s", kernels[i].name, kernels[i].why);
	}
	return rc ? rc : bb_clean__check(stdout, "stdout", err);
}

int bb_traced_run(const struct bb_vm_args *vm, const struct bb_measure_args *m,
		  struct bb_vm_work *work, const struct bb_traced_opts *opts, struct bb_err *err)
{
	const struct bb_paths *paths = bb_paths(err);
	struct bb_traced_opts o = *opts;
	struct bb_measure_args args = *m;
	static const char *const drive[] = {"step"};
	const struct bb_strings drives = {(const char **)drive, 1};
	int rc;

	if (!paths)
		return err->code;
	if (access(paths->qemu_plugin, R_OK)) {
		bb_tell("not by kernel function: there is no %s (make builds it)",
			paths->qemu_plugin);
		return 0;
	}
	args.no_store = args.quiet = true;
	work->plugin = paths->qemu_plugin;
	work->show = show;
	work->arg = &o;
	bb_strings__append(&work->args, "--" BB_MARKS_OPTION);
	bb_vm__name_drives(work, NULL, &drives, 1, 64);
	rc = bb_vm__measure(vm, &args, work, err);
	return rc < 0 ? rc : 0; /* a guest that failed was said */
}
