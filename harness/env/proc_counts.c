/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/proc_counts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "env/sysfile.h"

/* Columns of a cpu line in proc(5). Guest times follow; they are part of user and nice. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, N_COLUMNS };

/* The columns behind the name; those that an old kernel lacks are 0. */
static int parse_columns(char *text, struct bb_cpu_times *ret_times)
{
	uint64_t column[N_COLUMNS] = {0};
	char *save = NULL;
	int n = 0;

	for (char *word = strtok_r(text, " \n", &save); word && n < N_COLUMNS;
	     word = strtok_r(NULL, " \n", &save)) {
		if (bb_parse_u64(word, &column[n++]))
			return -EINVAL;
	}
	if (n <= IDLE)
		return -EINVAL;
	memset(ret_times, 0, sizeof(*ret_times));
	for (int i = 0; i < N_COLUMNS; i++)
		ret_times->total += column[i];
	ret_times->idle = column[IDLE] + column[IOWAIT];
	ret_times->steal = column[STEAL];
	return 0;
}

int bb_cpu_times__read(const char *root, int cpu, struct bb_cpu_times *ret_times,
		       struct bb_err *err)
{
	char name[16] = "cpu", *line = NULL;
	size_t size = 0, len;
	FILE *f;
	int rc = bb_sysfile__open(root, "/proc/stat", &f, err);

	if (rc)
		return rc;
	if (cpu >= 0)
		snprintf(name, sizeof(name), "cpu%d", cpu);
	len = strlen(name);
	rc = -ENOENT;
	/* The cpu lines come first, so this reads little. */
	while (rc == -ENOENT && getline(&line, &size, f) > 0)
		if (!strncmp(line, name, len) && line[len] == ' ')
			rc = parse_columns(line + len, ret_times);
	free(line);
	fclose(f);
	if (rc == -ENOENT)
		return bb_fail(err, rc, "%s/proc/stat: no line for %s: is that CPU online?", root,
			       name);
	return rc ? bb_fail(err, rc, "%s/proc/stat: the line for %s does not look as proc(5) says",
			    root, name)
		  : 0;
}

double bb_steal_share(const struct bb_cpu_times *before, const struct bb_cpu_times *after)
{
	if (after->total <= before->total || after->steal < before->steal ||
	    after->steal - before->steal > after->total - before->total)
		return NAN;
	return (double)(after->steal - before->steal) / (double)(after->total - before->total);
}

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

int bb_irq_works__read(const char *root, int cpu, uint64_t *ret_count, struct bb_err *err)
{
	char *line = NULL;
	size_t size = 0;
	FILE *f;
	int column, rc = bb_sysfile__open(root, "/proc/interrupts", &f, err);

	if (rc)
		return rc;
	column = getline(&line, &size, f) > 0 ? column_of(line, cpu) : -1;
	rc = -ENOENT;
	while (column >= 0 && rc == -ENOENT && getline(&line, &size, f) > 0) {
		char *save = NULL, *word;

		if (!strstr(line, DESCRIPTION))
			continue;
		/* "IWI:  1  2  IRQ work interrupts" */
		word = strtok_r(line, " \n", &save);
		for (int i = 0; word && i <= column; i++)
			word = strtok_r(NULL, " \n", &save);
		rc = word && !bb_parse_u64(word, ret_count) ? 0 : -EINVAL;
	}
	free(line);
	fclose(f);
	return rc ? bb_fail(err, rc, "%s/proc/interrupts: no '" DESCRIPTION "' of CPU %d", root,
			    cpu)
		  : 0;
}
