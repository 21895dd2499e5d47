/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_GIVE_WAY_H
#define BB_BASE_GIVE_WAY_H

/*
 * A measuring process runs ahead of others (cli/machine.h), and the kernel leaves them at most a
 * twentieth of each second. So it gives the CPU up by itself: between two loads or batches, and
 * between two runs of a slow program, it sleeps for a tenth of the time that it has had, once that
 * is 0.1 s.
 */
void bb_give_way(void);

/* Use all memory that bb_give_way() uses, so that it causes no page fault later. */
void bb_give_way_touch(void);

#endif
