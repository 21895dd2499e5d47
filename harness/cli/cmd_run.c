/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/caller.h"
#include "base/io.h"
#include "capture/file.h"
#include "cli/capture_options.h"
#include "cli/object_options.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "cli/vm_run.h"
#include "plan/field.h"
#include "run/flame.h"
#include "run/live_scenario.h"
#include "run/object_scenario.h"
#include "run/record.h"
#include "store/store.h"

static void read_id(const struct bb_option *o, const char *text, void *live)
{
	struct bb_live_opts *a = live;
	uint32_t *id = bb_append(&a->ids, &a->n_ids, sizeof(*id));

	bb_read_u32(o, text, id);
}

#define LIVE(member) offsetof(struct bb_live_opts, member)

static const struct bb_option live_options[] = {
	{"prog-id", 0, "N", read_id, .at = 0, "the program with this id (repeatable)", 1,
	 UINT32_MAX},
	{"prog-name", 0, "GLOB", bb_read_strings, .at = LIVE(globs),
	 "all programs whose names match (repeatable)"},
	{"pinned", 0, "PATH", bb_read_strings, .at = LIVE(pins),
	 "the program pinned there (repeatable)"},
	{"seconds", 0, "S", bb_read_double, .at = LIVE(seconds),
	 "how long to watch each of them (default 6, less if there are many); with --trigger "
	 "test-run, bpfbench runs them instead, which changes their maps",
	 0.01, 86400},
	{0},
};

static bool names_live(const struct bb_live_opts *a)
{
	return a->n_ids || a->globs.n || a->pins.n;
}

static int store_stacks(const struct bb_measure *m, struct bb_stacks_output *o, struct bb_err *err)
{
	char *path = NULL;
	int rc = bb_measure__store_beside(m, o->opts ? "svg" : "folded", bb_write_stacks, o, &path,
					  err);

	if (path && !m->args->quiet)
		bb_tell("%s stored as %s", o->opts ? "flame graph" : "its stacks", path);
	free(path);
	return rc;
}

/* Samples the workload of `plan` and writes its flame graph to `file`, or to ID.svg beside the
 * stored run if `file` is NULL. Stores the folded stacks as ID.folded, unless --no-store is
 * given. */
static int draw_flame(const struct bb_measure *m, const struct bb_plan *plan, const char *file,
		      struct bb_err *err)
{
	struct bb_recording r = {0};
	struct bb_profile profile;
	char title[256];
	const struct bb_flame_opts opts = {.title = title, .unit = "samples"};
	struct bb_stacks_output graph = {&profile.stacks, &opts}, folded = {&profile.stacks, NULL};
	struct bb_fold_opts fold = {.on_cpu_weight = 1, .kernel = &r.kernel};

	if (!m->args->quiet)
		bb_tell("sampling the workload for the flame graph, %g s", BB_FLAME_S);
	int rc = bb_flame_sample(plan, &m->opts, &r, err);
	if (rc)
		return rc;
	rc = bb_fold(&r.samples, &r.spaces, &fold, &profile, err);
	if (!rc) {
		snprintf(title, sizeof(title), "%s, its workload: %llu samples at %u Hz (%s)",
			 plan->scenario->name, (unsigned long long)profile.stacks.total,
			 BB_FLAME_HZ, r.stats.is_cpu_clock ? "cpu-clock" : "cycles");
		if (!m->args->quiet)
			bb_say_lost(&r, &profile, true);
		rc = file ? bb_output_of(bb_write_stacks, &graph, file, err)
			  : store_stacks(m, &graph, err);
		if (!rc && !m->args->no_store)
			rc = store_stacks(m, &folded, err);
		bb_profile__done(&profile);
	}
	bb_recording__done(&r);
	return rc;
}

