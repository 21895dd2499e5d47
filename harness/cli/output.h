/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_OUTPUT_H
#define BB_CLI_OUTPUT_H

#include "base/err.h"
#include "base/std.h"
#include "export/exporter.h"
#include "report/report.h"

/* The formats of --format, in the order of --help. */
#define BB_N_EXPORTERS 14
extern const struct bb_exporter bb_exporters[BB_N_EXPORTERS];

/* The exporter of that name, or NULL. */
const struct bb_exporter *bb_exporter_find(const char *name);

/* Can `path` (NULL, "-": stdout) be written later? Asked before measuring, so that nothing is
 * measured in vain. */
int bb_output_check(const char *path, struct bb_err *err);

/* Writes to `out`, whose own errors are looked at by the caller. 0 or -errno with a message. */
typedef int (*bb_output_writer)(void *arg, FILE *out, struct bb_err *err);

/*
 * The writer's output, clean for a terminal (base/clean.h): to stdout ("-", NULL), or whole or not
 * at all to a file, which is new and the caller's, or to a pipe or a device that is there. A
 * symbolic link is refused, one of somebody else's among the folders too (base/io.h).
 */
int bb_output_of(bb_output_writer writer, void *arg, const char *path, struct bb_err *err);

/*
 * The same of a report in a format. A service's format has no room for lookups in vain: they go to
 * stderr, unless a table there has them (has_table).
 */
int bb_output(const struct bb_report *report, const struct bb_exporter *format, const char *path,
	      bool has_table, struct bb_err *err);

/* How text looks on stdout or stderr: at the width of the terminal, and in colours unless NO_COLOR
 * is set; else as in a file. */
struct bb_doc_look bb_output_look(FILE *stream);

/* A document as text on stdout or stderr; then it is empty. */
int bb_output_document(struct bb_doc *d, FILE *stream, struct bb_err *err);

/* The format `table` of a run. */
int bb_output_table(const struct bb_report *r, FILE *stream, struct bb_err *err);

/* What the programs of a run looked for in vain, on stderr. */
int bb_say_in_vain(const struct bb_report *report, struct bb_err *err);

/* On stderr: which clock set the rate if no cycles did, and which samples are missing or have no
 * name. */
struct bb_profile;
struct bb_recording;
void bb_say_lost(const struct bb_recording *r, const struct bb_profile *p, bool want_kernel);

#endif
