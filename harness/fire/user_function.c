/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/user_function.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fnmatch.h>
#include <link.h>

#include "base/child.h"
#include "base/io.h"
#include "base/parse.h"
#include "bpf/elf_file.h"

#define MOST_BYTES (UINT64_C(8) << 30)
/* Type of a stapsdt note: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation */
#define NOTE_TYPE 3

struct search {
	const struct bb_user_target *target;
	Elf *elf;
	struct bb_user_addresses *found;
	/* other functions or probes, for a suggestion */
	char *names[BB_MOST_ADDRESSES];
	size_t n_names;
	bool is_whole; /* true if the file has a full symbol table */
	uint64_t base; /* address of the section .stapsdt.base, or 0 */
	/* arguments[cookie]: the distinct argument strings of the probe */
	size_t n_arguments;
	const char *arguments[BB_MOST_ADDRESSES];
};

static int say(const struct search *s, int rc, const char *name, const char *where,
	       struct bb_err *err)
{
	return bb_fail(err, rc, "%s: '%s' is in %s", s->target->path, name, where);
}

#define TOO_MANY "more than 4096 addresses"
#define NOT_LOADED "no part of it that is loaded"

static void keep_name(struct search *s, const char *provider, const char *name)
{
	if (s->n_names < BB_MOST_ADDRESSES)
		s->names[s->n_names++] = bb_asprintf("%.256s%s%.256s", provider,
						     *provider ? ":" : "", name);
}

bool bb_is_pattern(const char *function)
{
	return strpbrk(function, "*?[");
}

/* Adds the symbol's file offset if its name matches. Without a pattern, only the first match
 * counts. */
static int match(struct search *s, const GElf_Sym *sym, const char *name, struct bb_err *err)
{
	bool is_pattern = bb_is_pattern(s->target->function);
	struct bb_user_addresses *to = s->found;
	uint64_t offset;

	if (is_pattern ? GELF_ST_TYPE(sym->st_info) != STT_FUNC ||
				 fnmatch(s->target->function, name, 0)
		       : strcmp(name, s->target->function) != 0) {
		keep_name(s, "", name);
		return 0;
	}
	if (!is_pattern && to->n)
		return 0;
	if (!bb_elf__offset(s->elf, sym->st_value, &offset))
		return is_pattern ? 0 : say(s, -EINVAL, name, NOT_LOADED, err);
	/* a function with several names counts once */
	if (BB_ANY(to->offsets, to->n, *it == offset))
		return 0;
	if (to->n == BB_MOST_ADDRESSES)
		return say(s, -E2BIG, s->target->function, TOO_MANY, err);
	to->offsets[to->n++] = offset;
	return 0;
}

static int search_table(struct search *s, const struct bb_elf_part *table, struct bb_err *err)
{
	Elf_Data *data = elf_getdata(table->scn, NULL);
	size_t n = bb_elf_part__count(table);
	int rc = 0;

	s->is_whole |= table->head.sh_type == SHT_SYMTAB;
	for (size_t i = 0; !rc && data && i < n; i++) {
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) || !sym.st_value ||
		    (GELF_ST_TYPE(sym.st_info) != STT_FUNC &&
		     GELF_ST_TYPE(sym.st_info) != STT_GNU_IFUNC))
			continue;
		const char *name = bb_elf__text(s->elf, table->head.sh_link, sym.st_name);
		rc = name ? match(s, &sym, name, err) : 0;
	}
	return rc;
}

static int say_none(const struct search *s, int rc, const char *kind, const char *wanted,
		    const char *hint, struct bb_err *err)
{
	const char *near = bb_nearest(wanted, (const char *const *)s->names, s->n_names);

	return bb_fail(err, near ? -ESRCH : rc, "%s has no %s '%s'%s%s", s->target->path, kind,
		       wanted, hint, bb_did_you_mean(near, "").text);
}

static int compare_offsets(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return BB_ORDER(*x, *y);
}

static int search_functions(struct search *s, struct bb_err *err)
{
	bool is_known = bb_is_pattern(s->target->function);
	char stripped[120] = "";
	int rc = 0;

	for (struct bb_elf_part p = {0}; !rc && bb_elf__next(s->elf, &p);)
		if (p.head.sh_type == SHT_DYNSYM || p.head.sh_type == SHT_SYMTAB)
			rc = search_table(s, &p, err);
	qsort(s->found->offsets, s->found->n, sizeof(s->found->offsets[0]), compare_offsets);
	if (rc || s->found->n)
		return rc;
	if (!s->is_whole)
		snprintf(stripped, sizeof(stripped),
			 " (it is stripped: of its functions, %zu have a name; a build that is not "
			 "has all)",
			 s->n_names);
	return say_none(s, is_known || s->is_whole ? -ESRCH : -ENODATA, "function",
			s->target->function, stripped, err);
}

