/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "env/checks_internal.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "env/sysfile.h"

#define STEP_MAX_DEPTH                                                                             \
	127 /* deepest stack that a scenario may ask for, and the kernel's default limit */

/* Open an event on this thread, disabled, and close it again. 0 or -errno. */
static int try_event(uint32_t type, uint64_t config, uint64_t period)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.sample_period = period,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static void check_software_event(struct bb_check_result *ret_result, uint64_t config,
				 uint64_t period)
{
	int err = try_event(PERF_TYPE_SOFTWARE, config, period);
	const char *remedy = "use a kernel built with CONFIG_PERF_EVENTS=y; seccomp may forbid "
			     "perf_event_open() too";

	if (!err) {
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "opens");
		return;
	}
	if ((err == -EACCES || err == -EPERM) && !bb_may_bpf())
		remedy = bb_privilege_remedy();
	bb_check_set(ret_result, BB_CHECK_FAIL, remedy, "does not open: %s", strerror(-err));
}

void bb_check_page_fault_event(struct bb_check_result *ret_result)
{
	check_software_event(ret_result, PERF_COUNT_SW_PAGE_FAULTS, 1);
}

void bb_check_cpu_clock_event(struct bb_check_result *ret_result)
{
	/* 10 ms: 100 Hz */
	check_software_event(ret_result, PERF_COUNT_SW_CPU_CLOCK, 10 * 1000 * 1000);
}

void bb_check_pmu(struct bb_check_result *ret_result)
{
	int err = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0);

	if (!err)
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "cycles can be counted");
	else if (err == -EACCES || err == -EPERM)
		bb_check_set(ret_result, BB_CHECK_SKIP, bb_privilege_remedy(), "not known: %s",
			     strerror(-err));
	else
		bb_check_set(ret_result, BB_CHECK_WARN,
			     "nothing to do here; cycles need bare metal, or a VM with a virtual "
			     "PMU",
			     "no PMU: software events are used (%s)", strerror(-err));
}

void bb_check_perf_paranoid(struct bb_check_result *ret_result)
{
	char text[32];
	int err = bb_sysfile__read("", "/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));

	if (err)
		bb_check_set(ret_result, BB_CHECK_FAIL,
			     "use a kernel built with CONFIG_PERF_EVENTS=y, mount /proc",
			     "/proc/sys/kernel/perf_event_paranoid: %s", strerror(-err));
	else if (bb_has_cap(CAP_PERFMON) || bb_has_cap(CAP_SYS_ADMIN))
		bb_check_set(ret_result, BB_CHECK_OK, NULL,
			     "%s, which does not apply with our "
			     "capabilities",
			     text);
	else if (text[0] == '-' || !strcmp(text, "0") || !strcmp(text, "1"))
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "%s", text);
	else
		bb_check_set(ret_result, BB_CHECK_WARN, bb_privilege_remedy(),
			     "%s: events in the kernel are forbidden without CAP_PERFMON", text);
}

void bb_check_perf_max_stack(struct bb_check_result *ret_result)
{
	uint64_t frames;
	int err = bb_sysfile__read_u64("", "/proc/sys/kernel/perf_event_max_stack", &frames);

	if (err)
		bb_check_set(ret_result, BB_CHECK_SKIP, NULL,
			     "not known: kernel.perf_event_max_stack: %s", strerror(-err));
	else if (frames < STEP_MAX_DEPTH)
		bb_check_set(ret_result, BB_CHECK_WARN,
			     "sudo sysctl kernel.perf_event_max_stack=127",
			     "%llu frames: deeper stacks are cut, so costs do not rise beyond that "
			     "depth",
			     (unsigned long long)frames);
	else
		bb_check_set(ret_result, BB_CHECK_OK, NULL, "%llu frames",
			     (unsigned long long)frames);
}
