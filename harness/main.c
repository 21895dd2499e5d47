/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <locale.h>

#include "base/caller.h"
#include "base/clean.h"
#include "base/err.h"
#include "base/io.h"
#include "base/stop.h"
#include "cli/cmd.h"
#include "drivers/driver.h"

/* A standard stream that is closed becomes /dev/null, so that no file that is opened later gets its
 * number, the lowest that is free. Nothing can be read from stdin then, nor written to the other
 * two: that is an error, as it is without. */
static bool take_closed(void)
{
	int fd;

	do
		fd = open("/dev/null", fcntl(STDIN_FILENO, F_GETFD) < 0 ? O_WRONLY : O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
	return fd >= 0;
}

/* A program that would end with 0 ends with 1 and says why when its output could not be written. */
static void look_at_stdout(int status, void *arg)
{
	struct bb_err err;

	(void)arg;
	if (status != BB_EXIT_OK || !bb_clean__check(stdout, "stdout", &err))
		return;
	_exit(bb_complain(&err));
}

int main(int argc, char **argv)
{
	struct bb_err err = {0};
	int rc = bb_caller__own_files(&err); /* before anything opens a file */

	if (!rc && !take_closed())
		rc = bb_fail(&err, -errno, "/dev/null: %s", strerror(errno));
	/* characters that a terminal would obey do not get out (base/clean.h) */
	if (!rc && (bb_clean__std() || on_exit(look_at_stdout, NULL)))
		rc = bb_fail_nomem(&err);
	if (rc)
		return bb_complain(&err);
	/* not LC_NUMERIC: a decimal point is a point in every format */
	setlocale(LC_CTYPE, "");
	bb_stop__install();
	free(bb_program_dir()); /* before anything unshares mounts */
	bb_drivers__register();
	return bb_cmd_main(argc, argv);
}
