/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Characters that a terminal would obey become '?', in whatever pieces the text is written. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clean.h"

static const struct {
	const char *in, *out;
} texts[] = {
	{"plain text\twith a tab\n", "plain text\twith a tab\n"},
	{"Grüße, 世界 🙂", "Grüße, 世界 🙂"},
	{"\033[31mred\033[0m", "?[31mred?[0m"},
	{"over\rwritten\b\a\177", "over?written???"},
	{"C1: \xc2\x9b"
	 "31m",
	 "C1: ??31m"},
	{"8 bits: \x9b"
	 "31m",
	 "8 bits: ?31m"},
	{"turned: \xe2\x80\xae"
	 "evil\xe2\x81\xa6",
	 "turned: ???evil???"},
	{"not turned: \xe2\x80\xa6 \xe2\x80\x93", "not turned: \xe2\x80\xa6 \xe2\x80\x93"},
	{"overlong: \xc0\x9b \xe0\x82\x9b", "overlong: ?? ???"},
	{"cut: \xe4\xb8", "cut: ??"},
	{"cut: \xf0\x9f\x99\n", "cut: ???\n"},
	{"surrogate: \xed\xa0\x80", "surrogate: ???"},
};

static void test_texts(void **state)
{
	(void)state;
	/* Piece 0 writes the whole text at once. */
	for (size_t piece = 0; piece <= 4; piece++) {
		for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
			size_t len = strlen(texts[i].in), step = piece ? piece : len;
			char got[256];
			int fds[2];
			ssize_t n;
			FILE *out;

			assert_int_equal(pipe(fds), 0);
			out = bb_clean__open(fds[1], piece ? _IONBF : _IOFBF);
			assert_non_null(out);
			for (size_t at = 0; at < len; at += step)
				assert_int_equal(fwrite(texts[i].in + at, 1,
							len - at < step ? len - at : step, out),
						 len - at < step ? len - at : step);
			assert_int_equal(fclose(out), 0);
			n = read(fds[0], got, sizeof(got) - 1);
			close(fds[0]);
			assert_true(n >= 0);
			got[n] = '\0';
			assert_string_equal(got, texts[i].out);
		}
	}
}

/* A text longer than any buffer comes out whole. */
static void test_long(void **state)
{
	static const char line[] = "0123456789 ä\n";
	enum { LINES = 20000 };
	FILE *file = tmpfile(), *out;
	char got[sizeof(line)];

	(void)state;
	assert_non_null(file);
	out = bb_clean__open(dup(fileno(file)), _IOFBF);
	assert_non_null(out);
	for (int i = 0; i < LINES; i++)
		assert_true(fputs(line, out) >= 0);
	assert_int_equal(fclose(out), 0);
	rewind(file);
	for (int i = 0; i < LINES; i++) {
		assert_non_null(fgets(got, sizeof(got), file));
		assert_string_equal(got, line);
	}
	assert_null(fgets(got, sizeof(got), file));
	fclose(file);
}

static void test_errors(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct bb_err err;
	FILE *out;

	(void)state;
	if (fd < 0) {
		print_message("# skip: no /dev/full here\n");
		skip();
	}
	out = bb_clean__open(fd, _IOFBF);
	assert_non_null(out);
	assert_true(fputs("text", out) >= 0);
	errno = 0;
	assert_int_equal(fflush(out), EOF);
	assert_int_equal(errno, ENOSPC);
	assert_true(ferror(out));
	errno = 0; /* as another call may leave it */
	assert_int_equal(bb_clean__check(out, "file", &err), -ENOSPC);
	assert_string_equal(err.msg, "file: No space left on device");
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
