/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/table_cells.h"
#include "judge/contention.h"
#include "judge/cross_check.h"
#include "judge/gate.h"
#include "judge/timeline.h"

/* Each function adds one part of a document about a run to the end of `d`. The summaries of the run
 * must have been computed. The report must outlive the document, which refers to its texts. */

/* The three functions below describe a whole run of bpfbench. _short: the main results, in
 * sentences if each table would have one program. _details: the main results as tables, then all
 * figures, and the meaning of the columns. _markdown: for the summary of a CI job or a comment in a
 * pull request. */
void bb_doc_short(const struct bb_report *r, struct bb_doc *d);
void bb_doc_details(const struct bb_report *r, struct bb_doc *d);
void bb_doc_markdown(const struct bb_report *r, struct bb_doc *d);
/* Adds the part of bb_doc_short() that follows the comparisons. The command `compare` uses only
 * this part, because `compare` sorts and filters the comparisons itself. */
void bb_doc_short_rest(const struct bb_report *r, struct bb_doc *d);

/* Returns the budget, s, that should be enough to decide all inconclusive comparisons that more
 * time can decide; 0: there is no such comparison. In `compare` all comparisons of a run share one
 * budget; in `gate` each program has a budget of its own. */
double bb_budget_to_decide(const struct bb_report *r);

/* Adds the comparisons that were measured in the run. `open` has the same meaning as for
 * bb_doc_diff(). With BB_SHORT, leaves out the rows that bb_diff_drop_nets() removes. */
void bb_doc_comparisons(const struct bb_report *r, size_t open, enum bb_detail detail,
			struct bb_doc *d);

/* Adds the table whose first case has the index `first` (bb_same_table()), with its title and its
 * notes. */
void bb_doc_table(const struct bb_report *r, size_t first, enum bb_detail detail, struct bb_doc *d);

/* True if case `i` is the first of its group (bb_same_group()). */
bool bb_is_first_of_group(const struct bb_report *r, size_t i);

/* True if the group of case `of` (bb_same_group()) has several values of its parameter, but is not
 * a sweep. */
bool bb_is_of_values(const struct bb_report *r, size_t of);

/* True if case `i` is the first of its table (bb_same_table()). Always false for a case of a
 * sweep. */
bool bb_is_first_of_table(const struct bb_report *r, size_t i);

/* A sweep is a parameter with very many values, such as 256 inputs. A document shows a sweep as one
 * table, with a row for each variant. The figures of each value are in the stored run, in BMF and
 * in the plot. */
#define BB_SWEEP_VALUES 16u /* a sweep has more values than this */

/* True if case `i` is part of a sweep: its variant has cases for more than BB_SWEEP_VALUES
 * values. */
bool bb_is_sweep(const struct bb_report *r, size_t i);

/* True if case `i` is the first of a sweep. */
bool bb_is_sweep_head(const struct bb_report *r, size_t i);

/* Adds the table of the sweep whose first case has the index `head`. */
void bb_doc_sweep(const struct bb_report *r, size_t head, struct bb_doc *d);

/* Adds the title of a table or a sweep, "scenario, drive, param = value" or, without `with_value`,
 * "scenario, drive, over param". The text `after` follows it. */
void bb_doc_group_title(const struct bb_case *c, bool with_value, const char *after,
			struct bb_doc *d);

/* Adds notes about failed lookups, about tail calls that did not happen, and about early returns. A
 * note says what to do. The notes are about the cases in the table of case `table`; NULL: about all
 * cases. */
void bb_doc_in_vain(const struct bb_report *r, const struct bb_case *table, struct bb_doc *d);
/* Adds the notes of bb_doc_in_vain() for a run that compares two variants, table by table. If a
 * note is true of both variants, adds it only once. */
void bb_doc_in_vain_of_both(const struct bb_report *r, struct bb_doc *d);

/* Adds a table with a row for each return value, for each program that ran on several inputs and
 * returned more than one value. */
void bb_doc_classes(const struct bb_report *r, struct bb_doc *d);

/* Adds tables of the cases that were measured both hot and cold, side by side. A row is a variant
 * at one value of the parameter. In a sweep, a row is a variant, with the medians over all values
 * that were measured hot and cold. */
