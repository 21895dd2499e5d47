/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/insn.h"
#include "base/record.h"

/* A capture: the programs that a command loaded, with their maps, type information (BTF) and
 * attachments. capture/take.h makes it, capture/file.h stores it in a file, and capture/replay.h
 * loads its programs again. A capture owns everything to which it points. An index in it is a
 * position in one of its arrays. The index BB_CAPTURE_NONE means that there is no such element. */
#define BB_CAPTURE_NONE (-1)
#define BB_CAPTURE_MAX_ITEMS 65536u /* limit: elements of each array of a capture */
/* limit: instructions of a program; BPF_COMPLEXITY_LIMIT_INSNS of the kernel */
#define BB_CAPTURE_MAX_INSNS 1000000u
#define BB_CAPTURE_MAX_BYTES ((size_t)1 << 30) /* limit: bytes of a capture file */

struct bb_blob {
	char *data;
	size_t size;
};

/* Our descriptor of the command's map or BTF, and the kernel's id of it. The descriptor is open
 * only while the capture is taken (capture/take.h). */
struct bb_held_object {
	int fd;
	uint32_t id;
};

struct bb_taken_load {
	/* our descriptor of the target program (for BPF_PROG_TYPE_EXT or fentry), or -1 */
	int target_fd;
	uint32_t target_id; /* the kernel's id of the target program, or 0 */
	uint64_t rights;    /* rights of the thread that loaded the program (capture/remote.h) */
	int lacks_rights;   /* -errno if the kernel refuses the load for lack of rights; else 0 */
	bool asks_for_log;  /* the command wants the verifier's log of the load */
	bool has_unknown;   /* attributes that bpfbench does not know are set */
};

/* How we find out whether an attaching call succeeded. */
enum bb_attached_by {
	/* we do not ask, because the result is known, or the kernel cannot tell it */
	BB_ATTACHED_SURELY,
	BB_ATTACHED_BY_EVENT, /* we ask the kernel for the program of the perf event */
	BB_ATTACHED_BY_LINK,  /* we look for a new BPF link of the program */
	/* we ask the kernel for the programs at the target, such as a cgroup */
	BB_ATTACHED_BY_PROG,
};

struct bb_taken_attachment {
	uint32_t prog_id;
	pid_t tid; /* the thread that made the attaching call */
	enum bb_attached_by by;
	int fd; /* our descriptor of the perf event or the target; -1 if we have none */
	/* true if the call names no target, so only the program's attach_btf_id may name it */
	bool by_btf;
};

struct bb_captured_btf {
	struct bb_blob raw;
	/* for BTF of the kernel: "vmlinux" or the module's name, and `raw` is empty; else "" */
	char module[64];
	struct bb_held_object held;
};

struct bb_captured_map {
	char *name;           /* name in the capture, unique */
	char kernel_name[16]; /* name in the kernel; BPF_OBJ_NAME_LEN */
	uint32_t type, key_size, value_size, max_entries, flags;
	uint64_t extra;
	int32_t btf;
	uint32_t key_type_id, value_type_id;
	/* of a map of maps: index of the map that was its inner_map_fd */
	int32_t inner;
	bool frozen; /* true after BPF_MAP_FREEZE: system calls cannot write to the map */
	/* n_entries keys, and then n_entries values. In a per-CPU map, a value has a part for each
	 * possible CPU, of value_size bytes rounded up to a multiple of 8. In a map of maps or prog
	 * array, a value is the index (int32_t) of a map or program. An array's zero values are not
	 * stored. */
	struct bb_blob entries;
	uint32_t n_entries;
	char *left_out; /* why entries are missing; NULL if none is missing */
	struct bb_held_object held;
};

/* An element of fd_array (BPF_PROG_LOAD). One index or both are BB_CAPTURE_NONE. */
struct bb_captured_ref {
	int32_t map, btf;
};

struct bb_captured_prog {
	char *name; /* name in the capture, unique; from the program's BTF if it has one */
	char kernel_name[16]; /* name in the kernel; BPF_OBJ_NAME_LEN */
	char license[128];
	uint32_t type, expected_attach_type, flags, kern_version;
	/* An index replaces each descriptor in the instructions: the index of a map or, in the
	 * second half of a BPF_PSEUDO_BTF_ID, the index of a BTF plus 1. There, 0 means vmlinux. */
	struct bpf_insn *insns;
	uint32_t n_insns;
	struct bpf_func_info *funcs;
	uint32_t n_funcs;
	struct bpf_line_info *lines;
	uint32_t n_lines;
	struct bb_captured_ref *fds; /* the fd_array of the load */
	size_t n_fds;
	int32_t btf;
	uint32_t attach_btf_id;
	/* name of the hook with this type id, such as "do_unlinkat"; "" if unknown */
	char attach_name[128];
	/* index of the BTF of the module that has the target; BB_CAPTURE_NONE for vmlinux */
	int32_t attach_btf;
	/* index of the target, if the target is a program; it is loaded before this program */
	int32_t attach_prog;
	/* the kernel's tag of the program with the command's own maps; zero if it does not load */
	uint8_t tag[BPF_TAG_SIZE];
	uint32_t xlated_bytes, jited_bytes;
	char *refused; /* why the kernel refuses the program; NULL if it accepts it */
	/* what could not be copied, so that the program cannot be loaded again, or NULL */
	char *missing;
	/* why the program seems to be a loader's test of the kernel, or NULL */
	char *probe;
	struct bb_taken_load taken;
};

