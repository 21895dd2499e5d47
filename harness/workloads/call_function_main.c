/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_function LIBRARY FUNCTION [ARGUMENT...] calls a function of a shared library on request, so
 * that uprobes on it can be measured. It runs as the user who called bpfbench, or as nobody if that
 * user is root, because the library may be malicious.
 *
 * Its stdin is a socket that preserves message boundaries. When the program has loaded the library,
 * it sends an empty message, or the text of an error. For each byte that it then receives, it calls
 * the function and sends the byte back. Arguments: "n64" is an integer, "r0.5" a floating-point
 * number, "tTEXT" a string, "b4096" a zeroed buffer of that many bytes.
 */
#include <dlfcn.h>
#include <ffi.h>

#include "base/parse.h"

#define MOST_ARGUMENTS 12

union value {
	int64_t number;
	double real;
	void *pointer;
};

struct call {
	void (*function)(void);
	ffi_cif cif;
	ffi_type *types[MOST_ARGUMENTS];
	union value values[MOST_ARGUMENTS];
	void *pointers[MOST_ARGUMENTS];
};

/* Returns 1, or 0 if the argument is invalid or there is no memory for it. */
static int take_argument(char *text, ffi_type **ret_type, union value *ret_value)
{
	uint64_t bytes;

	switch (*text++) {
	case 'n': *ret_type = &ffi_type_sint64; return !bb_parse_i64(text, &ret_value->number);
	case 'r': *ret_type = &ffi_type_double; return !bb_parse_double(text, &ret_value->real);
	case 't':
		*ret_type = &ffi_type_pointer;
		ret_value->pointer = text;
		return 1;
	case 'b':
		*ret_type = &ffi_type_pointer;
		if (bb_parse_u64(text, &bytes))
			return 0;
		ret_value->pointer = calloc(1, (size_t)bytes);
		return ret_value->pointer != NULL;
	default: return 0;
	}
}

/* Returns NULL, or why it failed. */
static const char *prepare(struct call *c, const char *library, const char *function, char **argv,
			   unsigned int n)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	void *found = handle ? dlsym(handle, function) : NULL;

	if (!found)
		return dlerror();
	memcpy(&c->function, &found, sizeof(found));
	for (unsigned int i = 0; i < n; i++) {
		if (!take_argument(argv[i], &c->types[i], &c->values[i]))
			return "an argument is invalid, or there is no memory for it";
		c->pointers[i] = &c->values[i];
	}
	return ffi_prep_cif(&c->cif, FFI_DEFAULT_ABI, n, &ffi_type_sint64, c->types) == FFI_OK
		       ? NULL
		       : "libffi does not take its arguments";
}

int main(int argc, char **argv)
{
	struct call c = {.function = NULL};
	const char *why = "usage: call_function LIBRARY FUNCTION [ARGUMENT...]";
	ffi_sarg result;
	char byte;

	if (argc >= 3 && argc - 3 <= (int)MOST_ARGUMENTS)
		why = prepare(&c, argv[1], argv[2], argv + 3, (unsigned int)argc - 3);
	if (send(0, why ? why : "", why ? strlen(why) : 0, 0) < 0) {
		fprintf(stderr, "call_function: it is started by bpfbench\n");
		return 2;
	}
	while (!why && recv(0, &byte, 1, 0) == 1) {
		ffi_call(&c.cif, c.function, &result, c.pointers);
		if (send(0, &byte, 1, 0) != 1)
			break;
	}
	return why ? 1 : 0;
}
