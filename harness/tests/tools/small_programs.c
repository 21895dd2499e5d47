/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A loader that tests the kernel with small programs, as bpftrace does. It loads, and then waits:
 * - "ksys_read" and a nameless program, which return at once: tests of the kernel. It closes both,
 *   the nameless one after a test run;
 * - "jumps", closed, too, but no test: it has six instructions and makes a tail call;
 * - "works", which is larger, and "kept", which is as small as the tests: both stay open;
 * - "cut", which the kernel refuses, because its last instruction lacks its second slot.
 * With argument "last" it also loads, test-runs and closes "returns", and closes "works" and
 * "kept".
 */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))
#define MOVE(reg, value)                                                                           \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (reg), .imm = (value)              \
	}
#define LEAVE                                                                                      \
	{                                                                                          \
		.code = BPF_JMP | BPF_EXIT                                                         \
	}

static int load(const char *name, const struct bpf_insn *insns, size_t n)
{
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, name, "GPL", insns, n, NULL);

	if (fd < 0)
		perror(name ? name : "nameless");
	return fd;
}

static int run(int fd)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	bpf_prog_test_run_opts(fd, &opts);
	return fd;
}

int main(int argc, char **argv)
{
	int array = bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "jumps", 4, 4, 1, NULL);
	const struct bpf_insn stub[] = {MOVE(0, 0), LEAVE};
	const struct bpf_insn work[] = {MOVE(0, 1), MOVE(1, 1), MOVE(2, 1), MOVE(3, 1), MOVE(4, 1),
					MOVE(5, 1), MOVE(1, 2), MOVE(2, 2), MOVE(0, 0), LEAVE};
	const struct bpf_insn jump[] = {{.code = BPF_LD | BPF_IMM | BPF_DW,
					 .dst_reg = 2,
					 .src_reg = BPF_PSEUDO_MAP_FD,
					 .imm = array},
					{0},
					MOVE(3, 0),
					{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_tail_call},
					MOVE(0, 0),
					LEAVE};
	const struct bpf_insn cut[] = {MOVE(0, 0),
				       {.code = BPF_LD | BPF_IMM | BPF_DW,
					.src_reg = BPF_PSEUDO_MAP_FD,
					.imm = INT32_MAX}};
	int works = load("works", work, LENGTH(work)), kept = load("kept", stub, LENGTH(stub));
	bool is_last = argc > 1 && !strcmp(argv[1], "last");

	close(load("ksys_read", stub, LENGTH(stub)));
	close(run(load(NULL, stub, LENGTH(stub))));
	if (bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "cut", "GPL", cut, LENGTH(cut), NULL) >= 0)
		return 1;
	close(load("jumps", jump, LENGTH(jump)));
	if (is_last) {
		close(run(load("returns", stub, LENGTH(stub))));
		close(works);
		close(kept);
	}
	fputs("ready\n", stderr);
	for (;;)
		pause();
}
