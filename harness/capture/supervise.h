/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "capture/capture.h"

/* What ends a capture before the captured command has ended. */
enum bb_capture_until {
	/* after 1 s without watched calls (capture/watched.h), or 5 s if no program is attached */
	BB_CAPTURE_UNTIL_ATTACHED,
	BB_CAPTURE_UNTIL_TIME,
	BB_CAPTURE_UNTIL_COMMAND, /* when the command of --until has ended */
};

struct bb_capture_opts {
	const char *const *argv; /* ends in NULL */
	const char *dir;         /* the command's folder; NULL means ours */
	/* environment variables that the command keeps besides PATH, LANG, TERM and HOME;
	 * NULL-ended */
	const char *const *env;
	enum bb_capture_until until;
	double seconds;            /* for BB_CAPTURE_UNTIL_TIME: length of the capture */
	const char *until_command; /* for BB_CAPTURE_UNTIL_COMMAND: a command for sh -c */
	/* a capture that takes longer fails with -ETIME; 0 means no limit */
	double budget_s;
	/* limit: bytes of all map entries together; 0 means that no entries are captured */
	size_t max_bytes;
	bool leaves; /* true if the command keeps running after the capture */
	/* If true, SIGINT ends the capture. If false, SIGINT aborts it with -EINTR. */
	bool interrupt_ends;
	void (*say)(const char *line); /* shows a message to the user */
};

struct bb_capture_facts {
	size_t n_calls; /* number of the command's watched calls */
	/* mean time to handle a watched call, us; length of the capture */
	double us_a_call, seconds;
	bool ended; /* true if the command ended by itself */
	int status; /* result of waitpid(), if the command ended */
};

/* Runs a command, captures its programs, and ends it unless `leaves` is set. Returns -ENOTSUP if no
 * program can be measured, or an error of bb_watched__start(). */
int bb_capture_command(const struct bb_capture_opts *opts, struct bb_capture **ret_capture,
		       struct bb_capture_facts *ret_facts, struct bb_err *err);

/* A command that runs while its programs are measured. Its watched calls tell which programs in the
 * kernel are its own. A thread of ours handles them, so that the command is not delayed. */
struct bb_follow;

/* argv[] and env[] are as in struct bb_capture_opts, and `silent` as in bb_watched__start(). */
int bb_follow__start(const char *const *argv, const char *const *env, bool silent,
		     struct bb_follow **ret_follow, struct bb_err *err);

/* True if the command loaded the program with this id. A program that it has not attached yet is
 * recognized by name, type and maps. */
bool bb_follow__loaded(struct bb_follow *f, uint32_t id);

/* Returns how many loads the command has asked for. *ret_quiet_s receives the seconds since it last
 * loaded or attached a program. */
size_t bb_follow__n_loads(struct bb_follow *f, double *ret_quiet_s);

/* True if the command has ended. `*ret_status` is then its status as from waitpid(). */
bool bb_follow__ended(struct bb_follow *f, int *ret_status);

/* Returns false if a process of the command does not end. That process is left alone. Accepts
 * NULL. */
bool bb_follow__end(struct bb_follow *f);
