/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_HTTP_H
#define BB_DRIVERS_HTTP_H

#include "base/std.h"

/*
 * As much of HTTP/1.0 (RFC 1945) as a request over a connection of its own takes. Addresses and
 * ports in host order; 0 or -errno; nobody waits for the other side longer than a second.
 */
#define BB_HTTP_PORT 80u

/* A socket that takes connections at that address. */
int bb_http__listen(uint32_t addr, int *ret_fd);

/* Answer one request after the other, until `listen_fd` fails or `control_fd` is at its end. */
void bb_http__serve(int listen_fd, int control_fd);

/* GET /. -EPROTO: an answer, but not 200. */
int bb_http__get(uint32_t addr);

/* Does this, the whole answer, begin with a status line that says 200? */
bool bb_http_is_ok(const char *answer, size_t len);

/* Is the request complete: does it hold an empty line? */
bool bb_http_is_whole(const char *request, size_t len);

#endif
