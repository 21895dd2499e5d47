/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CAPTURE_CAPTURE_H
#define BB_CAPTURE_CAPTURE_H

#include <linux/bpf.h>

#include "base/err.h"
#include "base/record.h"
#include "base/std.h"

/*
 * A capture: the programs that a command loaded, as BPF_PROG_LOAD was given them, with their maps,
 * type information and attachments. It is taken by capture/take.h, kept in a file by
 * capture/file.h, and loaded again by capture/replay.h. It owns all that it points to. An index
 * names an element of one of its arrays; -1 (BB_CAPTURE_NONE): none.
 */
#define BB_CAPTURE_NONE (-1)
#define BB_CAPTURE_MAX_ITEMS 65536u            /* of each array */
#define BB_CAPTURE_MAX_INSNS 1000000u          /* BPF_COMPLEXITY_LIMIT_INSNS of the kernel */
#define BB_CAPTURE_MAX_BYTES ((size_t)1 << 30) /* of all that it holds */

struct bb_blob {
	char *data;
	size_t size; /* bytes */
};

/* Type information that programs and maps refer to. */
struct bb_captured_btf {
	struct bb_blob raw;
	char module[64]; /* the kernel's own: "vmlinux" or a module; then raw is empty */
};

struct bb_captured_map {
	char *name;           /* unique in the capture */
	char kernel_name[16]; /* BPF_OBJ_NAME_LEN */
	uint32_t type, key_size, value_size, max_entries, flags;
	uint64_t extra;
	int32_t btf;
	uint32_t key_type_id, value_type_id;
	int32_t inner; /* the map that is a map of maps' template */
	bool frozen;   /* user space may write to it no more */
	/*
	 * n_entries times key and value. The value has value_size bytes; in a per-CPU map that
	 * size rounded up to 8 for each possible CPU; in a map of maps it is an index of maps, in a
	 * prog array one of progs (int32_t). Elements of an array that are zero are left out.
	 */
	struct bb_blob entries;
	uint32_t n_entries;
	char *left_out; /* why entries are missing; NULL: none is */
};

struct bb_captured_ref { /* a slot of fd_array: one of both, or nothing */
	int32_t map, btf;
};

struct bb_captured_prog {
	char *name;           /* unique in the capture; from its BTF where it has one */
	char kernel_name[16]; /* BPF_OBJ_NAME_LEN */
	char license[128];
	uint32_t type, expected_attach_type, flags, kern_version;
	/*
	 * Where an instruction named a descriptor there is an index: of maps (BPF_PSEUDO_MAP_FD,
	 * BPF_PSEUDO_MAP_VALUE), or of BTFs plus 1 in the second half (BPF_PSEUDO_BTF_ID; 0:
	 * vmlinux).
	 */
	struct bpf_insn *insns;
	uint32_t n_insns;
	struct bpf_func_info *funcs;
	uint32_t n_funcs;
	struct bpf_line_info *lines;
	uint32_t n_lines;
	struct bb_captured_ref *fds; /* fd_array */
	size_t n_fds;
	int32_t btf;
	uint32_t attach_btf_id;
	char attach_name[128]; /* of that, "do_unlinkat"; "" */
	int32_t attach_btf;    /* the module that attach_btf_id is of; none: vmlinux */
	int32_t attach_prog;   /* the program that it replaces or watches: an earlier one */
	/* of a copy that was loaded with the command's own maps; zero where that failed */
	uint8_t tag[BPF_TAG_SIZE];
	uint32_t xlated_bytes, jited_bytes;
	char *refused; /* the kernel refuses it, the copy and so the command's: why; NULL */
	char *missing; /* it cannot be loaded again, for lack of this; NULL */
	char *probe;   /* a test of the loader's, by this sign; NULL: a program */
};

/* A place where the command attached a program. */
struct bb_captured_attachment {
	int32_t prog; /* none: a program that was not loaded by the command */
	char kind[32];
	char where[256]; /* "sched/sched_switch", "do_unlinkat", "cpu-clock, 99 Hz"; may be empty */
	uint32_t attach_type; /* BPF_* of enum bpf_attach_type; 0 also where there is none */
	uint32_t n;           /* how often, so on each CPU */
	bool refused;         /* the command asked for it, and the kernel did not do it */
};

struct bb_captured_input { /* the command's own test runs */
	int32_t prog;
	struct bb_blob data, ctx;
	uint32_t repeat;
};

struct bb_capture {
	char *path;    /* of its file, for messages; NULL: not in one */
	char *command; /* with its arguments */
	struct {
		char *release, *version, *machine; /* uname(2) */
	} kernel;
	uint32_t n_cpus; /* possible ones, which per-CPU values have a part for */
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

/* Is it one to measure: loaded, loadable again, and no probe? */
bool bb_captured_prog__is_measured(const struct bb_captured_prog *p);

/* Is it the program by which a light skeleton (bpftool gen skeleton -L) loads others, inside the
 * kernel? */
bool bb_captured_prog__is_light_loader(const struct bb_captured_prog *p);

/*
 * Are two programs of two captures the same to the kernel: instructions, with maps that are alike
 * and constants (frozen maps) that are equal? Names, lines and what other maps hold do not count.
 */
bool bb_captured_prog__is_same(const struct bb_capture *a, const struct bb_captured_prog *p,
			       const struct bb_capture *b, const struct bb_captured_prog *q);

/* NULL: no program of that name. */
const struct bb_captured_prog *bb_capture__find(const struct bb_capture *c, const char *name);

/* The first attachment of a program; NULL: none was seen. */
const struct bb_captured_attachment *bb_capture__attachment(const struct bb_capture *c,
							    size_t prog);
/* The same; where it has none, the first that was refused. */
const struct bb_captured_attachment *bb_capture__any_attachment(const struct bb_capture *c,
								size_t prog);
/* The places of all programs, found in one pass: by program; free() them. NULL: out of memory. */
const struct bb_captured_attachment **bb_capture__any_attachments(const struct bb_capture *c);

/* Bytes of one value in the entries of a map; 0: its kind of entries is not captured. */
size_t bb_captured_map__value_bytes(const struct bb_capture *c, const struct bb_captured_map *m);

/* The values of its entries, behind the keys; NULL: it has none. */
const char *bb_captured_map__values(const struct bb_captured_map *m);

/* Why maps of this type have no entries in a capture; NULL: they may have. */
const char *bb_captured_map_type__why_no_entries(uint32_t type);

void bb_blob__done(struct bb_blob *b);

#define BB_NOT_ATTACHED "not attached"

/*
 * The place where the command attached a program (bb_capture__any_attachment()), in the words of an
 * object's section: "tp/sched/sched_switch", "fentry/do_unlinkat", "cgroup/connect4".
 * BB_NOT_ATTACHED where none was seen and the program holds none.
 */
struct bb_captured_section {
	char text[320];
};
struct bb_captured_section bb_captured_section(const struct bb_captured_prog *p,
					       const struct bb_captured_attachment *place);

/* The structs above, described for their file and their end (records.c). The whole has the others
 * but that of fd_array. */
extern const struct bb_record bb_captured_map_record, bb_captured_prog_record,
	bb_captured_attachment_record, bb_captured_input_record, bb_captured_btf_record,
	bb_capture_record;

void bb_capture__free(struct bb_capture *c); /* takes NULL */

#endif