void bb_doc_hot_cold(const struct bb_report *r, struct bb_doc *d);

/* Adds a table that says, for each program that ran on several CPUs at once, whether the CPUs slow
 * each other down. */
void bb_doc_contention(const struct bb_report *r, struct bb_doc *d);

/* Adds two cross-checks: slope against step, and hook against step. With BB_SHORT, each cross-check
 * is one sentence about the cases that disagree; otherwise, it is a table. */
void bb_doc_cross_checks(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d);

/* True if the report has a case of the drive. */
bool bb_has_drive(const struct bb_report *r, const char *drive);
/* True if the run is from a guest of --vm, whose clock counts machine instructions. */
bool bb_counts_instructions(const struct bb_report *r);
#define BB_COUNTS_INSTRUCTIONS                                                                     \
	"the figures are machine instructions: the clock of the guest counts each as 1 ns"
/* Adds an explanation of each of the drives step, slope, in-situ and in-situ-packets that the
 * report has. */
void bb_doc_drive_key(const struct bb_report *r, struct bb_doc *d);
/* True if the counted program is the floor of another program. */
bool bb_is_counted_floor(const struct bb_report *r, const struct bb_counted *c);
/* Adds the number of executed instructions of each program; with BB_SHORT, leaves out floors. */
void bb_doc_counted(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d);

/* Adds a table of the programs as the kernel loaded them. */
void bb_doc_programs(const struct bb_report *r, struct bb_doc *d);

/* True if inputs were searched for (--try-inputs), so that no second search is advised. */
bool bb_doc_is_searched(const struct bb_report *r);

/* True if the next steps in the document of the run advise `--fill`, for a map that was empty. */
bool bb_doc_advises_fill(const struct bb_report *r);

/* Adds notes about samples that do not count, and about cases that were not measured. With
 * BB_SHORT, adds one line for each cause, except for causes that the rows of comparisons name.
 * Returns the number of notes. */
size_t bb_doc_notes(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d);

/* The two measurements of a gate. The second one, `again`, measures the comparisons that regressed
 * in the first one. */
struct bb_doc_gate {
	const struct bb_gate *gate;
	const struct bb_report *first, *again; /* again NULL: nothing regressed in `first` */
};

/* The names of A and B. If `r` is NULL, they are stored runs; otherwise they are variants of the
 * run `r`. */
struct bb_doc_sides {
	const struct bb_report *r;
	const char *a, *b;
};

/* Adds the differences between two programs or two runs. An HTML page shows only the `open` most
 * urgent rows, and hides the others until the reader opens them; 0: all rows are shown. */
void bb_doc_diff(struct bb_diffs *diffs, struct bb_doc_sides sides, size_t open, struct bb_doc *d);
/* Adds the cases and lines whose counts of instructions differ; without `all`, only the first ones.
 * If sides.a is NULL, A and B are not named. `g` is the gate that counted; NULL: no gate. */
void bb_doc_exact_diff(const struct bb_exact_diff *diff, struct bb_doc_sides sides, bool all,
		       const struct bb_doc_gate *g, struct bb_doc *d);
/* Adds the verdict on the whole run and the lines that differ; without `all`, only the first ones.
 * If sides.a is set, also adds the names of A and B and what the figures mean. If sides.r is set,
 * too, also adds failed lookups and early returns. */
void bb_doc_time_diff(const struct bb_time_diff *diff, struct bb_doc_sides sides, bool all,
		      struct bb_doc *d);

/* Adds the next steps for the user: to mend the first lines that regressed or are new, and to
 * measure longer if there were too few loads for a verdict on each line. `command` is the command
 * line that measured; NULL: the user has just given it. */
void bb_doc_time_diff_next(const struct bb_time_diff *diff, const char *command, struct bb_doc *d);

/* The functions below make documents about stored runs over time. Such a document has only the
 * cases of the run `only`; NULL: all cases. */
#define BB_HISTORY_ROWS 200u
/* Adds a table with a row for each case, with its newest run. Changed cases come first. The table
 * leaves out rows beyond BB_HISTORY_ROWS and, if `only` is NULL, the unchanged cases of sweeps. The
 * last line says how many rows are left out. If `only` is NULL, also adds the next step: a command,
 * with the option `results` at its end (" --results DIR", or "" for no option). */
