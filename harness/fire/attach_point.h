/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_ATTACH_POINT_H
#define BB_FIRE_ATTACH_POINT_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/target.h"
#include "fire/user_function.h"
#include "plan/scenario.h"

/*
 * The place in the kernel or in a process where a program is attached: a hook and its name. It
 * comes from the section of the program (SEC("tp/sched/sched_switch")); whoever has seen a program
 * attached may fill it in from that just as well. Triggers (fire/trigger.h) are found by it.
 */
enum bb_attach_kind {
	BB_AT_NOWHERE,      /* the section names no place */
	BB_AT_TRACEPOINT,   /* target "syscalls/sys_enter_openat" */
	BB_AT_RAW_TP,       /* "sched_switch" */
	BB_AT_BTF,          /* tp_btf, fentry, fexit, LSM: the loaded program holds the place */
	BB_AT_ITER,         /* "task"; likewise */
	BB_AT_KPROBE,       /* "tcp_v4_connect" */
	BB_AT_KPROBE_MULTI, /* "tcp_*" */
	BB_AT_UPROBE,       /* "/lib/libc.so.6:malloc" */
	BB_AT_UPROBE_MULTI, /* "/lib/libc.so.6:mem*" */
	BB_AT_OWN_FUNCTION, /* a function of bpfbench that is called in the place of "vfs_read" */
	BB_AT_OWN_RUN,      /* test runs of a raw tracepoint's program, in the place of its event */
	BB_AT_SK_MSG,       /* a socket of ours in a sockmap */
	BB_AT_REUSEPORT,    /* a socket of ours that shares its port */
	BB_AT_CGROUP,       /* "connect4" */
	BB_AT_NETNS,        /* a network namespace: sk_lookup, flow_dissector */
	BB_AT_NETFILTER,    /* the packets of a network namespace that come in */
	BB_AT_STRUCT_OPS,   /* "ssthresh": a struct of functions, as a whole */
	BB_AT_USDT,         /* "/lib/libx.so:provider:name", a static probe */
};

struct bb_attach_point {
	enum bb_attach_kind kind;
	uint32_t prog_type, attach_type; /* BPF_PROG_TYPE_*, BPF_* of enum bpf_attach_type */
	bool is_return;                  /* a function's return, not its entry */
	bool acts_on_all; /* the program may do something to every process that passes */
	char target[256]; /* the name of the hook; "" where it has none */
	/* of the scenario, which outlives it: its trigger; NULL: it is looked for */
	const struct bb_fired_by *by;
	pid_t self_pid; /* the process that fires has this pid, which programs were told; 0: any */
	uint32_t pid;   /* of uprobes: in that process alone, which fires itself; 0: in ours */
	int map_fd;     /* BB_AT_STRUCT_OPS: the struct, of the load that is measured; borrowed */
	/* BB_AT_OWN_FUNCTION: what it is called with, what it returns, and that in words;
	 * BB_AT_OWN_RUN: the event's arguments */
	struct bb_user_prototype prototype; /* of the function in user space that it stands for */
	long args[7];
	unsigned int argument_set; /* which of the sets (fire/live_objects.h) they are */
	char said[200];
};

/* From a program's section and types. A section that no kind knows is BB_AT_NOWHERE. */
void bb_attach_point__from_section(const char *section, uint32_t prog_type, uint32_t attach_type,
				   struct bb_attach_point *ret_point);

/*
 * What the variant says of it goes before the section. -EINVAL with a message: it says so of a
 * program that this is not for.
 */
int bb_attach_point__take(struct bb_attach_point *p, const struct bb_variant_spec *variant,
			  struct bb_err *err);

/* Types whose programs are attached to a cgroup, whatever their section. */
bool bb_attach_point__is_for_cgroups(uint32_t prog_type);

/*
 * Functions of the kernel and of processes can be told apart by nothing but the registers: a
 * program for one of them (BPF_PROG_TYPE_KPROBE) runs just as well on a function of ours that is
 * called in its place. false: the program is none of these.
 */
bool bb_attach_point__on_own_function(const struct bb_attach_point *p,
				      struct bb_attach_point *ret_point);

/* Are both run by one event? A tracepoint and the raw one of its name are. */
bool bb_attach_point__same_event(const struct bb_attach_point *a, const struct bb_attach_point *b);

/*
 * The program of a raw tracepoint can be test-run with the arguments of its event in the place of
 * it. false: the program is none of these.
 */
bool bb_attach_point__by_own_run(const struct bb_attach_point *p,
				 struct bb_attach_point *ret_point);

/*
 * The function or event that a program is named after: without the number that captures add to
 * programs of one name; `is_bare`: without what authors put around it, as in "kprobe__vfs_read" and
 * "vfs_read_exit".
 */
void bb_program__named_after(const char *program, bool is_bare, char *ret_name, size_t size);

/* "tracepoint syscalls/sys_enter_openat", for messages and reports. */
struct bb_attach_words {
	char text[320];
};
struct bb_attach_words bb_attach_point__words(const struct bb_attach_point *p);

/*
 * Does the program do more than look: does it call a helper that sends signals, writes into other
 * processes or changes what a function returns? Kernel functions (kfuncs) and programs that it
 * calls by a tail call are not looked at. A program whose code cannot be read is taken for one that
 * does.
 */
bool bb_reach__acts(const struct bb_target *target);

/*
 * May the loaded program be attached at `point`? A program that acts, or whose result the kernel
 * obeys (LSM, fmod_ret), is kept off hooks that every process of the machine passes. -ENOTSUP with
 * the reason.
 */
int bb_reach__check(const struct bb_attach_point *point, const struct bb_target *target,
		    struct bb_err *err);

#endif
