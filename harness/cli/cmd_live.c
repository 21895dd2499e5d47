/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/clean.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/parse.h"
#include "base/child.h"
#include "base/stop.h"
#include "bpf/stats_enable.h"
#include "capture/follow.h"
#include "cli/capture_options.h"
#include "cli/cmd.h"
#include "cli/live_print.h"
#include "cli/options.h"
#include "cli/output.h"
#include "run/live.h"

/* The terminal as a screen that is drawn anew: stdin gives keys one by one, and all is as before
 * when it is closed. */
struct screen {
	struct termios before;
	bool on;
	int rows, columns; /* as last drawn */
};

/* ECMA-48 and xterm: the second screen, whose end brings back what was there, and the cursor. */
#define BEGIN "\033[?1049h\033[?25l"
#define END "\033[?25h\033[?1049l"
#define HOME "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"

/* Are stdin and stdout terminals? */
static bool can_be_screen(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static void get_size(int *ret_rows, int *ret_columns)
{
	struct winsize size;
	bool known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col;

	*ret_rows = known ? size.ws_row : 24;
	*ret_columns = known ? size.ws_col : 80;
}

/* 0 or -errno with a message. */
static int screen_open(struct screen *ret_screen, struct bb_err *err)
{
	struct screen s = {.on = true};
	struct termios raw;
	int rc;

	if (tcgetattr(STDIN_FILENO, &s.before)) {
		rc = -errno;
		return bb_fail(err, rc, "the terminal's settings: %s; --once prints one snapshot",
			       strerror(-rc));
	}
	raw = s.before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO); /* Ctrl-C stays a signal */
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;         /* a shell would find the second screen */
	raw.c_cc[VMIN] = raw.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)) {
		rc = -errno;
		return bb_fail(err, rc, "the terminal's settings: %s; --once prints one snapshot",
			       strerror(-rc));
	}
	bb_clean__put_raw(stdout, BEGIN);
	*ret_screen = s;
	return 0;
}

static void screen_close(struct screen *s)
{
	if (!s->on)
		return;
	bb_clean__put_raw(stdout, END);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &s->before);
	s->on = false;
}

/* The key that was pressed; 0: none. */
static char screen_key(const struct screen *s)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	char key;

	return s->on && poll(&in, 1, 0) > 0 && read(STDIN_FILENO, &key, 1) == 1 ? key : 0;
}

/* Is it another size than when it was drawn? */
static bool screen_resized(const struct screen *s)
{
	int rows, columns;

	get_size(&rows, &columns);
	return rows != s->rows || columns != s->columns;
}

/* Show the text's first lines, as much of each as there is room for. */
static void screen_draw(struct screen *s, const char *text)
{
	get_size(&s->rows, &s->columns);
	bb_clean__put_raw(stdout, HOME);
	for (int row = 0; row < s->rows && *text; row++) {
		int len = (int)strcspn(text, "\n");

		/* Bytes are characters here: a name is an identifier of C. The last line must not
		 * scroll. */
		bb_clean__put_raw(stdout, row ? "\r\n" : "");
		printf("%.*s", len < s->columns ? len : s->columns, text);
		bb_clean__put_raw(stdout, CLEAR_LINE);
		text += len + (text[len] == '\n');
	}
	bb_clean__put_raw(stdout, CLEAR_BELOW);
}

/* between two looks at the keyboard, at the size of the window and at the command */
#define LOOK_S 0.05
#define QUIET_S 1.0     /* without a call of the command: it has loaded its programs */
#define PATIENCE_S 60.0 /* with a command that loads nothing, or never stops */

struct live_args {
	double seconds;
	const struct bb_live_order *order;
	const struct bb_live_format *format; /* NULL: not given */
	const char *output;                  /* NULL: stdout */
	bool once, all;
	char **command; /* of argv, ends in NULL; NULL: all programs are watched */
	struct bb_env_names env;
};

