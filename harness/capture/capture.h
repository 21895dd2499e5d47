/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/insn.h"
#include "base/record.h"

/*
 * A capture: the programs that a command loaded, as BPF_PROG_LOAD received them, with their maps,
 * type information and attachments. capture/take.h takes it, capture/file.h stores it in a file,
 * and capture/replay.h loads its programs again. A capture owns everything to which it points. Its
 * elements refer to each other by indexes: an index is the position of an element in one of the
 * capture's arrays, from 0 on. The index -1 (BB_CAPTURE_NONE) means that there is no such element.
 */
#define BB_CAPTURE_NONE (-1)
#define BB_CAPTURE_MAX_ITEMS 65536u /* limit: elements of each array of a capture */
/* limit: instructions of a program; BPF_COMPLEXITY_LIMIT_INSNS of the kernel */
#define BB_CAPTURE_MAX_INSNS 1000000u
#define BB_CAPTURE_MAX_BYTES ((size_t)1 << 30) /* limit: bytes of a capture file */

struct bb_blob {
	char *data;
	size_t size; /* bytes */
};

/* While a capture is taken (capture/take.h), we hold a descriptor of each map and BTF that an
 * element of the capture describes. A capture file does not contain this struct. bb_take__end()
 * closes the descriptors. */
struct bb_held_object {
	int fd;
	uint32_t id; /* id in the kernel */
};

struct bb_taken_load {
	/* descriptor of the program to which this program is to be attached (BPF_PROG_TYPE_EXT,
	 * fentry, fexit); -1 means that its target is not a program */
	int target_fd;
	uint32_t target_id; /* kernel's id of the program behind target_fd; 0 without target_fd */
	uint64_t rights;    /* rights of the thread that loaded the program (capture/remote.h) */
	int lacks_rights;   /* -errno if the kernel refuses the load for lack of rights; else 0 */
};

/* How we find out whether an attaching call succeeded. */
enum bb_attached_by {
	BB_ATTACHED_SURELY,   /* we do not ask: the result is known, or the kernel cannot tell it */
	BB_ATTACHED_BY_EVENT, /* we ask the kernel for the program of the perf event */
	BB_ATTACHED_BY_LINK,  /* we look for a new BPF link of the program */
	/* BPF_PROG_ATTACH: we ask the kernel for the programs of the target (a cgroup, ...) */
	BB_ATTACHED_BY_PROG,
};

struct bb_taken_attachment {
	uint32_t prog_id;
	pid_t tid; /* the thread that made the attaching call */
	enum bb_attached_by by;
	int fd;      /* our descriptor of the perf event or the target; -1 if we have none */
	bool by_btf; /* true: the call names no target; the program's attach_btf_id may name it */
};

/* Type information that programs and maps refer to. */
struct bb_captured_btf {
	struct bb_blob raw;
	/* for the BTF of the kernel, "vmlinux"; for that of a module, the module's name; `raw` is
	 * then empty. "" for any other BTF, whose bytes are in `raw` */
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
	/* for a map of maps: index of the map that is the template (inner_map_fd) of its inner
	 * maps */
	int32_t inner;
	bool frozen; /* true: system calls cannot write to the map any more (BPF_MAP_FREEZE) */
	/*
	 * n_entries keys, followed by n_entries values. A value has value_size bytes. In a per-CPU
	 * map, a value has one part for each possible CPU, each of value_size bytes, rounded up to
	 * a multiple of 8. In a map of maps a value is an index into maps, in a prog array an index
	 * into progs (int32_t). Elements of an array that are zero are not stored.
	 */
	struct bb_blob entries;
	uint32_t n_entries;
	char *left_out; /* why entries are missing; NULL if none is missing */
	struct bb_held_object held;
};

/* A slot of fd_array (BPF_PROG_LOAD). It refers to a map, to a BTF, or to nothing. An index that is
 * not used is BB_CAPTURE_NONE. */
struct bb_captured_ref {
	int32_t map, btf;
};

struct bb_captured_prog {
	char *name; /* name in the capture, unique; from the program's BTF if it has one */
	char kernel_name[16]; /* name in the kernel; BPF_OBJ_NAME_LEN */
	char license[128];
	uint32_t type, expected_attach_type, flags, kern_version;
	/* The instructions, with an index instead of each file descriptor. For BPF_PSEUDO_MAP_FD
	 * and BPF_PSEUDO_MAP_VALUE, it is the index of a map. In the second half of a
	 * BPF_PSEUDO_BTF_ID, it is the index of a BTF plus 1; 0 means vmlinux. */
	struct bpf_insn *insns;
	uint32_t n_insns;
	struct bpf_func_info *funcs;
	uint32_t n_funcs;
	struct bpf_line_info *lines;
	uint32_t n_lines;
	struct bb_captured_ref *fds; /* fds[n_fds]: the fd_array of the load */
	size_t n_fds;
	int32_t btf;
	uint32_t attach_btf_id;
	/* name of the target whose type id is attach_btf_id, such as "do_unlinkat"; "" if
	 * unknown */
	char attach_name[128];
	/* index of the BTF of the module that has the target; BB_CAPTURE_NONE: the target is in
	 * vmlinux */
	int32_t attach_btf;
	/* index of the program to which this program is attached, and which was loaded before it */
	int32_t attach_prog;
	/* tag that the kernel gave to a copy of the program, which we loaded with the command's own
	 * maps; zero if that load failed */
	uint8_t tag[BPF_TAG_SIZE];
	uint32_t xlated_bytes, jited_bytes;
	char *refused; /* why the kernel refuses the program; NULL if it accepts it */
	/* which parts of the program we could not copy, so that it cannot be loaded again; NULL if
	 * we copied all parts */
	char *missing;
	/* why we think that a loader loaded the program only to test the kernel; NULL if we do not
	 * think so */
	char *probe;
	struct bb_taken_load taken;
};

