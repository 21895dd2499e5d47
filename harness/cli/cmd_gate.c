/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/caller.h"
#include "base/rng.h"
#include "cli/capture_options.h"
#include "cli/options.h"
#include "cli/measure.h"
#include "cli/object_options.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "cli/vm_run.h"
#include "export/documents.h"
#include "plan/field.h"
#include "run/gate.h"
#include "run/gate_build.h"

struct gate_args {
	struct bb_measure_args measure;
	struct bb_object_args object;
	struct bb_gate_opts gate;
	struct bb_capture_args how;
	const char *capture; /* a command for sh -c whose programs are captured, or NULL */
	const char *scenario, *markdown, *source_lines;
	/* BMF files to write for base and head; NULL if not wanted */
	const char *bmf[BB_N_REVISIONS];
};

#define ARGS struct gate_args

static const struct bb_option what_options[] = {
	{"base", 0, "REV", bb_read_text, BB_ARG(gate.base), "the old revision"},
	{"head", 0, "REV", bb_read_text, BB_ARG(gate.head),
	 "the new revision (default: the work tree as it is)"},
	{"merge-base", 0, NULL, bb_read_flag, BB_ARG(gate.merge_base),
	 "compare with the last commit that REV and head have in common"},
	{"build", 0, "COMMAND", bb_read_text, BB_ARG(gate.build),
	 "command that makes the objects, from the top of the tree (default: make, of no more than "
	 "the objects of --scenario or --object where it knows how to make these)"},
	{"capture", 0, "COMMAND", bb_read_text, BB_ARG(capture),
	 "compare the programs that this command loads, from the top of each tree that was built "
	 "(sh -c, with root's rights)"},
	{"scenario", 's', "NAME", bb_read_text, BB_ARG(scenario),
	 "compare the variants of this scenario, by its drives"},
	{"drive", 'd', "NAME", bb_read_strings, BB_ARG(gate.drives),
	 "only this drive of the scenario (repeatable; default: all but those that go by time, "
	 "such as in-situ)"},
	{"unchanged", 0, NULL, bb_read_flag, BB_ARG(gate.force),
	 "also measure objects that are the same in both revisions"},
	{"force", 0, NULL, bb_read_flag, BB_ARG(gate.force), NULL}, /* former name of --unchanged */
	{0},
};

static const struct bb_option judge_options[] = {
	{"exact", 0, NULL, bb_read_flag, BB_ARG(gate.exact),
	 "any increase of instruction counts is a regression, too (default: it is only reported)"},
	{"complexity", 0, "PERCENT", bb_read_percent, BB_ARG(gate.complexity),
	 "also fail when a compared program of head needs more than this share of the verifier's "
	 "limit of 1 000 000 instructions, or does not load any more"},
	{"grow", 0, "PERCENT", bb_read_percent, BB_ARG(gate.grow),
	 "also fail when a program's verified instructions grow by more than this"},
	{"threshold", 0, "PERCENT", bb_read_percent, BB_ARG(gate.threshold),
	 "smallest difference that matters (default 1)"},
	{"alpha", 0, "SHARE", bb_read_double, BB_ARG(gate.alpha),
	 "chance of a false verdict over all comparisons together (default 0.05)", 1e-6, 0.5},
	{"each", 0, "SECONDS", bb_read_double, BB_ARG(gate.each_s),
	 "time for each program (default 10), at most a minute more where the machine is too busy "
	 "for any verdict, and as much again for a program that regressed",
	 0.1, 3600},
	{0},
};

static const struct bb_option report_options[] = {
	{"markdown", 0, "FILE", bb_read_text, BB_ARG(markdown),
	 "write the report to this file as Markdown, and as text to stdout; -: Markdown to stdout"},
	{"source-lines", 0, "FILE", bb_read_text, BB_ARG(source_lines),
	 "write the source lines of confirmed regressions there, as FILE:LINE: and the difference"},
	{"bmf-base", 0, "FILE", bb_read_text, BB_ARG(bmf[0]),
	 "write the cost of base there in Bencher Metric Format, with the names of a plain run"},
	{"bmf-head", 0, "FILE", bb_read_text, BB_ARG(bmf[1]), "the same for head"},
	{0},
};

