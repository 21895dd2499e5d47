/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drive `in-situ` with the events packets and http: the program runs on real packets. A child
 * process sends at a steady rate through a pair of veth devices (bpf/netns.h), to whose far end the
 * program is attached. Both ends work on one CPU. The counters are polled from another CPU.
 *
 * - packets: the inputs leave the near end through a packet socket, in the order of the drive.
 * - http: a client at the near end fetches a page from a server of ours at the far end, over a new
 *   TCP connection each time.
 */
#include "drivers/traffic.h"

#include <arpa/inet.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>

#include "base/child.h"
#include "base/deadline.h"
#include "bpf/netns.h"
#include "drivers/test_run_types.h"
#include "drivers/windows.h"
#include "drivers/command.h"
#include "plan/mix.h"

#define NS_PER_S 1000000000u
/* longest wait for the sender's answer after the time that its order may take, s */
#define PATIENCE_S 5.0
#define ARRIVAL_S 0.2 /* longest wait until the program has run on the last packet, s */
#define HTTP_PORT 80u
/* fewest packets of a request to the server: SYN, ACK, the request, FIN */
#define HTTP_LEAST_PACKETS 4
#define TEXT(of) (of), sizeof(of) - 1

struct traffic {
	struct bb_drive_state common;
	struct bb_veth_pair pair;
	struct bb_child sender, server; /* `server` is zeroed for the event packets */
	size_t least_packets;
	int (*start)(struct traffic *t, struct bb_err *err);
};

struct worker {
	const char *name; /* "the HTTP server", for messages */
	int netns_fd;
	/* Opens the worker's socket in the namespace, as root. Returns 0 or -errno. May be NULL. */
	int (*open)(void *arg, int *ret_fd);
	/* Does the work. Returns when our process has closed its end of control_fd. */
	void (*work)(const struct worker *w, int control_fd);
	/* For the sender: sends one event. Returns 0, or -errno, which ends the batch. */
	int (*send)(void *arg, int socket_fd);
	void *arg; /* argument of open() and send() */
	const struct bb_child_place *place;
	int socket_fd;
};

/* An order to the sender: `n` packets or requests, one in each period. */
struct order {
	uint64_t n;
	uint64_t period_ns;
};

/* The sender's answer to an order. `done` packets or requests were sent in `elapsed_ns`. `rc` is 0,
 * or the -errno of the one that failed. */
struct answer {
	uint64_t done;
	uint64_t elapsed_ns;
	int rc;
};

static int prepare_worker(void *arg)
{
	/* Ask for real-time priority. The worker does little, so it does not starve others. If this
	 * is not permitted, its nice value must suffice. */
	const struct sched_param first = {.sched_priority = 1};
	struct worker *w = arg;
	int rc = setns(w->netns_fd, CLONE_NEWNET) ? -errno : 0;

	if (!rc && w->open)
		rc = w->open(w->arg, &w->socket_fd);
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
	return rc ? rc : bb_child_place__take(w->place);
}

static int run_worker(void *arg, int control_fd)
{
	const struct worker *w = arg;

	w->work(w, control_fd);
	return 0;
}

/* Returns 0 when the worker's socket is open, or -errno with a message. */
static int start_worker(const struct traffic *t, struct worker *w, struct bb_child *ret_child,
			struct bb_err *err)
{
	const struct bb_child_place place = {.cpu = t->common.opts.cpu,
					     .uid = t->common.opts.uid,
					     .gid = t->common.opts.gid};
	/* The worker keeps only its socket. If it also kept descriptors of programs and links,
	 * these might outlive our process. */
	const struct bb_child_rules rules = {
		.link = BB_LINK_SOCKET,
		.signals = BB_SIGNALS_DEFAULT,
		.own_session = true,
		.before = prepare_worker,
		.std = {BB_STD_NULL, BB_STD_NULL},
		.closes_others = true,
		.keep = &w->socket_fd,
		.n_keep = 1,
		.uid = place.uid,
		.gid = place.gid,
	};
	struct bb_child c;

