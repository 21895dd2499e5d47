/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fire/attach_point.h"

/* A trigger causes an event of the kernel, such as a system call or a page fault, so that a BPF
 * program runs. The trigger runs in a child process (fire/firer.h) that has its own network
 * namespace and working folder. What the trigger makes goes away with this process, except for
 * cgroups. After each firing, the trigger restores the state that it found. So it can be fired any
 * number of times. */
#define BB_FIRING_FDS 6
#define BB_TRIGGER_CALLS 2

struct bb_fire_site;

/* A system call of a trigger. Arguments may be symbolic, such as FD0 (fire/triggers.h). */
struct bb_trigger_call {
	enum {
		BB_NO_CALL,
		BB_CALL,
		BB_CALL_MAKES_FD, /* the call returns a descriptor, which is closed at once */
		/* the kernel refuses the call, so only programs at the call's entry and exit run */
		BB_CALL_FAILS,
	} kind;
	long nr, args[6];
};

/* An open trigger, in the process that fires. */
struct bb_firing {
	const struct bb_trigger *trigger;
	int fd[BB_FIRING_FDS]; /* -1 if not open; bb_firing__close() closes them */
	char *page;            /* two pages; the first is a struct bb_firing_page */
	size_t page_bytes;
	/* the trigger's calls, with values instead of symbolic arguments */
	struct bb_trigger_call calls[BB_TRIGGER_CALLS];
	long own;    /* for the trigger's own use */
	pid_t pid;   /* a child process, which bb_firing__close() ends; 0 if none */
	int prog_fd; /* for triggers that attach or run the program; borrowed */
	/* socket to the process that calls a function (fire/firer.h); borrowed; -1 if none */
	int call_fd;
	const struct bb_fire_site *site; /* borrowed */
	/* borrowed */
	const struct bb_attach_point *point;
};

struct bb_trigger {
	const char *name;
	const char *doc;
	/* words, separated by blanks, from names of hooks at which the trigger makes programs
	 * run */
	const char *words;
	/* Prepares the trigger. Returns 0 or -errno. May be NULL. */
	int (*open)(struct bb_firing *f);
	/* Causes the event once. Returns 0 or -errno. NULL if reading the program's counters
	 * already causes the event. */
	int (*fire)(struct bb_firing *f);
	/* Undoes open(), but does not close fd[]. May be NULL. */
	void (*close)(struct bb_firing *f);
	/* the system calls that bb_trigger__call() makes */
	struct bb_trigger_call calls[BB_TRIGGER_CALLS];
	int option;     /* a number by which rows with the same functions differ */
	bool is_ipv6;   /* true if the trigger's sockets use IPv6 */
	bool on_demand; /* true if the trigger is fired only when a scenario asks for it */
	/* true if the trigger affects the whole machine. It is then tried only if a scenario asks
	 * for it, or if bb_trigger__distance() is 0. */
	bool only_named;
	/* The kind of attach point that the trigger is for. BB_AT_NOWHERE means all kinds whose
	 * bb_attach_facts.has_triggers is false. */
	enum bb_attach_kind at;
};

/* Returns trigger number `i` of all tables, in the order of trying; NULL after the last. */
const struct bb_trigger *bb_trigger_at(size_t i);

/* The tables of triggers; each ends in a row without a name. */
extern const struct bb_trigger bb_triggers_call[], bb_triggers_memory[], bb_triggers_process[],
	bb_triggers_time[], bb_triggers_file[], bb_triggers_socket[], bb_triggers_cgroup[],
	bb_triggers_function[], bb_triggers_attached[], bb_triggers_xdp[], bb_triggers_tcp[],
	bb_triggers_packet[];

/* Copies the trigger's calls to f->calls, with values instead of symbolic arguments. */
void bb_trigger__resolve_calls(struct bb_firing *f);
/* The function `fire` of triggers that only make system calls. Returns 0 or -errno. */
int bb_trigger__call(struct bb_firing *f);

/* Returns the name of the trigger that the scenario asks for at this attach point, or NULL. */
const char *bb_trigger__asked_for(const struct bb_attach_point *p);

#define BB_TRIGGERS_MOST 512u

/* True if the trigger may be tried at `p`. The trigger must be for this kind of attach point. If
 * the scenario asks for a trigger, it must be this one. Otherwise t->on_demand and t->only_named
 * decide. */
bool bb_trigger__is_for(const struct bb_trigger *t, const struct bb_attach_point *p);

/* Compares each word of t->words with the bare name of the hook, such as "openat" of the hook
 * "syscalls/sys_enter_openat". Returns 0 if a word is equal to the bare name, 1 if the bare name
 * contains a word of three or more letters, else 2. */
unsigned int bb_trigger__distance(const struct bb_trigger *t, const struct bb_attach_point *p);
