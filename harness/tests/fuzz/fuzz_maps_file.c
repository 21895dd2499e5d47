/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file with contents of maps. */
#include "fuzz/fuzz.h"

#include "plan/maps_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bb_maps_file *file;
	struct bb_err err = {0};

	if (bb_maps_file__parse((const char *)data, size, "f.json", &file, &err))
		return 0;
	for (size_t i = 0; i < file->n; i++) {
		const struct bb_map_table *t = &file->v[i];

		fuzz_touch(t->keys, t->n * t->key_size);
		fuzz_touch(t->values, t->n * t->value_size);
		if (!bb_maps_file__find(file, t->name))
			abort();
	}
	bb_maps_file__let_go(file);
	return 0;
}
