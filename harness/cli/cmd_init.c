/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/caller.h"
#include "cli/measure.h"
#include "cli/object_options.h"
#include "cli/paths.h"

struct init_args {
	struct bb_object_args object;
	const char *output;
	bool find_triggers;
};

#define ARGS struct init_args

static const struct bb_option options[] = {
	{"find-triggers", 0, NULL, bb_read_flag, BB_ARG(find_triggers),
	 "load the programs (as root) and write what makes each of them run where it is attached; "
	 "without it, the scenario has that found when it is measured"},
	{"output", 'o', "FILE", bb_read_text, BB_ARG(output),
	 "write to this new file instead of stdout (-)"},
	{0},
};

static void check_args(void *args)
{
	const struct init_args *a = args;

	bb_refuse("for which object? bpfbench init prog.bpf.o", !a->object.objects.n);
}

static const struct bb_usage usage = {
	.arguments = "[NAME=]FILE...",
	.doc = "Write a scenario for BPF objects, for you to edit: their programs, and the drives "
	       "that can make each type run.",
	.more = "`bpfbench --scenario` of this file measures the same as `bpfbench --object FILE`. "
		"Comments in it list the contents of the object and the programs that no drive can "
		"make run. Without --find-triggers it needs no root and loads nothing.",
	.example = "  bpfbench init prog.bpf.o -o prog.yml\n",
	.sets = {{NULL, options, 0},
		 {"Programs and inputs:", bb_object_options, BB_ARG_AT(object)}},
	.argument = {.read = bb_read_strings, .at = BB_ARG_AT(object.objects)},
	.check = check_args,
};

/* Creates the file `path`, which must not exist. Removes it if writing fails. */
static int write_new(const char *path, const char *text, struct bb_err *err)
{
	FILE *out = fopen(path, "wxe");
	int rc = out ? 0 : -errno;

	if (rc == -EEXIST)
		return bb_fail(err, rc,
			       "%s: this file exists, and init does not overwrite it; remove it, "
			       "or name another one with -o",
			       path);
	if (rc)
		return bb_fail(err, rc, "%s: %m", path);
	rc = fputs(text, out) < 0 ? -errno : 0;
	if (fclose(out) && !rc)
		rc = -errno;
	if (!rc)
		return 0;
	unlink(path);
	return bb_fail(err, rc, "%s: %m", path);
}

/* Finds the triggers, and makes the text and the scenario again with them. */
static int write_found(struct bb_object_args *a, struct bb_object_scenario *text,
		       struct bb_scenario **scenario, struct bb_err *err)
{
	/* found[i] is the trigger that makes variant i run */
	const char **found = bb_calloc((*scenario)->n_variants, sizeof(*found));
	struct bb_scenario *before = *scenario;
	const struct bb_paths *paths = bb_paths(err);
	struct bb_report *report = bb_report__new();
	struct bb_run_opts opts = {.seed = 1};
	int rc = paths ? 0 : err->code;

	if (!rc)
		rc = bb_machine_take_cpus(-1, false, &opts.driver.cpu, &opts.driver.poll_cpu, err);
	if (!rc) {
		opts.driver.workload_dir = paths->workload_dir;
		opts.driver.object_dir = paths->object_dir;
		bb_caller(&opts.driver.uid, &opts.driver.gid);
		rc = bb_find_triggers(before, &opts, report, found, err);
		bb_print_skips(report);
	}
	bb_report__free(report);
	if (!rc) {
		a->opts.found_in = before;
		a->opts.found = found;
		bb_object_scenario__done(text);
		*scenario = NULL;
		rc = bb_object_args__scenario(a, false, text, scenario, err);
		bb_scenario__free(before);
	}
	free(found);
	return rc;
}

int bb_cmd_init(int argc, char **argv, struct bb_err *err)
{
	static struct init_args a;
	struct bb_object_scenario text = {0};
	struct bb_scenario *scenario = NULL;
	int rc = 0;

	bb_usage__parse(&usage, argc, argv, &a);
	if (!a.find_triggers)
		rc = bb_caller__become(err);
	/* the text is also parsed, so that no invalid text is written */
	if (!rc)
		rc = bb_object_args__scenario(&a.object, false, &text, &scenario, err);
	if (!rc && a.find_triggers)
		rc = write_found(&a.object, &text, &scenario, err);
	if (!rc && a.output && strcmp(a.output, "-"))
		rc = write_new(a.output, text.text, err);
	else if (!rc && (fputs(text.text, stdout) < 0 || fflush(stdout)))
		rc = bb_fail(err, -errno, "stdout: %m");
	bb_scenario__free(scenario);
	bb_object_scenario__done(&text);
	return rc;
}
