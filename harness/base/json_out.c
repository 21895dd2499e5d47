/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json_out.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/parse.h"
#include "base/text.h"

void bb_json_text(FILE *out, const char *text)
{
	if (!text) {
		fputs("null", out);
		return;
	}
	putc('"', out);
	while (*text) {
		unsigned char c = (unsigned char)*text;
		size_t len = bb_utf8_len(text);

		if (!len)
			fputs("\\ufffd", out);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fwrite(text, 1, len, out);
		text += len ? len : 1;
	}
	putc('"', out);
}

/* printf follows the locale; JSON does not. */
static void point_not_comma(char *number)
{
	char *comma = strchr(number, ',');

	if (comma)
		*comma = '.';
}

void bb_json_double(FILE *out, double value)
{
	char text[40];
	double back;

	if (!isfinite(value)) {
		fputs("null", out);
		return;
	}
	/* 17 digits always suffice (Steele & White 1990); most numbers that people meet need 15. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (!bb_parse_double(text, &back) && !(back < value) && !(back > value))
			break;
	}
	point_not_comma(text);
	fputs(text, out);
}

void bb_json_fixed(FILE *out, double value)
{
	char text[512]; /* DBL_MAX has 309 digits */
	size_t len = (size_t)snprintf(text, sizeof(text), "%.3f", value);

	while (text[len - 1] == '0')
		text[--len] = '\0';
	if (text[len - 1] == '.' || text[len - 1] == ',')
		text[--len] = '\0';
	point_not_comma(text);
	fputs(strcmp(text, "-0") ? text : "0", out);
}

void bb_json_u64(FILE *out, uint64_t value)
{
	fprintf(out, value <= BB_JSON_EXACT ? "%" PRIu64 : "\"0x%" PRIx64 "\"", value);
}
