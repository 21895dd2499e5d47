/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/clean.h"
#include "base/parse.h"
#include "cli/options.h"
#include "cli/lines_flame.h"
#include "cli/output.h"
#include "cli/traced_run.h"
#include "cli/vm_run.h"
#include "export/documents.h"
#include "judge/annotated.h"
#include "store/store.h"

#define HOTTEST 20u /* lines of a program that --hottest shows */
/* If MANY programs or more are shown, each has only its FIRST_LINES lines with the most
 * instructions. */
#define MANY 4u
#define FIRST_LINES 5u

struct annotate_args {
	const char *run, *variant;
	struct bb_annotate_opts opts;
	int colour; /* index in `whens` */
	bool hottest, time, all, cases;
	const char *flame; /* NULL if no flame graph is drawn */
	/* without --vm, only `results` and `command` are used */
	struct bb_measure_args measure;
	struct bb_object_args object; /* objects whose programs run in the guests of --vm */
};

static const char *const whens[] = {"auto", "always", "never"};

#define ARGS struct annotate_args

static const struct bb_option options[] = {
	{"variant", 'V', "NAME", bb_read_text, BB_ARG(variant),
	 "only this variant (without it, no floors)"},
	{"hottest", 0, NULL, bb_read_flag, BB_ARG(hottest),
	 "only the twenty lines with the most instructions, the first of them on top"},
	{"time", 0, NULL, bb_read_flag, BB_ARG(time),
	 "print the time of each line of one run instead, and of each call in it, in ns; the run "
	 "needs a drive {with: lines}"},
	{"all", 0, NULL, bb_read_flag, BB_ARG(all),
	 "all lines of each program: although the run has four programs or more; with --time also "
	 "those below 3 ns (1 instruction in a run of --vm)"},
	{"cases", 0, NULL, bb_read_flag, BB_ARG(cases),
	 "with --time: every case of each program instead of the slowest"},
	{"flame", 0, "FILE.svg", bb_read_text, BB_ARG(flame),
	 "draw the flame graph of one run of one program by these times, in ns, into FILE.svg; "
	 "with --vm by machine instructions, with the kernel's functions. A FILE.folded gets the "
	 "folded stacks instead",
	 .given = BB_ARG_AT(time)},
	{"colour", 0, "WHEN", bb_read_index, BB_ARG(colour),
	 "always, never, or auto (default): if stdout is a terminal", BB_CHOICES(whens)},
	{"results", 0, "DIR", bb_read_text, BB_ARG(measure.results), BB_RESULTS_DOC},
	{0},
};

static void check_args(void *args)
{
	struct annotate_args *a = args;

	if (a->measure.kernels && a->run)
		bb_strings__append(&a->object.objects, a->run);
	a->time |= a->measure.kernels != NULL;
	bb_refuse("--vm measures an object by line: bpfbench annotate --vm KERNEL OBJECT",
		  a->measure.kernels && !a->object.objects.n);
	bb_refuse("--object and its options go together with --vm",
		  !a->measure.kernels && (a->object.objects.n || bb_object_args__any(&a->object)));
	bb_refuse("--cases goes together with --time", a->cases && !a->time);
	bb_refuse("--flame takes one kernel",
		  a->flame && a->measure.kernels && strchr(a->measure.kernels, ','));
}

static const struct bb_usage usage = {
	.arguments = "[RUN | --vm KERNEL OBJECT]",
	.doc = "Print the source of the programs of a stored run with the executions and "
	       "instructions of each line per run; ##### marks lines that were never executed. For "
	       "coverage viewers: `bpfbench show --format lcov`.",
	.more = BB_RUN_DOC " The run needs a drive {with: exact}, and for --time {with: lines}; "
			   "--lines beside --object takes both.\n\nWith --vm, the programs of "
			   "an object are first run by line in that kernel; the figures are "
			   "machine instructions. A second run follows, which a plugin of QEMU "
			   "traces: it "
			   "tells the instructions of a line from those of the functions that it "
			   "called, and names the kernel's functions (three for a line, --all: "
			   "all).",
	.example = "  bpfbench annotate latest --time\n"
		   "  bpfbench annotate --vm 6.12 prog.bpf.o\n",
	.sets = {{NULL, options, 0},
		 {"Or in other kernels:", bb_vm_options, BB_ARG_AT(measure)},
		 {"The object for them:", bb_object_options, BB_ARG_AT(object)}},
	.argument = {.name = "run", .read = bb_read_once, .at = BB_ARG_AT(run)},
	.check = check_args,
};

