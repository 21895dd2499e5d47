/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool bb_is_shortage(int code)
{
	return code == -EMFILE || code == -ENFILE || code == -ENOMEM;
}

/* Whatever the message says: this is what helps. */
static void add_remedy(int code, char *text, size_t size)
{
	static const char remedy[] = "; allow more open files (ulimit -n)";
	size_t len = strlen(text);

	if (code == -EMFILE && !strstr(text, remedy) && len + sizeof(remedy) <= size)
		memcpy(text + len, remedy, sizeof(remedy));
}

int bb_fail(struct bb_err *err, int code, const char *fmt, ...)
{
	if (err) {
		char text[sizeof(err->msg)]; /* the message that is there may be an argument */
		va_list ap;

		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		add_remedy(code, text, sizeof(text));
		memcpy(err->msg, text, strlen(text) + 1);
		err->code = code;
	}
	return code;
}

int bb_fail_nomem(struct bb_err *err)
{
	return bb_fail(err, -ENOMEM, "out of memory");
}
