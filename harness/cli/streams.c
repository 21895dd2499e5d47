/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clean.h"
#include "cli/cmd.h"

/* The lowest number that is free is taken. Nothing can be read from stdin then, nor written to the
 * other two: that is an error, as it is without. */
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

static void look_at_stdout(int status, void *arg)
{
	int error = status == BB_EXIT_OK ? bb_clean__stdout_error() : 0;

	(void)arg;
	if (!error)
		return;
	fprintf(stderr, "bpfbench: stdout: %s\n", strerror(error));
	_exit(BB_EXIT_FAILURE);
}

int bb_streams__begin(struct bb_err *err)
{
	if (!take_closed())
		return bb_fail(err, -errno, "/dev/null: %s", strerror(errno));
	return bb_clean__std() || on_exit(look_at_stdout, NULL) ? bb_fail_nomem(err) : 0;
}
