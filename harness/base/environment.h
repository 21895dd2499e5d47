/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_ENVIRONMENT_H
#define BB_BASE_ENVIRONMENT_H

#include <sys/types.h>

/*
 * For a child that is about to run another program (git, a build, a workload): its environment
 * becomes PATH, LANG and TERM as we have them, HOME, and the variables named in `also` (ends in
 * NULL; NULL: none) as far as they are set. Everything else is removed, secrets and the variables
 * of git and make too. HOME is that of `uid` where we are root and it is another user, else ours. 0
 * or -ENOMEM.
 */
int bb_environment__clean(const char *const *also, uid_t uid);

#endif
