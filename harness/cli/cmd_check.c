/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/options.h"
#include "cli/output.h"
#include "cli/vm_run.h"
#include "env/checks.h"

struct check_args {
	bool testbed, details;
	struct bb_measure_args measure; /* for --vm */
	struct bb_object_args object;   /* objects to load in the guests of --vm */
};

#define ARGS struct check_args

static const struct bb_option options[] = {
	{"details", 0, NULL, bb_read_flag, BB_ARG(details),
	 "also on a terminal the lines that need nothing"},
	{"testbed", 0, NULL, bb_read_flag, BB_ARG(testbed),
	 "print only a name for machines like this one, for --testbed of Bencher"},
	{0},
};

static void check_args(void *args)
{
	const struct check_args *a = args;

	bb_refuse("--vm needs an object: bpfbench check --vm KERNEL OBJECT...",
		  a->measure.kernels && !a->object.objects.n);
	bb_refuse("an object is checked in other kernels: bpfbench check --vm KERNEL OBJECT...",
		  !a->measure.kernels && a->object.objects.n);
	bb_refuse("--vm does not go together with --testbed and --details",
		  a->measure.kernels && (a->testbed || a->details));
}

static const struct bb_usage usage = {
	.arguments = "[--vm KERNEL OBJECT...]",
	.doc = "Check this machine: one line per question, with the change that would help.",
	.more = "ok: as it should be. warn: it works, but slower, noisier or incomplete. skip: "
		"unknown, or missing for some scenarios only. fail: the main job cannot work, and "
		"the exit code is 1.\n\nWith --vm, check objects instead: load each of their "
		"programs in that kernel and run none. The exit code is 1 if one does not load.",
	.example = "  sudo bpfbench check\n"
		   "  bpfbench check --vm 5.10,6.12 prog.bpf.o\n",
	.sets = {{NULL, options, 0}, {"Or in other kernels:", bb_vm_options, BB_ARG_AT(measure)}},
	.argument = {.name = "object", .read = bb_read_strings, BB_ARG(object.objects)},
	.check = check_args,
};

static int show_guests(void *, const struct bb_matrix_kernel *kernels, size_t n, struct bb_err *err)
{
	struct bb_doc d = {0};

	bb_doc_matrix(kernels, n, &d);
	int rc = bb_output_document(&d, stdout, err);
	return rc                                                 ? rc
	       : BB_ANY(kernels, n, !it->run || it->run->n_skips) ? BB_EXIT_FAILURE
								  : BB_EXIT_OK;
}

static int check_in_guests(struct check_args *a, struct bb_err *err)
{
	static struct bb_vm_work work = {.name = "check", .show = show_guests};

	a->object.opts.full_names = a->object.objects.n > 1;
	int rc = bb_vm__begin_work(&work, &a->measure, &a->object, err);
	bb_strings__append(&work.args, "--only-load");
	return rc ? rc : bb_vm__measure(&a->measure, &work, err);
}

static void add_answer(const struct bb_check_result *results, const size_t *counts,
		       struct bb_doc *d)
{
	const struct bb_check_result *busy = BB_FIND(results, bb_n_checks, it->is_busy),
				     *bad = BB_FIND(results, bb_n_checks,
						    it->status == BB_CHECK_FAIL);

	if (bad) {
		bb_doc__add(d, BB_DOC_BAD, "no", "this machine cannot measure");
		for (size_t i = 0; i < bb_n_checks; i++)
			if (results[i].status == BB_CHECK_FAIL)
				bb_doc__append(d, "%s %s", &results[i] == bad ? ":" : ",",
					       bb_checks[i].name);
		bb_doc__append(d, "; what to do first: %s", bad->remedy);
	} else if (busy) {
		bb_doc__add(d, BB_DOC_BAD, "not now", "other programs use the CPUs (load %.*s)",
			    (int)strcspn(busy->text, ":"), busy->text);
	} else {
		bb_doc__add(d, BB_DOC_PARAGRAPH, "yes", "this machine can measure");
		if (counts[BB_CHECK_WARN])
			bb_doc__append(d, "; what costs accuracy or detail is marked warn");
	}
}

int bb_cmd_check(int argc, char **argv, struct bb_err *err)
{
	size_t counts[BB_CHECK_N_STATUSES] = {0};
	static struct check_args a;
	struct bb_fingerprint fp;
	char name[BB_TESTBED_SIZE];
	struct bb_doc d = {0};

	bb_measure_args__init(&a.measure, argv, 0);
	a.measure.no_store = true;
	bb_usage__parse(&usage, argc, argv, &a);
	if (a.measure.kernels)
		return check_in_guests(&a, err);
	if (a.testbed) {
		if (bb_fingerprint__read("", ".", &fp, err))
			return err->code;
		bb_testbed_name(&fp, name);
		puts(name);
		return BB_EXIT_OK;
	}
	struct bb_check_result *results = bb_calloc(bb_n_checks, sizeof(*results));
	bool all = a.details || !isatty(STDOUT_FILENO);
	for (size_t i = 0; i < bb_n_checks; i++) {
		bb_checks[i].run(&bb_checks[i], &results[i]);
		counts[results[i].status]++;
	}
	add_answer(results, counts, &d);
	bb_doc__columns(&d, {BB_VERDICT("status")}, {BB_TEXT("check")},
			{BB_TEXT("finding -> remedy")});
	for (size_t i = 0; i < bb_n_checks; i++) {
		const struct bb_check_result *r = &results[i];
		/* a remedy is printed only in the first row that has it */
		bool is_new = r->remedy[0] && !BB_ANY(results, i, !strcmp(it->remedy, r->remedy));

		if (!all && (r->status == BB_CHECK_OK || (r->status == BB_CHECK_SKIP && !is_new)))
			continue;
		bb_doc__text_cell(&d, bb_check_status_name(r->status));
		bb_doc__text_cell(&d, bb_checks[i].name);
		bb_doc__cell(&d, "%s%s%s", r->text, is_new ? " -> " : "", is_new ? r->remedy : "");
	}
	bb_doc__add(&d, BB_DOC_CLOSING, NULL, "%zu ok, %zu warn, %zu fail, %zu skip",
		    counts[BB_CHECK_OK], counts[BB_CHECK_WARN], counts[BB_CHECK_FAIL],
		    counts[BB_CHECK_SKIP]);
	if (!all)
		bb_doc__append(&d,
			       "; those that need nothing are left out, all %zu rows: `bpfbench "
			       "check --details`",
			       bb_n_checks);
	int rc = bb_output_document(&d, stdout, err);
	free(results);
	if (rc)
		return rc;
	return counts[BB_CHECK_FAIL] ? BB_EXIT_FAILURE : BB_EXIT_OK;
}
