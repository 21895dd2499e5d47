/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_ASSET_H
#define BB_BASE_ASSET_H

/*
 * The text of a file of the source tree as `const char name[]`, ended by a NUL: in the program
 * itself, so that nothing is looked up at run time. `path` is from the tree's root, where make
 * compiles; the Makefile names the file as a dependency of the object that has it.
 */
#define BB_ASSET(name, path)                                                                       \
	__asm__(".pushsection .rodata\n" #name ":\n.incbin \"" path "\"\n.byte 0\n"                \
		".popsection\n");                                                                  \
	extern const char name[]

#endif
