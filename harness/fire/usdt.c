/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/usdt.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/parse.h"
#include "fire/user_function.h"

/* Of stapsdt notes: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation */
#define NOTE_TYPE 3
#define MOST_NAMES 512u
#define MOST_SITES 256u

/* One note: three addresses, and three texts behind them. */
struct note {
	uint64_t address, base, counter;
	const char *provider, *name, *arguments;
};

struct search {
	Elf *elf;
	const char *path;
	uint64_t base; /* address of .stapsdt.base; 0: none */
	struct bb_usdt *found;
	const char *arguments[MOST_SITES]; /* by cookie: of different probes with that name */
	size_t n_arguments;
	char *names[MOST_NAMES]; /* "PROVIDER:NAME" of all, for the nearest */
	size_t n_names;
};

/* --- notes --- */

static const char *next_text(const char **at, const char *end)
{
	const char *text = *at, *zero = memchr(text, '\0', (size_t)(end - text));

	if (!zero)
		return NULL;
	*at = zero + 1;
	return text;
}

static bool parse_note(const char *desc, size_t size, struct note *ret_note)
{
	const char *at = desc + 3 * sizeof(uint64_t), *end = desc + size;
	struct note n;

	if (size <= 3 * sizeof(uint64_t))
		return false;
	memcpy(&n.address, desc, sizeof(n.address));
	memcpy(&n.base, desc + sizeof(uint64_t), sizeof(n.base));
	memcpy(&n.counter, desc + 2 * sizeof(uint64_t), sizeof(n.counter));
	n.provider = next_text(&at, end);
	n.name = n.provider ? next_text(&at, end) : NULL;
	n.arguments = n.name ? next_text(&at, end) : NULL;
	*ret_note = n;
	return n.arguments != NULL;
}

/* libbpf numbers the texts as it meets them, and equal ones alike. */
static uint64_t cookie_of(struct search *s, const char *arguments)
{
	for (size_t i = 0; i < s->n_arguments; i++)
		if (!strcmp(s->arguments[i], arguments))
			return i;
	s->arguments[s->n_arguments] = arguments;
	return s->n_arguments++;
}

static int add_site(struct search *s, const struct note *n, struct bb_err *err)
{
	struct bb_usdt *u = s->found;
	uint64_t address = n->address + (s->base && n->base ? s->base - n->base : 0);

	if (u->n == MOST_SITES)
		return bb_fail(err, -E2BIG, "%s: probe %s:%s is in more than %u places", s->path,
			       u->provider, u->name, MOST_SITES);
	if (!bb_user_file__offset(s->elf, address, &u->offsets[u->n]) ||
	    (n->counter && !bb_user_file__offset(s->elf, n->counter, &u->counters[u->n])))
		return bb_fail(err, -EINVAL, "%s: probe %s:%s is in no part of it that is loaded",
			       s->path, u->provider, u->name);
	u->cookies[u->n++] = cookie_of(s, n->arguments);
	return 0;
}

static int look_at(struct search *s, const struct note *n, struct bb_err *err)
{
	if (!strcmp(n->provider, s->found->provider) && !strcmp(n->name, s->found->name))
		return add_site(s, n, err);
	if (s->n_names < MOST_NAMES &&
	    asprintf(&s->names[s->n_names], "%s:%s", n->provider, n->name) >= 0)
		s->n_names++;
	return 0;
}

static int read_notes(struct search *s, Elf_Scn *scn, struct bb_err *err)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t at = 0, name_at, desc_at;
	GElf_Nhdr head;
	int rc = 0;

	while (!rc && data && (at = gelf_getnote(data, at, &head, &name_at, &desc_at)) > 0) {
		struct note n;

		if (head.n_type == NOTE_TYPE && head.n_namesz == sizeof("stapsdt") &&
		    !memcmp((char *)data->d_buf + name_at, "stapsdt", sizeof("stapsdt")) &&
		    parse_note((char *)data->d_buf + desc_at, head.n_descsz, &n))
			rc = look_at(s, &n, err);
	}
	return rc;
}

