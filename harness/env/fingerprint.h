/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * The properties of the machine that a result depends on: kernel, CPU, JIT, compiler, mitigations.
 * Every field is printable ASCII. Code that exports, imports or compares fingerprints finds the
 * fields in the table bb_fingerprint_fields. BB_FINGERPRINT_UNKNOWN means that a property cannot be
 * read; "none" means that the machine does not have it.
 */
#define BB_FINGERPRINT_UNKNOWN "unknown"

/* size of a field in bytes, with the NUL; longer values are truncated */
#define BB_FINGERPRINT_TEXT 256
/* size of `mitigations`, which has about twenty entries, some longer than 100 bytes */
#define BB_FINGERPRINT_LONG_TEXT 2048

struct bb_fingerprint {
	char kernel_release[BB_FINGERPRINT_TEXT];
	char kernel_version[BB_FINGERPRINT_TEXT];
	char arch[BB_FINGERPRINT_TEXT];
	char hostname[BB_FINGERPRINT_TEXT];
	char machine[BB_FINGERPRINT_TEXT];
	char cpu_model[BB_FINGERPRINT_TEXT];
	char microcode[BB_FINGERPRINT_TEXT];
	char cpus_online[BB_FINGERPRINT_TEXT];
	char smt[BB_FINGERPRINT_TEXT];
	char governor[BB_FINGERPRINT_TEXT];
	char hypervisor[BB_FINGERPRINT_TEXT];
	char container[BB_FINGERPRINT_TEXT];
	char clocksource[BB_FINGERPRINT_TEXT];
	char mitigations[BB_FINGERPRINT_LONG_TEXT];
	char jit_enable[BB_FINGERPRINT_TEXT];
	char jit_harden[BB_FINGERPRINT_TEXT];
	char unprivileged_bpf_disabled[BB_FINGERPRINT_TEXT];
	char lockdown[BB_FINGERPRINT_TEXT];
	char clang[BB_FINGERPRINT_TEXT];
	char harness_compiler[BB_FINGERPRINT_TEXT];
	char libbpf[BB_FINGERPRINT_TEXT];
	char bpfbench[BB_FINGERPRINT_TEXT];
	char git_commit[BB_FINGERPRINT_TEXT];
};

struct bb_fingerprint_field {
	const char *key; /* name of the field, which is also the member's name */
	const char *doc;
	size_t offset, size; /* offset and size of the char array in struct bb_fingerprint */
	bool identity;       /* true: times of two runs cannot be compared if this field differs */
	const char *path;    /* file whose contents are the value; NULL: code finds the value */
};

extern const struct bb_fingerprint_field bb_fingerprint_fields[];
extern const size_t bb_n_fingerprint_fields;

/*
 * Reads the fingerprint of this machine. `root` is put before every path of /proc, /sys and /run;
 * it is "" except in tests. A file that is missing or unreadable gives BB_FINGERPRINT_UNKNOWN and
 * no error. Returns -ENOENT if there is no /proc. The clang that built the BPF objects and our own
 * version come from the macros BB_CLANG_VERSION and BB_VERSION; the commit comes from $GITHUB_SHA,
 * $CI_COMMIT_SHA or the .git of `tree_dir`.
 */
int bb_fingerprint__read(const char *root, const char *tree_dir, struct bb_fingerprint *ret_fp,
			 struct bb_err *err);

/* Sets every field to BB_FINGERPRINT_UNKNOWN. Call it before the fields are read from a file,
 * because a file may lack some. */
void bb_fingerprint_init(struct bb_fingerprint *fp);

/* Returns the value of field i < bb_n_fingerprint_fields. */
const char *bb_fingerprint_get(const struct bb_fingerprint *fp, size_t i);

/*
 * Sets a field by its key. Truncates the value to the size of the field; white space becomes a
 * blank, and other bytes that are not printable ASCII become '?'. Returns 0, or -ENOENT for an
 * unknown key, which may come from a newer bpfbench.
 */
int bb_fingerprint_set(struct bb_fingerprint *fp, const char *key, const char *value);

/* Returns the number of identity fields that differ. ret_keys[] receives the keys of the first
 * `max` of these fields. A field that is unknown in `a` or `b` does not count. */
size_t bb_fingerprint_differences(const struct bb_fingerprint *a, const struct bb_fingerprint *b,
				  const char *ret_keys[], size_t max);

/* Makes a name for all machines with the same identity fields as `fp`, for example for a testbed of
 * Bencher: the CPU model in lower case, and a hash of 32 bits of all identity fields. */
#define BB_TESTBED_SIZE 64
void bb_testbed_name(const struct bb_fingerprint *fp, char ret_name[BB_TESTBED_SIZE]);

/* size of the name of a commit: 64 hexadecimal digits (SHA-256; 40 in SHA-1 repositories) and the
 * NUL */
#define BB_GIT_COMMIT_SIZE 65

/* True if `text` is a full commit name: 40 or 64 hexadecimal digits. */
int bb_git_is_commit(const char *text);

/* Reads from .git the commit that is checked out in the work tree of `dir`. This does not run git,
 * because the configuration of an untrusted repository could make git run commands. Knows linked
 * work trees, submodules (.git as a file) and packed refs, but not reftable. Returns 0; -ENOENT if
 * `dir` is in no repository or the repository has no commit; -EINVAL if .git has another form; or
 * -errno. */
int bb_git_commit__read(const char *dir, char ret_commit[BB_GIT_COMMIT_SIZE]);
