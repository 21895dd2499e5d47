/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/flame.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/output.h"
#include "cli/say_lost.h"
#include "profile/flame.h"
#include "profile/fold.h"
#include "run/flame.h"
#include "store/store.h"

struct flame {
	const struct bb_measure *m;
	struct bb_profile profile;
	char title[256];
};

static int write_folded(void *arg, FILE *out, struct bb_err *err)
{
	const struct flame *f = arg;

	return bb_stacks__write_folded(&f->profile.stacks, out) ? bb_fail_nomem(err) : 0;
}

static int write_svg(void *arg, FILE *out, struct bb_err *err)
{
	const struct flame *f = arg;
	const struct bb_flame_opts opts = {.title = f->title, .unit = "samples"};

	return bb_flame__write(&f->profile.stacks, &opts, out) ? bb_fail_nomem(err) : 0;
}

/* As the file ID.suffix beside the run. */
static int store(struct flame *f, const char *suffix, bb_output_writer writer, struct bb_err *err)
{
	const struct bb_measure *m = f->m;
	char *text = NULL, *name = NULL, *path = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int rc = out ? writer(f, out, err) : bb_fail_nomem(err);

	if (out && fclose(out) && !rc)
		rc = bb_fail_nomem(err);
	if (!rc && asprintf(&name, "%s.%s", m->report->id, suffix) < 0)
		rc = bb_fail_nomem(err);
	if (!rc)
		rc = bb_store__write_text(m->args->results, name, text, len, &path, err);
	if (!rc && !m->args->quiet)
		fprintf(stderr, "bpfbench: %s stored as %s\n",
			writer == write_svg ? "flame graph" : "its stacks", path);
	free(path);
	free(name);
	free(text);
	return rc;
}

static int deliver(struct flame *f, const char *file, struct bb_err *err)
{
	int rc = file ? bb_output_of(write_svg, f, file, err) : store(f, "svg", write_svg, err);

	return rc || f->m->args->no_store ? rc : store(f, "folded", write_folded, err);
}

int bb_flame_of_run(const struct bb_measure *m, const struct bb_plan *plan, const char *file,
		    struct bb_err *err)
{
	struct flame f = {.m = m};
	struct bb_recording r = {0};
	struct bb_fold_opts fold = {.on_cpu_weight = 1, .kernel = &r.kernel};
	int rc;

	if (!m->args->quiet)
		fprintf(stderr, "bpfbench: sampling the workload for the flame graph, %g s\n",
			BB_FLAME_S);
	rc = bb_flame_sample(plan, &m->opts, &r, err);
	if (rc)
		return rc;
	rc = bb_fold(&r.samples, &r.spaces, &fold, &f.profile, err);
	if (!rc) {
		snprintf(f.title, sizeof(f.title), "%s, its workload: %llu samples at %u Hz (%s)",
			 plan->scenario->name, (unsigned long long)f.profile.stacks.total,
			 BB_FLAME_HZ, r.stats.is_cpu_clock ? "cpu-clock" : "cycles");
		if (!m->args->quiet)
			bb_say_lost(&r, &f.profile, true);
		rc = deliver(&f, file, err);
		bb_profile__done(&f.profile);
	}
	bb_recording__done(&r);
	return rc;
}
