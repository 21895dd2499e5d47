/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/loaded.h"
#include "capture/take.h"
#include "inside/figures.h"

/* A program that the command loaded, and its clone, or why it has none. All loads of the same code
 * under one name, for one target, count as one program, and their clones share one memory. */
struct bb_inside_program {
	char name[BB_LOADED_NAME]; /* name of its function or, without BTF, the name in the load */
	uint32_t type, id;         /* id of the first clone; 0 if there is no clone */
	uint32_t n_insns;
	uint32_t attach_type, attach_btf_id;
	size_t n_loads;
	int32_t taken; /* index in the capture of its last load, or BB_CAPTURE_NONE */
	uint32_t stack_bytes;
	struct bb_inside_clone clone;
	char why[400]; /* why the clone is missing or lacks instruments, else empty */
	struct bb_code code;
	struct bb_cfg cfg;
	uint32_t btf_id; /* id of the first clone's BTF; 0 if it has none */
	/* keeps the BTF loaded after the command has ended, to name lines; -1 without BTF */
	int btf_fd;
	uint64_t began_ns;
	uint64_t seen_runs; /* runs that had begun at the last bb_inside__turn() */
	struct bb_inside_packets packets;
};

struct bb_inside_price {
	double clock_ns; /* part of a run's measured time that reading the clock takes */
	double timed_ns; /* cost of a clone with clock and paths, for a run that it times */
	/* cost of a clone with clock and paths, for a run that it does not time */
	double untimed_ns;
	double counted_ns; /* cost of a clone with paths only, for a run */
};

/* The clone with the kernel's id `id` runs in place of program number `taken` of the capture.
 * `taken` is BB_CAPTURE_NONE if the capture lacks that program. */
struct bb_inside_replaced {
	uint32_t id;
	int32_t taken;
	size_t program;
};

struct bb_inside {
	struct bb_inside_program *programs;
	size_t n_programs;
	struct bb_inside_replaced *replaced; /* all clones, if the command is captured */
	size_t n_replaced;
	double time_at_most; /* the most runs of a program that are timed per second */
	/* what to measure, unless the verifier refuses: bits of enum bb_inside_with */
	unsigned int with;
	uint32_t snap;
	/* Memory of chains of tail calls, made if the clones measure time and the command has a
	 * prog array. A byte of value k in a chain's key stands for programs[k - 1]. */
	struct bb_inside_clone chains;
	bool has_chains;
	struct bb_take *take; /* capture of the command; NULL if it is not captured */
	size_t n_kept;        /* programs in the capture after the last bb_inside__forget() */
	struct bb_inside_price price;
	/* time at which bb_inside__turn() last counted the runs; 0 if it has not yet */
	uint64_t turned_ns;
	uint64_t spent_ns; /* time that the command waited for clones */
	size_t n_loads;
};

/* Answers a call bpf(BPF_PROG_LOAD) of the command with the descriptor of a clone. bb_watched.load
 * points to this function. `inside` is a struct bb_inside. The command waits at the seccomp
 * listener meanwhile. Returns false if the call must go on unchanged. The program's `why` then has
 * the reason, unless a signal broke the call off. */
struct seccomp_notif;
bool bb_inside__load(void *inside, int listener_fd, const struct seccomp_notif *call);

/* Sets for each program which share of its runs is timed, depending on how many runs per second it
 * has now. Also collects packets. Call it several times a second, and once at the end. */
void bb_inside__turn(struct bb_inside *in);

/* Removes old programs from in->take, if the command has loaded them many times since: those
 * whose clone is no longer loaded, and loaders' tests of the kernel. */
void bb_inside__forget(struct bb_inside *in);

/* Measures the costs by test runs of an empty program. Returns 0 or -errno with a message. */
int bb_inside_price__measure(struct bb_inside_price *ret_price, struct bb_err *err);

void bb_inside__done(struct bb_inside *in);
