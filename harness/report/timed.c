/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/timed.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "report/records.h"

struct bb_timed_row *bb_timed__add_row(struct bb_timed *t)
{
	return bb_record__append(&bb_timed_row_record, &t->rows, &t->n_rows);
}

bool bb_timed__is_cold(const struct bb_timed *t)
{
	size_t len = strlen(t->drive);

	return len > 5 && !strcmp(t->drive + len - 5, "-cold");
}

static bool same_row(const struct bb_timed_row *a, const struct bb_timed_row *b)
{
	return a->insn == b->insn && a->line == b->line && a->last_line == b->last_line &&
	       a->turns == b->turns && !strcmp(a->call, b->call) && !strcmp(a->from, b->from);
}

bool bb_timed__same_rows(const struct bb_timed *a, const struct bb_timed *b)
{
	for (size_t i = 0; i < a->n_rows && i < b->n_rows; i++)
		if (!same_row(&a->rows[i], &b->rows[i]))
			return false;
	return a->n_rows == b->n_rows;
}

static int append(char **text, const char *more)
{
	char *both;

	if (asprintf(&both, "%s%s%s", *text, **text && *more ? " " : "", more) < 0)
		return -ENOMEM;
	free(*text);
	*text = both;
	return 0;
}

int bb_timed__take_loads(struct bb_timed *into, const struct bb_timed *from)
{
	double n = (double)bb_timed_loads(into->program_ns),
	       more = (double)bb_timed_loads(from->program_ns);
	int rc;

	if (n + more > 0)
		into->check_ns = (n * into->check_ns + more * from->check_ns) / (n + more);
	into->runs += from->runs;
	into->other_ways += from->other_ways;
	into->sweeps += from->sweeps;
	into->disturbed += from->disturbed;
	into->processes += from->processes;
	rc = append(&into->program_ns, from->program_ns) | append(&into->empty_ns, from->empty_ns) |
	     append(&into->rest_ns, from->rest_ns);
	if (into->hidden_ns && from->hidden_ns)
		rc |= append(&into->hidden_ns, from->hidden_ns);
	for (size_t i = 0; !rc && i < into->n_rows; i++)
		rc = append(&into->rows[i].ns, from->rows[i].ns) |
		     append(&into->rows[i].first_ns, from->rows[i].first_ns);
	return rc ? -ENOMEM : 0;
}

char *bb_timed_text(const double *x, size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *mem = open_memstream(&text, &size);

	for (size_t i = 0; mem && i < n; i++) {
		if (isnan(x[i]))
			fprintf(mem, "%s-", i ? " " : "");
		else
			fprintf(mem, "%s%.2f", i ? " " : "", x[i]);
	}
	if (!mem || fclose(mem)) {
		free(text);
		return NULL;
	}
	return text;
}

size_t bb_timed_loads(const char *text)
{
	size_t n = *text != '\0';

	for (; *text; text++)
		n += *text == ' ';
	return n;
}

void bb_timed_numbers(const char *text, double *ret_x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strcspn(text, " ");
		char number[64];

		ret_x[i] = NAN;
		if (len < sizeof(number)) {
			memcpy(number, text, len);
			number[len] = '\0';
			if (bb_parse_double(number, &ret_x[i]))
				ret_x[i] = NAN;
		}
		text += len + (text[len] == ' ');
	}
}
