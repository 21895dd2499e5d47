/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bmf_check < FILE: exit 0 when stdin is strictly valid BMF, else 1 with the reason on stderr. For
 * the shell tests. */
#include <stdio.h>
#include <stdlib.h>

#include "bmf_check.h"

int main(void)
{
	size_t cap = BB_BMF_MAX_BYTES + 1, len;
	struct bb_err err = {0};
	char *text = malloc(cap);
	int rc;

	if (!text) {
		fprintf(stderr, "bmf_check: out of memory\n");
		return 1;
	}
	/* One byte more than a request may have is enough to know. */
	len = fread(text, 1, cap, stdin);
	if (ferror(stdin))
		rc = bb_fail(&err, -EIO, "cannot read stdin");
	else
		rc = bb_bmf_check(text, len, &err);
	if (rc)
		fprintf(stderr, "bmf_check: %s\n", err.msg);
	free(text);
	return rc ? 1 : 0;
}
