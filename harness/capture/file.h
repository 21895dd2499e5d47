/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/record_json.h"
#include "capture/capture.h"

/* A capture in a file: a plain tar, described in docs/capture-format.md. Its first member is the
 * manifest, JSON. The other members hold instructions, type information, map entries and inputs in
 * the kernel's binary format. A file is untrusted: its sizes, counts and indexes are checked, and
 * no path in it is opened. */
#define BB_CAPTURE_VERSION 1
#define BB_CAPTURE_MANIFEST "bpfbench-capture.json"

/* The JSON format of the manifest; its records describe the structs of capture/capture.h. */
extern const struct bb_record_format bb_capture_format;

/* Writes the capture to a file atomically; replaces an existing file. The caller owns the file
 * (under sudo, the user who called sudo); mode 0600. */
int bb_capture__write(const struct bb_capture *c, const char *path, struct bb_err *err);

/* Reads the capture in the file `path`; the caller must bb_capture__free() it. Returns -EINVAL if
 * the file is damaged, or of a later version than BB_CAPTURE_VERSION. */
int bb_capture__read(const char *path, struct bb_capture **ret_capture, struct bb_err *err);

/* Reads a capture from memory; `path` is for messages only. */
int bb_capture__parse(const char *data, size_t len, const char *path,
		      struct bb_capture **ret_capture, struct bb_err *err);

/* Reads a capture that several callers may share and that none of them may change. An unchanged
 * file is read only once. Each caller calls bb_capture__give_back(), which accepts NULL. */
int bb_capture__borrow(const char *path, const struct bb_capture **ret_capture, struct bb_err *err);
void bb_capture__give_back(const struct bb_capture *c);

/* True if the file begins like a capture. False also if the file cannot be read. */
bool bb_capture_is_one(const char *path);

/* Checks that the capture was taken on the running kernel, because its instructions refer to that
 * kernel's types and offsets. Returns -ENOTSUP with a message that names both kernels. */
int bb_capture__check_kernel(const struct bb_capture *c, struct bb_err *err);
