/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>

int bb_vfail(struct bb_err *err, int code, const char *fmt, va_list ap)
{
	if (err) {
		err->code = code;
		vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
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
