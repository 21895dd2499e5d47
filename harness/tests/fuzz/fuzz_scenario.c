/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a scenario (YAML) and makes the plan of it. */
#include "fuzz/fuzz.h"

#include "plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bb_scenario *s = NULL;
	struct bb_plan plan;
	struct bb_err err = {0};

	if (bb_scenario__parse((const char *)data, size, "fuzz.yml", &s, &err))
		return 0;
	if (!bb_plan__make(s, &(struct bb_plan_opts){0}, &plan, &err)) {
		for (size_t i = 0; i < plan.n_cases; i++)
			fuzz_touch(bb_plan_case__below_variant(&plan.cases[i]),
				   strlen(bb_plan_case__below_variant(&plan.cases[i])));
		bb_plan__done(&plan);
	}
	bb_scenario__free(s);
	return 0;
}