static void read_order(const struct bb_option *o, const char *text, void *ret_order)
{
	const struct bb_live_order *order = bb_live_order_find(text);

	(void)o;
	if (!order)
		bb_usage_error("--sort takes cpu, runs, ns or name, not '%s'", text);
	*(const struct bb_live_order **)ret_order = order;
}

static void read_format(const struct bb_option *o, const char *text, void *ret_format)
{
	const struct bb_live_format *format = bb_live_format_find(text);

	(void)o;
	if (!format)
		bb_usage_error("no format '%s'; there are: table, json, openmetrics", text);
	*(const struct bb_live_format **)ret_format = format;
}

static void refuse_argument(const struct bb_option *o, const char *text, void *none)
{
	(void)o;
	(void)none;
	bb_usage_error("'%s' is no option; `bpfbench live` watches all loaded programs, and "
		       "`bpfbench live -- COMMAND` those that a command loads",
		       text);
}

#define AT(member) offsetof(struct live_args, member)
#define TO(member) .at = AT(member)

static const struct bb_option options[] = {
	{"once", 0, NULL, "print one snapshot, also on a terminal", bb_read_flag, TO(once)},
	{"seconds", 0, "S", "length of the period that a snapshot covers (default 1)",
	 bb_read_double, TO(seconds), 0.1, 86400},
	{"sort", 0, "COLUMN", "cpu (default), runs, ns or name", read_order, TO(order)},
	{"format", 'f', "NAME",
	 "print one snapshot as table (default on a terminal), json (default elsewhere) or "
	 "openmetrics",
	 read_format, TO(format)},
	{"all", 0, NULL, "a row also for each program that did not run", bb_read_flag, TO(all)},
	BB_ENV_OPTION(AT(env)),
	{"output", 'o', "FILE",
	 "write one snapshot to this file instead of stdout, whole or not at all", bb_read_text,
	 TO(output)},
	{0},
};

static const struct bb_usage usage = {
	.arguments = "[-- COMMAND...]",
	.doc = "Watch all loaded BPF programs, whichever process loaded them, or those that a "
	       "command loads while it runs.",
	.more = "ns/run is the mean of all runs. p50, p90 and p99 are of the runs that were alone "
		"between two readings of the counters (`mean of` 1). Where hardly a run was, as of "
		"a "
		"profiler that samples all CPUs at the same instant, they are of the means of k "
		"runs "
		"that shared such a window (`mean of` k). They are marked ~ where the runs in "
		"these "
		"windows are less than 90 % of all (`share %`). On a terminal the list is "
		"refreshed "
		"until q or Ctrl-C; c, r, t and n sort it by CPU, runs, time and name.\n\n"
		"A command runs with the rights of bpfbench, its stdin empty, its stdout on "
		"stderr. It is ended by SIGINT, then harder, when bpfbench has seen enough. If it "
		"ends before with an exit code other than 0 or by a signal, bpfbench ends with 1, "
		"after the figures; so it does if none of the command's programs was seen.\n\n"
		"Overhead: bpf_stats is on meanwhile and off again afterwards; it adds 10 to 40 ns "
		"to every run of every program. Reading the counters takes at most a quarter of "
		"one "
		"CPU, and mostly far less. Programs are never attached, changed or unloaded; a "
		"program that its owner unloads stays for up to a quarter of a second. Needs root.",
	.example = "  sudo bpfbench live\n"
		   "  sudo bpfbench live --seconds 10 -- opensnoop-bpfcc\n",
	.sets = {{NULL, options, 0}},
	.argument = {.read = refuse_argument},
	.command = AT(command),
};

/* Nothing is to be seen any more of a command that has ended. */
static int say_unseen(const struct live_args *a, int status, struct bb_err *err)
{
	return bb_fail(err, -ENODATA,
		       "'%s' %s before any of its BPF programs was seen; `bpfbench capture` keeps "
		       "those that a command loads",
		       a->command[0], bb_how_ended(status).text);
}

