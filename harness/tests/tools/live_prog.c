/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plays another process with a BPF program: loads the program of OBJECT (live.bpf.o), pins it if
 * asked, and runs it again and again until a signal or the end of its parent. The program counts
 * its runs in a map, so that a test can tell whether others ran it, too. On stdout, a line each:
 * the program's id once it runs; at the end, its runs by this process and its runs by the map.
 *
 * live_prog OBJECT GAP_US [PIN [RUNS]]: GAP_US: time between two calls; "-": never runs it.
 * PIN "": does not pin it. RUNS: runs of each call (1).
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/deadline.h"

static int fail(const char *what)
{
	fprintf(stderr, "live_prog: %s: %s\n", what, strerror(errno));
	return 1;
}

/* Makes a call every gap_us (0: none at all) until a signal. Returns the number of runs, or -1. */
static long long run(int prog_fd, uint64_t gap_us, uint64_t n)
{
	char frame[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = (int)n);
	long long runs = 0;
	sigset_t all, before;

	sigfillset(&all);
	while (!bb_stop_signal) {
		int rc;

		usleep(gap_us ? (useconds_t)gap_us : 20000);
		if (!gap_us || bb_stop_signal)
			continue;
		/* no signals here: an interrupted call does not return its number of runs */
		sigprocmask(SIG_BLOCK, &all, &before);
		rc = bpf_prog_test_run_opts(prog_fd, &opts);
		sigprocmask(SIG_SETMASK, &before, NULL);
		if (rc)
			return -1;
		runs += (long long)n;
	}
	return runs;
}

int main(int argc, char **argv)
{
	uint64_t gap_us = 0, counted = 0, n = 1;
	const char *pin = argc > 3 && *argv[3] ? argv[3] : NULL;
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info), zero = 0;
	struct bpf_program *prog;
	struct bpf_object *obj;
	long long runs;

	if (argc < 3 || (strcmp(argv[2], "-") && bb_parse_u64(argv[2], &gap_us)) ||
	    (argc > 4 && bb_parse_u64(argv[4], &n))) {
		fputs("usage: live_prog OBJECT GAP_US|- [PIN [RUNS]]\n", stderr);
		return 2;
	}
	bb_stop__install(true);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	obj = bpf_object__open_file(argv[1], NULL);
	if (!obj || bpf_object__load(obj))
		return fail(argv[1]);
	prog = bpf_object__next_program(obj, NULL);
	if (pin && bpf_program__pin(prog, pin))
		return fail(pin);
	if (bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
		return fail("info");
	printf("%u\n", info.id);
	fflush(stdout);
	runs = run(bpf_program__fd(prog), gap_us, n);
	if (runs < 0)
		return fail("test run");
	if (bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(obj, "live_runs"), &zero, &counted))
		return fail("live_runs");
	printf("ran %lld, counted %llu\n", runs, (unsigned long long)counted);
	if (pin)
		bpf_program__unpin(prog, pin);
	bpf_object__close(obj);
	return 0;
}
