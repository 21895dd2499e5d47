/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/loaded.h"
#include "capture/capture.h"
#include "inside/figures.h"

/* A program that the command loaded, with the clone that replaced it, or the reason why it has no
 * clone. All loads of the same code under one name, for the same target, count as one program;
 * their clones share one memory. */
struct bb_inside_program {
	char name[BB_LOADED_NAME]; /* name of its function; without BTF, the name in the load */
	uint32_t type, id;         /* id: that of the first clone; 0 if there is no clone */
	uint32_t n_insns;
	/* what the program is to be attached to, as the load says */
	uint32_t attach_type, attach_btf_id;
	size_t n_loads;
	int32_t taken;        /* index of its last load in the capture, or BB_CAPTURE_NONE */
	uint32_t stack_bytes; /* depth of the main function's stack */
	struct bb_inside_clone clone;
	char why[256]; /* why the clone is missing or lacks instruments; else empty */
	struct bb_code code;
	struct bb_cfg cfg;
	uint32_t btf_id; /* id of the first clone's type information (BTF); 0: it has none */
	int btf_fd;      /* keeps this BTF loaded, so that lines can be named after the command has
			    ended; -1 without a BTF */
	uint64_t began_ns;  /* time at which the first clone was ready */
	uint64_t seen_runs; /* runs that had begun at the last bb_inside__turn() */
	struct bb_inside_packets packets;
};

/* What the instruments of a clone cost on this machine. */
struct bb_inside_price {
	double clock_ns;   /* part of the measured time of a run that reading the clock takes */
	double timed_ns;   /* cost that a clone with clock and paths adds to a run that it times */
	double untimed_ns; /* cost that the same clone adds to a run that it does not time */
	double counted_ns; /* cost that a clone with paths, but without the clock, adds to a run */
};

/* The clone with the kernel's id `id` runs instead of the program with the index `taken` in the
 * capture. `taken` is BB_CAPTURE_NONE if the capture lacks the program. */
struct bb_inside_replaced {
	uint32_t id;
	int32_t taken;
	size_t program; /* index in bb_inside.programs */
};

struct bb_inside {
	struct bb_inside_program *programs;
	size_t n_programs;
	struct bb_inside_replaced *replaced; /* all clones, if the command is captured */
	size_t n_replaced;
	double time_at_most; /* the most runs of one program that are timed per second */
	unsigned int with;   /* bits of enum bb_inside_with: the instruments that are tried first */
	uint32_t snap;       /* the most bytes that are kept of a packet */
	/* Chains of tail calls. A byte of value k in the key of a chain stands for programs[k - 1].
	 * The memory is made when the command has a prog array. */
	struct bb_inside_clone chains;
	bool has_chains;
	/* The capture of the same command. Its last program is the one that is being loaded.
	 * NULL: the command is not captured. */
	const struct bb_capture *capture;
	size_t n_kept; /* number of programs in the capture after the last bb_inside__forget() */
	struct bb_inside_price price;
	/* time at which bb_inside__turn() last counted the runs; 0: it has not counted yet */
	uint64_t turned_ns;
	uint64_t spent_ns; /* time that the command waited for clones, in all its loads */
	size_t n_loads;
};

/* Answers a call bpf(BPF_PROG_LOAD) of the command with the descriptor of a clone. The command
 * waits at the seccomp listener meanwhile. bb_watched.load points to this function; `inside` is a
 * struct bb_inside. Returns false if the call must go on unchanged. In that case, if the call loads
 * a program and no signal broke it off, the program's `why` has the reason. */
struct seccomp_notif;
bool bb_inside__load(void *inside, int listener_fd, const struct seccomp_notif *call);

/* Sets for each program which share of its runs is timed. The share depends on how many runs per
 * second the program has now. Also collects packets. Call it several times a second, and once at
 * the end. */
void bb_inside__turn(struct bb_inside *in);

/* Removes old programs from the capture `t`: those that the command has loaded again many times
 * since, if they have a clone or are loaders' tests of the kernel. Programs whose clone is still
 * loaded stay. */
struct bb_take;
void bb_inside__forget(struct bb_inside *in, struct bb_take *t);

/* Measures what the instruments cost on this machine, by test runs of an empty program. Returns
 * 0 or -errno with a message. */
int bb_inside_price__measure(struct bb_inside_price *ret_price, struct bb_err *err);

void bb_inside__done(struct bb_inside *in);
