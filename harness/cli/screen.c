/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/screen.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clean.h"

/* ECMA-48 and xterm: the second screen, whose end brings back what was there, and the cursor. */
#define BEGIN "\033[?1049h\033[?25l"
#define END "\033[?25h\033[?1049l"
#define HOME "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"

bool bb_screen_possible(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static void get_size(int *ret_rows, int *ret_columns)
{
	struct winsize size;
	bool known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col;

	*ret_rows = known ? size.ws_row : 24;
	*ret_columns = known ? size.ws_col : 80;
}

int bb_screen__open(struct bb_screen *ret_screen, struct bb_err *err)
{
	struct bb_screen s = {.on = true};
	struct termios raw;
	int rc;

	if (tcgetattr(STDIN_FILENO, &s.before)) {
		rc = -errno;
		return bb_fail(err, rc, "the terminal's settings: %s; --once prints one snapshot",
			       strerror(-rc));
	}
	raw = s.before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO); /* Ctrl-C stays a signal */
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;         /* a shell would find the second screen */
	raw.c_cc[VMIN] = raw.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)) {
		rc = -errno;
		return bb_fail(err, rc, "the terminal's settings: %s; --once prints one snapshot",
			       strerror(-rc));
	}
	bb_clean__put_raw(stdout, BEGIN);
	*ret_screen = s;
	return 0;
}

void bb_screen__close(struct bb_screen *s)
{
	if (!s->on)
		return;
	bb_clean__put_raw(stdout, END);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &s->before);
	s->on = false;
}

char bb_screen__key(const struct bb_screen *s)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	char key;

	return s->on && poll(&in, 1, 0) > 0 && read(STDIN_FILENO, &key, 1) == 1 ? key : 0;
}

bool bb_screen__resized(const struct bb_screen *s)
{
	int rows, columns;

	get_size(&rows, &columns);
	return rows != s->rows || columns != s->columns;
}

void bb_screen__draw(struct bb_screen *s, const char *text)
{
	get_size(&s->rows, &s->columns);
	bb_clean__put_raw(stdout, HOME);
	for (int row = 0; row < s->rows && *text; row++) {
		int len = (int)strcspn(text, "\n");

		/* Bytes are characters here: a name is an identifier of C. The last line must not
		 * scroll. */
		bb_clean__put_raw(stdout, row ? "\r\n" : "");
		printf("%.*s", len < s->columns ? len : s->columns, text);
		bb_clean__put_raw(stdout, CLEAR_LINE);
		text += len + (text[len] == '\n');
	}
	bb_clean__put_raw(stdout, CLEAR_BELOW);
}
