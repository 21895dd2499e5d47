/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bmf_check < FILE: exits with 0 if stdin is strictly valid BMF, else with 1 and the reason on
 * stderr. For the shell tests. */
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
	/* Reads at most one byte more than a request may have: such a file is too long. */
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
