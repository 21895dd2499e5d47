/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <netinet/in.h>
#include <sys/uio.h>

#include "fire/firer.h"

/* The first page of bb_firing.page. It is resident, because BPF programs read it and cannot wait
 * for a page fault. */
struct bb_firing_page {
	union { /* a socket's address */
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		char more[128];
	} address;
	char zeros[256];
	/* path: an existing file. no_path: a name that no file has. here: "." */
	char path[8], no_path[8], here[8];
	struct iovec vector;    /* the first byte of `buffer` */
	struct timespec moment; /* one nanosecond */
	int one, length;        /* `one` is 1, `length` is the size of struct sockaddr_in6 */
	char buffer[2048];      /* for results of system calls */
};

/* Arguments of system calls whose values are known only when the trigger is opened. */
enum {
	FD0 = 0x5eed0000, /* bb_firing.fd[0] to fd[2] */
	FD1,
	FD2,
	CGROUP_FD,
	CHILD_PID,
	OWN_PID,
	OWN_TID,
	ADDRESS_BYTES,
	PAGE_BYTES,
	NEXT_PAGE,         /* the second page of bb_firing.page */
	PAGE = 0x5eee0000, /* the first page */
	ADDRESS = PAGE + (int)offsetof(struct bb_firing_page, address),
	ZEROS = PAGE + (int)offsetof(struct bb_firing_page, zeros),
	PATH = PAGE + (int)offsetof(struct bb_firing_page, path),
	NO_PATH = PAGE + (int)offsetof(struct bb_firing_page, no_path),
	HERE = PAGE + (int)offsetof(struct bb_firing_page, here),
	VECTOR = PAGE + (int)offsetof(struct bb_firing_page, vector),
	MOMENT = PAGE + (int)offsetof(struct bb_firing_page, moment),
	ONE = PAGE + (int)offsetof(struct bb_firing_page, one),
	LENGTH = PAGE + (int)offsetof(struct bb_firing_page, length),
	BUFFER = PAGE + (int)offsetof(struct bb_firing_page, buffer),
};

/* BB_DO is a system call. The descriptor that BB_MAKE returns is closed at once. */
#define BB_DO(call, ...)                                                                           \
	{                                                                                          \
		BB_CALL, SYS_##call,                                                               \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define BB_MAKE(call, ...)                                                                         \
	{                                                                                          \
		BB_CALL_MAKES_FD, SYS_##call,                                                      \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define BB_FIRES(...) .fire = bb_trigger__call, .calls = {__VA_ARGS__}

/* Returns -errno if `has_failed`. `a() ?: b()` calls b() only if a() has returned 0. */
static inline int bb_failed(bool has_failed)
{
	return has_failed ? -errno : 0;
}

static inline struct bb_firing_page *bb_firing__page(const struct bb_firing *f)
{
	return (struct bb_firing_page *)(void *)f->page;
}

static inline socklen_t bb_firing__address_bytes(const struct bb_firing *f)
{
	return f->trigger->is_ipv6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

/* Opens TCP sockets over the loopback device: fd[0] listens, fd[1] and fd[2] are the two ends of a
 * connection. Returns 0 or -errno. */
int bb_firing__open_tcp(struct bb_firing *f);
