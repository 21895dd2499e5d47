/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/symbolize.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <zlib.h>

#include "base/child.h"
#include "base/io.h"
#include "profile/symtab.h"

#define SYSTEM "/usr/lib/debug"

int bb_debug_file__open(const struct bb_debug_request *request, const char *path, int of_fd)
{
	static const char *const where[] = {"%.*s%s", "%.*s.debug/%s", SYSTEM "%.*s%s"};
	const char *name = request->name, *dwz, *slash = strrchr(path, '/');
	int dir_len = slash ? (int)(slash - path) + 1 : 0, fd = -ENOENT;
	char candidate[PATH_MAX];
	struct stat st;

	if (!memchr(name, '\0', sizeof(request->name)) || !*name || fstat(of_fd, &st))
		return -EINVAL;
	switch (request->kind) {
	case BB_DEBUG_BUILD_ID:
		if (strlen(name) <= 2 || name[strspn(name, "0123456789abcdef")])
			return -EINVAL;
		snprintf(candidate, sizeof(candidate), SYSTEM "/.build-id/%.2s/%s.debug", name,
			 name + 2);
		return bb_open_if_trusted(candidate, 0, st.st_uid);
	case BB_DEBUG_LINK:
		if (!dir_len || strchr(name, '/'))
			return -EINVAL;
		for (size_t i = 0; fd < 0 && i < BB_LEN(where); i++)
			if (snprintf(candidate, sizeof(candidate), where[i], dir_len, path, name) <
			    (int)sizeof(candidate))
				fd = bb_open_if_trusted(candidate, 0, st.st_uid);
		return fd;
	case BB_DEBUG_ALT:
		dwz = strstr(name, "/.dwz/");
		if (!dwz || strstr(dwz, ".."))
			return -EINVAL;
		snprintf(candidate, sizeof(candidate), SYSTEM "%s", dwz);
		return bb_open_if_trusted(candidate, 0, 0);
	default: return -EINVAL;
	}
}

int bb_debug_file__ask(int socket, enum bb_debug_kind kind, const char *name)
{
	struct bb_debug_request request = {.kind = kind};
	struct iovec data = {.iov_base = &request, .iov_len = sizeof(request)};
	const struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	int nothing, fd;

	if (strlen(name) >= sizeof(request.name))
		return -ENAMETOOLONG;
	strcpy(request.name, name);
	if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
		return -errno;
	if (bb_descriptor__receive(socket, &nothing, &fd))
		return -EIO;
	return fd < 0 ? -ENOENT : fd;
}

/* A compilation unit. Its functions are listed when an address in it is first looked up. */
struct dwarf_unit {
	Dwarf_Die die;
	bool is_listed;
	Dwarf_Die *functions;
	size_t n_functions;
	/* address ranges of the functions; bb_symbol.rank is an index in `functions` */
	struct bb_symtab ranges;
};

struct bb_elf_symbols {
	Dwfl *dwfl;
	Elf *elf;
	/* socket to the parent process, which opens separate debug files for us; -1 means to use no
	 * such files */
	int socket;
	uint64_t bias;              /* address in libdwfl minus address in the file */
	struct bb_symtab functions; /* address ranges of the functions in the symbol table */
	struct dwarf_unit *units;
	size_t n_units;
	/* Address ranges of the units. bb_symbol.rank is an index in `units`. We collect the ranges
	 * ourselves, because clang writes no .debug_aranges. */
	struct bb_symtab ranges;
	uint64_t dwarf_bias; /* address in libdwfl minus address in DWARF */
	/* How many DWARF entries may still be read. There is a limit, because the entries of a
	 * damaged file can form a cycle. */
	size_t dies_left;
};

#define MAX_SYMBOLS 8000000
#define MAX_SEGMENTS 1024u
#define MAX_UNITS 200000u
#define MAX_RANGES 4096    /* most address ranges of one DWARF entry */
#define MAX_DIES 50000000u /* most DWARF entries that all look-ups in one file read together */
#define MAX_DEPTH 64
#define MAX_ID 64u

