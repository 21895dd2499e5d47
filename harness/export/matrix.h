/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/document.h"
#include "judge/gate.h"
#include "report/report.h"

/* A column of the matrix: the programs on one kernel. They ran in a guest (a virtual machine) whose
 * clock counts machine instructions (vm/machine.h). */
struct bb_matrix_kernel {
	const char *name;            /* as the user gave it */
	const struct bb_report *run; /* NULL if the guest failed */
	const char *why;             /* why the guest failed */
	/* for bb_traced__read(), or NULL and -1 if no run was traced */
	char *port;
	int trace_fd;
};

/* Adds a table of the programs, with a column for each of kernels[n]. A program has rows for the
 * verifier's figures and, for each input, executed BPF instructions and machine instructions. Notes
 * say why programs do not load. The texts of `kernels` must outlive the document. */
void bb_doc_matrix(const struct bb_matrix_kernel *kernels, size_t n, struct bb_doc *d);

/* Writes the matrix in Bencher Metric Format. The name of a benchmark is a case or program, and a
 * kernel: "prog/parse/step/kernel=6.12". */
void bb_matrix__write_bmf(const struct bb_matrix_kernel *kernels, size_t n, FILE *out);

/* Two revisions of one object file, which the run of each kernel measured. The program `work` is
 * the variant "base0.work" in base and "head0.work" in head. */
struct bb_matrix_pair {
	const char *label;       /* stands before the programs' names, may be NULL */
	const char *base, *head; /* beginnings of the variants' names: "base0", "head0" */
};

struct bb_matrix_judge {
	const struct bb_matrix_pair *pairs;
	size_t n_pairs;
	const struct bb_gate *gate; /* has the limits; NULL if no row is to fail */
};

/* Adds a table of the programs of the pairs, with a row for each kernel and input. A row fails if
 * head does not load although base does, has more machine instructions, or more verified
 * instructions than the gate allows. Returns how many rows fail, 0 without a gate. */
size_t bb_doc_matrix_pairs(const struct bb_matrix_kernel *kernels, size_t n,
			   const struct bb_matrix_judge *judge, struct bb_doc *d);
