/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_CAPTURED_FILE_H
#define BB_CLI_CAPTURED_FILE_H

#include "cli/capture_options.h"

/* A capture that is measured at once and not kept: a file in a folder of its own. Zeroed: none. */
struct bb_captured_file {
	char *dir, *path;
	char *object; /* NAME=FILE, for --object */
	int lock_fd;  /* of the folder, while we live (base/leftover.h) */
};

/* The name of a capture of that command: that of the program without its folder. */
void bb_capture_name(const char *program, char *ret_name, size_t size);

/* Capture argv[] (ends in NULL) or, unless NULL, `shell`, a command for sh -c. */
int bb_captured_file__make(const struct bb_capture_args *a, const char *const *argv,
			   const char *shell, struct bb_captured_file *ret_file,
			   struct bb_err *err);
void bb_captured_file__remove(struct bb_captured_file *f);

#endif
