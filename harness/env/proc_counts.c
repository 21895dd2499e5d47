/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/proc_counts.h"

#include <errno.h>
#include <limits.h>
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

/* Find "name " at the start of a line. The cpu lines come first, so this reads little. */
static int find_line(FILE *f, const char *name, char **line, size_t *size)
{
	size_t len = strlen(name);

	while (getline(line, size, f) > 0) {
		if (!strncmp(*line, name, len) && (*line)[len] == ' ')
			return 0;
	}
	return ferror(f) ? -EIO : -ENOENT;
}

int bb_cpu_times__read_from(const char *root, int cpu, struct bb_cpu_times *ret_times,
			    struct bb_err *err)
{
	char path[PATH_MAX], name[16] = "cpu", *line = NULL;
	size_t size = 0;
	FILE *f;
	int ret = bb_sysfile__path(root, "/proc/stat", path, sizeof(path));

	if (ret)
		return bb_fail(err, ret, "%s: this path is too long", root);
	if (cpu >= 0)
		snprintf(name, sizeof(name), "cpu%d", cpu);
	f = fopen(path, "re");
	if (!f) {
		ret = -errno;
		return bb_fail(err, ret, "%s: %s", path, strerror(-ret));
	}
	ret = find_line(f, name, &line, &size);
	if (ret) {
		bb_fail(err, ret, "%s: no line for %s: is that CPU online?", path, name);
		goto out;
	}
	ret = parse_columns(line + strlen(name), ret_times);
	if (ret)
		bb_fail(err, ret, "%s: the line for %s does not look as proc(5) says", path, name);
out:
	free(line);
	fclose(f);
	return ret;
}

int bb_cpu_times__read(int cpu, struct bb_cpu_times *ret_times, struct bb_err *err)
{
	return bb_cpu_times__read_from("", cpu, ret_times, err);
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
