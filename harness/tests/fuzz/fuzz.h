/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Each fuzz_NAME.c is one libFuzzer target. It passes libFuzzer's bytes to one reader, uses all of
 * the result, and frees it. The sanitizers find the errors; a target also calls abort() if the
 * result is wrong.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes the bytes to a file, for readers that take a path. It is the same file each time. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return path;
}

/* Returns a copy of the bytes, terminated by NUL; the caller frees it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* Reads each byte, so that the sanitizers report bytes that are not valid. */
static inline void fuzz_touch(const void *data, size_t size)
{
	const volatile uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		(void)bytes[i];
}
