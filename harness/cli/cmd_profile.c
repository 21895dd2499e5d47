/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/caller.h"
#include "base/child.h"
#include "base/deadline.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "profile/recording.h"

enum { TEXT, FOLDED, FLAME };
static const char *const formats[] = {"text", "folded", "flame"};

struct shown {
	int format;
	const struct bb_profile *profile;
	const char *title, *unit;
	bool verbose;
};

struct profile_args {
	struct bb_recording_opts record;
	int format;
	const char *output;
	struct bb_strings env;
	bool is_user_only, is_kernel_only, verbose;
};

static void read_off_cpu(const struct bb_option *, const char *text, void *sampler)
{
	struct bb_sampler_opts *opts = sampler;

	if (text && strcmp(text, "only"))
		bb_usage_error("--off-cpu takes nothing or =only, not '%s'", text);
	opts->off_cpu = true;
	opts->on_cpu = !text;
}

#define ARGS struct profile_args

static const struct bb_option options[] = {
	{"pid", 'p', "PID", bb_read_u32, BB_ARG(record.sampler.pid),
	 "sample this process, and its children from now on", 1, INT32_MAX},
	{"freq", 'F', "HZ", bb_read_u32, BB_ARG(record.sampler.freq_hz),
	 "samples per second on each CPU, 1 to 100000 (default 99)", 1, 100000},
	{"seconds", 0, "S", bb_read_double, BB_ARG(record.seconds),
	 "how long to sample (default: until the command or process ends, or Ctrl-C)", 0.001, 1e9},
	{"duration", 0, "S", bb_read_double, BB_ARG(record.seconds), NULL, 0.001,
	 1e9}, /* former name of --seconds */
	{"for", 0, "S", bb_read_double, BB_ARG(record.seconds), NULL, 0.001,
	 1e9}, /* the name of --seconds in `bpfbench inside` */
	{"off-cpu", 0, "only", read_off_cpu, BB_ARG(record.sampler),
	 "add the time that threads wait off the CPU; stacks are then in microseconds, and those "
	 "of waiting end in [off-CPU]; =only: waiting alone",
	 .optional = true},
	{"env", 0, "NAME", bb_read_env, BB_ARG(env), BB_ENV_DOC},
	{"user", 'U', NULL, bb_read_flag, BB_ARG(is_user_only), "user stacks only"},
	{"kernel", 'K', NULL, bb_read_flag, BB_ARG(is_kernel_only), "kernel stacks only"},
	{"format", 'f', "NAME", bb_read_index, BB_ARG(format),
	 "text (default): the hottest functions and stacks, for people; folded: one line per "
	 "stack, for flame graph tools; flame: an interactive flame graph, one SVG file for a "
	 "browser",
	 BB_CHOICES(formats)},
	{"output", 'o', "FILE", bb_read_text, BB_ARG(output), BB_OUTPUT_DOC},
	{"verbose", 'v', NULL, bb_read_flag, BB_ARG(verbose),
	 "print each frame as function @ base+offset file:line"},
	{0},
};

static void check_args(void *args)
{
	struct profile_args *a = args;

	bb_refuse("--pid and a command: one of them", a->record.sampler.pid && a->record.argv);
	bb_refuse("--user and --kernel: one of them, or neither for both",
		  a->is_user_only && a->is_kernel_only);
	a->record.sampler.want_user = !a->is_kernel_only;
	a->record.sampler.want_kernel = !a->is_user_only;
}

static const struct bb_usage usage = {
	.arguments = "[-- COMMAND [ARG...]]",
	.doc = "Sample the stacks of a process, of a command or, without either, of the whole "
	       "system.",
	.more = "Hardware cycles set the rate, or cpu-clock where there are none. Stacks are added "
		"up in the kernel, so that 10 000 Hz are cheap. The command runs as the user who "
		"called sudo, and its stdout goes to stderr. Ctrl-C ends sampling and prints the "
		"result so far.",
	.example = "  sudo bpfbench profile --seconds 10 --format flame -o flame.svg\n",
	.sets = {{NULL, options, 0}},
	.options_first = true,
	.command = BB_ARG_AT(record.argv),
	.check = check_args,
};

static int write_shown(void *arg, FILE *out, struct bb_err *)
{
	const struct shown *s = arg;
	const struct bb_stacks *stacks = &s->profile->stacks;

	if (s->format == FOLDED)
		bb_stacks__write_folded(stacks, out);
	else if (s->format == FLAME)
		bb_flame__write(stacks, &(struct bb_flame_opts){.title = s->title, .unit = s->unit},
				out);
	else
		bb_stacks__write_text(stacks, &(struct bb_text_opts){s->title, s->unit, s->verbose},
				      out);
	return 0;
}

static int show(const struct profile_args *a, struct bb_recording *r, struct bb_err *err)
{
	const struct bb_sampler_opts *o = &a->record.sampler;
	const struct bb_fold_opts fold = {
		.on_cpu_weight = o->off_cpu ? 1e6 / o->freq_hz : 1,
		.kernel = &r->kernel,
		.with_pid = a->format == TEXT,
	};
	struct bb_profile profile = {0};
	char title[256], what[128] = "all processes", rate[64] = "";
	struct shown shown = {a->format, &profile, title, o->off_cpu ? "us" : "samples",
			      a->verbose};
	int rc = bb_fold(&r->samples, &r->spaces, &fold, &profile, err);

	if (rc)
		return rc;
	bb_say_lost(r, &profile, o->want_kernel);
	if (WIFSIGNALED(r->command_status) ? !bb_stop_signal && isinf(a->record.seconds)
					   : WEXITSTATUS(r->command_status) != 0)
		bb_tell("'%s' %s", a->record.argv[0], bb_how_ended(r->command_status).text);
	if (a->record.argv)
		snprintf(what, sizeof(what), "%.100s", a->record.argv[0]);
	else if (o->pid)
		snprintf(what, sizeof(what), "process %d", (int)o->pid);
	if (o->on_cpu)
		snprintf(rate, sizeof(rate), ", %llu samples at %u Hz (%s)",
			 (unsigned long long)r->stats.samples, o->freq_hz,
			 r->stats.is_cpu_clock ? "cpu-clock" : "cycles");
	snprintf(title, sizeof(title), "%s: %.2f s%s%s", what, r->seconds, rate,
		 o->off_cpu ? ", time off the CPU" : "");
	rc = bb_output_of(write_shown, &shown, a->output, err);
	bb_profile__done(&profile);
	return rc;
}

int bb_cmd_profile(int argc, char **argv, struct bb_err *err)
{
	static struct profile_args a = {
		.record = {.seconds = INFINITY, .sampler = {.freq_hz = 99, .on_cpu = true}},
	};
	struct bb_recording recording = {0};

	bb_usage__parse(&usage, argc, argv, &a);
	int rc = bb_output_check(a.output, err);
	const struct bb_paths *paths = rc ? NULL : bb_paths(err);
	if (!paths)
		return err->code;
	a.record.sampler.object_dir = paths->object_dir;
	a.record.env = a.env.v;
	bb_caller(&a.record.uid, &a.record.gid);
	rc = bb_recording__take(&a.record, &recording, err);
	if (!rc) {
		rc = show(&a, &recording, err);
		bb_recording__done(&recording);
	}
	return rc;
}