/* A note of a static probe: three addresses, followed by three strings. */
struct note {
	uint64_t address, base, counter;
	const char *provider, *name, *arguments;
};

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
	memcpy(&n, desc, 3 * sizeof(uint64_t));
	n.provider = next_text(&at, end);
	n.name = n.provider ? next_text(&at, end) : NULL;
	n.arguments = n.name ? next_text(&at, end) : NULL;
	*ret_note = n;
	return n.arguments != NULL;
}

static int add_site(struct search *s, const struct note *n, struct bb_err *err)
{
	struct bb_user_addresses *to = s->found;
	uint64_t address = n->address + (s->base && n->base ? s->base - n->base : 0);
	size_t cookie = 0;

	if (strcmp(n->provider, s->target->provider) != 0 ||
	    strcmp(n->name, s->target->probe) != 0) {
		keep_name(s, n->provider, n->name);
		return 0;
	}
	if (to->n == BB_MOST_ADDRESSES)
		return say(s, -E2BIG, n->name, TOO_MANY, err);
	if (!bb_elf__offset(s->elf, address, &to->offsets[to->n]) ||
	    (n->counter && !bb_elf__offset(s->elf, n->counter, &to->counters[to->n])))
		return say(s, -EINVAL, n->name, NOT_LOADED, err);
	/* cookies number the distinct argument strings in the order of the notes, as in libbpf */
	while (cookie < s->n_arguments && strcmp(s->arguments[cookie], n->arguments) != 0)
		cookie++;
	if (cookie == s->n_arguments)
		s->arguments[s->n_arguments++] = n->arguments;
	to->cookies[to->n++] = cookie;
	return 0;
}

static int search_probes(struct search *s, struct bb_err *err)
{
	size_t at = 0, name_at, desc_at;
	struct bb_elf_part part;
	Elf_Data *data = NULL;
	char wanted[300];
	GElf_Nhdr head;
	int rc = 0;

	if (gelf_getclass(s->elf) != ELFCLASS64)
		return bb_fail(err, -EINVAL, "%s is no ELF file of 64 bits", s->target->path);
	s->base = bb_elf__find(s->elf, ".stapsdt.base", &part) ? part.head.sh_addr : 0;
	if (bb_elf__find(s->elf, ".note.stapsdt", &part))
		data = elf_getdata(part.scn, NULL);
	while (!rc && data && (at = gelf_getnote(data, at, &head, &name_at, &desc_at)) > 0) {
		struct note n;

		if (head.n_type == NOTE_TYPE && head.n_namesz == sizeof("stapsdt") &&
		    !memcmp((char *)data->d_buf + name_at, "stapsdt", sizeof("stapsdt")) &&
		    parse_note((char *)data->d_buf + desc_at, head.n_descsz, &n))
			rc = add_site(s, &n, err);
	}
	if (rc || s->found->n)
		return rc;
	snprintf(wanted, sizeof(wanted), "%s:%s", s->target->provider, s->target->probe);
	return say_none(s, -ESRCH, "static probe", wanted, s->n_names ? "" : ", nor any other",
			err);
}

struct prototype_search {
	const char *function;
	struct bb_user_prototype *found;
};

/* Finds the type of a parameter, a result, or what a pointer points to. Skips typedefs and
 * qualifiers. Returns false if the type is void or damaged. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *ret_type)
{
	Dwarf_Attribute attr;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), ret_type) &&
	       !dwarf_peel_type(ret_type, ret_type);
}

static Dwarf_Word encoding_of(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding = 0;

	dwarf_formudata(dwarf_attr_integrate(type, DW_AT_encoding, &attr), &encoding);
	return encoding;
}

/* Returns BB_N_USER_VALUES if a value needs more than one register, such as a struct. */
static enum bb_user_value value_of(Dwarf_Die *type)
{
	Dwarf_Die to;

	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
		return encoding_of(type) == DW_ATE_float ? BB_VALUE_FLOAT : BB_VALUE_INTEGER;
	case DW_TAG_enumeration_type: return BB_VALUE_INTEGER;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return type_of(type, &to) && dwarf_tag(&to) == DW_TAG_base_type &&
				       (encoding_of(&to) == DW_ATE_signed_char ||
					encoding_of(&to) == DW_ATE_unsigned_char)
			       ? BB_VALUE_TEXT
			       : BB_VALUE_POINTER;
	default: return BB_N_USER_VALUES;
	}
}

