/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/std.h"

bool bb_is_shortage(int code)
{
	return code == -EMFILE || code == -ENFILE || code == -ENOMEM;
}

int bb_fail(struct bb_err *err, int code, const char *fmt, ...)
{
	static const char remedy[] = "; allow more open files (ulimit -n)";
	char text[sizeof(err->msg)]; /* copied first, because an argument may point into err->msg */
	int error = errno;
	va_list ap;

	if (!err)
		return code;
	errno = -code; /* so that %m in `fmt` gives the text of `code` */
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	errno = error;
	/* This remedy helps with every EMFILE, whatever the message says. */
	if (code == -EMFILE && !strstr(text, remedy) &&
	    strlen(text) + sizeof(remedy) <= sizeof(text))
		strcat(text, remedy);
	memcpy(err->msg, text, strlen(text) + 1);
	err->code = code;
	return code;
}

int bb_fail_nomem(struct bb_err *err)
{
	return bb_fail(err, -ENOMEM, "out of memory");
}

void *bb_append(void *items, size_t *n, size_t item_size)
{
	void *old, *grown;

	memcpy(&old, items, sizeof(old));
	grown = *n & (*n - 1) ? old : reallocarray(old, *n ? 2 * *n : 1, item_size);
	if (!grown)
		return NULL;
	memcpy(items, &grown, sizeof(grown));
	return memset((char *)grown + (*n)++ * item_size, 0, item_size);
}

int bb_reserve(void *items, size_t n, size_t *size, size_t item_size)
{
	size_t more = *size ? *size : 16;
	void *old, *grown;

	if (n <= *size)
		return 0;
	while (more < n)
		if (__builtin_mul_overflow(more, 2, &more))
			return -ENOMEM;
	memcpy(&old, items, sizeof(old));
	grown = reallocarray(old, more, item_size);
	if (!grown)
		return -ENOMEM;
	memcpy(items, &grown, sizeof(grown));
	*size = more;
	return 0;
}
