/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CAPTURE_SECTION_H
#define BB_CAPTURE_SECTION_H

#include "capture/capture.h"

#define BB_NOT_ATTACHED "not attached"

/*
 * The place where the command attached a program (bb_capture__place()), in the words of an object's
 * section: "tp/sched/sched_switch", "fentry/do_unlinkat", "cgroup/connect4". BB_NOT_ATTACHED where
 * none was seen and the program holds none.
 */
struct bb_captured_section {
	char text[320];
};
struct bb_captured_section bb_captured_section(const struct bb_captured_prog *p,
					       const struct bb_captured_attachment *place);

#endif
