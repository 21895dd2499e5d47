/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int bb_vfail(struct bb_err *err, int code, const char *fmt, va_list ap)
{
	if (err) {
		char text[sizeof(err->msg)]; /* the message that is there may be an argument */

		vsnprintf(text, sizeof(text), fmt, ap);
		memcpy(err->msg, text, strlen(text) + 1);
		err->code = code;
	}
	return code;
}

int bb_fail(struct bb_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	bb_vfail(err, code, fmt, ap);
	va_end(ap);
	return code;
}

int bb_fail_nomem(struct bb_err *err)
{
	return bb_fail(err, -ENOMEM, "out of memory");
}
