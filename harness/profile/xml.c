/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/xml.h"

#include <stdbool.h>
#include <stdint.h>

/* XML 1.0, production 2 (Char). */
static bool is_xml_char(uint32_t c)
{
	return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0xd800) || (c >= 0xe000 && c < 0xfffe) ||
	       (c >= 0x10000 && c < 0x110000);
}

/* How many bytes the character at `text` has; 0: it is not UTF-8 (RFC 3629) or nothing for XML. */
static size_t char_bytes(const char *text)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *s = (const unsigned char *)text;
	size_t n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
	uint32_t c = n == 1 ? s[0] : n ? s[0] & (0x7fu >> n) : 0;

	for (size_t i = 1; i < n; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return n && c >= least[n] && is_xml_char(c) ? n : 0;
}

static const char *entity(char c)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	default: return NULL;
	}
}

void bb_xml_write(const char *text, size_t max_chars, FILE *out)
{
	for (; *text && max_chars; max_chars--) {
		size_t n = char_bytes(text);
		const char *escaped = entity(*text);

		if (!n)
			fputs("\xef\xbf\xbd", out);
		else if (escaped)
			fputs(escaped, out);
		else
			fwrite(text, 1, n, out);
		text += n ? n : 1;
	}
}

size_t bb_xml_length(const char *text)
{
	size_t length = 0;

	for (; *text; length++) {
		size_t n = char_bytes(text);

		text += n ? n : 1;
	}
	return length;
}
