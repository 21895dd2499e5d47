/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_SELF_H
#define BB_PLAN_SELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * `{pid: self}` in the place of a number: a value that is known only when the program is about to
 * be loaded, as it is of the process that will fire it. Filters of tracers (`targ_pid`, a map of
 * cgroups) then let that process through.
 */
enum bb_self { BB_SELF_NONE, BB_SELF_PID, BB_SELF_COMM, BB_SELF_CGROUP };

struct bb_self_values {
	uint32_t pid;       /* 0: there is none to be known */
	char comm[16];      /* "": likewise */
	uint64_t cgroup_id; /* 0: likewise */
	int cgroup_fd;      /* its folder, borrowed; -1: likewise */
};

/* Why there is no value. */
#define BB_SELF_UNKNOWN                                                                            \
	"only programs that are fired where they are attached have a process that fires; it is "   \
	"not known which here"

/* The value of pid or cgroup; false: it is not known, or no number. */
static inline bool bb_self__number(enum bb_self self, const struct bb_self_values *v,
				   int64_t *ret_number)
{
	uint64_t n = self == BB_SELF_PID ? v->pid : self == BB_SELF_CGROUP ? v->cgroup_id : 0;

	*ret_number = (int64_t)n;
	return n != 0;
}

#endif
