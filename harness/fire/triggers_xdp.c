/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers of XDP's tracepoints: a frame that a small program redirects or spoils, over a pair of
 * veth devices in namespaces of their own. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bpf/veth_pair.h"
#include "fire/trigger.h"

#define FRAME_BYTES 64u
#ifndef BPF_F_TEST_XDP_LIVE_FRAMES /* 5.18 */
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
	return *ret_fd < 0 ? -errno : 0;
}

static int load_redirect(unsigned int ifindex, int *ret_fd)
{
	const struct bpf_insn insns[] = {MOV(BPF_REG_1, (__s32)ifindex), MOV(BPF_REG_2, 0),
					 CALL(BPF_FUNC_redirect), EXIT};

	return load_xdp(insns, sizeof(insns) / sizeof(insns[0]), ret_fd);
}

/* To the program `fd[0]`: one frame, which goes where it says. */
static int fire_frame(struct bb_firing *f)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = f->page, .data_size_in = FRAME_BYTES,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .repeat = 1);

	return bpf_prog_test_run_opts(f->fd[0], &opts) ? -errno : 0;
}

/* To a device that takes no frames: the loopback device, the first of every namespace. */
static int open_redirect_err(struct bb_firing *f)
{
	return load_redirect(1, &f->fd[0]);
}

/* Two devices, the far one with `far_fd` on it, which makes the near one take frames; we are in the
 * near one's namespace then. args[0]: the pair. */
static int open_pair(struct bb_firing *f, int far_fd)
{
	struct bb_veth_pair *pair = calloc(1, sizeof(*pair));
	int rc = pair ? bb_veth_pair__open(pair, NULL) : -ENOMEM;

	if (rc) {
		free(pair);
		return rc;
	}
	f->args[0] = (long)pair;
	f->fd[2] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	rc = f->fd[2] < 0 ? -errno : bb_veth_pair__put_on(pair, far_fd, BPF_PROG_TYPE_XDP, NULL);
	if (!rc && setns(pair->netns_fd[BB_VETH_NEAR], CLONE_NEWNET))
		rc = -errno;
	return rc;
}

static void close_pair(struct bb_firing *f)
{
	struct bb_veth_pair *pair = (struct bb_veth_pair *)f->args[0];

	if (f->fd[2] >= 0)
		(void)!setns(f->fd[2], CLONE_NEWNET);
	bb_veth_pair__close(pair);
	free(pair);
}

/* fd[0] sends out of the near device; fd[1] stands on the far one. */
static int open_redirect_to(struct bb_firing *f, int verdict)
{
	const struct bpf_insn far[] = {MOV(BPF_REG_0, verdict), EXIT};
	int rc = load_xdp(far, 2, &f->fd[1]);

	if (!rc)
		rc = open_pair(f, f->fd[1]);
	if (!rc)
		rc = load_redirect(((struct bb_veth_pair *)f->args[0])->ifindex[BB_VETH_NEAR],
				   &f->fd[0]);
	return rc;
}

static int open_redirect(struct bb_firing *f)
{
	return open_redirect_to(f, XDP_DROP);
}

static int open_exception(struct bb_firing *f)
{
	return open_redirect_to(f, XDP_ABORTED);
}

/* fd[0] sends to a queue on the other CPU, or on ours. */
static int open_cpumap(struct bb_firing *f)
{
	__u32 cpu = (__u32)(f->other_cpu < 0 ? sched_getcpu() : f->other_cpu);
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
	return load_xdp(insns, sizeof(insns) / sizeof(insns[0]), &f->fd[0]);
}

/* The other CPU takes it from its queue in its own time. */
static int fire_cpumap(struct bb_firing *f)
{
	const struct timespec until_taken = {.tv_nsec = 200000};
	int rc = fire_frame(f);

	nanosleep(&until_taken, NULL);
	return rc;
}

const struct bb_trigger bb_triggers_xdp[] = {
	{.name = "xdp-redirect-err",
	 .doc = "a frame that XDP redirects to a device that takes none",
	 .words = "xdp_redirect_err",
	 .open = open_redirect_err,
	 .fire = fire_frame},
	{.name = "xdp-redirect",
	 .doc = "a frame that XDP redirects to a veth device",
	 .words = "xdp_redirect xdp_devmap_xmit xdp_bulk_tx",
	 .open = open_redirect,
	 .fire = fire_frame,
	 .close = close_pair},
	{.name = "xdp-exception",
	 .doc = "a frame on which an XDP program gives up (XDP_ABORTED)",
	 .words = "xdp_exception",
	 .open = open_exception,
	 .fire = fire_frame,
	 .close = close_pair},
	{.name = "xdp-cpumap",
	 .doc = "a frame that XDP redirects to another CPU",
	 .words = "xdp_cpumap_enqueue xdp_cpumap_kthread",
	 .open = open_cpumap,
	 .fire = fire_cpumap},
	{0},
};
