/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nested_runs OBJECT SECONDS: attaches the two programs of OBJECT (inside_nested.bpf.o), one to
 * system calls and one to a timer that interrupts each CPU every 20 us, and makes system calls on
 * all CPUs for SECONDS. Then it detaches them and prints their counters: "fast N slow N between N
 * nested N".
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_CPUS 64

static int timer_on(int cpu)
{
	struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE,
					.size = sizeof(clock),
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.sample_period = 20000};

	return (int)syscall(SYS_perf_event_open, &clock, -1, cpu, -1, 0);
}

static void call_for(unsigned int seconds)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	for (long i = 0; i < n; i++)
		if (!fork()) {
			alarm(seconds);
			for (;;)
				syscall(SYS_getppid);
		}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	struct bpf_object *obj = argc == 3 ? bpf_object__open_file(argv[1], NULL) : NULL;
	struct bpf_link *links[MOST_CPUS + 1] = {0};
	struct bpf_program *of_timer, *of_calls;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t counts[5];
	__u32 zero = 0;
	int n = 0;

	if (!obj || bpf_object__load(obj))
		return 1;
	of_timer = bpf_object__find_program_by_name(obj, "interrupts");
	of_calls = bpf_object__find_program_by_name(obj, "interrupted");
	for (int cpu = 0; cpu < cpus && cpu < MOST_CPUS; cpu++) {
		int fd = timer_on(cpu);

		if (fd >= 0)
			links[n++] = bpf_program__attach_perf_event(of_timer, fd);
	}
	links[n++] = bpf_program__attach(of_calls);
	call_for((unsigned int)atoi(argv[2]));
	while (n--)
		bpf_link__destroy(links[n]);
	sleep(1); /* the last runs end */
	if (bpf_map_lookup_elem(bpf_map__fd(bpf_object__find_map_by_name(obj, "inside_n.bss")),
				&zero, counts))
		return 1;
	printf("fast %lu slow %lu between %lu nested %lu\n", counts[0], counts[1], counts[2],
	       counts[3]);
	bpf_object__close(obj);
	return 0;
}
