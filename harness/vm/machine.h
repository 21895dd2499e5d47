/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/child.h"

/*
 * A guest is a virtual machine that QEMU emulates. Its clock counts instructions: with `-icount
 * shift=0`, each instruction of the guest takes 1 ns of its time. So run_time_ns of one run of a
 * program is the number of machine instructions of the run, helpers included. This number depends
 * neither on how busy the host is nor on its CPU. A guest needs no root and no KVM. It boots once,
 * and is saved when it waits for a job. Each job then runs in a copy of this saved guest.
 */
struct bb_machine {
	struct bb_child qemu; /* while the guest boots, qemu.fd takes commands for QEMU */
	/* Descriptors; -1: not open. Files in memory: the text that the guest prints (console), the
	 * text that the guest sends to us (answer), and the text that QEMU prints (log). The
	 * archive is the initramfs or the job. The caller closes saved_fd, the file of the saved
	 * guest. */
	int console_fd, answer_fd, log_fd, archive_fd, saved_fd;
	/* files in memory: text that the guest writes to the I/O port BB_MARKS_PORT; records of the
	 * plugin */
	int port_fd, trace_fd;
	enum {
		BB_MACHINE_WORKS, /* the guest runs a job */
		BB_MACHINE_BOOTS,
		BB_MACHINE_IS_SAVED,
	} state;
	bool on_terminal; /* true: the guest's console is our stdin and stdout */
	uint64_t began_ns;
};

/* The model of the CPU, without the flags for fast string instructions. With erms, fsrm, or fsrs of
 * leaf 7.1, which QEMU 10 has, the kernel's memcpy() or memset() would use `rep movsb` or `rep
 * stosb`, and the clock would count an instruction for each byte. */
#define BB_MACHINE_CPU "max,la57=off,-erms,-fsrm,level-func7=0"

/* The program that emulates guests. */
#define BB_QEMU "qemu-system-x86_64"

/* Starts to boot a guest with the kernel `image` (a bzImage), more arguments for it (`args`) and
 * the files `archive_fd` (vm/initramfs.h). bb_machine__has_ended() then saves the guest: QEMU
 * appends it to the file `saved_fd`. The machine closes `archive_fd`, even after an error. QEMU
 * ends when this process ends. Returns 0 or -errno with a message. */
int bb_machine__boot(const char *image, const char *args, int archive_fd, int saved_fd,
		     struct bb_machine *ret_machine, struct bb_err *err);

/* Starts the job `archive_fd` (vm/initramfs.h) in a saved guest. The guest is in the file
 * `saved_fd`, after the first `skip` bytes. `plugin` is the path of QEMU's plugin that traces
 * marked runs (vm/plugin/trace.c); NULL: no run is traced. With `on_terminal`, the guest's console
 * is our stdin and stdout. The machine closes `archive_fd`, even after an error. Returns 0 or
 * -errno with a message. */
int bb_machine__run(int saved_fd, size_t skip, int archive_fd, const char *plugin, bool on_terminal,
		    struct bb_machine *ret_machine, struct bb_err *err);

/* How a guest ended. */
struct bb_machine_end {
	char *answer,
		*console; /* texts as in struct bb_machine; the answer is without BB_GUEST_ENDED */
	int status;       /* exit code of the command in the guest */
	/* with a plugin: text that the guest wrote to the port BB_MARKS_PORT (bpf/marks.h); else
	 * NULL */
	char *port;
	int trace_fd; /* with a plugin: descriptor of its records (bpf/trace_record.h); else -1 */
};
void bb_machine_end__done(struct bb_machine_end *end);

/*
 * Returns true if the guest has ended or is saved. `*ret_rc` is then 0 or -errno with a message. If
 * it is 0 and the guest had a job, `*ret_end` is set. If the kernel panicked or QEMU failed, the
 * message has the last lines of the console or of QEMU's output. -EUCLEAN: QEMU cannot go on from
 * the saved guest. -ETIMEDOUT: QEMU was killed after `limit_s` of CPU time, or BB_MACHINE_WAITS
 * times as much wall time.
 */
#define BB_MACHINE_WAITS 4
bool bb_machine__has_ended(struct bb_machine *m, double limit_s, struct bb_machine_end *ret_end,
			   int *ret_rc, struct bb_err *err);

/* Kills the guest if it runs, and closes its descriptors except saved_fd. */
void bb_machine__stop(struct bb_machine *m);
