/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#define TEXT(of) (of), sizeof(of) - 1

static const struct timeval patience = {.tv_sec = 1};

static struct sockaddr_in at(uint32_t addr)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(BB_HTTP_PORT),
				    .sin_addr = {htonl(addr)}};
}

bool bb_http_is_ok(const char *answer, size_t len)
{
	return len >= 12 && !memcmp(answer, TEXT("HTTP/1.")) && !memcmp(answer + 8, TEXT(" 200"));
}

bool bb_http_is_whole(const char *request, size_t len)
{
	return memmem(request, len, TEXT("\r\n\r\n")) != NULL;
}

static int set_patience(int fd)
{
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
		       sizeof(patience))) /* which connect() heeds, too */
		return -errno;
	return 0;
}

int bb_http__listen(uint32_t addr, int *ret_fd)
{
	const struct sockaddr_in here = at(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&here, sizeof(here)) || listen(fd, SOMAXCONN)) {
		rc = -errno;
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

/* Read the request to its end, answer, and close first: the connection's last state, TIME_WAIT, is
 * the server's then. */
static void answer(int fd)
{
	char request[1024];
	size_t len = 0;
	ssize_t n = set_patience(fd) ? -1 : 1;

	while (n > 0 && len < sizeof(request) && !bb_http_is_whole(request, len)) {
		n = recv(fd, request + len, sizeof(request) - len, 0);
		len += n > 0 ? (size_t)n : 0;
	}
	if (bb_http_is_whole(request, len))
		send(fd, TEXT("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nok\n"), MSG_NOSIGNAL);
	close(fd);
}

void bb_http__serve(int listen_fd, int control_fd)
{
	struct pollfd fds[] = {{.fd = listen_fd, .events = POLLIN},
			       {.fd = control_fd, .events = POLLIN}};

	while (!fds[1].revents) {
		int fd = poll(fds, 2, -1) > 0 && fds[0].revents ? accept(listen_fd, NULL, NULL)
								: -1;

		if (fd >= 0)
			answer(fd);
	}
}

/* All that comes until the other side closes, as far as there is room. */
static int read_answer(int fd)
{
	char text[1024];
	size_t len = 0;
	ssize_t n;

	do {
		n = recv(fd, text + len, sizeof(text) - len, 0);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0 && len < sizeof(text));
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	return bb_http_is_ok(text, len) ? 0 : -EPROTO;
}

int bb_http__get(uint32_t addr)
{
	const struct sockaddr_in there = at(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	rc = set_patience(fd);
	if (!rc && connect(fd, (const struct sockaddr *)&there, sizeof(there)))
		rc = errno == EINPROGRESS ? -ETIMEDOUT : -errno; /* what a timeout here is called */
	if (!rc && send(fd, TEXT("GET / HTTP/1.0\r\n\r\n"), MSG_NOSIGNAL) < 0)
		rc = -errno;
	if (!rc)
		rc = read_answer(fd);
	close(fd);
	return rc;
}
