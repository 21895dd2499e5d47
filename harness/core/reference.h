/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CORE_REFERENCE_H
#define BB_CORE_REFERENCE_H

/*
 * Fixed pieces of work that are run in every round next to the programs (bpf/references.bpf.c): the
 * speed of the machine during the run, in ns a piece.
 */
enum bb_reference {
	BB_REFERENCE_INSTRUCTIONS,
	BB_REFERENCE_MEMORY,
	BB_REFERENCE_WAKEUP,
	BB_N_REFERENCES
};

/* "instructions", "memory", "wakeup": also the names of the programs */
const char *bb_reference_name(enum bb_reference reference);

#endif
