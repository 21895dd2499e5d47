/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/child.h"

/* A server that answers GET and HEAD of /metrics over HTTP/1.1 with the text that was published
 * last. A confined child process (BB_CONFINED_SERVER) serves all clients, so clients can neither
 * delay nor attack this process. The child has at most 32 connections, of 5 s and one request each.
 * One more connection replaces the oldest one. */
struct bb_http_server {
	struct bb_child child; /* the process that serves; pid 0 if there is none */
	char url[80];
};

/* Opens the server. `address` is "PORT" (on 127.0.0.1), "A.B.C.D:PORT" or "[IPV6]:PORT". With port
 * 0 the kernel chooses a port. `type` is the Content-Type. Until a text is published, the answer is
 * 503. Returns 0, or -errno with a message, for example if the port is taken. */
int bb_http_server__open(const char *address, const char *type, struct bb_http_server *ret_server,
			 struct bb_err *err);

/* Makes text[len] the text that is served. Never waits for a client. Returns 0, or -errno with a
 * message if memory ran out or the child has ended. */
int bb_http_server__publish(struct bb_http_server *s, const char *text, size_t len,
			    struct bb_err *err);

void bb_http_server__close(struct bb_http_server *s); /* does nothing if `*s` is zeroed */
