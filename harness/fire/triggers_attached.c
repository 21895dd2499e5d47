/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers that attach or test-run the program, that call a function, run a command or wait, and
 * those of the tracepoints of XDP. */
#include <bpf/bpf.h>

#include "base/io.h"
#include "base/process.h"
#include "bpf/attach.h"
#include "bpf/netns.h"
#include "bpf/prog_stats.h"
#include "fire/triggers.h"

/* Makes fd[0] a link of the iterator. Returns -errno if the iterator does not accept `info`. */
static int link_iter(struct bb_firing *f, union bpf_iter_link_info *info)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = info,
		    .iter_info_len = info ? sizeof(*info) : 0);

	f->fd[0] = bpf_link_create(f->prog_fd, 0, BPF_TRACE_ITER, &opts);
	return bb_failed(f->fd[0] < 0);
}

/* A child that only sleeps, so an iterator over tasks visits the same objects each time. */
static int stand_still(void *, int)
{
	return pause();
}

/* Links an iterator over tasks to a child process. Links any other iterator to no object or, if the
 * kernel demands a map, to the first of the program's maps that it accepts. */
static int open_iter(struct bb_firing *f)
{
	static const struct bb_child_rules rules = {.closes_others = true};
	union bpf_iter_link_info one = {0};
	__u32 ids[BB_MAX_PROG_MAPS];
	int rc, n;

	if (!strncmp(f->point->target, "task", strlen("task"))) {
		struct bb_child c;

		rc = bb_child__start(&rules, stand_still, NULL, &c);
		f->pid = c.pid;
		if (rc)
			return rc;
		one.task.pid = (__u32)f->pid;
		/* before Linux 6.1, the iterator ignores the pid and visits all tasks */
		if (!link_iter(f, &one))
			return 0;
	}
	if (!link_iter(f, NULL))
		return 0;
	n = bb_prog_map_ids(f->prog_fd, ids);
	rc = n < 0 ? n : -ENOENT;
	for (int i = 0; rc && i < n; i++) {
		int fd = bpf_map_get_fd_by_id(ids[i]);
		union bpf_iter_link_info over = {.map.map_fd = (__u32)fd};

		rc = fd < 0 ? -errno : link_iter(f, &over);
		bb_close(&fd);
	}
	return rc;
}

static int fire_iter(struct bb_firing *f)
{
	int fd = bpf_iter_create(f->fd[0]), rc;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, f->page, f->page_bytes)) > 0)
		;
	rc = bb_failed(n < 0);
	close(fd);
	return rc;
}

static int put_in_map(struct bb_firing *f)
{
	__u32 zero = 0;

	bpf_map_delete_elem(f->fd[3], &zero);
	return bb_failed(bpf_map_update_elem(f->fd[3], &zero, &f->fd[1], BPF_ANY));
}

/* fd[3] is a sockmap with the sending end of a TCP connection. */
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

/* Receives at both ends of the connection, because the program may redirect the byte to either. */
static int fire_sk_msg(struct bb_firing *f)
{
	char bytes[64] = {0};
	ssize_t n = send(f->fd[1], bytes, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	int rc = n < 0 ? -errno : 0;

	/* the program's verdict holds for the socket until it is put into the map again */
	if (rc == -EACCES)
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
	return bb_failed(f->fd[0] < 0 || f->fd[1] < 0 ||
			 setsockopt(f->fd[0], SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) ||
			 setsockopt(f->fd[0], SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF, &f->prog_fd,
				    sizeof(f->prog_fd)) ||
			 bind(f->fd[0], (struct sockaddr *)&a, len) ||
			 getsockname(f->fd[0], (struct sockaddr *)&a, &len) ||
			 connect(f->fd[1], (struct sockaddr *)&a, len));
}

/* Nothing waits for the datagram, because the program may drop it. */
static int fire_reuseport(struct bb_firing *f)
{
	char byte = 0;
	ssize_t n = send(f->fd[1], &byte, 1, MSG_NOSIGNAL);
	int rc = n < 0 ? -errno : 0;

	while (recv(f->fd[0], &byte, 1, MSG_DONTWAIT) > 0)
		;
	return rc;
}

/* --- test runs of programs on raw tracepoints whose event we cannot cause --- */

static int fire_own_run(struct bb_firing *f)
{
	/* the event's arguments; the kernel allows at most 12 (MAX_BPF_FUNC_ARGS) */
	__u64 context[12] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = context, .ctx_size_in = sizeof(context));

	for (size_t i = 0; i < 6; i++)
		context[i] = (__u64)f->point->args[i];
	return bb_failed(bpf_prog_test_run_opts(f->prog_fd, &opts));
}

