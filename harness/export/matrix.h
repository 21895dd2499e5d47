/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"
#include "export/document.h"
#include "report/report.h"

/* A column of the matrix: the programs on one kernel, in a guest whose clock counts instructions
 * (vm/machine.h). */
struct bb_matrix_kernel {
	const char *name;            /* as the user gave it */
	const struct bb_report *run; /* NULL: the guest failed */
	const char *why;             /* why it failed */
};

/*
 * Adds the matrix: the programs of all runs, with a column for each of kernels[n]. A program has a
 * row for each figure: whether it loads (only where a kernel refuses it), verified instructions,
 * and for each of its inputs the executed BPF instructions and machine instructions. Notes below
 * say why programs do not load. The texts must outlive the document.
 */
void bb_doc_matrix(const struct bb_matrix_kernel *kernels, size_t n, struct bb_doc *d);

/*
 * Writes the figures of the matrix in Bencher Metric Format. A benchmark has the name of the
 * program or case and its kernel: "prog/parse/step/kernel=6.12". Its measures are
 * verified-instructions, or instructions and machine-instructions.
 */
void bb_matrix__write_bmf(const struct bb_matrix_kernel *kernels, size_t n, FILE *out);
