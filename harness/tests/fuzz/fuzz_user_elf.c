/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions, their prototypes and static probes of a program or library. Also the reply of the
 * child process that reads them, which may be any bytes. */
#include "fuzz/fuzz.h"

#include "bpf/elf_file.h"
#include "fire/user_function.h"

static const struct bb_user_target queries[] = {
	{.path = "x", .function = "f"},
	{.path = "x", .function = "*"},
	{.path = "x", .function = "no_such"},
	{.path = "x", .provider = "bench", .probe = "query"},
	{.path = "x", .provider = "bench", .probe = "quer"},
};
static struct bb_user_addresses addresses;

static void check_reply(const uint8_t *data, size_t size)
{
	memset(&addresses, 0, sizeof(addresses));
	memcpy(&addresses, data, size < sizeof(addresses) ? size : sizeof(addresses));
	if (bb_user_addresses__check(&addresses))
		return;
	for (uint32_t i = 0; i < addresses.n; i++)
		if (addresses.n > BB_MOST_ADDRESSES || addresses.cookies[i] >= addresses.n)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Elf *elf = bb_elf__of_memory((const char *)data, size);
	struct bb_user_prototype prototype = {0};

	for (size_t i = 0; elf && i < sizeof(queries) / sizeof(queries[0]); i++) {
		struct bb_err err = {0};

		memset(&addresses, 0, sizeof(addresses));
		if (!bb_user_elf__search(elf, &queries[i], &addresses, &err) &&
		    bb_user_addresses__check(&addresses))
			abort();
	}
	if (elf && !bb_user_elf__search_prototype(elf, "f", &prototype) &&
	    bb_user_prototype__check(&prototype))
		abort();
	elf_end(elf);
	check_reply(data, size);
	return 0;
}
