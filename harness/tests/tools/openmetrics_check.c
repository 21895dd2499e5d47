/* SPDX-License-Identifier: GPL-2.0-or-later */
/* openmetrics_check < FILE: exit 0 when stdin is what openmetrics_check.h takes, else 1 with the
 * reason on stderr. */
#include <stdio.h>

#include "openmetrics_check.h"

int main(void)
{
	static char text[4u << 20];
	struct bb_err err = {0};
	size_t len = fread(text, 1, sizeof(text) - 1, stdin);

	text[len] = '\0';
	if (!bb_openmetrics_check(text, &err))
		return 0;
	fprintf(stderr, "openmetrics_check: %s\n", err.msg);
	return 1;
}
