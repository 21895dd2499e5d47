/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/exporter.h"
#include "html/html.h"

static int compose(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	return bb_html__write(&(struct bb_html_page){.report = r}, 1, mem) ? bb_fail_nomem(err) : 0;
}

int bb_export_html(const struct bb_report *r, FILE *out, struct bb_err *err)
{
	return bb_export_whole(r, out, compose, err);
}
