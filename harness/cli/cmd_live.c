/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/child.h"
#include "base/http.h"
#include "base/deadline.h"
#include "bpf/prog_stats.h"
#include "capture/supervise.h"
#include "cli/capture_options.h"
#include "cli/diff_view.h"
#include "cli/live_print.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "cli/screen.h"
#include "run/live_look.h"
#include "store/store.h"

/* time between two checks of the keyboard, of the size of the terminal and of the command, s */
#define LOOK_S 0.05
/* If a command makes no bpf() call for this time, s, we assume that all its programs are loaded. */
#define QUIET_S 1.0
#define PATIENCE_S 60.0 /* longest wait for a command to load its programs, s */
#define SECONDS 1.0
/* --save and --compare watch SLICES periods, enough for verdicts on a thousand programs after
 * Holm's correction. LOOK_SECONDS is the default length of all periods together. */
#define SLICES 20
#define LOOK_SECONDS 10.0

struct live_args {
	double seconds, for_s; /* 0 if not given */
	const struct bb_live_order *order;
	const struct bb_live_format *format; /* NULL if --format is not given */
	const char *output;                  /* NULL means stdout */
	/* address at which figures are served over HTTP, or NULL */
	const char *serve;
	bool once, all;
	char **command; /* ends in NULL; is NULL if all programs are watched */
	struct bb_strings env;
	/* `save` names the new baseline. `compare` is a baseline, a run id or a file. */
	const char *save, *compare;
	struct bb_measure_args measure; /* only results, no_store, quiet and command are used */
	double threshold;               /* share: 0.1 is 10 % */
	bool force;
	struct bb_diff_view view;
};

#define ARGS struct live_args

static const struct bb_option options[] = {
	{"once", 0, NULL, bb_read_flag, BB_ARG(once), "print one snapshot, also on a terminal"},
	{"seconds", 0, "S", bb_read_double, BB_ARG(seconds),
	 "length of the period that a snapshot covers (default 1), or of the look of --save and "
	 "--compare (default 10)",
	 0.1, 86400},
	{"for", 0, "S", bb_read_double, BB_ARG(for_s),
	 "end after this time, with one snapshot of it: --once --seconds S", 0.1, 86400},
	{"sort", 0, "COLUMN", bb_read_row, BB_ARG(order), "cpu (default), runs, ns or name",
	 BB_CHOICES(bb_live_orders)},
	{"format", 'f', "NAME", bb_read_row, BB_ARG(format),
	 "print one snapshot as table (default on a terminal), json (default elsewhere) or "
	 "openmetrics",
	 BB_CHOICES(bb_live_formats)},
	{"all", 0, NULL, bb_read_flag, BB_ARG(all), "a row also for each program that did not run"},
	{"env", 0, "NAME", bb_read_env, BB_ARG(env), BB_ENV_DOC},
	{"output", 'o', "FILE", bb_read_text, BB_ARG(output),
	 "write one snapshot to this file instead of stdout, whole or not at all"},
	{"serve", 0, "ADDRESS", bb_read_text, BB_ARG(serve),
	 "watch until Ctrl-C, and serve the snapshots as OpenMetrics over HTTP, at 127.0.0.1:PORT "
	 "or another address in numbers; a PORT alone is on 127.0.0.1"},
	{0},
};

static const struct bb_option look_options[] = {
	{"save", 0, "NAME", bb_read_text, BB_ARG(save),
	 "store what runs now as a run, and give it this name"},
	{"compare", 0, "NAME", bb_read_text, BB_ARG(compare),
	 "compare what runs now with this: a saved name, a run id or a file"},
	{"threshold", 0, "PERCENT", bb_read_percent, BB_ARG(threshold),
	 "smallest difference that matters (default 10: another load of the same program may cost "
	 "several percent more)"},
	{"fail-on", 0, "VERDICT", bb_read_verdict, BB_ARG(view.fail_on),
	 "exit with code 3 if any verdict is this: regressed"},
	{"force", 0, NULL, bb_read_flag, BB_ARG(force), "judge looks at different machines, too"},
	{"details", 0, NULL, bb_read_flag, BB_ARG(view.details), "percentiles, too"},
	{"results", 0, "DIR", bb_read_text, BB_ARG(measure.results),
	 "store and read runs in this folder (default " BB_RESULTS ")"},
	{"quiet", 'q', NULL, bb_read_flag, BB_ARG(measure.quiet),
	 "do not say where the run is stored"},
	{0},
};

