/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/helper.h"

#include <linux/bpf.h>
#include <stddef.h>

#define MOST_ARGS 5u

/*
 * Arguments of helper 0, 1, 2, ... as bpf_helper_defs.h declares them; variadic ones and number 0,
 * which is none, may read all five. A test compares it with the installed header.
 */
static const char args[] = "52423050055533002131442215435333231032322103231125434424352242243254544"
			   "44443414102425513224431111115543334442155333321044511305312432222111114"
			   "4434233541421242020315453413231111341454332101144533231442255333220442";

#define NAME(name) #name
static const char *const names[] = {__BPF_FUNC_MAPPER(NAME)};

unsigned int bb_helper__args(int32_t id)
{
	return id >= 0 && (size_t)id < sizeof(args) - 1 ? (unsigned int)(args[id] - '0')
							: MOST_ARGS;
}

const char *bb_helper__name(int32_t id)
{
	return id > 0 && (size_t)id < sizeof(names) / sizeof(names[0]) ? names[id] : NULL;
}
