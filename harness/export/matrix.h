/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/document.h"
#include "judge/gate.h"
#include "report/report.h"

/* A column of the matrix: the programs on one kernel. They ran in a guest whose clock counts
 * instructions (vm/machine.h). */
struct bb_matrix_kernel {
	const char *name;            /* as the user gave it */
	const struct bb_report *run; /* NULL: the guest failed */
	const char *why;             /* why it failed */
	char *port; /* text and records of traced runs (profile/traced.h); NULL and -1: none */
	int trace_fd;
};

/* Adds the matrix: the programs of all runs, with a column for each of kernels[n]. A program has a
 * row for each figure: whether it loads (only if a kernel refuses it), verified instructions, and,
 * for each input, executed BPF instructions and machine instructions. Notes below say why programs
 * do not load. The texts must outlive the document. */
void bb_doc_matrix(const struct bb_matrix_kernel *kernels, size_t n, struct bb_doc *d);

/*
 * Writes the figures of the matrix in Bencher Metric Format. A benchmark has the name of the
 * program or case and its kernel: "prog/parse/step/kernel=6.12". Its measures are
 * verified-instructions, or instructions and machine-instructions.
 */
void bb_matrix__write_bmf(const struct bb_matrix_kernel *kernels, size_t n, FILE *out);

/* Two revisions of one object. Each run has the programs of both. The variants "base0.work" and
 * "head0.work" are a pair: the program `work` in base and in head. */
struct bb_matrix_pair {
	const char *label; /* comes before the names of the pair's programs in the table; may be
			      NULL */
	const char *base, *head; /* such as "base0" and "head0" */
};

/* How pairs of programs are judged. */
struct bb_matrix_judge {
	const struct bb_matrix_pair *pairs;
	size_t n_pairs;
	double complexity, grow;    /* as in struct bb_gate */
	const struct bb_gate *gate; /* its two revisions begin the report; NULL: not a gate but a
				       comparison */
};

/*
 * Adds a table with a row for each program of the pairs, kernel and input: verified instructions
 * and machine instructions of base (A) and head (B), and the differences. A row fails if base loads
 * and head does not, if head has more verified instructions than `complexity` or `grow` allows, or
 * if head has more machine instructions than base. Returns how many rows fail if there is a gate; 0
 * without a gate.
 */
size_t bb_doc_matrix_pairs(const struct bb_matrix_kernel *kernels, size_t n,
			   const struct bb_matrix_judge *judge, struct bb_doc *d);
