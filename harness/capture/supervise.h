/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "capture/capture.h"

/* What ends a capture before the captured command has ended. */
enum bb_capture_until {
	/* 1 s after the last watched system call, if programs are attached; 5 s after it, if
	 * programs are loaded but none is attached */
	BB_CAPTURE_UNTIL_ATTACHED,
	BB_CAPTURE_UNTIL_TIME,
	BB_CAPTURE_UNTIL_COMMAND, /* the command of --until has ended */
};

struct bb_capture_opts {
	const char *const *argv; /* the command and its arguments; ends in NULL */
	const char *dir; /* folder in which the command runs; NULL means the current folder */
	/* names of environment variables that the command keeps besides PATH, LANG, TERM and HOME;
	 * ends in NULL */
	const char *const *env;
	enum bb_capture_until until;
	double seconds;            /* BB_CAPTURE_UNTIL_TIME: length of the capture, s */
	const char *until_command; /* BB_CAPTURE_UNTIL_COMMAND: a command for sh -c */
	/* limit: length of the capture, s; a longer one fails with -ETIME; 0 means no limit */
	double budget_s;
	/* limit for all map entries together, bytes; 0 means that no entries are captured */
	size_t max_bytes;
	bool leaves; /* true: the command keeps running after the capture */
	/* True: SIGINT to us ends the capture, and the capture so far is returned. False: SIGINT
	 * aborts it with -EINTR. */
	bool interrupt_ends;
	void (*say)(const char *line); /* called with messages about the progress */
};

struct bb_capture_facts {
	size_t n_calls; /* number of system calls of the command that were handled */
	/* us_a_call: mean time to handle one of these calls, us; seconds: length of the
	 * capture, s */
	double us_a_call, seconds;
	bool ended; /* true if the command ended by itself */
	int status; /* result of waitpid(), if the command ended */
};

/* Runs a command, captures the programs that it loads, and ends it by SIGINT, SIGTERM or SIGKILL.
 * Returns -ENOTSUP if the command loaded nothing that can be measured. Other errors are those of
 * bb_watched__start(). */
int bb_capture_command(const struct bb_capture_opts *opts, struct bb_capture **ret_capture,
		       struct bb_capture_facts *ret_facts, struct bb_err *err);

/* A command that runs while its programs are measured. We watch its system calls to know which
 * programs in the kernel are its own. A thread of ours handles these calls, so that the command
 * does not wait for the measurement. */
struct bb_follow;

/* Starts the command argv[]. It keeps the environment variables that env[] names. Both arrays end
 * in NULL. */
int bb_follow__start(const char *const *argv, const char *const *env, struct bb_follow **ret_follow,
		     struct bb_err *err);

/* True if the command loaded the program with this id. A program that it has not attached yet is
 * recognized by name, type and maps. */
bool bb_follow__loaded(struct bb_follow *f, uint32_t id);

/* Returns the number of loads that the command asked for. `*ret_quiet_s` receives the seconds since
 * its last call that loaded or attached a program. */
size_t bb_follow__n_loads(struct bb_follow *f, double *ret_quiet_s);

/* True if the command has ended by itself; `*ret_status` is then its status as from waitpid(). */
bool bb_follow__ended(struct bb_follow *f, int *ret_status);

/* Ends the command by SIGINT, SIGTERM or SIGKILL. Returns false if a process of it does not end;
 * that process is left alone. Accepts NULL. */
bool bb_follow__end(struct bb_follow *f);
