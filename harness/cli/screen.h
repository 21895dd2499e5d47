/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_SCREEN_H
#define BB_CLI_SCREEN_H

#include <stdbool.h>
#include <termios.h>

#include "base/err.h"

/* The terminal as a screen that is drawn anew: stdin gives keys one by one, and all is as before
 * when it is closed. */
struct bb_screen {
	struct termios before;
	bool on;
	int rows, columns; /* as last drawn */
};

bool bb_screen_possible(void); /* stdin and stdout are terminals */

/* 0 or -errno with a message. */
int bb_screen__open(struct bb_screen *ret_screen, struct bb_err *err);
void bb_screen__close(struct bb_screen *s);

/* The key that was pressed; 0: none. */
char bb_screen__key(const struct bb_screen *s);

/* Is it another size than when it was drawn? */
bool bb_screen__resized(const struct bb_screen *s);

/* Show the text's first lines, as much of each as there is room for. */
void bb_screen__draw(struct bb_screen *s, const char *text);

#endif
