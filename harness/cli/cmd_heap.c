/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/clean.h"
#include "base/json_writer.h"
#include "cli/options.h"
#include "profile/dhat.h"

struct heap_args {
	struct bb_strings files; /* "NAME=FILE" */
	bool bmf;
};

static const struct bb_option options[] = {
	{"bmf", 0, NULL, bb_read_flag, .at = offsetof(struct heap_args, bmf),
	 "print Bencher Metric Format on stdout, and the table on stderr"},
	{0},
};

static void read_file(const struct bb_option *, const char *text, void *files)
{
	if (!strchr(text, '=') || text[0] == '=' || !strchr(text, '=')[1])
		bb_usage_error("'%s' is not NAME=FILE", text);
	bb_strings__append(files, text);
}

static void check_args(void *args)
{
	const struct heap_args *a = args;

	bb_refuse("which files? NAME=FILE, of `valgrind --tool=dhat --dhat-out-file=FILE`",
		  !a->files.n);
}

static const struct bb_usage usage = {
	.arguments = "NAME=FILE...",
	.doc = "Print heap totals of DHAT files (valgrind --tool=dhat) side by side, with the "
	       "difference from the first in percent.",
	.more = "In BMF each file is a benchmark NAME. The counts are exact: the same program "
		"gives the same counts again.",
	.example = "  bpfbench heap fixed=fixed.dhat oops=oops.dhat\n",
	.sets = {{NULL, options, 0}},
	.argument = {.read = read_file, .at = offsetof(struct heap_args, files)},
	.check = check_args,
};

static void print_table(const struct heap_args *a, const struct bb_dhat *heaps, FILE *out)
{
	fprintf(out, "%-17s", "");
	for (size_t i = 0; i < a->files.n; i++)
		fprintf(out, "  %26.*s", (int)strcspn(a->files.v[i], "="), a->files.v[i]);
	putc('\n', out);
	for (size_t m = 0; m < bb_n_dhat_metrics; m++) {
		uint64_t first = bb_dhat_of(&heaps[0], &bb_dhat_metrics[m]);

		fprintf(out, "%-17s", bb_dhat_metrics[m].name);
		for (size_t i = 0; i < a->files.n; i++) {
			uint64_t v = bb_dhat_of(&heaps[i], &bb_dhat_metrics[m]);
			char cell[64];
			int len = snprintf(cell, sizeof(cell), "%" PRIu64, v);

			if (v != first && first)
				snprintf(cell + len, sizeof(cell) - (size_t)len, " (%+.2f %%)",
					 100 * ((double)v / (double)first - 1));
			fprintf(out, "  %26s", cell);
		}
		putc('\n', out);
	}
}

static void print_bmf(const struct heap_args *a, const struct bb_dhat *heaps)
{
	struct bb_json w = {.out = stdout, .indent = 2};

	bb_json__open(&w, NULL, "{\n");
	for (size_t i = 0; i < a->files.n; i++) {
		char *name = bb_strndup(a->files.v[i], strcspn(a->files.v[i], "="));

		bb_json__open(&w, name, "{\n");
		for (size_t m = 0; m < bb_n_dhat_metrics; m++) {
			bb_json__open(&w, bb_dhat_metrics[m].slug, "{");
			bb_json__add_u64(&w, "value", bb_dhat_of(&heaps[i], &bb_dhat_metrics[m]));
			bb_json__close(&w);
		}
		bb_json__close(&w);
		free(name);
	}
	bb_json__end(&w);
}

int bb_cmd_heap(int argc, char **argv, struct bb_err *err)
{
	static struct heap_args a;
	int rc = 0;

	bb_usage__parse(&usage, argc, argv, &a);
	struct bb_dhat *heaps = bb_calloc(a.files.n, sizeof(*heaps));
	for (size_t i = 0; !rc && i < a.files.n; i++)
		rc = bb_dhat__read(strchr(a.files.v[i], '=') + 1, &heaps[i], err);
	if (!rc) {
		print_table(&a, heaps, a.bmf ? stderr : stdout);
		if (a.bmf)
			print_bmf(&a, heaps);
		rc = bb_clean__check(stdout, "stdout", err);
	}
	free(heaps);
	return rc;
}