struct run_args {
	struct bb_measure_args measure;
	struct bb_object_args object;
	struct bb_live_opts live;
	struct bb_strings scenarios, variants, drives;
	uint32_t samples, loads;
	bool cold, lines, dry_run, flame, only_loads;
	const char *flame_file; /* NULL means beside the stored run */
	bool tries_inputs;
	/* scenario with the found inputs; NULL means beside the stored run */
	const char *found_file;
	struct bb_capture_args how; /* how to run `capture` or `command` */
	/* a command for sh -c whose programs are captured, or NULL */
	const char *capture;
	char **command; /* ends in NULL; is NULL if no command is given */
	/* the capture of these programs as NAME=FILE, in a temporary folder; NULL if there is
	 * none */
	char *captured;
	int captured_fd; /* locks this folder until this process ends */
};

#define DEFAULT_BUDGET_S 18.0
#define DEFAULT_BUDGET_COLD_S 45.0
/* a single scenario has at least this default budget for each of its variants, s */
#define PROGRAM_S 0.4

#define ARGS struct run_args

static const struct bb_option what_options[] = {
	{"scenario", 's', "NAME", bb_read_strings, BB_ARG(scenarios),
	 "the scenario, by its name or by the path of a .yml file (repeatable)"},
	{"variant", 'V', "NAME", bb_read_strings, BB_ARG(variants),
	 "only this variant, and its floor (repeatable)"},
	{"drive", 'd', "NAME", bb_read_strings, BB_ARG(drives),
	 "only this drive: step, step-cold, hook, exact, in-situ, ... (repeatable)"},
	{"capture", 0, "COMMAND", bb_read_text, BB_ARG(capture),
	 "capture the programs that this command loads, and measure them (sh -c); or without a "
	 "shell: bpfbench -- COMMAND..."},
	{0},
};

static const struct bb_option how_options[] = {
	{"samples", 'n', "N", bb_read_u32, BB_ARG(samples),
	 "samples of each case, all loads together (default 6000; step-cold 240 or fewer; in-situ "
	 "goes by time)",
	 1, 100000000},
	{"cold", 0, NULL, bb_read_flag, BB_ARG(cold),
	 "also run each step drive with emptied caches and branch history, as step-cold"},
	{"loads", 0, "N", bb_read_u32, BB_ARG(loads),
	 "program loads (default 28; 12 of drives that go by time and of sweeps); each load is one "
	 "replication at a new JIT address",
	 1, 10000},
	{"flame", 0, "FILE.svg", bb_read_text, BB_ARG(flame_file),
	 "also draw a flame graph of the workload while the programs run on it, sampled for 3 s "
	 "after all measurements: into FILE.svg, or beside the stored run",
	 .given = BB_ARG_AT(flame), .optional = true},
	{"lines", 0, NULL, bb_read_flag, BB_ARG(lines),
	 "time each line of a run and each call in it instead, for `bpfbench annotate --time`; a "
	 "scenario needs step drives for it"},
	{"try-inputs", 0, "FILE.yml", bb_read_text, BB_ARG(found_file),
	 "with --object: search first, up to 10 s a program, for an input, globals and entries of "
	 "maps with which it executes more of its instructions; measure that found input, which is "
	 "a way through the program and not production's, and write its scenario into FILE.yml, or "
	 "beside the stored run",
	 .given = BB_ARG_AT(tries_inputs), .optional = true},
	{"dry-run", 0, NULL, bb_read_flag, BB_ARG(dry_run),
	 "print the plan; load and measure nothing"},
	/* hidden option: `check --vm` gives it to the bpfbench in each guest */
	{"only-load", 0, NULL, bb_read_flag, BB_ARG(only_loads), NULL},
	{0},
};

static void refuse_argument(const struct bb_option *, const char *text, void *)
{
	bb_usage_error("'%s' is no option; a scenario is named by --scenario %s", text, text);
}

