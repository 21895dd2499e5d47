/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/reference.h"

#include <stddef.h>

static const char *const names[BB_N_REFERENCES] = {
	[BB_REFERENCE_INSTRUCTIONS] = "instructions",
	[BB_REFERENCE_MEMORY] = "memory",
	[BB_REFERENCE_WAKEUP] = "wakeup",
};

const char *bb_reference_name(enum bb_reference reference)
{
	return (size_t)reference < BB_N_REFERENCES ? names[reference] : "?";
}
