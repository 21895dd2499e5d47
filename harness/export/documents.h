/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/table_cells.h"
#include "judge/contention.h"
#include "judge/cross_check.h"
#include "judge/gate.h"
#include "judge/timeline.h"

/* Each function bb_doc_*() adds one part of a document to the end of `d`. It needs the summaries of
 * the run. The run must outlive the document, which refers to its texts. */

/* Describe a whole run. bb_doc_short() gives the main results, bb_doc_details() also all figures
 * and the meaning of the columns. bb_doc_markdown() is for a CI job or a pull request. */
void bb_doc_short(const struct bb_report *r, struct bb_doc *d);
void bb_doc_details(const struct bb_report *r, struct bb_doc *d);
void bb_doc_markdown(const struct bb_report *r, struct bb_doc *d);
/* Adds the part of bb_doc_short() after the comparisons. The command `compare` uses only this part,
 * because it sorts and filters the comparisons itself. */
void bb_doc_short_rest(const struct bb_report *r, struct bb_doc *d);

/* Returns the budget, s, that should decide the inconclusive comparisons, or 0 if more time would
 * not. In `compare`, the budget is for all comparisons together, in `gate` for one program. */
double bb_budget_to_decide(const struct bb_report *r);

/* Adds the comparisons that were measured in the run. `open` is explained at bb_doc_diff(). With
 * BB_SHORT, rows are left out by bb_diff_drop_nets(). */
void bb_doc_comparisons(const struct bb_report *r, size_t open, enum bb_detail detail,
			struct bb_doc *d);

/* Adds the table that begins with case `first` (bb_same_table()), its title and its notes. */
void bb_doc_table(const struct bb_report *r, size_t first, enum bb_detail detail, struct bb_doc *d);

bool bb_is_first_of_group(const struct bb_report *r, size_t i);

/* True if the group of case `of` (bb_same_group()) has several values, but is no sweep. */
bool bb_is_of_values(const struct bb_report *r, size_t of);

/* True if case `i` is the first of its table (bb_same_table()) and is in no sweep. */
bool bb_is_first_of_table(const struct bb_report *r, size_t i);

/* A sweep is a parameter with more values than this. A document shows a sweep as one table, with a
 * row for each variant and not for each value. */
#define BB_SWEEP_VALUES 16u

bool bb_is_sweep(const struct bb_report *r, size_t i);

bool bb_is_sweep_head(const struct bb_report *r, size_t i);

/* Adds the table of the sweep whose first case has the index `head`. */
void bb_doc_sweep(const struct bb_report *r, size_t head, struct bb_doc *d);

/* Adds the title of a table, "scenario, drive, param = value", or without `with_value` that of a
 * sweep, "scenario, drive, over param". The text `after` follows it. */
void bb_doc_group_title(const struct bb_case *c, bool with_value, const char *after,
			struct bb_doc *d);

/* Adds notes about failed lookups, tail calls that did not happen, and checks that end all runs
 * early. They are about the table of case `table`, or about all cases if `table` is NULL. */
void bb_doc_in_vain(const struct bb_report *r, const struct bb_case *table, struct bb_doc *d);
/* Adds the notes of bb_doc_in_vain() for a run that compares two variants, without repetitions. */
void bb_doc_in_vain_of_both(const struct bb_report *r, struct bb_doc *d);

/* Adds a table with a row for each return value, for each program that ran on several inputs and
 * returned more than one value. */
void bb_doc_classes(const struct bb_report *r, struct bb_doc *d);

/* Adds tables of the cases that were measured with hot and with cold caches, side by side. In the
 * row of a sweep, the figures are medians over its values. */
void bb_doc_hot_cold(const struct bb_report *r, struct bb_doc *d);

/* Adds a table that says whether CPUs that run a program at once slow each other down. */
void bb_doc_contention(const struct bb_report *r, struct bb_doc *d);

/* Adds two cross-checks: slope against step, and hook against step. With BB_SHORT, adds only a
 * sentence about the cases that disagree. */
void bb_doc_cross_checks(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d);

bool bb_has_drive(const struct bb_report *r, const char *drive);
/* True if the run is from a guest of --vm, whose clock counts machine instructions. */
bool bb_counts_instructions(const struct bb_report *r);
#define BB_COUNTS_INSTRUCTIONS                                                                     \
	"the figures are machine instructions: the clock of the guest counts each as 1 ns"
/* Adds explanations of those drives of step, slope, in-situ and in-situ-packets that were used. */
void bb_doc_drive_key(const struct bb_report *r, struct bb_doc *d);
/* True if the counted program is a floor: an empty program with which others are compared. */
bool bb_is_counted_floor(const struct bb_report *r, const struct bb_counted *c);
/* Adds the number of executed instructions of each program. With BB_SHORT, leaves out floors. */
void bb_doc_counted(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d);

/* Adds a table of the programs as the kernel loaded them. */
void bb_doc_programs(const struct bb_report *r, struct bb_doc *d);

/* True if inputs were searched for with --try-inputs, so that no second search is advised. */
bool bb_doc_is_searched(const struct bb_report *r);

/* True if the document of the run advises `--fill` for a map that was empty. */
bool bb_doc_advises_fill(const struct bb_report *r);

/* Adds notes about samples that do not count and cases that were not measured. With BB_SHORT, each
 * cause has one line, or none if the rows of comparisons name it. Returns the number of notes. */
size_t bb_doc_notes(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d);

/* The two measurements of a gate. `again` repeats the comparisons that regressed in `first`. */
struct bb_doc_gate {
	const struct bb_gate *gate;
	const struct bb_report *first, *again; /* `again` is NULL if nothing regressed in `first` */
};

