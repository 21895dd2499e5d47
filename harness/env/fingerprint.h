/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* A fingerprint has the properties of the machine that a result depends on, such as kernel, CPU and
 * compiler. Every field is printable ASCII. BB_FINGERPRINT_UNKNOWN means that a property cannot be
 * read. "none" means that the machine does not have it. */
#define BB_FINGERPRINT_UNKNOWN "unknown"

/* size of a field in bytes, with the NUL; longer values are truncated */
#define BB_FINGERPRINT_TEXT 256
/* size of `mitigations`, a list of about twenty entries */
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
	const char *key; /* name of the member */
	const char *doc;
	size_t offset, size;
	bool identity;    /* true if runs cannot be compared when this field differs */
	const char *path; /* file with the value, or NULL if code finds the value */
};

extern const struct bb_fingerprint_field bb_fingerprint_fields[];
extern const size_t bb_n_fingerprint_fields;

/* Reads the fingerprint of this machine. `root` is put before every path of /proc, /sys and /run.
 * It is "" except in tests. A field whose file cannot be read becomes BB_FINGERPRINT_UNKNOWN. The
 * commit comes from $GITHUB_SHA, $CI_COMMIT_SHA or the .git of `tree_dir`. Returns 0, or -errno if
 * there is no /proc. */
int bb_fingerprint__read(const char *root, const char *tree_dir, struct bb_fingerprint *ret_fp,
			 struct bb_err *err);

/* Sets every field to BB_FINGERPRINT_UNKNOWN. Call it before reading fields from a file, because a
 * file may lack some. */
void bb_fingerprint_init(struct bb_fingerprint *fp);

const char *bb_fingerprint_get(const struct bb_fingerprint *fp, size_t i);

/* Sets a field by its key. Cuts `value` to the size of the field. White space becomes a blank, and
 * other bytes that are not printable ASCII become '?'. Returns 0, or -ENOENT for an unknown key. */
int bb_fingerprint_set(struct bb_fingerprint *fp, const char *key, const char *value);

/* Returns the number of identity fields that differ, and writes the keys of the first `max` of them
 * to ret_keys[]. A field that is unknown in `a` or `b` does not count. */
size_t bb_fingerprint_differences(const struct bb_fingerprint *a, const struct bb_fingerprint *b,
				  const char *ret_keys[], size_t max);

/* Makes a name that all machines with equal identity fields share: the CPU model in lower case, and
 * a hash of the identity fields. Bencher calls such a name a testbed. */
#define BB_TESTBED_SIZE 64
void bb_testbed_name(const struct bb_fingerprint *fp, char ret_name[BB_TESTBED_SIZE]);

/* 64 hexadecimal digits (SHA-256; SHA-1 has 40) and the NUL */
#define BB_GIT_COMMIT_SIZE 65

/* True if `text` is a full commit name: 40 or 64 hexadecimal digits. */
int bb_git_is_commit(const char *text);

/* Reads from .git the commit that is checked out in the work tree of `dir`. Does not run git,
 * because the configuration of an untrusted repository could make git run commands. Cannot read
 * reftable. Returns 0, -ENOENT if `dir` is in no repository or there is no commit, -EINVAL if .git
 * has an unknown form, or -errno. */
int bb_git_commit__read(const char *dir, char ret_commit[BB_GIT_COMMIT_SIZE]);
