/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Each fuzz_NAME.c is one libFuzzer target: it gives one reader any bytes, uses all that the reader
 * made of them, and frees it. A target finds nothing wrong by itself but what it calls abort() on;
 * the sanitizers do.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes as a file, for readers that take a path; the same file each time. */
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

/* The bytes as a text with a NUL behind them; free() it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* Read each byte, so that the sanitizers see whether they are there. */
static inline void fuzz_touch(const void *data, size_t size)
{
	const volatile uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		(void)bytes[i];
}
