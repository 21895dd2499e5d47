/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CAPTURE_SUPERVISE_H
#define BB_CAPTURE_SUPERVISE_H

#include "capture/capture.h"

/* When a capture ends, if the command has not ended before. */
enum bb_capture_until {
	BB_CAPTURE_UNTIL_ATTACHED, /* it has attached programs, and no call came for a second */
	BB_CAPTURE_UNTIL_TIME,
	BB_CAPTURE_UNTIL_COMMAND, /* another command has ended */
};

struct bb_capture_opts {
	const char *const *argv; /* ends in NULL */
	const char *dir;         /* where to run it; NULL: here */
	const char *const *env;  /* as `also` of base/child.h */
	enum bb_capture_until until;
	double seconds;            /* BB_CAPTURE_UNTIL_TIME */
	const char *until_command; /* for sh -c */
	double budget_s;           /* -ETIME when it is not over by then; 0: no limit */
	size_t max_bytes;          /* of the maps' entries, in all; 0: none */
	bool leaves;               /* let the command run on */
	/* SIGINT to us ends the capture, which is then returned; else it is -EINTR */
	bool interrupt_ends;
	void (*say)(const char *line); /* progress */
};

struct bb_capture_facts {
	size_t n_calls; /* that were looked at */
	double us_a_call, seconds;
	bool ended; /* by itself */
	int status; /* then: as of waitpid() */
};

/*
 * Run a command, capture the programs that it loads, and end it by SIGINT, as its user would, or
 * harder. -ENOTSUP when it loaded nothing that can be measured; otherwise as capture/watched.h.
 */
int bb_capture_command(const struct bb_capture_opts *opts, struct bb_capture **ret_capture,
		       struct bb_capture_facts *ret_facts, struct bb_err *err);

#endif