	w->place = &place;
	/* w->open() sets the descriptor. Without it, stderr is a placeholder. */
	w->socket_fd = w->open ? -1 : STDERR_FILENO;
	int rc = bb_child__start(&rules, run_worker, w, &c);
	if (rc)
		return bb_fail(err, rc, "%s cannot be started: %m", w->name);
	*ret_child = c;
	return 0;
}

/* Sends o->n packets or requests at a steady rate: the first after o->period_ns, and then one in
 * each period. Stops if one fails. Also stops if twice the planned time has passed, but not before
 * the first one is sent. */
static struct answer carry_out(const struct worker *w, const struct order *o)
{
	uint64_t began_ns = bb_now_ns(), now_ns = began_ns, due_ns = began_ns + o->period_ns;
	uint64_t end_ns = began_ns + 2 * o->n * o->period_ns;
	struct answer a = {0};

	while (!a.rc && a.done < o->n && (now_ns < end_ns || !a.done)) {
		const struct timespec due = {.tv_sec = (time_t)(due_ns / NS_PER_S),
					     .tv_nsec = (long)(due_ns % NS_PER_S)};

		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
			;
		a.rc = w->send(w->arg, w->socket_fd);
		now_ns = bb_now_ns();
		due_ns = bb_pace_next(due_ns, now_ns, o->period_ns);
		a.done += !a.rc;
	}
	a.elapsed_ns = now_ns - began_ns;
	return a;
}

static void send_on_order(const struct worker *w, int control_fd)
{
	struct order o;
	ssize_t n;

	prctl(PR_SET_TIMERSLACK, 1); /* otherwise the kernel wakes us up to 50 us late */
	while ((n = recv(control_fd, &o, sizeof(o), 0)) == sizeof(o) || (n < 0 && errno == EINTR)) {
		struct answer a = n < 0 ? (struct answer){0} : carry_out(w, &o);

		if (n > 0 && send(control_fd, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a))
			return;
	}
}

static void stop_workers(struct traffic *t)
{
	bb_child__stop(&t->sender);
	bb_child__stop(&t->server);
}

static void traffic_close(void *traffic)
{
	struct traffic *t = traffic;

	stop_workers(t);
	bb_veth_pair__close(&t->pair);
}

static int traffic_open(struct traffic *t, size_t least_packets,
			int (*start)(struct traffic *t, struct bb_err *err), struct bb_err *err)
{
	int rc = bb_veth_pair__open(&t->pair, err);

	t->least_packets = least_packets;
	t->start = start;
	return rc ? rc : start(t, err);
}

static int await(struct traffic *t, const struct order *o, struct bb_windows *w, struct bb_batch *b,
		 struct answer *ret_answer, struct bb_err *err)
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

/* Attaches the program, lets the sender carry out the order, and polls the program's counters
 * meanwhile. If sending failed, returns 0, and ret_answer->rc says why. */
static int measure(struct traffic *t, struct bb_target *target, const struct order *o,
		   struct bb_batch *b, struct answer *ret_answer, struct bb_err *err)
{
	struct bb_windows windows;
	struct bb_veth_packets before, now = {0};
	uint32_t type;
	int rc = bb_target__prog_type(target, &type, err);

