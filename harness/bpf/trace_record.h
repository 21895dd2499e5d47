/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/* Kinds of records. QEMU's plugin (vm/plugin/trace.c) writes all but BB_TRACE_FAULT. */
enum {
	BB_TRACE_INSN,
	/* an access to memory by the latest BB_TRACE_INSN; the last one of a call or return is to
	 * its return address */
	BB_TRACE_ACCESS,
	BB_TRACE_BEGIN,
	BB_TRACE_END,
	BB_TRACE_FAULT, /* an instruction that faulted; only profile/traced.c sets this kind */
};

enum {
	BB_TRACE_OTHER,
	BB_TRACE_CALL,
	BB_TRACE_RETURN,
	BB_TRACE_INTERRUPT_RETURN,
	BB_TRACE_CLOCK, /* the instruction reads the time */
};

struct bb_trace_record {
	uint64_t address;
	uint16_t kind, class;
	uint32_t size_bytes; /* size of the instruction or of the memory access */
};

/* Most records between two marks, and in all. The plugin drops further ones. For marks
 * (BB_TRACE_BEGIN, BB_TRACE_END), the second limit is higher by BB_TRACE_MOST. */
#define BB_TRACE_MOST (UINT32_C(4) << 20)
#define BB_TRACE_MOST_IN_ALL (4 * BB_TRACE_MOST)

/* The bytes of an instruction that does nothing and that no compiler makes: nopw 0x42NN(%rax). The
 * plugin starts to record at nn = 0x41 and stops at nn = 0x42. */
#define BB_TRACE_MARK(nn) 0x66, 0x0f, 0x1f, 0x80, nn, 0x42, 0, 0