/* `follow`: there must be something to show, unless the command goes on; NULL: there need not. */
static int take_snapshot(const struct live_args *a, struct bb_live_watch *live,
			 struct bb_follow *follow, const struct bb_live_format *format, FILE *out,
			 size_t *ret_n, struct bb_err *err)
{
	struct bb_live_row *rows;
	int rc = bb_live_watch__snapshot(live, &rows, ret_n, err), status;

	if (rc)
		return rc;
	if (!*ret_n && follow && bb_follow__ended(follow, &status)) {
		free(rows);
		return say_unseen(a, status, err);
	}
	qsort(rows, *ret_n, sizeof(*rows), a->order->compare);
	rc = format->print(rows, *ret_n, a->all, out);
	free(rows);
	return rc ? bb_fail_nomem(err) : 0;
}

struct snapshot {
	const struct live_args *args;
	struct bb_live_watch *live;
	struct bb_follow *follow;
	const struct bb_live_format *format;
};

static int write_snapshot(void *arg, FILE *out, struct bb_err *err)
{
	const struct snapshot *s = arg;
	size_t n;

	return take_snapshot(s->args, s->live, s->follow, s->format, out, &n, err);
}

/* --- a command --- */

/* Its words would spoil the screen. */
static int start_command(const struct live_args *a, bool screen, struct bb_follow **ret_follow,
			 struct bb_err *err)
{
	int nothing = screen ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
	int before = nothing < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), rc;

	bb_capture_provide_tracefs();
	if (before >= 0)
		dup2(nothing, STDERR_FILENO);
	rc = bb_follow__start((const char *const *)(uintptr_t)a->command, a->env.v, ret_follow,
			      err);
	if (before >= 0)
		dup2(before, STDERR_FILENO);
	if (before >= 0)
		close(before);
	if (nothing >= 0)
		close(nothing);
	return rc;
}

static bool is_wanted(void *arg, uint32_t id)
{
	return bb_follow__loaded(arg, id);
}

static int say_no_load(const struct live_args *a, struct bb_follow *follow, struct bb_err *err)
{
	char how[96] = "";
	int status;

	if (bb_follow__ended(follow, &status))
		snprintf(how, sizeof(how), ", which %s,", bb_how_ended(status).text);
	return bb_fail(err, -ENOTSUP, "'%s'%s loaded no BPF program", a->command[0], how);
}

/* Until it has loaded its programs; if it goes on then, the period begins there. */
static int wait_for_loads(const struct live_args *a, struct bb_live_watch *live,
			  struct bb_follow *follow, struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns();
	struct bb_live_row *rows;
	double quiet_s;
	size_t n;
	int rc, status;

	for (;;) {
		rc = bb_live_watch__wait(live, LOOK_S, err);
		if (rc)
			return rc;
		n = bb_follow__n_loads(follow, &quiet_s);
		if (bb_follow__ended(follow, &status) || (n && quiet_s >= QUIET_S) ||
		    bb_seconds_since(began_ns) >= PATIENCE_S)
			break;
	}
	if (!n)
		return say_no_load(a, follow, err);
	if (bb_follow__ended(follow, &status))
		return 0;
	rc = bb_live_watch__snapshot(live, &rows, &n, err);
	if (!rc)
		free(rows);
	return rc;
}

/* One period, or less if the command ends. */
static int wait_for_period(const struct live_args *a, struct bb_live_watch *live,
			   struct bb_follow *follow, struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns();
	int rc = 0, status;

	if (!follow)
		return bb_live_watch__wait(live, a->seconds, err);
	while (!rc && bb_seconds_since(began_ns) < a->seconds && !bb_follow__ended(follow, &status))
		rc = bb_live_watch__wait(live, LOOK_S, err);
	return rc;
}

/* --- one snapshot, or a screen --- */

