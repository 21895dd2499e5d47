/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_DEBUG_FILES_H
#define BB_PROFILE_DEBUG_FILES_H

#include <stdint.h>

/*
 * Debug information that is in a file of its own. The symbolizer's child may open nothing, so it
 * asks its parent over a socket (SOCK_SEQPACKET): one struct bb_debug_request, which is answered by
 * bb_descriptor__send() with the descriptor of the file, or without one.
 */
enum bb_debug_kind {
	BB_DEBUG_NEXT,     /* no question, and no answer: the child is done with a file */
	BB_DEBUG_BUILD_ID, /* a file by `id`, in hexadecimal */
	BB_DEBUG_LINK,     /* .gnu_debuglink: `name`, beside the file or in /usr/lib/debug */
	BB_DEBUG_ALT,      /* .gnu_debugaltlink: `name` below /usr/lib/debug/.dwz/ */
};

struct bb_debug_request {
	uint32_t kind;
	char name[256]; /* with its NUL */
};

/*
 * In the parent: open the debug file that is requested for the file of that path, whose open
 * descriptor is `of_fd`. Only a regular file will do, of root or of the user whom that file belongs
 * to: others could put one in its folder. The descriptor, or -errno: -EINVAL for a malformed
 * request.
 */
int bb_debug_file__open(const struct bb_debug_request *request, const char *path, int of_fd);

/* In the child: ask, and wait for the answer. The descriptor, or -errno. */
int bb_debug_file__ask(int socket, enum bb_debug_kind kind, const char *name);

#endif