/* The names of A and B: two variants of the run `r` or, if `r` is NULL, two stored runs. */
struct bb_doc_sides {
	const struct bb_report *r;
	const char *a, *b;
};

/* Adds the differences between two programs or two runs. In HTML, rows after the `open` most urgent
 * ones are hidden until the reader opens them. 0 shows all rows. */
void bb_doc_diff(struct bb_diffs *diffs, struct bb_doc_sides sides, size_t open, struct bb_doc *d);
/* Adds the cases and lines whose counts of instructions differ. Without `all`, adds only the first
 * ones. If sides.a is NULL, A and B are not named. `g` is the gate that counted, or NULL. */
void bb_doc_exact_diff(const struct bb_exact_diff *diff, struct bb_doc_sides sides, bool all,
		       const struct bb_doc_gate *g, struct bb_doc *d);
/* Adds the verdict on a run of each program, and the lines whose times differ. Without `all`, adds
 * only the first ones. If sides.a is set, also adds the names of A and B and what the figures mean.
 * If sides.r is set as well, also adds the notes of bb_doc_in_vain_of_both(). */
void bb_doc_time_diff(const struct bb_time_diff *diff, struct bb_doc_sides sides, bool all,
		      struct bb_doc *d);

/* Adds advice to look at the lines that regressed, and to measure longer if there were too few
 * loads for a verdict on each line. `command` measured them, or is NULL if the user has just given
 * it. */
void bb_doc_time_diff_next(const struct bb_time_diff *diff, const char *command, struct bb_doc *d);

/* The next functions describe stored runs over time. They show the cases that the run `only` has,
 * or all cases if `only` is NULL. */
#define BB_HISTORY_ROWS 200u
/* Adds a table of the newest run of each case, changed cases first. Leaves out rows beyond
 * BB_HISTORY_ROWS and, if `only` is NULL, unchanged cases of sweeps. If `only` is NULL, also
 * advises a command that ends in `results` (" --results DIR" or ""). */
void bb_doc_history(const struct bb_timeline *t, const struct bb_report *only, const char *results,
		    struct bb_doc *d);
/* Adds the number of cases with each verdict, and a line for each changed or suspect case. */
void bb_doc_history_news(const struct bb_timeline *t, const struct bb_report *only,
			 struct bb_doc *d);
/* Adds a table for each case, with a row for each stored run. */
void bb_doc_history_points(const struct bb_timeline *t, struct bb_doc *d);
/* Returns the verdict on one case of one stored run in words, or "-" if it was not judged. */
const char *bb_history_mark_text(const struct bb_timeline *t, const struct bb_timeline_point *p);
/* Returns the largest number of stored runs that a case has, or 0 if no case is stored. */
size_t bb_history_n_runs(const struct bb_timeline *t, const struct bb_report *only);

/* Writes the history for gnuplot: a block for each case, with columns separated by tabs. Comments
 * at the beginning of the output explain it. */
void bb_history_print_tsv(const struct bb_timeline *t, const struct bb_report *only, FILE *out);

void bb_doc_gate(const struct bb_doc_gate *v, struct bb_doc *d);
/* Adds the headline of a gate, "bpfbench gate: FAILED (exit code 3): ", without a reason. */
void bb_doc_gate_headline(enum bb_exit code, struct bb_doc *d);
void bb_doc_gate_revisions(const struct bb_gate *g, struct bb_doc *d);
/* If the verified instructions exceed a limit of the gate, appends `before`, them and the limit. */
void bb_doc_gate_verified(const struct bb_gate *g, const struct bb_gate_verified *v,
			  const char *before, struct bb_doc *d);
/* Adds an item for each program that was not compared, or was compared under another name. */
void bb_doc_gate_others(const struct bb_gate *g, struct bb_doc *d);

/* Adds the time that a run of the program spends on each line (judge/by_line.h). With `whole`, the
 * time of the run comes first. With `longest_first`, the lines are sorted by time and not as in the
 * source. Without `all`, the lines that take less than b->least share one row. */
void bb_doc_by_line(const struct bb_by_line *b, bool whole, bool longest_first, bool all,
		    struct bb_doc *d);
void bb_doc_by_line_table(const struct bb_by_line *b, bool longest_first, bool all,
			  struct bb_doc *d);
/* Adds the times of a program's lines at several values of its parameter, side by side. cases[n]
 * has a case for each value. Each program in cases[n] gets its own table. */
void bb_doc_by_param(const struct bb_by_line *cases, size_t n, struct bb_doc *d);
/* Adds a cell with the time of a line, or "< 3" if the time is below `least` (here 3 ns). */
void bb_doc_line_ns(double ns, double least, struct bb_doc *d);
/* Write a sentence, or "", into buf[size]. bb_by_line__sentence() names the parts that take the
 * most time: "of the program's own 41.1 ns: 51 % line 21 (bpf_map_lookup_elem), ...".
 * bb_by_line__cold_sentence() names the parts that cold caches slow down most. */
void bb_by_line__sentence(const struct bb_by_line *b, char *buf, size_t size);
void bb_by_line__cold_sentence(const struct bb_by_line *b, char *buf, size_t size);

struct bb_annotate_opts {
	/* number of lines to show, those with the most instructions first, or 0 for all */
	size_t n_hottest;
	size_t width; /* characters in a line of output, to which lines of source are cut */
	/* colour lines that were never executed, and those with a tenth of the instructions */
	bool colour;
};
/* Writes the source of a program with the instructions and executions of each line per run, and how
 * often the program called helpers. If a source file is missing or has changed, writes only the
 * lines whose text is in the BTF. Makes no document, because the source may be long. */
void bb_annotate(const struct bb_counted *c, const struct bb_annotate_opts *opts, FILE *out);