static void add_ranges(struct bb_symtab *t, Dwarf_Die *die, size_t index)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	for (int i = 0; i < MAX_RANGES; i++) {
		at = dwarf_ranges(die, at, &base, &start, &end);
		if (at <= 0)
			break;
		/* Skip code that the linker dropped. Its addresses begin at 0, 1 or -1. */
		if (start > 1 && start < UINT64_MAX - 1 && start < end)
			bb_symtab__add(t, start, end - start, "", 0, (uint32_t)index);
	}
}

static void list_units(struct bb_elf_symbols *s, Dwfl_Module *module)
{
	Dwarf_Addr bias = 0;
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
	struct dwarf_unit *unit;
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	s->dwarf_bias = bias;
	s->dies_left = MAX_DIES;
	while (dwarf && s->n_units < MAX_UNITS && s->dies_left-- &&
	       !dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &die, NULL)) {
		int tag = dwarf_tag(&die);

		if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
			continue;
		unit = bb_append(&s->units, &s->n_units, sizeof(*unit));
		unit->die = die;
		add_ranges(&s->ranges, &die, s->n_units - 1);
	}
	bb_symtab__sort(&s->ranges);
}

/* Lists the functions below the entry `parent`, also those in namespaces and types. Functions of
 * libdw do not suffice. dwfl_module_addrdie() needs .debug_aranges. dwarf_getscopes() of libdw
 * 0.188 does not find the functions that clang and rustc define in namespaces. */
static void list_functions(struct bb_elf_symbols *s, struct dwarf_unit *unit, Dwarf_Die *parent,
			   int depth)
{
	Dwarf_Die die, *function;

	if (depth > MAX_DEPTH || dwarf_child(parent, &die))
		return;
	do {
		if (!s->dies_left)
			return;
		s->dies_left--;
		switch (dwarf_tag(&die)) {
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type: list_functions(s, unit, &die, depth + 1); break;
		case DW_TAG_subprogram:
			function = bb_append(&unit->functions, &unit->n_functions, sizeof(die));
			*function = die;
			add_ranges(&unit->ranges, &die, unit->n_functions - 1);
			break;
		default: break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

/* Finds the child of `die` that contains the address and is an inlined function or a lexical
 * block. */
static bool child_at(struct bb_elf_symbols *s, Dwarf_Die *die, uint64_t address,
		     Dwarf_Die *ret_child)
{
	if (dwarf_child(die, ret_child))
		return false;
	do {
		int tag = dwarf_tag(ret_child);

		if (!s->dies_left)
			return false;
		s->dies_left--;
		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
		    dwarf_haspc(ret_child, address) > 0)
			return true;
	} while (!dwarf_siblingof(ret_child, ret_child));
	return false;
}

/* Finds the function that contains the address, and the functions inlined into it at the address.
 * ret_scopes[] receives the outermost function first. Returns the number of functions. */
static size_t find_scopes(struct bb_elf_symbols *s, struct dwarf_unit *unit, uint64_t address,
			  Dwarf_Die ret_scopes[BB_ELF_MAX_FRAMES])
{
	Dwarf_Die die, child;
	size_t n = 0;

	if (!unit->is_listed) {
		unit->is_listed = true;
		list_functions(s, unit, &unit->die, 0);
		bb_symtab__sort(&unit->ranges);
	}
	const struct bb_symbol *range = bb_symtab__find(&unit->ranges, address);
	if (!range)
		return 0;
	die = ret_scopes[n++] = unit->functions[range->rank];
	for (int depth = 0;
	     depth < MAX_DEPTH && n < BB_ELF_MAX_FRAMES && child_at(s, &die, address, &child);
	     depth++) {
		die = child;
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			ret_scopes[n++] = die;
	}
	return n;
}

static bool has_id(int fd, const unsigned char *id, size_t n)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	const void *found = NULL;
	ssize_t len = elf ? dwelf_elf_gnu_build_id(elf, &found) : -1;
	bool same = len > 0 && (size_t)len == n && !memcmp(found, id, n);

	elf_end(elf);
	return same;
}

static uint32_t crc_of(int fd)
{
	uLong crc = crc32(0, NULL, 0);
	unsigned char bytes[65536];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		crc = crc32(crc, bytes, (uInt)n);
		at += n;
	}
	return (uint32_t)crc;
}

