/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/elf_symbols.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/grow.h"
#include "profile/debug_files.h"
#include "profile/idmap.h"
#include "profile/symtab.h"

/*
 * Where in DWARF the code at an address is described. Compilation units are indexed at once, by
 * their own ranges (clang writes no .debug_aranges), and the functions of a unit when an address of
 * it is asked for.
 */
struct dwarf_range {
	uint64_t start, end; /* as in DWARF */
	uint32_t index;      /* of the unit, or the function within it */
};

struct dwarf_ranges {
	struct dwarf_range *v;
	size_t n, size;
};

struct dwarf_unit {
	Dwarf_Die die;
	bool is_indexed;
	Dwarf_Die *functions;
	size_t n_functions, functions_size;
	struct dwarf_ranges ranges; /* of the functions */
};

struct dwarf_index {
	struct dwarf_unit *units;
	size_t n, size;
	struct dwarf_ranges ranges; /* of the units */
	/* how many more entries may be looked at: damaged files can go in circles */
	size_t dies_left;
};

#define MAX_UNITS 200000u
#define MAX_RANGES 4096    /* of one entry */
#define MAX_DIES 50000000u /* of one file, all look-ups together */
#define MAX_DEPTH 64

static int add_range(struct dwarf_ranges *r, uint64_t start, uint64_t end, uint32_t index)
{
	if (start >= end)
		return 0;
	if (bb_reserve(&r->v, r->n + 1, &r->size, sizeof(*r->v)))
		return -ENOMEM;
	r->v[r->n++] = (struct dwarf_range){.start = start, .end = end, .index = index};
	return 0;
}

static int add_ranges_of(struct dwarf_ranges *r, Dwarf_Die *die, uint32_t index)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	for (int i = 0; i < MAX_RANGES; i++) {
		at = dwarf_ranges(die, at, &base, &start, &end);
		if (at <= 0)
			break;
		/* What the linker threw away is left at 0 (or 1, or -1). */
		if (start > 1 && start < UINT64_MAX - 1 && add_range(r, start, end, index))
			return -ENOMEM;
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct dwarf_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void sort_ranges(struct dwarf_ranges *r)
{
	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_start);
}

static const struct dwarf_range *find_range(const struct dwarf_ranges *r, uint64_t address)
{
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->v[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	/* Ranges do not overlap in a sane file; a few steps back are enough for those that nearly
	 * are. */
	for (size_t back = 0; back < 4 && back < low; back++)
		if (address < r->v[low - 1 - back].end)
			return &r->v[low - 1 - back];
	return NULL;
}

static int add_unit(struct dwarf_index *index, Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
		return 0;
	if (bb_reserve(&index->units, index->n + 1, &index->size, sizeof(*index->units)))
		return -ENOMEM;
	index->units[index->n] = (struct dwarf_unit){.die = *die};
	if (add_ranges_of(&index->ranges, die, (uint32_t)index->n))
		return -ENOMEM;
	index->n++;
	return 0;
}

/* Index the units of the module. 0, -ENOENT without DWARF, -ENOMEM. ret_bias: module address -
 * DWARF address. */
static int dwarf_index_build(struct dwarf_index *index, Dwfl_Module *module, uint64_t *ret_bias)
{
	Dwarf_Addr bias = 0;
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	int rc = 0;

	memset(index, 0, sizeof(*index));
	index->dies_left = MAX_DIES;
	if (!dwarf)
		return -ENOENT;
	while (!rc && index->n < MAX_UNITS && index->dies_left-- &&
	       !dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &die, NULL))
		rc = add_unit(index, &die);
	sort_ranges(&index->ranges);
	*ret_bias = bias;
	return rc;
}

/* The unit of a DWARF address; NULL. */
static struct dwarf_unit *dwarf_index_unit(struct dwarf_index *index, uint64_t address)
{
	const struct dwarf_range *r = find_range(&index->ranges, address);

	return r ? &index->units[r->index] : NULL;
}

