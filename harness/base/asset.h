/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Embeds a file of the source tree as `const char name[]`, which ends in a NUL. `path` is relative
 * to the tree's root, where make compiles. The Makefile lists the file as a dependency of the
 * object that embeds it.
 */
#define BB_ASSET(name, path)                                                                       \
	__asm__(".pushsection .rodata\n" #name ":\n.incbin \"" path "\"\n.byte 0\n"                \
		".popsection\n");                                                                  \
	extern const char name[]
