/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/symbolize.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/child.h"
#include "base/io.h"
#include "base/child.h"
#include "base/stop.h"
#include "profile/debug_files.h"
#include "profile/names.h"

/*
 * The process that reads other people's files. It gives all its rights up first (base/child.h),
 * then answers for one file after the other into `out_fd`: for each place that it knows, struct
 * bb_symbol_answer for each function there, followed by its strings; after the last of a file, one
 * with `place` END_OF_FILE. In native byte order.
 */
#define END_OF_FILE UINT32_MAX
#define MAX_SYMBOL_NAME 4096u

struct symbol_answer {
	uint32_t place, line;
	uint64_t start, distance;
	uint16_t function_len, file_len; /* file_len 0: not known */
	uint32_t is_inlined;
};

struct work {
	const struct bb_dsos *dsos;
	const struct bb_code_place *places;
	size_t n;
	uint64_t file_ns;          /* for each file */
	enum bb_elf_depth *depths; /* for each dso */
};

#define FILE_CPU_SECONDS 30 /* for one file */
#define MAX_ANSWER_BYTES ((rlim_t)1 << 30)
/* address space beyond what we have already, most of it mapped files */
#define MEMORY_BYTES (UINT64_C(16) << 30)

/* The first place after `from` that is in another file. */
static size_t end_of_file(const struct work *w, size_t from)
{
	size_t to = from;

	while (to < w->n && w->places[to].dso == w->places[from].dso)
		to++;
	return to;
}

/* What has been demangled, in one file: most places are in functions that others are in, too. */
struct demangled {
	struct bb_names names;
	struct bb_idmap by_name; /* (where the mangled one is, 0) */
};

/* As the source has it; NULL has no name. Valid until the next. */
static const char *source_name(struct demangled *d, const char *name)
{
	uint64_t key = (uint64_t)(uintptr_t)name;
	uint32_t id = bb_idmap__get(&d->by_name, key, 0);
	char text[MAX_SYMBOL_NAME + 1];

	if (!name)
		return "";
	if (id != BB_NO_ID)
		return bb_names__text(&d->names, id);
	if (!bb_demangle(name, text, sizeof(text)) ||
	    bb_names__add(&d->names, text, strlen(text), &id) ||
	    bb_idmap__put(&d->by_name, key, 0, id))
		return name;
	return bb_names__text(&d->names, id);
}

static void answer_file(const struct work *w, size_t from, size_t to, int socket, FILE *out)
{
	const struct bb_dso *dso = &w->dsos->v[w->places[from].dso];
	struct symbol_answer end = {.place = END_OF_FILE};
	enum bb_elf_depth depth = w->depths[w->places[from].dso];
	struct bb_elf_frame frames[BB_ELF_MAX_FRAMES];
	struct bb_elf_symbols *symbols = NULL;
	struct demangled demangled = {0};
	uint64_t address;

	if (depth != BB_ELF_NOTHING && dso->fd >= 0)
		symbols = bb_elf_symbols__open(dso->fd, depth, socket);
	for (size_t place = from; symbols && place < to; place++) {
		size_t n = bb_elf_symbols__address(symbols, w->places[place].offset, &address)
				   ? bb_elf_symbols__find(symbols, address, frames)
				   : 0;

		for (size_t i = 0; i < n; i++) {
			const char *function = source_name(&demangled, frames[i].function);
			const char *file = frames[i].file ? frames[i].file : "";
			struct symbol_answer a = {
				.place = (uint32_t)place,
				.line = frames[i].line,
				.start = frames[i].start,
				.function_len = (uint16_t)strnlen(function, MAX_SYMBOL_NAME),
				.file_len = (uint16_t)strnlen(file, MAX_SYMBOL_NAME),
				.is_inlined = frames[i].is_inlined,
				.distance = frames[i].distance,
			};

			fwrite(&a, sizeof(a), 1, out);
			fwrite(function, a.function_len, 1, out);
			fwrite(file, a.file_len, 1, out);
		}
	}
	bb_elf_symbols__free(symbols);
	bb_names__done(&demangled.names);
	bb_idmap__done(&demangled.by_name);
	fwrite(&end, sizeof(end), 1, out);
}

