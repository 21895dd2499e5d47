/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/symbolize.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#define MAX_MANGLED 4096u /* libiberty keeps some 30 bytes for each byte of it on the stack */

struct text {
	char *text;
	size_t len, size;
	jmp_buf is_full;
};

/* libiberty cannot be told to stop. It has nothing allocated while it calls this, but for a part of
 * a Rust name in Punycode. */
static void append_piece(const char *piece, size_t len, void *arg)
{
	struct text *t = arg;

	if (len >= t->size - t->len)
		longjmp(t->is_full, 1);
	if (len) /* of nothing, libiberty gives no address */
		memcpy(t->text + t->len, piece, len);
	t->len += len;
}

/* A legacy name of Rust is one of C++, too: Rust comes first. */
static bool demangle(const char *name, struct text *t)
{
	if (rust_demangle_callback(name, DMGL_NO_OPTS, append_piece, t))
		return true;
	t->len = 0;
	return cplus_demangle_v3_callback(name, DMGL_NO_OPTS, append_piece, t);
}

bool bb_demangle(const char *name, char *ret_text, size_t size)
{
	struct text t = {.text = ret_text, .size = size};

	if ((strncmp(name, "_Z", 2) && strncmp(name, "_R", 2)) ||
	    strnlen(name, MAX_MANGLED) == MAX_MANGLED)
		return false;
	if (setjmp(t.is_full) || !demangle(name, &t) || !t.len)
		return false;
	ret_text[t.len] = '\0';
	return true;
}
