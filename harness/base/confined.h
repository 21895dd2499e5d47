/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_CONFINED_H
#define BB_BASE_CONFINED_H

#include "base/err.h"
#include "base/std.h"

/*
 * Work on other people's data in a child process that can only compute (base/child.h). Where
 * there can be no such child, nothing is worked on.
 */
struct bb_confined {
	/* for messages: the data, "BPF object", "libbpf", "open" ("opens", "opened"), a remedy */
	const char *path, *kind, *library, *verb, *remedy;
	/* In the child: 0 or -errno with a message, and *reply, which is zeroed before. Data that
	 * take the child over choose all three. */
	int (*work)(void *arg, void *reply, struct bb_err *err);
	void *arg;
	int fd;        /* the only descriptor that stays open; -1: none */
	bool is_trial; /* BB_CONFINED_TRIAL, and `fd` is closed, too */
	/* Gets the reply of work that returned 0; NULL: the reply is not wanted. */
	void *ret_reply;
	size_t reply_bytes;
};

/*
 * The result of the work; with a message: -EINTR: a signal asks us to stop; -ETIME: the budget is
 * over; -EINVAL: the child crashed, or was not done in 10 s; other -errno: there is no child, or it
 * cannot be confined.
 */
int bb_confined__run(const struct bb_confined *c, struct bb_err *err);

#endif
