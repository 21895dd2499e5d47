/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs of fun_xdp in the kernel: what they return and push, for every input of the scenario
 * and for bad packets. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/bpf.h>

#include "plan/packet.h"
#include "unit/bpf_testing.h"
#include "workloads/source_addr.h"

#define FRAME_BYTES 64u
#define NOTHING 99

struct programs {
	struct bpf_object *object;
	int queue_fd;
};

static struct programs load_programs(void)
{
	struct programs p;
	char path[4096];

	p.object = bpf_object__open_file(built("bpf/fun_xdp.bpf.o", path, sizeof(path)), NULL);
	assert_non_null(p.object);
	assert_int_equal(bpf_object__load(p.object), 0);
	p.queue_fd = bpf_object__find_map_fd_by_name(p.object, "SOURCE_ADDR_QUEUE");
	assert_true(p.queue_fd >= 0);
	return p;
}

/* Returns the return value of one run on a packet of `len` bytes. */
static uint32_t run(const struct programs *p, const char *program, const uint8_t *frame, size_t len)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(p->object, program);
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = (uint32_t)len,
		    .repeat = 1);
	int rc;

	assert_non_null(prog);
	do
		rc = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
	while (rc == -EINTR);
	assert_int_equal(rc, 0);
	return opts.retval;
}

/* Takes the entry of the queue, of which there is at most one. Returns NOTHING if it is empty. */
static int pop(const struct programs *p)
{
	uint32_t value = NOTHING, more;

	if (bpf_map_lookup_and_delete_elem(p->queue_fd, NULL, &value))
		return NOTHING;
	assert_int_not_equal(bpf_map_lookup_and_delete_elem(p->queue_fd, NULL, &more), 0);
	return (int)value;
}

static void make_frame(uint8_t low, uint8_t *frame)
{
	static const uint8_t rest[] = {10, 2, 3}; /* as in scenarios/fun_xdp.yml */
	struct bb_packet packet;

	bb_packet__init(&packet);
	packet.ip = BB_PACKET_IPV4;
	packet.l4 = BB_PACKET_TCP;
	packet.ip_src[0] = low;
	memcpy(packet.ip_src + 1, rest, sizeof(rest));
	bb_packet__write(&packet, frame, FRAME_BYTES);
}

static void test_answers(void **state)
{
	static const struct {
		const char *program;
		bool (*answer)(uint32_t addr, enum bb_source_addr *ret_kind);
	} versions[] = {
		{"empty", NULL},           {"v0", NULL},
		{"v1", bb_source_addr_v1}, {"v2", bb_source_addr_v2},
		{"v3", bb_source_addr_v3}, {"v4", bb_source_addr_v4},
	};
	struct programs p;

	(void)state;
	need_root();
	p = load_programs();
	for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
		for (uint32_t low = 0; low < 256; low++) {
			uint32_t addr = low | 10U << 8 | 2U << 16 | 3U << 24;
			enum bb_source_addr kind = BB_FIZZ;
			uint8_t frame[FRAME_BYTES];
			int pushed;

			make_frame((uint8_t)low, frame);
			assert_int_equal(run(&p, versions[v].program, frame, sizeof(frame)),
					 XDP_PASS);
			pushed = pop(&p);
			if (!versions[v].answer || !versions[v].answer(addr, &kind))
				kind = (enum bb_source_addr)NOTHING;
			if (pushed != (int)kind)
				fail_msg("%s at %u: pushed %d, not %d", versions[v].program, low,
					 pushed, (int)kind);
		}
	}
	bpf_object__close(p.object);
}

/* A packet that is not IPv4 passes; one with an incomplete IPv4 header is aborted. The kernel
 * itself accepts no packet shorter than an Ethernet header. */
static void test_other_packets(void **state)
{
	static const char *const programs[] = {"v0", "v1", "v2", "v3", "v4"};
	struct programs p;

	(void)state;
	need_root();
	p = load_programs();
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		uint8_t frame[FRAME_BYTES];

		make_frame(15, frame); /* every version but v0 would push this */
		assert_int_equal(run(&p, programs[i], frame, 14 + 19), XDP_ABORTED);
		assert_int_equal(pop(&p), NOTHING);
		assert_int_equal(run(&p, programs[i], frame, 14), XDP_ABORTED);
		frame[12] = 0x86; /* 0x8600 is not IPv4 */
		assert_int_equal(run(&p, programs[i], frame, sizeof(frame)), XDP_PASS);
		assert_int_equal(pop(&p), NOTHING);
		assert_int_equal(run(&p, programs[i], frame, 14), XDP_PASS);
	}
	bpf_object__close(p.object);
}

/* The 1025th push fails and is counted in `drops`. The packet still passes. */
static void test_full_queue(void **state)
{
	struct bb_target *t;
	struct bb_err err = {0};
	uint8_t frame[FRAME_BYTES];
	uint64_t drops = 99;
	char path[4096];

	(void)state;
	need_root();
	make_frame(15, frame);
	if (bb_target__open(&(struct bb_source_spec){.path = built("bpf/fun_xdp.bpf.o", path,
								   sizeof(path)),
						     .program = "v2"},
			    &t, &err) ||
	    bb_target__load(t, &err))
		fail_msg("%s", err.msg);
	for (uint32_t i = 0; i < BB_SOURCE_ADDR_QUEUE_ENTRIES + 3; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame,
			    .data_size_in = sizeof(frame), .repeat = 1);

		if (bpf_prog_test_run_opts(t->prog_fd, &opts) == -EINTR) {
			i--;
			continue;
		}
		assert_int_equal(opts.retval, XDP_PASS);
	}
	assert_int_equal(bb_target__drops(t, &drops), 0);
	assert_int_equal(drops, 3);
	bb_target__free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_other_packets),
		cmocka_unit_test(test_full_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
