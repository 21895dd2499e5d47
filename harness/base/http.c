/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/http.h"

#include <netdb.h>

#include "base/io.h"
#include "base/parse.h"

#define MOST_CONNECTIONS 32
#define MOST_HEAD 8192 /* longest request with its headers, bytes */
#define PATIENCE_NS 5000000000u
#define MEMORY_BYTES (UINT64_C(256) << 20)

struct connection {
	int fd; /* -1 if this connection is free */
	uint64_t since_ns;
	char head[MOST_HEAD + 1]; /* text from the client so far, ends in NUL */
	size_t n_head;
	char *answer; /* the answer of `len` bytes; NULL while the request is incomplete */
	size_t len;
	size_t sent;
};

struct service {
	/* page: file with the text to serve; -1 before a text is published */
	int listener, page;
	const char *type;
	struct connection connections[MOST_CONNECTIONS];
};

/* --- functions that run in the child --- */

static void hang_up(struct connection *c)
{
	bb_close(&c->fd);
	free(c->answer);
	*c = (struct connection){.fd = -1};
}

static void answer(struct connection *c, const char *status, const char *type, const char *text,
		   size_t len, bool is_head)
{
	FILE *out = bb_open_memstream(&c->answer, &c->len);

	fprintf(out,
		"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
		"Cache-Control: no-store\r\nAllow: GET, HEAD\r\n\r\n",
		status, type, len);
	if (!is_head)
		fwrite(text, 1, len, out);
	bb_close_memstream(out);
}

static void refuse(struct connection *c, const char *status, bool is_head)
{
	char line[80];
	int len = snprintf(line, sizeof(line), "%s: the figures are at /metrics\n", status);

	answer(c, status, "text/plain", line, (size_t)len, is_head);
}

/* Only the first line of a request counts: METHOD TARGET HTTP/1.x (RFC 9112, 3). */
static void answer_request(const struct service *s, struct connection *c)
{
	char *version = c->head, *method, *target;
	void *page = MAP_FAILED;
	struct stat st;

	version[strcspn(version, "\r\n")] = '\0';
	method = strsep(&version, " ");
	target = strsep(&version, " ");
	if (!version || strncmp(version, "HTTP/1.", 7) || strchr(version, ' ')) {
		refuse(c, "400 Bad Request", false);
		return;
	}
	bool is_head = !strcmp(method, "HEAD");
	target[strcspn(target, "?")] = '\0';
	if (!is_head && strcmp(method, "GET")) {
		refuse(c, "405 Method Not Allowed", false);
		return;
	}
	if (strcmp(target, "/metrics")) {
		refuse(c, "404 Not Found", is_head);
		return;
	}
	if (s->page >= 0 && !fstat(s->page, &st) && st.st_size > 0)
		page = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, s->page, 0);
	if (page == MAP_FAILED) {
		refuse(c, "503 Service Unavailable", is_head);
		return;
	}
	answer(c, "200 OK", s->type, page, (size_t)st.st_size, is_head);
	munmap(page, (size_t)st.st_size);
}

/* Reads the client's bytes, and discards those after the request. close() resets a connection that
 * has unread bytes. The client could then lose the answer. */
static void hear(const struct service *s, struct connection *c)
{
	char rest[4096];
	char *to = c->answer ? rest : c->head + c->n_head;
	size_t room = c->answer ? sizeof(rest) : MOST_HEAD - c->n_head;
	ssize_t n = recv(c->fd, to, room, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		hang_up(c);
		return;
	}
	if (c->answer)
		return;
	c->n_head += (size_t)n;
	c->head[c->n_head] = '\0';
	if (memchr(c->head, '\0', c->n_head))
		refuse(c, "400 Bad Request", false);
	else if (strstr(c->head, "\r\n\r\n") || strstr(c->head, "\n\n"))
		answer_request(s, c);
	else if (c->n_head == MOST_HEAD)
		refuse(c, "431 Request Header Fields Too Large", false);
}

static void say_more(struct connection *c)
{
	ssize_t n = send(c->fd, c->answer + c->sent, c->len - c->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		hang_up(c);
	else if (n > 0 && (c->sent += (size_t)n) == c->len)
		shutdown(c->fd, SHUT_WR);
}

static void accept_one(struct service *s)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct connection *to = &s->connections[0];

	if (fd < 0)
		return;
	for (struct connection *c = to; c < s->connections + MOST_CONNECTIONS; c++)
		if (to->fd >= 0 && (c->fd < 0 || c->since_ns < to->since_ns))
			to = c;
	hang_up(to);
	to->fd = fd;
	to->since_ns = bb_now_ns();
}

static bool is_talking(const struct connection *c)
{
	return c->answer && c->sent < c->len;
}