static int match_prototype(Dwarf_Die *die, void *arg)
{
	struct prototype_search *s = arg;
	struct bb_user_prototype p = {.is_known = true};
	enum bb_user_value value;
	Dwarf_Attribute attr;
	Dwarf_Die child, type;
	const char *name = dwarf_diename(die),
		   *symbol = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attr));

	if ((!name || strcmp(name, s->function)) && (!symbol || strcmp(symbol, s->function)))
		return DWARF_CB_OK;
	int rc = dwarf_child(die, &child);
	for (; !rc && p.n < BB_MOST_PARAMETERS; rc = dwarf_siblingof(&child, &child)) {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		value = type_of(&child, &type) ? value_of(&type) : BB_N_USER_VALUES;
		if (value == BB_N_USER_VALUES)
			break;
		p.parameters[p.n++] = value;
	}
	value = type_of(die, &type) ? value_of(&type) : BB_VALUE_NONE;
	p.result = value == BB_N_USER_VALUES ? BB_VALUE_NONE : value;
	*s->found = p;
	return DWARF_CB_ABORT;
}

int bb_user_elf__search_prototype(Elf *elf, const char *function,
				  struct bb_user_prototype *ret_prototype)
{
	struct prototype_search s = {function, ret_prototype};
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	if (!dwarf)
		return -ENODATA;
	while (!s.found->is_known && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL))
		dwarf_getfuncs(&die, match_prototype, &s, 0);
	dwarf_end(dwarf);
	return s.found->is_known ? 0 : -ESRCH;
}

int bb_user_prototype__check(const void *reply)
{
	const struct bb_user_prototype *p = reply;

	if (p->n > BB_MOST_PARAMETERS || (unsigned int)p->result >= BB_N_USER_VALUES ||
	    BB_ANY(p->parameters, p->n, (unsigned int)*it >= BB_N_USER_VALUES))
		return -EBADMSG;
	return 0;
}

int bb_user_elf__search(Elf *elf, const struct bb_user_target *t,
			struct bb_user_addresses *ret_addresses, struct bb_err *err)
{
	struct search *s = bb_calloc(1, sizeof(*s));

	s->target = t;
	s->elf = elf;
	s->found = ret_addresses;
	int rc = *t->function ? search_functions(s, err) : search_probes(s, err);
	for (size_t i = 0; i < s->n_names; i++)
		free(s->names[i]);
	free(s);
	return rc;
}

struct file {
	const struct bb_user_target *target;
	int fd;
};

static int search_file(void *arg, void *reply, struct bb_err *err)
{
	const struct file *f = arg;
	Elf *elf = bb_elf__of_file(f->fd);
	GElf_Ehdr head;
	int rc;

	if (!elf)
		return bb_fail(err, -EINVAL, "%s is no ELF file", f->target->path);
	/* the file is cut off if its header promises sections and there are none */
	if (!gelf_getehdr(elf, &head) || (head.e_shoff && !elf_getscn(elf, 1)))
		rc = bb_fail(err, -EINVAL, "%s: a damaged ELF file: it is cut off",
			     f->target->path);
	else
		rc = bb_user_elf__search(elf, f->target, reply, err);
	elf_end(elf);
	return rc;
}

static int search_file_prototype(void *arg, void *reply, struct bb_err *err)
{
	const struct file *f = arg;
	Elf *elf = bb_elf__of_file(f->fd);
	int rc = elf ? bb_user_elf__search_prototype(elf, f->target->function, reply) : -EINVAL;

	elf_end(elf);
	return rc ? bb_fail(err, rc, "%s: nothing says what '%s' takes", f->target->path,
			    f->target->function)
		  : 0;
}

int bb_user_addresses__check(const void *reply)
{
	const struct bb_user_addresses *p = reply;

	if (!p->n || p->n > BB_MOST_ADDRESSES || BB_ANY(p->cookies, p->n, *it >= p->n))
		return -EBADMSG;
	return 0;
}

/* Runs `work` in a confined child. `check` tests the reply, which a malicious file may control. */
static int ask_child(const struct bb_user_target *t,
		     int (*work)(void *arg, void *reply, struct bb_err *err), void *ret_reply,
		     size_t reply_bytes, int (*check)(const void *reply), struct bb_err *err)
{
	struct stat st;
	struct file file = {.target = t, .fd = bb_open_regular(t->path, 0, &st)};
	const struct bb_confined c = {
		.path = t->path,
		.kind = "ELF file",
		.library = "libelf",
		.verb = "read",
		.remedy = "",
		.work = work,
		.arg = &file,
		.fd = file.fd,
		.ret_reply = ret_reply,
		.reply_bytes = reply_bytes,
	};

	if (file.fd < 0)
		return bb_fail(err, file.fd, "%s: %s", t->path,
			       file.fd == -EINVAL ? "not a regular file" : strerror(-file.fd));
	int rc = (uint64_t)st.st_size > MOST_BYTES
			 ? bb_fail(err, -EFBIG, "%s: more than 8 GiB", t->path)
			 : bb_confined__run(&c, err);
	close(file.fd);
	if (!rc && check(ret_reply))
		rc = bb_fail(err, -EBADMSG, "%s: damaged: it took over the process that read it",
			     t->path);
	return rc;
}

