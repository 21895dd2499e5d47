/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/multi_link.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MULTI_RETURN 1U /* BPF_F_KPROBE_MULTI_RETURN, BPF_F_UPROBE_MULTI_RETURN */

/* The part of union bpf_attr that BPF_LINK_CREATE takes for them (linux/bpf.h, 6.6). */
struct link_create {
	uint32_t prog_fd, target_fd, attach_type, flags;
	union {
		struct {
			uint32_t flags, cnt;
			uint64_t syms, addrs, cookies;
		} kprobe;
		struct {
			uint64_t path, offsets, ref_ctr_offsets, cookies;
			uint32_t cnt, flags, pid;
		} uprobe;
	};
};

static int make_link(struct link_create *attr, int *ret_link_fd)
{
	*ret_link_fd = (int)syscall(__NR_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));
	return *ret_link_fd < 0 ? -errno : 0;
}

bool bb_multi_link__is_of_kernel(uint32_t attach_type)
{
	return attach_type == BB_TRACE_KPROBE_MULTI || attach_type == BB_TRACE_KPROBE_SESSION;
}

bool bb_multi_link__is_of_users(uint32_t attach_type)
{
	return attach_type == BB_TRACE_UPROBE_MULTI || attach_type == BB_TRACE_UPROBE_SESSION;
}

int bb_multi_link__to_kernel(int prog_fd, uint32_t attach_type, bool is_return,
			     const char *const *names, uint32_t n, int *ret_link_fd)
{
	struct link_create attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = attach_type,
		.kprobe = {.flags = is_return ? MULTI_RETURN : 0,
			   .cnt = n,
			   .syms = (uint64_t)(uintptr_t)names},
	};

	return make_link(&attr, ret_link_fd);
}

int bb_multi_link__to_file(int prog_fd, uint32_t attach_type, bool is_return, const char *path,
			   const struct bb_multi_places *places, pid_t pid, int *ret_link_fd)
{
	struct link_create attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = attach_type,
		.uprobe = {.path = (uint64_t)(uintptr_t)path,
			   .offsets = (uint64_t)(uintptr_t)places->offsets,
			   .ref_ctr_offsets = (uint64_t)(uintptr_t)places->counters,
			   .cookies = (uint64_t)(uintptr_t)places->cookies,
			   .cnt = places->n,
			   .flags = is_return ? MULTI_RETURN : 0,
			   .pid = pid < 0 ? 0 : (uint32_t)pid},
	};

	return make_link(&attr, ret_link_fd);
}

/* --- what the kernel has --- */

/* A program that does nothing is put where nothing is: the kernel looks for that place only if it
 * knows the type. */
static bool probe(uint32_t attach_type)
{
	static const struct bpf_insn ret_0[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	static const char *const names[] = {"bpfbench_no_such_function"};
	static const uint64_t offset = 0;
	const struct bb_multi_places place = {.offsets = &offset, .n = 1};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)attach_type);
	int prog_fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "bpfbench_probe", "GPL", ret_0, 2, &opts);
	int link_fd, rc;

	if (prog_fd < 0)
		return false;
	rc = bb_multi_link__is_of_kernel(attach_type)
		     ? bb_multi_link__to_kernel(prog_fd, attach_type, false, names, 1, &link_fd)
		     : bb_multi_link__to_file(prog_fd, attach_type, false, "/", &place, -1,
					      &link_fd);
	if (!rc)
		close(link_fd);
	close(prog_fd);
	/* -ESRCH: no such function; -EBADF: no regular file */
	return !rc || rc == -ESRCH || rc == -ENOENT || rc == -EBADF;
}

bool bb_multi_link__is_there(uint32_t attach_type)
{
	static struct {
		uint32_t attach_type;
		bool asked, there;
	} answers[] = {{.attach_type = BB_TRACE_KPROBE_MULTI},
		       {.attach_type = BB_TRACE_UPROBE_MULTI},
		       {.attach_type = BB_TRACE_KPROBE_SESSION},
		       {.attach_type = BB_TRACE_UPROBE_SESSION}};

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (answers[i].attach_type != attach_type)
			continue;
		if (!answers[i].asked)
			answers[i].there = probe(attach_type);
		answers[i].asked = true;
		return answers[i].there;
	}
	return false;
}
