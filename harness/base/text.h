/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* These functions are for untrusted texts, such as names of programs and contents of files. */

/* Returns the length in bytes of the UTF-8 sequence at `text` (RFC 3629); 0 if it is no UTF-8. */
size_t bb_utf8_len(const char *text);

/*
 * Returns the length in bytes of the character at `text` if it is safe to show. Returns 0 for
 * control characters (C0, DEL, C1), for characters that change the direction of text
 * (U+202A..U+202E, U+2066..U+2069), and for bytes that are not UTF-8.
 */
size_t bb_shown_len(const char *text);

/* Replaces each byte of the text for which bb_shown_len() is 0 by '?'. */
void bb_make_clean(char *text);

/* Writes `text`, which may have any bytes, as text or attribute value of HTML or XML 1.0. Escapes
 * markup. Bytes that are not UTF-8 and characters that XML forbids become U+FFFD. Writes nothing
 * for NULL. */
void bb_xml_text(FILE *out, const char *text);

/* Writes at most `max_chars` characters of `text`, in the same way as bb_xml_text(). */
void bb_xml_text_cut(FILE *out, const char *text, size_t max_chars);

/* Returns the number of characters in `text`, as bb_xml_text_cut() counts them. */
size_t bb_xml_length(const char *text);

/* Appends `between` and the formatted text to `*text`; if `*text` is NULL, appends only the
 * formatted text. `*text` begins as NULL; free() it. */
void bb_add_text(char **text, const char *between, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));
void bb_add_words(char **text, const char *between, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* True if `text` ends in `end`, and is longer than `end`. */
bool bb_ends_in(const char *text, const char *end);

/* True if `word` is one of the words in `words`, which the byte `between` separates. */
bool bb_has_word(const char *words, char between, const char *word);

/* Appends `between` and the formatted text to list[size]; if the list is empty, appends only the
 * formatted text. Text that does not fit is cut off. */
void bb_list_words(char *list, size_t size, const char *between, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Writes a word, in quotes if necessary, so that a POSIX shell reads the same word (XCU 2.2.2). */
void bb_put_shell_word(FILE *out, const char *word);

/* True if a shell would only split the command line `text` into words, and expand or execute
 * nothing in it. The words may be in single quotes. */
bool bb_is_plain_command(const char *text);

/* Returns the command line of the arguments argv[], which end in NULL, as a shell reads it. The
 * caller frees it. */
char *bb_command_line(char *const *argv);

/* `command` is a command line such as "bpfbench run --budget 5", as bb_command_line() makes it.
 * Returns a copy in which `option` ("--budget 60") follows the name of the command and replaces the
 * same option of `command`. The caller frees the copy. `command` may come from an untrusted file,
 * and users may copy the result to a shell. So this function returns NULL if a shell might do more
 * with `command` than split it into words, or if `command` is not a command of bpfbench. */
char *bb_command_with(const char *command, const char *option);
/* Returns a copy of `command` without `option`, which is "--exact" or, if the option has a
 * value, "--drive NAME". The caller frees the copy. Returns NULL for the same texts as
 * bb_command_with(). */
char *bb_command_without(const char *command, const char *option);
/* Returns a copy of `command` without any of options[n]; see bb_command_without(). `command` may be
 * NULL. */
char *bb_command_without_all(const char *command, const char *const *options, size_t n);
/* Returns the value of `option` ("--base") in `command`, as a shell reads it. The caller frees
 * the value. Returns NULL if `command` does not have the option, or is a text for which
 * bb_command_with() returns NULL. */
char *bb_command_value(const char *command, const char *option);
/* Returns `option` and its value in `command` as text that can be appended to another command, such
 * as " --results DIR". Returns "" if `command` does not have the option. `command` may be NULL. The
 * caller frees the result. */
char *bb_command_option(const char *command, const char *option);
