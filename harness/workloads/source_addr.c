/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workloads/source_addr.h"

static bool answer(int kind, enum bb_source_addr *ret_kind)
{
	if (kind == BB_NO_PUSH)
		return false;
	*ret_kind = (enum bb_source_addr)kind;
	return true;
}

bool bb_source_addr_v1(uint32_t addr, enum bb_source_addr *ret_kind)
{
	return answer(bb_fizz(addr), ret_kind);
}

bool bb_source_addr_v2(uint32_t addr, enum bb_source_addr *ret_kind)
{
	return answer(bb_fizz_buzz(addr), ret_kind);
}

bool bb_source_addr_v3(uint32_t addr, enum bb_source_addr *ret_kind)
{
	bool fibonacci = bb_is_fibonacci_by_loop((uint8_t)addr, NULL);

	return answer(fibonacci ? BB_FIBONACCI : bb_fizz_buzz(addr), ret_kind);
}

bool bb_source_addr_v4(uint32_t addr, enum bb_source_addr *ret_kind)
{
	bool fibonacci = bb_is_fibonacci_by_table((uint8_t)addr);

	return answer(fibonacci ? BB_FIBONACCI : bb_fizz_buzz(addr), ret_kind);
}