static void check_args(void *args)
{
	struct run_args *a = args;
	bool live = names_live(&a->live), captures = a->capture || a->command;
	bool objects = a->object.objects.n || captures;

	bb_refuse("one of --scenario, --object, --capture and loaded programs (--prog-id, "
		  "--prog-name, --pinned)",
		  (a->scenarios.n > 0) + (a->object.objects.n > 0) + live + (a->capture != NULL) +
				  (a->command != NULL) >
			  1);
	bb_capture_args__check(&a->how, captures);
	bb_refuse("--dry-run runs nothing; `bpfbench capture`, and then --object of its file",
		  captures && a->dry_run);
	bb_refuse("which scenario? --scenario NAME (`bpfbench list` shows them), --object FILE, -- "
		  "COMMAND, or a program that is loaded: --prog-id N",
		  !a->scenarios.n && !objects && !live);
	bb_refuse("--program, --packet, --ctx, --trigger and --type are for --object; a scenario "
		  "has keys for them",
		  a->scenarios.n && bb_object_args__any(&a->object));
	bb_refuse("--lines does not go together with --drive, nor with loaded programs",
		  a->lines && (live || a->drives.n));
	bb_refuse("--program, --packet and --ctx are for --object, not for loaded programs",
		  live && (a->object.opts.programs.n || a->object.opts.packets.n ||
			   a->object.opts.contexts.n));
	if (live && a->object.opts.trigger && strcmp(a->object.opts.trigger, "test-run"))
		bb_usage_error("loaded programs take --trigger test-run, not '%s'; without it they "
			       "are watched",
			       a->object.opts.trigger);
	bb_refuse("--seconds is for loaded programs (--prog-id, --prog-name, --pinned)",
		  !live && a->live.seconds > 0);
	bb_refuse("test runs go by --samples, not by --seconds",
		  live && a->object.opts.trigger && a->live.seconds > 0);
	bb_refuse("--flame takes one --scenario, with a drive in situ over a workload",
		  a->flame && a->scenarios.n != 1);
	bb_refuse("--flame with --no-store has no place for the flame graph: --flame=FILE.svg",
		  a->flame && a->measure.no_store && !a->flame_file);
	bb_refuse("--try-inputs goes together with --object or a captured command, and not with "
		  "--dry-run or --vm",
		  a->tries_inputs && (!objects || a->dry_run || a->measure.kernels));
	bb_refuse("--same-input and --try-inputs: a found input is one, and has no flows",
		  a->object.opts.same_input && a->tries_inputs);
	bb_refuse("--try-inputs with --no-store has no place for the scenario: "
		  "--try-inputs=FILE.yml",
		  a->tries_inputs && a->measure.no_store && !a->found_file);
	bb_refuse("--vm goes together with --object or one --scenario",
		  a->measure.kernels && (live || captures || a->scenarios.n > 1));
	bb_refuse("--vm does not go together with --cold, --flame and --dry-run",
		  a->measure.kernels && (a->cold || a->flame || a->dry_run));
	for (size_t i = 0; i < a->drives.n; i++) {
		a->object.opts.hook |= !strcmp(a->drives.v[i], "hook");
		if (!strcmp(a->drives.v[i], "exact"))
			a->object.opts.what = BB_OBJECT_TIME_AND_COUNT;
	}
	if (a->lines)
		a->object.opts.what = BB_OBJECT_LINES;
}

