/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/sysfile.h"

#include "base/parse.h"

#define CPU_MAX 65536 /* above NR_CPUS of every kernel, so larger numbers are errors */

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
	return rc ? bb_fail(err, rc, "%s%s: %m", root, path) : 0;
}

int bb_sysfile__read(const char *root, const char *path, char *ret_text, size_t size)
{
	FILE *f;
	int rc = bb_sysfile__open(root, path, &f, NULL);

	if (rc)
		return rc;
	errno = 0;
	size_t used = fread(ret_text, 1, size - 1, f);
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

/* columns of a cpu line, see proc(5); the guest times after them are part of USER and NICE */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, N_COLUMNS };

/* Columns that are missing at the end count as 0. */
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

/* Lines of /proc/interrupts with this text count IRQ works. They begin with "IWI:" on x86 and with
 * "IPI5:" on arm64. */
#define DESCRIPTION "IRQ work interrupts"

int bb_irq_works__read(const char *root, int cpu, uint64_t *ret_count, struct bb_err *err)
{
	char want[32], *line = NULL, *save = NULL, *word = NULL;
	size_t size = 0;
	FILE *f;
	int column = 0, rc = bb_sysfile__open(root, "/proc/interrupts", &f, err);

	if (rc)
		return rc;
	/* The first line, such as " CPU0 CPU3", has no column for a CPU that is offline. */
	snprintf(want, sizeof(want), "CPU%d", cpu);
	if (getline(&line, &size, f) > 0)
		word = strtok_r(line, " \n", &save);
	for (; word && strcmp(word, want); column++)
		word = strtok_r(NULL, " \n", &save);
	rc = -ENOENT;
	while (word && rc == -ENOENT && getline(&line, &size, f) > 0) {
		if (!strstr(line, DESCRIPTION))
			continue;
		/* an example of the line: "IWI: 1 2 IRQ work interrupts" */
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
