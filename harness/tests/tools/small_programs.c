/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A loader that tests the kernel with small programs, as bpftrace does. It loads, and then waits:
 * - "ksys_read" and a nameless program, which return at once: tests of the kernel. It closes both,
 *   the nameless one after a test run;
 * - "jumps", closed, too, but no test: it has six instructions and makes a tail call;
 * - "works", which is larger, and "kept", which is as small as the tests: both stay open;
 * - "cut", which the kernel refuses, because its last instruction lacks its second slot.
 * With argument "indexed" it instead loads "indexed", whose map is named by its index in fd_array,
 * runs it seven times, and prints what the program left in the map.
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

static int run_indexed(void)
{
	const int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "numbers", 4, 8, 1, NULL),
		  fds[] = {-1, map};
	const struct bpf_insn insns[] = {{.code = BPF_LD | BPF_IMM | BPF_DW,
					  .dst_reg = 1,
					  .src_reg = BPF_PSEUDO_MAP_IDX_VALUE,
					  .imm = 1},
					 {0},
					 MOVE(2, 6),
					 {.code = BPF_STX | BPF_ATOMIC | BPF_DW,
					  .dst_reg = 1,
					  .src_reg = 2,
					  .imm = BPF_ADD},
					 MOVE(0, 0),
					 LEAVE};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .fd_array = fds);
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "indexed", "GPL", insns, LENGTH(insns),
			       &opts);
	const uint32_t key = 0;
	uint64_t value = 0;

	if (fd < 0)
		perror("indexed");
	for (int i = 0; fd >= 0 && i < 7; i++)
		run(fd);
	bpf_map_lookup_elem(map, &key, &value);
	fprintf(stderr, "left %llu\n", (unsigned long long)value);
	return fd < 0;
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
	bool is_last = argc > 1 && !strcmp(argv[1], "last");
	int works, kept;

	if (argc > 1 && !strcmp(argv[1], "indexed"))
		return run_indexed();
	works = load("works", work, LENGTH(work));
	kept = load("kept", stub, LENGTH(stub));
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