/* The child's part. */
struct symbolizer {
	const struct work *w;
	size_t from; /* the first place */
	int out_fd;
};

static int limit_resources(void *arg)
{
	struct rlimit answer;

	(void)arg;
	/* Ctrl-C ends the sampling; what was sampled is still to be shown */
	signal(SIGINT, SIG_IGN);
	if (!getrlimit(RLIMIT_FSIZE, &answer) && answer.rlim_cur > MAX_ANSWER_BYTES) {
		answer.rlim_cur = MAX_ANSWER_BYTES;
		setrlimit(RLIMIT_FSIZE, &answer);
	}
	bb_confine_memory(MEMORY_BYTES);
	return 0;
}

/* Debug files are asked for over `socket`. */
static int run_symbolizer(void *arg, int socket)
{
	const struct symbolizer *s = arg;
	const struct work *w = s->w;
	struct itimerval limit = {.it_value = {.tv_sec = FILE_CPU_SECONDS}};
	FILE *out = fdopen(s->out_fd, "w");

	if (!out)
		return 1;
	for (size_t from = s->from, to; from < w->n; from = to) {
		to = end_of_file(w, from);
		setitimer(ITIMER_PROF, &limit, NULL);
		answer_file(w, from, to, socket, out);
		/* Files that are done are done, whatever the next does to us. */
		if (fflush(out) || bb_debug_file__ask(socket, BB_DEBUG_NEXT, ""))
			return 1;
	}
	return 0;
}

#define MAX_REQUESTS 16 /* for one file */
#define POLL_MS 100     /* how soon a signal to us is seen that came just before poll() */

/*
 * Hand over what answers[len] say of the places from `from` up to `to`, which are of whole files.
 * The child is not trusted: what it says of one file is of the places of that file.
 */
static int deliver_answers(const struct work *w, size_t from, size_t to, const char *answers,
			   size_t len, bb_place_found found, void *arg)
{
	char function[MAX_SYMBOL_NAME + 1], file[MAX_SYMBOL_NAME + 1];
	const char *at = answers, *end = answers + len;
	size_t next_file = end_of_file(w, from);
	struct symbol_answer a;
	int rc = 0;

	while (!rc && from < to && (size_t)(end - at) >= sizeof(a)) {
		struct bb_elf_frame frame = {.function = function};

		memcpy(&a, at, sizeof(a));
		at += sizeof(a);
		if (a.place == END_OF_FILE) {
			from = next_file;
			next_file = end_of_file(w, from);
			continue;
		}
		if (a.function_len > MAX_SYMBOL_NAME || a.file_len > MAX_SYMBOL_NAME ||
		    a.place < from || a.place >= next_file ||
		    end - at < a.function_len + a.file_len)
			return -EBADMSG;
		memcpy(function, at, a.function_len);
		function[a.function_len] = '\0';
		memcpy(file, at + a.function_len, a.file_len);
		file[a.file_len] = '\0';
		at += a.function_len + a.file_len;
		frame.file = a.file_len ? file : NULL;
		frame.line = a.line;
		frame.start = a.start;
		frame.distance = a.distance;
		frame.is_inlined = a.is_inlined;
		rc = found(arg, a.place, &frame);
	}
	return rc;
}

/* A child at work. */
struct child {
	int socket;
	size_t place;         /* the first of the file that it is at */
	unsigned int asked;   /* for that file */
	uint64_t deadline_ns; /* likewise */
};

/* One message of the child. False: it says no more, or nothing sensible. */
static bool serve_message(const struct work *w, struct child *c)
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
		c->place = end_of_file(w, c->place);
		c->asked = 0;
		c->deadline_ns = bb_now_ns() + w->file_ns;
		return true;
	}
	if (++c->asked > MAX_REQUESTS)
		return false;
	dso = &w->dsos->v[w->places[c->place].dso];
	fd = bb_debug_file__open(&request, dso->path, dso->fd);
	rc = bb_descriptor__send(c->socket, 0, fd);
	if (fd >= 0)
		close(fd);
	return !rc;
}

