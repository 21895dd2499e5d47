/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/object_file.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <elf.h>

#include "base/io.h"
#include "base/parse.h"
#include "base/caller.h"
#include "base/text.h"
#include "bpf/attach.h"
#include "bpf/code.h"
#include "bpf/prog_type.h"
#include "bpf/libbpf_log.h"
#include "bpf/object_trial.h"
#include "plan/field.h"

#define MAX_BYTES ((size_t)64 << 20)
#define HOW_TO_BUILD "build it with clang -target bpf -g -O2 -c"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static const unsigned char our_order = ELFDATA2LSB;
static const char other_order_words[] = "big-endian, and this machine is little-endian: build it "
					"with -target bpfel";
#else
static const unsigned char our_order = ELFDATA2MSB;
static const char other_order_words[] = "little-endian, and this machine is big-endian: build it "
					"with -target bpfeb";
#endif

static const char *machine_name(unsigned int machine)
{
	static const struct {
		unsigned int machine;
		const char *name;
	} names[] = {
		{EM_X86_64, "x86-64"}, {EM_386, "x86"},   {EM_AARCH64, "arm64"}, {EM_ARM, "arm"},
		{EM_RISCV, "RISC-V"},  {EM_S390, "s390"}, {EM_PPC64, "ppc64"},   {EM_MIPS, "MIPS"},
	};

	for (size_t i = 0; i < BB_LEN(names); i++)
		if (names[i].machine == machine)
			return names[i].name;
	return "another machine";
}

/* Gives a message for each fault of a file. libbpf has only one for all. */
static int check_elf(const char *path, const char *elf, size_t len, struct bb_err *err)
{
	Elf64_Ehdr head;

	if (len < EI_NIDENT || memcmp(elf, ELFMAG, SELFMAG))
		return bb_fail(err, -EINVAL,
			       "%s: not a BPF object, not even an ELF file (%zu "
			       "bytes); " HOW_TO_BUILD,
			       path, len);
	if (len < sizeof(head))
		return bb_fail(err, -EINVAL,
			       "%s: not a BPF object that can be read: cut off after %zu "
			       "bytes; " HOW_TO_BUILD,
			       path, len);
	memcpy(&head, elf, sizeof(head));
	bool ours = head.e_ident[EI_DATA] == our_order;
	unsigned int machine = ours ? head.e_machine : __builtin_bswap16(head.e_machine);
	if (machine != EM_BPF || head.e_ident[EI_CLASS] != ELFCLASS64)
		return bb_fail(err, -EINVAL,
			       "%s: not a BPF object: an ELF file for %s (machine "
			       "%u); " HOW_TO_BUILD,
			       path, machine_name(machine), machine);
	if (!ours)
		return bb_fail(err, -EINVAL, "%s: %s (or bpf, which is the same here)", path,
			       other_order_words);
	if (head.e_shoff > len || (uint64_t)head.e_shnum * head.e_shentsize > len - head.e_shoff)
		return bb_fail(err, -EINVAL,
			       "%s: not a BPF object that can be read: cut off, it has %zu bytes "
			       "of %llu; " HOW_TO_BUILD,
			       path, len,
			       (unsigned long long)head.e_shoff +
				       (uint64_t)head.e_shnum * head.e_shentsize);
	return 0;
}

int bb_object_read(const char *path, char **ret_elf, size_t *ret_len, struct bb_err *err)
{
	char *elf = NULL;
	size_t len = 0;
	int rc = bb_read_file(path, MAX_BYTES, &elf, &len, err);

	if (rc == -ENOENT)
		return bb_fail(err, rc,
			       "%s: there is no such BPF object; build it, or correct its path",
			       path);
	if (!rc)
		rc = check_elf(path, elf, len, err);
	if (!rc)
		rc = bb_object_trial_open(path, elf, len, err);
	if (rc) {
		free(elf);
		return rc;
	}
	*ret_elf = elf;
	*ret_len = len;
	return 0;
}

