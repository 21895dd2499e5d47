/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/rights.h"

#include <linux/capability.h>
#include <sys/syscall.h>

#ifndef CAP_PERFMON /* Linux 5.8 */
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif

#define BIT(cap) ((uint64_t)1 << (cap))

static const struct {
	uint64_t bit;
	const char *name;
} looked_at[] = {
	{BIT(CAP_BPF), "CAP_BPF"},
	{BIT(CAP_PERFMON), "CAP_PERFMON"},
	{BIT(CAP_NET_ADMIN), "CAP_NET_ADMIN"},
	{BIT(CAP_SYS_ADMIN), "CAP_SYS_ADMIN"},
};

static uint64_t all_rights(void)
{
	uint64_t all = 0;

	for (size_t i = 0; i < BB_LEN(looked_at); i++)
		all |= looked_at[i].bit;
	return all;
}

/* Reads the capabilities of a thread; tid 0 means our thread. Returns 0 or -errno. */
static int get(pid_t tid, struct __user_cap_data_struct sets[2])
{
	struct __user_cap_header_struct whose = {_LINUX_CAPABILITY_VERSION_3, tid};

	return syscall(SYS_capget, &whose, sets) ? -errno : 0;
}

static int put(const struct __user_cap_data_struct sets[2])
{
	struct __user_cap_header_struct whose = {_LINUX_CAPABILITY_VERSION_3, 0};

	return syscall(SYS_capset, &whose, sets) ? -errno : 0;
}

static bool is_in_our_user_namespace(pid_t tid)
{
	struct stat ours, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)tid);
	return stat(path, &theirs) || stat("/proc/self/ns/user", &ours) ||
	       (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino);
}

uint64_t bb_rights__of(pid_t tid)
{
	struct __user_cap_data_struct sets[2];

	if (get(tid, sets))
		return all_rights();
	if (!is_in_our_user_namespace(tid))
		return 0;
	return (sets[0].effective | (uint64_t)sets[1].effective << 32) & all_rights();
}

bool bb_rights__are_whole(uint64_t rights)
{
	return rights & BIT(CAP_SYS_ADMIN) || (rights | BIT(CAP_SYS_ADMIN)) == all_rights();
}

void bb_rights__say_lacking(uint64_t rights, char *ret_text, size_t size)
{
	size_t at = 0;

	*ret_text = '\0';
	for (size_t i = 0; i < BB_LEN(looked_at) && at < size; i++)
		if (!(rights & looked_at[i].bit))
			at += (size_t)snprintf(ret_text + at, size - at, "%s%s", at ? ", " : "",
					       looked_at[i].name);
}

int bb_rights__limit(uint64_t rights, struct bb_rights_before *ret_before)
{
	struct __user_cap_data_struct sets[2];
	uint64_t others = all_rights() & ~rights;
	int rc = get(0, sets);

	if (rc)
		return rc;
	for (int i = 0; i < 2; i++) {
		ret_before->effective[i] = sets[i].effective;
		sets[i].effective &= ~(uint32_t)(others >> (32 * i));
	}
	return put(sets);
}

void bb_rights__restore(const struct bb_rights_before *before)
{
	struct __user_cap_data_struct sets[2];

	/* the same call worked in bb_rights__limit() */
	if (get(0, sets))
		abort();
	for (int i = 0; i < 2; i++)
		sets[i].effective = before->effective[i];
	if (put(sets))
		abort();
}
