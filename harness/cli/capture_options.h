/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_CAPTURE_OPTIONS_H
#define BB_CLI_CAPTURE_OPTIONS_H

#include "base/std.h"
#include "capture/supervise.h"
#include "cli/options.h"

/* The options that say how a command's programs are captured: of capture and run. */
struct bb_capture_args {
	struct bb_capture_opts opts; /* command, environment, budget and end are the caller's */
	bool until_attached, no_contents;
	uint32_t max_mib; /* of contents; 0: the default */
};

/* A set of struct bb_usage that goes into a struct bb_capture_args. */
extern const struct bb_option bb_capture_options[];

/* Completes a->opts. A usage error where options contradict each other, or are given and nothing is
 * captured. */
void bb_capture_args__check(struct bb_capture_args *a, bool captures);

/* Mount tracefs for the command, where it is not mounted (bpf/attach.h); says why it cannot be. */
void bb_capture_provide_tracefs(void);

/* Capture the command, with progress on stderr. */
int bb_capture_and_say(const struct bb_capture_opts *opts, struct bb_capture **ret_capture,
		       struct bb_err *err);

/* A capture that is measured at once and not kept: a file in a folder of its own. Zeroed: none. */
struct bb_captured_file {
	char *object; /* NAME=FILE, for --object */
	int lock_fd;  /* of the folder, while we live (base/io.h) */
};

/* The name of a capture of that command: that of the program without its folder. */
void bb_capture_name(const char *program, char *ret_name, size_t size);

/* Capture opts->argv or, unless NULL, `shell`, a command for sh -c. */
int bb_captured_file__make(const struct bb_capture_opts *opts, const char *shell,
			   struct bb_captured_file *ret_file, struct bb_err *err);
void bb_captured_file__remove(struct bb_captured_file *f);

#endif
