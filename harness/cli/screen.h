/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <termios.h>

#include "base/std.h"

/* A terminal on which a table is refreshed. While it is open, stdin delivers single keys.
 * bb_screen__close() restores the former settings and contents. */
struct bb_screen {
	struct termios before;
	int rows, columns; /* size at the last drawing */
};

/* Switches to the terminal's second screen. Returns 0 or -errno with a message. */
int bb_screen__open(struct bb_screen *ret_screen, struct bb_err *err);
void bb_screen__close(struct bb_screen *s);

/* Draws the lines of the text that fit the terminal, truncated to its width. */
void bb_screen__draw(struct bb_screen *s, const char *text);

/* Returns the key that was pressed on stdin, or 0 if none was. */
char bb_screen__key(void);

bool bb_screen__has_changed(const struct bb_screen *s);

/* Returns the end of a message about a command that has ended. It says how to see the output of the
 * command, or is "" if the output was shown. With a screen, the command is silent. */
static inline const char *bb_silence_hint(bool is_screen)
{
	return is_screen ? "; --format table shows what it prints" : "";
}
