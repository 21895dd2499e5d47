/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/stop.h"
#include "bpf/stats_enable.h"
#include "cli/cmd.h"
#include "cli/live_print.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/screen.h"
#include "run/live.h"

#define LOOK_S 0.05 /* between two looks at the keyboard and the size of the window */

struct live_args {
	double seconds;
	const struct bb_live_order *order;
	const struct bb_live_format *format; /* NULL: not given */
	const char *output;                  /* NULL: stdout */
	bool once;
};

enum { KEY_ONCE = 0x100, KEY_SECONDS, KEY_SORT };

static const struct argp_option options[] = {
	{"once", KEY_ONCE, NULL, 0, "print one snapshot, also on a terminal", 0},
	{"seconds", KEY_SECONDS, "S", 0, "length of the period that a snapshot covers (default 1)",
	 0},
	{"sort", KEY_SORT, "COLUMN", 0, "cpu (default), runs, ns or name", 0},
	{"format", 'f', "NAME", 0,
	 "print one snapshot as table (default on a terminal), json (default elsewhere) or "
	 "openmetrics",
	 0},
	{"output", 'o', "FILE", 0,
	 "write one snapshot to this file instead of stdout, whole or not at all", 0},
	{0},
};

static const struct bb_live_order *order_of(const struct argp_state *state, const char *text)
{
	const struct bb_live_order *order = bb_live_order_find(text);

	if (!order)
		bb_usage_error(state, "--sort takes cpu, runs, ns or name, not '%s'", text);
	return order;
}

static const struct bb_live_format *format_of(const struct argp_state *state, const char *text)
{
	const struct bb_live_format *format = bb_live_format_find(text);

	if (!format)
		bb_usage_error(state, "no format '%s'; there are: table, json, openmetrics", text);
	return format;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct live_args *a = state->input;

	switch (key) {
	case KEY_ONCE: a->once = true; break;
	case KEY_SECONDS: a->seconds = bb_option_double(state, "seconds", arg, 0.1, 86400); break;
	case KEY_SORT: a->order = order_of(state, arg); break;
	case 'f': a->format = format_of(state, arg); break;
	case 'o': a->output = arg; break;
	case ARGP_KEY_ARG:
		bb_usage_error(state,
			       "'%s' is no option; `bpfbench live` watches all loaded programs",
			       arg);
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Watch all loaded BPF programs, whichever process loaded them.\v"
	       "ns/run is the mean of all runs. p50, p90 and p99 are of the runs that were alone "
	       "between two readings of the counters, and marked ~ where these are less than 90 % "
	       "of all (`alone %`). On a terminal the list is refreshed until q or Ctrl-C; c, r, t "
	       "and n sort it by CPU, runs, time and name.\n\n"
	       "Overhead: bpf_stats is on meanwhile and off again afterwards; it adds 10 to 40 ns "
	       "to every run of every program. Reading the counters takes at most a quarter of one "
	       "CPU, and mostly far less. Programs are never attached, changed or unloaded; a "
	       "program that its owner unloads stays for up to a quarter of a second. Needs root.",
};

static int take_snapshot(struct bb_live_watch *live, const struct bb_live_order *order,
			 const struct bb_live_format *format, FILE *out, size_t *ret_n,
			 struct bb_err *err)
{
	struct bb_live_row *rows;
	int rc = bb_live_watch__snapshot(live, &rows, ret_n, err);

	if (rc)
		return rc;
	qsort(rows, *ret_n, sizeof(*rows), order->compare);
	rc = format->print(rows, *ret_n, out);
	free(rows);
	return rc ? bb_fail_nomem(err) : 0;
}

struct snapshot {
	struct bb_live_watch *live;
	const struct bb_live_order *order;
	const struct bb_live_format *format;
};

static int write_snapshot(void *arg, FILE *out, struct bb_err *err)
{
	const struct snapshot *s = arg;
	size_t n;

	return take_snapshot(s->live, s->order, s->format, out, &n, err);
}

static int print_once(const struct live_args *a, struct bb_live_watch *live, struct bb_err *err)
{
	const char *otherwise = !a->output && bb_screen_possible() ? "table" : "json";
	struct snapshot s = {live, a->order,
			     a->format ? a->format : bb_live_format_find(otherwise)};
	int rc = bb_live_watch__wait(live, a->seconds, err);

	return rc ? rc : bb_output_of(write_snapshot, &s, a->output, err);
}

/* What the screen shows after a period; free() it. */
static int compose(const struct live_args *a, struct bb_live_watch *live, char **ret_text,
		   struct bb_err *err)
{
	char *text = NULL, *table = NULL;
	size_t size = 0, n = 0;
	FILE *out = open_memstream(&table, &size);
	int rc = out ? take_snapshot(live, a->order, bb_live_format_find("table"), out, &n, err)
		     : bb_fail_nomem(err);

	if (out && fclose(out) && !rc)
		rc = bb_fail_nomem(err);
	if (!rc && asprintf(&text,
			    "%zu BPF programs, every %g s, by %s (c r t n); bpf_stats is on: "
			    "+10-40 ns a run; q ends\n\n"
			    "%s",
			    n, a->seconds, a->order->doc, table) < 0)
		rc = bb_fail_nomem(err);
	free(table);
	if (!rc)
		*ret_text = text;
	return rc;
}

/* True: enough. */
static bool take_key(struct live_args *a, char key)
{
	static const struct {
		char key;
		const char *order;
	} keys[] = {{'c', "cpu"}, {'r', "runs"}, {'t', "ns"}, {'n', "name"}};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].key == key)
			a->order = bb_live_order_find(keys[i].order);
	return key == 'q';
}

static int watch_screen(struct live_args *a, struct bb_live_watch *live, struct bb_screen *screen,
			struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns();
	char *text = strdup("...");
	int rc = text ? 0 : bb_fail_nomem(err);

	while (!rc && !take_key(a, bb_screen__key(screen))) {
		if (bb_screen__resized(screen))
			bb_screen__draw(screen, text);
		rc = bb_live_watch__wait(live, LOOK_S, err);
		if (rc || bb_seconds_since(began_ns) < a->seconds)
			continue;
		began_ns = bb_now_ns();
		free(text);
		text = NULL;
		rc = compose(a, live, &text, err);
		if (!rc)
			bb_screen__draw(screen, text);
	}
	free(text);
	return rc == -EINTR && bb_stop_signal == SIGINT ? 0 : rc;
}

int bb_cmd_live(int argc, char **argv)
{
	struct live_args a = {.seconds = 1, .order = bb_live_orders};
	struct bb_stats_enable stats = {.fd = -1};
	struct bb_live_watch *live = NULL;
	struct bb_screen screen;
	struct bb_err err = {0};
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	rc = bb_output_check(a.output, &err);
	if (!rc)
		rc = bb_live_watch__open(&live, &err);
	if (!rc)
		rc = bb_stats_enable__on(&stats, &err);
	if (!rc && (a.once || a.format || a.output || !bb_screen_possible())) {
		rc = print_once(&a, live, &err);
	} else if (!rc) {
		rc = bb_screen__open(&screen, &err);
		if (!rc) {
			rc = watch_screen(&a, live, &screen, &err);
			bb_screen__close(&screen);
		}
	}
	bb_stats_enable__off(&stats);
	bb_live_watch__close(live);
	return rc ? bb_complain(&err) : BB_EXIT_OK;
}
