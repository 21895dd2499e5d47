/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/table_cells.h"
#include "judge/contention.h"
#include "judge/cross_check.h"
#include "judge/gate.h"
#include "judge/timeline.h"

/* Documents about a summarised run, part by part. Each function adds to the end of `d`. The
 * report must outlive the document, which refers to its texts. */

/* Add a whole run. Short: the main results, in sentences if the scenario has one program. Details:
 * the main results as tables, then all figures, and the meaning of the columns. Markdown: for the
 * summary of a CI job or a comment in a pull request. */
void bb_doc_short(const struct bb_report *r, struct bb_doc *d);
void bb_doc_details(const struct bb_report *r, struct bb_doc *d);
void bb_doc_markdown(const struct bb_report *r, struct bb_doc *d);
/* Adds what bb_doc_short() shows below the comparisons. `compare` sorts and filters the comparisons
 * itself. */
void bb_doc_short_rest(const struct bb_report *r, struct bb_doc *d);

/* Returns the budget, s, that should decide all comparisons that more time can decide; 0: there is
 * none. In `compare` the comparisons of a run share one budget; in `gate` each program has its
 * own. */
double bb_budget_to_decide(const struct bb_report *r);

/* Adds the comparisons that were measured in the run. `open` is as for bb_doc_diff(). */
void bb_doc_comparisons(const struct bb_report *r, size_t open, struct bb_doc *d);

/* Adds the table that begins with case `first` (bb_same_table()), with its title and its notes. */
void bb_doc_table(const struct bb_report *r, size_t first, enum bb_detail detail, struct bb_doc *d);

/* True if case `i` is the first of its group (bb_same_group()). */
bool bb_is_first_of_group(const struct bb_report *r, size_t i);

/* True if the group of case `of` has several values of its parameter but is not a sweep. */
bool bb_is_of_values(const struct bb_report *r, size_t of);

/* True if case `i` is the first of its table (bb_same_table()). False for the cases of a sweep. */
bool bb_is_first_of_table(const struct bb_report *r, size_t i);

/* A sweep is a parameter with very many values, such as 256 inputs. It has one table
 * with a row for each variant. The stored run, BMF and the plot have the figures of each value. */
#define BB_SWEEP_VALUES 16u /* a sweep has more values of its parameter than this */

/* True if case `i` is part of a sweep: its scenario and drive have many values of its parameter. */
bool bb_is_sweep(const struct bb_report *r, size_t i);

/* True if case `i` is the first of a sweep. */
bool bb_is_sweep_head(const struct bb_report *r, size_t i);

/* Adds the sweep that begins with case `head`. */
void bb_doc_sweep(const struct bb_report *r, size_t head, struct bb_doc *d);

/* Adds the title of a scenario and drive, followed by `after`: "scenario, drive, param = value"
 * or, without the value, "scenario, drive, over param". */
void bb_doc_group_title(const struct bb_case *c, bool with_value, const char *after,
			struct bb_doc *d);

/* Adds notes about failed lookups, about tail calls that did not happen, and about early returns.
 * Each note says what to do. The notes are about the cases in the table of case `table`; NULL:
 * about all cases. */
void bb_doc_in_vain(const struct bb_report *r, const struct bb_case *table, struct bb_doc *d);
/* Adds the same notes about a run that compares two variants, table by table. What is true of both
 * variants is one note. */
void bb_doc_in_vain_of_both(const struct bb_report *r, struct bb_doc *d);

/* For every program with several inputs, adds a table by return value if its runs returned more
 * than one value. */
void bb_doc_classes(const struct bb_report *r, struct bb_doc *d);

/* Adds the cases that were measured hot and cold, side by side. */
void bb_doc_hot_cold(const struct bb_report *r, struct bb_doc *d);

/* For each program that ran on several CPUs at once, adds whether the CPUs slow each other down. */
void bb_doc_contention(const struct bb_report *r, struct bb_doc *d);

/* Adds two cross-checks: slope against step, and hook against step. BB_SHORT: a sentence for each
 * check about the cases that disagree; otherwise a table for each check. */
void bb_doc_cross_checks(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d);

/* True if the report has a case of the drive. */
bool bb_has_drive(const struct bb_report *r, const char *drive);
/* Adds what the drives step, slope and in-situ are, if the report has cases of them. */
void bb_doc_drive_key(const struct bb_report *r, struct bb_doc *d);
/* True if the counted program is the floor of another one. */
bool bb_is_counted_floor(const struct bb_report *r, const struct bb_counted *c);
/* Adds the executed instructions of each program. BB_SHORT: without the floors. */
void bb_doc_counted(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d);

/* Adds a table of the programs as the kernel loaded them. */
void bb_doc_programs(const struct bb_report *r, struct bb_doc *d);

/* Adds notes about samples that do not count and cases that were not measured. BB_SHORT: one line
 * for each cause, without the causes that the rows of comparisons name. Returns the number of
 * notes. */
size_t bb_doc_notes(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d);

/* The two measurements of a gate. The second one measures again what the first one found to be
 * regressed. */
struct bb_doc_gate {
	const struct bb_gate *gate;
	const struct bb_report *first, *again; /* `again` is NULL if nothing regressed in `first` */
};

/* The two sides of a comparison. If `r` is NULL, `a` and `b` are the names of stored runs.
 * Otherwise they are variants of the run `r`. */
