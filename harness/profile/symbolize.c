/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/symbolize.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/process.h"
#include "base/stop.h"
#include "profile/debug_files.h"
#include "profile/symbolize_child.h"

#define MAX_REQUESTS 16 /* for one file */
#define POLL_MS 100     /* how soon a signal to us is seen that came just before poll() */

/* Take one answer at *at of answers[len]; false at the end, or where the child was stopped in the
 * middle. */
static bool next_answer(const char *answers, size_t len, size_t *at, struct bb_symbol_answer *ret)
{
	if (len - *at < sizeof(*ret))
		return false;
	memcpy(ret, answers + *at, sizeof(*ret));
	if (len - *at - sizeof(*ret) < (size_t)ret->function_len + ret->file_len)
		return false;
	*at += sizeof(*ret);
	return true;
}

/* How much of answers[len] is of files that are done; *place: the first place of the next file. */
static size_t whole_files(const struct bb_symbolize_work *w, const char *answers, size_t len,
			  size_t *place)
{
	size_t at = 0, whole = 0;
	struct bb_symbol_answer a;

	while (next_answer(answers, len, &at, &a)) {
		at += (size_t)a.function_len + a.file_len;
		if (a.place != BB_END_OF_FILE)
			continue;
		whole = at;
		*place = bb_symbolize_work__end_of_file(w, *place);
	}
	return whole;
}

/* The child is not trusted: what it says of one file is of the places of that file. */
static bool is_valid(const struct bb_symbol_answer *a, size_t from, size_t to)
{
	return a->function_len <= BB_MAX_SYMBOL_NAME && a->file_len <= BB_MAX_SYMBOL_NAME &&
	       (a->place == BB_END_OF_FILE || (a->place >= from && a->place < to));
}

/* answers[len] are of whole files, the first of which has the places from `from` on. */
static int deliver(const struct bb_symbolize_work *w, size_t from, const char *answers, size_t len,
		   bb_place_found found, void *arg)
{
	char function[BB_MAX_SYMBOL_NAME + 1], file[BB_MAX_SYMBOL_NAME + 1];
	size_t at = 0, to = bb_symbolize_work__end_of_file(w, from);
	struct bb_symbol_answer a;
	int rc = 0;

	while (!rc && next_answer(answers, len, &at, &a)) {
		struct bb_elf_frame frame = {
			.function = function,
			.file = a.file_len ? file : NULL,
			.line = a.line,
			.start = a.start,
			.distance = a.distance,
			.is_inlined = a.is_inlined,
		};

		if (!is_valid(&a, from, to))
			return -EBADMSG;
		memcpy(function, answers + at, a.function_len);
		function[a.function_len] = '\0';
		memcpy(file, answers + at + a.function_len, a.file_len);
		file[a.file_len] = '\0';
		at += (size_t)a.function_len + a.file_len;
		if (a.place != BB_END_OF_FILE) {
			rc = found(arg, a.place, &frame);
		} else {
			from = to;
			to = bb_symbolize_work__end_of_file(w, from);
		}
	}
	return rc;
}

/* A child at work. */
struct child {
	pid_t pid;
	int socket;
	size_t place;         /* the first of the file that it is at */
	unsigned int asked;   /* for that file */
	uint64_t deadline_ns; /* likewise */
};

static void begin_file(struct child *c, uint32_t file_seconds)
{
	c->asked = 0;
	c->deadline_ns = bb_now_ns() + file_seconds * UINT64_C(1000000000);
}

/* One message of the child. False: it says no more, or nothing sensible. */
static bool serve(const struct bb_symbolize_work *w, struct child *c, uint32_t file_seconds)
{
	struct bb_debug_request request;
	ssize_t n = recv(c->socket, &request, sizeof(request), MSG_DONTWAIT);
	const struct bb_dso *dso;
	int fd, rc;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n != sizeof(request) || c->place == w->n)
		return false;
	if (request.kind == BB_DEBUG_NEXT) {
		c->place = bb_symbolize_work__end_of_file(w, c->place);
		begin_file(c, file_seconds);
		return true;
	}
	if (++c->asked > MAX_REQUESTS)
		return false;
	dso = &w->dsos->v[w->places[c->place].dso];
	fd = bb_debug_file__open(&request, dso->path, dso->fd);
	rc = bb_debug_file__answer(c->socket, fd);
	if (fd >= 0)
		close(fd);
	return !rc;
}