	if (!rc)
		rc = bb_veth_pair__put_on(&t->pair, target->prog_fd, type, err);
	if (!rc)
		rc = bb_veth_pair__packets(&t->pair, &before, err);
	if (!rc)
		rc = bb_windows__begin(target, &windows, err);
	if (!rc && send(t->sender.fd, o, sizeof(*o), MSG_NOSIGNAL) != sizeof(*o)) {
		rc = -errno;
		bb_fail(err, rc, "the sender of the packets does not listen: %m");
	}
	if (rc)
		return rc;
	rc = await(t, o, &windows, b, ret_answer, err);
	if (rc == -ETIME) { /* the budget is used up: stop sending; the runs so far count */
		stop_workers(t);
		rc = 0;
	}
	if (rc)
		return rc;
	/* wait, because the program may run on a packet a moment after send() returns */
	uint64_t began_ns = bb_now_ns();
	do {
		rc = b->n < b->want && !bb_must_end() ? bb_windows__poll(&windows, b, err)
						      : bb_windows__rest(&windows, b, err);
		if (rc == -ETIME)
			rc = 0;
		if (!rc)
			rc = bb_veth_pair__packets(&t->pair, &now, err);
	} while (!rc && b->run_cnt < now.sent - before.sent &&
		 bb_seconds_since(began_ns) < ARRIVAL_S);
	b->fired = now.sent - before.sent;
	return rc;
}

static int traffic_batch(void *slot, uint32_t rate_hz, struct bb_batch *b, struct bb_err *err)
{
	const struct bb_drive_slot *s = slot;
	struct traffic *t = (struct traffic *)s->state;
	uint64_t most = (b->want + t->least_packets - 1) / t->least_packets;
	double n = b->max_s * rate_hz;
	struct order o = {.n = n < 1 ? 1 : (uint64_t)(n + 0.5), .period_ns = NS_PER_S / rate_hz};
	struct answer a = {0};
	int rc = 0;

	if (!t->sender.pid) /* the previous batch stopped the sender when the budget was used up */
		rc = t->start(t, err);
	if (o.n > most)
		o.n = most;
	if (!rc)
		rc = measure(t, s->prog->target, &o, b, &a, err);
	/* If the sender was stopped, it gave no answer. Then the number of events is computed from
	 * the number of sent packets. */
	b->events = a.done ? a.done : b->fired / t->least_packets;
	b->elapsed_s = (double)a.elapsed_ns * 1e-9;
	if (!rc && a.rc)
		snprintf(b->void_why, sizeof(b->void_why), "'event: %s' failed after %llu: %s",
			 t->common.spec->event, (unsigned long long)a.done, strerror(-a.rc));
	return rc;
}

static int traffic_probe(void *traffic, struct bb_test_prog *prog, struct bb_err *err)
{
	uint64_t ns[64];
	struct bb_batch b = {.ns = ns, .want = BB_LEN(ns), .drain_each_run = true};
	struct bb_drive_slot *slot;
	int rc = bb_driver__attach(traffic, prog, &slot, err);

	if (rc)
		return rc;
	rc = bb_driver__batch(slot, 1000, &b, err);
	if (!rc && b.void_why[0])
		rc = bb_fail(err, -ENOTSUP, "%s; does '%s' let packets pass?", b.void_why,
			     prog->target->program);
	bb_driver__detach(slot);
	return rc;
}

/* --- event: packets --- */

struct packets {
	struct bb_inputs inputs;
	struct bb_u32_list mix;
	size_t next;
	unsigned int ifindex;
};

/* Opens a packet socket that bypasses queue disciplines, so packets are received within send(). */
static int open_packet_socket(void *arg, int *ret_fd)
{
	const struct packets *p = arg;
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)p->ifindex};
	const int one = 1;

	/* protocol 0: the socket receives nothing */
	*ret_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (*ret_fd < 0 || bind(*ret_fd, (struct sockaddr *)&to, sizeof(to)) ||
	    setsockopt(*ret_fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)))
		return -errno;
	return 0;
}

static int send_packet(void *arg, int socket_fd)
{
	struct packets *p = arg;
	const struct bb_input *in = &p->inputs.v[p->mix.v[p->next]];

	p->next = p->next + 1 == p->mix.n ? 0 : p->next + 1;
	return send(socket_fd, in->data, in->len, 0) < 0 ? -errno : 0;
}

