/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "capture/capture.h"

/* When a capture ends. It also ends when the command ends. */
enum bb_capture_until {
	BB_CAPTURE_UNTIL_ATTACHED, /* programs are attached, and no call came for a second */
	BB_CAPTURE_UNTIL_TIME,
	BB_CAPTURE_UNTIL_COMMAND, /* the command of --until has ended */
};

struct bb_capture_opts {
	const char *const *argv; /* ends in NULL */
	const char *dir;         /* folder in which the command runs; NULL: the current folder */
	/* names of more environment variables that the command keeps (base/child.h) */
	const char *const *env;
	enum bb_capture_until until;
	double seconds;            /* BB_CAPTURE_UNTIL_TIME: length of the capture, s */
	const char *until_command; /* BB_CAPTURE_UNTIL_COMMAND: a command for sh -c */
	double budget_s; /* longest time, s, after which -ETIME is returned; 0 means no limit */
	/* limit for all map entries together, bytes; 0 means that no entries are captured */
	size_t max_bytes;
	bool leaves; /* leave the command running after the capture */
	/* SIGINT to us ends the capture, which is then returned. False: SIGINT aborts it with
	 * -EINTR. */
	bool interrupt_ends;
	void (*say)(const char *line); /* called with messages about the progress */
};

struct bb_capture_facts {
	size_t n_calls; /* number of system calls that were handled */
	double us_a_call, seconds;
	bool ended; /* the command ended by itself */
	int status; /* result of waitpid(), if the command ended */
};

/* Runs a command, captures the programs that it loads, and ends it by SIGINT, SIGTERM or SIGKILL.
 * Returns -ENOTSUP if it loaded nothing that can be measured; other errors as bb_watched__start().
 */
int bb_capture_command(const struct bb_capture_opts *opts, struct bb_capture **ret_capture,
		       struct bb_capture_facts *ret_facts, struct bb_err *err);