/* Fails with the reason why nothing was printed: the run has no figures by line, or the variant
 * a->variant has none. */
static int say_none(const struct bb_report *r, const struct annotate_args *a, struct bb_err *err)
{
	size_t n_all = a->time ? r->n_timed : r->n_counted, n = 0;
	const char *names[64];

	if (!n_all)
		return bb_fail(err, -ENODATA, "run %s has no %s", r->id,
			       a->time ? "times by line: it needs a drive {with: lines}, or "
					 "--lines beside --object"
				       : "counts: --drive exact takes them, in a scenario a drive "
					 "{with: exact}; so does --lines");
	for (; n < n_all && n < 64; n++)
		names[n] = a->time ? r->timed[n].variant : r->counted[n].variant;
	return bb_fail(err, -ENOENT, "run %s %s program '%s'%s", r->id,
		       a->time ? "timed the lines of no" : "counted no", a->variant,
		       bb_did_you_mean(bb_nearest(a->variant, names, n), "").text);
}

static int draw(const struct bb_by_line *lines, const char *path, struct bb_err *err)
{
	struct bb_lines_flame flame;

	bb_lines_flame__make(lines, &flame);
	int rc = bb_output_stacks(&flame.stacks, &flame.opts, path, err);
	bb_stacks__done(&flame.stacks);
	return rc;
}

/* Of the cases of a program, the one with the highest rank is shown. A case that was measured with
 * hot and with cold caches ranks highest, then the slowest. A case with cold caches only, or
 * without a time, ranks lowest. */
static double rank_of(const struct bb_by_line *b)
{
	if (bb_timed__is_cold(b->timed) || isnan(b->program.value))
		return -1;
	return isfinite(b->cold.value) ? (double)INFINITY : b->program.value;
}

/* True if no case of the same program ranks above lines[i]. Of cases with equal rank, the first is
 * chosen. */
static bool is_chosen(const struct bb_by_line *lines, size_t n, size_t i)
{
	const struct bb_timed *t = lines[i].timed;
	double rank = rank_of(&lines[i]);

	return !BB_ANY(lines, n,
		       !strcmp(t->scenario, it->timed->scenario) &&
			       !strcmp(t->variant, it->timed->variant) &&
			       (rank_of(it) > rank || (!(rank_of(it) < rank) && it < &lines[i])));
}

static void add_below(const struct bb_report *r, const struct annotate_args *a,
		      const struct bb_by_line *lines, size_t n, struct bb_doc *d)
{
	size_t n_skips = 0, n_others = 0, n_drawn = 0; /* n_drawn: cases that --flame would draw */

	if (a->cases)
		bb_doc_by_param(lines, n, d);
	bb_doc_in_vain(r, NULL, d);
	/* these skips are loads of a program that were not measured */
	for (size_t i = 0; i < r->n_skips; i++)
		if (strstr(r->skips[i].what, "/loads ") && !n_skips++)
			bb_doc__add(d, BB_DOC_PARAGRAPH, NULL, "without %s: %s", r->skips[i].what,
				    r->skips[i].why);
	if (n_skips > 1)
		bb_doc__append(d, " (and %zu more like it)", n_skips - 1);
	for (size_t i = 0; i < n; i++) {
		bool is_shown = a->cases || is_chosen(lines, n, i);

		n_drawn += is_shown && !bb_timed__is_cold(lines[i].timed);
		if (is_shown)
			continue;
		if (!n_others++)
			bb_doc__add(d, BB_DOC_PARAGRAPH, "other cases (--cases shows them)", "%s",
				    "");
		bb_doc__append(d, "%s%s %s%s", n_others > 1 ? ", " : "", lines[i].timed->name,
			       bb_table_cell_value(lines[i].program.value).text,
			       lines[i].timed->counts_instructions ? "" : " ns");
	}
	if (!a->flame)
		bb_doc__again(d, BB_DOC_FAINT, "more", a->measure.command,
			      !a->all       ? "--all"
			      : n_drawn < 2 ? "--flame FILE.svg"
					    : "--variant NAME --flame FILE.svg",
			      a->all ? "a picture" : "lines that take little time, too");
	bb_doc__add(d, BB_DOC_FAINT, "next", "after a change `%s`",
		    lines[0].timed->counts_instructions ? "bpfbench compare OLD.o NEW.o --vm "
							  "KERNEL"
							: "sudo bpfbench compare OLD.o NEW.o "
							  "--time");
}

