/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "drivers/driver.h"

const struct bb_driver *const bb_drivers[] = {
	&bb_driver_step_page_fault,
	&bb_driver_step_test_run,
	&bb_driver_slope,
	&bb_driver_insitu,
	&bb_driver_insitu_packets,
	&bb_driver_insitu_http,
	&bb_driver_insitu_attach,
	&bb_driver_live,
	&bb_driver_exact_page_fault,
	&bb_driver_exact_test_run,
	&bb_driver_pipeline,
	&bb_driver_slowdown,
	&bb_driver_call,
	&bb_driver_fake,
};

const size_t bb_n_drivers = sizeof(bb_drivers) / sizeof(bb_drivers[0]);

static bool is_by(const struct bb_driver *d, const char *word)
{
	for (size_t i = 0; i < sizeof(d->by) / sizeof(d->by[0]) && d->by[i]; i++)
		if (word && !strcmp(d->by[i], word))
			return true;
	return !word || !d->by[0];
}

const struct bb_driver *bb_driver_find(const struct bb_drive_spec *spec)
{
	const char *word = strcmp(spec->with, "in-situ") ? spec->trigger : spec->event;

	for (size_t i = 0; i < bb_n_drivers; i++)
		if (!strcmp(bb_drivers[i]->name, spec->with) && is_by(bb_drivers[i], word))
			return bb_drivers[i];
	return NULL;
}

int bb_pin_to_cpu(int cpu, struct bb_err *err)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return bb_fail(err, -errno, "cannot run on CPU %d: %s; choose another with --cpu",
			       cpu, strerror(errno));
	return 0;
}