int bb_user_elf__find(const struct bb_user_target *t, struct bb_user_addresses **ret_addresses,
		      struct bb_err *err)
{
	struct bb_user_addresses *addresses = bb_calloc(1, sizeof(*addresses));
	int rc = ask_child(t, search_file, addresses, sizeof(*addresses), bb_user_addresses__check,
			   err);

	if (rc)
		free(addresses);
	else
		*ret_addresses = addresses;
	return rc;
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
	/* the folders that libbpf searches, and those of Debian */
	static const char libraries[] = "/usr/lib64:/usr/lib:/usr/lib/" BB_MULTIARCH
					":/lib64:/lib:/lib/" BB_MULTIARCH;
	const char *env = strstr(name, ".so") ? getenv("LD_LIBRARY_PATH") : getenv("PATH");

	if (strchr(name, '/')) {
		snprintf(ret_path, size, "%s", name);
		return access(name, R_OK) ? say_no_file(name, strerror(errno), err) : 0;
	}
	if (bb_find_in_folders(env, name, R_OK, ret_path, size) ||
	    (strstr(name, ".so") && bb_find_in_folders(libraries, name, R_OK, ret_path, size)))
		return 0;
	return say_no_file(name,
			   strstr(name, ".so") ? "it is in no folder of libraries"
					       : "it is in no folder of $PATH",
			   err);
}

static int parse_probe(const char *text, struct bb_user_target *t, char *file, size_t size,
		       struct bb_err *err)
{
	char *copy = bb_strdup(text), *at = copy;
	const char *name = strsep(&at, ":"), *provider = strsep(&at, ":"),
		   *probe = strsep(&at, ":");
	bool ok = probe && !at && *name && *provider && *probe && strlen(name) < size &&
		  strlen(provider) < sizeof(t->provider) && strlen(probe) < sizeof(t->probe);

	if (ok) {
		strcpy(file, name);
		strcpy(t->provider, provider);
		strcpy(t->probe, probe);
	}
	free(copy);
	return ok ? 0
		  : bb_fail(err, -ENOTSUP, "'%s' names no static probe; FILE:PROVIDER:NAME would",
			    text);
}

/* Parses "FUNCTION", "FUNCTION+0x10" or an address. */
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

static struct bb_user_addresses *one_address(uint64_t offset)
{
	struct bb_user_addresses *one = bb_calloc(1, sizeof(*one));

	one->offsets[one->n++] = offset;
	return one;
}

int bb_user_target__find(const char *text, bool is_probe, struct bb_user_target *ret_target,
			 struct bb_user_addresses **ret_addresses, struct bb_err *err)
{
	struct bb_user_target *t = ret_target;
	int rc = bb_user_target__parse(text, is_probe, t, err);

	if (!rc && !is_probe && !*t->function) {
		*ret_addresses = one_address(t->offset);
		return 0;
	}
	if (!rc)
		rc = bb_user_elf__find(t, ret_addresses, err);
	for (uint32_t i = 0; !rc && i < (*ret_addresses)->n; i++)
		(*ret_addresses)->offsets[i] += t->offset;
	if (!rc || rc == -EINTR || rc == -ETIME || bb_is_shortage(rc))
		return rc;
	/* -ENOENT for a damaged file, because after -ENOTSUP bb_own_function() may replace the
	 * function */
	return bb_fail(err, rc == -ENODATA || rc == -ENOTSUP ? -ENOTSUP : -ENOENT, "%s",
		       err ? err->msg : "");
}

void bb_user_target__prototype(const char *text, struct bb_user_prototype *ret_prototype)
{
	struct bb_user_target t;
	struct bb_user_prototype p = {0};

	*ret_prototype = (struct bb_user_prototype){0};
	if (!bb_user_target__parse(text, false, &t, NULL) && *t.function &&
	    !ask_child(&t, search_file_prototype, &p, sizeof(p), bb_user_prototype__check, NULL))
		*ret_prototype = p;
}

/* For dl_iterate_phdr(). The first entry is our program. Returns 1 to end the iteration. */
static int find_offset(struct dl_phdr_info *info, size_t, void *arg)
{
	const uintptr_t address = (uintptr_t)bb_own_function;
	uint64_t *offset = arg;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && address >= start && address - start < ph->p_filesz)
			*offset = address - start + ph->p_offset;
	}
	return 1;
}

int bb_own_function__find(char *ret_path, size_t size, struct bb_user_addresses **ret_addresses,
			  struct bb_err *err)
{
	uint64_t offset = 0;

	dl_iterate_phdr(find_offset, &offset);
	snprintf(ret_path, size, "/proc/self/exe");
	if (!offset)
		return bb_fail(err, -ENOENT, "a function of ours is not in our own file");
	*ret_addresses = one_address(offset);
	return 0;
}
