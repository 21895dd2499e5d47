/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <locale.h>

#include "base/caller.h"
#include "base/stop.h"
#include "cli/cmd.h"
#include "cli/streams.h"

int main(int argc, char **argv)
{
	struct bb_err err = {0};

	/* before anything opens a file */
	if (bb_caller__own_files(&err) || bb_streams__begin(&err))
		return bb_complain(&err);
	/* not LC_NUMERIC: a decimal point is a point in every format */
	setlocale(LC_CTYPE, "");
	bb_stop__install();
	return bb_cmd_main(argc, argv);
}
