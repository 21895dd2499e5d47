/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "export/exporter.h"

#include "base/text.h"

static int put(const char *text, size_t len, FILE *out, struct bb_err *err)
{
	errno = 0;
	if (fwrite(text, 1, len, out) == len && !fflush(out) && !ferror(out))
		return 0;
	return bb_fail(err, errno ? -errno : -EIO,
		       "the output cannot be written: %m (choose another file with --output FILE)");
}

int bb_export(const struct bb_exporter *e, const struct bb_report *r,
	      const struct bb_doc_look *look, FILE *out, struct bb_err *err)
{
	struct bb_doc d = {0};
	char *text = NULL;
	size_t len = 0;

	if (!e->write) {
		e->document(r, &d);
		if (e->is_markdown)
			bb_doc__markdown(&d, out);
		else
			bb_doc__text(&d, look ? look : &bb_doc_plain_look, out);
		bb_doc__done(&d);
		return put("", 0, out, err);
	}
	FILE *mem = bb_open_memstream(&text, &len);
	int rc = e->write(r, mem, err);
	bb_close_memstream(mem);
	if (!rc)
		rc = put(text, len, out, err);
	free(text);
	return rc;
}

bool bb_figure_row__next(struct bb_figure_row *f, const struct bb_report *r)
{
	size_t of_cases = r->n_cases * bb_n_metrics,
	       n = of_cases + r->n_programs * bb_n_static_metrics;

	while (f->next < n) {
		size_t i = f->next++, k = i - of_cases;
		const struct bb_case *c = i < of_cases ? &r->cases[i / bb_n_metrics] : NULL;
		const struct bb_program *p = c ? NULL : &r->programs[k / bb_n_static_metrics];
		const struct bb_metric_def *def = c ? &bb_metrics[i % bb_n_metrics]
						    : &bb_static_metrics[k % bb_n_static_metrics];

		*f = (struct bb_figure_row){.c = c, .program = p, .def = def, .next = i + 1};
		f->name = c ? c->name : p->name;
		f->scenario = c ? c->scenario : p->scenario;
		f->variant = c ? c->variant : p->variant;
		f->e = c ? *bb_metric_of(&c->summary, def)
			 : (struct bb_estimate){bb_static_of(&p->metrics, def), NAN, NAN};
		if (isfinite(f->e.value))
			return true;
	}
	return false;
}

#define LIST_SIZE 3000 /* bytes, fewer than a message in struct bb_err may have */

/* Appends a line to list[LIST_SIZE], as far as there is room. */
static void add_left_out(char *list, const char *name, const char *why)
{
	bb_list_words(list, LIST_SIZE, "\nbpfbench: ", "%s: no valid sample (%s): it is left out",
		      name, why);
}

int bb_export_say_left_out(const struct bb_report *r, struct bb_err *err)
{
	char list[LIST_SIZE] = "";

	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];
		const char *why = bb_case__why_no_sample(c);

		if (why || !isfinite(c->summary.latency.value))
			add_left_out(list, c->name,
				     why ? why : "something else slowed all of them down");
	}
	for (size_t i = 0; i < r->n_counted; i++)
		for (size_t k = 0; k < r->counted[i].n_cases; k++) {
			const struct bb_counted_case *c = &r->counted[i].cases[k];

			if (!bb_counted_case__counts(c))
				add_left_out(list, c->name, c->void_why ? c->void_why : "no run");
		}
	return *list ? bb_fail(err, -ENODATA, "%s", list) : 0;
}