struct bb_captured_attachment {
	int32_t prog; /* index of the program; BB_CAPTURE_NONE if the command did not load it */
	char kind[32];
	/* name of the hook, such as "sched/sched_switch" or "cpu-clock, 99 Hz"; may be empty */
	char where[256];
	/* enum bpf_attach_type; 0 means BPF_CGROUP_INET_INGRESS, or that the type is unknown */
	uint32_t attach_type;
	uint32_t n;   /* number of equal attachments, such as one on each CPU */
	bool refused; /* by the kernel */
	struct bb_taken_attachment taken;
};

/* The input of a test run that the command itself made, or a packet for which the program ran. */
struct bb_captured_input {
	int32_t prog;
	struct bb_blob data, ctx;
	/* for a packet: name of the path (basic blocks) that the run took; else NULL */
	char *path;
	/* for a packet: share (0 to 1) of the runs that took this path; else NAN */
	double share;
	uint32_t repeat;
	uint32_t prog_id; /* kernel's id of the program; used only while the capture is taken */
};

struct bb_capture {
	char *path;    /* path of the file, for messages; NULL if there is no file */
	char *command; /* the command and its arguments */
	struct bb_captured_kernel {
		char *release, *version, *machine; /* uname(2) */
	} kernel;
	/* number of possible CPUs, which is the number of parts of a value in a per-CPU map */
	uint32_t n_cpus;
	struct bb_captured_btf *btfs;
	size_t n_btfs;
	struct bb_captured_map *maps;
	size_t n_maps;
	struct bb_captured_prog *progs; /* in the order of loading */
	size_t n_progs;
	struct bb_captured_attachment *attachments;
	size_t n_attachments;
	struct bb_captured_input *inputs;
	size_t n_inputs;
};

/* Iterates over the references to maps and BTFs in insns[n]. Returns the address of the next one,
 * or NULL after the last. `*at` is 0 before the first call. A reference is a descriptor. In a
 * capture it is the index of a map, or the index of a BTF plus 1 (`*ret_is_btf`). A BTF reference
 * of 0 means vmlinux, and is skipped. */
int32_t *bb_insns__next_name(struct bpf_insn *insns, uint32_t n, uint32_t *at, bool *ret_is_btf);

/* Returns the highest index into fd_array in insns[n], or -1 if there is none. */
int bb_insns__highest_fd(const struct bpf_insn *insns, uint32_t n);

/* True if the last instruction of insns[n] lacks its second slot. */
bool bb_insns__are_cut_off(const struct bpf_insn *insns, uint32_t n);

/* True if the kernel accepts the program, we have all of it, and it is no loader's test. */
bool bb_captured_prog__is_measured(const struct bb_captured_prog *p);

/* True if two programs of two captures are the same to the kernel: equal instructions, maps of
 * equal type and sizes, and equal entries of frozen maps. Names, line information and other entries
 * do not count. False if one of the programs has an fd_array. */
bool bb_captured_prog__is_same(const struct bb_capture *a, const struct bb_captured_prog *p,
			       const struct bb_capture *b, const struct bb_captured_prog *q);

const struct bb_captured_prog *bb_capture__find(const struct bb_capture *c, const char *name);

/* Returns the program's first attachment that the kernel accepted, or else the first one, or
 * NULL. */
const struct bb_captured_attachment *bb_capture__any_attachment(const struct bb_capture *c,
								size_t prog);
/* Returns bb_capture__any_attachment() of each program. The caller must free() the array. */
const struct bb_captured_attachment **bb_capture__any_attachments(const struct bb_capture *c);

/* Returns the size of one value in `entries`, or 0 if entries of this map type are not captured. */
size_t bb_captured_map__value_bytes(const struct bb_capture *c, const struct bb_captured_map *m);

/* Returns the values in `entries`, or NULL if the map has none. */
const char *bb_captured_map__values(const struct bb_captured_map *m);

/* Returns why a capture has no entries of maps of this type, or NULL if it can have them. */
const char *bb_captured_map_type__why_no_entries(uint32_t type);

void bb_blob__done(struct bb_blob *b);

#define BB_NOT_ATTACHED "not attached"

/* The hook of a program as in SEC(): "tp/sched/sched_switch". `a` is the result of
 * bb_capture__any_attachment(). The text is BB_NOT_ATTACHED if the hook is unknown. */
struct bb_captured_section {
	char text[320];
};
struct bb_captured_section bb_captured_section(const struct bb_captured_prog *p,
					       const struct bb_captured_attachment *a);

/* How the structs above are stored and freed (records.c). */
extern const struct bb_record bb_captured_map_record, bb_captured_prog_record,
	bb_captured_attachment_record, bb_captured_input_record, bb_captured_btf_record,
	bb_capture_record;

void bb_capture__free(struct bb_capture *c); /* does nothing if `c` is NULL */
