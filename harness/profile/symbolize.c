/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/symbolize.h"

#include <libiberty/demangle.h>
#include <setjmp.h>

#include "base/child.h"
#include "base/io.h"
#include "base/deadline.h"
#include "base/text.h"

/* libiberty uses about 30 bytes of stack for each byte of a mangled name */
#define MAX_MANGLED 4096u

/* A demangled name while it is written to text[size]. */
struct text {
	char *text;
	size_t len, size;
	jmp_buf is_full;
};

/* libiberty offers no way to stop it, so we jump out of it when the room is used up. This leaks a
 * part of the name, and only for a Rust name in Punycode. */
static void append_piece(const char *piece, size_t len, void *arg)
{
	struct text *t = arg;

	if (len >= t->size - t->len)
		longjmp(t->is_full, 1);
	if (len) /* for an empty piece, libiberty passes no address */
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
	/* Try Rust first, because a legacy Rust name is also a valid C++ name. */
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

/* The child process that reads the untrusted file, without any rights (base/child.h). For each
 * function it writes a struct symbol_answer and two texts to `out_fd`. It ends with the location
 * END_OF_FILE. Without this answer, the child has failed. */
#define END_OF_FILE UINT32_MAX
#define MAX_SYMBOL_NAME 4096u

struct symbol_answer {
	uint32_t location, line;
	uint64_t start, distance;
	/* lengths of the two texts: the function's name, and its source file (0 if unknown) */
	uint16_t function_len, file_len;
	uint32_t is_inlined;
};

/* One file, and the child that reads it. */
struct work {
	const struct bb_dso *dso;
	/* all locations; those in this file have the indexes [from, to) */
	const struct bb_code_location *locations;
	size_t from, to;
	enum bb_elf_depth depth;
	struct bb_child child;
	int out_fd;
	uint64_t deadline_ns;
	unsigned int n_requests; /* number of debug files that the child has asked for */
};

#define FILE_CPU_SECONDS 30
#define MAX_ANSWER_BYTES ((rlim_t)1 << 30)
/* growth of the child's address space, most of which is mapped files */
#define MEMORY_BYTES (UINT64_C(16) << 30)

/* Demangled names of one file, kept because many locations lie in the same functions. */
struct demangled {
	struct bb_names names;
	struct bb_idmap by_name; /* (address of the mangled name, 0) -> number in `names` */
};

/* Returns the demangled name, or `name` itself if it is not mangled, or "" if `name` is NULL. The
 * result is valid until the next call. */
static const char *source_name(struct demangled *d, const char *name)
{
	uint64_t key = (uint64_t)(uintptr_t)name;
	uint32_t id = bb_idmap__get(&d->by_name, key, 0);
	char text[MAX_SYMBOL_NAME + 1];

	if (!name)
		return "";
	if (id != BB_NO_ID)
		return bb_names__text(&d->names, id);
	if (!bb_demangle(name, text, sizeof(text)))
		return name;
	id = bb_names__add(&d->names, text, strlen(text));
	bb_idmap__put(&d->by_name, key, 0, id);
	return bb_names__text(&d->names, id);
}

static int limit_resources(void *)
{
	struct rlimit answer;

	/* Ctrl-C ends the sampling, but must not end the look-up of symbols that follows it */
	signal(SIGINT, SIG_IGN);
	if (!getrlimit(RLIMIT_FSIZE, &answer) && answer.rlim_cur > MAX_ANSWER_BYTES) {
		answer.rlim_cur = MAX_ANSWER_BYTES;
		setrlimit(RLIMIT_FSIZE, &answer);
	}
	return 0;
}

/* Runs in the child. Looks up the locations, writes the answers, and asks for debug files. */
static int answer_file(void *arg, int socket)
{
	const struct work *w = arg;
	const struct itimerval limit = {.it_value = {.tv_sec = FILE_CPU_SECONDS}};
	struct symbol_answer end = {.location = END_OF_FILE};
	struct bb_elf_frame frames[BB_ELF_MAX_FRAMES];
	struct demangled demangled = {0};
	FILE *out = fdopen(w->out_fd, "w");
	uint64_t address;

	setitimer(ITIMER_PROF, &limit, NULL);
	struct bb_elf_symbols *symbols = bb_elf_symbols__open(w->dso->fd, w->depth, socket);
	for (size_t location = w->from; out && symbols && location < w->to; location++) {
		size_t n = bb_elf_symbols__address(symbols, w->locations[location].offset, &address)
				   ? bb_elf_symbols__find(symbols, address, frames)
				   : 0;

		for (size_t i = 0; i < n; i++) {
			const char *function = source_name(&demangled, frames[i].function);
			const char *file = frames[i].file ? frames[i].file : "";
			struct symbol_answer a = {
				.location = (uint32_t)location,
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
	if (!out || fwrite(&end, sizeof(end), 1, out) != 1 || fflush(out))
		return 1;
	return 0;
}

/* children at a time; on one CPU, each still gets FILE_CPU_SECONDS within BB_SYMBOLIZE_SECONDS */
#define N_CHILDREN 3u
#define MAX_REQUESTS 16u
#define POLL_MS 100 /* A signal that came just before a poll() is noticed after this time. */

/* Returns false if the child has closed the socket, or has sent anything but a request. */
static bool serve_message(struct work *w)
{
	struct bb_debug_request request;
	ssize_t n = recv(w->child.fd, &request, sizeof(request), MSG_DONTWAIT);
	int fd, rc;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n != sizeof(request) || w->n_requests++ >= MAX_REQUESTS)
		return false;
	fd = bb_debug_file__open(&request, w->dso->path, w->dso->fd);
	rc = bb_descriptor__send(w->child.fd, 0, fd);
	bb_close(&fd);
	return !rc;
}

static int start_child(struct work *w, uint32_t seconds)
{
	struct bb_child_rules rules = {
		.link = BB_LINK_SOCKET,
		.no_core = true,
		.before = limit_resources,
		.more_bytes = MEMORY_BYTES,
		.n_keep = 2,
		.confinement = BB_CONFINED,
	};

	w->n_requests = 0;
	w->deadline_ns = bb_now_ns() + seconds * UINT64_C(1000000000);
	w->out_fd = memfd_create("bpfbench-symbols", MFD_CLOEXEC);
	if (w->out_fd < 0)
		return -errno;
	rules.keep = (int[]){w->dso->fd, w->out_fd};
	int rc = bb_child__start(&rules, answer_file, w, &w->child);
	if (rc)
		bb_close(&w->out_fd);
	return rc;
}

/* Waits for messages of the children, and answers requests for debug files. Stops and reaps a child
 * that has ended, breaks the rules of the socket or takes too long. */
static void attend(struct work *works, size_t n)
{
	struct pollfd p[N_CHILDREN];

	for (size_t i = 0; i < n; i++) /* poll() ignores the -1 of a stopped child */
		p[i] = (struct pollfd){.fd = works[i].child.fd, .events = POLLIN};
	poll(p, n, POLL_MS);
	for (size_t i = 0; i < n; i++)
		if ((p[i].revents && !serve_message(&works[i])) ||
		    bb_now_ns() >= works[i].deadline_ns)
			bb_child__stop(&works[i].child);
}

/* The child is untrusted, so each location must be in the file that it had to read. */
static int deliver_answers(const struct work *w, const char *answers, size_t len,
			   bb_location_found found, void *arg)
{
	char function[MAX_SYMBOL_NAME + 1], file[MAX_SYMBOL_NAME + 1];
	const char *at = answers, *end = answers + len;
	struct symbol_answer a;
	int rc = 0;

	while (!rc && (size_t)(end - at) >= sizeof(a)) {
		struct bb_elf_frame frame = {.function = function};

		memcpy(&a, at, sizeof(a));
		at += sizeof(a);
		if (a.function_len > MAX_SYMBOL_NAME || a.file_len > MAX_SYMBOL_NAME ||
		    a.location < w->from || a.location >= w->to ||
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
		rc = found(arg, a.location, &frame);
	}
	return rc;
}

/* Delivers the answers of a child that has ended. *ret_done is false if the child failed, and then
 * `found` was not called. */
static int finish(struct work *w, bb_location_found found, void *arg, bool *ret_done)
{
	struct symbol_answer last;
	char *answers;
	size_t len;

	lseek(w->out_fd, 0, SEEK_SET);
	int rc = bb_read_and_close(w->out_fd, SIZE_MAX, &answers, &len);
	w->out_fd = -1;
	if (rc)
		return rc;
	*ret_done = len >= sizeof(last);
	if (*ret_done) {
		len -= sizeof(last);
		memcpy(&last, answers + len, sizeof(last));
		*ret_done = last.location == END_OF_FILE;
	}
	if (*ret_done)
		rc = deliver_answers(w, answers, len, found, arg);
	free(answers);
	return rc;
}

int bb_symbolize(const struct bb_dsos *dsos, const struct bb_code_location *locations, size_t n,
		 uint32_t file_seconds, bb_location_found found, void *arg,
		 struct bb_symbolize_result *ret_result, struct bb_err *err)
{
	struct bb_symbolize_result result = {0};
	struct work works[N_CHILDREN], *first = works;
	size_t n_works = 0, from = 0;
	/* an earlier signal ended the sampling; only a new one ends the look-up */
	sig_atomic_t stop = bb_stop_signal;
	bool is_done;
	int rc = 0;

	while (!rc && (from < n || n_works)) {
		if (from < n && n_works < N_CHILDREN) {
			struct work *w = &works[n_works];

			*w = (struct work){.dso = &dsos->v[locations[from].dso],
					   .locations = locations,
					   .from = from,
					   .depth = BB_ELF_DWARF};
			while (from < n && locations[from].dso == locations[w->from].dso)
				from++;
			w->to = from;
			rc = w->dso->fd < 0 ? 0 : start_child(w, file_seconds);
			n_works += w->child.pid > 0;
			continue;
		}
		if (first->child.pid > 0) { /* deliver the files in their order */
			attend(works, n_works);
			rc = bb_stop_signal != stop ? -EINTR : 0;
			continue;
		}
		rc = finish(first, found, arg, &is_done);
		if (!rc && !is_done && first->depth == BB_ELF_DWARF) {
			bb_list_words(result.damaged, sizeof(result.damaged), ", ", "%s",
				      bb_dso__short_name(first->dso));
			result.n_damaged++;
			first->depth = BB_ELF_SYMBOLS; /* the second and last try */
			rc = start_child(first, file_seconds);
			continue;
		}
		memmove(works, works + 1, --n_works * sizeof(*works));
	}
	for (size_t i = 0; i < n_works; i++) {
		bb_child__stop(&works[i].child);
		bb_close(&works[i].out_fd);
	}
	if (rc == -EINTR)
		return bb_fail_stopped(err, " while looking up symbols", "");
	if (rc)
		return bb_fail(err, rc, "cannot look up symbols: %m");
	*ret_result = result;
	return 0;
}
