/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/sysfile.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

#define CPU_MAX 65536 /* above any kernel's NR_CPUS: a larger number is a broken list */

int bb_sysfile__path(const char *root, const char *path, char *ret_path, size_t size)
{
	int n = snprintf(ret_path, size, "%s%s", root, path);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int bb_sysfile__open(const char *root, const char *path, FILE **ret_file, struct bb_err *err)
{
	char full[PATH_MAX];
	int rc = bb_sysfile__path(root, path, full, sizeof(full));

	if (!rc) {
		*ret_file = fopen(full, "re");
		rc = *ret_file ? 0 : -errno;
	}
	return rc ? bb_fail(err, rc, "%s%s: %s", root, path, strerror(-rc)) : 0;
}

int bb_sysfile__read(const char *root, const char *path, char *ret_text, size_t size)
{
	size_t used;
	FILE *f;
	int rc = bb_sysfile__open(root, path, &f, NULL);

	if (rc)
		return rc;
	errno = 0;
	used = fread(ret_text, 1, size - 1, f);
	rc = ferror(f) ? -errno : 0;
	fclose(f);
	while (used && isspace((unsigned char)ret_text[used - 1]))
		used--;
	ret_text[used] = '\0';
	return rc;
}

int bb_sysfile__read_u64(const char *root, const char *path, uint64_t *ret_value)
{
	char text[64];
	int err = bb_sysfile__read(root, path, text, sizeof(text));

	return err ? err : bb_parse_u64(text, ret_value);
}

int bb_cpulist_count(const char *list, uint32_t *ret_n)
{
	uint32_t n = 0;

	while (*list) {
		uint64_t first, last;

		if (bb_parse_digits(&list, &first))
			return -EINVAL;
		last = first;
		if (*list == '-') {
			list++;
			if (bb_parse_digits(&list, &last))
				return -EINVAL;
		}
		if (last < first || last >= CPU_MAX || (*list && *list != ','))
			return -EINVAL;
		n += (uint32_t)(last - first + 1);
		if (*list == ',' && !*++list)
			return -EINVAL;
	}
	*ret_n = n;
	return 0;
}
