/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "capture/supervise.h"
#include "cli/options.h"

#define BB_CAPTURE_MIB 256 /* default of max_mib */

/* Options of the commands capture, run and gate. A capture is a file with the BPF programs that
 * another command loaded. */
struct bb_capture_args {
	/* without command, environment and budget, which the caller adds */
	struct bb_capture_opts opts;
	bool until_attached, no_contents;
	uint32_t max_mib; /* most MiB of map contents in a capture; 0 means BB_CAPTURE_MIB */
};

extern const struct bb_option bb_capture_options[];

/* Sets the members of a->opts that follow from the options. Exits with a usage error if options
 * contradict each other, or if one is given and `captures` is false. */
void bb_capture_args__check(struct bb_capture_args *a, bool captures);

/* Mounts tracefs if it is not mounted, because the captured command may need it to attach programs.
 * Prints why if that fails. */
void bb_capture_provide_tracefs(void);

/* Captures the command. Prints on stderr how many programs it loaded, and which of them it attached
 * to no event. If `details`, also prints the time that the capture cost the command. */
int bb_capture_and_say(const struct bb_capture_opts *opts, bool details,
		       struct bb_capture **ret_capture, struct bb_err *err);

/* Names the capture of a command: the first word of `program`, without its folder. */
void bb_capture_name(const char *program, char *ret_name, size_t size);
