/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_TRIGGER_H
#define BB_DRIVERS_TRIGGER_H

#include "drivers/driver.h"

/*
 * A drive that fires has a trigger and an instrument. The trigger (trigger_NAME.c) makes the
 * program run; the instrument (step.c, exact.c, lines.c) measures each run. Every instrument works
 * with every trigger: registry.c makes a driver of each pair.
 */

/* An open trigger: the first member of its own struct. */
struct bb_trigger_state {
	const struct bb_drive_trigger *trigger;
	const struct bb_drive_spec *spec;
	struct bb_driver_opts opts;
	struct bb_cold *cold; /* NULL: caches stay as they are */
};

/* A program where it is fired: the first member of the trigger's own struct. */
struct bb_attached {
	struct bb_trigger_state *state;
	struct bb_target *target;
	int prog_fd;        /* the target's program, or a clone of it */
	uint32_t runs_each; /* that one firing brings */
	bool takes_all;     /* or as many as there are things to go over, all of which are ours */
	bool waits; /* a process fires it when it likes: a firing of ours may bring no run */
};

/*
 * The instrument's part of a batch. Both functions are called in the process that fires, which was
 * forked when the program was attached: `arg` is memory of before then, and all that is to come
 * back is in the batch or in memory that both processes see.
 */
struct bb_instrument_part {
	/* Before the first firing. 0 or -errno. */
	int (*begin)(const struct bb_attached *a, void *arg, struct bb_batch *b);
	/* Behind each firing: 0 to go on, 1 to end, or -errno. A run that is not whole was broken
	 * off by a signal. */
	int (*after)(const struct bb_attached *a, void *arg, struct bb_batch *b, bool is_whole);
	void *arg;
	/* after() reads the counters of the program, which makes some programs run */
	bool reads_counters;
};

struct bb_drive_trigger {
	const char *by;  /* the value of the key `trigger` */
	const char *doc; /* the beginning of a sentence for --help */
	/* see struct bb_drive_kind */
	const struct bb_drive_key *keys;
	const char *param;
	uint32_t param_default;
	bool takes_inputs, fires, shares_events, read_only, whole_object;
	/* a firing may take so long that a batch has fewer samples than it wants */
	bool may_be_slow;

	size_t state_bytes; /* of its own struct */
	/* All else than bb_trigger__open() has filled in; NULL: there is nothing. */
	int (*open)(struct bb_trigger_state *s, struct bb_err *err);
	/* Can it fire this program? NULL: any. -ENOTSUP with the reason. */
	int (*probe)(struct bb_trigger_state *s, struct bb_test_prog *subject, struct bb_err *err);
	int (*attach)(struct bb_trigger_state *s, struct bb_test_prog *subject, int prog_fd,
		      struct bb_attached **ret_attached, struct bb_err *err);
	/* Fire again and again. -ESRCH with a message: the process that fired is gone. */
	int (*fire)(struct bb_attached *a, uint32_t param, const struct bb_instrument_part *part,
		    struct bb_batch *b, struct bb_err *err);
	void (*detach)(struct bb_attached *a);
	/* as of struct bb_driver */
	void (*fired_by)(const struct bb_test_prog *subject, char *ret_words, size_t size);
	void (*close)(struct bb_trigger_state *s); /* what open() has opened, half of it perhaps */
};

extern const struct bb_drive_trigger bb_trigger_page_fault, bb_trigger_test_run, bb_trigger_fire;

/* The trigger of a drive, as struct bb_driver has these functions. */
int bb_trigger__open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		     void **ret_state, struct bb_err *err);
int bb_trigger__probe(void *state, struct bb_test_prog *subject, struct bb_err *err);
void bb_trigger__close(void *state);

/* What a batch returns for `rc`: 0 for -ESRCH, whose message makes the batch void. */
int bb_batch__void_if_gone(struct bb_batch *b, int rc, const struct bb_err *err);

#endif