static bool may_hold_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* The functions among the children of `parent`, and in the namespaces and types among these. */
static int index_functions(struct dwarf_index *index, struct dwarf_unit *unit, Dwarf_Die *parent,
			   int depth)
{
	Dwarf_Die die;
	int rc = 0;

	if (depth > MAX_DEPTH || dwarf_child(parent, &die))
		return 0;
	do {
		int tag = dwarf_tag(&die);

		if (!index->dies_left)
			return 0;
		index->dies_left--;
		if (may_hold_functions(tag))
			rc = index_functions(index, unit, &die, depth + 1);
		if (rc || tag != DW_TAG_subprogram)
			continue;
		if (bb_reserve(&unit->functions, unit->n_functions + 1, &unit->functions_size,
			       sizeof(die)))
			return -ENOMEM;
		unit->functions[unit->n_functions] = die;
		rc = add_ranges_of(&unit->ranges, &die, (uint32_t)unit->n_functions++);
	} while (!rc && !dwarf_siblingof(&die, &die));
	return rc;
}

/* The child of `die`, of any that hold code, that the address is in. */
static bool child_at(struct dwarf_index *index, Dwarf_Die *die, uint64_t address,
		     Dwarf_Die *ret_child)
{
	if (dwarf_child(die, ret_child))
		return false;
	do {
		int tag = dwarf_tag(ret_child);

		if (!index->dies_left)
			return false;
		index->dies_left--;
		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
		    dwarf_haspc(ret_child, address) > 0)
			return true;
	} while (!dwarf_siblingof(ret_child, ret_child));
	return false;
}

/*
 * The function that the address is in, and then those inlined there, outermost first: their number,
 * 0 for none. Of a function of the source text, the entry says where it was called:
 * DW_AT_call_line.
 */
static size_t dwarf_index_scopes(struct dwarf_index *index, struct dwarf_unit *unit,
				 uint64_t address, Dwarf_Die *ret_scopes, size_t max)
{
	const struct dwarf_range *r;
	Dwarf_Die die, child;
	size_t n = 0;

	if (!unit->is_indexed) {
		unit->is_indexed = true;
		if (index_functions(index, unit, &unit->die, 0))
			return 0;
		sort_ranges(&unit->ranges);
	}
	r = find_range(&unit->ranges, address);
	if (!r || !max)
		return 0;
	die = ret_scopes[n++] = unit->functions[r->index];
	for (int depth = 0; depth < MAX_DEPTH && n < max && child_at(index, &die, address, &child);
	     depth++) {
		die = child;
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			ret_scopes[n++] = die;
	}
	return n;
}

static void dwarf_index_done(struct dwarf_index *index)
{
	for (size_t i = 0; i < index->n; i++) {
		free(index->units[i].functions);
		free(index->units[i].ranges.v);
	}
	free(index->units);
	free(index->ranges.v);
	memset(index, 0, sizeof(*index));
}

#define MAX_ID 64u

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

static int keep_if(bool is_it, int fd)
{
	if (fd >= 0 && !is_it)
		close(fd);
	return fd >= 0 && is_it ? fd : -1;
}

/*
 * In the symbolizer's child: ask for debug information that is in a file of its own, over `socket`
 * (debug_files.h), and check that it belongs to the file that names it: it has its build id, or the
 * check sum of its debug link. The descriptor; -1: there is none.
 */
static int debug_info_by_id(int socket, const unsigned char *id, size_t n)
{
	char name[2 * MAX_ID + 1];
	int fd;

	if (n > MAX_ID)
		return -1;
	for (size_t i = 0; i < n; i++)
		snprintf(name + 2 * i, 3, "%02x", id[i]);
	fd = bb_debug_file__ask(socket, BB_DEBUG_BUILD_ID, name);
	return keep_if(fd >= 0 && has_id(fd, id, n), fd);
}

static int debug_info_by_link(int socket, const char *link, uint32_t crc)
{
	int fd = bb_debug_file__ask(socket, BB_DEBUG_LINK, link);

	return keep_if(fd >= 0 && crc_of(fd) == crc, fd);
}

#define MAX_SYMBOLS 8000000
#define MAX_SEGMENTS 1024u

struct segment {
	uint64_t offset, size, address;
};

struct bb_elf_symbols {
	Dwfl *dwfl;
	int socket;    /* to ask for debug information */
	uint64_t bias; /* of libdwfl's addresses to the file's */
	struct segment *segments;
	size_t n_segments, segments_size;
	struct bb_symtab functions;
	bool has_dwarf;
	struct dwarf_index dwarf;
	uint64_t dwarf_bias;
};

static int find_no_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		       char **ret_path, Elf **ret_elf)
{
	(void)module, (void)userdata, (void)name, (void)base, (void)ret_path, (void)ret_elf;
	return -1;
}

