/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/symbolize_child.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/confine.h"
#include "profile/debug_files.h"
#include "profile/demangle.h"
#include "profile/names.h"

#define FILE_CPU_SECONDS 30 /* for one file */
#define MAX_ANSWER_BYTES ((rlim_t)1 << 30)
/* address space beyond what we have already, most of it mapped files */
#define MEMORY_BYTES (UINT64_C(16) << 30)

size_t bb_symbolize_work__end_of_file(const struct bb_symbolize_work *w, size_t from)
{
	size_t to = from;

	while (to < w->n && w->places[to].dso == w->places[from].dso)
		to++;
	return to;
}

static uint16_t bounded_len(const char *text)
{
	return text ? (uint16_t)strnlen(text, BB_MAX_SYMBOL_NAME) : 0;
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
	char text[BB_MAX_SYMBOL_NAME + 1];

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
		struct bb_symbol_answer a = {
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

static void answer_file(const struct bb_symbolize_work *w, size_t from, size_t to, int socket,
			FILE *out)
{
	const struct bb_dso *dso = &w->dsos->v[w->places[from].dso];
	struct bb_symbol_answer end = {.place = BB_END_OF_FILE};
	enum bb_elf_depth depth = w->depths[w->places[from].dso];
	struct bb_elf_symbols *symbols = NULL;
	struct demangled demangled = {0};

	if (depth != BB_ELF_NOTHING && dso->fd >= 0)
		symbols = bb_elf_symbols__open(dso->fd, depth, socket);
	for (size_t i = from; symbols && i < to; i++)
		answer_place(symbols, &demangled, (uint32_t)i, w->places[i].offset, out);
	bb_elf_symbols__free(symbols);
	bb_names__done(&demangled.names);
	bb_idmap__done(&demangled.by_name);
	fwrite(&end, sizeof(end), 1, out);
}

static void limit_resources(void)
{
	struct rlimit none = {0}, answer;

	setrlimit(RLIMIT_CORE, &none);
	if (!getrlimit(RLIMIT_FSIZE, &answer) && answer.rlim_cur > MAX_ANSWER_BYTES) {
		answer.rlim_cur = MAX_ANSWER_BYTES;
		setrlimit(RLIMIT_FSIZE, &answer);
	}
	bb_confine_memory(MEMORY_BYTES);
}

static int confine(const struct bb_symbolize_work *w, int out_fd, int socket, pid_t parent)
{
	int *keep = malloc((w->dsos->n + 2) * sizeof(*keep)), rc;
	size_t n = 0;

	if (!keep)
		return -1;
	for (size_t i = 0; i < w->dsos->n; i++)
		keep[n++] = w->dsos->v[i].fd;
	keep[n++] = out_fd;
	keep[n++] = socket;
	rc = bb_confine(keep, n, parent);
	free(keep);
	return rc;
}

void bb_symbolize_child__run(const struct bb_symbolize_work *w, size_t from, int out_fd, int socket,
			     pid_t parent)
{
	struct itimerval limit = {.it_value = {.tv_sec = FILE_CPU_SECONDS}};
	FILE *out = fdopen(out_fd, "w");

	/* Ctrl-C ends the sampling; what was sampled is still to be shown */
	signal(SIGINT, SIG_IGN);
	limit_resources();
	if (!out || confine(w, out_fd, socket, parent))
		_exit(1);
	for (size_t to; from < w->n; from = to) {
		to = bb_symbolize_work__end_of_file(w, from);
		setitimer(ITIMER_PROF, &limit, NULL);
		answer_file(w, from, to, socket, out);
		fflush(out); /* files that are done are done, whatever the next does to us */
		if (bb_debug_file__ask(socket, BB_DEBUG_NEXT, ""))
			_exit(1);
	}
	_exit(ferror(out) ? 1 : 0);
}
