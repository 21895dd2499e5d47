/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/exporter.h"

static int put(const char *text, size_t len, FILE *out, struct bb_err *err)
{
	int error;

	errno = 0;
	if (fwrite(text, 1, len, out) == len && !fflush(out) && !ferror(out))
		return 0;
	error = errno ? errno : EIO;
	return bb_fail(err, -error,
		       "the output cannot be written: %s (choose another place with --output FILE)",
		       strerror(error));
}

int bb_export_whole(const struct bb_report *r, FILE *out,
		    int (*compose)(const struct bb_report *r, FILE *mem, struct bb_err *err),
		    struct bb_err *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&text, &len);
	int rc, failed;

	if (!mem)
		return bb_fail_nomem(err);
	rc = compose(r, mem, err);
	failed = ferror(mem);
	if ((fclose(mem) || failed) && !rc)
		rc = bb_fail_nomem(err);
	if (!rc)
		rc = put(text, len, out, err);
	free(text);
	return rc;
}
