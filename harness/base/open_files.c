/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/open_files.h"

#include <stdbool.h>
#include <sys/resource.h>

#define ENOUGH 131072u /* the kernel allows a million (fs.nr_open) */

static struct rlimit given;
static bool is_changed;

void bb_open_files__allow_more(void)
{
	struct rlimit more;

	if (is_changed || getrlimit(RLIMIT_NOFILE, &given))
		return;
	more = given;
	if (more.rlim_max < ENOUGH) /* root may */
		more.rlim_max = ENOUGH;
	if (more.rlim_cur < ENOUGH)
		more.rlim_cur = ENOUGH;
	is_changed = !setrlimit(RLIMIT_NOFILE, &more);
	if (is_changed)
		return;
	more = given;
	more.rlim_cur = more.rlim_max;
	is_changed = !setrlimit(RLIMIT_NOFILE, &more);
}

void bb_open_files__as_given(void)
{
	if (is_changed)
		setrlimit(RLIMIT_NOFILE, &given);
}
