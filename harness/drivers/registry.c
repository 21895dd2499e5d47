/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The drivers there are: a row each. */
#include "drivers/driver.h"

const struct bb_drive_kind *const bb_drive_kinds[] = {
	&bb_driver_step_page_fault.kind,
	&bb_driver_step_test_run.kind,
	&bb_driver_step_fire.kind,
	&bb_driver_slope.kind,
	&bb_driver_hook.kind,
	&bb_driver_insitu.kind,
	&bb_driver_insitu_packets.kind,
	&bb_driver_insitu_http.kind,
	&bb_driver_insitu_attach.kind,
	&bb_driver_live.kind,
	&bb_driver_exact_page_fault.kind,
	&bb_driver_exact_test_run.kind,
	&bb_driver_exact_fire.kind,
	&bb_driver_lines_page_fault.kind,
	&bb_driver_lines_test_run.kind,
	&bb_driver_lines_fire.kind,
	&bb_driver_pipeline.kind,
	&bb_driver_slowdown.kind,
	&bb_driver_call.kind,
	&bb_driver_fake.kind,
};

const size_t bb_n_drive_kinds = sizeof(bb_drive_kinds) / sizeof(bb_drive_kinds[0]);
