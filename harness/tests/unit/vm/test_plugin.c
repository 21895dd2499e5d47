/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin for QEMU, without QEMU. It writes only what is between marks, and no more than its
 * limits, which are small here. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "bpf/trace_record.h"

#undef BB_TRACE_MOST
#undef BB_TRACE_MOST_IN_ALL
#define BB_TRACE_MOST 8u
#define BB_TRACE_MOST_IN_ALL 20u

#include "vm/plugin/trace.c"

/* Functions of QEMU that this test does not need. */
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t id,
						      struct qemu_plugin_tb *tb))
{
	(void)id;
	(void)cb;
}

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int cpu, void *arg), int registers,
					    void *arg)
{
	(void)insn;
	(void)cb;
	(void)registers;
	(void)arg;
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      void (*cb)(unsigned int cpu, qemu_plugin_meminfo_t info,
						 uint64_t address, void *arg),
				      int registers, int which, void *arg)
{
	(void)insn;
	(void)cb;
	(void)registers;
	(void)which;
	(void)arg;
}

void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t id, void *arg),
				    void *arg)
{
	(void)id;
	(void)cb;
	(void)arg;
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
	(void)tb;
	return 0;
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i)
{
	(void)tb;
	(void)i;
	return NULL;
}

void qemu_plugin_insn_data(void)
{
}

unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info)
{
	return info;
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
	(void)insn;
	return 0;
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
	(void)insn;
	return 0;
}

/* Executes n instructions of the guest between two marks, and one after the second mark. */
static void run(unsigned n)
{
	struct bb_trace_record insn = {0x1000, BB_TRACE_INSN, BB_TRACE_OTHER, 4};

	on_begin(0, NULL);
	for (unsigned i = 0; i < n; i++)
		on_insn(0, &insn);
	on_end(0, NULL);
	on_insn(0, &insn);
}

/* Counts the records of each kind that were written since the test began. */
static void count(const char *written, size_t size, unsigned counts[4])
{
	const struct bb_trace_record *r = (const void *)written;

	memset(counts, 0, 4 * sizeof(*counts));
	for (size_t i = 0; i < size / sizeof(*r); i++)
		counts[r[i].kind]++;
}

static void test_limits(void **state)
{
	char *written = NULL;
	size_t size = 0;
	unsigned counts[4];

	(void)state;
	out = open_memstream(&written, &size);
	run(3);
	fflush(out);
	count(written, size, counts);
	assert_int_equal(counts[BB_TRACE_INSN], 3);
	assert_int_equal(counts[BB_TRACE_BEGIN], 1);
	assert_int_equal(counts[BB_TRACE_END], 1);
	run(100); /* 7 and their mark; with the 5 before and the end mark, 14 records */
	run(100);
	fflush(out);
	count(written, size, counts);
	assert_int_equal(counts[BB_TRACE_INSN], 3 + 7 + 5);
	assert_int_equal(counts[BB_TRACE_BEGIN], 3);
	assert_int_equal(counts[BB_TRACE_END], 3);
	for (int i = 0; i < 1000; i++)
		run(5);
	fflush(out);
	count(written, size, counts);
	assert_int_equal(counts[BB_TRACE_INSN], 3 + 7 + 5);
	assert_int_equal(size, 28 * sizeof(struct bb_trace_record));
	on_exit_of_qemu(0, NULL);
	free(written);
}

/* An access has its address and size. Accesses outside of the marks are not written. */
static void test_accesses(void **state)
{
	struct bb_trace_record *written = NULL;
	size_t size = 0;

	(void)state;
	n_in_all = 0;
	out = open_memstream((char **)&written, &size);
	on_access(0, 3, 0x2000, NULL);
	on_begin(0, NULL);
	on_access(0, 3, 0x2008, NULL);
	on_end(0, NULL);
	on_exit_of_qemu(0, NULL);
	assert_int_equal(size, 3 * sizeof(*written));
	assert_int_equal(written[1].kind, BB_TRACE_ACCESS);
	assert_int_equal(written[1].address, 0x2008);
	assert_int_equal(written[1].size_bytes, 8);
	free(written);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits),
					   cmocka_unit_test(test_accesses)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