static int serve(void *arg, int link_fd)
{
	struct service *s = arg;
	struct pollfd p[MOST_CONNECTIONS + 2];
	int number, fd, rc;

	p[MOST_CONNECTIONS] = (struct pollfd){.fd = link_fd, .events = POLLIN};
	p[MOST_CONNECTIONS + 1] = (struct pollfd){.fd = s->listener, .events = POLLIN};
	for (;;) {
		for (size_t i = 0; i < MOST_CONNECTIONS; i++)
			p[i] = (struct pollfd){
				.fd = s->connections[i].fd,
				.events = is_talking(&s->connections[i]) ? POLLOUT : POLLIN,
			};
		poll(p, MOST_CONNECTIONS + 2, 1000);
		for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
			struct connection *c = &s->connections[i];

			if (c->fd >= 0 && bb_now_ns() - c->since_ns > PATIENCE_NS)
				hang_up(c);
			else if (p[i].revents && is_talking(c))
				say_more(c);
			else if (p[i].revents)
				hear(s, c);
		}
		if (p[MOST_CONNECTIONS].revents) {
			/* the link brings the file with the next text to serve */
			rc = bb_descriptor__receive(link_fd, &number, &fd);
			if (rc && rc != -EINTR)
				return 0; /* the parent has ended */
			if (!rc) {
				bb_close(&s->page);
				s->page = fd;
			}
		}
		if (p[MOST_CONNECTIONS + 1].revents)
			accept_one(s);
	}
}

/* `address` is "HOST:PORT", "[HOST]:PORT" or "PORT". */
static int listen_at(const char *address, struct bb_http_server *s, struct bb_err *err)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				       .ai_socktype = SOCK_STREAM};
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	char text[64], host[48], port[8], *colon;
	const char *given_host, *given_port;
	struct addrinfo *found = NULL;
	uint64_t number;
	int fd, rc, one = 1;

	snprintf(text, sizeof(text), "%s", address);
	colon = strrchr(text, ':');
	given_port = colon ? colon + 1 : text;
	given_host = colon && colon != text ? text : "127.0.0.1";
	if (colon)
		*colon = '\0';
	if (colon && *text == '[' && colon[-1] == ']') {
		colon[-1] = '\0';
		given_host = text + 1;
	}
	if (bb_parse_u64(given_port, &number) || number > UINT16_MAX ||
	    getaddrinfo(given_host, given_port, &hints, &found))
		return bb_fail(err, -EINVAL,
			       "'%s' is no address to serve at; give one in numbers, such as "
			       "127.0.0.1:9435, [::1]:9435, or a port alone",
			       address);
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	rc = fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
			     bind(fd, found->ai_addr, found->ai_addrlen) || listen(fd, 64) ||
			     getsockname(fd, (struct sockaddr *)&at, &len)
		     ? -errno
		     : 0;
	freeaddrinfo(found);
	if (rc) {
		bb_close(&fd);
		return bb_fail(err, rc, "cannot serve at %s: %s%s", address, strerror(-rc),
			       rc == -EADDRINUSE ? "; give another port" : "");
	}
	if (getnameinfo((struct sockaddr *)&at, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		host[0] = port[0] = '\0';
	snprintf(s->url, sizeof(s->url),
		 strchr(host, ':') ? "http://[%s]:%s/metrics" : "http://%s:%s/metrics", host, port);
	return fd;
}

int bb_http_server__open(const char *address, const char *type, struct bb_http_server *ret_server,
			 struct bb_err *err)
{
	struct bb_http_server server = {0};
	struct service *s = bb_calloc(1, sizeof(*s));
	struct bb_child_rules rules = {
		.link = BB_LINK_SOCKET,
		.signals = BB_SIGNALS_OF_FAULTS,
		.no_core = true,
		.more_bytes = MEMORY_BYTES,
		.n_keep = 1,
		.confinement = BB_CONFINED_SERVER,
	};

	s->type = type;
	s->page = -1;
	for (size_t i = 0; i < MOST_CONNECTIONS; i++)
		s->connections[i].fd = -1;
	int rc = s->listener = listen_at(address, &server, err);
	if (rc >= 0) {
		rules.keep = &s->listener;
		rc = bb_child__start(&rules, serve, s, &server.child);
		if (rc)
			bb_fail(err, rc, "cannot start a process that serves %s: %m", server.url);
		bb_close(&s->listener);
	}
	free(s);
	if (!rc)
		*ret_server = server;
	return rc;
}

int bb_http_server__publish(struct bb_http_server *s, const char *text, size_t len,
			    struct bb_err *err)
{
	int fd = memfd_create("metrics", MFD_CLOEXEC);
	int rc = fd < 0 ? -errno : bb_write_all(fd, text, len);

	if (!rc)
		rc = bb_descriptor__send(s->child.fd, 0, fd);
	bb_close(&fd);
	/* -EAGAIN means that the child is busy. It will serve a later text. */
	if (!rc || rc == -EAGAIN)
		return 0;
	return bb_fail(err, rc, "%s: %s", s->url,
		       rc == -EPIPE ? "the process that serves it has ended" : strerror(-rc));
}

void bb_http_server__close(struct bb_http_server *s)
{
	bb_child__stop(&s->child);
}