/* A file that bb_object_hold() shares. `st` tells whether the file has changed since. */
struct held {
	struct held *next;
	struct stat st;
	char *elf;
	size_t len, holders;
	char **passed; /* names of the trials that the file has passed */
	size_t n_passed;
};
static struct held *all_held;

int bb_object_hold(const char *path, const char **ret_elf, size_t *ret_len, struct bb_err *err)
{
	struct stat st = {0};
	struct held *h = stat(path, &st) ? NULL : all_held;
	int rc;

	while (h && !bb_is_unchanged(&h->st, &st))
		h = h->next;
	if (!h) {
		h = bb_calloc(1, sizeof(*h));
		rc = bb_object_read(path, &h->elf, &h->len, err);
		if (rc) {
			free(h);
			return rc;
		}
		h->st = st;
		h->next = all_held;
		all_held = h;
	}
	h->holders++;
	*ret_elf = h->elf;
	*ret_len = h->len;
	return 0;
}

void bb_object_let_go(const char *elf)
{
	for (struct held **at = &all_held; elf && *at; at = &(*at)->next) {
		struct held *h = *at;

		if (h->elf != elf)
			continue;
		if (!--h->holders) {
			*at = h->next;
			bb_names_free(h->passed, h->n_passed);
			free(h->elf);
			free(h);
		}
		return;
	}
}

int bb_object_try_load(const char *path, const char *elf, const char *trial, struct bpf_object *obj,
		       struct bb_err *err)
{
	struct held *h = all_held;

	while (h->elf != elf)
		h = h->next;
	if (BB_ANY(h->passed, h->n_passed, !strcmp(*it, trial)))
		return 0;
	int rc = bb_object_trial_load(path, obj, err);
	if (!rc)
		BB_PUSH(h->passed, h->n_passed, bb_strdup(trial));
	return rc;
}

static int say_not_opened(const char *path, int rc, struct bb_err *err)
{
	const char *log = bb_libbpf_log__text();
	char words[128], reason[300];

	/* libbpf writes "bad map relo" about maps in sections with other names than "maps" */
	if (strstr(log, "legacy map definitions") || strstr(log, "bad map relo"))
		return bb_fail(err, -EINVAL,
			       "%s: its maps are defined in a section other than .maps, such as "
			       "SEC(\"maps\"), which libbpf no longer reads (since 1.0); define "
			       "them so: struct { __uint(type, ...); ... } name SEC(\".maps\")",
			       path);
	if (strstr(log, "BTF is required"))
		return bb_fail(err, -EINVAL,
			       "%s: it has no BTF, which would describe its maps; build it with "
			       "clang -g, and strip it, if at all, with llvm-strip -g, which keeps "
			       "BTF",
			       path);
	libbpf_strerror(rc, words, sizeof(words));
	if (bb_is_shortage(rc))
		return bb_fail(err, rc, "%s: cannot be opened: %s%s", path, words,
			       rc == -ENOMEM ? "; allow more memory (ulimit -v)" : "");
	bb_refusal_of_libbpf(log, reason, sizeof(reason));
	bool is_for_others = strstr(reason, "is static and not supported") ||
			     strstr(reason, "invalid pinning value");
	return bb_fail(err, rc == -ENOTSUP ? -EINVAL : rc,
		       "%s: not a BPF object that libbpf can read (%s%s%s); %s", path, words,
		       reason[0] ? ": " : "", reason,
		       is_for_others ? "it is made for another loader: bpfbench -- LOADER captures "
				       "and measures what that one loads"
				     : HOW_TO_BUILD);
}

int bb_object_open(const char *path, const char *elf, size_t len, struct bpf_object **ret_obj,
		   struct bb_err *err)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "bpfbench");
	struct bpf_map *map;

	bb_libbpf_log__begin();
	struct bpf_object *obj = bpf_object__open_mem(elf, len, &opts);
	if (!obj)
		return say_not_opened(path, -errno, err);
	bpf_object__for_each_map(map, obj) bpf_map__set_pin_path(map, NULL);
	*ret_obj = obj;
	return 0;
}

