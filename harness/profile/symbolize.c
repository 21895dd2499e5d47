/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/symbolize.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/parse.h"
#include "profile/demangle.h"
#include "profile/names.h"

#define FILE_SECONDS 30 /* CPU time for one file */
#define MEMORY_BYTES                                                                               \
	(UINT64_C(16)                                                                              \
	 << 30) /* address space beyond what we have already, most of it mapped files */
#define MAX_NAME 4096u

/*
 * The child's answer: for each place that it knows, `struct answer` for each function there,
 * followed by its strings; after the last of a file, one with `place` END_OF_FILE and the file's
 * number in `distance`. In native byte order: it is a pipe within.
 */
#define END_OF_FILE UINT32_MAX

struct answer {
	uint32_t place, line;
	uint64_t start, distance;
	uint16_t function_len, file_len; /* file_len 0: not known */
	uint32_t is_inlined;
};

struct work {
	const struct bb_dsos *dsos;
	const struct bb_place *places;
	size_t n;
	enum bb_elf_depth *depths; /* for each dso */
};

/* The end of the places in the same file as places[from]. */
static size_t end_of_file(const struct work *w, size_t from)
{
	size_t to = from;

	while (to < w->n && w->places[to].dso == w->places[from].dso)
		to++;
	return to;
}

static uint16_t bounded_len(const char *text)
{
	return text ? (uint16_t)strnlen(text, MAX_NAME) : 0;
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
	char text[MAX_NAME + 1];

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

static void answer_place(struct bb_elf_symbols *symbols, struct demangled *demangled,
			 uint32_t place, uint64_t offset, FILE *out)
{
	struct bb_elf_frame frames[BB_ELF_MAX_FRAMES];
	uint64_t address;
	size_t n;

	if (!bb_elf_symbols__address(symbols, offset, &address))
		return;
	n = bb_elf_symbols__find(symbols, address, frames);
	for (size_t i = 0; i < n; i++) {
		const char *function = source_name(demangled, frames[i].function);
		struct answer a = {
			.place = place,
			.line = frames[i].line,
			.start = frames[i].start,
			.function_len = bounded_len(function),
			.file_len = bounded_len(frames[i].file),
			.is_inlined = frames[i].is_inlined,
			.distance = frames[i].distance,
		};

		fwrite(&a, sizeof(a), 1, out);
		fwrite(function, a.function_len, 1, out);
		if (a.file_len)
			fwrite(frames[i].file, a.file_len, 1, out);
	}
}

static void answer_file(const struct work *w, size_t from, size_t to, FILE *out)
{
	const struct bb_dso *dso = &w->dsos->v[w->places[from].dso];
	struct answer end = {.place = END_OF_FILE, .distance = w->places[from].dso};
	enum bb_elf_depth depth = w->depths[w->places[from].dso];
	struct bb_elf_symbols *symbols = NULL;
	struct demangled demangled = {0};

	if (depth != BB_ELF_NOTHING && (dso->fd >= 0 || dso->is_vdso))
		symbols = bb_elf_symbols__open(dso->path, dso->fd, depth);
	for (size_t i = from; symbols && i < to; i++)
		answer_place(symbols, &demangled, (uint32_t)i, w->places[i].offset, out);
	bb_elf_symbols__free(symbols);
	bb_names__done(&demangled.names);
	bb_idmap__done(&demangled.by_name);
	fwrite(&end, sizeof(end), 1, out);
}

/* Not simply a number: AddressSanitizer begins with terabytes. */
static void limit_memory(void)
{
	struct rlimit limit;
	const char *c;
	uint64_t pages;
	char *text;
	size_t len;

	if (bb_read_proc("/proc/self/statm", 4096, &text, &len, NULL))
		return;
	c = text;
	if (!bb_parse_digits(&c, &pages)) {
		limit.rlim_cur = limit.rlim_max = pages * (uint64_t)sysconf(_SC_PAGESIZE) +
						  MEMORY_BYTES;
		setrlimit(RLIMIT_AS, &limit);
	}
	free(text);
}

/* In the child: never returns. */
static void run_child(const struct work *w, size_t from, int fd, pid_t parent)
{
	struct rlimit no_core = {0};
	struct itimerval limit = {.it_value = {.tv_sec = FILE_SECONDS}};
	FILE *out = fdopen(fd, "w");

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Ctrl-C ends the sampling; what was sampled is still to be shown */
	signal(SIGINT, SIG_IGN);
	setrlimit(RLIMIT_CORE, &no_core);
	limit_memory();
	if (!out || getppid() != parent)
		_exit(1);
	for (size_t to; from < w->n; from = to) {
		to = end_of_file(w, from);
		setitimer(ITIMER_PROF, &limit, NULL);
		answer_file(w, from, to, out);
		fflush(out); /* files that are done are done, whatever the next does to us */
	}
	_exit(ferror(out) ? 1 : 0);
}

/* Take one answer at *at of answers[len]; false at the end, or where the child was stopped in the
 * middle. */
static bool next_answer(const char *answers, size_t len, size_t *at, struct answer *ret)
{
	if (len - *at < sizeof(*ret))
		return false;
	memcpy(ret, answers + *at, sizeof(*ret));
	if (len - *at - sizeof(*ret) < (size_t)ret->function_len + ret->file_len)
		return false;
	*at += sizeof(*ret);
	return true;
}

/* How much of answers[len] is of files that are done; *ret_place: the first place of the next file.
 */
static size_t whole_files(const struct work *w, const char *answers, size_t len, size_t *place)
{
	size_t at = 0, whole = 0;
	struct answer a;

	while (next_answer(answers, len, &at, &a)) {
		at += (size_t)a.function_len + a.file_len;
		if (a.place != END_OF_FILE)
			continue;
		whole = at;
		*place = end_of_file(w, *place);
	}
	return whole;
}

static int deliver(const struct work *w, const char *answers, size_t len, bb_place_found found,
		   void *arg)
{
	char function[MAX_NAME + 1], file[MAX_NAME + 1];
	struct answer a;
	size_t at = 0;
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

		if (a.place != END_OF_FILE &&
		    (a.place >= w->n || a.function_len > MAX_NAME || a.file_len > MAX_NAME))
			return -EBADMSG;
		memcpy(function, answers + at, a.function_len);
		function[a.function_len] = '\0';
		memcpy(file, answers + at + a.function_len, a.file_len);
		file[a.file_len] = '\0';
		at += (size_t)a.function_len + a.file_len;
		if (a.place != END_OF_FILE)
			rc = found(arg, a.place, &frame);
	}
	return rc;
}

