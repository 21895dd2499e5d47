/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * in-situ, event: http. A client of ours fetches a page from a server of ours at a steady rate,
 * over a new connection each time, through a veth pair: every packet that comes in at the server's
 * end runs the program, and what comes in is what TCP makes of a request.
 */

#include "drivers/http.h"
#include "drivers/traffic.h"

#define LEAST_PACKETS 4 /* to the server: SYN, ACK, the request, FIN */

static int open_server(void *arg, int *ret_fd)
{
	(void)arg;
	return bb_http__listen(BB_VETH_FAR_ADDR, ret_fd);
}

static void serve(void *arg, int socket_fd, int control_fd)
{
	(void)arg;
	bb_http__serve(socket_fd, control_fd);
}

/* The client's sockets are made one by one; it has none to begin with, but a place for one. */
static int open_nothing(void *arg, int *ret_fd)
{
	(void)arg;
	*ret_fd = STDERR_FILENO;
	return 0;
}

static int get(void *arg, int socket_fd)
{
	(void)arg;
	(void)socket_fd;
	return bb_http__get(BB_VETH_FAR_ADDR);
}

static int start(struct bb_traffic *t, struct bb_err *err)
{
	static const struct bb_traffic_sender client = {"the HTTP client", open_nothing, get, NULL};
	const struct bb_child_place place = {.cpu = t->opts.cpu,
					     .uid = t->opts.uid,
					     .gid = t->opts.gid};
	const struct bb_worker_task server = {
		.name = "the HTTP server",
		.netns_fd = t->pair.netns_fd[BB_VETH_FAR],
		.open = open_server,
		.work = serve,
	};
	int rc = bb_worker__start(&place, &server, &t->server, err);

	return rc ? rc : bb_traffic__start(t, &client, err);
}

static int http_open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		     void **ret_state, struct bb_err *err)
{
	return bb_traffic__open(spec, opts, LEAST_PACKETS, start, ret_state, err);
}

static const struct bb_drive_key keys[] = {
	{.name = "event"},
	{.name = "rate_hz"},
	{.name = "seconds"},
	{0},
};

const struct bb_driver bb_driver_insitu_http = {
	.kind =
		{
			BB_TRAFFIC_KIND,
			.by = {"http"},
			.name = "in-situ-http",
			.title = "in-situ by http",
			.doc = "the program under HTTP requests over TCP at a steady rate, "
			       "counters polled from another CPU",
			.keys = keys,
			.param_default = 50,
		},
	.open = http_open,
	BB_TRAFFIC_FUNCTIONS,
};
