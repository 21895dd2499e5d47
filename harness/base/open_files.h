/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_OPEN_FILES_H
#define BB_BASE_OPEN_FILES_H

/*
 * How many files this process may have open. Each load of an object has a descriptor of every map:
 * an object of 170 programs and 100 maps needs ten times as many as the usual limits allow.
 */
void bb_open_files__allow_more(void);

/* In a child that is about to run somebody's program: as many as we were given. */
void bb_open_files__as_given(void);

#endif
