/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/parse.h"
#include "base/caller.h"
#include "base/child.h"
#include "base/stop.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "cli/say_lost.h"
#include "profile/flame.h"
#include "profile/fold.h"
#include "profile/recording.h"

/* What is written, and how. */
struct shown {
	const struct format *format;
	const struct bb_profile *profile;
	const char *title, *unit;
	bool verbose;
};

static int write_text(const struct shown *s, FILE *out)
{
	const struct bb_text_opts opts = {.title = s->title,
					  .unit = s->unit,
					  .verbose = s->verbose};

	return bb_stacks__write_text(&s->profile->stacks, &opts, out);
}

static int write_folded(const struct shown *s, FILE *out)
{
	return bb_stacks__write_folded(&s->profile->stacks, out);
}

static int write_flame(const struct shown *s, FILE *out)
{
	return bb_flame__write(&s->profile->stacks,
			       &(struct bb_flame_opts){.title = s->title, .unit = s->unit}, out);
}

static const struct format {
	const char *name, *doc;
	int (*write)(const struct shown *s, FILE *out);
	bool with_pid;
} formats[] = {
	{"text", "hottest functions and stacks, for people", write_text, true},
	{"folded", "one line per stack, for flame graph tools", write_folded, false},
	{"flame", "an interactive flame graph, one SVG file for a browser", write_flame, false},
};

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

struct profile_args {
	struct bb_recording_opts record;
	const struct format *format;
	const char *output;
	struct bb_env_names env;
	bool is_user_only, is_kernel_only, verbose;
};

enum { KEY_OFF_CPU = 0x100, KEY_SECONDS, KEY_ENV };

static const struct argp_option options[] = {
	{"pid", 'p', "PID", 0, "sample this process, and its children from now on", 0},
	{"freq", 'F', "HZ", 0, "samples per second on each CPU, 1 to 100000 (default 99)", 0},
	{"seconds", KEY_SECONDS, "S", 0,
	 "how long to sample (default: until the command or process ends, or Ctrl-C)", 0},
	{"duration", KEY_SECONDS, "S", OPTION_HIDDEN, NULL, 0}, /* its name before */
	{"off-cpu", KEY_OFF_CPU, "only", OPTION_ARG_OPTIONAL,
	 "add the time that threads wait off the CPU; stacks are then in microseconds, and those "
	 "of waiting end in [off-CPU]; =only: waiting alone",
	 0},
	{"env", KEY_ENV, "NAME", 0,
	 "the command keeps this variable besides PATH, HOME, LANG and TERM (repeatable)", 0},
	{"user", 'U', NULL, 0, "user stacks only", 0},
	{"kernel", 'K', NULL, 0, "kernel stacks only", 0},
	{"format", 'f', "NAME", 0, "output format:", 0},
	{"output", 'o', "FILE", 0, "write to this file instead of stdout", 0},
	{"verbose", 'v', NULL, 0, "print each frame as function @ base+offset file:line", 0},
	{0},
};

static const struct format *parse_format(const struct argp_state *state, const char *text)
{
	const char *names[N_FORMATS], *near;

	for (size_t i = 0; i < N_FORMATS; i++) {
		if (!strcmp(formats[i].name, text))
			return &formats[i];
		names[i] = formats[i].name;
	}
	near = bb_nearest(text, names, N_FORMATS);
	if (near)
		bb_usage_error(state, "no format '%s'; did you mean '%s'?", text, near);
	bb_usage_error(state, "no format '%s'; there are: text, folded, flame", text);
}

/* "--off-cpu" or "--off-cpu=only" */
static void parse_off_cpu(struct bb_sampler_opts *o, const struct argp_state *state,
			  const char *text)
{
	if (text && strcmp(text, "only"))
		bb_usage_error(state, "--off-cpu takes nothing or =only, not '%s'", text);
	o->off_cpu = true;
	o->on_cpu = !text;
}