static int print_once(const struct live_args *a, struct bb_live_watch *live,
		      struct bb_follow *follow, struct bb_err *err)
{
	const char *otherwise = !a->output && can_be_screen() ? "table" : "json";
	struct snapshot s = {a, live, follow,
			     a->format ? a->format : bb_live_format_find(otherwise)};
	int rc = follow ? wait_for_loads(a, live, follow, err) : 0;

	if (!rc)
		rc = wait_for_period(a, live, follow, err);
	return rc ? rc : bb_output_of(write_snapshot, &s, a->output, err);
}

/* What the screen shows after a period; free() it. */
static int compose(const struct live_args *a, struct bb_live_watch *live, char **ret_text,
		   struct bb_err *err)
{
	char *text = NULL, *table = NULL;
	size_t size = 0, n = 0;
	FILE *out = open_memstream(&table, &size);
	int rc = out ? take_snapshot(a, live, NULL, bb_live_format_find("table"), out, &n, err)
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

static int watch_screen(struct live_args *a, struct bb_live_watch *live, struct bb_follow *follow,
			struct screen *screen, struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns();
	char *text = strdup("...");
	int rc = text ? 0 : bb_fail_nomem(err), status;

	while (!rc && !take_key(a, screen_key(screen)) &&
	       !(follow && bb_follow__ended(follow, &status))) {
		if (screen_resized(screen))
			screen_draw(screen, text);
		rc = bb_live_watch__wait(live, LOOK_S, err);
		if (rc || bb_seconds_since(began_ns) < a->seconds)
			continue;
		began_ns = bb_now_ns();
		free(text);
		text = NULL;
		rc = compose(a, live, &text, err);
		if (!rc)
			screen_draw(screen, text);
	}
	free(text);
	return rc == -EINTR && bb_stop_signal == SIGINT ? 0 : rc;
}

static int watch(struct live_args *a, struct bb_live_watch *live, struct bb_follow *follow,
		 bool by_screen, struct bb_err *err)
{
	struct screen screen;
	int rc;

	if (!by_screen)
		return print_once(a, live, follow, err);
	rc = screen_open(&screen, err);
	if (rc)
		return rc;
	rc = watch_screen(a, live, follow, &screen, err);
	screen_close(&screen);
	return rc;
}

/* One that failed by itself makes us fail, too, after the figures. */
static int end_command(const struct live_args *a, struct bb_follow *follow, int rc,
		       struct bb_err *err)
{
	int status;

	if (follow && !rc && bb_follow__ended(follow, &status)) {
		if (status)
			rc = bb_fail(err, -ECHILD, "the command '%s' %s", a->command[0],
				     bb_how_ended(status).text);
		else
			fputs("bpfbench: the command ended with exit code 0\n", stderr);
	}
	if (!bb_follow__end(follow))
		fputs("bpfbench: something of the command does not end, and is left alone\n",
		      stderr);
	return rc;
}

int bb_cmd_live(int argc, char **argv)
{
	struct live_args a = {.seconds = 1, .order = bb_live_orders};
	struct bb_stats_enable stats = {.fd = -1};
	struct bb_live_filter filter = {0};
	struct bb_live_watch *live = NULL;
	struct bb_follow *follow = NULL;
	struct bb_err err = {0};
	bool by_screen;
	int rc;

	bb_usage__parse(&usage, argc, argv, &a);
	by_screen = !a.once && !a.format && !a.output && can_be_screen();
	rc = bb_output_check(a.output, &err);
	if (!rc)
		rc = bb_stats_enable__on(&stats, &err);
	if (!rc && a.command) {
		rc = start_command(&a, by_screen, &follow, &err);
		filter = (struct bb_live_filter){is_wanted, follow};
	}
	if (!rc)
		rc = bb_live_watch__open(&filter, &live, &err);
	if (!rc)
		rc = watch(&a, live, follow, by_screen, &err);
	bb_live_watch__close(live);
	bb_stats_enable__off(&stats);
	rc = end_command(&a, follow, rc, &err);
	return rc ? bb_complain(&err) : BB_EXIT_OK;
}
