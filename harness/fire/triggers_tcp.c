/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Triggers of TCP congestion control by programs (struct_ops): a connection over the loopback
 * device of a network namespace of ours whose one end (fd[1]) asks for it. No other socket does.
 */
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bpf/struct_ops.h"
#include "fire/sockets.h"
#include "fire/trigger.h"

#define NAME_BYTES 16 /* TCP_CA_NAME_MAX */
#define ANSWER_MS 2000
#define LOST_MS 1000 /* a segment is sent again after 200 ms, unless the kernel takes: */
#define RESEND_US 40000
#define HURRY_ANSWERS 16
#ifndef TCP_RTO_MIN_US
#define TCP_RTO_MIN_US 45
#endif

/* It is kept in the second page: the address of the connection is in the first. */
static char *name_of(const struct bb_firing *f)
{
	return f->page + f->page_bytes;
}

static int choose(struct bb_firing *f)
{
	return setsockopt(f->fd[1], IPPROTO_TCP, TCP_CONGESTION, name_of(f),
			  (socklen_t)strnlen(name_of(f), NAME_BYTES))
		       ? -errno
		       : 0;
}

static int open_named(struct bb_firing *f)
{
	return bb_struct_ops__tcp_name(f->point->map_fd, name_of(f), NAME_BYTES, NULL);
}

static int open_chosen(struct bb_firing *f)
{
	int rc = open_named(f);

	if (!rc)
		rc = bb_firing__open_tcp(f);
	return rc ? rc : choose(f);
}

/* One byte from one end to the other. */
static int pass(int from, int to)
{
	struct pollfd p = {.fd = to, .events = POLLIN};
	char byte = 0;

	if (send(from, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		return -errno;
	if (poll(&p, 1, ANSWER_MS) != 1)
		return -ETIMEDOUT;
	return recv(to, &byte, 1, MSG_DONTWAIT) == 1 ? 0 : -errno;
}

/* The answer acknowledges the first byte. */
static int fire_send(struct bb_firing *f)
{
	int rc = pass(f->fd[1], f->fd[2]);

	return rc ? rc : pass(f->fd[2], f->fd[1]);
}

/* Older kernels refuse. Each answer takes the time until a segment is sent again a quarter of the
 * way from 200 ms to there. */
static int hurry(struct bb_firing *f)
{
	const int us = RESEND_US;
	int rc = 0;

	if (setsockopt(f->fd[1], IPPROTO_TCP, TCP_RTO_MIN_US, &us, sizeof(us)))
		return 0;
	for (int i = 0; !rc && i < HURRY_ANSWERS; i++)
		rc = fire_send(f);
	return rc;
}

static int open_hurried(struct bb_firing *f)
{
	int rc = open_chosen(f);

	return rc ? rc : hurry(f);
}

static void close_ends(struct bb_firing *f)
{
	for (int i = 0; i < 3; i++)
		if (f->fd[i] >= 0)
			close(f->fd[i]);
	f->fd[0] = f->fd[1] = f->fd[2] = -1;
}

static int fire_connect(struct bb_firing *f)
{
	int rc = bb_firing__open_tcp(f);

	if (!rc)
		rc = choose(f);
	close_ends(f);
	return rc;
}

/* The other end's filter takes all segments away, or none. */
static int lose(int fd, bool all)
{
	struct sock_filter drop = {.code = BPF_RET | BPF_K, .k = 0};
	struct sock_fprog filter = {.len = 1, .filter = &drop};
	int unused = 0;

	return setsockopt(fd, SOL_SOCKET, all ? SO_ATTACH_FILTER : SO_DETACH_FILTER,
			  all ? (void *)&filter : (void *)&unused,
			  all ? sizeof(filter) : sizeof(unused))
		       ? -errno
		       : 0;
}

/* Until the end that sends knows that a segment was lost. */
static int wait_for_loss(int fd)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	for (int i = 0; i < LOST_MS; i++) {
		if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
			return -errno;
		if (info.tcpi_ca_state == TCP_CA_Loss)
			return 0;
		nanosleep(&moment, NULL);
	}
	return -ETIMEDOUT;
}

static int fire_loss(struct bb_firing *f)
{
	struct pollfd p = {.fd = f->fd[2], .events = POLLIN};
	char byte = 0;
	int rc = lose(f->fd[2], true);

	if (!rc && send(f->fd[1], &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		rc = -errno;
	if (!rc)
		rc = wait_for_loss(f->fd[1]);
	lose(f->fd[2], false);
	if (!rc && (poll(&p, 1, ANSWER_MS) != 1 || recv(f->fd[2], &byte, 1, MSG_DONTWAIT) != 1))
		rc = -ETIMEDOUT;
	return rc ? rc : pass(f->fd[2], f->fd[1]);
}

/*
 * The answer is late, and the loss was none: the byte comes to its end, but we hear nothing of that
 * (nor does that end of what is sent again) until we take it for lost. The answer then has the time
 * stamp of the first sending, so the kernel undoes what it did about the loss (RFC 3522).
 */
static int lose_and_undo(struct bb_firing *f)
{
	struct pollfd p = {.fd = f->fd[2], .events = POLLIN};
	char byte = 0;
	int rc = lose(f->fd[1], true);

	if (!rc && send(f->fd[1], &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		rc = -errno;
	if (!rc && (poll(&p, 1, ANSWER_MS) != 1 || recv(f->fd[2], &byte, 1, MSG_DONTWAIT) != 1))
		rc = -ETIMEDOUT;
	if (!rc)
		rc = lose(f->fd[2], true);
	if (!rc)
		rc = wait_for_loss(f->fd[1]);
	lose(f->fd[1], false);
	lose(f->fd[2], false);
	return rc ? rc : pass(f->fd[2], f->fd[1]);
}

/* Of a new connection each time: one whose answers were late waits longer for the next. */
static int fire_undo(struct bb_firing *f)
{
	int rc = bb_firing__open_tcp(f);

	if (!rc)
		rc = choose(f);
	if (!rc)
		rc = hurry(f);
	if (!rc)
		rc = lose_and_undo(f);
	close_ends(f);
	return rc;
}

const struct bb_trigger bb_triggers_tcp[] = {
	{.name = "tcp-congestion",
	 .doc = "a byte and its answer by a connection that the program's congestion control is of",
	 .words = "acked cong_avoid cong_control in_ack_event cwnd_event",
	 .at = BB_AT_STRUCT_OPS,
	 .open = open_chosen,
	 .fire = fire_send},
	{.name = "tcp-congestion-connect",
	 .doc = "make a connection, choose the program's congestion control for it, close it",
	 .words = "init release",
	 .at = BB_AT_STRUCT_OPS,
	 .open = open_named,
	 .fire = fire_connect},
	{.name = "tcp-congestion-loss",
	 .doc = "lose a segment of such a connection, which is sent again after 40 or 200 ms",
	 .words = "ssthresh set_state state",
	 .at = BB_AT_STRUCT_OPS,
	 .open = open_hurried,
	 .fire = fire_loss},
	{.name = "tcp-congestion-undo",
	 .doc = "take a segment of such a connection for lost, which was not, after 40 or 200 ms",
	 .words = "undo_cwnd undo",
	 .at = BB_AT_STRUCT_OPS,
	 .open = open_named,
	 .fire = fire_undo},
	{0},
};
