/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/machine.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu_lock.h"
#include "base/stop.h"

/* The CPUs that we may use, in ascending order; their number, or -errno. */
static int allowed_cpus(int cpus[CPU_SETSIZE], struct bb_err *err)
{
	cpu_set_t allowed;
	int n = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return bb_fail(err, -errno, "cannot tell which CPUs may be used: %s",
			       strerror(errno));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &allowed))
			cpus[n++] = cpu;
	return n;
}

int bb_machine_cpus(int wanted, int *ret_cpu, int *ret_poll_cpu, struct bb_err *err)
{
	int cpus[CPU_SETSIZE], n = allowed_cpus(cpus, err), i = 0;

	if (n < 0)
		return n;
	if (wanted < 0)
		wanted = cpus[n - 1];
	while (i < n && cpus[i] != wanted)
		i++;
	if (i == n)
		return bb_fail(err, -EINVAL,
			       "--cpu %d: there is no such CPU, or it is not allowed here "
			       "(allowed: %d to %d)",
			       wanted, cpus[0], cpus[n - 1]);
	*ret_cpu = wanted;
	*ret_poll_cpu = cpus[i == 0 && n > 1];
	return 0;
}

/* The i-th pair from the ends of the CPUs that we may use: false when there is none. */
static bool ith_pair(int i, int *ret_cpu, int *ret_poll_cpu)
{
	int cpus[CPU_SETSIZE], n = allowed_cpus(cpus, NULL);

	if (n <= 0 || (n > 1 && i >= n / 2) || (n == 1 && i))
		return false;
	*ret_cpu = cpus[n - 1 - i];
	*ret_poll_cpu = cpus[i];
	return true;
}

static void word_holder(char *text, size_t size, int cpu, const struct bb_cpu_holder *h)
{
	if (h->pid)
		snprintf(text, size, "process %d (%s) measures on CPU %d", (int)h->pid, h->command,
			 cpu);
	else
		snprintf(text, size,
			 "a bpfbench in another PID namespace (a container) measures on CPU %d",
			 cpu);
}

/* -EBUSY: another bpfbench has it. Where it cannot be locked, that is said, and we go on. */
static int lock_cpu(int cpu, struct bb_cpu_holder *holder)
{
	int rc = bb_cpu_lock__take(cpu, holder);

	if (rc && rc != -EBUSY) {
		fprintf(stderr,
			"bpfbench: CPU %d cannot be locked (%s); if another bpfbench measures "
			"there, neither waits for the other\n",
			cpu,
			rc == -EADDRINUSE ? "a process that is not root's has the lock's name"
					  : strerror(-rc));
		rc = 0;
	}
	return rc;
}

/* Lock the CPU, or the first that is free. -EBUSY: none is; ret_holder has the first of them. */
static int lock_any(int wanted, int *ret_cpu, int *ret_poll_cpu, struct bb_cpu_holder *ret_holder)
{
	int cpu = *ret_cpu, poll_cpu = *ret_poll_cpu, rc = lock_cpu(cpu, ret_holder);

	for (int i = 1; rc == -EBUSY && wanted < 0 && ith_pair(i, &cpu, &poll_cpu); i++) {
		struct bb_cpu_holder other;

		rc = lock_cpu(cpu, &other);
		bb_cpu_holder__done(&other);
	}
	if (rc)
		return rc;
	bb_cpu_holder__done(ret_holder);
	*ret_cpu = cpu;
	*ret_poll_cpu = poll_cpu;
	return 0;
}

int bb_machine_take_cpus(int wanted, bool no_wait, int *ret_cpu, int *ret_poll_cpu,
			 struct bb_err *err)
{
	static bool is_taken;
	static int cpu, poll_cpu;
	struct bb_cpu_holder holder;
	pid_t said = -1;
	int rc = is_taken ? 0 : bb_machine_cpus(wanted, &cpu, &poll_cpu, err);

	while (!rc && !is_taken && !geteuid()) {
		char who[300];

		rc = lock_any(wanted, &cpu, &poll_cpu, &holder);
		if (rc != -EBUSY)
			break;
		word_holder(who, sizeof(who), cpu, &holder);
		if (!no_wait && holder.pid != said)
			fprintf(stderr, "bpfbench: waiting: %s; --no-wait fails instead\n", who);
		said = holder.pid;
		rc = no_wait ? bb_fail(err, -EBUSY,
				       "%s, and two would disturb each other; without --no-wait "
				       "this one waits for it",
				       who)
			     : bb_cpu_holder__wait(&holder);
		bb_cpu_holder__done(&holder);
	}
	if (rc == -EINTR)
		return bb_fail(err, rc, "stopped by signal %d (%s) while waiting for CPU %d",
			       (int)bb_stop_signal, strsignal(bb_stop_signal), cpu);
	is_taken |= !rc;
	*ret_cpu = cpu;
	*ret_poll_cpu = poll_cpu;
	return rc;
}
