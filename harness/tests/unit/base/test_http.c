/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The HTTP server: good requests, bad ones, and clients that are slow, many or silent. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/http.h"

#define TYPE "text/test"

static struct bb_err err;

static void open_server(struct bb_http_server *s)
{
	assert_int_equal(bb_http_server__open("127.0.0.1:0", TYPE, s, &err), 0);
}

static void publish(struct bb_http_server *s, const char *text)
{
	assert_int_equal(bb_http_server__publish(s, text, strlen(text), &err), 0);
}

static int connect_to(const struct bb_http_server *s)
{
	static const struct timeval patience = {.tv_sec = 60};
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				 .sin_port = htons((uint16_t)atoi(strrchr(s->url, ':') + 1))};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static void say(int fd, const char *text, size_t len)
{
	assert_int_equal(send(fd, text, len, MSG_NOSIGNAL), len);
}

/* Reads until the server closes the connection. */
static const char *answer(int fd)
{
	static char text[1 << 16];
	size_t len = 0;
	ssize_t n;

	while (len < sizeof(text) - 1 && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	close(fd);
	return text;
}

static const char *ask(const struct bb_http_server *s, const char *request)
{
	int fd = connect_to(s);

	say(fd, request, strlen(request));
	return answer(fd);
}

static void assert_begins(const char *text, const char *with)
{
	if (strncmp(text, with, strlen(with)))
		fail_msg("'%s' does not begin with '%s'", text, with);
}

static const char *body(const char *text)
{
	const char *end = strstr(text, "\r\n\r\n");

	assert_non_null(end);
	return end + 4;
}

/* Waits until `text` is served: a published text takes a moment to reach the server's process. */
static void await(const struct bb_http_server *s, const char *text)
{
	for (int i = 0; i < 6000; i++) {
		if (!strcmp(body(ask(s, "GET /metrics HTTP/1.1\r\n\r\n")), text))
			return;
		usleep(10000);
	}
	fail_msg("'%s' is not served", text);
}

static void test_requests(void **state)
{
	struct bb_http_server s;
	const char *got;

	(void)state;
	open_server(&s);
	assert_begins(ask(&s, "GET /metrics HTTP/1.1\r\n\r\n"), "HTTP/1.1 503 ");
	publish(&s, "one\n");
	await(&s, "one\n");
	publish(&s, "two\n");
	await(&s, "two\n");
	got = ask(&s, "GET /metrics?a=b HTTP/1.0\r\nHost: x\r\nAccept: */*\r\n\r\n");
	assert_begins(got, "HTTP/1.1 200 OK\r\nContent-Type: " TYPE "\r\nContent-Length: 4\r\n");
	assert_string_equal(body(got), "two\n");
	got = ask(&s, "HEAD /metrics HTTP/1.1\r\n\r\n");
	assert_non_null(strstr(got, "\r\nContent-Length: 4\r\n"));
	assert_string_equal(body(got), "");
	assert_begins(ask(&s, "POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"), "HTTP/1.1 "
											 "405 ");
	assert_begins(ask(&s, "GET /metric HTTP/1.1\r\n\r\n"), "HTTP/1.1 404 ");
	bb_http_server__close(&s);
	bb_http_server__close(&s); /* a second close does nothing */
}

static void test_malformed(void **state)
{
	static const char *const bad[] = {"\r\n\r\n",
					  "GET\r\n\r\n",
					  "GET /metrics\r\n\r\n",
					  "GET  /metrics HTTP/1.1 more\r\n\r\n",
					  "GET /metrics HTTP/2\r\n\r\n",
					  "\x16\x03\x01\x02\r\n\r\n"};
	struct bb_http_server s;
	char *long_one = malloc(100000);
	int fd;

	(void)state;
	open_server(&s);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_begins(ask(&s, bad[i]), "HTTP/1.1 400 ");
	fd = connect_to(&s);
	say(fd, "GET /\0\r\n\r\n", 10);
	assert_begins(answer(fd), "HTTP/1.1 400 ");
	memset(long_one, 'a', 100000); /* One line that never ends. */
	fd = connect_to(&s);
	say(fd, long_one, 100000);
	assert_begins(answer(fd), "HTTP/1.1 431 ");
	memcpy(long_one, "GET /", 5); /* A long target. */
	memcpy(long_one + 300, " HTTP/1.1\r\n\r\n", 14);
	assert_begins(ask(&s, long_one), "HTTP/1.1 404 ");
	free(long_one);
	bb_http_server__close(&s);
}

/* Clients that send nothing, send half a request, or never read a long answer. The server answers
 * other clients meanwhile, and publishing does not wait. */
static void test_hostile(void **state)
{
	struct bb_http_server s;
	char *text = malloc(4 << 20);
	int fds[100];

	(void)state;
	memset(text, 'x', 4 << 20);
	open_server(&s);
	assert_int_equal(bb_http_server__publish(&s, text, 4 << 20, &err), 0);
	free(text);
	for (int i = 0; i < 100; i++) {
		fds[i] = connect_to(&s);
		if (i % 3 == 1)
			say(fds[i], "GET /met", 8);
		else if (i % 3 == 2)
			say(fds[i], "GET /metrics HTTP/1.1\r\n\r\n", 25);
	}
	publish(&s, "short\n");
	await(&s, "short\n");
	for (int i = 0; i < 1000; i++)
		publish(&s, "shorter\n");
	publish(&s, "shorter\n");
	await(&s, "shorter\n");
	for (int i = 0; i < 100; i++)
		close(fds[i]);
	bb_http_server__close(&s);
}

static void test_addresses(void **state)
{
	static const char *const bad[] =
		{"",       "localhost:1",     "127.0.0.1:", "127.0.0.1:x", "300.1.1.1:1",
		 "[::1:1", "127.0.0.1:70000", "x"};
	struct bb_http_server s, second;
	char taken[80];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int rc = bb_http_server__open(bad[i], TYPE, &s, &err);

		assert_true(rc < 0);
	}
	assert_int_equal(bb_http_server__open("0", TYPE, &s, &err), 0);
	assert_begins(s.url, "http://127.0.0.1:");
	snprintf(taken, sizeof(taken), "%.*s", (int)strcspn(s.url + 7, "/"), s.url + 7);
	assert_int_equal(bb_http_server__open(taken, TYPE, &second, &err), -EADDRINUSE);
	assert_non_null(strstr(err.msg, "give another port"));
	bb_http_server__close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