static int start_packets(struct traffic *t, struct bb_err *err)
{
	const struct bb_test_run_type *xdp;
	struct packets p = {.inputs = t->common.spec->inputs,
			    .ifindex = t->pair.ifindex[BB_VETH_NEAR]};
	struct worker worker = {.name = "the sender of packets",
				.netns_fd = t->pair.netns_fd[BB_VETH_NEAR],
				.open = open_packet_socket,
				.work = send_on_order,
				.send = send_packet,
				.arg = &p};
	int rc = 0;

	if (!p.inputs.n)
		rc = bb_test_run_type__find(BPF_PROG_TYPE_XDP, &xdp, err);
	if (rc)
		return rc;
	if (!p.inputs.n)
		p.inputs = (struct bb_inputs){(struct bb_input *)xdp->otherwise, 1};
	p.mix = bb_mix__make(&p.inputs, t->common.spec->order, t->common.opts.seed);
	rc = start_worker(t, &worker, &t->sender, err);
	free(p.mix.v);
	return rc;
}

static int open_packets(void *state, struct bb_err *err)
{
	struct traffic *t = state;
	const struct bb_inputs *inputs = &t->common.spec->inputs;

	for (size_t i = 0; i < inputs->n; i++) {
		const struct bb_input *in = &inputs->v[i];

		if (in->is_context)
			return bb_fail(err, -EINVAL,
				       "input '%s' is a context; 'event: packets' sends packets",
				       in->name);
		if (in->ctx)
			return bb_fail(err, -EINVAL,
				       "input '%s' has a context beside its packet, and no wire "
				       "carries one; 'with: step, trigger: test-run' gives it to "
				       "the program",
				       in->name);
		if (in->len > BB_VETH_MAX_FRAME)
			return bb_fail(err, -EINVAL,
				       "input '%s' has %zu bytes; 'event: packets' sends %u at "
				       "most",
				       in->name, in->len, BB_VETH_MAX_FRAME);
		if (in->has_retval || in->out)
			return bb_fail(err, -EINVAL,
				       "input '%s' expects a result, and in situ only the kernel "
				       "sees it; 'with: step, trigger: test-run' checks it",
				       in->name);
	}
	return traffic_open(t, 1, start_packets, err);
}

/* --- event: http --- */

/* Client and server implement only the part of HTTP/1.0 (RFC 1945) that they need. */

static struct sockaddr_in http_address(void)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(HTTP_PORT),
				    .sin_addr = {htonl(BB_VETH_FAR_ADDR)}};
}

bool bb_http_is_ok(const char *answer, size_t len)
{
	return len >= 12 && !memcmp(answer, TEXT("HTTP/1.")) && !memcmp(answer + 8, TEXT(" 200"));
}

bool bb_http_is_whole(const char *request, size_t len)
{
	return memmem(request, len, TEXT("\r\n\r\n")) != NULL;
}

static int set_patience(int fd)
{
	const struct timeval patience = {.tv_sec = 1};

	/* SO_SNDTIMEO also limits connect() */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)))
		return -errno;
	return 0;
}

static int listen_for_http(void *, int *ret_fd)
{
	const struct sockaddr_in here = http_address();

	*ret_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*ret_fd < 0 || bind(*ret_fd, (const struct sockaddr *)&here, sizeof(here)) ||
	    listen(*ret_fd, SOMAXCONN))
		return -errno;
	return 0;
}

/* Reads and answers one request after another. Closes each connection before the client does, so
 * that the server's socket and not the client's goes into the state TIME_WAIT. */