void bb_doc_history(const struct bb_timeline *t, const struct bb_report *only, const char *results,
		    struct bb_doc *d);
/* Adds the number of cases with each mark, and a line for each case that is suspect, regressed,
 * improved or "cannot tell". */
void bb_doc_history_news(const struct bb_timeline *t, const struct bb_report *only,
			 struct bb_doc *d);
/* Adds a table for each case, with a row for each stored run. */
void bb_doc_history_points(const struct bb_timeline *t, struct bb_doc *d);
/* Returns the mark of a point, which is one case of one stored run, in words; "-" if the point is
 * not judged. */
const char *bb_history_mark_text(const struct bb_timeline *t, const struct bb_timeline_point *p);
/* Returns the largest number of stored runs that one case of `only` has; 0: no case of `only` is
 * stored. */
size_t bb_history_n_runs(const struct bb_timeline *t, const struct bb_report *only);

/* Writes the history for gnuplot: a block for each case, with columns separated by tabs. Comments
 * at the beginning of the output describe it. It has only the cases of the run `only`; NULL: all
 * cases. */
void bb_history_print_tsv(const struct bb_timeline *t, const struct bb_report *only, FILE *out);

/* Adds the report of a gate. */
void bb_doc_gate(const struct bb_doc_gate *v, struct bb_doc *d);
/* Adds the headline of a gate without its reason: "bpfbench gate: FAILED (exit code 3): ". */
void bb_doc_gate_headline(enum bb_exit code, struct bb_doc *d);
/* Adds an item about each of the two revisions. */
void bb_doc_gate_revisions(const struct bb_gate *g, struct bb_doc *d);
/* Adds an item for each program that was not compared, or was compared under another name. The item
 * says why it was not compared, or names the other name. */
void bb_doc_gate_others(const struct bb_gate *g, struct bb_doc *d);

/* Adds the time that a run of the program spends on each line (judge/by_line.h). With `whole`, the
 * time of a whole run comes first. The lines are in the order of the source or, with
 * `longest_first`, sorted by time. Without `all`, the lines that take less than b->least share one
 * row. */
void bb_doc_by_line(const struct bb_by_line *b, bool whole, bool longest_first, bool all,
		    struct bb_doc *d);
/* Adds only the table of bb_doc_by_line() and its notes, without the sentences above the table. */
void bb_doc_by_line_table(const struct bb_by_line *b, bool longest_first, bool all,
			  struct bb_doc *d);
/* Adds the times of a program's lines at several values of its parameter, side by side. cases[n]
 * has one case for each value. It may have cases of several programs, each of which gets its own
 * table. */
void bb_doc_by_param(const struct bb_by_line *cases, size_t n, struct bb_doc *d);
/* Adds a cell with the time of a line, ns; "< 3" if the time is below `least`, here 3. */
void bb_doc_line_ns(double ns, double least, struct bb_doc *d);
/* Write a sentence into buf[size]: bb_by_line__sentence() names the parts that take the most time,
 * "of the program's own 41.1 ns: 51 % line 21 (bpf_map_lookup_elem), ...";
 * bb_by_line__cold_sentence() names the parts that cold caches slow down most. Write "" if there
 * are no such parts. */
void bb_by_line__sentence(const struct bb_by_line *b, char *buf, size_t size);
void bb_by_line__cold_sentence(const struct bb_by_line *b, char *buf, size_t size);

struct bb_annotate_opts {
	/* number of lines to show: those with the most instructions, sorted by instructions; 0: the
	 * whole source is shown */
	size_t n_hottest;
	size_t width; /* characters in a line of output; longer lines of source are cut */
	/* true: write in colour lines that were never executed, and lines with at least a tenth of
	 * the instructions */
	bool colour;
};
/* Writes the source of a program, with the instructions and executions of each line per run, and
 * the helpers that the program called. Makes no document, because the source may be long. The texts
 * come from judge/annotated.h. If a source file is missing or has changed, writes only the lines
 * whose text is in the BTF. */
void bb_annotate(const struct bb_counted *c, const struct bb_annotate_opts *opts, FILE *out);
