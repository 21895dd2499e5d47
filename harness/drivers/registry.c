/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of drivers, in the order in which lists print them, and the table of triggers. */

#include "drivers/driver.h"
#include "drivers/trigger.h"

static const struct bb_driver *const drivers[] = {
	&bb_driver_step,           &bb_driver_slope,       &bb_driver_parallel,
	&bb_driver_packets,        &bb_driver_hook,        &bb_driver_insitu,
	&bb_driver_insitu_packets, &bb_driver_insitu_http, &bb_driver_insitu_attach,
	&bb_driver_live,           &bb_driver_exact,       &bb_driver_lines,
	&bb_driver_pipeline,       &bb_driver_overhead,    &bb_driver_call,
	&bb_driver_fake,
};

static const struct bb_drive_trigger *const triggers[] = {
	&bb_trigger_page_fault,
	&bb_trigger_test_run,
	&bb_trigger_fire,
};

static struct pair {
	struct bb_driver driver;
	char title[32], doc[256];
} pairs[BB_LEN(drivers) * BB_LEN(triggers)];

static const struct bb_drive_kind *make_pair(const struct bb_driver *instrument,
					     const struct bb_drive_trigger *t, struct pair *p)
{
	struct bb_drive_kind *kind = &p->driver.kind;

	p->driver = *instrument;
	p->driver.trigger = t;
	p->driver.fired_by = t->fired_by;
	snprintf(p->title, sizeof(p->title), "%s by %s", kind->with, t->by);
	snprintf(p->doc, sizeof(p->doc), "%s, and %s", t->doc, kind->doc);
	kind->title = p->title;
	kind->doc = p->doc;
	kind->by_key = "trigger";
	kind->by[0] = t->by;
	memcpy(kind->keys, t->keys, sizeof(kind->keys));
	kind->param = t->param;
	kind->param_default = t->param_default;
	kind->takes_inputs = t->takes_inputs;
	kind->fires = t->fires;
	kind->shares_events = t->shares_events;
	kind->read_only &= t->read_only;
	kind->whole_object &= t->whole_object;
	return kind;
}

void bb_drivers__register(void)
{
	static const struct bb_drive_kind *kinds[BB_LEN(drivers) + BB_LEN(pairs)];
	struct pair *pair = pairs;
	size_t n = 0;

	for (size_t i = 0; i < BB_LEN(drivers); i++) {
		if (!drivers[i]->is_instrument)
			kinds[n++] = &drivers[i]->kind;
		for (size_t t = 0; drivers[i]->is_instrument && t < BB_LEN(triggers); t++)
			kinds[n++] = make_pair(drivers[i], triggers[t], pair++);
	}
	bb_drive_kinds__pass(kinds, n);
}

const struct bb_driver *bb_driver__executed_by(const struct bb_driver *driver)
{
	/* cases cannot be matched if only one of `driver` and the drive `exact` takes inputs */
	if (!driver->trigger || driver->kind.counts ||
	    driver->kind.takes_inputs != driver->trigger->takes_inputs)
		return NULL;
	return bb_driver_of(bb_drive_kind_find("exact", driver->trigger->by));
}

const struct bb_driver *bb_driver__first_executed_by(const struct bb_driver *driver)
{
	if (!driver->trigger || driver->kind.takes_inputs || !driver->trigger->takes_inputs)
		return NULL;
	return bb_driver_of(bb_drive_kind_find("exact", driver->trigger->by));
}
