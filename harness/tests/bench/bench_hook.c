/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cost of an event at a hook with an empty program, by the drive `hook` as a user calls it: figures
 * with 95 % intervals, without a bound. docs/hooks.md compares them with the kernel's own bench.
 * Two bounds: a uprobe costs more than a tracepoint, and a uretprobe more than a uprobe.
 */
#include <jansson.h>

#include "bench.h"

enum { RAW_TP, TRACEPOINT, UPROBE, URETPROBE, HOOKS };
static const char *const names[HOOKS] = {"raw_tp", "tracepoint", "uprobe", "uretprobe"};

/* Prints a row with the interval, and returns ns per event; NAN: the file has no such case. */
static double row_of(const json_t *bmf, const char *name)
{
	char what[96], path[64], measured[96];
	json_t *latency;
	double ns;

	snprintf(path, sizeof(path), "empty_hooks/%s/hook", name);
	latency = json_object_get(json_object_get(bmf, path), "latency");
	ns = latency ? json_number_value(json_object_get(latency, "value")) : (double)NAN;
	if (latency && json_object_get(latency, "lower_value"))
		snprintf(measured, sizeof(measured), "%.1f ns (%.1f to %.1f)", ns,
			 json_number_value(json_object_get(latency, "lower_value")),
			 json_number_value(json_object_get(latency, "upper_value")));
	else
		snprintf(measured, sizeof(measured), "%.1f ns", ns);
	snprintf(what, sizeof(what), "hook: an empty program on a %s, an event", name);
	bench_row(what, "", latency ? measured : "no figure", "-");
	return ns;
}

static void judge(const char *what, double ratio)
{
	char measured[32];

	snprintf(measured, sizeof(measured), "%.2f", ratio);
	bench_judge(what, "> 1", measured, ratio > 1);
}

int main(int argc, char **argv)
{
	char out[512], object[512];
	const char *const job[] = {"./bpfbench", "--object", object,       "--drive", "hook",
				   "--budget",   "60",       "--no-store", "--quiet", "--format",
				   "bmf",        "--output", out,          NULL};
	const char *build = getenv("O");
	double ns[HOOKS];
	json_t *bmf;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_hook SCRATCH_FOLDER\n");
		return 2;
	}
	snprintf(out, sizeof(out), "%s/hook.json", argv[1]);
	snprintf(object, sizeof(object), "%s/tests/bpf/empty_hooks.bpf.o", build ? build : "build");
	bench_run(job);
	bmf = json_load_file(out, 0, NULL);
	for (int i = 0; i < HOOKS; i++)
		ns[i] = row_of(bmf, names[i]);
	judge("hook: a uprobe / a tracepoint", ns[UPROBE] / ns[TRACEPOINT]);
	judge("hook: a uretprobe / a uprobe", ns[URETPROBE] / ns[UPROBE]);
	json_decref(bmf);
	return 0;
}
