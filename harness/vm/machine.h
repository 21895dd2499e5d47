/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/child.h"
#include "base/std.h"

/*
 * A guest is a virtual machine that QEMU emulates. Its clock counts instructions: with `-icount
 * shift=0`, each instruction of the guest takes 1 ns of its time. So run_time_ns of one run of a
 * program is the number of machine instructions of the run, helpers included. This number depends
 * neither on the load nor on the CPU of the host. A guest needs no root and no KVM. It boots once,
 * and is saved when it waits for a job. Each job runs in a guest that goes on from there.
 */
struct bb_machine {
	struct bb_child qemu; /* while the guest boots, its link takes commands for QEMU */
	/* console, answer, log: files in memory for what the guest prints, what it answers, and
	 * what QEMU prints. archive: what QEMU reads. saved: the saved guest; the caller closes it.
	 * -1: not open */
	int console_fd, answer_fd, log_fd, archive_fd, saved_fd;
	enum {
		BB_MACHINE_WORKS, /* on a job */
		BB_MACHINE_BOOTS,
		BB_MACHINE_IS_SAVED,
	} state;
	uint64_t began_ns;
};

/* The model of the CPU. Without erms, the kernel's memcpy() does not use `rep movsb`. The clock
 * would count each byte of such a copy. */
#define BB_MACHINE_CPU "max,la57=off,-erms"

/* The program that emulates guests. */
#define BB_QEMU "qemu-system-x86_64"

/* Starts to boot a guest with the kernel `image` (a bzImage) and the files `archive_fd`
 * (vm/initramfs.h). bb_machine__has_ended() then saves the guest: QEMU appends it to the file
 * `saved_fd`. The machine owns `archive_fd`, even after an error. QEMU ends when this process ends.
 * Returns 0 or -errno with a message. */
int bb_machine__boot(const char *image, int archive_fd, int saved_fd,
		     struct bb_machine *ret_machine, struct bb_err *err);

/* Starts the job `archive_fd` (vm/initramfs.h) in a saved guest, which is in the file `saved_fd`
 * behind its first `skip` bytes. The machine owns `archive_fd`, even after an error. */
int bb_machine__run(int saved_fd, size_t skip, int archive_fd, struct bb_machine *ret_machine,
		    struct bb_err *err);

/* How a guest ended. */
struct bb_machine_end {
	char *answer, *console; /* free both; the answer is without the line that ends it */
	int status;             /* exit code of the command in the guest */
};

/*
 * Returns true if the guest has ended or is saved. `*ret_rc` is then 0, and `ret_end` is set if the
 * guest had a job. If the kernel panicked or QEMU failed, `*ret_rc` is -errno, with the last lines
 * of the console or of QEMU in the message. -EUCLEAN: QEMU cannot go on from the saved guest. A
 * guest that ran for `limit_s` is killed (-ETIMEDOUT).
 */
bool bb_machine__has_ended(struct bb_machine *m, double limit_s, struct bb_machine_end *ret_end,
			   int *ret_rc, struct bb_err *err);

/* Kills the guest if it runs, and frees what it has. */
void bb_machine__stop(struct bb_machine *m);
