/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of maps from files: the forms of a .csv, and every error with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/keys_file.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *text, *keys;
	size_t n, key_size;
} good[] = {
	{"0a000001\n0a000002\n", "\x0a\0\0\1\x0a\0\0\2", 2, 4},
	{"0a 00,01\r\n0a:00, 02", "\x0a\0\1\x0a\0\2", 2, 3},
	{"ipv4,u16be,u16,u8\n10.0.0.1,80,80, 0xff \n", "\x0a\0\0\1\0\x50\x50\0\xff", 1, 9},
	{"u64,u64be\n1,258\n", "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\1\2", 1, 16},
	{"ipv6\n::1\n", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 1, 16},
};

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		char *text = strdup(good[i].text);
		struct bb_map_table *t = NULL;
		struct bb_err err = {0};

		if (bb_keys_file__parse_csv(text, "f.csv", &t, &err))
			fail_msg("%s: %s", good[i].text, err.msg);
		assert_int_equal(t->n, good[i].n);
		assert_int_equal(t->key_size, good[i].key_size);
		assert_memory_equal(t->keys, good[i].keys, t->n * t->key_size);
		bb_maps_file__let_go(t->file);
		free(text);
	}
}

static const struct {
	const char *text, *says;
} bad[] = {
	{"", "f.csv: the file has no keys"},
	{"u32\n", "f.csv: the file has no keys"},
	{"0a\n\n0b\n", "f.csv:2: field 1, '', is not bytes"},
	{"0a\n0\n", "f.csv:2: field 1, '0', is not bytes"},
	{"0a\n0a0b\n", "f.csv:2: the key has 2 bytes, those before have 1"},
	{"u32,u33\n1,2\n", "f.csv:1: unknown type 'u33' of a field; there are: u8, u16"},
	{"u8\n255\n256\n", "f.csv:3: field 1, '256', is no u8"},
	{"u32\n-1\n", "f.csv:2: field 1, '-1', is no u32"},
	{"ipv4\n10.0.0\n", "f.csv:2: field 1, '10.0.0', is no ipv4"},
	{"u8,u8\n1\n", "f.csv:2: it has fewer fields than the first line has types, 2"},
	{"u8,u8\n1,2\n1,2,3\n", "f.csv:3: it has more fields"},
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char *text = strdup(bad[i].text);
		struct bb_map_table *t = NULL;
		struct bb_err err = {0};

		assert_int_equal(bb_keys_file__parse_csv(text, "f.csv", &t, &err), -EINVAL);
		if (strncmp(err.msg, bad[i].says, strlen(bad[i].says)))
			fail_msg("%s: %s\n  not: %s", bad[i].text, err.msg, bad[i].says);
		assert_null(t);
		free(text);
	}
}

/* The suffix of a file tells its form. */
static void test_files(void **state)
{
	static const struct {
		const char *suffix, *text;
		size_t n;
		bool is_raw;
	} files[] = {
		{".csv", "0a000001\n", 1, false},
		{".bin", "abcdefgh", 8, true},
		{".json", "{\"maps\": [{\"name\": \"m\", \"entries\": {\"01\": \"02\"}}]}", 1,
		 false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		char path[] = "/tmp/test_keys_XXXXXX.json";
		struct bb_map_table *t = NULL;
		struct bb_err err = {0};
		int fd;

		strcpy(path + strlen(path) - strlen(".json"), files[i].suffix);
		fd = mkstemps(path, (int)strlen(files[i].suffix));
		assert_true(fd >= 0);
		assert_true(write(fd, files[i].text, strlen(files[i].text)) > 0);
		close(fd);
		if (bb_keys_file__read(path, "m", &t, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(t->n, files[i].n);
		assert_int_equal(t->is_raw, files[i].is_raw);
		bb_maps_file__let_go(t->file);
		if (!strcmp(files[i].suffix, ".json"))
			assert_int_equal(bb_keys_file__read(path, "other", &t, &err), -EINVAL);
		unlink(path);
	}
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* Several variants and maps may name the same file. It is read once. */
static void test_read_once(void **state)
{
	char csv[] = "/tmp/bb_keys_XXXXXX.csv", bin[] = "/tmp/bb_keys_XXXXXX.bin";
	struct bb_map_table *first, *again, *other;
	struct bb_err err = {0};

	(void)state;
	close(mkstemps(csv, 4));
	close(mkstemps(bin, 4));
	write_text(csv, "u32\n1\n2\n");
	write_text(bin, "12345678");
	assert_int_equal(bb_keys_file__read(csv, "a", &first, &err), 0);
	write_text(csv, "u32\n1\n2\n3\n");
	assert_int_equal(bb_keys_file__read(csv, "b", &again, &err), 0);
	assert_ptr_equal(first, again);
	assert_int_equal(again->n, 2);
	assert_int_equal(bb_keys_file__read(bin, "a", &other, &err), 0);
	assert_true(other->is_raw);
	assert_int_equal(other->n, 8);
	bb_maps_file__let_go(first->file);
	assert_memory_equal(again->keys, "\1\0\0\0\2", 5);
	bb_maps_file__let_go(again->file);
	assert_int_equal(bb_keys_file__read(csv, "a", &again, &err), 0);
	assert_int_equal(again->n, 3);
	bb_maps_file__let_go(again->file);
	bb_maps_file__let_go(other->file);
	unlink(csv);
	unlink(bin);
}

/* Keys made from bytes of packets: bytes in a given order, constants, each key once. */
static void test_inputs(void **state)
{
	uint8_t a[] = {1, 2, 3, 4, 5}, b[] = {1, 2, 3, 4, 9}, c[] = {7, 8, 9, 10, 5};
	struct bb_input list[] = {{.name = (char *)(uintptr_t) "a", .data = a, .len = 5},
				  {.name = (char *)(uintptr_t) "b", .data = b, .len = 5},
				  {.name = (char *)(uintptr_t) "c", .data = c, .len = 5}};
	const struct bb_inputs in = {list, 3};
	static const struct {
		const char *bytes, *keys;
		size_t n, key_size;
	} right[] = {
		{"0-3", "\1\2\3\4\7\10\11\12", 2, 4},
		{"3-0", "\4\3\2\1\12\11\10\7", 2, 4},
		{" =2000 4  1-0", "\40\0\5\2\1\40\0\11\2\1\40\0\5\10\7", 3, 5},
		{"4", "\5\11", 2, 1},
	};
	static const struct {
		const char *bytes, *says;
	} wrong[] = {
		{"", "it names no bytes"},
		{"1-", "'1-' is no part of a key"},
		{"=", "'=' is no part of a key"},
		{"0 x", "'x' is no part of a key"},
		{"3-5", "input 'a' has 5 bytes and no byte 5"},
		{"65535", "'65535' is no part"},
		{"0-600", "'0-600' is no part"},
	};
	struct bb_map_table *t = NULL;
	struct bb_err err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(right); i++) {
		assert_int_equal(bb_keys_of_inputs(&in, right[i].bytes, &t, &err), 0);
		assert_int_equal(t->n, right[i].n);
		assert_int_equal(t->key_size, right[i].key_size);
		assert_memory_equal(t->keys, right[i].keys, t->n * t->key_size);
		bb_maps_file__let_go(t->file);
	}
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		assert_int_equal(bb_keys_of_inputs(&in, wrong[i].bytes, &t, &err), -EINVAL);
		if (!strstr(err.msg, wrong[i].says))
			fail_msg("%s: %s", wrong[i].bytes, err.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_once), cmocka_unit_test(test_inputs),
		cmocka_unit_test(test_good),      cmocka_unit_test(test_bad),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
