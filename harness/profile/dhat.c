/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/dhat.h"

#include <jansson.h>

#include "base/io.h"

#define MAX_BYTES ((size_t)64 << 20)
#define AT(field) offsetof(struct bb_dhat, field)

const struct bb_dhat_metric bb_dhat_metrics[] = {
	{"Total, bytes", "heap-total-bytes", "tb", AT(total_bytes)},
	{"Total, blocks", "heap-total-blocks", "tbk", AT(total_blocks)},
	{"At t-gmax, bytes", "heap-gmax-bytes", "gb", AT(gmax_bytes)},
	{"At t-gmax, blocks", "heap-gmax-blocks", "gbk", AT(gmax_blocks)},
	{"At t-end, bytes", "heap-end-bytes", "eb", AT(end_bytes)},
	{"At t-end, blocks", "heap-end-blocks", "ebk", AT(end_blocks)},
};

const size_t bb_n_dhat_metrics = BB_LEN(bb_dhat_metrics);

static int complain(const char *path, const char *what, struct bb_err *err)
{
	return bb_fail(err, -EINVAL, "%s: not a file of valgrind --tool=dhat: %s", path, what);
}

static int read_root(const char *path, const json_t *root, struct bb_dhat *ret_dhat,
		     struct bb_err *err)
{
	const json_t *mode = json_object_get(root, "mode"), *points = json_object_get(root, "pps");

	if (json_integer_value(json_object_get(root, "dhatFileVersion")) != 2)
		return complain(path, "dhatFileVersion is not 2", err);
	if (!json_is_string(mode) || strcmp(json_string_value(mode), "heap"))
		return complain(path, "its mode is not heap", err);
	if (!json_is_array(points))
		return complain(path, "pps is no list", err);
	for (size_t k = 0; k < bb_n_dhat_metrics; k++) {
		const struct bb_dhat_metric *m = &bb_dhat_metrics[k];
		uint64_t *sum = (uint64_t *)((char *)ret_dhat + m->offset);
		char wrong[80];

		for (size_t i = 0; i < json_array_size(points); i++) {
			const json_t *v = json_object_get(json_array_get(points, i), m->key);

			if (json_is_integer(v) && json_integer_value(v) >= 0 &&
			    !__builtin_add_overflow(*sum, (uint64_t)json_integer_value(v), sum))
				continue;
			snprintf(wrong, sizeof(wrong), "pps[%zu].%s is no count", i, m->key);
			return complain(path, wrong, err);
		}
	}
	return 0;
}

int bb_dhat__read(const char *path, struct bb_dhat *ret_dhat, struct bb_err *err)
{
	json_error_t at;
	size_t len;
	char *text;
	int rc = bb_read_file(path, MAX_BYTES, &text, &len, err);

	if (rc)
		return rc;
	*ret_dhat = (struct bb_dhat){0};
	json_t *root = json_loadb(text, len, 0, &at);
	free(text);
	rc = root ? read_root(path, root, ret_dhat, err) : complain(path, at.text, err);
	json_decref(root);
	return rc;
}