static int find_no_elf(Dwfl_Module *, void **, const char *, Dwarf_Addr, char **, Elf **)
{
	return -1;
}

/* Runs in the child process, and asks the parent process for a separate debug file. A file that was
 * found by build id must have that id. A file that was found by debug link must have the link's
 * checksum. */
static int find_debug(Dwfl_Module *module, void **userdata, const char *, Dwarf_Addr, const char *,
		      const char *link, GElf_Word crc, char **ret_path)
{
	const struct bb_elf_symbols *s = *userdata;
	const unsigned char *id = NULL;
	char id_text[2 * MAX_ID + 1];
	GElf_Addr at;
	int n, fd = -1;

	*ret_path = NULL;
	if (!s || s->socket < 0)
		return -1;
	if (link && strchr(link, '/'))
		return bb_debug_file__ask(s->socket, BB_DEBUG_ALT, link);
	n = dwfl_module_build_id(module, &id, &at);
	if (n > 0 && n <= (int)MAX_ID) {
		for (int i = 0; i < n; i++)
			snprintf(id_text + 2 * i, 3, "%02x", id[i]);
		fd = bb_debug_file__ask(s->socket, BB_DEBUG_BUILD_ID, id_text);
		if (fd >= 0 && has_id(fd, id, (size_t)n))
			return fd;
		bb_close(&fd);
	}
	fd = link ? bb_debug_file__ask(s->socket, BB_DEBUG_LINK, link) : -1;
	if (fd < 0 || crc_of(fd) == crc)
		return fd;
	close(fd);
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_no_elf,
	.find_debuginfo = find_debug,
	.section_address = dwfl_offline_section_address,
};

static Dwfl_Module *report_file(struct bb_elf_symbols *s, int fd)
{
	Dwfl_Module *module;
	void **userdata;
	Elf64_Half type;

	/* An object file (ET_REL) is refused, because its code has no addresses yet. */
	if (pread(fd, &type, sizeof(type), offsetof(Elf64_Ehdr, e_type)) != sizeof(type) ||
	    (type != ET_EXEC && type != ET_DYN))
		return NULL;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	module = copy < 0 ? NULL : dwfl_report_elf(s->dwfl, "", "", copy, 0, true);
	if (!module && copy >= 0)
		close(copy);
	if (module && dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL))
		*userdata = s;
	return module;
}

/* If several names have one address, bb_symtab__sort() keeps only the best of them. A name with a
 * size is better than one without. Next, a global name is better than a weak one, and a weak name
 * better than a local one. Next, a name with fewer leading underscores is better. perf chooses in
 * the same way. */
static void read_symbols(struct bb_elf_symbols *s, Dwfl_Module *module)
{
	/* Each binding's rank, plus 1. The lowest rank is the best. A binding that is not listed
	 * here has 0. Its rank is the worst, because 0 - 1 wraps round to the highest number. */
	static const uint32_t ranks[16] = {[STB_GLOBAL] = 1, [STB_WEAK] = 2, [STB_LOCAL] = 3};
	int n = dwfl_module_getsymtab(module);

	for (int i = 1; i < n && i < MAX_SYMBOLS; i++) {
		GElf_Addr address;
		GElf_Word section;
		GElf_Sym sym;
		const char *name = dwfl_module_getsym_info(module, i, &sym, &address, &section,
							   NULL, NULL);
		int type = GELF_ST_TYPE(sym.st_info);
		size_t len; /* length of the name without a version such as "@@GLIBC_2.14" */

		if (!name || !*name || section == SHN_UNDEF ||
		    (type != STT_FUNC && type != STT_GNU_IFUNC))
			continue;
		len = name[0] == '@' ? strlen(name) : strcspn(name, "@");
		uint32_t rank = (ranks[GELF_ST_BIND(sym.st_info)] - 1) * 16 +
				(uint32_t)(strspn(name, "_") & 15);
		bb_symtab__add(&s->functions, address, sym.st_size, name, len, rank);
	}
	bb_symtab__sort(&s->functions);
}

struct bb_elf_symbols *bb_elf_symbols__open(int fd, enum bb_elf_depth depth, int socket)
{
	struct bb_elf_symbols *s = bb_calloc(1, sizeof(*s));
	Dwfl_Module *module = NULL;
	GElf_Addr bias = 0;