static int find_debug(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		      const char *file, const char *link, GElf_Word crc, char **ret_path)
{
	const struct bb_elf_symbols *s = *userdata;
	const unsigned char *id = NULL;
	GElf_Addr at;
	int n, fd = -1;

	(void)name, (void)base, (void)file;
	*ret_path = NULL;
	if (!s || s->socket < 0)
		return -1;
	if (link && strchr(link, '/'))
		return bb_debug_file__ask(s->socket, BB_DEBUG_ALT, link);
	n = dwfl_module_build_id(module, &id, &at);
	if (n > 0)
		fd = debug_info_by_id(s->socket, id, (size_t)n);
	return fd < 0 && link ? debug_info_by_link(s->socket, link, crc) : fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_no_elf,
	.find_debuginfo = find_debug,
	.section_address = dwfl_offline_section_address,
};

/* A program or a library. What is not linked (ET_REL) has no addresses that code runs at. */
static bool is_linked(int fd)
{
	Elf64_Half type;

	return pread(fd, &type, sizeof(type), offsetof(Elf64_Ehdr, e_type)) == sizeof(type) &&
	       (type == ET_EXEC || type == ET_DYN);
}

static Dwfl_Module *report_file(struct bb_elf_symbols *s, int fd)
{
	int copy = is_linked(fd) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	Dwfl_Module *module = copy < 0 ? NULL : dwfl_report_elf(s->dwfl, "", "", copy, 0, true);
	void **userdata;

	if (!module && copy >= 0)
		close(copy);
	if (module && dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL))
		*userdata = s;
	return module;
}

static int read_segments(struct bb_elf_symbols *s, Elf *elf)
{
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return 0;
	for (size_t i = 0; i < n && i < MAX_SEGMENTS; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD)
			continue;
		if (bb_reserve(&s->segments, s->n_segments + 1, &s->segments_size,
			       sizeof(*s->segments)))
			return -1;
		s->segments[s->n_segments++] = (struct segment){
			.offset = phdr.p_offset,
			.size = phdr.p_filesz,
			.address = phdr.p_vaddr,
		};
	}
	return 0;
}

/* Of several names at one address: global before weak before local, and without leading
 * underscores, as perf chooses. */
static uint32_t rank_of(const GElf_Sym *sym, const char *name)
{
	static const uint32_t of_binding[] = {[STB_LOCAL] = 2, [STB_GLOBAL] = 0, [STB_WEAK] = 1};
	unsigned int binding = GELF_ST_BIND(sym->st_info);

	return (binding < sizeof(of_binding) / sizeof(of_binding[0]) ? of_binding[binding] : 3) *
		       16 +
	       (uint32_t)(strspn(name, "_") & 15);
}

/* Without the version: memcpy@@GLIBC_2.14. */
static size_t name_len(const char *name)
{
	return name[0] == '@' ? strlen(name) : strcspn(name, "@");
}

static int read_symbols(struct bb_elf_symbols *s, Dwfl_Module *module)
{
	int n = dwfl_module_getsymtab(module);

	for (int i = 1; i < n && i < MAX_SYMBOLS; i++) {
		GElf_Addr address;
		GElf_Word section;
		GElf_Sym sym;
		const char *name = dwfl_module_getsym_info(module, i, &sym, &address, &section,
							   NULL, NULL);
		int type = GELF_ST_TYPE(sym.st_info);

		if (!name || !*name || section == SHN_UNDEF ||
		    (type != STT_FUNC && type != STT_GNU_IFUNC))
			continue;
		if (bb_symtab__add(&s->functions, address, sym.st_size, name, name_len(name),
				   rank_of(&sym, name)))
			return -1;
	}
	bb_symtab__sort(&s->functions);
	return 0;
}

struct bb_elf_symbols *bb_elf_symbols__open(int fd, enum bb_elf_depth depth, int socket)
{
	struct bb_elf_symbols *s = calloc(1, sizeof(*s));
	Dwfl_Module *module = NULL;
	GElf_Addr bias = 0;
	Elf *elf = NULL;

	if (!s)
		return NULL;
	s->socket = socket;
	s->dwfl = dwfl_begin(&callbacks);
	if (s->dwfl) {
		dwfl_report_begin(s->dwfl);
		module = report_file(s, fd);
		dwfl_report_end(s->dwfl, NULL, NULL);
	}
	if (module)
		elf = dwfl_module_getelf(module, &bias);
	s->bias = bias;
	if (!elf || read_segments(s, elf) || read_symbols(s, module)) {
		bb_elf_symbols__free(s);
		return NULL;
	}
	if (depth == BB_ELF_DWARF)
		s->has_dwarf = !dwarf_index_build(&s->dwarf, module, &s->dwarf_bias);
	return s;
}

