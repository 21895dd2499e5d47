/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/flame.h"

#include "base/deadline.h"

#define TURN_S 0.05 /* time for one case, s (after it the recorder is polled) */
/* most samples of one case's turn (the turn then ends early) */
#define TURN_SAMPLES (1u << 16)

struct flame_run {
	/* copy of the plan with only its cases in situ (`cases` is owned) */
	struct bb_plan plan;
	struct bb_session session;
	struct bb_report *report;     /* needed by the session, not read */
	struct bb_drive_slot **slots; /* slot of each case; NULL if the case cannot run here */
	uint64_t *ns;
	struct bb_recorder *recorder;
};

int bb_flame_check(const struct bb_plan *plan, struct bb_err *err)
{
	if (BB_ANY(plan->cases, plan->n_cases, it->drive->kind->watches_workload))
		return 0;
	return bb_fail(err, -EINVAL,
		       "a flame graph shows the workload of a drive in situ, and no such drive of "
		       "'%s' is measured; `bpfbench profile` samples any process or command",
		       plan->scenario->name);
}

static int record(struct flame_run *f, const struct bb_run_opts *opts,
		  struct bb_recording *ret_recording, struct bb_err *err)
{
	const struct bb_sampler_opts sampler = {
		.object_dir = opts->driver.object_dir,
		.pid = getpid(),
		.freq_hz = BB_FLAME_HZ,
		.on_cpu = true,
		.want_kernel = true,
		.want_user = true,
	};
	char own[BB_PROFILE_COMM] = "";
	struct bb_samples *samples = &ret_recording->samples;
	double done_s = 0;
	int rc = bb_recorder__start(&sampler, &f->recorder, err);

	for (size_t i = 0; !rc && done_s < BB_FLAME_S; i = (i + 1) % f->plan.n_cases) {
		struct bb_batch b = {.ns = f->ns, /* not read */
				     .want = TURN_SAMPLES,
				     .max_s = TURN_S,
				     .drain_each_run = true};

		if (!f->slots[i])
			continue;
		rc = bb_driver__batch(f->slots[i], f->plan.cases[i].driver_param, &b, err);
		done_s += b.elapsed_s;
		if (!rc)
			rc = bb_recorder__poll(f->recorder, 0, err);
		if (bb_stop_signal)
			rc = bb_fail(err, -EINTR,
				     "interrupted by a signal; there is no flame graph");
	}
	if (!rc)
		rc = bb_recorder__finish(f->recorder, ret_recording, err);
	if (rc)
		return rc;
	/* Keeps only the workload's samples. Samples with this process's name are of itself, or of
	 * children that have not yet executed the workload. */
	prctl(PR_GET_NAME, own);
	BB_KEEP(samples->v, samples->n, strncmp(it->comm, own, sizeof(own)));
	return 0;
}

int bb_flame_sample(const struct bb_plan *plan, const struct bb_run_opts *opts,
		    struct bb_recording *ret_recording, struct bb_err *err)
{
	struct flame_run f = {.report = bb_report__new(),
			      .ns = bb_calloc(TURN_SAMPLES, sizeof(*f.ns)),
			      .plan = *plan};
	int rc = bb_flame_check(plan, err);

	f.plan.cases = bb_calloc(plan->n_cases + 1, sizeof(*plan->cases));
	f.plan.n_cases = 0;
	for (size_t i = 0; !rc && i < plan->n_cases; i++)
		if (plan->cases[i].drive->kind->watches_workload)
			f.plan.cases[f.plan.n_cases++] = plan->cases[i];
	if (!rc)
		rc = bb_session__open(&f.plan, opts, f.report, &f.session, err);
	if (!rc)
		f.slots = bb_calloc(f.plan.n_cases, sizeof(*f.slots));
	for (size_t i = 0; !rc && i < f.plan.n_cases; i++) {
		const struct bb_plan_case *c = &f.plan.cases[i];

		if (bb_session__can(&f.session, c))
			rc = bb_driver__attach(f.session.drives[bb_session__drive(&f.session, c)]
						       .state,
					       &f.session.progs[bb_session__variant(&f.session, c)],
					       &f.slots[i], err);
	}
	if (!rc)
		rc = record(&f, opts, ret_recording, err);
	for (size_t i = 0; f.slots && i < f.plan.n_cases; i++)
		bb_driver__detach(f.slots[i]);
	bb_session__close(&f.session);
	bb_recorder__free(f.recorder);
	bb_report__free(f.report);
	free(f.slots);
	free(f.ns);
	bb_plan__done(&f.plan);
	return rc;
}
