/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_ENV_FINGERPRINT_H
#define BB_ENV_FINGERPRINT_H

#include "base/err.h"
#include "base/std.h"

/*
 * The properties of the machine that a result depends on: kernel, CPU, JIT, compiler, mitigations.
 * Every field is printable ASCII, so that a table (below) serves export, import and comparison
 * without a line of code per field. A property that cannot be read is BB_FINGERPRINT_UNKNOWN; one
 * that the machine does not have is "none".
 */
#define BB_FINGERPRINT_UNKNOWN "unknown"

#define BB_FINGERPRINT_TEXT 256       /* bytes with the NUL; longer values are cut */
#define BB_FINGERPRINT_LONG_TEXT 2048 /* mitigations: twenty entries, some above 100 bytes */

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
	const char *key; /* also the member's name */
	const char *doc;
	size_t offset, size; /* of the char array in struct bb_fingerprint */
	bool identity;       /* a difference makes the timings of two runs incomparable */
	const char *path;    /* file with the value; NULL if there is no such file */
};

extern const struct bb_fingerprint_field bb_fingerprint_fields[];
extern const size_t bb_n_fingerprint_fields;

/*
 * Reads the fingerprint of this machine, with `root` ("": none) before every path of /proc, /sys
 * and /run. A file that is missing or may not be read gives BB_FINGERPRINT_UNKNOWN, not an error;
 * -ENOENT only when there is no /proc at all. The clang that built the BPF objects and our own
 * version come from the macros BB_CLANG_VERSION and BB_VERSION, the commit from $GITHUB_SHA,
 * $CI_COMMIT_SHA or the .git of `tree_dir`.
 */
int bb_fingerprint__read(const char *root, const char *tree_dir, struct bb_fingerprint *ret_fp,
			 struct bb_err *err);

/* Sets every field to BB_FINGERPRINT_UNKNOWN. Importers begin with it, so that newer fields are
 * unknown in old files. */
void bb_fingerprint_init(struct bb_fingerprint *fp);

/* Value of field i < bb_n_fingerprint_fields. */
const char *bb_fingerprint_get(const struct bb_fingerprint *fp, size_t i);

/*
 * Set a field by its key; the value is cut to the field, and bytes that are not printable ASCII
 * become '?' (white space: a blank). 0, or -ENOENT for an unknown key (a file written by a newer
 * bpfbench: ignore it).
 */
int bb_fingerprint_set(struct bb_fingerprint *fp, const char *key, const char *value);

/*
 * How many identity fields differ; the keys of the first `max` of them go to ret_keys[]. A field
 * that is unknown on either side is not counted: it is not known to differ.
 */
size_t bb_fingerprint_differences(const struct bb_fingerprint *a, const struct bb_fingerprint *b,
				  const char *ret_keys[], size_t max);

/*
 * A name for machines like this one: the letters and digits of the CPU model in lower case, and 32
 * bits of a hash of all identity fields. Equal for equal timings, and short enough for a testbed of
 * Bencher.
 */
#define BB_TESTBED_SIZE 64
void bb_testbed_name(const struct bb_fingerprint *fp, char ret_name[BB_TESTBED_SIZE]);

/* 64 hexadecimal digits (SHA-256 repositories; 40 for SHA-1) and the NUL */
#define BB_GIT_COMMIT_SIZE 65

/* Whether `text` is a full commit name: 40 or 64 hexadecimal digits. */
int bb_git_is_commit(const char *text);

/*
 * The commit checked out in the work tree that `dir` lies in, read from .git by hand: no git is
 * needed, and nothing of a foreign repository's configuration is obeyed. Knows linked work trees
 * and submodules (.git as a file) and packed refs, not reftable. 0; -ENOENT when `dir` is in no
 * repository or nothing was committed yet; -EINVAL when .git holds something else; other -errno.
 */
int bb_git_commit__read(const char *dir, char ret_commit[BB_GIT_COMMIT_SIZE]);

#endif
