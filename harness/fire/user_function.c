/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/user_function.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <gelf.h>
#include <libelf.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/parse.h"

#define MOST_NAMES 4096u /* looked at for the nearest one */

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

struct symbols {
	Elf *elf;
	const char **names; /* of functions, for the nearest one */
	size_t n_names;
	bool is_whole; /* it has the table of all of its functions */
};

bool bb_user_file__offset(Elf *elf, uint64_t address, uint64_t *ret_offset)
{
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		if (address < ph.p_vaddr || address - ph.p_vaddr >= ph.p_filesz)
			continue;
		*ret_offset = address - ph.p_vaddr + ph.p_offset;
		return true;
	}
	return false;
}

static bool find_in_table(struct symbols *s, Elf_Scn *scn, const GElf_Shdr *sh, const char *name,
			  uint64_t *ret_address)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = sh->sh_entsize ? (size_t)(sh->sh_size / sh->sh_entsize) : 0;

	s->is_whole |= sh->sh_type == SHT_SYMTAB;
	for (size_t i = 0; data && i < n; i++) {
		const char *found;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) || !sym.st_value ||
		    (GELF_ST_TYPE(sym.st_info) != STT_FUNC &&
		     GELF_ST_TYPE(sym.st_info) != STT_GNU_IFUNC))
			continue;
		found = elf_strptr(s->elf, sh->sh_link, sym.st_name);
		if (!found)
			continue;
		if (!strcmp(found, name)) {
			*ret_address = sym.st_value;
			return true;
		}
		if (s->names && s->n_names < MOST_NAMES)
			s->names[s->n_names++] = found;
	}
	return false;
}

static bool find_symbol(struct symbols *s, const char *name, uint64_t *ret_address)
{
	for (Elf_Scn *scn = elf_nextscn(s->elf, NULL); scn; scn = elf_nextscn(s->elf, scn)) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_DYNSYM || sh.sh_type == SHT_SYMTAB) &&
		    find_in_table(s, scn, &sh, name, ret_address))
			return true;
	}
	return false;
}

static int say_no_function(const struct symbols *s, const char *path, const char *name,
			   struct bb_err *err)
{
	const char *near = bb_nearest(name, s->names, s->n_names);
	char stripped[120] = "";

	if (!s->is_whole)
		snprintf(stripped, sizeof(stripped),
			 " (it is stripped: of its functions, %zu have a name; a build that is not "
			 "has all)",
			 s->n_names);
	return bb_fail(err, near || s->is_whole ? -ESRCH : -ENODATA,
		       "%s has no function '%s'%s%s%s%s", path, name, stripped,
		       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int find_in_file(const char *path, const char *name, uint64_t *ret_offset,
			struct bb_err *err)
{
	struct symbols s = {.names = calloc(MOST_NAMES, sizeof(*s.names))};
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	uint64_t address = 0;

	elf_version(EV_CURRENT);
	s.elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (fd < 0)
		rc = bb_fail(err, -errno, "%s: %s", path, strerror(errno));
	else if (!s.elf || elf_kind(s.elf) != ELF_K_ELF)
		rc = bb_fail(err, -EINVAL, "%s is no ELF file", path);
	else if (!find_symbol(&s, name, &address))
		rc = say_no_function(&s, path, name, err);
	else if (!bb_user_file__offset(s.elf, address, ret_offset))
		rc = bb_fail(err, -EINVAL, "%s: '%s' is in no part of it that is loaded", path,
			     name);
	elf_end(s.elf);
	free(s.names);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* "FUNCTION+0x10" or an address. */
static int find_place(struct bb_user_function *f, const char *place, struct bb_err *err)
{
	const char *plus = strchr(place, '+');
	size_t len = plus ? (size_t)(plus - place) : strlen(place);
	uint64_t more = 0;
	int rc;

	if (!bb_parse_u64(place, &f->file_offset))
		return 0;
	if (!len || len >= sizeof(f->name) || (plus && bb_parse_u64(plus + 1, &more)))
		return bb_fail(err, -EINVAL, "'%s' is no function and no address", place);
	memcpy(f->name, place, len);
	rc = find_in_file(f->path, f->name, &f->file_offset, err);
	f->file_offset += more;
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

/* --- many functions --- */

struct places {
	const char *pattern;
	uint64_t *offsets;
	size_t n;
};

static int add_matches(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, struct places *p)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = sh->sh_entsize ? (size_t)(sh->sh_size / sh->sh_entsize) : 0;

	for (size_t i = 0; data && i < n; i++) {
		const char *name;
		uint64_t offset, *to;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) || !sym.st_value ||
		    GELF_ST_TYPE(sym.st_info) != STT_FUNC)
			continue;
		name = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (!name || fnmatch(p->pattern, name, 0) ||
		    !bb_user_file__offset(elf, sym.st_value, &offset))
			continue;
		to = bb_append(&p->offsets, &p->n, sizeof(*to));
		if (!to)
			return -ENOMEM;
		*to = offset;
	}
	return 0;
}

static int compare_offsets(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* A function may have many names. */
static void drop_doubles(struct places *p)
{
	size_t kept = 0;

	if (p->n)
		qsort(p->offsets, p->n, sizeof(p->offsets[0]), compare_offsets);
	for (size_t i = 0; i < p->n; i++)
		if (!kept || p->offsets[kept - 1] != p->offsets[i])
			p->offsets[kept++] = p->offsets[i];
	p->n = kept;
}

static int match_in_file(const char *path, struct places *p, struct bb_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = fd < 0 ? -errno : 0;
	Elf *elf = NULL;

	elf_version(EV_CURRENT);
	if (!rc)
		elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!rc && (!elf || elf_kind(elf) != ELF_K_ELF))
		rc = -ENOEXEC;
	for (Elf_Scn *scn = rc ? NULL : elf_nextscn(elf, NULL); scn && !rc;
	     scn = elf_nextscn(elf, scn)) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_DYNSYM || sh.sh_type == SHT_SYMTAB))
			rc = add_matches(elf, scn, &sh, p);
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	drop_doubles(p);
	if (rc)
		return bb_fail(err, rc, "%s: %s", path, strerror(-rc));
	if (!p->n)
		return bb_fail(err, -ESRCH, "%s has no function '%s'", path, p->pattern);
	return p->n > MOST_NAMES ? bb_fail(err, -E2BIG, "%s has %zu functions '%s': too many", path,
					   p->n, p->pattern)
				 : 0;
}

int bb_user_function__find_all(const char *target, struct bb_user_function *f,
			       uint64_t **ret_offsets, uint32_t *ret_n, struct bb_err *err)
{
	const char *colon = strrchr(target, ':');
	struct places p = {.pattern = colon ? colon + 1 : ""};
	int rc;

	if (!p.pattern[strcspn(p.pattern, "*?[")]) {
		rc = bb_user_function__find(target, f, err);
		p.offsets = rc ? NULL : bb_append(&p.offsets, &p.n, sizeof(*p.offsets));
		if (!rc && !p.offsets)
			rc = bb_fail_nomem(err);
		if (!rc)
			p.offsets[0] = f->file_offset;
	} else {
		rc = find_file_of(target, f, err);
		if (!rc)
			rc = match_in_file(f->path, &p, err);
	}
	if (rc) {
		free(p.offsets);
		return rc;
	}
	*ret_offsets = p.offsets;
	*ret_n = (uint32_t)p.n;
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
