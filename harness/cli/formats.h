/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_FORMATS_H
#define BB_CLI_FORMATS_H

#include "export/exporter.h"

/* The formats of --format, in the order of --help: a row each, whichever folder writes it. */
extern const struct bb_exporter bb_exporters[];
extern const size_t bb_n_exporters;

/* The exporter of that name, or NULL. */
const struct bb_exporter *bb_exporter_find(const char *name);

#endif
