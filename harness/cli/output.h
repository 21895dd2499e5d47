/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/exporter.h"
#include "profile/stacks.h"

/* The formats of --format, in the order of --help. */
#define BB_N_EXPORTERS 14
extern const struct bb_exporter bb_exporters[BB_N_EXPORTERS];

const struct bb_exporter *bb_exporter_find(const char *name);

/* Checks that `path` can be written. NULL and "-" mean stdout. Call it before a measurement, so
 * that no result is lost. */
int bb_output_check(const char *path, struct bb_err *err);

/* The caller checks `out` for errors. Returns 0 or -errno with a message. */
typedef int (*bb_output_writer)(void *arg, FILE *out, struct bb_err *err);

/* Writes the output of `writer` without control characters (base/clean.h). `path` NULL or "-" means
 * stdout. A regular file is made anew for the calling user, and is written whole or not at all. An
 * existing pipe or device is written to in place. Symbolic links are refused, and so are folders
 * behind another user's link (base/io.h). */
int bb_output_of(bb_output_writer writer, void *arg, const char *path, struct bb_err *err);

/* Stacks to write: as a flame graph (SVG), or folded if `opts` is NULL. */
struct bb_stacks_output {
	const struct bb_stacks *stacks;
	const struct bb_flame_opts *opts;
};

/* A bb_output_writer of a struct bb_stacks_output. */
int bb_write_stacks(void *stacks_output, FILE *out, struct bb_err *err);

/* Writes stacks by bb_output_of(), folded if `path` ends in .folded, else as a flame graph. */
int bb_output_stacks(const struct bb_stacks *stacks, const struct bb_flame_opts *opts,
		     const char *path, struct bb_err *err);

/* Writes a report in a format. A format for a service, such as BMF, has no place for failed lookups
 * and early returns, so they are printed on stderr, unless a table there shows them (`has_table`).
 * A case without a sample is an error in such a format. */
int bb_output(const struct bb_report *report, const struct bb_exporter *format, const char *path,
	      bool has_table, struct bb_err *err);

/* Returns the width and the colours of text on stdout or stderr. A terminal has its own width, and
 * colours unless NO_COLOR is set. A file or pipe has no colours, and the width of COLUMNS if this
 * variable is set. */
struct bb_doc_look bb_output_look(FILE *stream);

/* Prints a document as text on stdout or stderr and empties it. */
int bb_output_document(struct bb_doc *d, FILE *stream, struct bb_err *err);

/* Writes a document to `out` as Markdown or as text, and empties the document. `path` is where the
 * text will end up. NULL means stdout, so the text gets the width and colours of stdout. */
void bb_output_render(struct bb_doc *d, bool is_markdown, const char *path, FILE *out);

/* Prints on stderr which samples of a profile are missing or have no names of functions, and
 * whether cpu-clock replaced hardware cycles. */
struct bb_profile;
struct bb_recording;
void bb_say_lost(const struct bb_recording *r, const struct bb_profile *p, bool want_kernel);
