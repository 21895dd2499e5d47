/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lcov's tracefile (geninfo(1)): how often each line of the source was executed, for coverage
 * viewers such as genhtml. A test for each program; viewers add them up.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

#include "export/exporter.h"
#include "judge/annotated.h"

/* lines[n] are those of one file; line 0 is the compiler's own. */
static void put_file(const struct bb_counted *c, const struct bb_counted_line *lines, size_t n,
		     FILE *mem)
{
	size_t found = 0, hit = 0;

	fputs("TN:", mem);
	for (const char *at = c->name; *at; at++) /* has letters, digits and '_' only */
		putc(isalnum((unsigned char)*at) ? *at : '_', mem);
	fprintf(mem, "\nSF:%s\n", lines[0].file);
	for (size_t i = 0; i < n; i++) {
		if (!lines[i].line)
			continue;
		fprintf(mem, "DA:%u,%" PRIu64 "\n", lines[i].line, lines[i].executions);
		found++;
		hit += lines[i].executions > 0;
	}
	fprintf(mem, "LF:%zu\nLH:%zu\nend_of_record\n", found, hit);
}

int bb_export_lcov(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	size_t files = 0;

	for (size_t k = 0; k < r->n_counted; k++) {
		const struct bb_counted *c = &r->counted[k];

		for (size_t i = 0, n; i < c->n_lines; i += n, files++) {
			n = bb_counted__lines_of_file(c, i);
			put_file(c, &c->lines[i], n, mem);
		}
	}
	if (!files)
		return bb_fail(err, -ENODATA, "%s",
			       r->n_counted ? "the programs have no line information: build them "
					      "with -g"
					    : "the run has no counts: it needs a drive {with: "
					      "exact}");
	return 0;
}
