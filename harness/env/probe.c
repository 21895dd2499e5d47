/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/probe.h"

#include <glob.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>

#include "base/caller.h"
#include "base/parse.h"
#include "env/sysfile.h"

static int load_program(int prog_type, int attach_type, int btf_id, const struct bpf_insn *insns,
			size_t n_insns)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)attach_type,
		    .attach_btf_id = (__u32)btf_id);
	int fd = bpf_prog_load((enum bpf_prog_type)prog_type, "bb_check", "GPL", insns, n_insns,
			       &opts);

	return fd < 0 ? -errno : fd;
}

int bb_probe__load(int prog_type, int attach_type, int btf_id)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return load_program(prog_type, attach_type, btf_id, insns,
			    sizeof(insns) / sizeof(insns[0]));
}

int bb_probe__load_memcg_helper(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_coarse_ns},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return load_program(BPF_PROG_TYPE_SOCKET_FILTER, 0, 0, insns,
			    sizeof(insns) / sizeof(insns[0]));
}

int bb_probe__stats_are_on(void)
{
	char packet[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet),
		    .repeat = 4);
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);
	int fd = bb_probe__load(BPF_PROG_TYPE_SOCKET_FILTER, 0, 0), rc;

	if (fd < 0)
		return fd;
	rc = bpf_prog_test_run_opts(fd, &opts) || bpf_obj_get_info_by_fd(fd, &info, &len)
		     ? -errno
		     : info.run_cnt > 0;
	close(fd);
	return rc;
}

bool bb_probe__stats_holder(char *ret_who, size_t size)
{
	char target[64], path[64], comm[64];
	uint64_t pid = 0;
	bool found = false;
	glob_t fds;

	bb_root__begin(); /* the folder of descriptors is for its process and root alone */
	if (glob("/proc/[0-9]*/fd/*", GLOB_NOSORT, NULL, &fds))
		fds.gl_pathc = 0;
	for (size_t i = 0; i < fds.gl_pathc && !found; i++) {
		const char *digits = fds.gl_pathv[i] + strlen("/proc/");
		ssize_t len = readlink(fds.gl_pathv[i], target, sizeof(target) - 1);

		target[len < 0 ? 0 : len] = '\0';
		found = strstr(target, "bpf-stats") && !bb_parse_digits(&digits, &pid) &&
			pid != (uint64_t)getpid();
	}
	bb_root__end();
	globfree(&fds);
	if (!found)
		return false;
	snprintf(path, sizeof(path), "/proc/%llu/comm", (unsigned long long)pid);
	if (bb_sysfile__read("", path, comm, sizeof(comm)))
		snprintf(comm, sizeof(comm), "?");
	snprintf(ret_who, size, "%s (%llu)", comm, (unsigned long long)pid);
	return true;
}

int bb_probe__event(uint32_t type, uint64_t config, uint64_t period)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.sample_period = period,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}
