/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Embeds a file of the source tree as `const char name[]`, which ends in a NUL. `path` is relative
 * to the root of the tree, where make runs the compiler. The Makefile must list the file as a
 * dependency of the object file that embeds it. */
#define BB_ASSET(name, path)                                                                       \
	__asm__(".pushsection .rodata\n" #name ":\n.incbin \"" path "\"\n.byte 0\n"                \
		".popsection\n");                                                                  \
	extern const char name[]
