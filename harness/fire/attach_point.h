/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/target.h"
#include "fire/user_function.h"

/*
 * Where a program is attached: the kind of hook, in the kernel or in a process, and the name of the
 * hook. Both come from the program's section (SEC("tp/sched/sched_switch")) or from an observed
 * attachment. They decide which triggers are tried (fire/trigger.h). Words in quotes below are
 * examples of the name, which is the member `target`.
 */
enum bb_attach_kind {
	BB_AT_NOWHERE,    /* the section names no hook */
	BB_AT_TRACEPOINT, /* a tracepoint: "syscalls/sys_enter_openat" */
	BB_AT_RAW_TP,     /* a raw tracepoint: "sched_switch" */
	/* tp_btf, fentry, fexit, LSM: the hook is fixed when the program is loaded */
	BB_AT_BTF,
	BB_AT_ITER,         /* "task": an iterator, also fixed when the program is loaded */
	BB_AT_KPROBE,       /* a kernel function: "tcp_v4_connect" */
	BB_AT_KPROBE_MULTI, /* many kernel functions: "tcp_*" */
	BB_AT_UPROBE,       /* a function of a process: "/lib/libc.so.6:malloc" */
	BB_AT_UPROBE_MULTI, /* many functions of a process: "/lib/libc.so.6:mem*" */
	/* "vfs_read": bpfbench calls bb_own_function() instead of this function */
	BB_AT_OWN_FUNCTION,
	/* "sched_switch", a raw tracepoint: bpfbench runs the program by BPF_PROG_TEST_RUN; the
	 * event itself does not happen */
	BB_AT_OWN_RUN,
	BB_AT_SK_MSG,     /* a socket of bpfbench in a sockmap */
	BB_AT_REUSEPORT,  /* a socket of bpfbench that shares its port */
	BB_AT_CGROUP,     /* a cgroup: "connect4" */
	BB_AT_NETNS,      /* a network namespace: sk_lookup, flow_dissector */
	BB_AT_NETFILTER,  /* packets that arrive in a network namespace */
	BB_AT_STRUCT_OPS, /* "ssthresh": a struct of functions, attached as a whole */
	BB_AT_USDT,       /* "/lib/libx.so:provider:name", a static probe */
};

/* Facts about each kind of attach point, indexed by enum bb_attach_kind. */
extern const struct bb_attach_facts {
	const char *words; /* in messages */
	bool of_kernel;    /* every process of the machine can make a program run there */
	bool of_user;      /* a function or static probe of a file of user space */
	bool has_triggers; /* only the triggers for this kind work there (struct bb_trigger.at) */
} bb_attach_kinds[];

struct bb_attach_point {
	enum bb_attach_kind kind;
	uint32_t prog_type, attach_type; /* BPF_PROG_TYPE_*, BPF_* of enum bpf_attach_type */
	bool is_return;                  /* true: at a function's return, not at its entry */
	/* true: the program may affect every process of the machine */
	bool acts_on_all;
	char target[256]; /* the name of the hook; "": it has no name */
	/* trigger that the scenario asks for; borrowed; NULL means that bpfbench searches for
	 * one */
	const struct bb_fired_by *by;
	pid_t self_pid; /* pid that the firing process must have; 0 means any */
	/* uprobes: the probed process, which calls the function; 0: a process of ours */
	uint32_t pid;
	int map_fd; /* BB_AT_STRUCT_OPS: the map with the struct, of the current load; borrowed */
	/* BB_AT_OWN_FUNCTION for a function of user space: its prototype */
	struct bb_user_prototype prototype;
	/* BB_AT_OWN_FUNCTION: six arguments of the call, and its result. BB_AT_OWN_RUN: six
	 * arguments of the event. */
	long args[7];
	/* number of the argument set that `args` come from (fire/live_objects.h) */
	unsigned int argument_set;
	char said[200]; /* `args` in words */
};

/* Fills *ret_point from a section and types. The kind is BB_AT_NOWHERE for unknown sections. */
void bb_attach_point__from_section(const char *section, uint32_t prog_type, uint32_t attach_type,
				   struct bb_attach_point *ret_point);

/* Changes the attach point `p` as the variant's keys in the scenario say. The keys override the
 * program's section. Returns -EINVAL with a message if a key does not fit this type of program. */
int bb_attach_point__take(struct bb_attach_point *p, const struct bb_variant_spec *variant,
			  struct bb_err *err);

/* Makes an attach point (BB_AT_OWN_FUNCTION) that replaces the hook of `p`: bb_own_function() is
 * called instead. Returns false if programs at `p` see more than registers. Works only for
 * BPF_PROG_TYPE_KPROBE without BB_AT_KPROBE_MULTI. */
bool bb_attach_point__on_own_function(const struct bb_attach_point *p,
				      struct bb_attach_point *ret_point);

/* True if one event runs the programs of both attach points, for example a tracepoint and the raw
 * tracepoint with the same name. */
bool bb_attach_point__same_event(const struct bb_attach_point *a, const struct bb_attach_point *b);

/* Makes the attach point (BB_AT_OWN_RUN) at which test runs replace the event of a raw tracepoint.
 * Returns false for other attach points. */
bool bb_attach_point__by_own_run(const struct bb_attach_point *p,
				 struct bb_attach_point *ret_point);

/* Writes the program's name up to the first dot, because captures add ".2" and so on to equal
 * names. Many programs are named after their function or event. With `is_bare`, also removes
 * prefixes and suffixes, for example from "kprobe__vfs_read" and "vfs_read_exit". */
void bb_program__named_after(const char *program, bool is_bare, char *ret_name, size_t size);

/* An attach point in words, for messages and reports: "tracepoint syscalls/sys_enter_openat". */
struct bb_attach_words {
	char text[320];
};
struct bb_attach_words bb_attach_point__words(const struct bb_attach_point *p);

/* True if the program calls a helper that sends signals, writes into processes or changes the
 * result of a function. True also if the program's code cannot be read. Does not check kfuncs, nor
 * programs that this program reaches by tail calls. */
bool bb_reach__acts(const struct bb_target *target);

/* Checks whether the loaded program may be attached at `point`. Returns -ENOTSUP with the reason if
 * every process of the machine can make the program run there and the program can affect these
 * processes: either it acts on them (bb_reach__acts()), or the kernel obeys its result (LSM,
 * fmod_ret). */
int bb_reach__check(const struct bb_attach_point *point, const struct bb_target *target,
		    struct bb_err *err);
