/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/child.h"
#include "drivers/command.h"

/*
 * The set-up commands of a scenario. They run one after the other by sh -c, as the caller and never
 * with more rights, in private user, network, mount and PID namespaces that belong to the caller.
 * There they may do what root may do to the network. The calling thread is then in that network
 * namespace, and so are the threads and processes that it starts. A process that a command leaves
 * in the background runs until bb_setup__close(). The kernel ends everything if we die.
 */
struct bb_setup {
	struct bb_child keeper; /* first process of the PID namespace; pid 0: no commands */
	int home_fd;            /* our own network namespace */
	int log_fd;             /* file in memory with what the commands write */
};

/* Runs commands[n], n >= 0. Returns 0, or -errno with a message that names the command that failed
 * and has its last lines: -ECHILD; -EINTR, -ETIME at the end of the budget or after a minute;
 * -ENOTSUP if there are no such namespaces. After an error nothing is left. */
int bb_setup__open(char *const *commands, size_t n, const struct bb_child_place *place,
		   struct bb_setup *ret_setup, struct bb_err *err);
/* Empties the output of commands in the background if it is above 1 MiB. Call it now and then. */
void bb_setup__limit_log(const struct bb_setup *s);
void bb_setup__close(struct bb_setup *s); /* does nothing if closed or zeroed */
