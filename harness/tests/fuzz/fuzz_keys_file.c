/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of a map, from a .csv. */
#include "fuzz/fuzz.h"

#include "plan/keys_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct bb_map_table *keys;
	struct bb_err err = {0};

	if (!bb_keys_file__parse_csv(text, "f.csv", &keys, &err)) {
		fuzz_touch(keys->keys, keys->n * keys->key_size);
		bb_maps_file__let_go(keys->file);
	}
	free(text);
	return 0;
}
