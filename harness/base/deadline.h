/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The signal that asked us to stop (SIGINT, SIGTERM, SIGHUP), or 0. The signal handler sets it, and
 * long loops read it. Code that goes on after a signal sets it to 0 again. */
extern volatile sig_atomic_t bb_stop_signal;

/* Installs handlers of SIGINT, SIGTERM and SIGHUP that set bb_stop_signal. With `second_kills`, a
 * second signal of the same kind kills the process. From now on SIGPIPE and SIGXFSZ are ignored. */
void bb_stop__install(bool second_kills);

/* Sets the message "stopped by signal 2 (Interrupt)" + `doing` + `what`. Returns -EINTR. */
int bb_fail_stopped(struct bb_err *err, const char *doing, const char *what);

/*
 * The time until which the process may measure. Deadlines nest, and the earliest one counts. For
 * example, the deadline of the whole run lies around that of a single drive.
 *
 * After the deadline or a stop signal, SIGALRM comes every 20 ms until the outermost deadline ends,
 * and breaks off long system calls. A test run with a `repeat` fails with EINTR
 * (net/bpf/test_run.c, bpf_test_timer_continue). Loading a program fails with EAGAIN
 * (kernel/bpf/verifier.c, do_check), and libbpf then tries again at most 5 times.
 */
struct bb_deadline {
	/* time of the deadline around this one, CLOCK_MONOTONIC; 0 without one */
	uint64_t outer_ns;
};

extern volatile sig_atomic_t bb_deadline_has_passed;

/* Begins a deadline that passes `seconds` from now, or never if `seconds` is 0. bb_deadline__end()
 * ends it in both cases. */
void bb_deadline__begin(struct bb_deadline *ret_deadline, double seconds);
void bb_deadline__end(const struct bb_deadline *d);

/* Touches the signal handler's memory now, so that it causes no page fault later. */
void bb_deadline_touch(void);

/* Returns the seconds until the earliest deadline: 0 if it has passed, INFINITY without one. */
double bb_deadline_left_s(void);

/* True if measuring must end. Every long loop calls this in each iteration. */
static inline bool bb_must_end(void)
{
	return bb_deadline_has_passed || bb_stop_signal;
}

/* Returns -EINTR after a stop signal, -ETIME after the deadline, or 0 if measuring may go on. */
int bb_must_end_why(void);

/* `rc` is the result of a function that a signal can break off. Returns bb_must_end_why() if
 * measuring must end and `rc` is -EINTR, -EAGAIN or -ETIME. Otherwise returns `rc`. */
int bb_unless_broken_off(int rc);
