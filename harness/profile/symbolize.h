/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/spaces.h"

/* Finds functions and lines by address in an ELF file, from its symbol table and its debug
 * information, which may be in a separate file. The files are untrusted and may make libdw crash.
 * So bb_symbolize() uses these functions in a process without rights, and they open no file by
 * name. */
struct bb_elf_symbols;

/* BB_ELF_DWARF reads the symbol table and the debug information. */
enum bb_elf_depth { BB_ELF_SYMBOLS, BB_ELF_DWARF };

/* most functions at one address: an outer function and those inlined into it */
#define BB_ELF_MAX_FRAMES 32

/* One function at an address. Its texts belong to the struct bb_elf_symbols. */
struct bb_elf_frame {
	const char *function;
	const char *file; /* source file; NULL if unknown */
	uint32_t line;    /* 0 if unknown */
	/* address of the function's start in the ELF file; 0 if it is inlined or has no symbol */
	uint64_t start;
	/* bytes from `start` to the address that was looked up; 0 if `start` is 0 */
	uint64_t distance;
	bool is_inlined;
};

/* Opens the symbols of the ELF file `fd`, which is duplicated. Asks for separate debug files over
 * `socket`, or uses none if it is -1. Returns NULL if the file is not readable ELF. */
struct bb_elf_symbols *bb_elf_symbols__open(int fd, enum bb_elf_depth depth, int socket);

/* Converts a file offset into an address. Returns false if no loaded segment contains it. */
bool bb_elf_symbols__address(const struct bb_elf_symbols *s, uint64_t offset,
			     uint64_t *ret_address);

/* Finds the functions at an address, outermost first: one, then those inlined into it. Returns
 * their number. */
size_t bb_elf_symbols__find(struct bb_elf_symbols *s, uint64_t address,
			    struct bb_elf_frame ret_frames[BB_ELF_MAX_FRAMES]);

void bb_elf_symbols__free(struct bb_elf_symbols *s);

/* The child process that reads ELF files may open no file. So it asks its parent for separate debug
 * files by a struct bb_debug_request over a socket (SOCK_SEQPACKET). The parent answers by
 * bb_descriptor__send(), with the descriptor of the file or without one. */
enum bb_debug_kind {
	BB_DEBUG_BUILD_ID, /* `name` is a build id, in hexadecimal */
	/* `name` comes from .gnu_debuglink: a file beside the ELF file or in /usr/lib/debug */
	BB_DEBUG_LINK,
	BB_DEBUG_ALT, /* `name` comes from .gnu_debugaltlink: a file below /usr/lib/debug/.dwz/ */
};

struct bb_debug_request {
	uint32_t kind;
	char name[256]; /* ends in NUL */
};

/* In the parent: opens the debug file that is requested for the ELF file at `path`, open as
 * `of_fd`. It must be a regular file that belongs to root or, except for BB_DEBUG_ALT, to the owner
 * of the ELF file, because other users may be able to put files into the ELF file's folder. Returns
 * a descriptor, or -errno. -EINVAL means a malformed request. */
int bb_debug_file__open(const struct bb_debug_request *request, const char *path, int of_fd);

/* In the child: sends a request, and waits for the answer. Returns a descriptor, or -errno. */
int bb_debug_file__ask(int socket, enum bb_debug_kind kind, const char *name);

struct bb_code_location {
	uint32_t dso; /* index of the file in bb_dsos.v */
	uint32_t id;  /* any number that the caller chooses */
	uint64_t offset;
};

/* Called for each function at locations[location], outermost first. The texts of `frame` are valid
 * during the call. A return value other than 0 ends the look-up. */
typedef int (*bb_location_found)(void *arg, uint32_t location, const struct bb_elf_frame *frame);

struct bb_symbolize_result {
	uint32_t n_damaged; /* files on which libdw crashed, failed or took too long */
	char damaged[256];  /* names of these files, as many as fit */
};

#define BB_SYMBOLIZE_SECONDS 120u /* time limit for one file with its debug information, s */

/* Looks up locations[n], sorted by dso. Each file is untrusted, so a child process without rights
 * reads it, with limits of memory and of time (`file_seconds`). Three children work at a time. If a
 * child fails, another one tries the file without debug information. Locations may stay without a
 * function. Returns 0, or -errno with a message. -EINTR means that a signal asks us to stop. */
int bb_symbolize(const struct bb_dsos *dsos, const struct bb_code_location *locations, size_t n,
		 uint32_t file_seconds, bb_location_found found, void *arg,
		 struct bb_symbolize_result *ret_result, struct bb_err *err);

/* Demangles a C++ or Rust name, without parameters and without Rust's hash. Returns false if the
 * name is malformed, too long or not mangled, or if the result does not fit. Names are untrusted,
 * and a few bytes can stand for an endless name, so the output stops at `size` bytes. */
bool bb_demangle(const char *name, char *ret_text, size_t size);