const struct bb_trigger bb_triggers_attached[] = {
	{"iterator",
	 "read the program's iterator to its end, over a process of bpfbench where it can", "",
	 open_iter, .fire = fire_iter, .at = BB_AT_ITER},
	{"sockmap-send", "send a byte by a socket that is in a sockmap with the program on it", "",
	 open_sk_msg, .fire = fire_sk_msg, .at = BB_AT_SK_MSG},
	{"reuseport", "send a datagram to a port where the program chooses the socket", "",
	 open_reuseport, .fire = fire_reuseport, .at = BB_AT_REUSEPORT},
	{"own-run", "a test run with the arguments of the event that the program is for", "",
	 .fire = fire_own_run, .at = BB_AT_OWN_RUN},
	{0},
};

static int fire_own_function(struct bb_firing *f)
{
	const long *a = f->point->args;

	bb_own_function((uint64_t)a[0], (uint64_t)a[1], (uint64_t)a[2], (uint64_t)a[3],
			(uint64_t)a[4], (uint64_t)a[5], (uint64_t)a[6]);
	return 0;
}

static int fire_call(struct bb_firing *f)
{
	char byte = 0;

	if (f->call_fd < 0)
		return -EINVAL;
	/* the process at the other end calls the function, and then answers */
	if (send(f->call_fd, &byte, 1, MSG_NOSIGNAL) != 1)
		return -errno;
	return recv(f->call_fd, &byte, 1, 0) == 1 ? 0 : -EPIPE;
}

/* The command's exit code does not matter. */
static int fire_run(struct bb_firing *f)
{
	const struct bb_fire_user *u = &f->site->user;
	const struct bb_process p = {.argv = (const char *const *)f->point->by->run,
				     .dir = u->dir[0] ? u->dir : NULL,
				     .together = true,
				     .uid = u->uid,
				     .gid = u->gid,
				     .env = u->env};
	struct bb_process_end end;
	struct bb_err err = {0};
	int rc = bb_process__run(&p, &end, &err);

	if (!rc)
		bb_process_end__done(&end);
	return rc;
}

static int open_wait(struct bb_firing *)
{
	return bb_failed(prctl(PR_SET_TIMERSLACK, 1UL));
}

static int fire_wait(struct bb_firing *)
{
	usleep(20);
	return 0;
}

const struct bb_trigger bb_triggers_function[] = {
	{"own-call", "call a function of bpfbench instead of the one that the program is for", "",
	 .fire = fire_own_function, .at = BB_AT_OWN_FUNCTION},
	{"call", "call a function of a shared library, as a scenario says", "", .fire = fire_call,
	 .on_demand = true},
	{"run", "run a command as the calling user, as a scenario says", "", .fire = fire_run,
	 .on_demand = true},
	{"wait", "wait until the process that a scenario names does it", "", open_wait,
	 .fire = fire_wait, .on_demand = true},
	{0},
};

/* --- tracepoints of XDP: a small program redirects or rejects a frame between two veth devices,
 * each in a namespace of its own --- */

#define FRAME_BYTES 64u
#ifndef BPF_F_TEST_XDP_LIVE_FRAMES /* Linux 5.18 */
#define BPF_F_TEST_XDP_LIVE_FRAMES (1U << 1)
#endif

#define MOV(reg, value)                                                                            \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (reg), .imm = (value)              \
	}
#define CALL(helper)                                                                               \
	{                                                                                          \
		.code = BPF_JMP | BPF_CALL, .imm = (helper)                                        \
	}
#define EXIT                                                                                       \
	{                                                                                          \
		.code = BPF_JMP | BPF_EXIT                                                         \
	}

static int load_xdp(const struct bpf_insn *insns, size_t n, int *ret_fd)
{
	*ret_fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "bpfbench_xdp", "GPL", insns, n, NULL);
	return bb_failed(*ret_fd < 0);
}

static int load_redirect(unsigned int ifindex, int *ret_fd)
{
	const struct bpf_insn insns[] = {MOV(BPF_REG_1, (__s32)ifindex), MOV(BPF_REG_2, 0),
					 CALL(BPF_FUNC_redirect), EXIT};

	return load_xdp(insns, BB_LEN(insns), ret_fd);
}