struct bb_doc_sides {
	const struct bb_report *r;
	const char *a, *b;
};

/* Adds the differences between two programs or two runs. On an HTML page, only the `open` most
 * urgent rows are shown, and the others are folded; 0: all are shown. */
void bb_doc_diff(struct bb_diffs *diffs, struct bb_doc_sides sides, size_t open, struct bb_doc *d);
/* Adds the cases and lines whose counts differ; without `all`, only the first ones. If `sides.a` is
 * NULL, A and B are not named. `g` is the gate that made the counts; NULL: no gate. */
void bb_doc_exact_diff(const struct bb_exact_diff *diff, struct bb_doc_sides sides, bool all,
		       const struct bb_doc_gate *g, struct bb_doc *d);
/* Adds the verdict on the whole run, the names of A and B if `sides.r` is set, and the lines that
 * differ; without `all`, only the first ones. */
void bb_doc_time_diff(const struct bb_time_diff *diff, struct bb_doc_sides sides, bool all,
		      struct bb_doc *d);

/* Adds what to do next: mend the first lines that regressed or are new, and measure longer if there
 * were too few loads for a verdict on each line. */
void bb_doc_time_diff_next(const struct bb_time_diff *diff, struct bb_doc *d);

/* Documents about stored runs over time. Each document has only the cases of the run `only`; NULL:
 * all cases. */
#define BB_HISTORY_ROWS 200u
/* Adds a row for each case, with its newest run. Changed cases come first. Two kinds of rows are
 * left out: those beyond BB_HISTORY_ROWS and, if `only` is NULL, the unchanged cases of sweeps. The
 * last line says how many rows are left out. */
void bb_doc_history(const struct bb_timeline *t, const struct bb_report *only, struct bb_doc *d);
/* Adds the number of cases of each mark, and a line for each case that is suspect, regressed,
 * improved or "cannot tell". */
void bb_doc_history_news(const struct bb_timeline *t, const struct bb_report *only,
			 struct bb_doc *d);
/* Adds every run of every case. */
void bb_doc_history_points(const struct bb_timeline *t, struct bb_doc *d);
/* Returns the mark of a point; "-": the point is not judged. */
const char *bb_history_mark_text(const struct bb_timeline *t, const struct bb_timeline_point *p);
/* Returns in how many stored runs the most frequent case of `only` is; 0: no case of it is
 * stored. */
size_t bb_history_n_runs(const struct bb_timeline *t, const struct bb_report *only);

/* Writes the history for gnuplot: a block for each case, columns separated by tabs. The head of
 * the output describes it. `only` limits it to the cases of that run; NULL: all cases. */
void bb_history_print_tsv(const struct bb_timeline *t, const struct bb_report *only, FILE *out);

/* Adds the report of a gate. */
void bb_doc_gate(const struct bb_doc_gate *v, struct bb_doc *d);
/* Adds the headline up to its reason: "bpfbench gate: FAILED (exit code 3): ". */
void bb_doc_gate_headline(enum bb_exit code, struct bb_doc *d);
/* Adds an item for each of the two revisions. */
void bb_doc_gate_revisions(const struct bb_gate *g, struct bb_doc *d);
/* Adds an item for each program that was not compared or was compared under another name. The item
 * says which of these, and why. */
void bb_doc_gate_others(const struct bb_gate *g, struct bb_doc *d);

/* Adds where a run spends its time, by line (judge/by_line.h). With `whole`, the time of the whole
 * run comes first. The lines are in the order of the source; with `longest_first`, they are sorted
 * by time. Without `all`, the lines below b->least share one row. */
void bb_doc_by_line(const struct bb_by_line *b, bool whole, bool longest_first, bool all,
		    struct bb_doc *d);
/* Adds only the table and its notes, without the sentences above them. */
void bb_doc_by_line_table(const struct bb_by_line *b, bool longest_first, bool all,
			  struct bb_doc *d);
/* Adds the lines of one program at several values of its parameter, side by side. cases[n] has a
 * case for each value. It may have cases of several programs; each gets its own table. */
void bb_doc_by_param(const struct bb_by_line *cases, size_t n, struct bb_doc *d);
/* Adds a cell with the time of a line; "< LEAST" if the time is below `least`, such as "< 3". */
void bb_doc_line_ns(double ns, double least, struct bb_doc *d);
/* Write a sentence to buf[size]. The first function says which parts take the most time: "71 % is
 * bpf_perf_event_output of line 38, ...". The second function says which parts cold caches slow
 * down most. */
void bb_by_line__sentence(const struct bb_by_line *b, char *buf, size_t size);
void bb_by_line__cold_sentence(const struct bb_by_line *b, char *buf, size_t size);

/* Writes the source of a program with the counts of each line per run, and the helpers that it
 * called. Makes no document, because the source may be long. The texts come from judge/annotated.h.
 * If a source file is missing or has changed, only the lines that the BTF has are written. */
struct bb_annotate_opts {
	/* instead of the whole source, show this many of the lines that execute the most
	 * instructions, sorted by instructions; 0: the whole source */
	size_t n_hottest;
	size_t width; /* characters in a line of output; longer lines are cut */
	/* write lines that never executed, and lines with at least a tenth of the instructions, in
	 * colour */
	bool colour;
};
void bb_annotate(const struct bb_counted *c, const struct bb_annotate_opts *opts, FILE *out);
