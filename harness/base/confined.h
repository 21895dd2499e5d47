/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Work on untrusted data in a child process that can only compute (base/child.h). If no such
 * child can be made, the work is not done. */
struct bb_confined {
	/* words for messages: the path of the data, their kind ("BPF object"), the library that
	 * reads them ("libbpf"), its work ("open"), and a remedy ("; build it with ...", or "") */
	const char *path, *kind, *library, *verb, *remedy;
	/* Runs in the child. Returns 0, or -errno with a message, and fills `*reply`, which is
	 * zeroed before. Malicious data may control the result, the message and the reply. */
	int (*work)(void *arg, void *reply, struct bb_err *err);
	void *arg;
	int fd;        /* the only descriptor that the child keeps open; -1: none */
	bool is_trial; /* the child has BB_CONFINED_TRIAL, and does not keep `fd` */
	/* receives the reply if work returned 0; NULL: not wanted */
	void *ret_reply;
	size_t reply_bytes;
};

/*
 * Runs work() in a child and returns its result. Other errors, with a message: -EINTR if a signal
 * asks us to stop; -ETIME at the end of the budget; -EINVAL if the child crashed or took longer
 * than 10 s; -errno if the child cannot be made or confined.
 */
int bb_confined__run(const struct bb_confined *c, struct bb_err *err);
