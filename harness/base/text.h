/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_TEXT_H
#define BB_BASE_TEXT_H

#include "base/std.h"

/* Text from others: names of programs and functions, lines of source, contents of files. */

/* Whole characters: bytes of the UTF-8 sequence at `text`, 0 when it is not one (RFC 3629). */
size_t bb_utf8_len(const char *text);

/*
 * Bytes of the character at `text` when it may be shown; 0: it is a control character (C0, DEL,
 * C1), it changes the direction of the text after it (U+202A..U+202E, U+2066..U+2069), or it is not
 * UTF-8.
 */
size_t bb_shown_len(const char *text);

/*
 * Any bytes as text or attribute value of HTML or XML 1.0: markup is escaped, and bytes that are
 * not UTF-8, or characters that XML does not allow, become U+FFFD. NULL: nothing.
 */
void bb_xml_text(FILE *out, const char *text);

/* The same of `max_chars` characters at the most. */
void bb_xml_text_cut(FILE *out, const char *text, size_t max_chars);

/* In characters, as the two count them. */
size_t bb_xml_length(const char *text);

/* Adds a text to the end of *text, which begins as NULL and is free()d by the caller, with
 * `between` before it unless it is the first. 0 or -ENOMEM, and then *text is as before. */
int bb_add_text(char **text, const char *between, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

/* A word of a command line as a POSIX shell reads it back (XCU 2.2.2). */
void bb_put_shell_word(FILE *out, const char *word);

#endif
