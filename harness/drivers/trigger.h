/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/deadline.h"
#include "base/give_way.h"
#include "drivers/driver.h"

/* A drive that fires has a trigger and an instrument. The trigger (trigger_NAME.c) makes the
 * program run, once for each firing. The instrument (step.c, exact.c, lines.c) measures each run.
 * Every instrument works with every trigger: registry.c makes a driver of each pair. */

/* An open trigger. Each trigger defines a struct of its own, whose first member is this struct. */
struct bb_trigger_state {
	const struct bb_drive_trigger *trigger;
	const struct bb_drive_spec *spec;
	struct bb_driver_opts opts;
	struct bb_cold *cold; /* empties the caches before each firing; NULL: the caches stay hot */
};

/* An attached program. Each trigger defines a struct of its own, whose first member is this
 * struct. */
struct bb_attached {
	struct bb_trigger_state *state;
	struct bb_target *target;
	/* descriptor of the program of `target` or of a clone of this program */
	int prog_fd;
	uint32_t runs_each; /* runs that one firing causes */
	/* true (iterators): a firing causes one run for each object that the program iterates over,
	 * and other processes cause no runs */
	bool takes_all;
	/* true: another process causes the runs, not our firings, so a window may have no run */
	bool waits;
};

/* The instrument's part of a batch. Both functions are called in the process that fires. With the
 * trigger `fire` this is a child process, which was forked when the program was attached. So `arg`
 * must point to memory that existed then, and results must go into the batch, or into memory that
 * both processes share. */
struct bb_instrument_part {
	/* Called before the first firing of the batch. Returns 0 or -errno. */
	int (*begin)(const struct bb_attached *a, void *arg, struct bb_batch *b);
	/* Called after each firing. Returns 0 to go on, 1 to end the batch, or -errno. `is_whole`
	 * is false if a signal interrupted the firing. */
	int (*after)(const struct bb_attached *a, void *arg, struct bb_batch *b, bool is_whole);
	void *arg;
	/* true: after() reads the counters by a system call, which makes some programs run */
	bool reads_counters;
};

struct bb_drive_trigger {
	const char *by;  /* value of the key `trigger` */
	const char *doc; /* beginning of a sentence for --help, without a full stop */
	/* the members from `keys` to `whole_object` go into the struct bb_drive_kind of each drive
	 * with this trigger */
	struct bb_drive_key keys[BB_DRIVE_KEYS];
	const char *param;
	uint32_t param_default;
	bool takes_inputs, fires, shares_events, read_only, whole_object;
	/* true: a firing may take so long that a batch gets fewer samples than it wants */
	bool may_be_slow;

	/* Sizes of the trigger's own structs, bytes. bb_driver__open() and bb_trigger__attach()
	 * allocate and zero these structs; bb_driver__close() and bb_trigger__detach() free them.
	 * They are the arguments `state` and `attached` of the functions. */
	size_t state_bytes, attached_bytes;
	/* Returns 0 or -errno. NULL: there is nothing to open. */
	int (*open)(void *state, struct bb_err *err);
	/* Returns 0 if the trigger can fire this program, else -ENOTSUP with the reason. NULL:
	 * it can fire any program. */
	int (*probe)(void *state, struct bb_test_prog *prog, struct bb_err *err);
	/* Attaches bb_attached.prog_fd: the program or its clone. The members of struct bb_attached
	 * are already set. If it fails, it leaves nothing attached. */
	int (*attach)(void *attached, struct bb_test_prog *prog, struct bb_err *err);
	/* Fires, and calls the instrument after each firing, until the instrument ends the batch.
	 * Returns 0 or -errno; -ESRCH with a message if the process that fires has gone. */
	int (*fire)(void *attached, uint32_t param, const struct bb_instrument_part *part,
		    struct bb_batch *b, struct bb_err *err);
	void (*detach)(void *attached);
	/* Writes what makes the program run, such as "a perf event of page faults", as fired_by()
	 * of struct bb_driver does. NULL: nothing is written. */
	void (*fired_by)(const struct bb_input *input, const struct bb_test_prog *prog,
			 char *ret_words, size_t size);
	/* Undoes open(), even if open() failed midway. */
	void (*close)(void *state);
};

extern const struct bb_drive_trigger bb_trigger_page_fault, bb_trigger_test_run, bb_trigger_fire;

/* Attaches `prog_fd`, which is the program or a clone of it. Returns 0 or -errno. */
int bb_trigger__attach(struct bb_trigger_state *s, struct bb_test_prog *prog, int prog_fd,
		       struct bb_attached **ret_attached, struct bb_err *err);
void bb_trigger__detach(struct bb_attached *a); /* accepts NULL */

/* Returns `rc`, but 0 for -ESRCH (the process that fires has gone): then makes the batch void, with
 * the message of `err` as the reason. */
int bb_batch__void_if_gone(struct bb_batch *b, int rc, const struct bb_err *err);

/* The limits of a batch, for drivers that fire. Such a driver calls one of the two functions below
 * before every run of the program. */

/* Longest time of the warm-up. If the first run alone takes longer, it is a sample, because so long
 * a run needs no warm-up. */
#define BB_WARMUP_S 0.1
#define BB_WARMUP_NS 100000000u

/* True if the warm-up needs another run. `done` runs were made since `began_ns`; the warm-up may
 * take `most_s` seconds. */
static inline bool bb_batch__warms_up(const struct bb_batch *b, size_t done, uint64_t began_ns,
				      double most_s)
{
	double had_s = bb_seconds_since(began_ns);

	if (done && had_s > BB_WARMUP_S)
		bb_give_way();
	return done < b->warmup && !bb_must_end() && (!done || had_s < most_s);
}

/* True if the batch needs another sample. When max_s is over, the batch goes on only if it has no
 * sample yet. */
static inline bool bb_batch__goes_on(const struct bb_batch *b, uint64_t began_ns)
{
	double had_s = bb_seconds_since(began_ns);

	/* a batch that takes so long has slow runs; let other processes run between two of them */
	if (b->fired && had_s > BB_WARMUP_S)
		bb_give_way();
	return b->fired < b->want && !bb_must_end() &&
	       (!(b->max_s > 0) || !b->fired || had_s < b->max_s);
}
