/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the line of a log that says why a program was refused. The logs are from Linux 6.1 to 6.18
 * and libbpf 1.1. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "bpf/libbpf_log.h"

static void check(void (*find)(const char *, char *, size_t), const char *log, const char *want)
{
	char reason[300];

	find(log, reason, sizeof(reason));
	assert_string_equal(reason, want);
}

static void test_verifier(void **state)
{
	(void)state;
	check(bb_refusal_of_verifier,
	      "0: R1=ctx() R10=fp0\n; return x @ a.bpf.c:3\n0: (61) r1 = *(u32 *)(r1 +76)\n"
	      "1: (61) r0 = *(u32 *)(r1 +0)\ninvalid access to packet, off=0 size=4, "
	      "R1(id=0,off=0,r=0)\nR1 offset is outside of the packet\n"
	      "processed 2 insns (limit 1000000) max_states_per_insn 0\n"
	      "-- END PROG LOAD LOG --\nlibbpf: prog 'x': failed to load: -13\n"
	      "libbpf: failed to load object 'bpfbench'\n",
	      "R1 offset is outside of the packet, at: return x @ a.bpf.c:3");
	check(bb_refusal_of_verifier,
	      "infinite loop detected at insn 2\ncur state: R1=scalar() R10=fp0\n"
	      "old state: R1_w=scalar() R10=fp0\nprocessed 9 insns\n",
	      "infinite loop detected at insn 2");
	check(bb_refusal_of_verifier,
	      "5: (85) call bpf_map_lookup_elem#1\nR2 type=scalar expected=fp, pkt\n"
	      "verification time 38 usec\nstack depth 0\nprocessed 6 insns\n",
	      "R2 type=scalar expected=fp, pkt");
	check(bb_refusal_of_verifier, "R0_w=0 R10=fp0\nprocessed 3 insns\n", "");
	check(bb_refusal_of_verifier, "", "");
	check(bb_refusal_of_verifier, "\n\n", "");
	check(bb_refusal_of_verifier, "no line's end", "no line's end");
}

static void test_libbpf(void **state)
{
	(void)state;
	check(bb_refusal_of_libbpf,
	      "libbpf: Error in bpf_create_map_xattr(m):Invalid argument(-22). Retrying without "
	      "BTF.\nlibbpf: map 'm': failed to create: Invalid argument(-22)\n"
	      "libbpf: failed to load object 'bpfbench'\n",
	      "map 'm': failed to create: Invalid argument(-22)");
	check(bb_refusal_of_libbpf,
	      "libbpf: extern (func ksym) 'k': not found in kernel or module BTFs\n"
	      "libbpf: failed to load object 'bpfbench'\n",
	      "extern (func ksym) 'k': not found in kernel or module BTFs");
	check(bb_refusal_of_libbpf,
	      "libbpf: prog 'x': failed to find kernel BTF type ID of 'account_page_dirtied': -3\n"
	      "libbpf: prog 'x': failed to prepare load attributes: -3\n"
	      "libbpf: prog 'x': failed to load: -3\nlibbpf: failed to load object 'bpfbench'\n",
	      "prog 'x': failed to find kernel BTF type ID of 'account_page_dirtied': -3");
	check(bb_refusal_of_libbpf,
	      "libbpf: prog 'x': BPF program load failed: Operation not permitted\n"
	      "libbpf: permission error while running as root; try raising 'ulimit -l'? current "
	      "value: 8.0 MiB\nlibbpf: prog 'x': failed to load: -1\n",
	      "");
	check(bb_refusal_of_libbpf, "libbpf: failed to load object 'bpfbench'\n", "");
	check(bb_refusal_of_libbpf, "", "");
}

static void test_log(void **state)
{
	(void)state;
	check(bb_refusal_log_of_verifier,
	      "libbpf: prog 'x': BPF program load failed: Invalid argument\n"
	      "libbpf: prog 'x': -- BEGIN PROG LOAD LOG --\n0: R1=ctx() R10=fp0\nlast insn is not "
	      "an "
	      "exit\n-- END PROG LOAD LOG --\nlibbpf: prog 'x': failed to load: -22\n",
	      "0: R1=ctx() R10=fp0\nlast insn is not an exit\n");
	check(bb_refusal_log_of_verifier, "no line's end", "no line's end\n");
	check(bb_refusal_log_of_verifier, "", "");
}

/* A reason that is too long is cut off. */
static void test_room(void **state)
{
	char reason[8];

	(void)state;
	bb_refusal_of_verifier("0123456789", reason, sizeof(reason));
	assert_string_equal(reason, "0123456");
	bb_refusal_log_of_verifier("0123\n456789\n", reason, sizeof(reason));
	assert_string_equal(reason, "0123\n45");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verifier),
		cmocka_unit_test(test_libbpf),
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