static const struct bb_usage usage = {
	.doc = "Measure the cost of one run of each variant of a BPF program.",
	.more = "On a terminal the result is a table. Where stdout is a file or a pipe it gets BMF "
		"and nothing else (--format chooses another format), and the table goes to stderr. "
		"The run with all its samples goes to results/. The default budget is 18 s, with "
		"--cold 45 s, more for above 45 programs. Needs root.\n\n"
		"--cold gives the range from hot to cold. Before each cold step, outside of the "
		"timed window, bpfbench writes a buffer of twice the last cache of up to 16 MiB "
		"and runs 32 768 branches on random bits. A larger cache, such as a server's L3, "
		"keeps its lines, and the system call or fault that fires the program warms some "
		"of them again: real runs can be colder still.",
	.example = "  sudo bpfbench --scenario perf_profiler\n"
		   "  sudo bpfbench --object prog.bpf.o --packet syn.pcap\n"
		   "  sudo bpfbench -- opensnoop-bpfcc\n",
	.lists_formats = true,
	.sets = {{"What to measure:", what_options, 0},
		 {"How to capture the programs of a command:", bb_capture_options, BB_ARG_AT(how)},
		 {"Or programs that are already loaded, under their own load:", live_options,
		  BB_ARG_AT(live)},
		 {"Or a BPF object without a scenario:", bb_object_options, BB_ARG_AT(object)},
		 {"How to take samples:", how_options, 0},
		 {"Or in other kernels:", bb_vm_options, BB_ARG_AT(measure)},
		 BB_MEASURE_SETS(BB_ARG_AT(measure))},
	.argument = {.read = refuse_argument},
	.command = BB_ARG_AT(command),
	.check = check_args,
};

struct jobs {
	size_t n;
	struct job {
		struct bb_scenario *scenario;
		struct bb_plan plan;
	} * v;
	/* the scenario of --object, with a list of the programs that no drive can make run */
	struct bb_object_scenario object;
};

static void print_jobs(const struct jobs *j)
{
	for (size_t i = 0; i < j->n; i++) {
		const struct bb_plan *plan = &j->v[i].plan;

		printf("%s: %zu cases, %u loads each\n", plan->scenario->name, plan->n_cases,
		       plan->loads);
		for (size_t k = 0; k < plan->n_cases; k++) {
			const struct bb_plan_case *c = &plan->cases[k];

			printf("  %-52s ", c->name);
			if (c->seconds > 0)
				printf("%g s", c->seconds);
			else
				printf("%u samples", c->samples);
			if (c->variant->id)
				printf(", the loaded program with id %u", c->variant->id);
			else if (c->variant->pinned)
				printf(", the program pinned at %s", c->variant->pinned);
			else
				printf(", program %s", c->variant->program);
			printf("%s\n", bb_plan_case__is_floor(c) ? ", the floor" : "");
		}
	}
	for (size_t i = 0; i < j->object.n_skips; i++)
		printf("  %-52s not driven: %s\n", j->object.skips[i].what, j->object.skips[i].why);
}

static int plan_job(const struct run_args *a, struct job *job, struct bb_err *err)
{
	struct bb_plan_opts opts = {
		.variants = a->variants,
		.drives = a->drives,
		.samples = a->samples,
		.loads = a->loads,
	};
	struct bb_scenario *s = job->scenario;
	const char *lines[3];
	size_t n = 0;
	int rc = 0;

	if (a->lines && a->scenarios.n) {
		rc = bb_scenario__add_twins(s, BB_TWIN_LINES, err);
		lines[n++] = "lines";
		if (a->cold)
			lines[n++] = "lines-cold";
		if (BB_ANY(s->drives, s->n_drives, it->kind->counts))
			lines[n++] = "exact";
		opts.drives = (struct bb_strings){lines, n};
	}
	if (!rc && a->cold)
		rc = bb_scenario__add_twins(s, BB_TWIN_COLD, err);
	if (!rc)
		rc = bb_scenario__spread_fills(s, err);
	return rc ? rc : bb_plan__make(s, &opts, &job->plan, err);
}

/* Reads and plans all scenarios before the first is measured, so that a typo in the last one
 * costs no time. If none is named, makes one for the BPF objects or the live programs. */
