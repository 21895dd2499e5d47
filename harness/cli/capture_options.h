/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_CAPTURE_OPTIONS_H
#define BB_CLI_CAPTURE_OPTIONS_H

#include <stdbool.h>

#include "capture/supervise.h"
#include "cli/options.h"

/* The options that say how a command's programs are captured: of capture and run. */
struct bb_capture_args {
	double seconds;    /* --for; 0: not given */
	const char *until; /* --until CMD; NULL */
	bool until_attached, no_contents;
	double budget_s;        /* as of struct bb_capture_opts */
	uint32_t max_mib;       /* of contents; 0: the default */
	const char *const *env; /* --env of the command that has these options; NULL: none */
};

/* A set of struct bb_usage that goes into a struct bb_capture_args. */
extern const struct bb_option bb_capture_options[];

/* A usage error where they contradict each other, or are given and nothing is captured. */
void bb_capture_args__check(const struct bb_capture_args *a, bool captures);

/* The capture that they ask for, of argv[] (ends in NULL), with progress on stderr. */
struct bb_capture_opts bb_capture_args__opts(const struct bb_capture_args *a,
					     const char *const *argv);

/* Mount tracefs for the command, where it is not mounted (bpf/tracefs.h); says why it cannot be. */
void bb_capture_provide_tracefs(void);

/* Capture the command, with progress on stderr. The others are as of struct bb_capture_opts. */
int bb_capture_args__run(const struct bb_capture_args *a, const char *const *argv, bool leaves,
			 bool interrupt_ends, struct bb_capture **ret_capture, struct bb_err *err);

#endif
