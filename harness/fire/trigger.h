/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_TRIGGER_H
#define BB_FIRE_TRIGGER_H

#include "base/std.h"
#include "fire/attach_point.h"

/*
 * A trigger does one thing that makes events of the kernel happen: a system call, a page fault, a
 * connection. It is a few lines of code and a row of a table (fire/triggers_*.c). All of them run
 * in a process of their own (fire/firer.h), whose working folder is a file system of its own in
 * memory and whose network nobody else has; whatever they make is gone when that process ends. They
 * can be repeated without end: each leaves things as they were.
 */
#define BB_FIRING_FDS 6
#define BB_TRIGGER_CALLS 2

struct bb_fire_user;

/* A system call: its number and arguments (fire/triggers.h). */
struct bb_trigger_call {
	enum {
		BB_NO_CALL,
		BB_CALL,
		BB_CALL_MAKES_FD, /* it returns a descriptor, which is closed at once */
		/* it is refused: the hook runs, but what is behind it does not */
		BB_CALL_FAILS,
	} kind;
	long nr, args[6];
};

struct bb_firing {
	const struct bb_trigger *trigger;
	int fd[BB_FIRING_FDS]; /* -1: not open; those that are open are closed for the trigger */
	char *page;            /* two pages of memory of ours, there (struct bb_firing_page) */
	size_t page_bytes;
	struct bb_trigger_call
		calls[BB_TRIGGER_CALLS]; /* the trigger's, with what they are for here */
	long own;                        /* for the trigger to keep something in */
	int other_cpu;                   /* where a partner may run; -1: none */
	pid_t pid;                       /* a child of ours; 0: none */
	int prog_fd;   /* of the program, for triggers that attach it themselves; borrowed */
	int cgroup_fd; /* the folder of our cgroup; borrowed; -1: there is none */
	/* of the process that calls a function (fire/firer.h); borrowed; -1: there is none */
	int call_fd;
	const struct bb_fire_user *user; /* that a command runs as */
	/* BB_AT_OWN_FUNCTION: of the function that is called in its place */
	const struct bb_attach_point *point;
};

struct bb_trigger {
	const char *name;
	const char *doc;
	/* words in the names of hooks that it fires, between blanks: "openat do_filp_open" */
	const char *words;
	int (*open)(struct bb_firing *f); /* 0 or -errno; NULL: nothing is needed */
	int (*fire)(struct bb_firing *f); /* 0 or -errno; NULL: reading the counters is the event */
	void (*close)(struct bb_firing *f); /* NULL: the descriptors are all that there is */
	struct bb_trigger_call calls[BB_TRIGGER_CALLS]; /* of bb_trigger__call() */
	bool is_ipv6;                                   /* of sockets */
	bool on_demand;                                 /* only a scenario asks for it */
	/* it is for attach points of this kind alone, which no other trigger is for: it attaches
	 * the program itself; BB_AT_NOWHERE: it is for all others */
	enum bb_attach_kind at;
};

/* All of them, the cheapest first; NULL behind the last. */
const struct bb_trigger *bb_trigger_at(size_t i);

/* The tables that they stand in, each ends in a row without a name. */
extern const struct bb_trigger bb_triggers_call[], bb_triggers_memory[], bb_triggers_process[],
	bb_triggers_time[], bb_triggers_file[], bb_triggers_socket[], bb_triggers_cgroup[],
	bb_triggers_function[], bb_triggers_attached[], bb_triggers_xdp[], bb_triggers_tcp[],
	bb_triggers_packet[];

/* Fill in what its calls are for here, when it is opened. */
void bb_trigger__resolve_calls(struct bb_firing *f);
/* A trigger that is these calls. 0 or -errno. */
int bb_trigger__call(struct bb_firing *f);

/* The name of the only trigger that the scenario lets make it run; NULL: it asks for none. */
const char *bb_trigger__asked_for(const struct bb_attach_point *p);

#define BB_TRIGGERS_MOST 512u

bool bb_trigger__is_for(const struct bb_trigger *t, const struct bb_attach_point *p);

/*
 * How near the trigger is to what the attach point's name says: 0: its own word, 1: its word is
 * part of the name, 2: nothing says so.
 */
unsigned int bb_trigger__distance(const struct bb_trigger *t, const struct bb_attach_point *p);

#endif