static int put_times(const struct bb_report *r, const struct annotate_args *a, struct bb_err *err)
{
	struct bb_by_line *lines = bb_calloc(r->n_timed + 1, sizeof(*lines));
	size_t n = 0, n_shown = 0, n_drawn = 0;
	struct bb_doc d = {0};
	int rc = 0;

	for (size_t i = 0; i < r->n_timed; i++)
		if (!a->variant || !strcmp(a->variant, r->timed[i].variant))
			bb_by_line__make(r, &r->timed[i], &lines[n++]);
	if (!n)
		rc = say_none(r, a, err);
	for (size_t i = 0; !rc && i < n; i++) {
		/* A graph of runs with cold caches would only repeat the frames of the graph with
		 * hot caches. */
		bool is_drawn = a->flame && !bb_timed__is_cold(lines[i].timed);

		if (!a->cases && !is_chosen(lines, n, i))
			continue;
		if (n_shown++)
			putchar('\n');
		if (is_drawn && n_drawn++) {
			rc = bb_fail(err, -EINVAL,
				     "--flame draws one case, and run %s has more; choose one by "
				     "--variant",
				     r->id);
			break;
		}
		bb_doc_by_line(&lines[i], true, a->hottest, a->all, &d);
		rc = bb_output_document(&d, stdout, err);
		if (!rc && is_drawn)
			rc = draw(&lines[i], a->flame, err);
	}
	if (!rc) {
		add_below(r, a, lines, n, &d);
		putchar('\n');
		rc = bb_output_document(&d, stdout, err);
	}
	for (size_t i = 0; i < n; i++)
		bb_by_line__done(&lines[i]);
	free(lines);
	return rc;
}

/* A floor is an empty program. Its counts are shown only if the user names it, or if all counted
 * programs are floors. */
static bool is_wanted(const struct bb_report *r, const struct annotate_args *a,
		      const struct bb_counted *c)
{
	if (a->variant)
		return !strcmp(a->variant, c->variant);
	return !bb_is_counted_floor(r, c) ||
	       !BB_ANY(r->counted, r->n_counted, !bb_is_counted_floor(r, it));
}

