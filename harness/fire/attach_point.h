/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/target.h"
#include "fire/user_function.h"

/* Where a program is attached: the kind of hook, and the hook's name (`target`). Both come from the
 * program's section, such as SEC("tp/sched/sched_switch"), or from an observed attachment. In the
 * comments of the enum, examples of names are in quotes. */
enum bb_attach_kind {
	BB_AT_NOWHERE,    /* the section names no hook */
	BB_AT_TRACEPOINT, /* a tracepoint: "syscalls/sys_enter_openat" */
	BB_AT_RAW_TP,     /* a raw tracepoint: "sched_switch" */
	/* tp_btf, fentry, fexit, LSM: the hook is fixed at load time */
	BB_AT_BTF,
	BB_AT_ITER,         /* an iterator, fixed at load time: "task" */
	BB_AT_KPROBE,       /* a kernel function: "tcp_v4_connect" */
	BB_AT_KPROBE_MULTI, /* many kernel functions: "tcp_*" */
	BB_AT_UPROBE,       /* a function of a process: "/lib/libc.so.6:malloc" */
	BB_AT_UPROBE_MULTI, /* many functions of a process: "/lib/libc.so.6:mem*" */
	/* bpfbench calls bb_own_function() in place of "vfs_read" */
	BB_AT_OWN_FUNCTION,
	/* bpfbench makes test runs in place of the raw tracepoint "sched_switch" */
	BB_AT_OWN_RUN,
	BB_AT_SK_MSG,     /* a socket of bpfbench in a sockmap */
	BB_AT_REUSEPORT,  /* a socket of bpfbench that shares its port */
	BB_AT_CGROUP,     /* a cgroup: "connect4" */
	BB_AT_NETNS,      /* a network namespace: sk_lookup, flow_dissector */
	BB_AT_NETFILTER,  /* packets that arrive in a network namespace */
	BB_AT_STRUCT_OPS, /* a struct of functions, attached as a whole: "ssthresh" */
	BB_AT_USDT,       /* a static probe: "/lib/libx.so:provider:name" */
};

extern const struct bb_attach_facts {
	const char *words; /* for messages */
	bool of_kernel;    /* every process of the machine can make a program run there */
	bool of_user;      /* a function or static probe of a file of user space */
	bool has_triggers; /* only triggers for this kind work there (struct bb_trigger.at) */
} bb_attach_kinds[];

struct bb_attach_point {
	enum bb_attach_kind kind;
	uint32_t prog_type, attach_type;
	bool is_return; /* true for the return of a function */
	/* true if the program can affect every process of the machine (bb_reach__check()) */
	bool acts_on_all;
	char target[256]; /* the hook's name, or "" */
	/* the trigger that the scenario asks for, borrowed, or NULL */
	const struct bb_fired_by *by;
	pid_t self_pid; /* pid that the firing process must have; 0 means any */
	/* for uprobes: the process that has the probe; 0 means ours */
	uint32_t pid;
	int map_fd; /* for BB_AT_STRUCT_OPS: the map with the struct; borrowed */
	/* for BB_AT_OWN_FUNCTION: prototype of the replaced function, if it is of user space */
	struct bb_user_prototype prototype;
	/* for BB_AT_OWN_FUNCTION: six arguments and the result; for BB_AT_OWN_RUN: six arguments */
	long args[7];
	unsigned int argument_set; /* number of the set (fire/live_objects.h) that gave `args` */
	char said[200];            /* `args` in words */
};

/* The kind is BB_AT_NOWHERE for an unknown section. */
void bb_attach_point__from_section(const char *section, uint32_t prog_type, uint32_t attach_type,
				   struct bb_attach_point *ret_point);

/* Applies the program's keys in the scenario, which override its section. Returns -EINVAL, with a
 * message, if a key does not fit. */
int bb_attach_point__take(struct bb_attach_point *p, const struct bb_variant_spec *variant,
			  struct bb_err *err);

/* Makes an attach point at which calls of bb_own_function() replace the hook of `p`. Returns false
 * if programs at `p` need more than registers. Only BPF_PROG_TYPE_KPROBE works, and not at
 * BB_AT_KPROBE_MULTI. */
bool bb_attach_point__on_own_function(const struct bb_attach_point *p,
				      struct bb_attach_point *ret_point);

/* True if one event runs the programs at `a` and `b`, such as a tracepoint and its raw
 * tracepoint. */
bool bb_attach_point__same_event(const struct bb_attach_point *a, const struct bb_attach_point *b);

/* Makes an attach point at which test runs replace the event of `p`. Returns false if `p` is not a
 * raw tracepoint. */
bool bb_attach_point__by_own_run(const struct bb_attach_point *p,
				 struct bb_attach_point *ret_point);

/* Writes the function or event that the program is probably named after: its name up to the first
 * dot, because captures add ".2" and so on to equal names. With `is_bare`, "kprobe__vfs_read" and
 * "vfs_read_exit" become "vfs_read". */
void bb_program__named_after(const char *program, bool is_bare, char *ret_name, size_t size);

/* An attach point in words: "tracepoint syscalls/sys_enter_openat". */
struct bb_attach_words {
	char text[320];
};
struct bb_attach_words bb_attach_point__words(const struct bb_attach_point *p);

/* True if the program calls a helper that sends signals, writes into processes or changes the
 * result of a function, or if its code cannot be read. Does not check kfuncs and the programs that
 * it reaches by tail calls. */
bool bb_reach__acts(const struct bb_target *target);

/* Returns -ENOTSUP, with the reason, if every process of the machine can make the program run, and
 * it acts on them (bb_reach__acts()) or the kernel obeys its result (LSM, fmod_ret). */
int bb_reach__check(const struct bb_attach_point *point, const struct bb_target *target,
		    struct bb_err *err);
