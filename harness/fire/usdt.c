/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/usdt.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "fire/user_function.h"

/* The word up to the next colon or the end; false: there is none, or it is too long. */
static bool take_word(const char **at, char *ret_word, size_t size)
{
	size_t len = strcspn(*at, ":");

	if (!len || len >= size)
		return false;
	memcpy(ret_word, *at, len);
	ret_word[len] = '\0';
	*at += len + ((*at)[len] == ':');
	return true;
}

int bb_usdt__find_file(const char *target, struct bb_usdt *ret_usdt, struct bb_err *err)
{
	const char *at = target;
	struct bb_usdt u = {0};
	char file[4096];

	if (!take_word(&at, file, sizeof(file)) ||
	    !take_word(&at, u.provider, sizeof(u.provider)) ||
	    !take_word(&at, u.name, sizeof(u.name)) || *at)
		return bb_fail(err, -EINVAL, "'%s' names no static probe; FILE:PROVIDER:NAME would",
			       target);
	*ret_usdt = u;
	return bb_user_file__find(file, ret_usdt->path, sizeof(ret_usdt->path), err);
}

int bb_usdt__find(const char *target, struct bb_usdt *ret_usdt, struct bb_user_places **ret_places,
		  struct bb_err *err)
{
	struct bb_user_query q = {.path = ret_usdt->path,
				  .provider = ret_usdt->provider,
				  .probe = ret_usdt->name};
	int rc = bb_usdt__find_file(target, ret_usdt, err);

	return rc ? rc : bb_user_elf__find(&q, ret_places, err);
}