static int put_counts(const struct bb_report *r, const struct annotate_args *a, struct bb_err *err)
{
	struct bb_annotate_opts opts = a->opts;
	size_t n = BB_SUM(r->counted, r->n_counted, is_wanted(r, a, it)), n_shown = 0;
	struct bb_doc d = {0};
	bool is_once = true, has_never = false, is_short;

	if (!n)
		return say_none(r, a, err);
	is_short = n >= MANY && !a->all && !a->hottest;
	opts.n_hottest = is_short ? FIRST_LINES : a->hottest ? HOTTEST : 0;
	for (size_t i = 0; i < r->n_counted; i++) {
		const struct bb_counted *c = &r->counted[i];
		size_t n_executed = BB_SUM(c->lines, c->n_lines, it->executions > 0);

		if (!is_wanted(r, a, c))
			continue;
		if (n_shown++)
			putchar('\n');
		bb_annotate(c, &opts, stdout);
		is_once &= bb_counted__is_once(c);
		/* of the hottest lines, those that no run executed come last */
		has_never |= n_executed < c->n_lines &&
			     (!opts.n_hottest || n_executed < opts.n_hottest);
	}
	putchar('\n');
	bb_doc__add(&d, BB_DOC_FAINT, "insns/run, %",
		    "instructions of the line in a run, and their share of all; %s%s",
		    is_once ? "a run executes each of these lines once"
			    : "execs/run: how often a run executes the line",
		    has_never ? "; #####: no run does" : "");
	if (is_short)
		bb_doc__add(&d, BB_DOC_FAINT, "shown",
			    "the %u lines of each program with the most instructions; `--variant "
			    "NAME` shows one in full, `--all` all of them",
			    FIRST_LINES);
	if (r->n_timed)
		bb_doc__add(&d, BB_DOC_FAINT, "more", "`bpfbench annotate --time` (ns by line)");
	bb_doc__add(&d, BB_DOC_FAINT, "next",
		    "after a change `sudo bpfbench compare OLD.o NEW.o --exact`");
	return bb_output_document(&d, stdout, err);
}

static int show_guests(void *arg, const struct bb_matrix_kernel *kernels, size_t n,
		       struct bb_err *err)
{
	const struct annotate_args *a = arg;
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		struct bb_doc d = {0};

		if (!kernels[i].run) {
			bb_tell("%s: %s", kernels[i].name, kernels[i].why);
			continue;
		}
		bb_doc__add(&d, BB_DOC_TITLE, NULL, "Linux %s",
			    kernels[i].run->fingerprint.kernel_release);
		rc = bb_output_document(&d, stdout, err);
		putchar('\n');
		if (!rc)
			rc = put_times(kernels[i].run, a, err);
		if (!rc && i + 1 < n)
			putchar('\n');
	}
	return rc ? rc : bb_clean__check(stdout, "stdout", err);
}

static int annotate_in_guests(struct annotate_args *a, struct bb_err *err)
{
	static struct bb_vm_work work = {.name = "objects", .show = show_guests};
	const struct bb_traced_opts opts = {.variant = a->variant,
					    .hottest = a->hottest,
					    .all = a->all,
					    .flame = a->flame};
	int traced_rc, rc;

	work.arg = a;
	rc = bb_vm__begin_work(&work, &a->measure, &a->object, err);
	bb_vm__name_lines(&work, 0, 0);
	bb_vm__append_option(&work, "variant", a->variant);
	if (!rc)
		rc = bb_vm__measure(&a->measure, &work, err);
	/* go on, because the traced run below may show programs that the timed run could not */
	if (rc == -ENODATA) {
		bb_tell("%s", err->msg);
		rc = BB_EXIT_FAILURE;
	}
	if (rc < 0)
		return rc;
	traced_rc = bb_traced_run(&a->measure, &a->object, &opts, err);
	return traced_rc ? traced_rc : rc;
}

int bb_cmd_annotate(int argc, char **argv, struct bb_err *err)
{
	static struct annotate_args a;
	struct bb_report *report = NULL;

	bb_measure_args__init(&a.measure, argv, 0);
	bb_usage__parse(&usage, argc, argv, &a);
	a.opts.width = isatty(STDOUT_FILENO) ? bb_output_look(stdout).width : SIZE_MAX;
	a.opts.colour = a.colour ? a.colour == 1 : isatty(STDOUT_FILENO);
	if (a.measure.kernels)
		return annotate_in_guests(&a, err);
	int rc = bb_store__read(a.run ? a.run : "latest", a.measure.results, &report, err);
	if (!rc)
		rc = a.time ? put_times(report, &a, err) : put_counts(report, &a, err);
	if (!rc)
		rc = bb_clean__check(stdout, "stdout", err);
	bb_report__free(report);
	return rc;
}
