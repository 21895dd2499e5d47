/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_TRACEFS_H
#define BB_BPF_TRACEFS_H

#include "base/err.h"

/*
 * Make sure that libbpf can look up tracepoints: where tracefs is not mounted, move this thread,
 * and all that it starts from now on, into a mount namespace of its own and mount tracefs there.
 * The machine's mounts stay as they are, and ours ends with the last process in it. There is no way
 * back into the old namespace: setns() would leave a chroot.
 *
 * 0, also when it was mounted before, or -errno with the reason.
 */
int bb_tracefs__provide(struct bb_err *err);

#endif