/*
 * Run a child over the places from *place on, until it is done, does not keep to what it may do,
 * takes too long for a file, or we are asked to stop: -EINTR. *place is then the first of a file
 * that it did not get done.
 */
static int run_child(const struct work *w, size_t *place, int out_fd)
{
	struct symbolizer s = {w, *place, out_fd};
	struct child c = {.place = *place, .deadline_ns = bb_now_ns() + w->file_ns};
	sig_atomic_t stop = bb_stop_signal; /* that ended the sampling: it is done with */
	struct bb_child_rules rules = {
		.link = BB_LINK_SOCKET,
		.no_core = true,
		.before = limit_resources,
		.keep = malloc((w->dsos->n + 1) * sizeof(*rules.keep)),
		.confinement = BB_CONFINED,
	};
	struct bb_child child;
	struct pollfd p = {.events = POLLIN};
	int n = 0, rc;

	if (!rules.keep)
		return -ENOMEM;
	for (size_t i = 0; i < w->dsos->n; i++)
		rules.keep[rules.n_keep++] = w->dsos->v[i].fd;
	rules.keep[rules.n_keep++] = out_fd;
	rc = bb_child__start(&rules, run_symbolizer, &s, &child);
	free(rules.keep);
	if (rc)
		return rc;
	p.fd = c.socket = child.fd;
	while (!rc && bb_now_ns() < c.deadline_ns && (n <= 0 || serve_message(w, &c))) {
		n = poll(&p, 1, POLL_MS);
		rc = bb_stop_signal != stop ? -EINTR : 0;
	}
	bb_child__stop(&child); /* if it is still there */
	*place = c.place;
	return rc;
}

/* The same, and deliver what it could do. */
static int run_once(const struct work *w, size_t *place, bb_place_found found, void *arg)
{
	int fd = memfd_create("bpfbench-symbols", MFD_CLOEXEC), rc = fd < 0 ? -errno : 0;
	size_t from = *place, len = 0;
	char *answers = NULL;

	if (rc)
		return rc;
	rc = run_child(w, place, fd);
	if (rc) {
		close(fd);
		return rc;
	}
	lseek(fd, 0, SEEK_SET);
	rc = bb_read_and_close(fd, "symbols", SIZE_MAX, &answers, &len, NULL);
	if (!rc)
		rc = deliver_answers(w, from, *place, answers, len, found, arg);
	free(answers);
	return rc;
}

int bb_symbolize(const struct bb_dsos *dsos, const struct bb_code_place *places, size_t n,
		 uint32_t file_seconds, bb_place_found found, void *arg,
		 struct bb_symbolize_result *ret_result, struct bb_err *err)
{
	struct work w = {.dsos = dsos,
			 .places = places,
			 .n = n,
			 .file_ns = file_seconds * UINT64_C(1000000000)};
	struct bb_symbolize_result result = {0};
	size_t place = 0;
	int rc = 0;

	w.depths = calloc(dsos->n + 1, sizeof(*w.depths));
	if (!w.depths)
		return bb_fail_nomem(err);
	for (size_t i = 0; i < dsos->n; i++)
		w.depths[i] = BB_ELF_DWARF;
	while (!rc && place < n) {
		const struct bb_dso *dso;
		enum bb_elf_depth *depth;
		size_t len = strlen(result.damaged);

		rc = run_once(&w, &place, found, arg);
		if (rc || place == n)
			break;
		dso = &dsos->v[places[place].dso];
		depth = &w.depths[places[place].dso];
		if (*depth == BB_ELF_DWARF) {
			snprintf(result.damaged + len, sizeof(result.damaged) - len, "%s%s",
				 len ? ", " : "", bb_dso__short_name(dso));
			result.n_damaged++;
		}
		if (*depth == BB_ELF_NOTHING)
			rc = -EIO; /* it has read nothing of the file and failed all the same */
		else
			*depth = (enum bb_elf_depth)(*depth - 1);
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