	s->socket = socket;
	s->dwfl = dwfl_begin(&callbacks);
	if (s->dwfl) {
		dwfl_report_begin(s->dwfl);
		module = report_file(s, fd);
		dwfl_report_end(s->dwfl, NULL, NULL);
	}
	if (module)
		s->elf = dwfl_module_getelf(module, &bias);
	s->bias = bias;
	if (!s->elf) {
		bb_elf_symbols__free(s);
		return NULL;
	}
	read_symbols(s, module);
	if (depth == BB_ELF_DWARF)
		list_units(s, module);
	return s;
}

bool bb_elf_symbols__address(const struct bb_elf_symbols *s, uint64_t offset, uint64_t *ret_address)
{
	GElf_Phdr p;
	size_t n = 0;

	elf_getphdrnum(s->elf, &n);
	for (size_t i = 0; i < n && i < MAX_SEGMENTS && gelf_getphdr(s->elf, (int)i, &p); i++)
		if (p.p_type == PT_LOAD && offset >= p.p_offset &&
		    offset - p.p_offset < p.p_filesz) {
			*ret_address = offset - p.p_offset + p.p_vaddr + s->bias;
			return true;
		}
	return false;
}

size_t bb_elf_symbols__find(struct bb_elf_symbols *s, uint64_t address,
			    struct bb_elf_frame ret_frames[BB_ELF_MAX_FRAMES])
{
	uint64_t in_dwarf = address - s->dwarf_bias;
	const struct bb_symbol *symbol = bb_symtab__find(&s->functions, address);
	const struct bb_symbol *range = bb_symtab__find(&s->ranges, in_dwarf);
	struct dwarf_unit *unit = range ? &s->units[range->rank] : NULL;
	Dwarf_Line *line = unit ? dwarf_getsrc_die(&unit->die, in_dwarf) : NULL;
	Dwarf_Die scopes[BB_ELF_MAX_FRAMES];
	size_t n = unit ? find_scopes(s, unit, in_dwarf, scopes) : 0, n_files = 0;
	Dwarf_Files *files = NULL;
	int line_number;

	memset(ret_frames, 0, BB_ELF_MAX_FRAMES * sizeof(*ret_frames));
	if (n)
		dwarf_getsrcfiles(&unit->die, &files, &n_files);
	for (size_t i = 0; i < n; i++) {
		struct bb_elf_frame *frame = &ret_frames[i];
		Dwarf_Attribute attribute;
		Dwarf_Word number;

		/* Prefer the mangled name, which also contains the class or module. */
		frame->function = dwarf_formstring(
			dwarf_attr_integrate(&scopes[i], DW_AT_linkage_name, &attribute));
		if (!frame->function)
			frame->function = dwarf_diename(&scopes[i]);
		frame->is_inlined = i > 0;
		if (!i)
			continue;
		/* the line at which the outer function calls this one */
		if (!dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &attribute), &number))
			frame[-1].line = (uint32_t)number;
		if (files &&
		    !dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file, &attribute),
				     &number) &&
		    number < n_files)
			frame[-1].file = dwarf_filesrc(files, number, NULL, NULL);
	}
	n = n ? n : 1;
	if (line) {
		ret_frames[n - 1].file = dwarf_linesrc(line, NULL, NULL);
		if (!dwarf_lineno(line, &line_number) && line_number > 0)
			ret_frames[n - 1].line = (uint32_t)line_number;
	}
	/* Prefer the name in the symbol table. It is complete in C++, and other tools show it. */
	if (symbol) {
		ret_frames[0].function = bb_symtab__name(&s->functions, symbol);
		ret_frames[0].start = symbol->start - s->bias;
		ret_frames[0].distance = address - symbol->start;
	}
	return ret_frames[0].function ? n : 0;
}

void bb_elf_symbols__free(struct bb_elf_symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_units; i++) {
		free(s->units[i].functions);
		bb_symtab__done(&s->units[i].ranges);
	}
	free(s->units);
	bb_symtab__done(&s->ranges);
	bb_symtab__done(&s->functions);
	if (s->dwfl)
		dwfl_end(s->dwfl);
	free(s);
}
