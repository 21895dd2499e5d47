/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_LIBBPF_LOG_H
#define BB_BPF_LIBBPF_LOG_H

/*
 * libbpf says what went wrong through one callback for the whole process, without a context. This
 * keeps its last warnings (the end of the verifier's log among them) per thread instead of letting
 * it print.
 */
void bb_libbpf_log__begin(void);

/* What was said since __begin: the last part of it when it was long. Valid until the next __begin.
 */
const char *bb_libbpf_log__text(void);

#endif
