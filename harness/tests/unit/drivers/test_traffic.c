/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pure functions of the drives of real packets: when the next packet is due, where a request or
 * an answer ends, and what was sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "bpf/netns.h"
#include "drivers/traffic.h"

/* If a packet is sent on time or less than a period late, the next one is due by the original
 * beat. */
static void test_keeps_the_beat(void **state)
{
	uint64_t due = 1000;

	(void)state;
	for (uint64_t k = 1; k <= 100; k++) {
		due = bb_pace_next(due, due + (k * 37) % 100, 100);
		assert_int_equal(due, 1000 + 100 * k);
	}
	/* One period late: the next is due at once, and none is skipped. */
	assert_int_equal(bb_pace_next(1000, 1200, 100), 1100);
}

/* If sending is later than that, missed packets are not made up for. */
static void test_makes_no_burst(void **state)
{
	uint64_t due = 1000, now = 1000, sent = 0;

	(void)state;
	assert_int_equal(bb_pace_next(1000, 1201, 100), 1201);
	/* If each packet takes 350, one is sent every 350 at most, and no queue builds up. */
	while (now < 1000000) {
		now = (due > now ? due : now) + 350;
		due = bb_pace_next(due, now, 100);
		assert_true(due + 250 >= now);
		sent++;
	}
	assert_in_range(sent, 1000000 / 350 - 10, 1000000 / 350 + 10);
	/* When sending is on time again, the beat continues. */
	assert_int_equal(bb_pace_next(due, due, 100), due + 100);
}

static bool ok(const char *text)
{
	return bb_http_is_ok(text, strlen(text));
}
static bool whole(const char *text)
{
	return bb_http_is_whole(text, strlen(text));
}

static void test_http(void **state)
{
	(void)state;
	assert_true(ok("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nok\n"));
	assert_true(ok("HTTP/1.1 200"));
	assert_false(ok("HTTP/1.0 404 Not Found\r\n\r\n"));
	assert_false(ok("HTTP/1.0 20"));
	assert_false(ok("HTTP/2.0 200 OK"));
	assert_false(ok(""));
	assert_true(whole("GET / HTTP/1.0\r\n\r\n"));
	assert_true(whole("GET / HTTP/1.0\r\nHost: x\r\n\r\nmore"));
	assert_false(whole("GET / HTTP/1.0\r\n"));
	assert_false(whole("GET / HTTP/1.0\n\n"));
	assert_false(whole(""));
}

static const char net_dev[] = "Inter-|   Receive                                                |  "
			      "Transmit\n"
			      " face |bytes    packets errs drop fifo frame compressed "
			      "multicast|bytes    packets errs drop fifo colls carrier compressed\n"
			      "    lo:       0       0    0    0    0     0          0         0   "
			      "     0       0    0    0    0     0       0          0\n"
			      "  near:    1638      21    0    2    0     0          0         0   "
			      "235123    1234    0    0    0     0       0          0\n";

static void test_sent(void **state)
{
	uint64_t received = 0, n = 77;

	(void)state;
	assert_int_equal(bb_veth_parse_packets(net_dev, "near", &received, &n), 0);
	assert_int_equal(n, 1234);
	assert_int_equal(received, 21);
	assert_int_equal(bb_veth_parse_packets(net_dev, "lo", &received, &n), 0);
	assert_int_equal(n, 0);
	n = 77;
	assert_int_equal(bb_veth_parse_packets(net_dev, "ear", &received, &n), -EPROTO);
	assert_int_equal(bb_veth_parse_packets(net_dev, "far", &received, &n), -EPROTO);
	assert_int_equal(bb_veth_parse_packets("  near: 1 2 3\n", "near", &received, &n), -EPROTO);
	assert_int_equal(bb_veth_parse_packets("", "near", &received, &n), -EPROTO);
	assert_int_equal(n, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps_the_beat),
		cmocka_unit_test(test_makes_no_burst),
		cmocka_unit_test(test_http),
		cmocka_unit_test(test_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
