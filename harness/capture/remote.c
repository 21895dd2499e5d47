/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/remote.h"

#include <linux/capability.h>
#include <sys/uio.h>

#include "base/caller.h"
#include "base/parse.h"
#include "base/text.h"

#define MAX_RECORD 256 /* limit: bytes of one record that bb_remote__copy() reads */

#ifndef PIDFD_THREAD /* new in Linux 6.9 */
#define PIDFD_THREAD O_EXCL
#endif

/* Callers avoid this function, because reading /proc/TID/status is slow. */
static pid_t process_of(pid_t tid)
{
	char path[64], text[1024], *at;
	uint64_t tgid;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	int n = bb_root__read(path, text, sizeof(text));
	if (n < 0)
		return n;
	at = strstr(text, "\nTgid:\t");
	if (!at)
		return -ESRCH;
	at += strlen("\nTgid:\t");
	at[strcspn(at, "\n")] = '\0';
	return bb_parse_u64(at, &tgid) ? -ESRCH : (pid_t)tgid;
}

int bb_remote__open(pid_t tid, struct bb_remote *ret_remote)
{
	struct bb_remote r = {.tid = tid};

	r.pidfd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD);
	/* before Linux 6.9, only processes have pidfds, so take that of the thread's process */
	if (r.pidfd < 0 && errno == EINVAL) {
		r.tgid = process_of(tid);
		if (r.tgid < 0)
			return r.tgid;
		r.pidfd = (int)syscall(SYS_pidfd_open, r.tgid, 0);
	}
	if (r.pidfd < 0)
		return -errno;
	*ret_remote = r;
	return 0;
}

pid_t bb_remote__process(struct bb_remote *r)
{
	if (!r->tgid)
		r->tgid = process_of(r->tid);
	return r->tgid;
}

void bb_remote__close(struct bb_remote *r)
{
	close(r->pidfd);
}

int bb_remote__read(const struct bb_remote *r, uint64_t at, void *dest, size_t size)
{
	struct iovec to = {dest, size}, from = {(void *)(uintptr_t)at, size};
	ssize_t n = process_vm_readv(r->tid, &to, 1, &from, 1, 0);

	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EFAULT;
}

/* Reads page by page, because the page after the end of the string may not be mapped. */
int bb_remote__read_text(const struct bb_remote *r, uint64_t at, char *dest, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), got = 0;

	*dest = '\0';
	while (at && got < size - 1) {
		size_t n = page - (at + got) % page;

		n = n < size - 1 - got ? n : size - 1 - got;
		int rc = bb_remote__read(r, at + got, dest + got, n);
		if (rc) {
			*dest = '\0';
			return rc;
		}
		if (memchr(dest + got, '\0', n))
			return 0;
		got += n;
	}
	dest[got] = '\0';
	return 0;
}

int bb_remote__copy(const struct bb_remote *r, uint64_t at, size_t n, size_t from_size,
		    size_t to_size, void *ret_records)
{
	size_t common = from_size < to_size ? from_size : to_size;
	char *from, *to = NULL;

	memcpy(ret_records, &to, sizeof(to));
	if (!at || !n)
		return 0;
	if (!from_size || from_size > MAX_RECORD)
		return -E2BIG;
	from = bb_calloc(n, from_size);
	to = bb_calloc(n, to_size);
	int rc = bb_remote__read(r, at, from, n * from_size);
	for (size_t i = 0; !rc && i < n; i++)
		memcpy(to + i * to_size, from + i * from_size, common);
	free(from);
	if (rc)
		free(to);
	else
		memcpy(ret_records, &to, sizeof(to));
	return rc;
}

int bb_remote__fd(const struct bb_remote *r, int fd)
{
	int copy = (int)syscall(SYS_pidfd_getfd, r->pidfd, fd, 0);

	return copy < 0 ? -errno : copy;
}

/* The kernel checks our permission before it notices that the descriptor and address are
 * invalid. */
int bb_remote__try(const struct bb_remote *r)
{
	char byte;
	int rc = bb_remote__fd(r, -1);

	if (rc != -EPERM && rc != -ENOSYS)
		rc = bb_remote__read(r, 0, &byte, sizeof(byte));
	return rc == -EPERM || rc == -ENOSYS ? rc : 0;
}

#ifndef CAP_PERFMON /* new in Linux 5.8 */
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
	return BB_SUM(looked_at, BB_LEN(looked_at), it->bit);
}

/* `tid` 0 means our own thread. */
static int get_capabilities(pid_t tid, struct __user_cap_data_struct sets[2])
{
	struct __user_cap_header_struct whose = {_LINUX_CAPABILITY_VERSION_3, tid};

	return syscall(SYS_capget, &whose, sets) ? -errno : 0;
}

static int set_capabilities(const struct __user_cap_data_struct sets[2])
{
	struct __user_cap_header_struct whose = {_LINUX_CAPABILITY_VERSION_3, 0};

	return syscall(SYS_capset, &whose, sets) ? -errno : 0;
}

uint64_t bb_rights__of(pid_t tid)
{
	struct __user_cap_data_struct sets[2];
	struct stat ours, theirs;
	char path[64];

	if (get_capabilities(tid, sets))
		return all_rights();
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)tid);
	if (!stat(path, &theirs) && !stat("/proc/self/ns/user", &ours) &&
	    (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino))
		return 0;
	return (sets[0].effective | (uint64_t)sets[1].effective << 32) & all_rights();
}

bool bb_rights__are_whole(uint64_t rights)
{
	return rights & BIT(CAP_SYS_ADMIN) || (rights | BIT(CAP_SYS_ADMIN)) == all_rights();
}

void bb_rights__say_lacking(uint64_t rights, char *ret_text, size_t size)
{
	*ret_text = '\0';
	for (size_t i = 0; i < BB_LEN(looked_at); i++)
		if (!(rights & looked_at[i].bit))
			bb_list_words(ret_text, size, ", ", "%s", looked_at[i].name);
}

int bb_rights__limit(uint64_t rights, struct bb_rights_before *ret_before)
{
	struct __user_cap_data_struct sets[2];
	uint64_t others = all_rights() & ~rights;
	int rc = get_capabilities(0, sets);

	if (rc)
		return rc;
	for (int i = 0; i < 2; i++) {
		ret_before->effective[i] = sets[i].effective;
		sets[i].effective &= ~(uint32_t)(others >> (32 * i));
	}
	return set_capabilities(sets);
}

void bb_rights__restore(const struct bb_rights_before *before)
{
	struct __user_cap_data_struct sets[2];

	/* these calls cannot fail, because they worked in bb_rights__limit() */
	if (get_capabilities(0, sets))
		abort();
	for (int i = 0; i < 2; i++)
		sets[i].effective = before->effective[i];
	if (set_capabilities(sets))
		abort();
}
