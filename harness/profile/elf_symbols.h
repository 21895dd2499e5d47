/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_ELF_SYMBOLS_H
#define BB_PROFILE_ELF_SYMBOLS_H

#include "base/std.h"

/*
 * The functions and lines of addresses in an ELF file, by its symbol table and its debug
 * information, which may be in another file (found by build id or debug link). The file comes from
 * others and may be damaged: reading is bounded, but libdw may still fail on it; symbolize.c
 * therefore uses this in a process without rights. Nothing is opened by name.
 */
struct bb_elf_symbols;

/* How much of the file is to be trusted. */
enum bb_elf_depth { BB_ELF_SYMBOLS, BB_ELF_DWARF };

#define BB_ELF_MAX_FRAMES 32 /* functions inlined into each other at one address */

/* One function at an address. Strings belong to the bb_elf_symbols. */
struct bb_elf_frame {
	const char *function;
	const char *file; /* NULL: not known */
	uint32_t line;
	/* of the function, as the file numbers addresses; 0 for inlined ones */
	uint64_t start;
	uint64_t distance; /* of the address from there */
	bool is_inlined;
};

/*
 * Of the open file `fd` (a copy is made). NULL: not an ELF file that can be read, or no memory.
 * Files with debug information are asked for over `socket`, and checked; -1: there
 * are none.
 */
struct bb_elf_symbols *bb_elf_symbols__open(int fd, enum bb_elf_depth depth, int socket);

/* The address (as bb_elf_symbols__find takes it) of the byte at `offset` of the file; false: it is
 * in no segment. */
bool bb_elf_symbols__address(const struct bb_elf_symbols *s, uint64_t offset,
			     uint64_t *ret_address);

/*
 * The functions at that address, outermost first: that of the symbol table or DWARF, then the
 * functions inlined into it. Their number, 0 when nothing is known.
 */
size_t bb_elf_symbols__find(struct bb_elf_symbols *s, uint64_t address,
			    struct bb_elf_frame ret_frames[BB_ELF_MAX_FRAMES]);

void bb_elf_symbols__free(struct bb_elf_symbols *s);

/*
 * Debug information that is in a file of its own. The symbolizer's child may open nothing, so it
 * asks its parent over a socket (SOCK_SEQPACKET): one struct bb_debug_request, which is answered by
 * bb_descriptor__send() with the descriptor of the file, or without one.
 */
enum bb_debug_kind {
	BB_DEBUG_BUILD_ID, /* a file by `id`, in hexadecimal */
	BB_DEBUG_LINK,     /* .gnu_debuglink: `name`, beside the file or in /usr/lib/debug */
	BB_DEBUG_ALT,      /* .gnu_debugaltlink: `name` below /usr/lib/debug/.dwz/ */
};

struct bb_debug_request {
	uint32_t kind;
	char name[256]; /* with its NUL */
};

/*
 * In the parent: open the debug file that is requested for the file of that path, whose open
 * descriptor is `of_fd`. Only a regular file will do, of root or of the user whom that file belongs
 * to: others could put one in its folder. The descriptor, or -errno: -EINVAL for a malformed
 * request.
 */
int bb_debug_file__open(const struct bb_debug_request *request, const char *path, int of_fd);

/* In the child: ask, and wait for the answer. The descriptor, or -errno. */
int bb_debug_file__ask(int socket, enum bb_debug_kind kind, const char *name);

#endif
