/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/err.h"

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
