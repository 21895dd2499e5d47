/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/user_function.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/parse.h"

/* --- the file --- */

static bool is_file(const char *folder, size_t len, const char *name, char *ret_path, size_t size)
{
	return (size_t)snprintf(ret_path, size, "%.*s/%s", (int)len, folder, name) < size &&
	       !access(ret_path, R_OK);
}

/* In the first of the folders "A:B:C" that has it. */
static bool search(const char *folders, const char *name, char *ret_path, size_t size)
{
	while (folders && *folders) {
		size_t len = strcspn(folders, ":");

		if (len && is_file(folders, len, name, ret_path, size))
			return true;
		folders += len + (folders[len] == ':');
	}
	return false;
}

static int say_no_file(const char *name, const char *why, struct bb_err *err)
{
	return bb_fail(err, -ENOENT,
		       "%s: %s; a variant names another file and function by the keys 'binary' and "
		       "'function'",
		       name, why);
}

static int find_file(const char *name, char *ret_path, size_t size, struct bb_err *err)
{
	/* as libbpf looks; the third is where Debian keeps them */
	static const char libraries[] = "/usr/lib64:/usr/lib:/usr/lib/" BB_MULTIARCH ":/lib64:/lib";
	const char *env = strstr(name, ".so") ? getenv("LD_LIBRARY_PATH") : getenv("PATH");

	if (strchr(name, '/')) {
		snprintf(ret_path, size, "%s", name);
		return access(name, R_OK) ? say_no_file(name, strerror(errno), err) : 0;
	}
	if (search(env, name, ret_path, size) ||
	    (strstr(name, ".so") && search(libraries, name, ret_path, size)))
		return 0;
	return say_no_file(name,
			   strstr(name, ".so") ? "it is in no folder of libraries"
					       : "it is in no folder of $PATH",
			   err);
}

/* --- the places in it --- */

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

static int parse_probe(const char *text, struct bb_user_target *t, char *file, size_t size,
		       struct bb_err *err)
{
	const char *at = text;

	if (take_word(&at, file, size) && take_word(&at, t->provider, sizeof(t->provider)) &&
	    take_word(&at, t->probe, sizeof(t->probe)) && !*at)
		return 0;
	return bb_fail(err, -ENOTSUP, "'%s' names no static probe; FILE:PROVIDER:NAME would", text);
}

/* "FUNCTION+0x10" or an address. */
static int parse_function(const char *text, struct bb_user_target *t, struct bb_err *err)
{
	const char *plus = strchr(text, '+');
	size_t len = plus ? (size_t)(plus - text) : strlen(text);

	if (!bb_parse_u64(text, &t->offset))
		return 0;
	if (!len || len >= sizeof(t->function) || (plus && bb_parse_u64(plus + 1, &t->offset)))
		return bb_fail(err, -EINVAL, "'%s' is no function and no address", text);
	memcpy(t->function, text, len);
	return 0;
}

int bb_user_target__parse(const char *text, bool is_probe, struct bb_user_target *ret_target,
			  struct bb_err *err)
{
	struct bb_user_target *t = ret_target;
	const char *colon = strrchr(text, ':');
	char file[sizeof(t->path)];
	int rc;

	*t = (struct bb_user_target){0};
	if (is_probe) {
		rc = parse_probe(text, t, file, sizeof(file), err);
	} else if (!colon || colon == text || (size_t)(colon - text) >= sizeof(file)) {
		rc = bb_fail(err, -ENOTSUP, "'%s' names no function; FILE:FUNCTION would", text);
	} else {
		snprintf(file, sizeof(file), "%.*s", (int)(colon - text), text);
		rc = parse_function(colon + 1, t, err);
	}
	return rc ? rc : find_file(file, t->path, sizeof(t->path), err);
}

static int one_place(uint64_t offset, struct bb_user_places **ret_places, struct bb_err *err)
{
	struct bb_user_places *one = calloc(1, sizeof(*one));

	if (!one)
		return bb_fail_nomem(err);
	one->offsets[one->n++] = offset;
	*ret_places = one;
	return 0;
}

static int find_places(const struct bb_user_target *t, struct bb_user_places **ret_places,
		       struct bb_err *err)
{
	const struct bb_user_query q = {.path = t->path,
					.function = *t->probe ? NULL : t->function,
					.provider = t->provider,
					.probe = t->probe};
	int rc;

	if (!*t->probe && !*t->function)
		return one_place(t->offset, ret_places, err);
	rc = bb_user_elf__find(&q, ret_places, err);
	for (uint32_t i = 0; !rc && i < (*ret_places)->n; i++)
		(*ret_places)->offsets[i] += t->offset;
	return rc;
}

/* A file that is damaged is the user's all the same: nothing may stand in for it. */
static int say_why(int rc, struct bb_err *err)
{
	if (!rc || rc == -ENOMEM || rc == -EINTR || rc == -ETIME || bb_is_shortage(rc))
		return rc;
	return bb_fail(err, rc == -ENODATA || rc == -ENOTSUP ? -ENOTSUP : -ENOENT, "%s",
		       err ? err->msg : "");
}

int bb_user_target__find(const char *text, bool is_probe, struct bb_user_target *ret_target,
			 struct bb_user_places **ret_places, struct bb_err *err)
{
	int rc = bb_user_target__parse(text, is_probe, ret_target, err);

	return say_why(rc ? rc : find_places(ret_target, ret_places, err), err);
}

void bb_user_target__prototype(const char *text, struct bb_user_prototype *ret_prototype)
{
	struct bb_user_target t;
	struct bb_err unsaid = {0};

	*ret_prototype = (struct bb_user_prototype){0};
	if (!bb_user_target__parse(text, false, &t, &unsaid) && *t.function)
		bb_user_elf__find_prototype(t.path, t.function, ret_prototype, &unsaid);
}

/* --- our own function --- */

/* The program itself comes first. */
static int find_offset(struct dl_phdr_info *info, size_t size, void *arg)
{
	const uintptr_t address = (uintptr_t)bb_own_function;
	uint64_t *offset = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && address >= start && address - start < ph->p_filesz)
			*offset = address - start + ph->p_offset;
	}
	return 1;
}

int bb_own_function__find(char *ret_path, size_t size, struct bb_user_places **ret_places,
			  struct bb_err *err)
{
	uint64_t offset = 0;

	dl_iterate_phdr(find_offset, &offset);
	snprintf(ret_path, size, "/proc/self/exe");
	return offset ? one_place(offset, ret_places, err)
		      : bb_fail(err, -ENOENT, "a function of ours is not in our own file");
}
