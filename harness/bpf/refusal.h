/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_REFUSAL_H
#define BB_BPF_REFUSAL_H

#include <stddef.h>

/* One line that says why something was not loaded, out of logs that say much besides. */

/*
 * The verifier's: its last line that is neither a statistic nor a state or an instruction that it
 * was at. The end of a log will do. "" where there is none.
 */
void bb_refusal_of_verifier(const char *log, char *ret_reason, size_t size);

/* libbpf's: its last warning that is not the general "failed to load object", without its prefix.
 * "" where there is none. */
void bb_refusal_of_libbpf(const char *log, char *ret_reason, size_t size);

/* A log without libbpf's own lines: the verifier's, each with its end. Cut where it has no room. */
void bb_refusal_log_of_verifier(const char *log, char *ret_log, size_t size);

#endif
