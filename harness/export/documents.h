/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_DOCUMENTS_H
#define BB_EXPORT_DOCUMENTS_H

#include "base/std.h"
#include "export/document.h"
#include "export/table_cells.h"
#include "judge/by_line.h"
#include "judge/cross_check.h"
#include "judge/diff.h"
#include "judge/gate.h"
#include "judge/timeline.h"
#include "report/report.h"

/* Documents about a summarised run, part by part; each function adds to the end of `d`. What
 * borrows from the report does so for as long as the document is there. */

/* A run: the answer, of a scenario with one program in sentences; all that was measured, and what
 * the columns mean; for a job summary or a comment. */
void bb_doc_short(const struct bb_report *r, struct bb_doc *d);
void bb_doc_details(const struct bb_report *r, struct bb_doc *d);
void bb_doc_markdown(const struct bb_report *r, struct bb_doc *d);
/* What was measured, without the comparisons, which `compare` sorts and filters itself. */
void bb_doc_cases(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d);

/* The comparisons that were measured in the run; open: as for bb_doc_diff(). */
void bb_doc_comparisons(const struct bb_report *r, size_t open, struct bb_doc *d);

/* The table that begins with case `first` (bb_same_table()), its title and what belongs to it. */
void bb_doc_table(const struct bb_report *r, size_t first, enum bb_detail detail, struct bb_doc *d);

/* Is case `i` the first of such a table, which is no part of a sweep? */
bool bb_is_first_of_table(const struct bb_report *r, size_t i);

/*
 * A drive over very many values of a parameter (256 inputs) has one table, with a row a variant.
 * Which value costs what is in the stored run, in BMF and in the plot.
 */
#define BB_SWEEP_VALUES 16u /* more than these make a sweep */

/* Is case i part of a sweep? It is if it has a parameter of which its scenario and drive have many
 * values. */
bool bb_is_sweep(const struct bb_report *r, size_t i);

/* Is case i the first of a sweep? */
bool bb_is_sweep_head(const struct bb_report *r, size_t i);

/* The sweep that begins with case `head`. */
void bb_doc_sweep(const struct bb_report *r, size_t head, struct bb_doc *d);

/* Does an earlier table, of another drive, say the same in that column about the variant of case
 * `nth`? */
bool bb_is_said_above(const struct bb_report *r, size_t nth, const struct bb_case_column *column);

/* "scenario, drive, param = value". */
void bb_doc_group_title(const struct bb_case *c, bool with_value, const char *after,
			struct bb_doc *d);

/* What the cases in the table of `table` looked for in vain, and what to do about it. `table` NULL
 * means all cases. */
void bb_doc_in_vain(const struct bb_report *r, const struct bb_case *table, struct bb_doc *d);

/* Cases that were measured hot and cold, side by side. */
void bb_doc_hot_cold(const struct bb_report *r, struct bb_doc *d);

/* Slope and hook against step. BB_SHORT: a sentence about those that disagree, else a table. */
void bb_doc_cross_checks(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d);

/* Executed instructions, by program. */
void bb_doc_counted(const struct bb_report *r, struct bb_doc *d);

/* The programs as the kernel loaded them. */
void bb_doc_programs(const struct bb_report *r, struct bb_doc *d);

/* What does not count or was not measured. BB_SHORT: one line a cause. Returns their number. */
size_t bb_doc_notes(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d);

/* Two measurements of a gate; the second has what was an alert in the first. */
struct bb_doc_gate {
	const struct bb_gate *gate;
	const struct bb_report *first, *again; /* again NULL: there was no alert */
};

/* Two programs or two runs against each other. open: of more rows the page shows the most urgent
 * ones, and the others are folded away; 0: all. */
void bb_doc_diff(struct bb_diffs *diffs, const char *label_a, const char *label_b, size_t open,
		 struct bb_doc *d);
/* g NULL: it is not of a gate. */
void bb_doc_exact_diff(const struct bb_exact_diff *diff, const struct bb_doc_gate *g,
		       struct bb_doc *d);
void bb_doc_time_diff(const struct bb_time_diff *diff, struct bb_doc *d);

/* Stored runs over time. `only`: the cases of that run; NULL: all. */
#define BB_HISTORY_ROWS 200u
/* A row a case, with its newest run. Changed cases come first. Rows beyond BB_HISTORY_ROWS are left
 * out and counted, as are, if `only` is NULL, the unchanged cases of sweeps. */
void bb_doc_history(const struct bb_timeline *t, const struct bb_report *only, struct bb_doc *d);
/* A line for each case that is suspect, regressed or improved, and their numbers. */
void bb_doc_history_news(const struct bb_timeline *t, const struct bb_report *only,
			 struct bb_doc *d);
/* Every run of every case. */
void bb_doc_history_points(const struct bb_timeline *t, struct bb_doc *d);
/* The mark of a point; "-": it is not judged. */
const char *bb_history_mark_text(const struct bb_timeline *t, const struct bb_timeline_point *p);
/* How many runs any case of `only` is in; 0: its cases are in none. */
size_t bb_history_n_runs(const struct bb_timeline *t, const struct bb_report *only);

/* For gnuplot: a block a case, columns parted by tabs; the head of the output describes it. `only`
 * as above. */
void bb_history_print_tsv(const struct bb_timeline *t, const struct bb_report *only, FILE *out);

/* The report of a gate. 0 or -ENOMEM. */
int bb_doc_gate(const struct bb_doc_gate *v, struct bb_doc *d, struct bb_err *err);

/* Where a run spends its time, by line (judge/by_line.h). */
void bb_doc_by_line(const struct bb_by_line *b, bool longest_first, struct bb_doc *d);
/* The table and the notes of it, without the sentences above them. */
void bb_doc_by_line_table(const struct bb_by_line *b, bool longest_first, struct bb_doc *d);
/* The lines of one program at several values of its parameter, side by side: of cases[n]. */
void bb_doc_by_param(const struct bb_by_line *cases, size_t n, struct bb_doc *d);
/* A cell with the time of a line: "< 3" if it cannot be told from 0. */
void bb_doc_line_ns(double ns, struct bb_doc *d);
/* Write "71 % is bpf_perf_event_output of line 38, ..." to buf[size]; the second is about cold
 * caches. */
void bb_by_line__sentence(const struct bb_by_line *b, char *buf, size_t size);
void bb_by_line__cold_sentence(const struct bb_by_line *b, char *buf, size_t size);

/*
 * Not a document, as it is as long as the source: the program's own source with the counts of each
 * line per run, and the helpers it called. The texts are those of judge/annotated.h. 0 or -ENOMEM;
 * missing source is named in place.
 */
struct bb_annotate_opts {
	/* the lines that execute most instructions first, instead of all in their places */
	bool hottest;
	/* for lines never executed, and for lines with a tenth of the instructions or more */
	bool colour;
};
int bb_annotate(const struct bb_counted *c, const struct bb_annotate_opts *opts, FILE *out,
		struct bb_err *err);

#endif
