/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/child.h"
#include "base/std.h"

/*
 * A guest: a virtual machine of QEMU, emulated, whose clock counts instructions. With `-icount
 * shift=0` each instruction of the guest takes 1 ns of its time, so run_time_ns of one run of a
 * program is the number of machine instructions of the run, helpers included. It depends neither on
 * the load nor on the CPU of the host. Needs no root and no KVM.
 */
struct bb_machine {
	struct bb_child qemu;
	/* files in memory: what the guest has, what it prints, what it answers, and what QEMU says;
	 * -1: not open */
	int initrd_fd, console_fd, answer_fd, log_fd;
	uint64_t began_ns;
};

/* The model of the CPU. Without erms, `rep movsb` is no choice of the kernel's memcpy(): the clock
 * would count each of its bytes. */
#define BB_MACHINE_CPU "max,la57=off,-erms"

/* Starts a guest of the kernel `image` (a bzImage). The files of the guest are `initrd_fd`
 * (vm/initramfs.h), which the machine then owns. It ends when this process ends. Returns 0 or
 * -errno with a message. */
int bb_machine__start(const char *image, int initrd_fd, struct bb_machine *ret_machine,
		      struct bb_err *err);

/* How a guest ended. */
struct bb_machine_end {
	char *answer, *console; /* free both; the answer is without the line that ends it */
	int status;             /* exit code of the command in the guest */
};

/*
 * True if the guest has ended. `*ret_rc` is then 0, and `ret_end` is set; or it is -errno with a
 * message that has the last lines of the console: the kernel panicked or QEMU failed. A guest that
 * ran for `limit_s` is killed (-ETIMEDOUT).
 */
bool bb_machine__has_ended(struct bb_machine *m, double limit_s, struct bb_machine_end *ret_end,
			   int *ret_rc, struct bb_err *err);

/* Kills the guest if it runs, and frees what it has. */
void bb_machine__stop(struct bb_machine *m);
