/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_OPTIONS_H
#define BB_CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "export/exporter.h"
#include "report/report.h"

/* Readers of option values that several commands take. All of them end with a usage error on a bad
 * value. */

struct bb_strings { /* a repeatable option; the strings are argv's */
	const char **v;
	size_t n;
};

/* --env NAME, repeatable: as `also` of base/environment.h. */
#define BB_ENV_NAMES_MAX 64
struct bb_env_names {
	const char *v[BB_ENV_NAMES_MAX + 1]; /* argv's; ends in NULL */
	size_t n;
};

void bb_option_env(const struct argp_state *state, struct bb_env_names *names, const char *text);

void bb_strings_add(struct bb_strings *s, const char *text, const struct argp_state *state);

/* argp_parse(), with the nearest name for a long option that there is not. */
void bb_parse_options(const struct argp *argp, int argc, char **argv, unsigned int flags,
		      void *input);

/* Stored runs: where they are, and which of them is meant. */
#define BB_KEY_RESULTS 0x700
#define BB_RESULTS "results"
#define BB_RESULTS_OPTION                                                                          \
	{                                                                                          \
		"results", BB_KEY_RESULTS, "DIR", 0,                                               \
			"folder with the stored runs (default " BB_RESULTS ")", 0                  \
	}
#define BB_RUN_DOC                                                                                 \
	"RUN is a file, an id in the results folder, the beginning of one, or `latest` (the "      \
	"default)."

/* The argument RUN of a command that takes one. */
void bb_option_run(const struct argp_state *state, const char **run, const char *text);

/* The run of that argument; NULL: the latest. As bb_store__read(). */
int bb_read_run(const char *run, const char *results, struct bb_report **ret_report,
		struct bb_err *err);

uint32_t bb_option_u32(const struct argp_state *state, const char *option, const char *text,
		       uint32_t min, uint32_t max);
uint64_t bb_option_u64(const struct argp_state *state, const char *option, const char *text);
double bb_option_double(const struct argp_state *state, const char *option, const char *text,
			double min, double max);

/* "1" or "1%" -> 0.01; from 0.001 to 1000 percent. */
double bb_option_percent(const struct argp_state *state, const char *option, const char *text);

/* --format: unknown names are answered with the nearest, or the list. */
const struct bb_exporter *bb_option_format(const struct argp_state *state, const char *text);

/* Appended to the help of commands that take --format: "bmf  Bencher Metric Format ..." a line
 * each. */
char *bb_help_formats(int key, const char *text, void *input);

#endif