/* Until the child is done, does not keep to what it may do, takes too long for a file, or we are
 * asked to stop: -EINTR. */
static int attend(const struct bb_symbolize_work *w, struct child *c, uint32_t file_seconds)
{
	struct pollfd p = {.fd = c->socket, .events = POLLIN};
	sig_atomic_t stop = bb_stop_signal; /* Ctrl-C ended the sampling: that one is done with */

	begin_file(c, file_seconds);
	while (bb_now_ns() < c->deadline_ns) {
		int n = poll(&p, 1, POLL_MS);

		if (bb_stop_signal != stop)
			return -EINTR;
		if (n > 0 && !serve(w, c, file_seconds))
			return 0;
	}
	return 0;
}

static int run_child(const struct bb_symbolize_work *w, size_t from, int out_fd,
		     uint32_t file_seconds)
{
	struct child c = {.place = from};
	pid_t parent = getpid();
	int sockets[2], rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	c.socket = sockets[0];
	c.pid = fork();
	if (c.pid == 0)
		bb_symbolize_child__run(w, from, out_fd, sockets[1], parent);
	rc = c.pid < 0 ? -errno : 0;
	close(sockets[1]);
	if (!rc) {
		rc = attend(w, &c, file_seconds);
		kill(c.pid, SIGKILL); /* if it is still there */
		bb_wait_for(c.pid);
	}
	close(c.socket);
	return rc;
}

/* Run a child over the places from *place on, and deliver what it could do; *place is then the
 * first it could not. */
static int run_once(const struct bb_symbolize_work *w, size_t *place, uint32_t file_seconds,
		    bb_place_found found, void *arg)
{
	int fd = memfd_create("bpfbench-symbols", MFD_CLOEXEC), rc = fd < 0 ? -errno : 0;
	size_t from = *place, len = 0, whole;
	char path[64], *answers = NULL;

	if (!rc)
		rc = run_child(w, from, fd, file_seconds);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!rc)
		rc = bb_read_file(path, SIZE_MAX, &answers, &len, NULL);
	if (!rc) {
		whole = whole_files(w, answers, len, place);
		rc = deliver(w, from, answers, whole, found, arg);
	}
	free(answers);
	if (fd >= 0)
		close(fd);
	return rc;
}

static void note_damaged(const struct bb_dso *dso, struct bb_symbolize_result *r)
{
	size_t len = strlen(r->damaged);

	snprintf(r->damaged + len, sizeof(r->damaged) - len, "%s%s", len ? ", " : "",
		 bb_dso__short_name(dso));
	r->n_damaged++;
}

int bb_symbolize(const struct bb_dsos *dsos, const struct bb_code_place *places, size_t n,
		 uint32_t file_seconds, bb_place_found found, void *arg,
		 struct bb_symbolize_result *ret_result, struct bb_err *err)
{
	struct bb_symbolize_work w = {.dsos = dsos, .places = places, .n = n};
	struct bb_symbolize_result result = {0};
	size_t place = 0;
	int rc = 0;

	w.depths = calloc(dsos->n + 1, sizeof(*w.depths));
	if (!w.depths)
		return bb_fail_nomem(err);
	for (size_t i = 0; i < dsos->n; i++)
		w.depths[i] = BB_ELF_DWARF;
	while (!rc && place < n) {
		rc = run_once(&w, &place, file_seconds, found, arg);
		if (rc || place == n)
			break;
		if (w.depths[places[place].dso] == BB_ELF_DWARF)
			note_damaged(&dsos->v[places[place].dso], &result);
		if (w.depths[places[place].dso] == BB_ELF_NOTHING)
			rc = -EIO; /* the child fails on nothing: not the file's fault */
		else
			w.depths[places[place].dso]--;
	}
	free(w.depths);
	if (rc == -EINTR)
		return bb_fail(err, rc, "stopped by signal %d (%s) while looking up symbols",
			       (int)bb_stop_signal, strsignal(bb_stop_signal));
	if (rc)
		return bb_fail(err, rc, "cannot look up symbols: %s", strerror(-rc));
	*ret_result = result;
	return 0;
}
