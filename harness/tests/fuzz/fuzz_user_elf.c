/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions, their prototypes and static probes of a program or library, and a child's reply that
 * may be anything. */
#include "fuzz/fuzz.h"

#include "bpf/elf_file.h"
#include "fire/user_function.h"

static const struct bb_user_query queries[] = {
	{.path = "x", .function = "f"},
	{.path = "x", .function = "*"},
	{.path = "x", .function = "no_such"},
	{.path = "x", .provider = "bench", .probe = "query"},
	{.path = "x", .provider = "bench", .probe = "quer"},
};
static struct bb_user_places places;

static void check_reply(const uint8_t *data, size_t size)
{
	memset(&places, 0, sizeof(places));
	memcpy(&places, data, size < sizeof(places) ? size : sizeof(places));
	if (bb_user_places__check(&places))
		return;
	for (uint32_t i = 0; i < places.n; i++)
		if (places.n > BB_MOST_PLACES || places.cookies[i] >= places.n)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Elf *elf = bb_elf__of_memory((const char *)data, size);
	struct bb_user_prototype prototype = {0};

	for (size_t i = 0; elf && i < sizeof(queries) / sizeof(queries[0]); i++) {
		struct bb_err err = {0};

		memset(&places, 0, sizeof(places));
		if (!bb_user_elf__search(elf, &queries[i], &places, &err) &&
		    bb_user_places__check(&places))
			abort();
	}
	if (elf && !bb_user_elf__search_prototype(elf, "f", &prototype) &&
	    bb_user_prototype__check(&prototype))
		abort();
	elf_end(elf);
	check_reply(data, size);
	return 0;
}
