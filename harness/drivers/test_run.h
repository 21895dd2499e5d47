/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_TEST_RUN_H
#define BB_DRIVERS_TEST_RUN_H

#include <stdbool.h>

#include "bpf/xdp_attach.h"
#include "drivers/cold.h"
#include "drivers/driver.h"
#include "drivers/pmu.h"
#include "drivers/test_call.h"

/*
 * The common part of the drivers by BPF_PROG_TEST_RUN (step and slope): all of struct bb_driver but
 * batch(). XDP programs are attached to a device of our own meanwhile (bpf/xdp_attach.h), so that
 * they are called as in production; up to 48 of them share the dispatcher, a binary search over
 * their addresses, which is at most a compare more a doubling. A live program is left as it is.
 */
struct bb_test_run {
	const struct bb_drive_spec *spec;
	struct bb_driver_opts opts;
	bool repeats; /* the drive needs types that take `repeat` */
	/* open if it repeats: over many runs there is something to count */
	struct bb_pmu pmu;
	struct bb_cold *cold;  /* NULL: caches stay as they are */
	struct bb_xdp_net xdp; /* opened when the first XDP program comes */
};

struct bb_test_run_slot {
	struct bb_target *target;
	int prog_fd; /* the target's program, or a clone of it */
	const struct bb_test_run_type *type;
	bool is_judged; /* runs must give the results that inputs expect: it is no floor */
	bool attached;  /* XDP: to `port` */
	size_t port;
};

int bb_test_run__open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		      void **ret_state, struct bb_err *err);
int bb_test_run__open_repeating(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
				void **ret_state, struct bb_err *err);

/* One run on every input before anything is measured: an input that the kernel refuses is reported
 * at once and by name. */
int bb_test_run__probe(void *state, struct bb_test_prog *subject, struct bb_err *err);
int bb_test_run__attach(void *state, struct bb_test_prog *subject, void **ret_slot,
			struct bb_err *err);
/* Likewise, of `prog_fd` in the program's place. */
int bb_test_run__attach_program(struct bb_test_run *t, struct bb_test_prog *subject, int prog_fd,
				struct bb_test_run_slot **ret_slot, struct bb_err *err);
void bb_test_run__detach(void *state, void *slot);
void bb_test_run__close(void *state);

/* A batch's beginning: pinned to the CPU (`cpu` of the call is refused by most types), the input of
 * that index ready. */
int bb_test_run__aim(const struct bb_test_run *t, const struct bb_test_run_slot *slot,
		     uint32_t input, struct bb_test_call *ret_shot, struct bb_err *err);

/* The keys of every drive by test runs. */
extern const struct bb_drive_key bb_test_run_keys[];

#endif