static void check_args(void *args)
{
	struct live_args *a = args;
	bool looks = a->save || a->compare;

	bb_refuse("--save and --compare print verdicts and store a run: they contradict --serve, "
		  "--format, --output, --sort and --all",
		  looks && (a->serve || a->format || a->output || a->order || a->all));
	bb_refuse("--threshold, --fail-on, --force and --details are for --compare",
		  !a->compare && (a->threshold > 0 || a->force || a->view.details ||
				  a->view.fail_on != BB_VERDICT_INCONCLUSIVE));
	bb_refuse("--for is --once with a length; it contradicts --seconds and --serve",
		  a->for_s > 0 && (a->seconds > 0 || a->serve));
	a->once |= a->for_s > 0;
	a->seconds = a->for_s > 0     ? a->for_s
		     : a->seconds > 0 ? a->seconds
		     : looks          ? LOOK_SECONDS
				      : SECONDS;
	a->threshold = a->threshold > 0 ? a->threshold : 0.1;
	a->order = a->order ? a->order : bb_live_orders;
	bb_refuse("--serve goes on until Ctrl-C; it contradicts --once, --format and --output",
		  a->serve && (a->once || a->format || a->output));
}

static const struct bb_usage usage = {
	.arguments = "[-- COMMAND...]",
	.doc = "Watch all loaded BPF programs, whichever process loaded them, or those that a "
	       "command loads while it runs.",
	.more = "ns/run is the mean of all runs. p50, p90 and p99 are of the runs that were alone "
		"between two readings of the counters (`mean of` 1). Where hardly a run was, as of "
		"a profiler that samples all CPUs at the same instant, they are of the means of k "
		"runs that shared such a window (`mean of` k). They are marked ~ where the runs in "
		"these windows are less than 90 % of all (`share %`). On a terminal the list is "
		"refreshed until q or Ctrl-C; c, r, t and n sort it by CPU, runs, time and "
		"name.\n\n"
		"A command runs with the rights of bpfbench, its stdin empty, its stdout on "
		"stderr. It is ended by SIGINT, then harder, when bpfbench has seen enough. If it "
		"ends before with an exit code other than 0 or by a signal, bpfbench ends with 1, "
		"after the figures; so it does if none of the command's programs was seen.\n\n"
		"Overhead: bpf_stats is on meanwhile and off again afterwards; it adds 10 to 40 ns "
		"to every run of every program. Reading the counters takes at most a quarter of "
		"one CPU, and mostly far less. Programs are never attached, changed or unloaded; a "
		"program that its owner unloads stays for up to a quarter of a second. Needs root.",
	.example = "  sudo bpfbench live\n"
		   "  sudo bpfbench live --seconds 10 -- opensnoop-bpfcc\n"
		   "  sudo bpfbench live --serve 127.0.0.1:9435\n"
		   "  sudo bpfbench live --save before\n"
		   "  sudo bpfbench live --compare before --fail-on regressed\n",
	.sets = {{NULL, options, 0}, {"A look over time:", look_options, 0}},
	.argument = {.doc = "; `bpfbench live` watches all loaded programs, and `bpfbench live -- "
			    "COMMAND` those that a command loads"},
	.command = BB_ARG_AT(command),
	.check = check_args,
};

struct watch {
	struct live_args *args;
	struct bb_live_watch *live;
	struct bb_follow *follow; /* the command, or NULL */
	struct bb_report *base;   /* the run to compare with, or NULL */
	struct bb_http_server server;
	bool is_screen;
};

static bool has_ended(const struct watch *w)
{
	int status;

	return w->follow && bb_follow__ended(w->follow, &status);
}

/* Writes the rows of a period to `out` (may be NULL), and serves them if there is a server. Fails
 * if the command ended before one of its programs was seen, unless there is a screen. */
static int take_snapshot(struct watch *w, const struct bb_live_format *format, FILE *out,
			 struct bb_err *err)
{
	const struct live_args *a = w->args;
	struct bb_live_view view = {a->all, a->output ? bb_doc_plain_look : bb_output_look(stdout),
				    a->command};
	struct bb_live_row *rows;
	char *text = NULL;
	size_t n, size = 0;
	FILE *served;
	int rc = bb_live_watch__snapshot(w->live, &rows, &n, err), status;

