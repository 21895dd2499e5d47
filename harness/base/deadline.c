/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/deadline.h"

#define NS_PER_S 1000000000u
#define AGAIN_US 20000 /* time between two alarms after a deadline or a stop signal */
#define LONGEST_S 1e6  /* longest deadline; its time in ns cannot overflow */

volatile sig_atomic_t bb_stop_signal, bb_deadline_has_passed;

static uint64_t at_ns;     /* time of the earliest deadline, CLOCK_MONOTONIC; 0 without one */
static unsigned int depth; /* number of deadlines that have begun and not ended */

static void on_alarm(int)
{
	if (!bb_stop_signal)
		bb_deadline_has_passed = 1;
}

/* Sets the timer to the earliest deadline or, after a stop signal, to 20 ms from now. */
static void arm(void)
{
	struct itimerval timer = {.it_interval = {.tv_usec = AGAIN_US}};
	uint64_t now_ns = bb_now_ns(), in_ns = at_ns > now_ns ? at_ns - now_ns : 1000;

	if (bb_stop_signal)
		in_ns = (uint64_t)AGAIN_US * 1000;
	timer.it_value = (struct timeval){.tv_sec = (time_t)(in_ns / NS_PER_S),
					  .tv_usec = (suseconds_t)(in_ns % NS_PER_S / 1000 + 1)};
	setitimer(ITIMER_REAL, depth && (at_ns || bb_stop_signal) ? &timer : &(struct itimerval){0},
		  NULL);
}

static void on_signal(int sig)
{
	int error = errno;

	bb_stop_signal = sig;
	if (depth)
		arm();
	errno = error;
}

void bb_stop__install(bool second_kills)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	/* Without SA_RESTART, a signal makes blocking system calls fail with EINTR. */
	struct sigaction action = {.sa_handler = on_signal,
				   .sa_flags = second_kills ? (int)SA_RESETHAND : 0};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < BB_LEN(signals); i++) {
		struct sigaction before;

		/* An ignored SIGHUP stays ignored, as nohup(1) wants. An ignored SIGINT does not,
		 * because shells ignore SIGINT for every background command. */
		if (signals[i] == SIGHUP && !sigaction(SIGHUP, NULL, &before) &&
		    before.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &action, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	/* A write beyond the limit of ulimit -f then fails with EFBIG. */
	signal(SIGXFSZ, SIG_IGN);
}

int bb_fail_stopped(struct bb_err *err, const char *doing, const char *what)
{
	return bb_fail(err, -EINTR, "stopped by signal %d (%s)%s%s", (int)bb_stop_signal,
		       strsignal(bb_stop_signal), doing, what);
}

static void set(uint64_t ns)
{
	at_ns = ns;
	bb_deadline_has_passed = ns && ns <= bb_now_ns();
	arm();
}

void bb_deadline__begin(struct bb_deadline *ret_deadline, double seconds)
{
	struct sigaction action = {.sa_handler = on_alarm};
	uint64_t ns = seconds > 0 ? bb_now_ns() + (uint64_t)(fmin(seconds, LONGEST_S) * NS_PER_S)
				  : 0;

	ret_deadline->outer_ns = at_ns;
	if (!depth) {
		sigemptyset(&action.sa_mask);
		sigaction(SIGALRM, &action, NULL);
	}
	/* `depth` grows after sigaction(), because on_signal() sets the timer if depth > 0. */
	depth++;
	set(ns && (!at_ns || ns < at_ns) ? ns : at_ns);
}

void bb_deadline__end(const struct bb_deadline *d)
{
	depth--;
	set(d->outer_ns);
}

void bb_deadline_touch(void)
{
	sig_atomic_t before = bb_deadline_has_passed;

	if (!depth)
		return;
	raise(SIGALRM);
	/* If the timer's own SIGALRM came after `before` was read, this line undoes its effect. The
	 * next SIGALRM comes within 20 ms. */
	bb_deadline_has_passed = before;
}

double bb_deadline_left_s(void)
{
	uint64_t now_ns = bb_now_ns();

	if (!at_ns)
		return INFINITY;
	return at_ns > now_ns ? (double)(at_ns - now_ns) / NS_PER_S : 0;
}

int bb_must_end_why(void)
{
	return bb_stop_signal ? -EINTR : bb_deadline_has_passed ? -ETIME : 0;
}

int bb_unless_broken_off(int rc)
{
	bool may_be = rc == -EINTR || rc == -EAGAIN || rc == -ETIME;

	return may_be && bb_must_end() ? bb_must_end_why() : rc;
}