static int plan_all(const struct run_args *a, struct jobs *j, struct bb_err *err)
{
	int rc = 0;

	j->n = a->scenarios.n ? a->scenarios.n : 1;
	j->v = bb_calloc(j->n, sizeof(*j->v));
	for (size_t i = 0; !rc && i < j->n; i++) {
		struct job *job = &j->v[i];

		if (a->scenarios.n) {
			rc = bb_scenario_find(a->scenarios.v[i], false, &job->scenario, err);
		} else if (a->object.objects.n) {
			rc = bb_object_args__scenario(&a->object, false, &j->object, &job->scenario,
						      err);
		} else {
			struct bb_live_opts opts = a->live;
			char *text = NULL;

			opts.by_test_run = a->object.opts.trigger != NULL;
			if (opts.by_test_run)
				bb_say("test runs of loaded programs change the contents of their "
				       "maps");
			rc = bb_live_scenario__make(&opts, &text, err);
			if (!rc)
				rc = bb_scenario__parse(text, strlen(text), "(loaded programs)",
							&job->scenario, err);
			free(text);
		}
		if (!rc)
			rc = plan_job(a, job, err);
	}
	if (!rc && a->flame)
		rc = bb_flame_check(&j->v[0].plan, err);
	return rc ? rc : bb_output_check(a->flame_file, err);
}

static int measure_all(const struct run_args *a, struct bb_measure *m, const struct jobs *j,
		       struct bb_err *err)
{
	/* The user's budget is for all scenarios together. The default budget is for each of
	 * them. */
	double budget_s = a->measure.budget_s * (a->measure.has_budget ? 1 : (double)j->n);
	int rc = 0, undone = 0;

	if (!a->measure.has_budget && j->n == 1)
		m->opts.budget_s = fmax(budget_s, PROGRAM_S * (double)j->v[0].scenario->n_variants);
	for (size_t i = 0; !rc && i < j->object.n_skips; i++)
		bb_report__add_skip(m->report, j->object.skips[i].what, j->object.skips[i].why);
	for (size_t i = 0; !rc && i < j->n; i++) {
		const struct job *job = &j->v[i];

		if (a->measure.verbose)
			bb_tell("%s: %zu cases on CPU %d, polled from CPU %d, seed %llu",
				job->scenario->name, job->plan.n_cases, m->opts.driver.cpu,
				m->opts.driver.poll_cpu, (unsigned long long)a->measure.seed);
		/* If the user named variants, a variant that fails ends the run instead of being
		 * skipped. */
		m->opts.skip_failing = job->scenario->skips_refused && !a->variants.n;
		if (budget_s > 0 && j->n > 1)
			m->opts.budget_s = fmax(budget_s - bb_seconds_since(m->began_ns), 1e-3) /
					   (double)(j->n - i);
		rc = bb_run_plan(&job->plan, &m->opts, m->report, err);
		/* Go on, because other scenarios may succeed. The skips in the report have the
		 * reason. */
		if (rc == -ENOTSUP || rc == -ETIME) {
			undone++;
			rc = 0;
		}
	}
	if (!rc && undone && !m->report->n_cases && !m->report->n_counted)
		rc = err->code; /* this is the error of the last scenario that failed */
	return rc;
}

static void say_found(const struct bb_found_input *f)
{
	char *words = bb_found_input__words(f);

	if (f->why_not)
		bb_tell("try-inputs: %s: not searched: %s", f->variant, f->why_not);
	else if (!bb_found_input__is_any(f))
		bb_tell("try-inputs: %s: %u of %u instructions executed; %s", f->variant, f->before,
			f->n_before,
			f->runs ? "no input reaches further" : "no instruction is left to reach");
	else
		bb_tell("try-inputs: %s: %u of %u instructions executed, %u of %u with "
			"a " BB_FOUND_INPUT ": %s (%llu runs)",
			f->variant, f->before, f->n_before, f->after, f->n_after, words,
			(unsigned long long)f->runs);
	if (f->not_passed && f->behind)
		bb_tell("try-inputs: %s: not passed: %s, with %u instructions behind it",
			f->variant, f->not_passed, f->behind);
	free(words);
}

static int write_found(void *arg, FILE *out, struct bb_err *)
{
	fputs(arg, out);
	return 0;
}

