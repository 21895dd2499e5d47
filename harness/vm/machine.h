/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/child.h"
#include "base/std.h"

/*
 * A guest: a virtual machine of QEMU, emulated, whose clock counts instructions. With `-icount
 * shift=0` each instruction of the guest takes 1 ns of its time, so run_time_ns of one run of a
 * program is the number of machine instructions of the run, helpers included. It depends neither on
 * the load nor on the CPU of the host. Needs no root and no KVM. A guest boots once, and is saved
 * when it waits for a job; each job runs in a guest that goes on from there.
 */
struct bb_machine {
	struct bb_child qemu; /* its link, while the guest boots: the commands for QEMU */
	/* Files in memory: what the guest prints, what it answers, and what QEMU says. Then the
	 * archive that QEMU reads, and the saved guest, which is not ours. -1: not open */
	int console_fd, answer_fd, log_fd, archive_fd, saved_fd;
	enum {
		BB_MACHINE_WORKS, /* on a job */
		BB_MACHINE_BOOTS,
		BB_MACHINE_IS_SAVED,
	} state;
	uint64_t began_ns;
};

/* The model of the CPU. Without erms, `rep movsb` is no choice of the kernel's memcpy(): the clock
 * would count each of its bytes. */
#define BB_MACHINE_CPU "max,la57=off,-erms"

/* The program that emulates guests. */
#define BB_QEMU "qemu-system-x86_64"

/* Boots a guest of the kernel `image` (a bzImage) with the files `archive_fd` (vm/initramfs.h),
 * which the machine then owns, and saves it: QEMU appends it to the file `saved_fd`. QEMU ends when
 * this process ends. Returns 0 or -errno with a message. */
int bb_machine__boot(const char *image, int archive_fd, int saved_fd,
		     struct bb_machine *ret_machine, struct bb_err *err);

/* Runs the job `archive_fd` (vm/initramfs.h), which the machine then owns, in the guest that was
 * saved in the file `saved_fd` behind its first `skip` bytes. */
int bb_machine__run(int saved_fd, size_t skip, int archive_fd, struct bb_machine *ret_machine,
		    struct bb_err *err);

/* How a guest ended. */
struct bb_machine_end {
	char *answer, *console; /* free both; the answer is without the line that ends it */
	int status;             /* exit code of the command in the guest */
};

/*
 * True if the guest has ended, or is saved. `*ret_rc` is then 0, and `ret_end` is set if it had a
 * job; or it is -errno with a message that has the last lines of the console: the kernel panicked
 * or QEMU failed; -EUCLEAN: QEMU cannot go on from the saved guest. A guest that ran for `limit_s`
 * is killed (-ETIMEDOUT).
 */
bool bb_machine__has_ended(struct bb_machine *m, double limit_s, struct bb_machine_end *ret_end,
			   int *ret_rc, struct bb_err *err);

/* Kills the guest if it runs, and frees what it has. */
void bb_machine__stop(struct bb_machine *m);
