/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/field.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/parse.h"

static int set_bytes(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, const uint8_t *data, size_t len, void *base)
{
	struct bb_bytes *dest = (struct bb_bytes *)(void *)((char *)base + f->offset);
	uint8_t *copy;

	if ((double)len < f->min || (double)len > f->max)
		return bb_yaml__fail(r, node, "%s has %zu bytes; it must have from %.0f to %.0f",
				     f->name, len, f->min, f->max);
	copy = malloc(len);
	if (!copy)
		return bb_fail_nomem(r->err);
	memcpy(copy, data, len);
	free(dest->data);
	*dest = (struct bb_bytes){.data = copy, .len = len};
	return 0;
}

int bb_field__hex(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		  void *base)
{
	size_t len = 0, at = 0;
	uint8_t *data;
	int rc;

	if (node->kind != BB_YAML_TEXT || bb_yaml__is_nothing(node))
		return bb_yaml__fail(r, node, "%s must be a text of hexadecimal bytes, not %s",
				     f->name, bb_yaml__show(node).text);
	data = malloc(strlen(node->text) / 2 + 1);
	if (!data)
		return bb_fail_nomem(r->err);
	rc = bb_parse_hex(node->text, data, strlen(node->text) / 2 + 1, &len, &at);
	if (rc)
		rc = bb_yaml__fail(r, node,
				   "%s: bytes of two hexadecimal digits each are expected; "
				   "character %zu is wrong",
				   f->name, at + 1);
	else
		rc = set_bytes(r, f, node, data, len, base);
	free(data);
	return rc;
}

int bb_field__path(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   char **ret_path)
{
	const char *slash = strrchr(r->path, '/');
	size_t folder = slash ? (size_t)(slash - r->path) + 1 : 0;

	if (node->kind != BB_YAML_TEXT || bb_yaml__is_nothing(node) || !*node->text)
		return bb_yaml__fail(r, node, "%s must be the name of a file, not %s", f->name,
				     bb_yaml__show(node).text);
	if (asprintf(ret_path, "%.*s%s", node->text[0] == '/' ? 0 : (int)folder, r->path,
		     node->text) < 0) {
		*ret_path = NULL;
		return bb_fail_nomem(r->err);
	}
	return 0;
}

int bb_field__file(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   void *base)
{
	char *path = NULL, *data = NULL, name[200];
	struct bb_field named = *f; /* by the file, too */
	size_t len = 0;
	int rc = bb_field__path(r, f, node, &path);

	if (rc)
		return rc;
	rc = bb_read_file(path, (size_t)f->max, &data, &len, NULL);
	free(path);
	if (rc == -EFBIG)
		return bb_yaml__fail(r, node, "%s %s has more than %.0f bytes", f->name,
				     bb_yaml__show(node).text, f->max);
	if (rc)
		return bb_yaml__fail(r, node, "cannot read %s %s: %s", f->name,
				     bb_yaml__show(node).text,
				     rc == -EINVAL ? "not a regular file" : strerror(-rc));
	snprintf(name, sizeof(name), "%s %s", f->name, bb_yaml__show(node).text);
	named.name = name;
	rc = set_bytes(r, &named, node, (const uint8_t *)data, len, base);
	free(data);
	return rc;
}

int bb_field__self(const struct bb_reader *r, const struct bb_yaml *node, const char *what,
		   enum bb_self *ret_self)
{
	static const char *const names[] =
		{[BB_SELF_PID] = "pid", [BB_SELF_COMM] = "comm", [BB_SELF_CGROUP] = "cgroup"};
	const struct bb_yaml *value = node->n == 1 ? &node->items[1] : NULL;

	for (size_t i = 1; value && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(node->items[0].text, names[i]) && value->kind == BB_YAML_TEXT &&
		    !strcmp(value->text, "self")) {
			*ret_self = (enum bb_self)i;
			return 0;
		}
	return bb_yaml__fail(r, node,
			     "%s: a mapping here is {pid: self}, {comm: self} or {cgroup: self}, "
			     "of the process that fires",
			     what);
}
