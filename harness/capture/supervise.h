/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CAPTURE_SUPERVISE_H
#define BB_CAPTURE_SUPERVISE_H

#include "capture/capture.h"

/* When a capture ends. It also ends when the command ends. */
enum bb_capture_until {
	BB_CAPTURE_UNTIL_ATTACHED, /* programs are attached, and no call came for a second */
	BB_CAPTURE_UNTIL_TIME,
	BB_CAPTURE_UNTIL_COMMAND, /* another command has ended */
};

struct bb_capture_opts {
	const char *const *argv; /* ends in NULL */
	const char *dir;         /* where to run it; NULL: here */
	const char *const *env;  /* added to the environment (base/child.h) */
	enum bb_capture_until until;
	double seconds;            /* BB_CAPTURE_UNTIL_TIME */
	const char *until_command; /* for sh -c */
	double budget_s;           /* limit, then -ETIME; 0 means none */
	size_t max_bytes;          /* limit for all map entries; 0 means no entries */
	bool leaves;               /* let the command run on */
	/* true: SIGINT to us ends the capture, which is then returned; false: returns -EINTR */
	bool interrupt_ends;
	void (*say)(const char *line); /* progress */
};

struct bb_capture_facts {
	size_t n_calls; /* system calls that were handled */
	double us_a_call, seconds;
	bool ended; /* the command ended by itself */
	int status; /* of waitpid(), if it ended */
};

/*
 * Runs a command, captures the programs that it loads, and ends it by SIGINT, SIGTERM or SIGKILL.
 * Returns -ENOTSUP if it loaded nothing that can be measured; other errors as bb_watched__start().
 */
int bb_capture_command(const struct bb_capture_opts *opts, struct bb_capture **ret_capture,
		       struct bb_capture_facts *ret_facts, struct bb_err *err);

#endif
