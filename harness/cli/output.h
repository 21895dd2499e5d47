/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/exporter.h"

/* The formats of --format, in the order of --help. */
#define BB_N_EXPORTERS 14
extern const struct bb_exporter bb_exporters[BB_N_EXPORTERS];

/* Returns the exporter of that name, or NULL. */
const struct bb_exporter *bb_exporter_find(const char *name);

/* Checks that `path` (NULL or "-" means stdout) can be written. Call it before a measurement, so
 * that no result is lost. */
int bb_output_check(const char *path, struct bb_err *err);

/* Writes to `out`; the caller checks `out` for errors. Returns 0 or -errno with a message. */
typedef int (*bb_output_writer)(void *arg, FILE *out, struct bb_err *err);

/*
 * Writes the writer's output, without control characters (base/clean.h). `path` NULL or "-" means
 * stdout. A regular file is made anew for the calling user, and is written whole or not at all. An
 * existing pipe or device is written to in place. Symbolic links are refused, and so are folders
 * that another user's link leads to (base/io.h).
 */
int bb_output_of(bb_output_writer writer, void *arg, const char *path, struct bb_err *err);

/* Writes a report in a format. A format for a service has no place for failed lookups and early
 * returns, so these are printed on stderr, unless a table on stderr already shows them
 * (`has_table`). With such a format, a case without a sample is an error. */
int bb_output(const struct bb_report *report, const struct bb_exporter *format, const char *path,
	      bool has_table, struct bb_err *err);

/* Returns the look of text on stdout or stderr. On a terminal, it has the terminal's width, and
 * colours unless NO_COLOR is set. In a file or pipe, it is bb_doc_plain_look, with the width of
 * COLUMNS if this variable is set. */
struct bb_doc_look bb_output_look(FILE *stream);

/* Prints a document as text on stdout or stderr and empties it. */
int bb_output_document(struct bb_doc *d, FILE *stream, struct bb_err *err);

/* Writes a document to `out` as Markdown or as text, and empties the document. `path` says where
 * the text will end up. NULL: on stdout, so it gets the look of stdout. Otherwise it gets the look
 * of a file. */
void bb_output_render(struct bb_doc *d, bool is_markdown, const char *path, FILE *out);

/* Prints on stderr which samples of a profile are missing, which have no names of functions, and
 * whether cpu-clock replaced hardware cycles. */
struct bb_profile;
struct bb_recording;
void bb_say_lost(const struct bb_recording *r, const struct bb_profile *p, bool want_kernel);