/* Replaces the scenario of the only job by one with the found inputs. */
static int try_inputs(const struct run_args *a, struct bb_measure *m, struct jobs *j,
		      struct bb_err *err)
{
	struct bb_object_args object = a->object;
	struct bb_object_scenario made = {0};
	struct bb_found_inputs found = {0};
	struct bb_scenario *scenario = NULL;
	struct job *job = &j->v[0];
	char *name = bb_asprintf("%s.found.yml", m->report->id), *path = NULL;
	int rc = bb_try_inputs(job->scenario, &m->opts, &found, err);

	object.opts.found_inputs = &found;
	bb_progress_bar__erase(&m->bar);
	for (size_t i = 0; i < found.n && !a->measure.quiet; i++)
		say_found(&found.v[i]);
	if (!rc)
		rc = bb_object_args__scenario(&object, false, &made, &scenario, err);
	if (!rc && a->found_file)
		rc = bb_output_of(write_found, made.text, a->found_file, err);
	else if (!rc)
		rc = bb_store__write_text(a->measure.results, name, made.text, strlen(made.text),
					  false, &path, err);
	if (!rc) {
		if (a->found_file || BB_ANY(found.v, found.n, bb_found_input__is_any(it)))
			bb_tell("try-inputs: the scenario with what was found: %s",
				path ? path : a->found_file);
		bb_plan__done(&job->plan);
		bb_scenario__free(job->scenario);
		job->scenario = scenario;
		rc = plan_job(a, job, err);
	}
	bb_object_scenario__done(&made);
	bb_found_inputs__done(&found);
	free(path);
	free(name);
	return rc;
}

static int run_all(const struct run_args *a, struct jobs *j, struct bb_err *err)
{
	const char *name = j->n == 1 ? j->v[0].scenario->name : "several";
	struct bb_measure m;
	int rc = bb_measure__begin(&a->measure, name,
				   BB_ANY(j->v, j->n, bb_plan_takes_cpu(&it->plan)), &m, err);

	if (rc)
		return rc;
	if (a->tries_inputs)
		rc = try_inputs(a, &m, j, err);
	rc = bb_measure__deliver(&m, rc ? rc : measure_all(a, &m, j, err), err);
	if (rc == BB_EXIT_OK && a->flame)
		rc = draw_flame(&m, &j->v[0].plan, a->flame_file, err);
	bb_measure__end(&m);
	return rc;
}

static int load_objects(const struct run_args *a, struct bb_err *err)
{
	struct bb_measure m;
	int rc = bb_measure__begin(&a->measure, "loads", false, &m, err);

	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < a->object.objects.n; i++)
		rc = bb_object_loads(bb_object_args__path(a->object.objects.v[i]), &a->object.opts,
				     m.report, err);
	rc = rc ? bb_record__incomplete(m.report, rc, err) : 0;
	rc = bb_measure__deliver(&m, rc, err);
	bb_measure__end(&m);
	return rc;
}

