/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/functions.h"

#include "workloads/source_addr.h"

#define FRAMES 8u

void bb_function_room__init(struct bb_function_room *room)
{
	memset(room, 0, sizeof(*room));
	room->sample.header = (struct bb_sample_header){
		.ktime_ns = 86400123456789,
		.pid = 4711,
		.tid = 4712,
		.stack_len = FRAMES * sizeof(room->sample.stack[0]),
	};
	for (unsigned int i = 0; i < FRAMES; i++)
		room->sample.stack[i] = 0x555555555000 + 0x1234 * i;
	room->log =
		(struct bb_sample_log){.text = room->text, .size = sizeof(room->text), .fd = -1};
}

static void process(const struct bb_sample_processor *p, struct bb_function_room *room, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		room->sink += (uint32_t)p->process(&room->sample, sizeof(room->sample), &room->log);
}

static void process_sample_fixed(struct bb_function_room *room, uint32_t n)
{
	process(&bb_process_sample_fixed, room, n);
}

static void process_sample_oops(struct bb_function_room *room, uint32_t n)
{
	process(&bb_process_sample_oops, room, n);
}

/* As in the published benchmark, a call classifies all 256 values of an address's low byte. */
static inline __attribute__((always_inline)) void classify(
	bool (*version)(uint32_t, enum bb_source_addr *), struct bb_function_room *room, uint32_t n)
{
	enum bb_source_addr kind = BB_FIZZ;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t addr = 0; addr < 256; addr++)
			room->sink += version(addr, &kind) ? (uint32_t)kind : 0;
}

static void source_addr_v1(struct bb_function_room *room, uint32_t n)
{
	classify(bb_source_addr_v1, room, n);
}

static void source_addr_v2(struct bb_function_room *room, uint32_t n)
{
	classify(bb_source_addr_v2, room, n);
}

static void source_addr_v3(struct bb_function_room *room, uint32_t n)
{
	classify(bb_source_addr_v3, room, n);
}

static void source_addr_v4(struct bb_function_room *room, uint32_t n)
{
	classify(bb_source_addr_v4, room, n);
}

const struct bb_function bb_functions[] = {
	{"process_sample", "fixed", false, process_sample_fixed},
	{"process_sample", "oops", true, process_sample_oops},
	{"source_addr", "v1", false, source_addr_v1},
	{"source_addr", "v2", false, source_addr_v2},
	{"source_addr", "v3", false, source_addr_v3},
	{"source_addr", "v4", false, source_addr_v4},
};

const size_t bb_n_functions = BB_LEN(bb_functions);

const char *bb_function_name(size_t i)
{
	for (size_t k = 0; k < bb_n_functions; k++)
		if ((!k || strcmp(bb_functions[k].name, bb_functions[k - 1].name)) && !i--)
			return bb_functions[k].name;
	return NULL;
}
