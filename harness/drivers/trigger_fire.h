/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_TRIGGER_FIRE_H
#define BB_DRIVERS_TRIGGER_FIRE_H

#include "base/std.h"
#include "drivers/trigger.h"
#include "fire/firer.h"
#include "fire/hook.h"
#include "fire/live_objects.h"

/*
 * The trigger that fires a program where it is attached. The program is on its hook while a batch
 * of it runs and no longer; the process that fires stays until the slot is closed.
 */

struct bb_fire_state {
	struct bb_trigger_state common;
	struct bb_fire_site *site;    /* shared with all others; NULL: not open */
	struct bb_live_objects *live; /* NULL: not needed yet */
	/* hooks that are of no process, each opened once: a uprobe takes 20 ms; all programs of
	 * functions of the kernel use the same two of our own function */
	struct bb_hook **hooks;
	size_t n_hooks;
	struct bb_fire_state *next; /* of those that are open */
};

/* A program of the same object that is attached beside the one that is measured. */
struct bb_fire_beside {
	const struct bb_target *target;
	struct bb_hook own_hook, *hook; /* hook: that one, or the state's */
	int link_fd;
};

struct bb_fire_slot {
	struct bb_attached common;
	struct bb_fire_state *state;
	const struct bb_fire_found *found; /* of the program */
	struct bb_hook own_hook, *hook;    /* hook: that one, or the state's; NULL: none */
	struct bb_fire_beside *beside;
	size_t n_beside;
	struct bb_firer firer;
	bool has_rings, is_open; /* in the child: those of the target, the trigger */
	struct bb_firing firing;
};

/* Close the hooks that all states keep open, and wait until they have gone: what stays there costs
 * time. No slot is attached that uses one. */
void bb_fire__close_hooks(void);
/* probe() of the trigger: finds, once for each program, what fires it. `state` is a struct
 * bb_fire_state. */
int bb_fire__probe(void *state, struct bb_test_prog *prog, struct bb_err *err);

/* A zeroed slot of a probed program: no process fires it yet, and nothing is attached. */
void bb_fire_slot__init(struct bb_fire_slot *slot, struct bb_fire_state *s,
			struct bb_test_prog *prog, int prog_fd);

/* The program, or its clone `prog_fd`, into a slot; `arg` and so many bytes of shared memory are
 * what work() is given. */
int bb_fire__attach_program(struct bb_fire_state *s, struct bb_test_prog *prog, int prog_fd,
			    void *arg, size_t shared_bytes, struct bb_fire_slot *slot,
			    struct bb_err *err);
void bb_fire__detach_program(struct bb_fire_slot *slot);

/* The program on its hook, work() done, and off again. */
int bb_fire__do(struct bb_fire_slot *slot,
		int (*work)(void *arg, struct bb_fire_task *t, void *shared), struct bb_err *err);

/* "open (tracepoint syscalls/sys_enter_openat)", where the others of its object are not attached
 * beside it. */
void bb_fire__words_alone(const struct bb_input *input, const struct bb_test_prog *prog,
			  char *ret_words, size_t size);

/* In the child: the slot's trigger, opened when it is first asked for. 0 or -errno. */
int bb_fire__trigger(struct bb_fire_slot *slot, struct bb_fire_task *t);

/*
 * arguments.c: for a program that is fired by a call or a test run of ours (BB_AT_OWN_FUNCTION,
 * BB_AT_OWN_RUN): tries each set of arguments (fire/live_objects.h) on a clone that counts, and
 * keeps in prog->fire.point the first of those with which it executes the most of its
 * instructions. Another program of the session for the same function has its set already, and they
 * share it: a comparison has the same arguments on both sides. Where nothing can be counted, the
 * arguments stay as they are.
 */
void bb_arguments__choose(struct bb_fire_state *s, struct bb_test_prog *prog);

#endif
