/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of a mix: as listed, random, or by Zipf's law over flows. Also: flows made from one
 * packet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/mix.h"
#include "plan/packet.h"

#define MOST 3000u
#define FRAME 64u

static uint8_t frames[MOST][FRAME];
static struct bb_input list[MOST];

/* Makes n packets of a flow each, which differ in the source address. */
static struct bb_inputs make_inputs(size_t n)
{
	struct bb_packet p;

	assert_true(n <= MOST);
	bb_packet__init(&p);
	p.ip = BB_PACKET_IPV4;
	p.l4 = BB_PACKET_UDP;
	p.dst_port = 53;
	for (size_t i = 0; i < n; i++) {
		bb_packet__write(&p, frames[i], FRAME);
		assert_true(bb_frame__move_flow(frames[i], FRAME, (uint32_t)i));
		list[i] = (struct bb_input){.data = frames[i], .len = FRAME};
	}
	return (struct bb_inputs){list, n};
}

/* Counts how often each input comes. */
static void count(const struct bb_u32_list *m, size_t n, double *ret_counts)
{
	memset(ret_counts, 0, n * sizeof(*ret_counts));
	for (size_t i = 0; i < m->n; i++) {
		assert_true(m->v[i] < n);
		ret_counts[m->v[i]]++;
	}
}

static void test_recorded(void **state)
{
	struct bb_inputs in = make_inputs(1000);
	struct bb_u32_list m;

	(void)state;
	m = bb_mix__make(&in, BB_ORDER_RECORDED, 1);
	assert_int_equal(m.n, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(m.v[i], i);
	free(m.v);
}

/* Without weights, each input comes once in every pass, and no pass equals the one before it. */
static void test_random(void **state)
{
	struct bb_inputs in = make_inputs(300);
	double counts[300];
	struct bb_u32_list m;

	(void)state;
	m = bb_mix__make(&in, BB_ORDER_RANDOM, 1);
	assert_true(m.n >= 65536 && m.n % 300 == 0);
	for (size_t pass = 0; pass < m.n; pass += 300) {
		struct bb_u32_list one = {m.v + pass, 300};

		count(&one, 300, counts);
		for (size_t i = 0; i < 300; i++)
			assert_true(counts[i] == 1);
		assert_true(!pass || memcmp(m.v + pass, m.v + pass - 300, 300 * sizeof(*m.v)));
	}
	free(m.v);
}

/* Checks that a count is within 5 standard deviations of its binomial mean. */
static void assert_share(double count, double n, double share)
{
	assert_true(fabs(count - n * share) < 5 * sqrt(n * share * (1 - share)) + 1);
}

static void test_weights(void **state)
{
	struct bb_inputs in = make_inputs(3);
	double counts[3];
	struct bb_u32_list m;

	(void)state;
	list[0].weight = 0.9;
	list[1].weight = 0.09;
	list[2].weight = 0.01;
	m = bb_mix__make(&in, BB_ORDER_RANDOM, 7);
	count(&m, 3, counts);
	for (size_t i = 0; i < 3; i++)
		assert_share(counts[i], (double)m.n, list[i].weight);
	free(m.v);
}

/* 1000 flows of one packet each. The first flow has two more packets; its three packets take
 * turns. */
static void test_zipf(void **state)
{
	struct bb_inputs in = make_inputs(1002);
	double counts[1002], sum = 0;
	uint32_t expected = 0;
	struct bb_u32_list m;

	(void)state;
	memcpy(frames[1000], frames[0], FRAME);
	memcpy(frames[1001], frames[0], FRAME);
	for (int i = 1; i <= 1000; i++)
		sum += 1.0 / i;
	m = bb_mix__make(&in, BB_ORDER_ZIPF, 3);
	count(&m, 1002, counts);
	assert_share(counts[0] + counts[1000] + counts[1001], (double)m.n, 1 / sum);
	for (size_t i = 1; i < 1000; i++)
		assert_share(counts[i], (double)m.n, 1 / sum / (double)(i + 1));
	for (size_t i = 0; i < m.n; i++) {
		if (m.v[i] && m.v[i] < 1000)
			continue;
		assert_int_equal(m.v[i], expected);
		expected = expected == 0 ? 1000 : expected == 1000 ? 1001 : 0;
	}
	free(m.v);
}

static void test_seed(void **state)
{
	static const enum bb_order orders[] = {BB_ORDER_RANDOM, BB_ORDER_ZIPF};
	struct bb_inputs in = make_inputs(MOST);
	struct bb_u32_list a, b, c;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		a = bb_mix__make(&in, orders[i], 5);
		b = bb_mix__make(&in, orders[i], 5);
		c = bb_mix__make(&in, orders[i], 6);
		assert_int_equal(a.n, b.n);
		assert_memory_equal(a.v, b.v, a.n * sizeof(*a.v));
		assert_true(memcmp(a.v, c.v, a.n * sizeof(*a.v)) != 0);
		free(a.v);
		free(b.v);
		free(c.v);
	}
}

/* All flows differ, also beyond 65536, where the port starts again. The checksums are right. */
static void test_flows(void **state)
{
	static const enum bb_packet_ip ips[] = {BB_PACKET_IPV4, BB_PACKET_IPV6};
	struct bb_packet p;
	uint8_t frame[90], again[90];
	struct bb_flow first, flow;

	(void)state;
	for (size_t v = 0; v < 2; v++) {
		bb_packet__init(&p);
		p.ip = ips[v];
		p.l4 = BB_PACKET_TCP;
		p.src_port = 65535;
		p.ip_src[v ? 15 : 3] = 0xff;
		p.ip_src[v ? 14 : 2] = 0xff;
		bb_packet__write(&p, frame, sizeof(frame));
		bb_frame__flow(frame, sizeof(frame), &first);
		for (uint32_t i = 1; i < 200000; i += 1 + i / 100) {
			bb_packet__write(&p, frame, sizeof(frame));
			assert_true(bb_frame__move_flow(frame, sizeof(frame), i));
			bb_frame__flow(frame, sizeof(frame), &flow);
			assert_true(memcmp(&first, &flow, sizeof(flow)) != 0);
			memcpy(again, frame, sizeof(frame));
			bb_frame__fix_checksums(again, sizeof(again));
			assert_memory_equal(again, frame, sizeof(frame));
		}
		/* 0xffff + 1 carries into the upper half of the address, and the port wraps to
		 * 0. */
		bb_packet__write(&p, frame, sizeof(frame));
		bb_frame__move_flow(frame, sizeof(frame), 1);
		assert_int_equal(frame[(v ? 14 + 8 + 15 : 14 + 12 + 3) - 2], 1);
		assert_int_equal(frame[v ? 54 : 34] + frame[v ? 55 : 35], 0);
	}
	memset(frame, 0, sizeof(frame));
	assert_false(bb_frame__move_flow(frame, sizeof(frame), 1));
	assert_false(bb_frame__move_flow(frame, 14, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded), cmocka_unit_test(test_random),
		cmocka_unit_test(test_weights),  cmocka_unit_test(test_zipf),
		cmocka_unit_test(test_seed),     cmocka_unit_test(test_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