/* A hook to which the command attached a program. */
struct bb_captured_attachment {
	int32_t prog; /* index of the program; BB_CAPTURE_NONE if the command did not load it */
	char kind[32];
	/* name of the hook, such as "sched/sched_switch" or "cpu-clock, 99 Hz"; may be empty */
	char where[256];
	/* enum bpf_attach_type; 0 means BPF_CGROUP_INET_INGRESS, or that the type is unknown */
	uint32_t attach_type;
	uint32_t n;   /* number of equal attachments, for example one on each CPU */
	bool refused; /* true: the kernel refused to attach the program */
	struct bb_taken_attachment taken;
};

/* The input of a test run that the command itself made, or a packet for which the program ran. */
struct bb_captured_input {
	int32_t prog;
	struct bb_blob data, ctx;
	char *path;   /* of a packet: name of the path that its run took; NULL for a test run */
	double share; /* of a packet: share of the program's runs that take the same path, 0 to 1 */
	uint32_t repeat;
	uint32_t prog_id; /* id of the program in the kernel, while the capture is taken */
};

struct bb_capture {
	char *path;    /* path of the capture's file, for messages; NULL if it has none */
	char *command; /* the command and its arguments */
	struct {
		char *release, *version, *machine; /* uname(2) */
	} kernel;
	/* number of possible CPUs; a value in a per-CPU map has one part for each of them */
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

/*
 * Iterates over the maps and BTFs that the instructions insns[n] name: returns the address of the
 * next name, NULL after the last. `*at` is 0 before the first call. A name is a descriptor or, in a
 * capture, an index; a BTF (`*ret_is_btf`) is then named by its index plus 1. Instructions that
 * name vmlinux (0) are skipped.
 */
int32_t *bb_insns__next_name(struct bpf_insn *insns, uint32_t n, uint32_t *at, bool *ret_is_btf);

/* Returns the highest index in fd_array that an instruction of insns[n] names; -1 if none does. */
int bb_insns__highest_fd(const struct bpf_insn *insns, uint32_t n);

/* True if the last instruction of insns[n] lacks its second slot. */
bool bb_insns__are_cut_off(const struct bpf_insn *insns, uint32_t n);

/* True if the program can be measured: the kernel accepts it, it can be loaded again, and it is not
 * a loader's test of the kernel (member `probe`). */
bool bb_captured_prog__is_measured(const struct bb_captured_prog *p);

/* True for the loader program of a light skeleton (bpftool gen skeleton -L), which loads the
 * skeleton's other programs from inside the kernel. */
bool bb_captured_prog__is_light_loader(const struct bb_captured_prog *p);

/* True if two programs of two captures are the same to the kernel: equal instructions, maps of
 * equal type and sizes, and equal constants (frozen maps). Names, line information and the entries
 * of other maps do not count. False if one of the programs was loaded with an fd_array. */
bool bb_captured_prog__is_same(const struct bb_capture *a, const struct bb_captured_prog *p,
			       const struct bb_capture *b, const struct bb_captured_prog *q);

/* Returns the program with the name `name`; NULL if there is none. */
const struct bb_captured_prog *bb_capture__find(const struct bb_capture *c, const char *name);

/* Returns the first attachment of the program that the kernel did not refuse; if it refused all,
 * the first one. NULL if the program has no attachment. */
const struct bb_captured_attachment *bb_capture__any_attachment(const struct bb_capture *c,
								size_t prog);
/* Returns an array with c->n_progs elements: the result of bb_capture__any_attachment() for each
 * program. The caller must free() it. */
const struct bb_captured_attachment **bb_capture__any_attachments(const struct bb_capture *c);

/* Returns the bytes of one value in `entries`; 0 if entries of this map type are not captured. */
size_t bb_captured_map__value_bytes(const struct bb_capture *c, const struct bb_captured_map *m);

/* Returns the values, which follow the keys in `entries`; NULL if the map has no entries. */
const char *bb_captured_map__values(const struct bb_captured_map *m);

/* Returns why a capture has no entries of maps of this type; NULL if it can have them. */
const char *bb_captured_map_type__why_no_entries(uint32_t type);

void bb_blob__done(struct bb_blob *b);

#define BB_NOT_ATTACHED "not attached"

/* The hook of a program, written as a section name of an object: "tp/sched/sched_switch",
 * "fentry/do_unlinkat", "cgroup/connect4". `a` is the result of bb_capture__any_attachment(). The
 * text is BB_NOT_ATTACHED if no attachment was seen and the program names no target. */
struct bb_captured_section {
	char text[320];
};
struct bb_captured_section bb_captured_section(const struct bb_captured_prog *p,
					       const struct bb_captured_attachment *a);

/* Descriptions of the structs above, for storing and freeing them (records.c). */
extern const struct bb_record bb_captured_map_record, bb_captured_prog_record,
	bb_captured_attachment_record, bb_captured_input_record, bb_captured_btf_record,
	bb_capture_record;

void bb_capture__free(struct bb_capture *c); /* takes NULL */
