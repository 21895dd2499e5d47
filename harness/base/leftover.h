/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_LEFTOVER_H
#define BB_BASE_LEFTOVER_H

#include <stddef.h>

/*
 * Temporary files and folders that a killed process could not remove. Their maker holds a lock on
 * them (flock) as long as it exists.
 */

/*
 * Lock `fd`, a temporary file or folder of ours in the folder `dir_fd`, and remove its older
 * siblings that nobody has locked: those called like it but for the last `n_random` characters of
 * its name, of the same owner, a minute old. What cannot be removed stays.
 */
void bb_leftover__lock_and_remove_others(int dir_fd, const char *name, size_t n_random, int fd);

#endif
