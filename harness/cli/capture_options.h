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

/* Mount tracefs for the command, where it is not mounted (bpf/attach.h); says why it cannot be. */
void bb_capture_provide_tracefs(void);

/* Capture the command, with progress on stderr. The others are as of struct bb_capture_opts. */
int bb_capture_args__run(const struct bb_capture_args *a, const char *const *argv, bool leaves,
			 bool interrupt_ends, struct bb_capture **ret_capture, struct bb_err *err);

/* A capture that is measured at once and not kept: a file in a folder of its own. Zeroed: none. */
struct bb_captured_file {
	char *object; /* NAME=FILE, for --object */
	int lock_fd;  /* of the folder, while we live (base/leftover.h) */
};

/* The name of a capture of that command: that of the program without its folder. */
void bb_capture_name(const char *program, char *ret_name, size_t size);

/* Capture argv[] (ends in NULL) or, unless NULL, `shell`, a command for sh -c. */
int bb_captured_file__make(const struct bb_capture_args *a, const char *const *argv,
			   const char *shell, struct bb_captured_file *ret_file,
			   struct bb_err *err);
void bb_captured_file__remove(struct bb_captured_file *f);

#endif
