/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/figures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/io.h"
#include "base/text.h"
#include "html/svg.h"

#define MAX_LIST_BYTES (1u << 20)
#define MAX_CAPTION_BYTES 4096u
#define MAX_SVG_BYTES (4u << 20)

static void figure_done(struct bb_figure *f)
{
	free(f->kind);
	free(f->scenario);
	free(f->drive);
	free(f->param);
	free(f->value);
	free(f->what);
	free(f->how);
	free(f->svg);
}

void bb_figures__done(struct bb_figures *f)
{
	for (size_t i = 0; i < f->n; i++)
		figure_done(&f->v[i]);
	free(f->v);
	free(f->why);
	*f = (struct bb_figures){0};
}

static int read_picture(const char *dir, const char *name, const char *ext, size_t max,
			char **ret_text, struct bb_err *err)
{
	char *path;
	size_t len;
	int rc;

	if (asprintf(&path, "%s/pictures/%s.%s", dir, name, ext) < 0)
		return bb_fail_nomem(err);
	rc = bb_read_file(path, max, ret_text, &len, err);
	free(path);
	return rc;
}

/* A row of `figures`: kind, name, title, scenario, drive, param, value. Name "-": why there is none
 * of the kind. */
static int add_figure(struct bb_figures *f, const char *dir, char *row, struct bb_err *err)
{
	const char *name;
	struct bb_figure *figure, v = {0};
	char **cells[] = {NULL, NULL, NULL, &v.scenario, &v.drive, &v.param, &v.value};
	const char *cell[7];
	int rc = 0;

	for (size_t i = 0; i < 7; i++) {
		cell[i] = strsep(&row, "\t");
		if (!cell[i])
			return 0;
	}
	name = cell[1];
	if (!strcmp(name, "-"))
		return 0;
	v.kind = strdup(cell[0]);
	for (size_t i = 3; i < 7; i++)
		*cells[i] = strdup(cell[i]);
	if (!v.kind || !v.scenario || !v.drive || !v.param || !v.value)
		rc = bb_fail_nomem(err);
	if (!rc)
		rc = read_picture(dir, name, "svg", MAX_SVG_BYTES, &v.svg, err);
	if (!rc)
		rc = read_picture(dir, name, "caption", MAX_CAPTION_BYTES, &v.what, err);
	if (!rc && strchr(v.what, '\n')) {
		char *second = strchr(v.what, '\n');

		*second++ = '\0';
		v.how = strndup(second, strcspn(second, "\n"));
	}
	figure = rc ? NULL : bb_append(&f->v, &f->n, sizeof(*figure));
	if (!figure) {
		figure_done(&v);
		return rc ? rc : bb_fail_nomem(err);
	}
	*figure = v;
	return 0;
}

int bb_figures__read(const char *dir, struct bb_figures *ret_figures, struct bb_err *err)
{
	struct bb_figures f = {0};
	char *path, *list = NULL, *at, *row;
	size_t len;
	int rc;

	if (asprintf(&path, "%s/figures", dir) < 0)
		return bb_fail_nomem(err);
	rc = bb_read_file(path, MAX_LIST_BYTES, &list, &len, err);
	free(path);
	at = list;
	while (!rc && (row = strsep(&at, "\n")))
		rc = add_figure(&f, dir, row, err);
	free(list);
	if (rc)
		bb_figures__done(&f);
	else
		*ret_figures = f;
	return rc;
}

static bool is_of(const struct bb_figure *f, const struct bb_case *c)
{
	char value[16];

	snprintf(value, sizeof(value), "%u", c->param_value);
	return !strcmp(f->scenario, c->scenario) && !strcmp(f->drive, c->drive) &&
	       !strcmp(f->param, c->param ? c->param : "-") &&
	       (!strcmp(f->value, "-") || !c->param || !strcmp(f->value, value));
}

const struct bb_figure *bb_figures__find(const struct bb_figures *f, const char *kind,
					 const struct bb_case *c)
{
	for (size_t i = 0; f && i < f->n; i++)
		if (!strcmp(f->v[i].kind, kind) && (!c || is_of(&f->v[i], c)))
			return &f->v[i];
	return NULL;
}

int bb_figures__put(FILE *out, const struct bb_figures *f, const struct bb_figure *figure,
		    size_t nth)
{
	char prefix[64];
	int rc;

	if (!figure)
		return 0;
	snprintf(prefix, sizeof(prefix), "p%zu-%zu-", nth, (size_t)(figure - f->v));
	fputs("<figure class=plot>\n", out);
	rc = bb_svg__embed(out, figure->svg, prefix);
	fputs("\n<figcaption><b>", out);
	bb_xml_text(out, figure->what);
	fputs("</b> ", out);
	bb_xml_text(out, figure->how ? figure->how : "");
	fputs("</figcaption></figure>\n", out);
	return rc == -EINVAL ? 0 : rc;
}
