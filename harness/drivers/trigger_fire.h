/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/trigger.h"
#include "fire/hook.h"
#include "fire/live_objects.h"

/* The trigger `fire`: causes the event at which a program is attached. A child process causes these
 * events. The child process exists until the slot is detached. The program is attached only during
 * batches. */

struct bb_fire_state {
	struct bb_trigger_state common;
	/* network namespace, cgroup and CPU for firing, shared by all states */
	struct bb_fire_site *site;
	/* kernel objects whose addresses programs get as arguments; NULL if not open yet */
	struct bb_live_objects *live;
	/* Hooks that all child processes use. They stay open, because opening a uprobe takes 20 ms.
	 * All programs at bb_own_function() share two hooks, on its entry and on its return. */
	struct bb_hook **hooks;
	size_t n_hooks;
	struct bb_fire_state *next;
};

/* A program that is attached beside the measured program. */
struct bb_fire_beside {
	const struct bb_target *target;
	/* `hook` points to own_hook or to a hook of struct bb_fire_state, or is NULL */
	struct bb_hook own_hook, *hook;
	int link_fd;
};

struct bb_fire_slot {
	struct bb_attached common;
	struct bb_fire_state *state;
	const struct bb_fire_found *found; /* member `fire` of the measured program */
	/* `hook` points to own_hook or to a hook of struct bb_fire_state, or is NULL */
	struct bb_hook own_hook, *hook;
	struct bb_fire_beside *beside;
	size_t n_beside;
	struct bb_firer firer;
	/* true once the child process has opened the program's rings, and the trigger */
	bool has_rings, is_open;
	struct bb_firing firing;
};

/* Closes the hooks of all open states. Waits until the kernel has freed these hooks, because a
 * remaining hook makes events slower. No attached slot may use one of these hooks. */
void bb_fire__close_hooks(void);

/* Initialises a zeroed slot for a program after bpfbench has found its trigger (prog->fire). Does
 * not attach the program. */
void bb_fire_slot__init(struct bb_fire_slot *slot, struct bb_fire_state *s,
			struct bb_test_prog *prog, int prog_fd);

/* Initialises a slot, starts its process that fires, and opens the hooks. `prog_fd` is the program
 * or its clone, which bb_fire__do() attaches. The work() of bb_fire__do() gets `arg`, and
 * `shared_bytes` bytes of memory that both processes share. Returns 0, or -errno with a message. */
int bb_fire__attach_program(struct bb_fire_state *s, struct bb_test_prog *prog, int prog_fd,
			    void *arg, size_t shared_bytes, struct bb_fire_slot *slot,
			    struct bb_err *err);
void bb_fire__detach_program(struct bb_fire_slot *slot);

/* Attaches the program, calls work() in the child process, and detaches the program. Returns 0 or
 * -errno. */
int bb_fire__do(struct bb_fire_slot *slot,
		int (*work)(void *arg, struct bb_fire_task *t, void *shared), struct bb_err *err);

/* Writes, for example, "open (tracepoint syscalls/sys_enter_openat)", but not which programs are
 * attached beside the measured one. */
void bb_fire__words_alone(const struct bb_input *input, const struct bb_test_prog *prog,
			  char *ret_words, size_t size);

/* In the child process: opens the slot's trigger at the first call. Returns 0 or -errno. */
int bb_fire__trigger(struct bb_fire_slot *slot, struct bb_fire_task *t);

/* arguments.c: chooses the arguments with which bpfbench fires the program. Does nothing unless
 * bpfbench fires the program by calls of bb_own_function() or by test runs. If another program for
 * the same function or event already has a set of arguments (fire/live_objects.h), this program
 * gets the same set, so that a comparison uses the same arguments for both. Otherwise a clone of
 * the program, which counts instructions, runs with each set. The program gets the set with which
 * the clone reaches the most different instructions. If several sets reach equally many, the first
 * of these sets is taken. */
void bb_arguments__choose(struct bb_fire_state *s, struct bb_test_prog *prog);
