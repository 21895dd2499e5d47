/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clean.h"
#include "base/clock.h"

#define BAR_CELLS 24
#define CLEAR_REST "\033[K" /* of the line */
#define REDRAW_NS 100000000u

static int terminal_columns(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0 ? 80 : size.ws_col;
}

static void update(void *arg, double done, double total, const char *what)
{
	struct bb_progress_bar *bar = arg;
	uint64_t now_ns = bb_now_ns();
	double share = total > 0 ? done / total : 0,
	       elapsed_s = (double)(now_ns - bar->began_ns) * 1e-9;
	int filled, columns;
	char cells[BAR_CELLS + 1], left[32] = "";

	if (!bar->on || now_ns - bar->drawn_ns < REDRAW_NS)
		return;
	bar->drawn_ns = now_ns;
	if (share > 1)
		share = 1;
	filled = (int)(share * BAR_CELLS);
	for (int i = 0; i < BAR_CELLS; i++)
		cells[i] = i < filled ? '#' : '-';
	cells[BAR_CELLS] = '\0';
	if (share > 0.02)
		snprintf(left, sizeof(left), "%.0f s left", elapsed_s * (1 - share) / share);
	columns = terminal_columns() - BAR_CELLS - 24;
	bb_clean__put_raw(stderr, "\r");
	fprintf(stderr, "[%s] %3.0f %% %-10s %.*s", cells, 100 * share, left,
		columns > 0 ? columns : 0, what);
	bb_clean__put_raw(stderr, CLEAR_REST);
}

void bb_progress_bar__begin(struct bb_progress_bar *bar, bool quiet)
{
	*bar = (struct bb_progress_bar){.on = !quiet && isatty(STDERR_FILENO),
					.began_ns = bb_now_ns()};
	bar->callbacks = (struct bb_progress){.update = update, .arg = bar};
}

void bb_progress_bar__end(struct bb_progress_bar *bar)
{
	if (bar->on && bar->drawn_ns)
		bb_clean__put_raw(stderr, "\r" CLEAR_REST);
	bar->on = false;
}
