/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/deadline.h"
#include "base/give_way.h"
#include "drivers/driver.h"

/* A drive that fires has a trigger and an instrument. The trigger (trigger_NAME.c) makes the
 * program run, once for each firing. The instrument (step.c, exact.c, lines.c) measures each run.
 * registry.c makes a driver of each pair of an instrument and a trigger. */

/* An open trigger. Each trigger's own struct begins with it. */
struct bb_trigger_state {
	const struct bb_drive_trigger *trigger;
	const struct bb_drive_spec *spec;
	struct bb_driver_opts opts;
	struct bb_cold *cold; /* empties the caches before each firing; NULL if they stay hot */
};

/* An attached program. Each trigger's own struct begins with it. */
struct bb_attached {
	struct bb_trigger_state *state;
	struct bb_target *target;
	int prog_fd; /* the program of `target`, or its clone */
	uint32_t runs_each;
	/* iterators: true if a firing causes one run for each object that the program iterates
	 * over, and no other process causes runs */
	bool takes_all;
	/* another process causes the runs, so a window may have no run */
	bool waits;
};

/* The instrument's part of a batch. Both functions are called in the process that fires. With the
 * trigger `fire`, this is a child process that was forked when the program was attached. So `arg`
 * must point to memory that existed then. Results must go into the batch, or into shared memory. */
struct bb_instrument_part {
	/* Called before the first firing of a batch. Returns 0 or -errno. */
	int (*begin)(const struct bb_attached *a, void *arg, struct bb_batch *b);
	/* Called after each firing. Returns 0 to go on, 1 to end the batch, or -errno. `is_whole`
	 * is false if a signal interrupted the firing. */
	int (*after)(const struct bb_attached *a, void *arg, struct bb_batch *b, bool is_whole);
	void *arg;
	/* true if after() reads the counters by a system call, which makes some programs run
	 * (reading_may_fire) */
	bool reads_counters;
};

struct bb_drive_trigger {
	const char *by;  /* value of the key `trigger` */
	const char *doc; /* beginning of a sentence for --help, without a full stop */
	/* the members `keys` to `whole_object` go into the drive's struct bb_drive_kind */
	struct bb_drive_key keys[BB_DRIVE_KEYS];
	const char *param;
	uint32_t param_default;
	bool takes_inputs, fires, shares_events, read_only, whole_object;
	/* true if the firing may be nothing but the reading of the counters that follows it */
	bool reading_may_fire;
	/* true if a firing may take so long that a batch gets fewer samples than it wants */
	bool may_be_slow;

	/* Sizes of the trigger's own structs, bytes. These are the arguments `state` and `attached`
	 * of the functions. bb_driver__open() and bb_trigger__attach() allocate and zero them.
	 * bb_driver__close() and bb_trigger__detach() free them. */
	size_t state_bytes, attached_bytes;
	/* may be NULL */
	int (*open)(void *state, struct bb_err *err);
	/* Returns 0 if the trigger can fire this program, else -ENOTSUP. May be NULL. */
	int (*probe)(void *state, struct bb_test_prog *prog, struct bb_err *err);
	/* Attaches bb_attached.prog_fd: the program or its clone. The members of struct bb_attached
	 * are already set. If it fails, it leaves nothing attached. */
	int (*attach)(void *attached, struct bb_test_prog *prog, struct bb_err *err);
	/* Fires, and calls the instrument after each firing, until it ends the batch. Returns 0 or
	 * -errno. -ESRCH means that the process that fires has gone. */
	int (*fire)(void *attached, uint32_t param, const struct bb_instrument_part *part,
		    struct bb_batch *b, struct bb_err *err);
	void (*detach)(void *attached);
	/* Writes what makes the program run, such as "a perf event of page faults". May be NULL. */
	void (*fired_by)(const struct bb_input *input, const struct bb_test_prog *prog,
			 char *ret_words, size_t size);
	/* Also called if open() failed midway. */
	void (*close)(void *state);
};

extern const struct bb_drive_trigger bb_trigger_page_fault, bb_trigger_test_run, bb_trigger_fire;

/* `prog_fd` is the program or a clone of it. */
int bb_trigger__attach(struct bb_trigger_state *s, struct bb_test_prog *prog, int prog_fd,
		       struct bb_attached **ret_attached, struct bb_err *err);
void bb_trigger__detach(struct bb_attached *a); /* `a` may be NULL */

/* If `rc` is -ESRCH (the process that fires has gone), makes the batch void, with the message of
 * `err` as the reason, and returns 0. Otherwise returns `rc`. */
int bb_batch__void_if_gone(struct bb_batch *b, int rc, const struct bb_err *err);

/* A driver that fires calls bb_batch__warms_up() or bb_batch__goes_on() before every run. */

/* Longest time of the warm-up. A first run that takes longer needs no warm-up, and is a sample. */
#define BB_WARMUP_S 0.1
#define BB_WARMUP_NS 100000000u

/* True if the warm-up needs another run. `done` runs were made since `began_ns`. */
static inline bool bb_batch__warms_up(const struct bb_batch *b, size_t done, uint64_t began_ns,
				      double most_s)
{
	double had_s = bb_seconds_since(began_ns);

	if (done && had_s > BB_WARMUP_S)
		bb_give_way();
	return done < b->warmup && !bb_must_end() && (!done || had_s < most_s);
}

/* True if the batch needs another sample. After max_s, this is so only if it has none yet. */
static inline bool bb_batch__goes_on(const struct bb_batch *b, uint64_t began_ns)
{
	double had_s = bb_seconds_since(began_ns);

	/* a batch that takes so long has slow runs; let other processes run between two of them */
	if (b->fired && had_s > BB_WARMUP_S)
		bb_give_way();
	return b->fired < b->want && !bb_must_end() &&
	       (!(b->max_s > 0) || !b->fired || had_s < b->max_s);
}
