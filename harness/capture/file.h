/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/record_json.h"
#include "capture/capture.h"

/* A capture is stored in a file as a plain tar (docs/capture-format.md). The first member is a
 * manifest in JSON. The others hold instructions, BTF, map entries and inputs in the kernel's
 * binary format. A file is untrusted: its sizes, counts and indexes are checked, and no path in it
 * is opened. */
#define BB_CAPTURE_VERSION 1
#define BB_CAPTURE_MANIFEST "bpfbench-capture.json"

extern const struct bb_record_format bb_capture_format;

/* Writes the capture to a file atomically, with mode 0600, and replaces an existing file. Under
 * sudo, the user who called sudo owns the file. */
int bb_capture__write(const struct bb_capture *c, const char *path, struct bb_err *err);

/* Reads the capture in the file `path`. The caller must bb_capture__free() it. Returns -EINVAL if
 * the file is damaged, or of a later version than BB_CAPTURE_VERSION. */
int bb_capture__read(const char *path, struct bb_capture **ret_capture, struct bb_err *err);

/* Reads a capture from memory. `path` is for messages only. */
int bb_capture__parse(const char *data, size_t len, const char *path,
		      struct bb_capture **ret_capture, struct bb_err *err);

/* Like bb_capture__read(), but all callers that borrow the same file get the same capture, and must
 * not change it. The file is read again only if it has changed. Give the capture back by
 * bb_capture__give_back(), which accepts NULL. */
int bb_capture__borrow(const char *path, const struct bb_capture **ret_capture, struct bb_err *err);
void bb_capture__give_back(const struct bb_capture *c);

/* True if the file can be read and begins like a capture. */
bool bb_capture_is_one(const char *path);

/* Returns -ENOTSUP if this machine has another kernel, or another number of possible CPUs, than the
 * machine of the capture. The instructions in a capture refer to types and offsets of the kernel on
 * which it was taken. A value of a per-CPU map has a part for each possible CPU. */
int bb_capture__check_kernel(const struct bb_capture *c, struct bb_err *err);
