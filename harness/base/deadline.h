/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The signal that asked us to stop (SIGINT, SIGTERM, SIGHUP); 0 if no signal came. The signal
 * handler sets this variable, and long loops read it. Code that goes on after a signal sets it
 * to 0 again. */
extern volatile sig_atomic_t bb_stop_signal;

/* Installs the handlers of SIGINT, SIGTERM and SIGHUP, which set bb_stop_signal. With
 * `second_kills`, a second signal of the same kind kills the process at once. SIGPIPE and
 * SIGXFSZ are ignored from then on. */
void bb_stop__install(bool second_kills);

/* Sets the message "stopped by signal 2 (Interrupt)", and appends `doing` and `what` to it,
 * which may be "". Returns -EINTR. */
int bb_fail_stopped(struct bb_err *err, const char *doing, const char *what);

/*
 * The time until which the process may measure. Deadlines nest: the deadline of a drive lies within
 * the deadline of the run. The earliest deadline counts. The process has one timer, so a deadline
 * holds for the whole process.
 *
 * When the deadline has passed, or a signal asked us to stop, SIGALRM comes every 20 ms until the
 * outermost deadline ends. The signal breaks off system calls that take long. A test run with a
 * `repeat` fails with EINTR (net/bpf/test_run.c, bpf_test_timer_continue). Loading a program fails
 * with EAGAIN (kernel/bpf/verifier.c, do_check), and libbpf then tries again at most 5 times.
 */
struct bb_deadline {
	/* time of the deadline around this one, CLOCK_MONOTONIC; 0: there is none */
	uint64_t outer_ns;
};

/* Nonzero if the earliest deadline has passed. */
extern volatile sig_atomic_t bb_deadline_has_passed;

/* Begins a deadline that passes `seconds` from now. If `seconds` is 0, the new deadline never
 * passes, and only the deadlines around it count. bb_deadline__end() ends it. */
void bb_deadline__begin(struct bb_deadline *ret_deadline, double seconds);
void bb_deadline__end(const struct bb_deadline *d);

/* Touches the memory of the signal handler, so that the handler causes no page fault later. */
void bb_deadline_touch(void);

/* Returns the seconds until the earliest deadline; 0 if it has passed, INFINITY without one. */
double bb_deadline_left_s(void);

/* True if measuring must end. Every loop that fires, loads, waits or counts calls this in each
 * iteration. The call is cheap: it only reads two variables. */
static inline bool bb_must_end(void)
{
	return bb_deadline_has_passed || bb_stop_signal;
}

/* Returns why measuring must end: -EINTR after a signal, -ETIME after the deadline. Returns 0 if
 * measuring may go on. */
int bb_must_end_why(void);

/* Corrects the result `rc` of a function that a signal can break off. If measuring must end and
 * `rc` is -EINTR, -EAGAIN or -ETIME, returns bb_must_end_why(); otherwise returns `rc`. */
int bb_unless_broken_off(int rc);
