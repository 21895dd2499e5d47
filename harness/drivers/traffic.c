/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/traffic.h"

#include <bpf/bpf.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "drivers/windows.h"

#define NS_PER_S 1000000000u
#define PATIENCE_S 5.0 /* for an answer, beyond the time that the order may take */
#define ARRIVAL_S 0.2  /* until the last packet has run the program */

/* To the sender, and what it answers when all is done or something failed. */
struct order {
	uint64_t n;
	uint64_t period_ns;
};

struct answer {
	uint64_t done;
	uint64_t elapsed_ns;
	int rc;
};

struct slot {
	struct bb_target *target;
	uint32_t prog_type;
};

/* --- in the child --- */

static void sleep_until(uint64_t due_ns)
{
	const struct timespec due = {.tv_sec = (time_t)(due_ns / NS_PER_S),
				     .tv_nsec = (long)(due_ns % NS_PER_S)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
		;
}

/* The first one a period from now; none any more after twice the time that it should take. */
static struct answer carry_out(const struct bb_traffic_sender *s, int socket_fd,
			       const struct order *o)
{
	uint64_t began_ns = bb_now_ns(), now_ns = began_ns, due_ns = began_ns + o->period_ns;
	uint64_t end_ns = began_ns + 2 * o->n * o->period_ns;
	struct answer a = {0};

	while (!a.rc && a.done < o->n && (now_ns < end_ns || !a.done)) {
		sleep_until(due_ns);
		a.rc = s->send(s->arg, socket_fd);
		now_ns = bb_now_ns();
		due_ns = bb_pace_next(due_ns, now_ns, o->period_ns);
		a.done += !a.rc;
	}
	a.elapsed_ns = now_ns - began_ns;
	return a;
}

static void send_on_order(void *arg, int socket_fd, int control_fd)
{
	const struct bb_traffic_sender *s = arg;
	struct order o;
	ssize_t n;

	prctl(PR_SET_TIMERSLACK, 1); /* or the kernel is up to 50 us late */
	while ((n = recv(control_fd, &o, sizeof(o), 0)) == sizeof(o) || (n < 0 && errno == EINTR)) {
		struct answer a = n < 0 ? (struct answer){0} : carry_out(s, socket_fd, &o);

		if (n > 0 && send(control_fd, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a))
			return;
	}
}

static int open_socket(void *arg, int *ret_fd)
{
	const struct bb_traffic_sender *s = arg;

	return s->open(s->arg, ret_fd);
}

/* --- what drivers call --- */

int bb_traffic__open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		     size_t least_packets, int (*start)(struct bb_traffic *t, struct bb_err *err),
		     void **ret_state, struct bb_err *err)
{
	struct bb_traffic *t;
	int rc = bb_windows__can_poll(opts, err);

	if (rc)
		return rc;
	t = calloc(1, sizeof(*t));
	if (!t)
		return bb_fail_nomem(err);
	t->spec = spec;
	t->opts = *opts;
	t->least_packets = least_packets;
	t->start = start;
	rc = bb_veth_pair__open(&t->pair, err);
	if (rc) {
		free(t);
		return rc;
	}
	rc = start(t, err);
	if (rc)
		bb_traffic__close(t);
	else
		*ret_state = t;
	return rc;
}

int bb_traffic__start(struct bb_traffic *t, const struct bb_traffic_sender *sender,
		      struct bb_err *err)
{
	const struct bb_child_place place = {.cpu = t->opts.cpu,
					     .uid = t->opts.uid,
					     .gid = t->opts.gid};
	const struct bb_worker_task helper = {
		.name = sender->name,
		.netns_fd = t->pair.netns_fd[BB_VETH_NEAR],
		.open = open_socket,
		.work = send_on_order,
		.arg = (void *)(uintptr_t)sender,
	};

	return bb_worker__start(&place, &helper, &t->sender, err);
}

static void stop_helpers(struct bb_traffic *t)
{
	bb_child__stop(&t->sender);
	bb_child__stop(&t->server);
}

void bb_traffic__close(void *traffic)
{
	struct bb_traffic *t = traffic;

	if (!t)
		return;
	stop_helpers(t);
	bb_veth_pair__close(&t->pair);
	free(t);
}

/* There is one far end: a program is put on it when its turn comes. */
int bb_traffic__attach(void *traffic, struct bb_test_prog *prog, void **ret_slot,
		       struct bb_err *err)
{
	struct slot *s = calloc(1, sizeof(*s));
	int rc = s ? bb_target__prog_type(prog->target, &s->prog_type, err) : bb_fail_nomem(err);

	(void)traffic;
	if (rc) {
		free(s);
		return rc;
	}
	s->target = prog->target;
	*ret_slot = s;
	return 0;
}

void bb_traffic__detach(void *traffic, void *slot)
{
	(void)traffic;
	free(slot);
}

