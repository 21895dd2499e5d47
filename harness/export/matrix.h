/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/document.h"
#include "judge/gate.h"
#include "report/report.h"

/* A column of the matrix: the programs on one kernel. The clock of the guest in which they ran
 * counts machine instructions (vm/machine.h). */
struct bb_matrix_kernel {
	const char *name;            /* name of the kernel, as the user gave it */
	const struct bb_report *run; /* NULL: the guest failed */
	const char *why;             /* why the guest failed */
	/* text and records of traced runs (bb_traced__read()); NULL and -1: no run was traced */
	char *port;
	int trace_fd;
};

/* Adds the matrix: a table with all programs of kernels[n], and a column for each kernel. A program
 * has a row for each figure: whether it loads (only if a kernel refuses it), the verifier's figures
 * and, for each input, executed BPF instructions and machine instructions. Notes below the table
 * say why programs do not load. The texts of `kernels` must outlive the document. */
void bb_doc_matrix(const struct bb_matrix_kernel *kernels, size_t n, struct bb_doc *d);

/*
 * Writes the figures of the matrix in Bencher Metric Format. A benchmark is named after a program
 * or a case, and the kernel: "prog/parse/step/kernel=6.12". A program has the measures of its
 * loading, such as verified-instructions; a case has the measures instructions and
 * machine-instructions.
 */
void bb_matrix__write_bmf(const struct bb_matrix_kernel *kernels, size_t n, FILE *out);

/* Two revisions of one object file. The run of each kernel has the programs of both. The program
 * `work` is the variant "base0.work" in base and "head0.work" in head. */
struct bb_matrix_pair {
	const char *label;       /* stands before the programs' names in the table; may be NULL */
	const char *base, *head; /* the beginnings of the variants' names: "base0", "head0" */
};

/* How the programs of base and head are judged. */
struct bb_matrix_judge {
	const struct bb_matrix_pair *pairs;
	size_t n_pairs;
	double complexity, grow;    /* limits of verified instructions, as in struct bb_gate */
	const struct bb_gate *gate; /* NULL: rows are compared, and none fails */
};

/* Adds a table of the programs of the pairs. A program has a row for each kernel and each input:
 * verified instructions and machine instructions of base (A) and head (B), and the differences. A
 * row fails if base loads and head does not, if head has more verified instructions than
 * `complexity` or `grow` allows, or if head has more machine instructions than base. Returns the
 * number of rows that fail; 0 without a gate. */
size_t bb_doc_matrix_pairs(const struct bb_matrix_kernel *kernels, size_t n,
			   const struct bb_matrix_judge *judge, struct bb_doc *d);
