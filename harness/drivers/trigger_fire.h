/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/trigger.h"
#include "fire/hook.h"
#include "fire/live_objects.h"

/* The trigger that fires a program where it is attached. The program is attached only during its
 * batches. The process that fires exists until the slot is detached. */

struct bb_fire_state {
	struct bb_trigger_state common;
	struct bb_fire_site *site;    /* shared with all other states; NULL: not open */
	struct bb_live_objects *live; /* NULL: not opened yet */
	/* Hooks that belong to no process. Each is opened once, because a uprobe takes 20 ms.
	 * All programs for functions of the kernel use the same two hooks of our own function. */
	struct bb_hook **hooks;
	size_t n_hooks;
	struct bb_fire_state *next; /* next in the list of open states */
};

/* A program of the same object, attached beside the measured one. */
struct bb_fire_beside {
	const struct bb_target *target;
	/* `hook` points to own_hook, or to a hook that the state keeps open */
	struct bb_hook own_hook, *hook;
	int link_fd;
};

struct bb_fire_slot {
	struct bb_attached common;
	struct bb_fire_state *state;
	const struct bb_fire_found *found; /* part of the program's struct; borrowed */
	/* `hook` points to own_hook, or to a hook that the state keeps open; NULL: none */
	struct bb_hook own_hook, *hook;
	struct bb_fire_beside *beside;
	size_t n_beside;
	struct bb_firer firer;
	bool has_rings, is_open; /* in the child process: has_rings: the target's rings are open;
				    is_open: the trigger is open */
	struct bb_firing firing;
};

/* Closes the hooks that all states keep open, and waits until the kernel has freed them, because
 * a remaining hook costs time. No attached slot may use one. */
void bb_fire__close_hooks(void);
/* Initialises a zeroed slot for a probed program. No process fires it yet, and nothing is
 * attached. */
void bb_fire_slot__init(struct bb_fire_slot *slot, struct bb_fire_state *s,
			struct bb_test_prog *prog, int prog_fd);

/*
 * Prepares a slot and starts the process that fires. `prog_fd` is the program or its clone.
 * bb_fire__do() attaches it.
 * work() of bb_fire__do() gets `arg` and `shared_bytes` bytes of shared memory. Returns 0, or
 * -errno with a message.
 */
int bb_fire__attach_program(struct bb_fire_state *s, struct bb_test_prog *prog, int prog_fd,
			    void *arg, size_t shared_bytes, struct bb_fire_slot *slot,
			    struct bb_err *err);
void bb_fire__detach_program(struct bb_fire_slot *slot);

/* Attaches the program, calls work() in the process that fires, and detaches it again. Returns
 * 0, or -errno with a message. */
int bb_fire__do(struct bb_fire_slot *slot,
		int (*work)(void *arg, struct bb_fire_task *t, void *shared), struct bb_err *err);

/* Writes how the program is fired, for example "open (tracepoint syscalls/sys_enter_openat)".
 * Leaves out the programs that are attached beside it. */
void bb_fire__words_alone(const struct bb_input *input, const struct bb_test_prog *prog,
			  char *ret_words, size_t size);

/* For the child process: opens the slot's trigger at the first call. Returns 0 or -errno. */
int bb_fire__trigger(struct bb_fire_slot *slot, struct bb_fire_task *t);

/*
 * arguments.c: chooses the arguments of a program that a call or a test run of ours fires
 * (BB_AT_OWN_FUNCTION, BB_AT_OWN_RUN). It tries each set of arguments (fire/live_objects.h) on a
 * clone that counts, and keeps in prog->fire.point the first set that reaches the most
 * instructions. If another program of the session for the same function has a set, both share it,
 * so that a comparison uses the same arguments on both sides. If the program cannot be counted, its
 * arguments stay.
 */
void bb_arguments__choose(struct bb_fire_state *s, struct bb_test_prog *prog);
