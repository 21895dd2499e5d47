/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin of QEMU's emulator: writes each instruction that the guest executes between two marks
 * (bpf/marks.h), and the memory that it accesses, to a file, as records of bpf/trace_record.h. The
 * last access of a call or return is the stack slot with the return address, which tells the call
 * that a return belongs to.
 *
 *     qemu-system-x86_64 -plugin trace.so,out=FILE
 */
#include "bpf/trace_record.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Declarations from QEMU's qemu-plugin.h. Debian has no package with this header. QEMU 7.2 takes
 * plugins of version 1, QEMU 9.0 and later those of version 2. */
typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_info_t {
	const char *target_name;
	struct {
		int min, cur; /* versions of plugins that this QEMU takes */
	} version;
};
struct qemu_plugin_tb;
struct qemu_plugin_insn;
#define NO_REGISTERS 0
#define READS_AND_WRITES 3
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t id,
						      struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int cpu, void *arg), int registers,
					    void *arg);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      void (*cb)(unsigned int cpu, qemu_plugin_meminfo_t info,
						 uint64_t address, void *arg),
				      int registers, int which, void *arg);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t id, void *arg),
				    void *arg);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
/* Declared without its type, which depends on the version of QEMU's plugin API. Up to version 2 it
 * returns a pointer to the instruction's bytes. Since version 3 it copies them to a buffer. */
void qemu_plugin_insn_data(void);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);

#define EXPORT __attribute__((visibility("default")))
extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv);

EXPORT int qemu_plugin_version = 1;

/* Runs before QEMU reads the version. QEMU takes plugins of version 2 if it has a function that is
 * new in that version. */
__attribute__((constructor)) static void choose_version(void)
{
	if (dlsym(RTLD_DEFAULT, "qemu_plugin_scoreboard_new"))
		qemu_plugin_version = 2;
}

static int version_of_qemu;
static FILE *out;
static bool is_recording; /* true if the guest is between two marks */
static size_t n_records;  /* since the latest mark */
static size_t n_in_all;

static void write_record(struct bb_trace_record r)
{
	bool is_mark = r.kind == BB_TRACE_BEGIN || r.kind == BB_TRACE_END;

	if (n_records >= BB_TRACE_MOST ||
	    n_in_all >= BB_TRACE_MOST_IN_ALL + (is_mark ? BB_TRACE_MOST : 0))
		return;
	n_records++;
	n_in_all++;
	fwrite(&r, sizeof(r), 1, out);
}

static void on_insn(unsigned int, void *arg)
{
	const struct bb_trace_record *r = arg;

	if (is_recording)
		write_record(*r);
}

static void on_access(unsigned int, qemu_plugin_meminfo_t info, uint64_t address, void *)
{
	const struct bb_trace_record r = {address, BB_TRACE_ACCESS, 0,
					  1u << qemu_plugin_mem_size_shift(info)};

	if (is_recording)
		write_record(r);
}

static void on_begin(unsigned int, void *)
{
	is_recording = true;
	n_records = 0;
	write_record((struct bb_trace_record){.kind = BB_TRACE_BEGIN});
}

static void on_end(unsigned int, void *)
{
	if (!is_recording)
		return;
	is_recording = false;
	n_records = 0;
	write_record((struct bb_trace_record){.kind = BB_TRACE_END});
}

/* Returns the class (bpf/trace_record.h) of the x86_64 instruction code[len]. */
static uint16_t class_of(const unsigned char *code, size_t len)
{
	static const char prefixes[] = "\xf2\xf3\x66\x2e\x3e\x36\x26\x64\x65\xf0";
	size_t i = 0;

	while (i < len && code[i] && strchr(prefixes, code[i]))
		i++;
	if (i < len && (code[i] & 0xf0) == 0x40) /* a REX prefix */
		i++;
	if (i >= len)
		return BB_TRACE_OTHER;
	switch (code[i]) {
	case 0xe8: return BB_TRACE_CALL;
	case 0xc2:
	case 0xc3: return BB_TRACE_RETURN;
	case 0xcf: return BB_TRACE_INTERRUPT_RETURN;
	case 0xff: /* an indirect call or jump, which bits 3 to 5 of the next byte tell apart */
		return i + 1 < len && (code[i + 1] >> 3 & 7) == 2 ? BB_TRACE_CALL : BB_TRACE_OTHER;
	case 0x0f: /* rdtsc, rdtscp */
		if (i + 1 < len && code[i + 1] == 0x31)
			return BB_TRACE_CLOCK;
		if (i + 2 < len && code[i + 1] == 0x01 && code[i + 2] == 0xf9)
			return BB_TRACE_CLOCK;
	}
	return BB_TRACE_OTHER;
}

#define INSN_MAX_BYTES 16 /* the longest instruction of x86 has 15 bytes */

/* types of qemu_plugin_insn_data(), up to version 2 of the plugin API and since version 3 */
typedef const void *bytes_of_insn(const struct qemu_plugin_insn *insn);
typedef size_t copy_insn(const struct qemu_plugin_insn *insn, void *to, size_t size);

static size_t read_code(struct qemu_plugin_insn *insn, unsigned char *code)
{
	bytes_of_insn *bytes_of = (bytes_of_insn *)qemu_plugin_insn_data;
	copy_insn *copy = (copy_insn *)qemu_plugin_insn_data;
	size_t len = qemu_plugin_insn_size(insn);

	if (len > INSN_MAX_BYTES)
		len = INSN_MAX_BYTES;
	if (version_of_qemu >= 3)
		return copy(insn, code, len);
	memcpy(code, bytes_of(insn), len);
	return len;
}

static void on_translate(qemu_plugin_id_t, struct qemu_plugin_tb *tb)
{
	static const unsigned char begin[] = {BB_TRACE_MARK(0x41)}, end[] = {BB_TRACE_MARK(0x42)};
	size_t n = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		unsigned char code[INSN_MAX_BYTES];
		size_t len = read_code(insn, code);
		/* QEMU passes this record to on_insn() until QEMU ends, so nobody frees the
		 * record */
		struct bb_trace_record *r = malloc(sizeof(*r));

		if (!r)
			abort();
		*r = (struct bb_trace_record){qemu_plugin_insn_vaddr(insn), BB_TRACE_INSN,
					      class_of(code, len), (uint32_t)len};
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_insn, NO_REGISTERS, r);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, NO_REGISTERS, READS_AND_WRITES,
						 NULL);
		if (len == sizeof(begin) && !memcmp(code, begin, len))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_begin, NO_REGISTERS, NULL);
		if (len == sizeof(end) && !memcmp(code, end, len))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_end, NO_REGISTERS, NULL);
	}
}

static void on_exit_of_qemu(qemu_plugin_id_t, void *)
{
	fclose(out);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc,
			       char **argv)
{
	version_of_qemu = info->version.cur;
	if (argc == 1 && !strncmp(argv[0], "out=", 4))
		out = fopen(argv[0] + 4, "w");
	if (!out)
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