static void check_args(void *args)
{
	struct gate_args *a = args;

	bb_refuse("against which revision? --base REV", !a->gate.base);
	bb_capture_args__check(&a->how, a->capture);
	bb_refuse("one of --capture, --scenario and --object",
		  a->capture && (a->scenario || a->object.objects.n));
	bb_refuse("--drive is for a --scenario", a->gate.drives.n && !a->scenario);
	bb_refuse("--vm compares objects: without --capture, --scenario and --drive",
		  a->measure.kernels && (a->capture || a->scenario || a->gate.drives.n));
	bb_refuse("--vm has no --markdown, --source-lines, --bmf-base and --bmf-head; --format and "
		  "--output write its report",
		  a->measure.kernels && (a->markdown || a->source_lines || a->bmf[0] || a->bmf[1]));
	bb_refuse("--program, --packet, --ctx and --trigger are for objects without a --scenario",
		  a->scenario && bb_object_args__any(&a->object));
}

static const struct bb_usage usage = {
	.doc = "Compare the BPF programs of two git revisions, and fail when one got slower.",
	.more = "Both revisions are built in a scratch work tree, which is removed in any case. "
		"Each program that is in both is compared as by `bpfbench compare`, and its "
		"executed instructions are counted. A program that regressed is measured once "
		"more, with other loads and another seed, and counts only if it regresses again. "
		"Inconclusive never fails. --budget covers captures, the search for programs and "
		"both measurements, half of what is left for the first; building is not part of "
		"it. The report is text, unless --markdown or --format chooses another. Runs are "
		"stored only with --results. Needs root. "
		"git and the build run as the user who called sudo (if "
		"root called, as the owner of the folder), without hooks and in a clean "
		"environment; nothing that they start survives them.\n\n"
		"Exit codes: 0 no regression; 1 an error, or a program that loads in base and not "
		"in head; 2 usage; 3 a confirmed regression, or a failure by --complexity or "
		"--grow; 4 nothing can be measured here.\n\n"
		"With --vm the programs run in other kernels, and root is not needed. The exit "
		"code is 3 if a program does not load on one of them any more, executes one "
		"machine "
		"instruction more, or fails by --complexity or --grow.",
	.example = "  sudo bpfbench gate --base main --merge-base --build 'make -C bpf'\n"
		   "  bpfbench gate --base main --vm 5.10,6.12\n",
	.lists_formats = true,
	.sets = {{"What to compare:", what_options, 0},
		 {"Which programs (default: all, of every *.bpf.o; paths from the top of the "
		  "tree):",
		  bb_object_options, BB_ARG_AT(object)},
		 {"How to capture:", bb_capture_options, BB_ARG_AT(how)},
		 {"How to judge:", judge_options, 0},
		 {"Or in other kernels:", bb_vm_options, BB_ARG_AT(measure)},
		 {"Output besides the report on stdout:", report_options, 0},
		 BB_MEASURE_SETS(BB_ARG_AT(measure))},
	.check = check_args,
};

static void say_nothing(const char *)
{
}

/* Checks all arguments before the two builds start. */
static int check(struct gate_args *a, struct bb_err *err)
{
	const char *const files[] = {a->markdown, a->source_lines, a->bmf[0], a->bmf[1],
				     a->measure.output};
	const char *results = a->measure.results ? a->measure.results : BB_RESULTS;
	struct bb_scenario *s = NULL;
	int rc = 0;

	for (size_t i = 0; !rc && i < BB_LEN(files); i++)
		rc = bb_output_check(files[i], err);
	if (!rc && a->measure.kernels)
		return bb_vm__check(&a->measure, err);
	if (!rc)
		rc = bb_check_resolution(a->gate.threshold, results, NULL, err);
	if (rc || !a->scenario)
		return rc;
	rc = bb_scenario_find(a->scenario, false, &s, err);
	if (rc)
		return rc;
	a->gate.scenario = bb_strdup(s->path);
	bb_scenario__free(s);
	return 0;
}

/* `first` is the report of the first measurement, or NULL if this is the first. Returns the exit
 * code, or -errno if the measurement cannot begin. */
static int measure(const struct bb_measure_args *args, struct bb_gate_run *run,
		   const struct bb_report *first, struct bb_measure *m, struct bb_err *err)
{
	int rc = bb_measure__begin(args, first ? "gate-again" : "gate", run->takes_cpu, m, err);

	if (rc)
		return rc;
	rc = bb_gate_run__measure(run, &m->opts, first, m->report, err);
	return bb_measure__deliver(m, rc, err);
}

static int write_markdown(void *arg, FILE *out, struct bb_err *)
{
	bb_doc__markdown(arg, out);
	return 0;
}

