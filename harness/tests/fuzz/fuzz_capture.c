/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a capture (tar and JSON), writes it and reads that again. */
#include "fuzz/fuzz.h"

#include "capture/file.h"
#include "capture/replay.h"

static void touch(struct bb_capture *c)
{
	struct bb_replay none;
	int32_t map;

	for (size_t i = 0; i < c->n_progs; i++) {
		fuzz_touch(c->progs[i].insns, c->progs[i].n_insns * sizeof(struct bpf_insn));
		for (uint32_t at = 0; (map = bb_captured_prog__next_map(&c->progs[i], &at)) >= 0;)
			fuzz_touch(&c->maps[map], sizeof(c->maps[map]));
		bb_capture__any_attachment(c, i);
		if (bb_capture__find(c, c->progs[i].name) != &c->progs[i])
			abort(); /* names are unique */
	}
	for (size_t i = 0; i < c->n_maps; i++)
		fuzz_touch(c->maps[i].entries.data,
			   c->maps[i].n_entries * (c->maps[i].key_size +
						   bb_captured_map__value_bytes(c, &c->maps[i])));
	none = bb_replay__open(c);
	for (size_t i = 0; i < c->n_progs; i++) {
		struct bpf_insn *insns = bb_calloc(c->progs[i].n_insns, sizeof(*insns));

		bb_replay__put_fds(&none, i, insns);
		free(insns);
	}
	bb_replay__done(&none);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bb_capture *c = NULL;
	struct bb_err err = {0};

	if (bb_capture__parse((const char *)data, size, "fuzz.capture", &c, &err))
		return 0;
	touch(c);
	bb_capture__free(c);
	return 0;
}