bool bb_elf_symbols__address(const struct bb_elf_symbols *s, uint64_t offset, uint64_t *ret_address)
{
	for (size_t i = 0; i < s->n_segments; i++) {
		const struct segment *g = &s->segments[i];

		if (offset >= g->offset && offset - g->offset < g->size) {
			*ret_address = offset - g->offset + g->address + s->bias;
			return true;
		}
	}
	return false;
}

/* As it was mangled, which says more than the name in its source: of what class or module it is. */
static const char *name_of(Dwarf_Die *scope)
{
	Dwarf_Attribute attribute;
	const char *linkage =
		dwarf_formstring(dwarf_attr_integrate(scope, DW_AT_linkage_name, &attribute));

	return linkage ? linkage : dwarf_diename(scope);
}

/* The frames' own names and the places of calls: the line of a frame is where the next inner one
 * was called. */
static void fill_frames(const Dwarf_Die *scopes, size_t n, struct dwarf_unit *unit,
			struct bb_elf_frame *frames)
{
	Dwarf_Files *files = NULL;
	size_t n_files = 0;

	dwarf_getsrcfiles(&unit->die, &files, &n_files);
	for (size_t i = 0; i < n; i++) {
		Dwarf_Die scope = scopes[i];
		Dwarf_Attribute attribute;
		Dwarf_Word number;

		frames[i].function = name_of(&scope);
		frames[i].is_inlined = i > 0;
		if (!i)
			continue;
		if (!dwarf_formudata(dwarf_attr(&scope, DW_AT_call_line, &attribute), &number))
			frames[i - 1].line = (uint32_t)number;
		if (files &&
		    !dwarf_formudata(dwarf_attr(&scope, DW_AT_call_file, &attribute), &number) &&
		    number < n_files)
			frames[i - 1].file = dwarf_filesrc(files, number, NULL, NULL);
	}
}

static size_t find_in_dwarf(struct bb_elf_symbols *s, uint64_t address, struct bb_elf_frame *frames)
{
	uint64_t in_dwarf = address - s->dwarf_bias;
	struct dwarf_unit *unit = dwarf_index_unit(&s->dwarf, in_dwarf);
	Dwarf_Die scopes[BB_ELF_MAX_FRAMES];
	Dwarf_Line *line;
	int number;
	size_t n;

	if (!unit)
		return 0;
	n = dwarf_index_scopes(&s->dwarf, unit, in_dwarf, scopes, BB_ELF_MAX_FRAMES);
	if (n)
		fill_frames(scopes, n, unit, frames);
	else
		n = 1; /* a line is known all the same: of assembly, say */
	line = dwarf_getsrc_die(&unit->die, in_dwarf);
	if (line) {
		frames[n - 1].file = dwarf_linesrc(line, NULL, NULL);
		if (!dwarf_lineno(line, &number) && number > 0)
			frames[n - 1].line = (uint32_t)number;
	}
	return n;
}

size_t bb_elf_symbols__find(struct bb_elf_symbols *s, uint64_t address,
			    struct bb_elf_frame ret_frames[BB_ELF_MAX_FRAMES])
{
	const struct bb_symbol *symbol = bb_symtab__find(&s->functions, address);
	size_t n = 0;

	memset(ret_frames, 0, BB_ELF_MAX_FRAMES * sizeof(*ret_frames));
	if (s->has_dwarf)
		n = find_in_dwarf(s, address, ret_frames);
	if (symbol) { /* its name is whole (C++), and is the one that other tools show */
		ret_frames[0].function = bb_symtab__name(&s->functions, symbol);
		ret_frames[0].start = symbol->start - s->bias;
		ret_frames[0].distance = address - symbol->start;
		n = n ? n : 1;
	}
	if (n && !ret_frames[0].function)
		return 0;
	return n;
}

void bb_elf_symbols__free(struct bb_elf_symbols *s)
{
	if (!s)
		return;
	dwarf_index_done(&s->dwarf);
	bb_symtab__done(&s->functions);
	free(s->segments);
	if (s->dwfl)
		dwfl_end(s->dwfl);
	free(s);
}