/* Writes nothing if the line does not cost more, or if its file is outside the tree, such as a
 * system header. `name` is the name of a case, which begins with the program. */
static void write_source_line(const struct bb_gate *g, const char *name, const char *file,
			      uint32_t line, double more, const char *unit, FILE *out)
{
	size_t len = strlen(g->tree);

	if (more > 0 && !strncmp(file, g->tree, len) && file[len] == '/' && !strchr(file, '\n'))
		fprintf(out, "%s:%u: %.*s: %+.2f %s a run\n", file + len + 1, line,
			(int)strcspn(name, "/"), name, more, unit);
}

/* True if both measurements found that the program at the beginning of `name` regressed. */
static bool has_regressed(const struct bb_doc_gate *v, const char *name)
{
	size_t len = strcspn(name, "/");

	return BB_ANY(v->first->comparisons, v->first->n_comparisons,
		      !strncmp(it->name, name, len + 1) &&
			      bb_gate__verdict(it, v->again) == BB_GATE_REGRESSED) ||
	       BB_ANY(v->gate->counted.rows, v->gate->counted.n_rows,
		      !strncmp(it->name, name, len + 1) &&
			      bb_gate__exact_verdict(v->gate, it) == BB_GATE_REGRESSED);
}

/* Writes the lines whose time differs, then those whose number of instructions differs. Only
 * programs that regressed were timed by line. */
static int write_source_lines(void *arg, FILE *out, struct bb_err *)
{
	const struct bb_doc_gate *v = arg;
	const struct bb_gate *g = v->gate;

	for (size_t i = 0; i < g->timed.n_cases; i++) {
		const struct bb_time_diff_case *c = &g->timed.cases[i];

		for (size_t k = 0; k < c->n_rows; k++)
			if (c->rows[k].b && bb_time_diff_row__differs(&c->rows[k]))
				write_source_line(g, c->b->name, c->rows[k].b->file,
						  c->rows[k].b->line, c->rows[k].more.value, "ns",
						  out);
	}
	for (size_t i = 0; i < g->counted_again.n_programs; i++) {
		const struct bb_exact_program *p = &g->counted_again.programs[i];

		for (size_t k = 0; has_regressed(v, p->b->name) && k < p->n_lines; k++)
			write_source_line(g, p->b->name, p->lines[k].line->file,
					  p->lines[k].line->line, p->lines[k].more, "instructions",
					  out);
	}
	return 0;
}

static int show(const struct gate_args *a, const struct bb_gate *g, const struct bb_report *first,
		const struct bb_report *again, struct bb_err *err)
{
	bool is_on_stdout = a->markdown &&
			    (!strcmp(a->markdown, "-") || !strcmp(a->markdown, "/dev/stdout"));
	struct bb_doc_gate v = {g, first, again};
	struct bb_doc d = {0};
	int rc = 0;

	bb_doc_gate(&v, &d);
	if (a->markdown)
		rc = bb_output_of(write_markdown, &d, a->markdown, err);
	if (a->markdown && !is_on_stdout && !rc && !a->measure.quiet)
		bb_tell("the report is in %s, as Markdown", a->markdown);
	if (!rc && !a->measure.format && !is_on_stdout)
		rc = bb_output_document(&d, stdout, err);
	if (!rc && a->source_lines)
		rc = bb_output_of(write_source_lines, &v, a->source_lines, err);
	for (int r = 0; !rc && r < BB_N_REVISIONS; r++) {
		struct bb_report side;

		if (!a->bmf[r])
			continue;
		bb_gate__side(g, first, bb_revision_names[r], &side);
		if (!side.n_cases)
			rc = bb_fail(err, -ENODATA,
				     "%s: nothing was measured; --unchanged also measures objects "
				     "that are the same in both revisions",
				     a->bmf[r]);
		else
			rc = bb_output(&side, bb_exporter_find("bmf"), a->bmf[r], false, err);
		bb_gate__side_done(&side);
	}
	bb_doc__done(&d);
	return rc;
}

