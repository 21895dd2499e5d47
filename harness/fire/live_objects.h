/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fire/attach_point.h"
#include "live_record.h"

struct btf;

/* Kernel objects that this process keeps alive, so that programs can be called with their
 * addresses: those of a regular file, an open TCP connection, a UDP socket with a waiting datagram
 * and a UNIX socket. */
enum bb_live_file { BB_LIVE_REGULAR, BB_LIVE_TCP, BB_LIVE_UDP, BB_LIVE_UNIX, BB_N_LIVE_FILES };

struct bb_live_objects {
	/* fd: by enum bb_live_file. others: a listener, and other ends of connections. -1: none */
	int fd[BB_N_LIVE_FILES], others[4];
	struct bb_live_record record[BB_N_LIVE_FILES];
	struct btf *btf;
	char *pages; /* pages for arguments, below the address 2^31; may be NULL */
	int why_not; /* 0, or the -errno why `record` has no addresses */
};

/* Objects that cannot be opened are missing. Sockets are made in the namespace `netns_fd`, or in
 * ours if it is -1. `object_dir` is the folder of live_objects.bpf.o. */
void bb_live_objects__open(int netns_fd, const char *object_dir,
			   struct bb_live_objects *ret_objects);
void bb_live_objects__close(struct bb_live_objects *o);

/* Many programs return early for NULL, a negative number or an unreadable address. So parameters
 * without a live object get values in sets, which are tried in turn. Set 0 chooses a value by the
 * parameter's name. Each other set has one value for all: 0, 1, or the address of a page of zeros,
 * of a page full of pointers to itself, of a text, or of our task_struct. The pages are below 2^31,
 * so that their addresses are positive as an int, too. */
#define BB_N_ARGUMENT_SETS 7u

/* Makes the arguments of a call or test run that replaces the function or event p->target. A
 * parameter gets the address of a live object of its type in the kernel's BTF, or else the value of
 * the set. For a function of user space, set 0 uses p->prototype. Returns false if this machine
 * lacks the value of the set. */
bool bb_live_objects__make_arguments(const struct bb_live_objects *o, unsigned int set,
				     struct bb_attach_point *p);

/* Finds the function or event that `p` replaces, and makes argument set 0. An empty p->target
 * becomes the function that `program` is named after, or stays empty if there is none. If the
 * kernel has truncated the program's name, exactly one function must begin with it. */
void bb_live_objects__stand_in(const struct bb_live_objects *o, const char *program,
			       struct bb_attach_point *p);
