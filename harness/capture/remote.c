/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/remote.h"

#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/caller.h"
#include "base/parse.h"

#define MAX_RECORD 256 /* bytes */

#ifndef PIDFD_THREAD /* Linux 6.9 */
#define PIDFD_THREAD O_EXCL
#endif

/* Returns the process id of a thread; negative if it has ended. This is the slowest function here.
 */
static pid_t process_of(pid_t tid)
{
	char path[64], text[1024], *at;
	uint64_t tgid;
	int n;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	n = bb_root__read(path, text, sizeof(text));
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
	/* before Linux 6.9 a pidfd belongs to a process, not to a thread */
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

/* Reads page by page, because the page after the string may not be mapped. */
int bb_remote__read_text(const struct bb_remote *r, uint64_t at, char *dest, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), got = 0;

	*dest = '\0';
	while (at && got < size - 1) {
		size_t n = page - (at + got) % page;
		int rc;

		n = n < size - 1 - got ? n : size - 1 - got;
		rc = bb_remote__read(r, at + got, dest + got, n);
		if (rc)
			return rc;
		if (memchr(dest + got, '\0', n))
			return 0;
		got += n;
	}
	dest[got] = '\0';
	return 0;
}

int bb_remote__copy(const struct bb_remote *r, uint64_t at, size_t n, size_t from_size,
		    size_t to_size, void **ret_records)
{
	size_t common = from_size < to_size ? from_size : to_size;
	char *from, *to;
	int rc;

	*ret_records = NULL;
	if (!at || !n)
		return 0;
	if (!from_size || from_size > MAX_RECORD)
		return -E2BIG;
	from = bb_calloc(n, from_size);
	to = bb_calloc(n, to_size);
	rc = bb_remote__read(r, at, from, n * from_size);
	for (size_t i = 0; !rc && i < n; i++)
		memcpy(to + i * to_size, from + i * from_size, common);
	free(from);
	if (rc)
		free(to);
	else
		*ret_records = to;
	return rc;
}

int bb_remote__fd(const struct bb_remote *r, int fd)
{
	int copy = (int)syscall(SYS_pidfd_getfd, r->pidfd, fd, 0);

	return copy < 0 ? -errno : copy;
}

/* The kernel checks our permission before it checks the invalid descriptor and address. */
int bb_remote__try(const struct bb_remote *r)
{
	char byte;
	int rc = bb_remote__fd(r, -1);

	if (rc != -EPERM && rc != -ENOSYS)
		rc = bb_remote__read(r, 0, &byte, sizeof(byte));
	return rc == -EPERM || rc == -ENOSYS ? rc : 0;
}
