/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/sysfile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"

#define CPU_MAX 65536 /* above any kernel's NR_CPUS: a larger number is a broken list */

int bb_sysfile__path(const char *root, const char *path, char *ret_path, size_t size)
{
	int n = snprintf(ret_path, size, "%s%s", root, path);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int read_all(int fd, char *ret_text, size_t size)
{
	size_t used = 0;

	while (used < size - 1) {
		ssize_t n = read(fd, ret_text + used, size - 1 - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		used += (size_t)n;
	}
	while (used && isspace((unsigned char)ret_text[used - 1]))
		used--;
	ret_text[used] = '\0';
	return 0;
}

int bb_sysfile__read(const char *root, const char *path, char *ret_text, size_t size)
{
	char full[PATH_MAX];
	int fd, err;

	err = bb_sysfile__path(root, path, full, sizeof(full));
	if (err)
		return err;
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = read_all(fd, ret_text, size);
	close(fd);
	return err;
}

int bb_sysfile__read_u64(const char *root, const char *path, uint64_t *ret_value)
{
	char text[64];
	int err = bb_sysfile__read(root, path, text, sizeof(text));

	return err ? err : bb_parse_u64(text, ret_value);
}

/* "3" or "0-3" to its first and last. */
static int parse_range(char *range, uint64_t *ret_first, uint64_t *ret_last)
{
	char *dash = strchr(range, '-');
	uint64_t first, last;
	int err;

	if (dash)
		*dash = '\0';
	err = bb_parse_u64(range, &first);
	if (err)
		return -EINVAL;
	last = first;
	if (dash && bb_parse_u64(dash + 1, &last))
		return -EINVAL;
	if (last < first || last >= CPU_MAX)
		return -EINVAL;
	*ret_first = first;
	*ret_last = last;
	return 0;
}

int bb_cpulist_count(const char *list, uint32_t *ret_n)
{
	char range[32];
	uint32_t n = 0;

	while (*list) {
		size_t len = strcspn(list, ",");
		uint64_t first, last;

		if (len >= sizeof(range))
			return -EINVAL;
		memcpy(range, list, len);
		range[len] = '\0';
		if (parse_range(range, &first, &last))
			return -EINVAL;
		n += (uint32_t)(last - first + 1);
		list += len;
		if (*list == ',' && !*++list)
			return -EINVAL;
	}
	*ret_n = n;
	return 0;
}
