/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/timed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/parse.h"

struct bb_timed_row *bb_timed__add_row(struct bb_timed *t)
{
	return bb_append(&t->rows, &t->n_rows, sizeof(*t->rows));
}

bool bb_timed__is_cold(const struct bb_timed *t)
{
	size_t len = strlen(t->drive);

	return len > 5 && !strcmp(t->drive + len - 5, "-cold");
}

void bb_timed__done(struct bb_timed *t)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		free(t->rows[i].file);
		free(t->rows[i].text);
		free(t->rows[i].call);
		free(t->rows[i].from);
		free(t->rows[i].ns);
		free(t->rows[i].first_ns);
	}
	free(t->rows);
	free(t->name);
	free(t->scenario);
	free(t->variant);
	free(t->drive);
	free(t->param);
	free(t->refused_why);
	free(t->thinned_why);
	free(t->program_ns);
	free(t->empty_ns);
	free(t->rest_ns);
	memset(t, 0, sizeof(*t));
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