static void serve_http(const struct worker *w, int control_fd)
{
	struct pollfd fds[] = {{.fd = w->socket_fd, .events = POLLIN},
			       {.fd = control_fd, .events = POLLIN}};
	char request[1024];

	while (!fds[1].revents) {
		int fd = poll(fds, 2, -1) > 0 && fds[0].revents ? accept(w->socket_fd, NULL, NULL)
								: -1;
		size_t len = 0;
		ssize_t n = 1;

		if (fd < 0)
			continue;
		if (set_patience(fd))
			n = -1;
		while (n > 0 && len < sizeof(request) && !bb_http_is_whole(request, len)) {
			n = recv(fd, request + len, sizeof(request) - len, 0);
			len += n > 0 ? (size_t)n : 0;
		}
		if (bb_http_is_whole(request, len))
			send(fd, TEXT("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nok\n"),
			     MSG_NOSIGNAL);
		close(fd);
	}
}

/* Returns 0, -EPROTO for a status other than 200, or another -errno. */
static int get_page(void *, int)
{
	const struct sockaddr_in there = http_address();
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;
	char text[1024];
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	rc = set_patience(fd);
	if (!rc && connect(fd, (const struct sockaddr *)&there, sizeof(there)))
		/* EINPROGRESS means that connect() reached the limit SO_SNDTIMEO */
		rc = errno == EINPROGRESS ? -ETIMEDOUT : -errno;
	if (!rc && send(fd, TEXT("GET / HTTP/1.0\r\n\r\n"), MSG_NOSIGNAL) < 0)
		rc = -errno;
	while (!rc && n > 0 && len < sizeof(text)) {
		n = recv(fd, text + len, sizeof(text) - len, 0);
		len += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		rc = errno == EAGAIN ? -ETIMEDOUT : -errno;
	if (!rc && !bb_http_is_ok(text, len))
		rc = -EPROTO;
	close(fd);
	return rc;
}

static int start_http(struct traffic *t, struct bb_err *err)
{
	struct worker client = {.name = "the HTTP client",
				.netns_fd = t->pair.netns_fd[BB_VETH_NEAR],
				.work = send_on_order,
				.send = get_page};
	struct worker server = {.name = "the HTTP server",
				.netns_fd = t->pair.netns_fd[BB_VETH_FAR],
				.open = listen_for_http,
				.work = serve_http};
	int rc = start_worker(t, &server, &t->server, err);

	return rc ? rc : start_worker(t, &client, &t->sender, err);
}

static int open_http(void *state, struct bb_err *err)
{
	return traffic_open(state, HTTP_LEAST_PACKETS, start_http, err);
}

#define TRAFFIC_KIND                                                                               \
	.kind.with = "in-situ", .kind.by_key = "event", .kind.param = "rate_hz",                   \
	.kind.seconds = 0.6, .kind.pace = BB_TIMED_PACE, .kind.samples_per_event = 32,             \
	.kind.sample = BB_SAMPLE_RUN, .kind.needs_bpf = true, .kind.fires = true
#define TRAFFIC_FUNCTIONS                                                                          \
	.polls = true, .state_bytes = sizeof(struct traffic), .probe = traffic_probe,              \
	.batch = traffic_batch, .close = traffic_close

const struct bb_driver bb_driver_insitu_packets = {
	TRAFFIC_KIND,
	.kind.by = {"packets"},
	.kind.name = "in-situ-packets",
	.kind.title = "in-situ by packets",
	.kind.doc = "the program under real packets at a steady rate, counters polled "
		    "from another CPU",
	.kind.keys = {{"event"}, {"inputs"}, {"order"}, {"rate_hz"}, {"seconds"}},
	.kind.param_default = 1000,
	.open = open_packets,
	TRAFFIC_FUNCTIONS,
};

const struct bb_driver bb_driver_insitu_http = {
	TRAFFIC_KIND,
	.kind.by = {"http"},
	.kind.name = "in-situ-http",
	.kind.title = "in-situ by http",
	.kind.doc = "the program under HTTP requests over TCP at a steady rate, "
		    "counters polled from another CPU",
	.kind.keys = {{"event"}, {"rate_hz"}, {"seconds"}},
	.kind.param_default = 50,
	.open = open_http,
	TRAFFIC_FUNCTIONS,
};