static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *ret_head)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
		const char *its = gelf_getshdr(scn, ret_head)
					  ? elf_strptr(elf, names, ret_head->sh_name)
					  : NULL;

		if (its && !strcmp(its, name))
			return scn;
	}
	return NULL;
}

static int say_no_probe(struct search *s, struct bb_err *err)
{
	char wanted[300];
	const char *near;

	snprintf(wanted, sizeof(wanted), "%s:%s", s->found->provider, s->found->name);
	near = bb_nearest(wanted, (const char *const *)s->names, s->n_names);
	return bb_fail(err, -ESRCH, "%s has no static probe '%s'%s%s%s%s", s->path, wanted,
		       s->n_names ? "" : ", nor any other", near ? "; did you mean '" : "",
		       near ? near : "", near ? "'?" : "");
}

static int search_file(struct search *s, struct bb_err *err)
{
	int fd = open(s->path, O_RDONLY | O_CLOEXEC), rc = 0;
	GElf_Shdr head;
	Elf_Scn *scn;

	if (fd < 0)
		return bb_fail(err, -errno, "%s: %s", s->path, strerror(errno));
	elf_version(EV_CURRENT);
	s->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!s->elf || elf_kind(s->elf) != ELF_K_ELF || gelf_getclass(s->elf) != ELFCLASS64) {
		rc = bb_fail(err, -EINVAL, "%s is no ELF file of 64 bits", s->path);
	} else {
		s->base = find_section(s->elf, ".stapsdt.base", &head) ? head.sh_addr : 0;
		scn = find_section(s->elf, ".note.stapsdt", &head);
		rc = scn ? read_notes(s, scn, err) : 0;
		if (!rc && !s->found->n)
			rc = say_no_probe(s, err);
	}
	elf_end(s->elf);
	close(fd);
	return rc;
}

/* --- the name --- */

/* The word up to the next colon or the end; false: there is none, or it is too long. */
static bool take_word(const char **at, char *ret_word, size_t size)
{
	size_t len = strcspn(*at, ":");

	if (!len || len >= size)
		return false;
	memcpy(ret_word, *at, len);
	ret_word[len] = '\0';
	*at += len + ((*at)[len] == ':');
	return true;
}

int bb_usdt__find_file(const char *target, struct bb_usdt *ret_usdt, struct bb_err *err)
{
	const char *at = target;
	struct bb_usdt u = {0};
	char file[4096];

	if (!take_word(&at, file, sizeof(file)) ||
	    !take_word(&at, u.provider, sizeof(u.provider)) ||
	    !take_word(&at, u.name, sizeof(u.name)) || *at)
		return bb_fail(err, -EINVAL, "'%s' names no static probe; FILE:PROVIDER:NAME would",
			       target);
	*ret_usdt = u;
	return bb_user_file__find(file, ret_usdt->path, sizeof(ret_usdt->path), err);
}

int bb_usdt__find(const char *target, struct bb_usdt *ret_usdt, struct bb_err *err)
{
	struct search *s = calloc(1, sizeof(*s));
	struct bb_usdt u = {0};
	int rc = s ? bb_usdt__find_file(target, &u, err) : bb_fail_nomem(err);

	if (!rc) {
		u.offsets = calloc(3 * MOST_SITES, sizeof(*u.offsets));
		u.counters = u.offsets + MOST_SITES;
		u.cookies = u.counters + MOST_SITES;
		s->found = &u;
		s->path = u.path;
		rc = u.offsets ? search_file(s, err) : bb_fail_nomem(err);
	}
	for (size_t i = 0; s && i < s->n_names; i++)
		free(s->names[i]);
	free(s);
	if (rc)
		bb_usdt__done(&u);
	else
		*ret_usdt = u;
	return rc;
}

void bb_usdt__done(struct bb_usdt *u)
{
	free(u->offsets);
	*u = (struct bb_usdt){0};
}