int bb_object_say_no_program(const char *path, const char *const *names, size_t n,
			     const char *program, struct bb_err *err)
{
	return bb_fail(err, -ENOENT, "%s has no program '%s'%s; it has: %s", path, program,
		       bb_phrase__suggest(program, names, n).text,
		       n ? bb_phrase__join(names, n).text : "none");
}

/* The message has all properties of the map, because the kernel gives no reason but an error
 * number. */
static int say_no_map(const char *path, const char *program, struct bpf_map *map, int rc,
		      struct bb_err *err)
{
	bool is_inner = strstr(bb_libbpf_log__text(), "failed to create inner map") &&
			bpf_map__inner_map(map);
	const char *name = bpf_map__name(map), *type;

	map = is_inner ? bpf_map__inner_map(map) : map;
	type = libbpf_bpf_map_type_str(bpf_map__type(map));
	return bb_fail(err, rc,
		       "%s: cannot load program '%s': %s '%s' cannot be created (%m); it is of "
		       "type %u (%s), with keys of %u bytes, values of %u, %u entries, flags "
		       "0x%x%s",
		       path, program, is_inner ? "a map in map" : "map", name, bpf_map__type(map),
		       type ? type : "unknown", bpf_map__key_size(map), bpf_map__value_size(map),
		       bpf_map__max_entries(map), bpf_map__map_flags(map),
		       rc == -ENOMEM ? "; a loader may give it fewer entries: --max-entries MAP=N"
				     : "");
}

/* If the program needs types that this kernel lacks, writes their names as the reason. */
static void list_missing(const char *elf, size_t len, const struct btf *btf, char *reason,
			 size_t size)
{
	const struct bb_missing_name *missing;
	size_t n = bb_libbpf_log__missing(&missing);
	char names[400] = "", line[100];

	for (size_t i = 0; i < n; i++) {
		bb_btf_ext__source_line(elf, len, btf, missing[i].function, missing[i].insn, line,
					sizeof(line));
		bb_list_words(names, sizeof(names), ", ", "%s%s%s%s", missing[i].name,
			      *line ? " (near " : "", line, *line ? ")" : "");
	}
	if (n)
		snprintf(reason, size,
			 "it uses %s, which this kernel does not have; bpf_core_field_exists() or "
			 "bpf_core_type_exists() before it guards that",
			 names);
}

static int say_rejected(const char *path, const char *program, const char *others,
			const char *reason, int rc, struct bb_err *err)
{
	char log[sizeof(err->msg)];
	const char *hint = "";

	bb_refusal_log_of_verifier(bb_libbpf_log__text(), log, sizeof(log));
	if (strstr(reason, "non-GPL compatible"))
		hint = "; char LICENSE[] SEC(\"license\") = \"GPL\" makes it compatible";
	return bb_fail(err, rc,
		       "%s: the verifier rejects program '%s'%s (%m)%s%s%s\nThe end of its "
		       "log:\n%s",
		       path, program, others, reason[0] ? ": " : "", reason, hint, log);
}

/* Program types that the kernel has refused even to root. A refusal takes up to 100 ms, and an
 * object may have a hundred such programs. */
static struct {
	enum bpf_prog_type type;
	enum bpf_attach_type attach_type;
} refused_types[32];
static size_t n_refused_types;

static int say_not_permitted(const char *path, const struct bpf_program *prog, struct bb_err *err)
{
	return bb_fail(err, geteuid() ? -EPERM : -ENOTSUP, "%s: loading '%s' is not permitted; %s",
		       path, bpf_program__name(prog),
		       geteuid() ? "CAP_BPF and CAP_PERFMON are needed: run as root, with sudo"
		       : !bb_user__is_initial_namespace()
			       ? "this root is one of a user namespace (unshare -U, a rootless "
				 "container), whose CAP_BPF and CAP_SYS_ADMIN do not count for "
				 "BPF: run bpfbench outside of it"
			       : "this kernel refuses programs of the type (lockdown?): bpfbench "
				 "check says more");
}

