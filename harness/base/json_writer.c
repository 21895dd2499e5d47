/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json_writer.h"

#include "base/parse.h"
#include "base/text.h"

static void put_text(FILE *out, const char *text)
{
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

FILE *bb_json__add(struct bb_json *w, const char *key)
{
	if (w->depth) {
		bool lines = w->open[w->depth - 1].lines || w->broken;

		if (w->open[w->depth - 1].any)
			fputs(lines ? "," : ", ", w->out);
		if (lines)
			fprintf(w->out, "\n%*s", (int)(w->indent * w->depth), "");
		w->open[w->depth - 1].any = true;
		w->broken = false;
	}
	assert(!key == !(w->depth && w->open[w->depth - 1].closing == '}'));
	if (key) {
		put_text(w->out, key);
		fputs(": ", w->out);
	}
	return w->out;
}

void bb_json__open(struct bb_json *w, const char *key, const char *opening)
{
	assert(w->depth < BB_JSON_MAX_DEPTH && (*opening == '{' || *opening == '['));
	putc(*opening, bb_json__add(w, key));
	w->open[w->depth].closing = *opening == '{' ? '}' : ']';
	w->open[w->depth].lines = opening[1] == '\n';
	w->open[w->depth++].any = false;
}

void bb_json__close(struct bb_json *w)
{
	assert(w->depth && !w->broken);
	w->depth--;
	if (w->open[w->depth].lines && w->open[w->depth].any)
		fprintf(w->out, "\n%*s", (int)(w->indent * w->depth), "");
	putc(w->open[w->depth].closing, w->out);
}

void bb_json__end(struct bb_json *w)
{
	while (w->depth)
		bb_json__close(w);
	putc('\n', w->out);
}

void bb_json__break(struct bb_json *w)
{
	w->broken = true;
}

void bb_json_double(FILE *out, double value)
{
	char text[40];
	double back;

	if (!isfinite(value)) {
		fputs("null", out);
		return;
	}
	/* 17 digits always read back as the same double (Steele & White 1990). */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (!bb_parse_double(text, &back) && !(back < value) && !(back > value))
			break;
	}
	fputs(text, out);
}

void bb_json_fixed(FILE *out, double value)
{
	char text[512]; /* DBL_MAX has 309 digits before the point */
	size_t len = (size_t)snprintf(text, sizeof(text), "%.3f", value);

	while (text[len - 1] == '0')
		text[--len] = '\0';
	if (text[len - 1] == '.')
		text[--len] = '\0';
	fputs(strcmp(text, "-0") ? text : "0", out);
}

void bb_json__add_text(struct bb_json *w, const char *key, const char *text)
{
	bb_json__add(w, key);
	if (text)
		put_text(w->out, text);
	else
		fputs("null", w->out);
}

void bb_json__add_bool(struct bb_json *w, const char *key, bool value)
{
	fputs(value ? "true" : "false", bb_json__add(w, key));
}

void bb_json__add_u64(struct bb_json *w, const char *key, uint64_t value)
{
	fprintf(bb_json__add(w, key), value <= BB_JSON_EXACT ? "%" PRIu64 : "\"0x%" PRIx64 "\"",
		value);
}

void bb_json__add_double(struct bb_json *w, const char *key, double value)
{
	bb_json_double(bb_json__add(w, key), value);
}

void bb_json__add_fixed(struct bb_json *w, const char *key, double value)
{
	if (isfinite(value))
		bb_json_fixed(bb_json__add(w, key), value);
}
