/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/irq_works.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "env/sysfile.h"

/* x86 has it behind "IWI:", arm64 behind "IPI5:". */
#define DESCRIPTION "IRQ work interrupts"

/* The column of a CPU in "     CPU0   CPU3"; -1: it has none, being offline. */
static int column_of(char *heading, int cpu)
{
	char want[32], *save = NULL;
	int column = 0;

	snprintf(want, sizeof(want), "CPU%d", cpu);
	for (char *word = strtok_r(heading, " \n", &save); word;
	     word = strtok_r(NULL, " \n", &save), column++)
		if (!strcmp(word, want))
			return column;
	return -1;
}

/* The number in that column, behind the name: "IWI:  1  2  IRQ work interrupts". */
static int number_at(char *line, int column, uint64_t *ret_count)
{
	char *save = NULL, *word = strtok_r(line, " \n", &save);

	for (int i = 0; word && i <= column; i++)
		word = strtok_r(NULL, " \n", &save);
	return word && !bb_parse_u64(word, ret_count) ? 0 : -EINVAL;
}

static int read_line(FILE *f, int cpu, uint64_t *ret_count)
{
	char *line = NULL;
	size_t size = 0;
	int column = getline(&line, &size, f) > 0 ? column_of(line, cpu) : -1, rc = -ENOENT;

	while (column >= 0 && rc == -ENOENT && getline(&line, &size, f) > 0)
		if (strstr(line, DESCRIPTION))
			rc = number_at(line, column, ret_count);
	free(line);
	return rc;
}

int bb_irq_works__read_from(const char *root, int cpu, uint64_t *ret_count, struct bb_err *err)
{
	char path[PATH_MAX];
	FILE *f;
	int rc = bb_sysfile__path(root, "/proc/interrupts", path, sizeof(path));

	if (rc)
		return bb_fail(err, rc, "%s: this path is too long", root);
	f = fopen(path, "re");
	if (!f)
		return bb_fail(err, -errno, "%s: %s", path, strerror(errno));
	rc = read_line(f, cpu, ret_count);
	fclose(f);
	return rc ? bb_fail(err, rc, "%s: no '" DESCRIPTION "' of CPU %d", path, cpu) : 0;
}

int bb_irq_works__read(int cpu, uint64_t *ret_count, struct bb_err *err)
{
	return bb_irq_works__read_from("", cpu, ret_count, err);
}
