/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Functions that the tests of exporters share. Include after cmocka.h. */

#include <limits.h>

#include "cli/output.h"
#include "unit/report_testing.h"

/* Returns the output of an exporter; the caller frees it. If the exporter fails, returns NULL, sets
 * *ret_rc, and checks that nothing was written. */
static inline char *exported(const char *format, const struct bb_report *r, int *ret_rc,
			     struct bb_err *err)
{
	const struct bb_doc_look look = {.width = 120}; /* wide enough that no line is broken */
	const struct bb_exporter *e = bb_exporter_find(format);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(e);
	assert_non_null(out);
	*ret_rc = bb_export(e, r, &look, out, err);
	fclose(out);
	if (!*ret_rc) {
		assert_int_equal(strlen(text), len);
		return text;
	}
	assert_int_equal(len, 0);
	free(text);
	return NULL;
}

static inline char *export_ok(const char *format, const struct bb_report *r)
{
	struct bb_err err = {.msg = ""};
	int rc;
	char *text = exported(format, r, &rc, &err);

	if (rc)
		fail_msg("%s: %s", format, err.msg);
	return text;
}

static inline void assert_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' is in:\n%s", part, text);
}

/* Finds a golden file: from the root of the tree, beside the source of this file, or from
 * build/tests/. */
static inline void golden_path(const char *name, char *ret_path, size_t size)
{
	static const char here[] = __FILE__;
	char exe[PATH_MAX / 2] = "";

	snprintf(ret_path, size, "harness/tests/golden/%s", name);
	if (!access(ret_path, R_OK))
		return;
	snprintf(ret_path, size, "%.*s/../golden/%s", (int)(strrchr(here, '/') - here), here, name);
	if (!access(ret_path, R_OK))
		return;
	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0 && strrchr(exe, '/'))
		*strrchr(exe, '/') = '\0';
	snprintf(ret_path, size, "%s/../../harness/tests/golden/%s", exe, name);
}

static inline void check_golden(const char *name, const char *format)
{
	struct bb_report *r = make_sample_report();
	char *text = export_ok(format, r), *golden, path[PATH_MAX];

	golden_path(name, path, sizeof(path));
	if (getenv("BB_UPDATE_GOLDEN")) {
		snprintf(path, sizeof(path), "harness/tests/golden/%s", name);
		spill(path, text, strlen(text));
	}
	golden = slurp(path);
	if (!golden)
		fail_msg("%s cannot be read (make it with BB_UPDATE_GOLDEN=1, from the root of the "
			 "tree)",
			 path);
	if (strcmp(text, golden))
		fail_msg("%s differs (if it should: BB_UPDATE_GOLDEN=1). Now it is:\n%s", path,
			 text);
	free(golden);
	free(text);
	bb_report__free(r);
}
