/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_SAY_LOST_H
#define BB_CLI_SAY_LOST_H

#include <stdbool.h>

#include "profile/fold.h"
#include "profile/recording.h"

/* On stderr: which clock set the rate if no cycles did, and which samples are missing or have no
 * name. */
void bb_say_lost(const struct bb_recording *r, const struct bb_profile *p, bool want_kernel);

#endif
