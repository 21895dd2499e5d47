/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fire/attach_point.h"
#include "live_record.h"

struct btf;

/* Kernel objects that this process keeps alive, so that BPF programs can get their addresses as
 * arguments. They belong to a regular file, an open TCP connection, a UDP socket with a waiting
 * datagram, and a UNIX socket. */
enum bb_live_file { BB_LIVE_REGULAR, BB_LIVE_TCP, BB_LIVE_UDP, BB_LIVE_UNIX, BB_N_LIVE_FILES };

struct bb_live_objects {
	/* fd: one for each enum bb_live_file. others: a listening socket, and the other ends of the
	 * connections. -1 means none. */
	int fd[BB_N_LIVE_FILES], others[4];
	struct bb_live_record record[BB_N_LIVE_FILES];
	struct btf *btf;
	char *pages; /* pages for arguments, below the address 2^31; may be NULL */
	int why_not; /* 0, or a -errno: the reason why `record` has no addresses */
};

/* Opens all objects. An object that cannot be opened is left out. Sockets are made in the network
 * namespace `netns_fd` or, if that is -1, in our own. `object_dir` is the folder of
 * live_objects.bpf.o. */
void bb_live_objects__open(int netns_fd, const char *object_dir,
			   struct bb_live_objects *ret_objects);
void bb_live_objects__close(struct bb_live_objects *o);

/* Many programs return early for NULL, a negative number or an unreadable address. So there are
 * several argument sets, which bpfbench tries in turn. A set gives a value to each parameter for
 * which there is no live object. Set 0 chooses the value by the parameter's name. Each other set
 * gives one value to all these parameters: 0, 1, or the address of a page of zeros, of a page full
 * of pointers to itself, of a text, or of our task_struct. The pages are below 2^31, so that their
 * addresses are positive as an int, too. */
#define BB_N_ARGUMENT_SETS 7u

/* Sets p->args: arguments for a call of bb_own_function() or for a test run, by which bpfbench runs
 * a program itself. It does so if the program cannot run at its real function or event p->target.
 * The kernel's BTF gives the types of the parameters. A pointer to a type of which there is a live
 * object gets that object's address. A pointer to `char` gets the address of a text. Every other
 * parameter gets its value from argument set number `set`. For a function of user space, set 0 uses
 * p->prototype instead of the BTF. Returns false if the set has no value on this machine, for
 * example because its page could not be mapped. */
bool bb_live_objects__make_arguments(const struct bb_live_objects *o, unsigned int set,
				     struct bb_attach_point *p);

/* Sets p->prototype, and p->args by argument set 0. If p->target is empty, it first becomes the
 * kernel function after which `program` is named. It stays empty if there is no such function. If
 * the kernel has truncated the program's name, exactly one function must begin with that name. */
void bb_live_objects__stand_in(const struct bb_live_objects *o, const char *program,
			       struct bb_attach_point *p);
