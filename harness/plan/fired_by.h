/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_FIRED_BY_H
#define BB_PLAN_FIRED_BY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * `fired_by` of a variant: what makes its program run where it is attached. One of three: the name
 * of a trigger (`open`), a function of a shared library that is called, or a command that is run.
 */
enum bb_argument_kind {
	BB_ARGUMENT_NUMBER,
	BB_ARGUMENT_REAL,
	BB_ARGUMENT_TEXT,
	BB_ARGUMENT_BUFFER
};

struct bb_argument {
	enum bb_argument_kind kind;
	int64_t number; /* of a buffer: its size in bytes */
	double real;
	char *text;
};

#define BB_ARGUMENTS_MOST 12u

struct bb_fired_by {
	char *trigger; /* all three NULL: it is looked for */
	char *call;
	struct bb_argument *arguments; /* of the call */
	size_t n_arguments;
	char **run; /* the command and its arguments, n_run of them and a NULL */
	size_t n_run;
};

static inline bool bb_fired_by__is_given(const struct bb_fired_by *f)
{
	return f->trigger || f->call || f->run;
}

#endif
