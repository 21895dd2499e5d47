/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/later.h"
#include "base/std.h"

#include <pthread.h>
#include <stdatomic.h>

/* close() detached the program within 20 us when it was measured */
#define MOMENT_US 50
#define STACK_BYTES (64u << 10)
#define MOST 512 /* limit: threads at a time */

static atomic_int begun, running;

static void *close_it(void *arg)
{
	atomic_fetch_add(&begun, 1);
	close((int)(intptr_t)arg);
	atomic_fetch_sub(&running, 1);
	return NULL;
}

/* The thread may run on every CPU, to spare the measuring thread. Returns 0 or a positive errno. */
static int start(int fd)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (size_t i = 0; i < CPU_SETSIZE; i++)
		CPU_SET(i, &cpus);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setaffinity_np(&attr, sizeof(cpus), &cpus);
	int rc = pthread_create(&thread, &attr, close_it, (void *)(intptr_t)fd);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

void bb_close_later__wait(void)
{
	do
		/* sleep even if `running` is 0, because the last thread may still be ending */
		usleep(1000);
	while (atomic_load(&running) > 0);
}

void bb_close_later(int fd)
{
	static bool waits_at_exit;
	int before = atomic_load(&begun);

	/* At the end of a process, the kernel kills threads that still run. A killed thread cannot
	 * remove its uprobe, so the kernel logs "failed to unregister, leaking uprobe". */
	waits_at_exit = waits_at_exit || !atexit(bb_close_later__wait);
	if (fd < 0)
		return;
	if (atomic_fetch_add(&running, 1) >= MOST || start(fd)) {
		atomic_fetch_sub(&running, 1);
		close(fd);
		return;
	}
	do
		usleep(MOMENT_US);
	while (atomic_load(&begun) == before);
}
