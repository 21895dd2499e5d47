/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CAPTURE_FILE_H
#define BB_CAPTURE_FILE_H

#include "base/record_json.h"
#include "base/std.h"
#include "capture/capture.h"

/*
 * A capture in a file: a plain tar, described in docs/capture-format.md. Its first member is the
 * manifest, JSON; the others hold instructions, types and entries as the kernel takes them. A file
 * is input like any other: sizes, counts and indexes are checked, and no path in it is opened.
 */
#define BB_CAPTURE_VERSION 1
#define BB_CAPTURE_MANIFEST "bpfbench-capture.json"

/* Of the manifest; its records are those of capture/capture.h. */
extern const struct bb_record_format bb_capture_format;

/* Whole or not at all, mode 0600, the caller's; a file that is there is replaced. */
int bb_capture__write(const struct bb_capture *c, const char *path, struct bb_err *err);

/* -EINVAL for one that is damaged or of a later version. */
int bb_capture__read(const char *path, struct bb_capture **ret_capture, struct bb_err *err);

/* The same from memory; `path` is for messages. */
int bb_capture__parse(const char *data, size_t len, const char *path,
		      struct bb_capture **ret_capture, struct bb_err *err);

/*
 * The same for several readers, which change nothing of it: a file that is as it was is read once.
 * bb_capture__give_back() takes NULL.
 */
int bb_capture__borrow(const char *path, const struct bb_capture **ret_capture, struct bb_err *err);
void bb_capture__give_back(const struct bb_capture *c);

/* Does this file begin like a capture? False, too, where it cannot be read. */
bool bb_capture_is_one(const char *path);

/* Was it taken in the kernel that runs? Its instructions refer to that kernel's types and offsets.
 * -ENOTSUP with both named. */
int bb_capture__check_kernel(const struct bb_capture *c, struct bb_err *err);

#endif
