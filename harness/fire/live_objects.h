/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fire/attach_point.h"
#include "live_record.h"

struct btf;

/* Kernel objects that this process keeps alive, so that programs can be called with their
 * addresses: the objects of a regular file, an open TCP connection, a UDP socket with a waiting
 * datagram and a UNIX socket. They exist until bb_live_objects__close(). */
enum bb_live_file { BB_LIVE_REGULAR, BB_LIVE_TCP, BB_LIVE_UDP, BB_LIVE_UNIX, BB_N_LIVE_FILES };

struct bb_live_objects {
	/* fd: one descriptor for each enum bb_live_file. others: sockets that those in fd[] need: a
	 * listener, and the other ends of connections. -1: not open */
	int fd[BB_N_LIVE_FILES], others[4];
	struct bb_live_record record[BB_N_LIVE_FILES];
	struct btf *btf; /* BTF of the kernel */
	char *pages;     /* pages for arguments, below the address 2^31; NULL: there are none */
	int why_not;     /* 0 if `record` has addresses, else the -errno that says why not */
};

/* Opens the objects; an object that cannot be opened is missing, and that is no error. Sockets are
 * made in the namespace `netns_fd`; -1 means our own. `object_dir` is the folder of
 * live_objects.bpf.o. */
void bb_live_objects__open(int netns_fd, const char *object_dir,
			   struct bb_live_objects *ret_objects);
void bb_live_objects__close(struct bb_live_objects *o);

/*
 * For a parameter without a live object, nothing tells which value lets the program run to its end:
 * many programs return early for NULL, a negative number or an unreadable address. So values are
 * tried in sets. Set 0 chooses values by the names of the parameters. Each other set uses one value
 * for all parameters: 0, 1, or the address of a page of zeros, of a page full of pointers to
 * itself, of a text, or of our task_struct. The pages are below 2^31, so their addresses are
 * positive numbers even if a program reads them as an int.
 */
#define BB_N_ARGUMENT_SETS 7u

/*
 * Makes the arguments of a call (BB_AT_OWN_FUNCTION) or a test run (BB_AT_OWN_RUN) that replaces
 * the function or event `p->target`. If a live object has the parameter's type in the kernel's BTF,
 * the parameter gets the address of this object; otherwise it gets the value of set number `set`.
 * For a function of user space, set 0 uses p->prototype. p->said receives the arguments in words.
 * Returns false and leaves `p` unchanged if this machine lacks the value of the set.
 */
bool bb_live_objects__make_arguments(const struct bb_live_objects *o, unsigned int set,
				     struct bb_attach_point *p);

/*
 * Finds the function or event that `p` replaces, and makes argument set 0. If p->target is empty,
 * takes the function that `program` is named after, because many authors name a program after the
 * function that it probes. p->target stays empty if the kernel has no such function. If the kernel
 * has truncated the program's name, the name is taken only if exactly one function begins with it.
 */
void bb_live_objects__stand_in(const struct bb_live_objects *o, const char *program,
			       struct bb_attach_point *p);
