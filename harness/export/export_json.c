/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/exporter.h"
#include "store/run_json.h"

static int compose(const struct bb_report *r, FILE *mem, struct bb_err *err)
{
	return bb_run_json__write(r, mem) ? bb_fail_nomem(err) : 0;
}

int bb_export_json(const struct bb_report *r, FILE *out, struct bb_err *err)
{
	return bb_export_whole(r, out, compose, err);
}
