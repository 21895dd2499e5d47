/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fire/attach_point.h"

/*
 * A trigger causes an event of the kernel, such as a system call, a page fault or a connection. It
 * is a row of a table and a few lines of code (fire/triggers_*.c). Triggers run in a child process
 * (fire/firer.h) with a private network namespace, whose working folder is a private file system in
 * memory. When this process has ended, everything that triggers made is gone, except for a cgroup,
 * which the site removes. A trigger restores the state that it found, so it can be fired any number
 * of times.
 */
#define BB_FIRING_FDS 6
#define BB_TRIGGER_CALLS 2

struct bb_fire_site;

/* A system call: its number and arguments (fire/triggers.h). */
struct bb_trigger_call {
	enum {
		BB_NO_CALL,
		BB_CALL,
		BB_CALL_MAKES_FD, /* returns a descriptor, which is closed at once */
		/* the kernel refuses the call: programs at its entry and exit run, programs at
		 * other hooks do not */
		BB_CALL_FAILS,
	} kind;
	long nr, args[6];
};

/* An open trigger, in the process that fires. */
struct bb_firing {
	const struct bb_trigger *trigger;
	int fd[BB_FIRING_FDS]; /* -1 means not open; bb_firing__close() closes the descriptors */
	char *page;            /* two pages of memory; the first is a struct bb_firing_page */
	size_t page_bytes;
	/* the calls of the trigger; symbolic arguments are replaced by their values */
	struct bb_trigger_call calls[BB_TRIGGER_CALLS];
	long own;    /* for the trigger's own use */
	pid_t pid;   /* a child process, which bb_firing__close() ends; 0 means none */
	int prog_fd; /* the program, for triggers that attach it or run it; borrowed */
	/* socket to the process that calls a function (fire/firer.h); borrowed; -1 means none */
	int call_fd;
	const struct bb_fire_site *site; /* borrowed */
	/* the program's attach point; borrowed */
	const struct bb_attach_point *point;
};

struct bb_trigger {
	const char *name;
	const char *doc;
	/* words in the names of hooks that the trigger fires, separated by blanks */
	const char *words;
	/* Prepares the trigger. Returns 0 or -errno. NULL: there is nothing to prepare. */
	int (*open)(struct bb_firing *f);
	/* Causes the event once. Returns 0 or -errno. NULL: the event happens anyway when the
	 * program's counters are read. */
	int (*fire)(struct bb_firing *f);
	/* Undoes open(); bb_firing__close() closes the descriptors. NULL: nothing else to undo. */
	void (*close)(struct bb_firing *f);
	/* the calls that bb_trigger__call() makes */
	struct bb_trigger_call calls[BB_TRIGGER_CALLS];
	int option;     /* a number by which rows with the same functions differ */
	bool is_ipv6;   /* true: the trigger's sockets use IPv6, not IPv4 */
	bool on_demand; /* true: fired only if a scenario asks for it */
	/* true: fired only if a scenario asks for the trigger or one of its words is the name of
	 * the hook, because the trigger concerns the whole machine */
	bool only_named;
	/* The kind of attach point that the trigger is for. BB_AT_NOWHERE: all kinds that have no
	 * triggers of their own. */
	enum bb_attach_kind at;
};

/* Returns trigger number `i` of all tables, in the order of trying; NULL after the last. */
const struct bb_trigger *bb_trigger_at(size_t i);

/* The tables of triggers; each ends in a row without a name. */
extern const struct bb_trigger bb_triggers_call[], bb_triggers_memory[], bb_triggers_process[],
	bb_triggers_time[], bb_triggers_file[], bb_triggers_socket[], bb_triggers_cgroup[],
	bb_triggers_function[], bb_triggers_attached[], bb_triggers_xdp[], bb_triggers_tcp[],
	bb_triggers_packet[];

/* Copies the calls of the trigger to f->calls, and replaces symbolic arguments such as FD0
 * (fire/triggers.h) by their values. */
void bb_trigger__resolve_calls(struct bb_firing *f);
/* The fire() of triggers that only make system calls: makes the calls in f->calls. Returns 0 or
 * -errno. */
int bb_trigger__call(struct bb_firing *f);

/* Returns the name of the trigger that the scenario asks for; NULL if it asks for none. */
const char *bb_trigger__asked_for(const struct bb_attach_point *p);

#define BB_TRIGGERS_MOST 512u

/* True if the trigger may be tried at the attach point: it is for this kind of attach point, and
 * the scenario asks for it. If the scenario asks for no trigger, `on_demand` and `only_named` must
 * also allow it. */
bool bb_trigger__is_for(const struct bb_trigger *t, const struct bb_attach_point *p);

/* Compares the words of the trigger with the name of the attach point. Returns 0 if a word equals
 * the name, 1 if a word is part of the name, otherwise 2. */
unsigned int bb_trigger__distance(const struct bb_trigger *t, const struct bb_attach_point *p);
