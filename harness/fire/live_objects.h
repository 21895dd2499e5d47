/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_LIVE_OBJECTS_H
#define BB_FIRE_LIVE_OBJECTS_H

#include "base/err.h"
#include "base/std.h"
#include "fire/attach_point.h"
#include "live_record.h"

struct btf;

/*
 * Objects of the kernel that this process holds, and where they are: a regular file, an open TCP
 * connection, a UDP socket with a datagram that waits. They stay alive until they are closed, so
 * programs may be called with their addresses.
 */
enum bb_live_file { BB_LIVE_REGULAR, BB_LIVE_TCP, BB_LIVE_UDP, BB_LIVE_UNIX, BB_N_LIVE_FILES };

struct bb_live_objects {
	int fd[BB_N_LIVE_FILES], others[4]; /* -1: not open */
	struct bb_live_record record[BB_N_LIVE_FILES];
	struct btf *btf; /* the kernel's */
	char *pages;     /* at an address below 2^31, for arguments; NULL: none */
	int why_not;     /* -errno: there are no addresses here; 0: there are */
};

/* Sockets are of the namespace `netns_fd` (-1: ours); `object_dir` has live_objects.bpf.o. What
 * cannot be had is missing in it: that is no error. */
void bb_live_objects__open(int netns_fd, const char *object_dir,
			   struct bb_live_objects *ret_objects);
void bb_live_objects__close(struct bb_live_objects *o);

/*
 * Values for arguments that no live object is for are tried in sets, as nothing tells which value
 * leads a program furthest: a NULL, a negative number or a place that cannot be read sends many out
 * early. Set 0 is by the name of the parameter; the others have one value for all: 0, 1, the
 * address of a page of zeros, of a page full of such addresses, of a text, of our task. The pages
 * are at addresses that are positive as an int, too.
 */
#define BB_N_ARGUMENT_SETS 7u

/*
 * The arguments for a call of ours in the place of the function that `p` (BB_AT_OWN_FUNCTION)
 * names, or for a test run in the place of its event (BB_AT_OWN_RUN), by the function's prototype
 * in the kernel's BTF: addresses of live objects by their types, integers and texts by their names;
 * the set's value for what we hold none of. Of a function in user space, set 0 is by
 * p->prototype. p->said says which. false: that set cannot be made here, and `p` stays.
 */
bool bb_live_objects__make_arguments(const struct bb_live_objects *o, unsigned int set,
				     struct bb_attach_point *p);

/*
 * Find out for what `p` (likewise) stands in, and make set 0. Where it has no place, that is the
 * function that `program` is named after, as loaders that build programs name them, and so do many
 * authors; "" where the kernel has no function of that name (or, of a name that the kernel has cut,
 * not just one that begins so).
 */
void bb_live_objects__stand_in(const struct bb_live_objects *o, const char *program,
			       struct bb_attach_point *p);

#endif
