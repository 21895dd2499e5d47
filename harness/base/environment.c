/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/environment.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/grow.h"

static const char *const always[] = {"PATH", "LANG", "TERM", NULL};

static const char *home_of(uid_t uid)
{
	const struct passwd *user;

	if (geteuid() != 0 || uid == 0)
		return getenv("HOME");
	user = getpwuid(uid);
	return user ? user->pw_dir : "/";
}

/* "NAME=VALUE" of a variable that is set, appended; the strings last until the exec. */
static int note(const char *name, const char *value, char ***texts, size_t *n)
{
	char **text = value ? bb_append(texts, n, sizeof(*text)) : NULL;

	if (!value)
		return 0;
	return text && asprintf(text, "%s=%s", name, value) >= 0 ? 0 : -ENOMEM;
}

int bb_environment__clean(const char *const *also, uid_t uid)
{
	char **texts = NULL;
	size_t n = 0;
	int rc = note("HOME", home_of(uid), &texts, &n);

	for (const char *const *name = always; !rc && *name; name++)
		rc = note(*name, getenv(*name), &texts, &n);
	for (const char *const *name = also; !rc && name && *name; name++)
		rc = note(*name, getenv(*name), &texts, &n);
	if (!rc)
		rc = clearenv() ? -ENOMEM : 0;
	for (size_t i = 0; !rc && i < n; i++)
		rc = putenv(texts[i]) ? -ENOMEM : 0;
	free(texts);
	return rc;
}