/* Poll until the sender has answered. */
static int await(struct bb_traffic *t, const struct order *o, struct bb_windows *w,
		 struct bb_batch *b, struct answer *ret_answer, struct bb_err *err)
{
	double limit_s = 2e-9 * (double)o->n * (double)o->period_ns + PATIENCE_S;
	uint64_t began_ns = bb_now_ns();

	for (;;) {
		int rc = bb_windows__poll(w, b, err);
		ssize_t n = rc ? 0
			       : recv(t->sender.fd, ret_answer, sizeof(*ret_answer), MSG_DONTWAIT);

		if (rc)
			return rc;
		if (n == sizeof(*ret_answer))
			return 0;
		if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			return bb_fail(err, -ECHILD, "the sender of the packets died midway");
		if (bb_seconds_since(began_ns) > limit_s)
			return bb_fail(err, -ETIMEDOUT,
				       "the sender of the packets has not answered for %.0f s",
				       limit_s);
	}
}

/* The rest of what was sent, until it has arrived: the program may run a moment later than the
 * sender is told so. */
static int await_arrival(struct bb_traffic *t, uint64_t sent_before, struct bb_windows *w,
			 struct bb_batch *b, struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns(), sent = 0;
	int rc;

	do {
		rc = b->n < b->want && !bb_must_end() ? bb_windows__poll(w, b, err)
						      : bb_windows__rest(w, b, err);
		if (rc == -ETIME)
			rc = 0;
		if (!rc)
			rc = bb_veth_pair__sent(&t->pair, &sent, err);
	} while (!rc && b->run_cnt < sent - sent_before && bb_seconds_since(began_ns) < ARRIVAL_S);
	b->fired = sent - sent_before;
	return rc;
}

/* Give the order and poll meanwhile. What the sender says of a failure is in *ret_answer. */
static int measure(struct bb_traffic *t, struct slot *s, const struct order *o, struct bb_batch *b,
		   struct answer *ret_answer, struct bb_err *err)
{
	struct bb_windows windows;
	uint64_t sent_before = 0;
	int rc = bb_veth_pair__put_on(&t->pair, s->target->prog_fd, s->prog_type, err);

	if (!rc)
		rc = bb_veth_pair__sent(&t->pair, &sent_before, err);
	if (!rc)
		rc = bb_windows__begin(s->target, &windows, err);
	if (!rc && send(t->sender.fd, o, sizeof(*o), MSG_NOSIGNAL) != sizeof(*o)) {
		rc = -errno;
		bb_fail(err, rc, "the sender of the packets does not listen: %s", strerror(-rc));
	}
	if (!rc)
		rc = await(t, o, &windows, b, ret_answer, err);
	if (rc == -ETIME) { /* what was sent counts */
		stop_helpers(t);
		rc = 0;
	}
	if (!rc)
		rc = await_arrival(t, sent_before, &windows, b, err);
	return rc;
}

int bb_traffic__batch(void *traffic, void *slot, uint32_t rate_hz, struct bb_batch *b,
		      struct bb_err *err)
{
	struct bb_traffic *t = traffic;
	/* more would be no samples */
	uint64_t most = (b->want + t->least_packets - 1) / t->least_packets;
	double n = b->max_s * rate_hz;
	struct order o = {.n = n < 1 ? 1 : (uint64_t)(n + 0.5), .period_ns = NS_PER_S / rate_hz};
	struct answer a = {0};
	int rc = bb_pin_to_cpu(t->opts.poll_cpu, err);

	if (!rc && !t->sender.pid) /* the batch before was cut short */
		rc = t->start(t, err);
	b->target_cpu_s = NAN;
	if (o.n > most)
		o.n = most;
	if (!rc)
		rc = measure(t, slot, &o, b, &a, err);
	b->events = a.done;
	b->elapsed_s = (double)a.elapsed_ns * 1e-9;
	if (!rc && a.rc)
		snprintf(b->void_why, sizeof(b->void_why), "'event: %s' failed after %llu: %s",
			 t->spec->event, (unsigned long long)a.done, strerror(-a.rc));
	return rc;
}

int bb_traffic__probe(void *traffic, struct bb_test_prog *prog, struct bb_err *err)
{
	uint64_t ns[64];
	struct bb_batch b = {.ns = ns, .want = sizeof(ns) / sizeof(ns[0]), .drain_each_run = true};
	void *slot;
	int rc = bb_traffic__attach(traffic, prog, &slot, err);

	if (rc)
		return rc;
	rc = bb_traffic__batch(traffic, slot, 1000, &b, err);
	if (!rc && b.void_why[0])
		rc = bb_fail(err, -ENOTSUP, "%s; does '%s' let packets pass?", b.void_why,
			     prog->target->source->program);
	bb_traffic__detach(traffic, slot);
	return rc;
}
