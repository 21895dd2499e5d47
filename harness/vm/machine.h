/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/child.h"

/* A guest is a virtual machine that QEMU emulates. With `-icount shift=0`, each instruction of the
 * guest takes 1 ns of its time. So run_time_ns of a run of a program is the number of machine
 * instructions, helpers included, and depends neither on the host's load nor on its CPU. A guest
 * boots once, and is saved when it waits for a job. Each job runs in a copy of this saved guest. A
 * guest needs no root and no KVM. */
struct bb_machine {
	struct bb_child qemu; /* while the guest boots, qemu.fd takes commands for QEMU */
	/* Descriptors, -1 if not open. In memory are the text that the guest prints (console), the
	 * text that it sends to us (answer), and the text that QEMU prints (log). The archive is
	 * the initramfs or the job. The caller closes saved_fd, the file of the saved guest. */
	int console_fd, answer_fd, log_fd, archive_fd, saved_fd;
	/* in memory: text that the guest writes to the I/O port BB_MARKS_PORT, and records of the
	 * plugin */
	int port_fd, trace_fd;
	enum {
		BB_MACHINE_WORKS,
		BB_MACHINE_BOOTS,
		BB_MACHINE_IS_SAVED,
	} state;
	bool on_terminal; /* true if the guest's console is our stdin and stdout */
	uint64_t began_ns;
};

/* The model of the CPU, without flags for fast string instructions: erms, fsrm, and fsrs of leaf
 * 7.1, which QEMU 10 has. With them, the kernel's memcpy() or memset() would use `rep movsb` or
 * `rep stosb`, and the clock would count an instruction for each byte. */
#define BB_MACHINE_CPU "max,la57=off,-erms,-fsrm,level-func7=0"

#define BB_QEMU "qemu-system-x86_64"

/* Starts to boot a guest with the kernel `image` (a bzImage), further kernel arguments `args` and
 * the files `archive_fd` (vm/initramfs.h), which the machine closes, even after an error.
 * bb_machine__has_ended() then saves the guest: QEMU appends it to `saved_fd`. QEMU ends when this
 * process ends. */
int bb_machine__boot(const char *image, const char *args, int archive_fd, int saved_fd,
		     struct bb_machine *ret_machine, struct bb_err *err);

/* Starts the job `archive_fd` (vm/initramfs.h) in a saved guest, which is in the file `saved_fd`
 * after the first `skip` bytes. The machine closes `archive_fd`, even after an error. `plugin` is
 * the path of QEMU's plugin that traces marked runs (vm/plugin/trace.c), or NULL. */
int bb_machine__run(int saved_fd, size_t skip, int archive_fd, const char *plugin, bool on_terminal,
		    struct bb_machine *ret_machine, struct bb_err *err);

struct bb_machine_end {
	char *answer,
		*console; /* texts as in struct bb_machine; the answer is without BB_GUEST_ENDED */
	int status;
	/* text that the guest wrote to the port BB_MARKS_PORT (bpf/marks.h); NULL without a
	 * plugin */
	char *port;
	int trace_fd; /* descriptor of the plugin's records (bpf/trace_record.h); -1 without a
		       * plugin */
};
void bb_machine_end__done(struct bb_machine_end *end);

/* Returns true if the guest has ended or is saved. `*ret_rc` is then 0 or -errno. If it is 0 and
 * the guest had a job, `*ret_end` is set. -EUCLEAN means that QEMU cannot go on from the saved
 * guest. -ETIMEDOUT means that QEMU was killed after `limit_s` of CPU time, or BB_MACHINE_WAITS
 * times as much wall time. */
#define BB_MACHINE_WAITS 4
bool bb_machine__has_ended(struct bb_machine *m, double limit_s, struct bb_machine_end *ret_end,
			   int *ret_rc, struct bb_err *err);

/* Kills the guest if it runs, and closes its descriptors except saved_fd. */
void bb_machine__stop(struct bb_machine *m);
