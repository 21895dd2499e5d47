/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_COMPANIONS_H
#define BB_DRIVERS_COMPANIONS_H

#include "drivers/test_prog.h"

/*
 * The programs of the subject's object that the session does not measure (it measures one program
 * of it, or compares two), loaded on the subject's maps, to be attached beside it as the tool does
 * (drivers/beside.h). The subject is loaded, and its trigger is found. Who cannot be loaded, or
 * acts on other processes and may not, is missing. They are closed with the subject.
 */
void bb_companions__open(struct bb_test_prog *subject, bool allow_system_wide);
/* The same again, if the loaded subject has other maps by now: it has borrowed them. */
void bb_companions__refresh(struct bb_test_prog *subject, bool allow_system_wide);
void bb_companions__close(struct bb_test_prog *subject);

#endif
