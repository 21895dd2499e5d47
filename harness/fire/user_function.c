/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/user_function.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

int bb_user_file__find(const char *name, char *ret_path, size_t size, struct bb_err *err)
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

/* --- the function --- */

/* "FUNCTION+0x10" or an address. */
static int find_place(struct bb_user_function *f, const char *place, struct bb_err *err)
{
	const char *plus = strchr(place, '+');
	size_t len = plus ? (size_t)(plus - place) : strlen(place);
	struct bb_user_query q = {.path = f->path};
	struct bb_user_places *found = NULL;
	uint64_t more = 0;
	int rc;

	if (!bb_parse_u64(place, &f->file_offset))
		return 0;
	if (!len || len >= sizeof(f->name) || (plus && bb_parse_u64(plus + 1, &more)))
		return bb_fail(err, -EINVAL, "'%s' is no function and no address", place);
	memcpy(f->name, place, len);
	q.function = f->name;
	if (bb_user_query__is_pattern(&q))
		return bb_fail(err, -EINVAL, "'%s' names many functions", place);
	rc = bb_user_elf__find(&q, &found, err);
	if (!rc)
		f->file_offset = found->offsets[0] + more;
	free(found);
	return rc;
}

/* FILE of "FILE:FUNCTION", as a path. */
static int find_file_of(const char *target, struct bb_user_function *ret_function,
			struct bb_err *err)
{
	const char *colon = strrchr(target, ':');
	char file[4096];

	if (!colon || colon == target || (size_t)(colon - target) >= sizeof(file))
		return bb_fail(err, -EINVAL, "'%s' names no function; FILE:FUNCTION would", target);
	memcpy(file, target, (size_t)(colon - target));
	file[colon - target] = '\0';
	*ret_function = (struct bb_user_function){0};
	return bb_user_file__find(file, ret_function->path, sizeof(ret_function->path), err);
}

int bb_user_function__find(const char *target, struct bb_user_function *ret_function,
			   struct bb_err *err)
{
	int rc = find_file_of(target, ret_function, err);

	return rc ? rc : find_place(ret_function, strrchr(target, ':') + 1, err);
}

int bb_user_function__find_all(const char *target, struct bb_user_function *f,
			       struct bb_user_places **ret_places, struct bb_err *err)
{
	const char *colon = strrchr(target, ':');
	struct bb_user_query q = {.path = f->path, .function = colon ? colon + 1 : ""};
	struct bb_user_places *one;
	int rc;

	if (bb_user_query__is_pattern(&q)) {
		rc = find_file_of(target, f, err);
		return rc ? rc : bb_user_elf__find(&q, ret_places, err);
	}
	rc = bb_user_function__find(target, f, err);
	one = rc ? NULL : calloc(1, sizeof(*one));
	if (!rc && !one)
		rc = bb_fail_nomem(err);
	if (rc)
		return rc;
	one->offsets[one->n++] = f->file_offset;
	*ret_places = one;
	return 0;
}

/* --- ours --- */

struct ours {
	uintptr_t address;
	uint64_t file_offset;
	bool found;
};

/* Of the program, which comes first. */
static int look_for_ours(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct ours *o = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD || o->address < start ||
		    o->address - start >= ph->p_filesz)
			continue;
		o->file_offset = o->address - start + ph->p_offset;
		o->found = true;
	}
	return 1;
}

int bb_user_function__of_ours(const void *address, struct bb_user_function *ret_function,
			      struct bb_err *err)
{
	struct ours o = {.address = (uintptr_t)address};

	dl_iterate_phdr(look_for_ours, &o);
	if (!o.found)
		return bb_fail(err, -ENOENT, "a function of ours is not in our own file");
	*ret_function = (struct bb_user_function){.path = "/proc/self/exe",
						  .file_offset = o.file_offset};
	return 0;
}
