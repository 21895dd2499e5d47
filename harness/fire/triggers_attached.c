/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Triggers that attach the program themselves, in the process that fires: to what it alone has, a
 * socket or an iterator of its own. It is off when they are closed.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child.h"
#include "fire/sockets.h"
#include "fire/trigger.h"

/* --- iterators --- */

#define MOST_MAPS 64u

/* fd[0]: the link; -errno: the iterator does not go over it. */
static int link_iter(struct bb_firing *f, union bpf_iter_link_info *info)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = info,
		    .iter_info_len = info ? sizeof(*info) : 0);

	f->fd[0] = bpf_link_create(f->prog_fd, 0, BPF_TRACE_ITER, &opts);
	return f->fd[0] < 0 ? -errno : 0;
}

/* Over the elements of a map: the first of the program's that the kernel lets it go over. */
static int link_to_map(struct bb_firing *f)
{
	__u32 ids[MOST_MAPS], len = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = {.map_ids = (__u64)(uintptr_t)ids, .nr_map_ids = MOST_MAPS};
	int rc = -ENOENT;

	if (bpf_obj_get_info_by_fd(f->prog_fd, &info, &len))
		return -errno;
	for (__u32 i = 0; rc && i < info.nr_map_ids && i < MOST_MAPS; i++) {
		int fd = bpf_map_get_fd_by_id(ids[i]);
		union bpf_iter_link_info over = {.map.map_fd = (__u32)fd};

		rc = fd < 0 ? -errno : link_iter(f, &over);
		if (fd >= 0)
			close(fd);
	}
	return rc;
}

/* A child that stands still with three files, so that iterators over a task go as far each time. */
static int stand_still(void *arg, int link_fd)
{
	(void)arg;
	(void)link_fd;
	return pause();
}

static int start_still(struct bb_firing *f)
{
	static const struct bb_child_rules rules = {.closes_others = true};
	struct bb_child c;
	int rc = bb_child__start(&rules, stand_still, NULL, &c);

	f->pid = c.pid;
	return rc;
}

/* Over that child, or a map of the program, where it can be told so. */
static int open_iter(struct bb_firing *f)
{
	union bpf_iter_link_info one = {0};
	int rc;

	if (!strncmp(f->point->target, "task", strlen("task"))) {
		rc = start_still(f);
		if (rc)
			return rc;
		one.task.pid = (__u32)f->pid;
		if (!link_iter(f, &one))
			return 0; /* before 6.1, over all tasks */
	}
	return link_iter(f, NULL) ? link_to_map(f) : 0;
}

static void close_iter(struct bb_firing *f)
{
	bb_child__stop(&(struct bb_child){.pid = f->pid, .fd = -1, .report_fd = -1});
}

static int fire_iter(struct bb_firing *f)
{
	int fd = bpf_iter_create(f->fd[0]), rc = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, f->page, f->page_bytes)) > 0)
		;
	rc = n < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/* --- sockets --- */

static int put_in_map(struct bb_firing *f)
{
	__u32 zero = 0;

	bpf_map_delete_elem(f->fd[3], &zero);
	return bpf_map_update_elem(f->fd[3], &zero, &f->fd[1], BPF_ANY) ? -errno : 0;
}

/* fd[3]: a sockmap with the sending end of a TCP connection in it. */
static int open_sk_msg(struct bb_firing *f)
{
	int rc = bb_firing__open_tcp(f);

	if (rc)
		return rc;
	f->fd[3] = bpf_map_create(BPF_MAP_TYPE_SOCKMAP, "bpfbench", 4, 4, 1, NULL);
	if (f->fd[3] < 0 || bpf_prog_attach(f->prog_fd, f->fd[3], BPF_SK_MSG_VERDICT, 0))
		return -errno;
	return put_in_map(f);
}

/* Wherever the program sends it: both ends are emptied. */
static int fire_sk_msg(struct bb_firing *f)
{
	char bytes[64] = {0};
	ssize_t n = send(f->fd[1], bytes, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	int rc = n < 0 ? -errno : 0;

	if (rc == -EACCES) /* its verdict holds for the socket until that is put in anew */
		rc = put_in_map(f);
	while (recv(f->fd[2], bytes, sizeof(bytes), MSG_DONTWAIT) > 0 ||
	       recv(f->fd[1], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return rc;
}

static int open_reuseport(struct bb_firing *f)
{
	const int on = 1;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);

	f->fd[0] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	f->fd[1] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (f->fd[0] < 0 || f->fd[1] < 0 ||
	    setsockopt(f->fd[0], SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) ||
	    setsockopt(f->fd[0], SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF, &f->prog_fd,
		       sizeof(f->prog_fd)) ||
	    bind(f->fd[0], (struct sockaddr *)&a, len) ||
	    getsockname(f->fd[0], (struct sockaddr *)&a, &len) ||
	    connect(f->fd[1], (struct sockaddr *)&a, len))
		return -errno;
	return 0;
}

/* The program may turn it away. */
static int fire_reuseport(struct bb_firing *f)
{
	char byte = 0;
	ssize_t n = send(f->fd[1], &byte, 1, MSG_NOSIGNAL);
	int rc = n < 0 ? -errno : 0;

	while (recv(f->fd[0], &byte, 1, MSG_DONTWAIT) > 0)
		;
	return rc;
}

/* --- raw tracepoints whose event cannot be had --- */

static int fire_own_run(struct bb_firing *f)
{
	/* as many as the kernel takes: twelve (MAX_BPF_FUNC_ARGS) */
	__u64 context[12] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = context, .ctx_size_in = sizeof(context));

	for (size_t i = 0; i < 6; i++)
		context[i] = (__u64)f->point->args[i];
	return bpf_prog_test_run_opts(f->prog_fd, &opts) ? -errno : 0;
}

const struct bb_trigger bb_triggers_attached[] = {
	{.name = "iterator",
	 .doc = "read the program's iterator to its end, over a process of bpfbench where it can",
	 .words = "",
	 .at = BB_AT_ITER,
	 .open = open_iter,
	 .fire = fire_iter,
	 .close = close_iter},
	{.name = "sockmap-send",
	 .doc = "send a byte by a socket that is in a sockmap with the program on it",
	 .words = "",
	 .at = BB_AT_SK_MSG,
	 .open = open_sk_msg,
	 .fire = fire_sk_msg},
	{.name = "reuseport",
	 .doc = "send a datagram to a port where the program chooses the socket",
	 .words = "",
	 .at = BB_AT_REUSEPORT,
	 .open = open_reuseport,
	 .fire = fire_reuseport},
	{.name = "own-run",
	 .doc = "a test run with the arguments of the event that the program is for",
	 .words = "",
	 .at = BB_AT_OWN_RUN,
	 .fire = fire_own_run},
	{0},
};
