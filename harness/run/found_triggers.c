/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/found_triggers.h"

#include "run/session.h"

/* Those are for places that a scenario does not name. */
static bool is_own(const struct bb_fire_found *f)
{
	return f->point.kind == BB_AT_OWN_FUNCTION || f->point.kind == BB_AT_OWN_RUN;
}

int bb_find_triggers(const struct bb_scenario *scenario, const struct bb_run_opts *opts,
		     struct bb_report *report, const char **ret_triggers, struct bb_err *err)
{
	const struct bb_plan_opts all = {0};
	struct bb_session session;
	struct bb_plan plan;
	int rc = bb_plan__make(scenario, &all, &plan, err);

	if (rc)
		return rc;
	rc = bb_session__open(&plan, opts, report, &session, err);
	for (size_t i = 0; !rc && i < scenario->n_variants; i++) {
		const struct bb_fire_found *f = &session.subjects[i].fire;

		ret_triggers[i] = f->trigger && !is_own(f) ? f->trigger->name : NULL;
	}
	if (!rc)
		bb_session__close(&session);
	bb_plan__done(&plan);
	return rc;
}
