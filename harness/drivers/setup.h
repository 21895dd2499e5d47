/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/child.h"
#include "drivers/command.h"

/*
 * The set-up commands of a scenario. They run one after another by sh -c, with the caller's rights,
 * in private user, network, mount and PID namespaces that belong to the caller. In these namespaces
 * they may do what root may do to the network.
 *
 * While a setup is open, the calling thread is in its network namespace, and so are the threads and
 * processes that it starts. A process that a command leaves in the background runs until
 * bb_setup__close(). If we die, the kernel ends all of these processes.
 */
struct bb_setup {
	/* first process of the PID namespace; pid is 0 if there were no commands */
	struct bb_child keeper;
	int home_fd;
	/* receives the output of the commands; call bb_command__limit_log() now and then */
	int log_fd;
};

/* Runs commands[n]. n may be 0. Returns 0, or -errno with a message. -ECHILD means that a command
 * failed, -EINTR that a signal asked us to stop, and -ENOTSUP that this system does not let us make
 * such namespaces. -ETIME means that the commands have run for a minute, or until the deadline
 * (base/deadline.h). After an error nothing is left to close. */
int bb_setup__open(char *const *commands, size_t n, const struct bb_child_place *place,
		   struct bb_setup *ret_setup, struct bb_err *err);
void bb_setup__close(struct bb_setup *s); /* `s` may be zeroed or closed */