static int run_gate(const struct gate_args *a, struct bb_gate_run *run, struct bb_err *err)
{
	struct bb_measure_args half = a->measure, again = a->measure;
	const struct bb_gate *g = &run->gate;
	struct bb_measure first, second = {0};
	struct bb_rng rng;

	bb_rng_seed(&rng, a->measure.seed);
	again.seed = bb_rng_u64(&rng);
	again.format = NULL; /* only the first measurement goes to stdout */
	half.budget_s /= 2;
	int rc = measure(&half, run, NULL, &first, err);
	if (a->measure.budget_s > 0)
		again.budget_s = fmax(a->measure.budget_s - bb_seconds_since(first.began_ns), 1e-3);
	if (rc == BB_EXIT_OK && bb_gate_run__todo(run, first.report)) {
		if (!a->measure.quiet)
			bb_tell("measuring again the programs that regressed");
		rc = measure(&again, run, first.report, &second, err);
	}
	if (rc == BB_EXIT_OK)
		rc = show(a, g, first.report, second.report, err);
	if (rc == BB_EXIT_OK)
		rc = bb_gate__exit(g, first.report, second.report);
	bb_measure__end(&first);
	bb_measure__end(&second);
	return rc;
}

static int run_in_guests(const struct gate_args *a, const struct bb_gate_run *run,
			 struct bb_err *err)
{
	static struct bb_vm_work work = {.name = "gate"};
	const struct bb_built_objects *objects = &run->builds->objects;
	struct bb_matrix_pair *pairs = bb_calloc(objects->n, sizeof(*pairs));
	static struct bb_matrix_judge judge;
	struct bb_object_args both = {.opts = a->object.opts};
	struct bb_measure_args m = a->measure;

	both.opts.full_names = true;
	judge = (struct bb_matrix_judge){pairs, 0, &run->gate};
	/* with --vm, gate.programs[i] stands for the whole object i */
	for (size_t i = 0; i < objects->n; i++) {
		const struct bb_built_object *o = &objects->v[i];
		const char *file = basename(o->path);
		size_t n_same = BB_SUM(objects->v, objects->n, !strcmp(basename(it->path), file));
		char *names[BB_N_REVISIONS], label[BB_NAME_MAX_BYTES + 1];

		if (run->gate.programs[i].state != BB_GATE_COMPARED)
			continue;
		for (int r = 0; r < BB_N_REVISIONS; r++) {
			names[r] = bb_asprintf("%s%zu", bb_revision_names[r], i);
			bb_strings__append(&both.objects,
					   bb_asprintf("%s=%s", names[r], o->file[r]));
		}
		/* the path tells objects of the same file name apart */
		bb_object_name_from(n_same > 1 ? o->path : file, label);
		pairs[judge.n_pairs++] = (struct bb_matrix_pair){bb_strdup(label), names[BB_BASE],
								 names[BB_HEAD]};
	}
	if (!m.format)
		m.format = bb_exporter_find("table");
	int rc = bb_vm__begin_work(&work, &m, &both, err);
	bb_vm__name_drives(&work, NULL, &a->gate.drives, 0, 0);
	work.judge = &judge;
	return rc ? rc : bb_vm__measure(&m, &work, err);
}

int bb_cmd_gate(int argc, char **argv, struct bb_err *err)
{
	static struct gate_args a = {
		.gate = {.dir = ".", .threshold = 0.01, .alpha = BB_ALPHA, .each_s = 10}};
	struct bb_gate_run *run = NULL;

	bb_measure_args__init(&a.measure, argv, 0);
	a.measure.results = NULL;
	bb_usage__parse(&usage, argc, argv, &a);
	a.measure.no_store |= !a.measure.results;
	a.gate.objects = a.object.objects;
	a.gate.drive = a.object.opts;
	a.how.opts.env = a.gate.env = a.measure.env.v;
	a.how.opts.budget_s = a.gate.budget_s = a.measure.budget_s;

	const char *const by_shell[] = {"sh", "-c", a.capture, NULL};

	a.how.opts.argv = by_shell;
	if (a.capture) {
		a.gate.capture = &a.how.opts;
		bb_capture_provide_tracefs();
	}
	a.gate.say = a.measure.quiet ? say_nothing : bb_say;
	a.gate.guests = a.measure.kernels;
	int rc = a.gate.guests ? bb_caller__become(err) : 0;
	if (!rc)
		rc = check(&a, err);
	if (!rc)
		rc = bb_gate_run__open(&a.gate, &run, err);
	if (!rc && a.measure.budget_s > 0)
		a.measure.budget_s = fmax(a.measure.budget_s - run->gate.spent_s, 1e-3);
	if (!rc)
		rc = a.gate.guests ? run_in_guests(&a, run, err) : run_gate(&a, run, err);
	if (rc < 0)
		rc = bb_complain(err);
	return bb_gate_run__close(run, err) ? err->code : rc;
}
