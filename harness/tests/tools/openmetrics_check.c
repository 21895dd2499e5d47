/* SPDX-License-Identifier: GPL-2.0-or-later */
/* openmetrics_check < FILE: exits with 0 if openmetrics_check.h accepts stdin, else with 1 and the
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
