/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Functions for untrusted texts, such as names of programs and contents of files. */

/* Returns the length in bytes of the UTF-8 sequence at `text` (RFC 3629); 0 if it is no UTF-8. */
size_t bb_utf8_len(const char *text);

/* Returns the length in bytes of the character at `text`, or 0 if it is not safe to show: a control
 * character (C0, DEL, C1), one that changes the direction of text (U+202A..U+202E, U+2066..U+2069),
 * or a byte that is not UTF-8. */
size_t bb_shown_len(const char *text);

/* Replaces each byte for which bb_shown_len() is 0 by '?'. */
void bb_make_clean(char *text);

/* Writes `text` for HTML or XML 1.0, also inside attribute values. Escapes markup. Bytes that are
 * not UTF-8 and characters that XML forbids become U+FFFD. `text` may be NULL. */
void bb_xml_text(FILE *out, const char *text);

/* Does the same as bb_xml_text(), for at most `max_chars` characters. */
void bb_xml_text_cut(FILE *out, const char *text, size_t max_chars);

/* Returns the number of characters, as bb_xml_text_cut() counts them. */
size_t bb_xml_length(const char *text);

/* Append the formatted text to `*text`, after `between` unless `*text` is NULL; free() it. */
void bb_add_text(char **text, const char *between, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));
void bb_add_words(char **text, const char *between, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* True if `text` ends in `end` and is longer. */
bool bb_ends_in(const char *text, const char *end);

/* True if `word` is one of the words in `words`, separated by the byte `between`. */
bool bb_has_word(const char *words, char between, const char *word);

/* Appends the formatted text to list[size], after `between` if the list is not empty. Text that
 * does not fit is cut off. */
void bb_list_words(char *list, size_t size, const char *between, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Writes a word for a POSIX shell, in quotes if necessary (XCU 2.2.2). */
void bb_put_shell_word(FILE *out, const char *word);

/* True if a shell would only split `text` into words, and expand or execute nothing in it. The
 * words may be in single quotes. */
bool bb_is_plain_command(const char *text);

/* Returns a shell command line of argv[], which ends in NULL; free() it. */
char *bb_command_line(char *const *argv);

/* `command` is a command line such as "bpfbench run --budget 5". Returns a copy with `option`
 * ("--budget 60") after the command's name, without the same option elsewhere; free() it. `command`
 * may come from an untrusted file, and users may copy the result to a shell. So the result is NULL
 * if a shell might do more than split `command` into words, or if it is not a command of
 * bpfbench. */
char *bb_command_with(const char *command, const char *option);
/* Returns a copy of `command` without `option`, which is "--exact" or, if it has a value, "--drive
 * NAME"; free() it. Returns NULL for the same commands as bb_command_with(). */
char *bb_command_without(const char *command, const char *option);
/* Does the same as bb_command_without() for options[n]. `command` may be NULL. */
char *bb_command_without_all(const char *command, const char *const *options, size_t n);
/* Returns the value of `option` ("--base") as a shell reads it; free() it. Returns NULL without
 * that option, and for the same commands as bb_command_with(). */
char *bb_command_value(const char *command, const char *option);
/* Returns `option` and its value as text to append to a command, such as " --results DIR"; free()
 * it. Returns "" without that option. `command` may be NULL. */
char *bb_command_option(const char *command, const char *option);