	if (rc)
		return rc;
	if (!n && !w->is_screen && w->follow && bb_follow__ended(w->follow, &status)) {
		rc = bb_fail(err, -ENODATA,
			     "'%s' %s before any of its BPF programs was seen; `bpfbench capture` "
			     "keeps those that a command loads",
			     a->command[0], bb_how_ended(status).text);
	} else {
		bb_live_rows__sort(rows, n, a->order);
		view.look.colour = false;
		if (out)
			format->print(rows, n, &view, out);
		if (w->server.child.pid) {
			served = bb_open_memstream(&text, &size);
			bb_live_formats[BB_LIVE_OPENMETRICS].print(rows, n, NULL, served);
			bb_close_memstream(served);
			rc = bb_http_server__publish(&w->server, text, size, err);
			free(text);
		}
	}
	bb_live_rows__free(rows, n);
	return rc;
}

static bool is_wanted(void *arg, uint32_t id)
{
	return bb_follow__loaded(arg, id);
}

/* Waits until the command has loaded its programs. If it still runs then, begins a new period. */
static int wait_for_loads(const struct watch *w, struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns();
	struct bb_live_row *rows;
	char how[96] = "";
	double quiet_s;
	size_t n;
	int rc, status;

	do {
		rc = bb_live_watch__wait(w->live, LOOK_S, err);
		if (rc)
			return rc;
		n = bb_follow__n_loads(w->follow, &quiet_s);
	} while (!has_ended(w) && !(n && quiet_s >= QUIET_S) &&
		 bb_seconds_since(began_ns) < PATIENCE_S);
	if (!n) {
		if (bb_follow__ended(w->follow, &status))
			snprintf(how, sizeof(how), ", which %s,", bb_how_ended(status).text);
		return bb_fail(err, -ENOTSUP, "'%s'%s loaded no BPF program%s", w->args->command[0],
			       how, *how ? bb_silence_hint(w->is_screen) : "");
	}
	if (has_ended(w))
		return 0;
	rc = bb_live_watch__snapshot(w->live, &rows, &n, err);
	if (!rc)
		bb_live_rows__free(rows, n);
	return rc;
}

static int write_snapshot(void *arg, FILE *out, struct bb_err *err)
{
	struct watch *w = arg;

	return take_snapshot(w, w->args->format, out, err);
}

static int wait_for_period(const struct watch *w, double seconds, struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns();
	int rc = 0;

	if (!w->follow)
		return bb_live_watch__wait(w->live, seconds, err);
	while (!rc && bb_seconds_since(began_ns) < seconds && !has_ended(w))
		rc = bb_live_watch__wait(w->live, LOOK_S, err);
	return rc;
}

static int print_once(struct watch *w, struct bb_err *err)
{
	int rc = w->follow ? wait_for_loads(w, err) : 0;

	if (!rc)
		rc = wait_for_period(w, w->args->seconds, err);
	return rc ? rc : bb_output_of(write_snapshot, w, w->args->output, err);
}

/* A signal or the end of the command ends serving without an error. */
static int serve(struct watch *w, struct bb_err *err)
{
	int rc = 0;

	while (!rc && !has_ended(w)) {
		rc = wait_for_period(w, w->args->seconds, err);
		if (!rc)
			rc = take_snapshot(w, NULL, NULL, err);
	}
	return rc == -EINTR ? 0 : rc;
}

static int take_look(struct watch *w, struct bb_err *err)
{
	struct live_args *a = w->args;
	struct bb_live_look look = {0};
	struct bb_measure m;
	int rc, said;

	a->measure.no_store = !a->save;
	rc = bb_measure__begin(&a->measure, "live", false, &m, err);
	if (rc)
		return rc;
	look.report = m.report;
	if (w->follow)
		rc = wait_for_loads(w, err);
	for (int i = 0; !rc && i < SLICES && !has_ended(w); i++) {
		struct bb_live_row *rows = NULL;
		size_t n = 0;

		rc = wait_for_period(w, a->seconds / SLICES, err);
		if (!rc)
			rc = bb_live_watch__snapshot(w->live, &rows, &n, err);
		if (!rc)
			rc = bb_live_look__add(&look, rows, n, err);
		bb_live_rows__free(rows, n);
	}
	if (!rc)
		rc = bb_live_look__end(&look, err);
	bb_live_look__done(&look);
	rc = bb_measure__deliver(&m, rc, err);
	if (!rc && a->save) {
		rc = bb_baseline__save(a->measure.results, a->save, m.report->id, err);
		if (!rc && !a->measure.quiet)
			bb_tell("baseline '%s' is %s; to compare with it: bpfbench live "
				"--compare %s",
				a->save, m.report->id, a->save);
	}
	if (!rc && w->base) {
		const struct bb_diff_opts opts = {a->threshold, BB_ALPHA, a->force};
		const struct bb_doc_sides sides = {NULL, a->compare, "now"};
		struct bb_diffs d = {0};
		struct bb_doc doc = {0};

		bb_live_look__match(w->base, m.report);
		rc = bb_diff_reports(w->base, m.report, &opts, &d, err);
		if (!rc)
			rc = bb_diff_view__add(&a->view, &d, sides, &doc, err);
		said = rc < 0 ? 0 : bb_output_document(&doc, stdout, err);
		rc = said ? said : rc;
		bb_diffs__done(&d);
	}
	bb_measure__end(&m);
	return rc;
}