/* Run a child over the places from *place on, and deliver what it could do; *place is then the
 * first it could not. */
static int run_once(const struct work *w, size_t *place, bb_place_found found, void *arg)
{
	int fd = memfd_create("bpfbench-symbols", MFD_CLOEXEC), rc = fd < 0 ? -errno : 0;
	pid_t parent = getpid(), pid = rc ? -1 : fork();
	char path[64], *answers = NULL;
	size_t len = 0, whole;

	if (pid == 0)
		run_child(w, *place, fd, parent);
	if (!rc && pid < 0)
		rc = -errno;
	while (!rc && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!rc)
		rc = bb_read_file(path, SIZE_MAX, &answers, &len, NULL);
	if (!rc) {
		whole = whole_files(w, answers, len, place);
		rc = deliver(w, answers, whole, found, arg);
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

int bb_symbolize(const struct bb_dsos *dsos, const struct bb_place *places, size_t n,
		 bb_place_found found, void *arg, struct bb_symbolize_result *ret_result,
		 struct bb_err *err)
{
	struct work w = {.dsos = dsos, .places = places, .n = n};
	struct bb_symbolize_result result = {0};
	size_t place = 0;
	int rc = 0;

	w.depths = calloc(dsos->n + 1, sizeof(*w.depths));
	if (!w.depths)
		return bb_fail_nomem(err);
	for (size_t i = 0; i < dsos->n; i++)
		w.depths[i] = BB_ELF_DWARF;
	while (!rc && place < n) {
		rc = run_once(&w, &place, found, arg);
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
	if (rc)
		return bb_fail(err, rc, "looking up symbols: %s", strerror(-rc));
	*ret_result = result;
	return 0;
}