/* What only together is right or wrong. */
static void check(struct profile_args *a, const struct argp_state *state)
{
	if (a->record.sampler.pid && a->record.argv)
		bb_usage_error(state, "--pid and a command: one of them");
	if (a->is_user_only && a->is_kernel_only)
		bb_usage_error(state, "--user and --kernel: one of them, or neither for both");
	a->record.sampler.want_user = !a->is_kernel_only;
	a->record.sampler.want_kernel = !a->is_user_only;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct profile_args *a = state->input;

	switch (key) {
	case 'p':
		a->record.sampler.pid = (pid_t)bb_option_u32(state, "pid", arg, 1, INT32_MAX);
		break;
	case 'F': a->record.sampler.freq_hz = bb_option_u32(state, "freq", arg, 1, 100000); break;
	case KEY_SECONDS:
		a->record.seconds = bb_option_double(state, "seconds", arg, 0.001, 1e9);
		break;
	case KEY_OFF_CPU: parse_off_cpu(&a->record.sampler, state, arg); break;
	case KEY_ENV: bb_option_env(state, &a->env, arg); break;
	case 'U': a->is_user_only = true; break;
	case 'K': a->is_kernel_only = true; break;
	case 'f': a->format = parse_format(state, arg); break;
	case 'o': a->output = arg; break;
	case 'v': a->verbose = true; break;
	case ARGP_KEY_ARGS: a->record.argv = state->argv + state->next; break;
	case ARGP_KEY_END: check(a, state); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* The formats, a line each, after --format in the help. */
static char *help_filter(int key, const char *text, void *input)
{
	char *all = NULL;
	size_t len;
	FILE *out;

	(void)input;
	if (key != 'f')
		return (char *)(uintptr_t)text;
	out = open_memstream(&all, &len);
	if (!out)
		return (char *)(uintptr_t)text;
	fputs(text, out);
	for (size_t i = 0; i < N_FORMATS; i++)
		fprintf(out, "%s %s%s: %s", i ? ";" : "", formats[i].name, i ? "" : " (default)",
			formats[i].doc);
	fclose(out);
	return all;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[-- COMMAND [ARG...]]",
	.help_filter = help_filter,
	.doc = "Sample the stacks of a process, of a command or, without either, of the whole "
	       "system.\v"
	       "Hardware cycles set the rate, or cpu-clock where there are none. Stacks are added "
	       "up in the kernel, so that 10 000 Hz are cheap. The command runs as the user who "
	       "called sudo, and its stdout goes to stderr. Ctrl-C ends sampling and prints the "
	       "result so far.",
};

static void say_how_it_ended(const struct bb_recording *r, const struct profile_args *a)
{
	if (WIFSIGNALED(r->command_status) ? !bb_stop_signal && isinf(a->record.seconds)
					   : WEXITSTATUS(r->command_status) != 0)
		fprintf(stderr, "bpfbench: '%s' %s\n", a->record.argv[0],
			bb_how_ended(r->command_status).text);
}

static void make_title(const struct profile_args *a, const struct bb_recording *r, char *title,
		       size_t size)
{
	const struct bb_sampler_opts *o = &a->record.sampler;
	char what[128], rate[64] = "";

	if (a->record.argv)
		snprintf(what, sizeof(what), "%.100s", a->record.argv[0]);
	else if (o->pid)
		snprintf(what, sizeof(what), "process %d", (int)o->pid);
	else
		snprintf(what, sizeof(what), "all processes");
	if (o->on_cpu)
		snprintf(rate, sizeof(rate), ", %llu samples at %u Hz (%s)",
			 (unsigned long long)r->stats.samples, o->freq_hz,
			 r->stats.is_cpu_clock ? "cpu-clock" : "cycles");
	snprintf(title, size, "%s: %.2f s%s%s", what, r->seconds, rate,
		 o->off_cpu ? ", time off the CPU" : "");
}

static int write_shown(void *arg, FILE *out, struct bb_err *err)
{
	const struct shown *s = arg;

	return s->format->write(s, out) ? bb_fail_nomem(err) : 0;
}

static int show(const struct profile_args *a, const struct bb_recording *r, struct bb_err *err)
{
	const struct bb_sampler_opts *o = &a->record.sampler;
	const struct bb_fold_opts fold = {
		.on_cpu_weight = o->off_cpu ? 1e6 / o->freq_hz : 1,
		.kernel = &r->kernel,
		.with_pid = a->format->with_pid,
	};
	struct bb_profile profile = {0};
	struct shown shown;
	char title[256];
	int rc = bb_fold(&r->samples, &r->spaces, &fold, &profile, err);

	if (rc)
		return rc;
	bb_say_lost(r, &profile, o->want_kernel);
	say_how_it_ended(r, a);
	make_title(a, r, title, sizeof(title));
	shown = (struct shown){
		.format = a->format,
		.profile = &profile,
		.title = title,
		.unit = o->off_cpu ? "us" : "samples",
		.verbose = a->verbose,
	};
	rc = bb_output_of(write_shown, &shown, a->output, err);
	bb_profile__done(&profile);
	return rc;
}

int bb_cmd_profile(int argc, char **argv)
{
	struct profile_args a = {
		.format = &formats[0],
		.record = {.seconds = INFINITY, .sampler = {.freq_hz = 99, .on_cpu = true}},
	};
	struct bb_recording recording = {0};
	struct bb_paths paths = {0};
	struct bb_err err = {0};
	int rc;

	bb_parse_options(&argp, argc, argv, ARGP_IN_ORDER, &a);
	rc = bb_output_check(a.output, &err);
	if (!rc)
		rc = bb_paths__find(&paths, &err);
	a.record.sampler.object_dir = paths.object_dir;
	a.record.env = a.env.v;
	bb_caller(&a.record.uid, &a.record.gid);
	if (!rc)
		rc = bb_recording__take(&a.record, &recording, &err);
	if (!rc) {
		rc = show(&a, &recording, &err);
		bb_recording__done(&recording);
	}
	bb_paths__done(&paths);
	return rc ? bb_complain(&err) : BB_EXIT_OK;
}
