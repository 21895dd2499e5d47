/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_HYPERFINE_H
#define BB_DRIVERS_HYPERFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "drivers/workload.h"

/* hyperfine (https://github.com/sharkdp/hyperfine) as the stopwatch: one run of one command, its
 * JSON read back. */
struct bb_hyperfine {
	struct bb_workload_spec spec; /* how hyperfine is started */
	char *args[12];
	char *command; /* the command that it runs, quoted for it; owned */
	char *shown;   /* hyperfine's whole command line, for people; owned */
	char json_path[32];
	int json_fd; /* a file in memory that it exports to; -1: none */
};

/* `dir` as in struct bb_workload_spec. 0, -ENOTSUP with the package to install, or -errno with a
 * message. */
int bb_hyperfine__open(const char *program, char *const *args, size_t n_args, const char *dir,
		       const struct bb_child_place *place, struct bb_hyperfine *ret_h,
		       struct bb_err *err);
void bb_hyperfine__close(struct bb_hyperfine *h); /* a zeroed one does no harm */

/* Start it, held still before it does anything: then is the time to put events on it. */
int bb_hyperfine__start(struct bb_hyperfine *h, struct bb_workload *ret_w, struct bb_err *err);

/* The wall time of the command, once hyperfine has ended. -EPROTO when its JSON says no such thing.
 */
int bb_hyperfine__read(const struct bb_hyperfine *h, uint64_t *ret_ns, struct bb_err *err);

/* Is there a program of that name in $PATH? */
bool bb_in_path(const char *name);

#endif