/* The flag makes the kernel redirect or drop the frame as the program's result says. */
static int fire_frame(struct bb_firing *f)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = f->page, .data_size_in = FRAME_BYTES,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .repeat = 1);

	return bb_failed(bpf_prog_test_run_opts(f->fd[0], &opts));
}

/* fd[0] redirects frames to the loopback device (number 1), which takes no XDP frames. */
static int open_redirect_err(struct bb_firing *f)
{
	return load_redirect(1, &f->fd[0]);
}

static void close_pair(struct bb_firing *f)
{
	struct bb_veth_pair *pair = (struct bb_veth_pair *)f->own;

	if (f->fd[2] >= 0)
		(void)!setns(f->fd[2], CLONE_NEWNET);
	if (pair) /* NULL if open_redirect() has failed */
		bb_veth_pair__close(pair);
	free(pair);
}

/* Makes two veth devices, and enters the network namespace of the near one. fd[0] redirects frames
 * to the near device, which accepts them only if the far one has a program. That is fd[1], which
 * returns the row's option. */
static int open_redirect(struct bb_firing *f)
{
	f->fd[1] = bb_empty_prog__load(BPF_PROG_TYPE_XDP, 0, f->trigger->option, "bpfbench_xdp");
	if (f->fd[1] < 0)
		return f->fd[1];
	struct bb_veth_pair *pair = bb_calloc(1, sizeof(*pair));
	int rc = bb_veth_pair__open(pair, NULL);
	if (rc) {
		free(pair);
		return rc;
	}
	f->own = (long)pair;
	f->fd[2] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	rc = f->fd[2] < 0 ? -errno : bb_veth_pair__put_on(pair, f->fd[1], BPF_PROG_TYPE_XDP, NULL);
	if (!rc && setns(pair->netns_fd[BB_VETH_NEAR], CLONE_NEWNET))
		rc = -errno;
	return rc ? rc : load_redirect(pair->ifindex[BB_VETH_NEAR], &f->fd[0]);
}

/* fd[0] redirects frames to a queue of the other CPU, or of ours if there is no other. */
static int open_cpumap(struct bb_firing *f)
{
	__u32 cpu = (__u32)(f->site->other_cpu < 0 ? sched_getcpu() : f->site->other_cpu);
	struct bpf_cpumap_val queue = {.qsize = 64};
	struct bpf_insn insns[] = {{.code = BPF_LD | BPF_IMM | BPF_DW,
				    .dst_reg = BPF_REG_1,
				    .src_reg = BPF_PSEUDO_MAP_FD},
				   {0},
				   MOV(BPF_REG_2, (__s32)cpu),
				   MOV(BPF_REG_3, 0),
				   CALL(BPF_FUNC_redirect_map),
				   EXIT};

	f->fd[1] = bpf_map_create(BPF_MAP_TYPE_CPUMAP, "bpfbench", sizeof(cpu), sizeof(queue),
				  cpu + 1, NULL);
	if (f->fd[1] < 0 || bpf_map_update_elem(f->fd[1], &cpu, &queue, BPF_ANY))
		return -errno;
	insns[0].imm = f->fd[1];
	return load_xdp(insns, BB_LEN(insns), &f->fd[0]);
}

/* Waits, so that the other CPU can take the frame from the queue. */
static int fire_cpumap(struct bb_firing *f)
{
	int rc = fire_frame(f);

	usleep(200);
	return rc;
}

const struct bb_trigger bb_triggers_xdp[] = {
	{"xdp-redirect-err", "a frame that XDP redirects to a device that takes none",
	 "xdp_redirect_err", open_redirect_err, .fire = fire_frame},
	{"xdp-redirect", "a frame that XDP redirects to a veth device",
	 "xdp_redirect xdp_devmap_xmit xdp_bulk_tx", open_redirect, .fire = fire_frame,
	 .close = close_pair, .option = XDP_DROP},
	{"xdp-exception", "a frame on which an XDP program gives up (XDP_ABORTED)", "xdp_exception",
	 open_redirect, .fire = fire_frame, .close = close_pair, .option = XDP_ABORTED},
	{"xdp-cpumap", "a frame that XDP redirects to another CPU",
	 "xdp_cpumap_enqueue xdp_cpumap_kthread", open_cpumap, .fire = fire_cpumap},
	{0},
};