/* A key may change the order of the rows. Returns true for q. */
static bool take_key(struct live_args *a)
{
	char key = bb_screen__key();

	for (size_t i = 0; i < BB_N_LIVE_ORDERS; i++)
		if (bb_live_orders[i].key == key)
			a->order = &bb_live_orders[i];
	return key == 'q';
}

static int watch_screen(struct watch *w, struct bb_err *err)
{
	struct live_args *a = w->args;
	uint64_t began_ns = bb_now_ns();
	char *text = bb_asprintf("the first figures come after %g s (q quits)", a->seconds);
	struct bb_screen screen;
	int rc = bb_screen__open(&screen, err);

	if (rc) {
		free(text);
		return rc;
	}
	while (!rc && !take_key(a) && !has_ended(w)) {
		char *table = NULL;
		size_t size = 0;

		if (bb_screen__has_changed(&screen))
			bb_screen__draw(&screen, text);
		rc = bb_live_watch__wait(w->live, LOOK_S, err);
		if (rc || bb_seconds_since(began_ns) < a->seconds)
			continue;
		began_ns = bb_now_ns();
		FILE *out = bb_open_memstream(&table, &size);
		rc = take_snapshot(w, &bb_live_formats[BB_LIVE_TABLE], out, err);
		bb_close_memstream(out);
		if (!rc) {
			free(text);
			text = bb_asprintf("every %g s, by %s (keys: c r t n; q quits)\n%s",
					   a->seconds, a->order->doc, table);
			bb_screen__draw(&screen, text);
		}
		free(table);
	}
	bb_screen__close(&screen);
	free(text);
	return rc == -EINTR && bb_stop_signal == SIGINT ? 0 : rc;
}

int bb_cmd_live(int argc, char **argv, struct bb_err *err)
{
	static struct live_args a;
	struct bb_stats_enable stats = {.fd = -1};
	struct bb_live_filter filter = {0};
	struct watch w = {.args = &a};
	bool by_hand, looks;
	int status, rc;

	bb_measure_args__init(&a.measure, argv, 0);
	bb_usage__parse(&usage, argc, argv, &a);
	by_hand = !a.output && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	looks = a.save || a.compare;
	w.is_screen = by_hand && !a.once && !a.format && !looks;
	if (!a.format)
		a.format = &bb_live_formats[by_hand ? BB_LIVE_TABLE : BB_LIVE_JSON];
	filter.sparing = a.serve;
	rc = bb_output_check(a.output, err);
	if (!rc && a.compare)
		rc = bb_baseline__read(a.compare, a.measure.results, &w.base, err);
	if (!rc && a.serve)
		rc = bb_http_server__open(a.serve, BB_OPENMETRICS_TYPE, &w.server, err);
	if (!rc)
		rc = bb_stats_enable__on(&stats, err);
	if (!rc && a.serve)
		bb_tell("serving %s, until Ctrl-C", w.server.url);
	if (!rc && a.command) {
		bb_capture_provide_tracefs();
		rc = bb_follow__start((const char *const *)(uintptr_t)a.command, a.env.v,
				      w.is_screen, &w.follow, err);
		filter.wants = is_wanted;
		filter.arg = w.follow;
	}
	if (!rc)
		rc = bb_live_watch__open(&filter, &w.live, err);
	if (!rc)
		rc = looks         ? take_look(&w, err)
		     : w.is_screen ? watch_screen(&w, err)
		     : a.serve     ? serve(&w, err)
				   : print_once(&w, err);
	bb_live_watch__close(w.live);
	bb_http_server__close(&w.server);
	bb_stats_enable__off(&stats);
	bb_report__free(w.base);
	if (!rc && w.follow && bb_follow__ended(w.follow, &status)) {
		if (status)
			rc = bb_fail(err, -ECHILD, "the command '%s' %s", a.command[0],
				     bb_how_ended(status).text);
		else
			bb_say("the command ended with exit code 0");
	}
	if (w.follow && !bb_follow__end(w.follow))
		bb_say("a process of the command does not end, and is left running");
	return rc;
}
