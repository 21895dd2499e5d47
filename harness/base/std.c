/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/std.h"

bool bb_is_shortage(int code)
{
	return code == -EMFILE || code == -ENFILE || code == -ENOMEM;
}

int bb_fail(struct bb_err *err, int code, const char *fmt, ...)
{
	static const char remedy[] = "; allow more open files (ulimit -n)";
	/* an argument may point into err->msg, so the message is made here and copied later */
	char text[sizeof(err->msg)];
	int error = errno;
	va_list ap;

	if (!err)
		return code;
	errno = -code; /* for %m in `fmt` */
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	errno = error;
	if (code == -EMFILE && !strstr(text, remedy) &&
	    strlen(text) + sizeof(remedy) <= sizeof(text))
		strcat(text, remedy);
	memcpy(err->msg, text, strlen(text) + 1);
	err->code = code;
	return code;
}

/* Calls write(), because the buffer of a stream may hold text that the parent process writes
 * itself. A child process would write this text a second time. */
void bb_out_of_memory(void)
{
	static const char text[] = "bpfbench: out of memory\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(BB_EXIT_NO_MEMORY);
	_exit(BB_EXIT_NO_MEMORY);
}

static void *not_null(void *memory)
{
	if (!memory)
		bb_out_of_memory();
	return memory;
}

void *bb_calloc(size_t n, size_t size)
{
	return not_null(calloc(n ? n : 1, size ? size : 1));
}

char *bb_strdup(const char *text)
{
	return not_null(strdup(text));
}

char *bb_strndup(const char *text, size_t len)
{
	return not_null(strndup(text, len));
}

void *bb_memdup(const void *data, size_t size)
{
	void *copy = bb_calloc(1, size);

	return size ? memcpy(copy, data, size) : copy;
}

char *bb_vasprintf(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		bb_out_of_memory();
	return text;
}

char *bb_asprintf(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *text = bb_vasprintf(fmt, ap);
	va_end(ap);
	return text;
}

void *bb_map_pages(size_t size, int flags)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		bb_out_of_memory();
	return pages;
}

FILE *bb_open_memstream(char **ret_text, size_t *ret_len)
{
	return not_null(open_memstream(ret_text, ret_len));
}

void bb_close_memstream(FILE *stream)
{
	bool failed = ferror(stream);

	if (fclose(stream) || failed)
		bb_out_of_memory();
}

void bb_resize(void *items, size_t n, size_t item_size)
{
	void *old, *resized;

	memcpy(&old, items, sizeof(old));
	resized = not_null(reallocarray(old, n, item_size));
	memcpy(items, &resized, sizeof(resized));
}

void *bb_append(void *items, size_t *n, size_t item_size)
{
	char *array;

	if (!(*n & (*n - 1)))
		bb_resize(items, *n ? 2 * *n : 1, item_size);
	memcpy(&array, items, sizeof(array));
	return memset(array + (*n)++ * item_size, 0, item_size);
}

void bb_reserve(void *items, size_t n, size_t *size, size_t item_size)
{
	size_t more = *size ? *size : 16;

	if (n <= *size)
		return;
	while (more < n)
		if (__builtin_mul_overflow(more, 2, &more))
			bb_out_of_memory();
	bb_resize(items, more, item_size);
	*size = more;
}
