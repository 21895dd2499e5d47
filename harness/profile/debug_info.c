/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/debug_info.h"

#include <elfutils/libdwelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "profile/debug_files.h"

#define MAX_ID 64u

static bool has_id(int fd, const unsigned char *id, size_t n)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	const void *found = NULL;
	ssize_t len = elf ? dwelf_elf_gnu_build_id(elf, &found) : -1;
	bool same = len > 0 && (size_t)len == n && !memcmp(found, id, n);

	elf_end(elf);
	return same;
}

static uint32_t crc_of(int fd)
{
	uLong crc = crc32(0, NULL, 0);
	unsigned char bytes[65536];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		crc = crc32(crc, bytes, (uInt)n);
		at += n;
	}
	return (uint32_t)crc;
}

static int keep_if(bool is_it, int fd)
{
	if (fd >= 0 && !is_it)
		close(fd);
	return fd >= 0 && is_it ? fd : -1;
}

int bb_debug_info__by_id(int socket, const unsigned char *id, size_t n)
{
	char name[2 * MAX_ID + 1];
	int fd;

	if (n > MAX_ID)
		return -1;
	for (size_t i = 0; i < n; i++)
		snprintf(name + 2 * i, 3, "%02x", id[i]);
	fd = bb_debug_file__ask(socket, BB_DEBUG_BUILD_ID, name);
	return keep_if(fd >= 0 && has_id(fd, id, n), fd);
}

int bb_debug_info__by_link(int socket, const char *link, uint32_t crc)
{
	int fd = bb_debug_file__ask(socket, BB_DEBUG_LINK, link);

	return keep_if(fd >= 0 && crc_of(fd) == crc, fd);
}
