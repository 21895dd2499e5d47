/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_STREAMS_H
#define BB_CLI_STREAMS_H

#include "base/err.h"

/*
 * stdin, stdout and stderr, once, when the program begins. A descriptor of theirs that is closed is
 * taken by /dev/null, so that no file that is opened later gets its number. Characters that a
 * terminal would obey do not get out (base/clean.h). A program that would end with 0 ends with 1
 * and says why when its output could not be written. 0 or -errno.
 */
int bb_streams__begin(struct bb_err *err);

#endif
