/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/screen.h"

#include "base/clean.h"

/* Control sequences (ECMA-48, xterm). BEGIN switches to the second screen and hides the cursor. END
 * undoes both. */
#define BEGIN "\033[?1049h\033[?25l"
#define END "\033[?25h\033[?1049l"
#define HOME "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"

static void get_size(int *ret_rows, int *ret_columns)
{
	struct winsize size;
	bool known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col;

	*ret_rows = known ? size.ws_row : 24;
	*ret_columns = known ? size.ws_col : 80;
}

int bb_screen__open(struct bb_screen *ret_screen, struct bb_err *err)
{
	struct termios raw = {0};
	bool failed = tcgetattr(STDIN_FILENO, &raw);

	*ret_screen = (struct bb_screen){.before = raw};
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO); /* Ctrl-C stays a signal */
	raw.c_cc[VSUSP] = _POSIX_VDISABLE; /* no Ctrl-Z: the shell would be on the second screen */
	raw.c_cc[VMIN] = raw.c_cc[VTIME] = 0;
	if (failed || tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw))
		return bb_fail(err, -errno,
			       "the terminal's settings: %m; without a terminal on stdin, no table "
			       "is refreshed");
	bb_clean__put_raw(stdout, BEGIN);
	return 0;
}

void bb_screen__draw(struct bb_screen *s, const char *text)
{
	get_size(&s->rows, &s->columns);
	bb_clean__put_raw(stdout, HOME);
	for (int row = 0; row < s->rows && *text; row++) {
		int len = (int)strcspn(text, "\n");

		/* One byte is one column, because names are C identifiers. A newline after the last
		 * row would scroll the screen. */
		bb_clean__put_raw(stdout, row ? "\r\n" : "");
		printf("%.*s", len < s->columns ? len : s->columns, text);
		bb_clean__put_raw(stdout, CLEAR_LINE);
		text += len + (text[len] == '\n');
	}
	bb_clean__put_raw(stdout, CLEAR_BELOW);
}

bool bb_screen__has_changed(const struct bb_screen *s)
{
	int rows, columns;

	get_size(&rows, &columns);
	return rows != s->rows || columns != s->columns;
}

char bb_screen__key(void)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	char key;

	return poll(&in, 1, 0) > 0 && read(STDIN_FILENO, &key, 1) == 1 ? key : 0;
}

void bb_screen__close(struct bb_screen *s)
{
	bb_clean__put_raw(stdout, END);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &s->before);
}
