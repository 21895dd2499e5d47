/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/markdown.h"

#include <math.h>
#include <string.h>

#include "export/table_cells.h"

void bb_md_text(const char *text, FILE *mem)
{
	for (; text && *text; text++) {
		if (strchr("|\\`*_<>[]#", *text))
			putc('\\', mem);
		putc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, mem);
	}
}

void bb_md_number(double value, double scale, FILE *mem)
{
	struct bb_table_cell cell = bb_table_cell_number(value, scale);

	fprintf(mem, " %s |", cell.text[0] ? cell.text : "-");
}

void bb_md_percent(double ratio, FILE *mem)
{
	if (isfinite(ratio))
		fprintf(mem, "%+.2f %%", 100 * (ratio - 1));
	else
		putc('-', mem);
}

void bb_md_interval(const struct bb_estimate *ratio, FILE *mem)
{
	bb_md_percent(ratio->lo, mem);
	fputs(" to ", mem);
	bb_md_percent(ratio->hi, mem);
}

void bb_md_comparison(const struct bb_comparison *c, FILE *mem)
{
	fputs("| ", mem);
	bb_md_text(c->name, mem);
	fputs(" |", mem);
	bb_md_number(c->base_ns, c->base_ns, mem);
	bb_md_number(c->head_ns, c->base_ns, mem);
	putc(' ', mem);
	bb_md_percent(c->ratio.value, mem);
	fputs(" | ", mem);
	bb_md_interval(&c->ratio, mem);
}
