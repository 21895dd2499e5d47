/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_FIRE_H
#define BB_DRIVERS_FIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/cold.h"
#include "drivers/driver.h"
#include "fire/firer.h"
#include "fire/hook.h"
#include "fire/live_objects.h"

/*
 * The common part of the drivers that fire a program where it is attached: all of struct bb_driver
 * but batch(). The program is on its hook while a batch of it runs and no longer; the process that
 * fires lives as long as the slot.
 */
#define BB_FIRE_BATCH_MOST 4096u /* samples */

struct bb_fire_state {
	const struct bb_drive_spec *spec;
	struct bb_driver_opts opts;
	struct bb_fire_place *place;  /* shared with all others */
	struct bb_cold *cold;         /* NULL: caches stay as they are */
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
	struct bb_fire_state *state;
	struct bb_target *target;
	const struct bb_fire_found *found; /* of the subject */
	int prog_fd;                       /* the target's program, or a clone of it */
	struct bb_hook own_hook, *hook;    /* hook: that one, or the state's; NULL: none */
	struct bb_fire_beside *beside;
	size_t n_beside;
	struct bb_firer firer;
	bool has_rings, is_open; /* in the child: those of the target, the trigger */
	struct bb_firing firing;
};

/* The part of the memory of a slot that both processes see. */
struct bb_fire_shared {
	struct bb_batch batch; /* its arrays are those behind it */
	uint64_t ns[BB_FIRE_BATCH_MOST], paths[BB_FIRE_BATCH_MOST];
	int trigger_rc;   /* the last -errno of firing it */
	uint64_t refused; /* firings that ended so */
};

int bb_fire__open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		  void **ret_state, struct bb_err *err);
/* Close the hooks that all states keep open, and wait until they have gone: what stays there costs
 * time. No slot is attached that uses one. */
void bb_fire__close_hooks(void);
/* Finds the trigger, once for each subject. */
int bb_fire__probe(void *state, struct bb_test_prog *subject, struct bb_err *err);
int bb_fire__attach(void *state, struct bb_test_prog *subject, void **ret_slot, struct bb_err *err);
void bb_fire__detach(void *state, void *slot);
void bb_fire__close(void *state);

/* Likewise, into a slot, of `prog_fd` in the program's place; `arg` and so many bytes of shared
 * memory are what work() is given. */
int bb_fire__attach_program(void *state, struct bb_test_prog *subject, int prog_fd, void *arg,
			    size_t shared_bytes, struct bb_fire_slot *slot, struct bb_err *err);
void bb_fire__detach_program(struct bb_fire_slot *slot);

/* The program on its hook, work() done, and off again. */
int bb_fire__do(struct bb_fire_slot *slot,
		int (*work)(void *arg, struct bb_fire_task *t, void *shared), struct bb_err *err);

/* The same with the batch in the shared memory, and off again. */
int bb_fire__batch(struct bb_fire_slot *slot,
		   int (*work)(void *arg, struct bb_fire_task *t, void *shared), struct bb_batch *b,
		   struct bb_err *err);

/* "open (tracepoint syscalls/sys_enter_openat)" */
void bb_fire__words(const struct bb_test_prog *subject, char *ret_words, size_t size);
/* The same where the others of its object are not attached beside it. */
void bb_fire__words_alone(const struct bb_test_prog *subject, char *ret_words, size_t size);

/* In the child: the slot's trigger, opened when it is first asked for. 0 or -errno. */
int bb_fire__trigger(struct bb_fire_slot *slot, struct bb_fire_task *t);

extern const struct bb_drive_key bb_fire_keys[];

#endif
