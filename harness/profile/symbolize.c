/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/symbolize.h"

#include <errno.h>
#include <libiberty/demangle.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/stop.h"
#include "profile/symtab.h"

#define MAX_MANGLED 4096u /* libiberty keeps some 30 bytes for each byte of it on the stack */

struct text {
	char *text;
	size_t len, size;
	jmp_buf is_full;
};

/* libiberty cannot be told to stop. It has nothing allocated while it calls this, but for a part of
 * a Rust name in Punycode. */
static void append_piece(const char *piece, size_t len, void *arg)
{
	struct text *t = arg;

	if (len >= t->size - t->len)
		longjmp(t->is_full, 1);
	if (len) /* of nothing, libiberty gives no address */
		memcpy(t->text + t->len, piece, len);
	t->len += len;
}

bool bb_demangle(const char *name, char *ret_text, size_t size)
{
	struct text t = {.text = ret_text, .size = size};

	if ((strncmp(name, "_Z", 2) && strncmp(name, "_R", 2)) ||
	    strnlen(name, MAX_MANGLED) == MAX_MANGLED)
		return false;
	if (setjmp(t.is_full))
		return false;
	/* A legacy name of Rust is one of C++, too: Rust comes first. */
	if (!rust_demangle_callback(name, DMGL_NO_OPTS, append_piece, &t)) {
		t.len = 0;
		if (!cplus_demangle_v3_callback(name, DMGL_NO_OPTS, append_piece, &t))
			return false;
	}
	if (!t.len)
		return false;
	ret_text[t.len] = '\0';
	return true;
}

/*
 * The process that reads other people's files. It gives all its rights up first (base/child.h),
 * then answers for one file after the other into `out_fd`: for each place that it knows, struct
 * symbol_answer for each function there, followed by its strings; after the last of a file, one
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
	size_t at;                 /* the first place of the file that the child is at */
	uint64_t file_ns;          /* for each file */
	enum bb_elf_depth *depths; /* for each dso */
	int out_fd;
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

/* In the child; debug files are asked for over `socket`. */
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

static int run_symbolizer(void *arg, int socket)
{
	const struct work *w = arg;
	struct itimerval limit = {.it_value = {.tv_sec = FILE_CPU_SECONDS}};
	FILE *out = fdopen(w->out_fd, "w");

	if (!out)
		return 1;
	for (size_t from = w->at, to; from < w->n; from = to) {
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
 * Hand over what answers[len] say of the places from `from` up to w->at, which are of whole files.
 * The child is not trusted: what it says of one file is of the places of that file.
 */
static int deliver_answers(const struct work *w, size_t from, const char *answers, size_t len,
			   bb_place_found found, void *arg)
{
	char function[MAX_SYMBOL_NAME + 1], file[MAX_SYMBOL_NAME + 1];
	const char *at = answers, *end = answers + len;
	size_t next_file = end_of_file(w, from);
	struct symbol_answer a;
	int rc = 0;

	while (!rc && from < w->at && (size_t)(end - at) >= sizeof(a)) {
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

/* One message of the child, which has asked *asked times for the file that it is at. False: it
 * says no more, or nothing sensible. */
static bool serve_message(struct work *w, int socket, unsigned int *asked, uint64_t *deadline_ns)
{
	struct bb_debug_request request;
	ssize_t n = recv(socket, &request, sizeof(request), MSG_DONTWAIT);
	const struct bb_dso *dso;
	int fd, rc;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n != sizeof(request) || w->at == w->n)
		return false;
	if (request.kind == BB_DEBUG_NEXT) {
		w->at = end_of_file(w, w->at);
		*asked = 0;
		*deadline_ns = bb_now_ns() + w->file_ns;
		return true;
	}
	if (++*asked > MAX_REQUESTS)
		return false;
	dso = &w->dsos->v[w->places[w->at].dso];
	fd = bb_debug_file__open(&request, dso->path, dso->fd);
	rc = bb_descriptor__send(socket, 0, fd);
	if (fd >= 0)
		close(fd);
	return !rc;
}

/*
 * Run a child over the places from w->at on, until it is done, does not keep to what it may do,
 * takes too long for a file, or we are asked to stop: -EINTR. w->at is then the first of a file
 * that it did not get done.
 */
static int run_child(struct work *w)
{
	uint64_t deadline_ns = bb_now_ns() + w->file_ns;
	sig_atomic_t stop = bb_stop_signal; /* that ended the sampling: it is done with */
	struct bb_child_rules rules = {
		.link = BB_LINK_SOCKET,
		.no_core = true,
		.before = limit_resources,
		.keep = malloc((w->dsos->n + 1) * sizeof(*rules.keep)),
		.confinement = BB_CONFINED,
	};
	struct pollfd p = {.events = POLLIN};
	struct bb_child child;
	unsigned int asked = 0;
	int n = 0, rc;

	if (!rules.keep)
		return -ENOMEM;
	for (size_t i = 0; i < w->dsos->n; i++)
		rules.keep[rules.n_keep++] = w->dsos->v[i].fd;
	rules.keep[rules.n_keep++] = w->out_fd;
	rc = bb_child__start(&rules, run_symbolizer, w, &child);
	free(rules.keep);
	if (rc)
		return rc;
	p.fd = child.fd;
	while (!rc && bb_now_ns() < deadline_ns &&
	       (n <= 0 || serve_message(w, p.fd, &asked, &deadline_ns))) {
		n = poll(&p, 1, POLL_MS);
		rc = bb_stop_signal != stop ? -EINTR : 0;
	}
	bb_child__stop(&child); /* if it is still there */
	return rc;
}

/* The same, and deliver what it could do. */
static int run_once(struct work *w, bb_place_found found, void *arg)
{
	size_t from = w->at, len = 0;
	char *answers = NULL;
	int rc;

	w->out_fd = memfd_create("bpfbench-symbols", MFD_CLOEXEC);
	if (w->out_fd < 0)
		return -errno;
	rc = run_child(w);
	if (rc) {
		close(w->out_fd);
		return rc;
	}
	lseek(w->out_fd, 0, SEEK_SET);
	rc = bb_read_and_close(w->out_fd, "symbols", SIZE_MAX, &answers, &len, NULL);
	if (!rc)
		rc = deliver_answers(w, from, answers, len, found, arg);
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
	int rc = 0;

	w.depths = calloc(dsos->n + 1, sizeof(*w.depths));
	if (!w.depths)
		return bb_fail_nomem(err);
	for (size_t i = 0; i < dsos->n; i++)
		w.depths[i] = BB_ELF_DWARF;
	while (!rc && w.at < n) {
		const struct bb_dso *dso;
		enum bb_elf_depth *depth;
		size_t len = strlen(result.damaged);

		rc = run_once(&w, found, arg);
		if (rc || w.at == n)
			break;
		dso = &dsos->v[places[w.at].dso];
		depth = &w.depths[places[w.at].dso];
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