/* Writes the BPF programs that the command loads to a temporary file, and names it as an object. */
static int capture(struct run_args *a, struct bb_err *err)
{
	const char *const by_shell[] = {"sh", "-c", a->capture, NULL};
	struct bb_capture_opts opts = a->how.opts;
	struct bb_capture *taken = NULL;
	uint64_t began_ns = bb_now_ns();
	char name[BB_NAME_MAX_BYTES + 2], *dir;
	int tmp_fd, rc;

	opts.argv = a->capture ? by_shell : (const char *const *)(uintptr_t)a->command;
	opts.env = a->measure.env.v;
	/* The user's budget includes the capture. The default budget does not. */
	if (a->measure.has_budget)
		opts.budget_s = a->measure.budget_s;
	bb_capture_name(a->capture ? a->capture : a->command[0], name, sizeof(name));
	rc = bb_capture_and_say(&opts, false, &taken, err);
	if (!rc)
		rc = bb_scratch__make("capture", &dir, err);
	if (!rc) {
		a->captured = bb_asprintf("%s=%s/%s.capture", name, dir, name);
		a->captured_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		tmp_fd = openat(a->captured_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (a->captured_fd >= 0 && tmp_fd >= 0)
			bb_leftover__lock_and_remove_others(tmp_fd, strrchr(dir, '/') + 1,
							    sizeof("XXXXXX") - 1, a->captured_fd);
		bb_close(&tmp_fd);
		free(dir);
		rc = bb_capture__write(taken, strchr(a->captured, '=') + 1, err);
	}
	bb_capture__free(taken);
	if (!rc)
		bb_strings__append(&a->object.objects, a->captured);
	if (a->measure.has_budget && a->measure.budget_s > 0)
		a->measure.budget_s = fmax(a->measure.budget_s - bb_seconds_since(began_ns), 1e-3);
	return rc;
}

/* The guests, and not this kernel, find out which programs of an object run. */
static int run_in_guests(const struct run_args *a, struct bb_err *err)
{
	static struct bb_vm_work work;
	struct bb_scenario *s = NULL;
	int rc = bb_vm__begin_work(&work, &a->measure, a->scenarios.n ? NULL : &a->object, err);
	const struct bb_paths *paths = rc ? NULL : bb_paths(err);

	if (!rc && !paths)
		rc = err->code;
	if (!rc && a->scenarios.n)
		rc = bb_scenario_find(a->scenarios.v[0], false, &s, err);
	if (!rc && s) {
		bb_vm__append_file(&work, s->path);
		bb_vm__append_option(&work, "scenario", work.files.v[work.files.n - 1]);
	}
	for (size_t i = 0; !rc && s && i < s->n_variants; i++) {
		char *path = bb_variant_object(s, &s->variants[i])
				     ? bb_object_path(s, &s->variants[i], paths->object_dir)
				     : NULL;

		if (path)
			bb_vm__append_file(&work, path);
	}
	if (a->lines)
		bb_vm__name_lines(&work, a->loads, a->samples);
	else
		bb_vm__name_drives(&work, s, &a->drives, a->loads, a->samples);
	bb_vm__append_options(&work, "variant", &a->variants);
	work.name = s ? s->name : "objects";
	if (!rc)
		rc = bb_vm__measure(&a->measure, &work, err);
	bb_scenario__free(s);
	return rc;
}

int bb_cmd_run(int argc, char **argv, struct bb_err *err)
{
	static struct run_args a;
	struct jobs jobs = {0};
	int rc = 0;

	bb_measure_args__init(&a.measure, argv, DEFAULT_BUDGET_S);
	bb_usage__parse(&usage, argc, argv, &a);
	if (a.measure.kernels)
		return run_in_guests(&a, err);
	if (a.only_loads)
		return load_objects(&a, err);
	if (!a.measure.format)
		a.measure.format = bb_exporter_find(
			!a.measure.output && isatty(STDOUT_FILENO) ? "table" : "bmf");
	if (a.cold && !a.measure.has_budget)
		a.measure.budget_s = DEFAULT_BUDGET_COLD_S;
	if (a.capture || a.command)
		rc = capture(&a, err);
	/* a plan needs no root rights, except to find live programs */
	if (!rc && a.dry_run && !names_live(&a.live))
		rc = bb_caller__become(err);
	if (!rc)
		rc = plan_all(&a, &jobs, err);
	if (!rc && a.dry_run)
		print_jobs(&jobs);
	else if (!rc)
		rc = run_all(&a, &jobs, err);
	for (size_t i = 0; jobs.v && i < jobs.n; i++) {
		bb_plan__done(&jobs.v[i].plan);
		bb_scenario__free(jobs.v[i].scenario);
	}
	free(jobs.v);
	bb_object_scenario__done(&jobs.object);
	if (a.captured) {
		char *path = strchr(a.captured, '=') + 1;

		unlink(path);
		*strrchr(path, '/') = '\0';
		rmdir(path);
		bb_close(&a.captured_fd);
		free(a.captured);
	}
	return rc;
}
