/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/std.h"

static void test_append(void **state)
{
	uint64_t *v = NULL;
	size_t n = 0;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t *added = bb_append(&v, &n, sizeof(*added));

		assert_non_null(added);
		assert_ptr_equal(added, &v[i]);
		assert_int_equal(*added, 0);
		*added = i + 1;
	}
	assert_int_equal(n, 1000);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(v[i], i + 1);
	free(v);
}

static void test_reserve(void **state)
{
	char *text = NULL;
	size_t size = 0;

	(void)state;
	bb_reserve(&text, 5, &size, 1);
	assert_true(size >= 5);
	text[4] = 'x';
	bb_reserve(&text, 5000, &size, 1);
	assert_true(size >= 5000);
	assert_int_equal(text[4], 'x');
	free(text);
}

/* Asks for more memory than there is, in a child. Returns the child's status; its message is in
 * ret_said[size]. */
static int ask_for_all(bool reserve, char *ret_said, size_t size)
{
	int status, fds[2];
	char *text = NULL;
	size_t room = 0;
	ssize_t n;

	assert_int_equal(pipe(fds), 0);
	if (!fork()) {
		dup2(fds[1], STDERR_FILENO);
		if (reserve)
			bb_reserve(&text, SIZE_MAX, &room, 16);
		bb_calloc(SIZE_MAX / 4, 2);
		_exit(0);
	}
	close(fds[1]);
	n = read(fds[0], ret_said, size - 1);
	assert_true(n >= 0);
	ret_said[n] = '\0';
	close(fds[0]);
	assert_true(wait(&status) > 0);
	return status;
}

static void test_no_memory(void **state)
{
	char said[100];

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip(); /* AddressSanitizer itself ends the process */
#endif
	for (int i = 0; i < 2; i++) {
		int status = ask_for_all(i, said, sizeof(said));

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), BB_EXIT_NO_MEMORY);
		assert_string_equal(said, "bpfbench: out of memory\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
