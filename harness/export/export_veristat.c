/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "export/exporter.h"

/*
 * What `veristat -o csv` writes (tools/testing/selftests/bpf/veristat.c), so that `veristat -C OLD
 * NEW` compares runs of bpfbench with its own. Whole numbers; a column that one of the programs has
 * no figure for is left out, as veristat knows no absent values.
 */
static const struct {
	const char *name;
	size_t offset; /* in struct bb_prog_static */
	double scale;
} columns[] = {
	{"duration", offsetof(struct bb_prog_static, verify_ns), 1e-3}, /* us */
	{"total_insns", offsetof(struct bb_prog_static, verified_insns), 1},
	{"prog_size_jited", offsetof(struct bb_prog_static, jited_bytes), 1},
};

#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static double value_of(const struct bb_program *p, size_t column)
{
	return *(const double *)((const char *)&p->metrics + columns[column].offset) *
	       columns[column].scale;
}

/* veristat knows no quotes. */
static void put_text(const char *text, FILE *mem)
{
	for (text = basename(text); *text; text++)
		putc(*text == ',' || (unsigned char)*text < 0x20 ? '_' : *text, mem);
}

int bb_export_veristat(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	bool all_have[N_COLUMNS];

	if (!r->n_programs)
		return bb_fail(err, -ENODATA,
			       "there is no BPF program in this run: nothing for veristat");
	fputs("file_name,prog_name,verdict", mem);
	for (size_t k = 0; k < N_COLUMNS; k++) {
		all_have[k] = true;
		for (size_t i = 0; i < r->n_programs; i++)
			all_have[k] &= isfinite(value_of(&r->programs[i], k));
		if (all_have[k])
			fprintf(mem, ",%s", columns[k].name);
	}
	putc('\n', mem);
	for (size_t i = 0; i < r->n_programs; i++) {
		put_text(r->programs[i].object, mem);
		putc(',', mem);
		put_text(r->programs[i].program, mem);
		fputs(",success", mem); /* what does not load is a skip */
		for (size_t k = 0; k < N_COLUMNS; k++)
			if (all_have[k])
				fprintf(mem, ",%.0f", value_of(&r->programs[i], k));
		putc('\n', mem);
	}
	return 0;
}