int bb_object_check_type(const char *path, const struct bpf_program *prog, struct bb_err *err)
{
	if (BB_ANY(refused_types, n_refused_types,
		   it->type == bpf_program__type(prog) &&
			   it->attach_type == bpf_program__expected_attach_type(prog)))
		return say_not_permitted(path, prog, err);
	return 0;
}

/* True if the kernel has this program type. libbpf may be too old to know it, as 1.1 does not know
 * netfilter, so we then try to load a program. */
static bool has_type(const struct bpf_program *prog)
{
	int fd, known = libbpf_probe_bpf_prog_type(bpf_program__type(prog), NULL);

	if (known >= 0)
		return known;
	fd = bb_empty_prog__load(bpf_program__type(prog), bpf_program__expected_attach_type(prog),
				 0, NULL);
	known = fd != -EINVAL;
	bb_close(&fd);
	return known;
}

int bb_object_say_not_loaded(const char *path, const char *elf, size_t len,
			     const struct bpf_object *obj, const struct bpf_program *prog,
			     bool with_others, int rc, struct bb_err *err)
{
	const char *others = with_others ? ", or one that a prog array of the object holds" : "";
	const char *program = bpf_program__name(prog), *log = bb_libbpf_log__text();
	struct bpf_map *map = NULL, *each;
	char reason[600], near[128];

	if (rc == -EMFILE || rc == -ENFILE)
		return bb_fail(err, rc, "%s: cannot load program '%s': %m", path, program);
	if (strstr(log, "END PROG LOAD LOG")) {
		bb_refusal_of_verifier(log, reason, sizeof(reason));
		/* If a CO-RE relocation has no target in this kernel, libbpf replaces the
		 * instruction by a call of helper 195896080 (0xbad2310), which does not exist. */
		if (strstr(reason, "unknown#195896080") || strstr(reason, "failed to resolve CO-RE "
									  "relocation"))
			list_missing(elf, len, bpf_object__btf(obj), reason, sizeof(reason));
		return say_rejected(path, program, others, reason, rc, err);
	}
	bb_refusal_of_libbpf(log, reason, sizeof(reason));
	bpf_object__for_each_map(each, obj)
	{
		snprintf(near, sizeof(near), "map '%s':", bpf_map__name(each));
		if (!map && strstr(reason, "failed to create") && strstr(reason, near))
			map = each;
	}
	if (rc == -EPERM && !reason[0]) {
		if (!geteuid() && n_refused_types < BB_LEN(refused_types)) {
			refused_types[n_refused_types].type = bpf_program__type(prog);
			refused_types[n_refused_types++].attach_type =
				bpf_program__expected_attach_type(prog);
		}
		return say_not_permitted(path, prog, err);
	}
	if (strstr(log, "failed to find kernel BTF type ID") &&
	    bb_kernel_name__of_section(bpf_program__section_name(prog), near, sizeof(near)))
		return bb_fail(err, -ENOTSUP,
			       "%s: '%s' is for \"%s\", and this kernel has no such hook%s", path,
			       program, bpf_program__section_name(prog),
			       bb_did_you_mean(near, "").text);
	if (rc == -EINVAL && map && bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
		return bb_fail(err, -ENOTSUP,
			       "%s: '%s': this kernel does not register structs of functions by "
			       "links (Linux 6.4 does); otherwise it would stay registered when "
			       "bpfbench is killed",
			       path, program);
	if (map)
		return say_no_map(path, program, map, rc, err);
	if (rc == -EINVAL && !has_type(prog))
		return bb_fail(err, -ENOTSUP,
			       "%s: '%s' is of type %s, which this kernel does not have", path,
			       program, bb_prog_type_name(bpf_program__type(prog)).text);
	return bb_fail(err, rc, "%s: cannot load program '%s'%s (%m)%s%s", path, program, others,
		       reason[0] ? ": " : "", reason);
}
