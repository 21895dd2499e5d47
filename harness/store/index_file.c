/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/index_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/io.h"
#include "store/store.h"

#define FILE_MAX_BYTES (1UL << 30)

/* The arrays of an index in the order in which they follow the head; those of 8-byte members first.
 */
enum { RUNS, POINTS, CASES, MACHINES, TEXTS, N_ARRAYS };

static const size_t item_bytes[N_ARRAYS] = {
	[RUNS] = sizeof(struct bb_index_run),
	[POINTS] = sizeof(struct bb_run_point),
	[CASES] = sizeof(struct bb_index_case),
	[MACHINES] = sizeof(struct bb_fingerprint),
	[TEXTS] = 1,
};

struct head {
	char magic[8];
	uint32_t version;
	uint32_t crc; /* zlib's, of all behind it */
	/* another machine's differ, in their order of bytes at the least */
	uint64_t item_bytes[N_ARRAYS];
	uint64_t n[N_ARRAYS];
};

static const char magic[8] = "bbindex";

static uint32_t crc_of(const char *data, size_t len)
{
	size_t from = offsetof(struct head, crc) + sizeof(uint32_t);

	return (uint32_t)crc32_z(0, (const Bytef *)data + from, len - from);
}

/* --- loading --- */

/* Where in the file each array begins; false: it is not ours, or not whole. */
static bool cut(const char *data, size_t len, size_t *ret_at)
{
	const struct head *h = (const struct head *)(const void *)data;
	size_t at = sizeof(*h);

	if (len < sizeof(*h) || memcmp(h->magic, magic, sizeof(magic)) ||
	    h->version != BB_INDEX_VERSION)
		return false;
	for (size_t i = 0; i < N_ARRAYS; i++) {
		if (h->item_bytes[i] != item_bytes[i] || h->n[i] > (len - at) / item_bytes[i])
			return false;
		ret_at[i] = at;
		at += h->n[i] * item_bytes[i];
	}
	return at == len && h->crc == crc_of(data, len);
}

static bool is_text(const struct bb_run_index *x, bb_text_at at, bool may_lack)
{
	return at ? at < x->n_texts : may_lack;
}

/* A check sum says that the file is as it was written, not that who wrote it meant well. */
static bool is_within_bounds(const struct bb_run_index *x)
{
	bool ok = !x->n_texts || !x->texts[x->n_texts - 1];

	for (size_t i = 0; ok && i < x->n_runs; i++) {
		const struct bb_index_run *r = &x->runs[i];

		ok = is_text(x, r->name, false) && is_text(x, r->id, false) &&
		     is_text(x, r->started, true) && is_text(x, r->incomplete, true) &&
		     is_text(x, r->commit, false) && r->machine < x->n_machines &&
		     r->first_point <= x->n_points && r->n_points <= x->n_points - r->first_point;
	}
	for (size_t i = 0; ok && i < x->n_cases; i++) {
		const struct bb_index_case *c = &x->cases[i];

		ok = is_text(x, c->name, false) && is_text(x, c->scenario, false) &&
		     is_text(x, c->variant, false) && is_text(x, c->drive, false) &&
		     is_text(x, c->param, true);
	}
	for (size_t i = 0; ok && i < x->n_points; i++)
		ok = x->points[i].what < x->n_cases;
	for (size_t i = 0; ok && i < x->n_machines; i++)
		for (size_t k = 0; ok && k < bb_n_fingerprint_fields; k++)
			ok = memchr(bb_fingerprint_get(&x->machines[i], k), '\0',
				    bb_fingerprint_fields[k].size);
	return ok;
}

/* All parts of the file's bytes, which become the index's. */
static struct bb_run_index point_into(char *data, const size_t *at)
{
	const struct head *h = (const struct head *)(const void *)data;

	return (struct bb_run_index){
		.file = data,
		.runs = (void *)(data + at[RUNS]),
		.points = (void *)(data + at[POINTS]),
		.cases = (void *)(data + at[CASES]),
		.machines = (void *)(data + at[MACHINES]),
		.texts = data + at[TEXTS],
		.n_runs = h->n[RUNS],
		.n_points = h->n[POINTS],
		.n_cases = h->n[CASES],
		.n_machines = h->n[MACHINES],
		.n_texts = h->n[TEXTS],
	};
}

int bb_index_file__load(const char *dir, struct bb_run_index *ret_index)
{
	struct bb_run_index x;
	char *path, *data;
	size_t at[N_ARRAYS], len;
	int rc;

	*ret_index = (struct bb_run_index){0};
	if (asprintf(&path, "%s/" BB_INDEX_FILE, dir) < 0)
		return -ENOMEM;
	rc = bb_read_own_file(path, FILE_MAX_BYTES, &data, &len, NULL);
	free(path);
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	if (cut(data, len, at)) {
		x = point_into(data, at);
		if (is_within_bounds(&x)) {
			*ret_index = x;
			return 0;
		}
	}
	free(data);
	return 0;
}

/* --- saving --- */

int bb_index_file__save(const char *dir, const struct bb_run_index *x)
{
	const void *arrays[] = {
		[RUNS] = x->runs,         [POINTS] = x->points, [CASES] = x->cases,
		[MACHINES] = x->machines, [TEXTS] = x->texts,
	};
	struct head h = {
		.version = BB_INDEX_VERSION,
		.n = {x->n_runs, x->n_points, x->n_cases, x->n_machines, x->n_texts},
	};
	size_t len = sizeof(h), at = sizeof(h);
	char *data;
	int rc;

	memcpy(h.magic, magic, sizeof(magic));
	for (size_t i = 0; i < N_ARRAYS; i++) {
		h.item_bytes[i] = item_bytes[i];
		len += h.n[i] * item_bytes[i];
	}
	if (len > FILE_MAX_BYTES)
		return -EFBIG;
	data = malloc(len);
	if (!data)
		return -ENOMEM;
	for (size_t i = 0; i < N_ARRAYS; i++) {
		size_t bytes = h.n[i] * item_bytes[i];

		if (bytes)
			memcpy(data + at, arrays[i], bytes);
		at += bytes;
	}
	memcpy(data, &h, sizeof(h));
	((struct head *)(void *)data)->crc = crc_of(data, len);
	rc = bb_store__replace(dir, BB_INDEX_FILE, data, len);
	free(data);
	return rc;
}
