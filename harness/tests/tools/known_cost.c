/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An agent of known cost, and its workload, for `bpfbench overhead`.
 *
 * known_cost agent OBJECT ROUNDS [HOW]: loads OBJECT (overhead.bpf.o), attaches its program to raw
 * tracepoint sys_enter, and waits for a signal. HOW: "idle" does not attach it; "deaf" ignores
 * SIGTERM; "late" attaches it after 1 s; "gone" unloads it after 1 s; "dies" ends after 1 s;
 * "unread" fills a ring buffer that nobody reads; a path pins the program there and leaves it.
 *
 * known_cost work CALLS WORK: calls getpgid() CALLS times, with WORK rounds of a loop after each.
 *
 * known_cost verify INSTRUCTIONS: loads a program for which the verifier takes some time, and ends.
 *
 * known_cost fit OBJECT ROUNDS PERCENT: prints "CALLS WORK" for which the workload takes about 50
 * ms and the program adds PERCENT to it. For that it measures the time that the program adds to a
 * getpgid(), in turns of 2 ms with and without it in this process, while the other CPUs are busy.
 * On stderr: ns per call without the program, and ns added by it.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/std.h"
#include "base/parse.h"
#include "base/deadline.h"

#define TURNS 400
#define RUN_NS 50e6

static int fail(const char *what)
{
	fprintf(stderr, "known_cost: %s: %s\n", what, strerror(errno));
	return 1;
}

static struct bpf_program *load(const char *object, uint64_t rounds, bool emits,
				struct bpf_object **ret_obj)
{
	struct bpf_object *obj = bpf_object__open_file(object, NULL);
	struct bpf_map *map = obj ? bpf_object__find_map_by_name(obj, ".rodata") : NULL;
	struct {
		uint32_t rounds, emits;
		uint64_t nr;
	} values = {(uint32_t)rounds, emits, SYS_getpgid};

	if (!map || bpf_map__set_initial_value(map, &values, sizeof(values)) ||
	    bpf_object__load(obj))
		return NULL;
	*ret_obj = obj;
	return bpf_object__next_program(obj, NULL);
}

static int be_agent(const char *object, uint64_t rounds, const char *how)
{
	bool dies = !strcmp(how, "dies"), gone = !strcmp(how, "gone");
	struct bpf_link *link = NULL;
	struct bpf_object *obj;
	struct bpf_program *prog;

	if (!strcmp(how, "late"))
		sleep(1);
	prog = load(object, rounds, !strcmp(how, "unread"), &obj);
	if (prog && strcmp(how, "idle"))
		link = bpf_program__attach(prog);
	if (!prog || (!link && strcmp(how, "idle")))
		return fail(object);
	if (*how == '/' && bpf_program__pin(prog, how))
		return fail(how);
	if (!strcmp(how, "deaf"))
		signal(SIGTERM, SIG_IGN);
	for (int ms = 0; !bb_stop_signal && !(dies && ms >= 1000); ms += 200) {
		usleep(200000); /* long, because the agent's own CPU time counts, too */
		if (gone && ms == 1000) {
			bpf_link__destroy(link);
			bpf_object__close(obj);
		}
	}
	if (dies)
		fputs("known_cost: out of luck\n", stderr);
	return dies ? 7 : 0;
}

/* Loads a program of jumps to the next instruction. The verifier removes them one by one and moves
 * all later instructions each time, so its time grows with the square of their number. */
static int verify(uint64_t n)
{
	struct bpf_insn *insns = bb_calloc(n + 2, sizeof(*insns));

	for (uint64_t i = 0; i < n; i++)
		insns[i].code = BPF_JMP | BPF_JA;
	insns[n].code = BPF_ALU64 | BPF_MOV | BPF_K;
	insns[n + 1].code = BPF_JMP | BPF_EXIT;
	return bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, NULL, "GPL", insns, n + 2, NULL) < 0
		       ? fail("verify")
		       : 0;
}

static uint64_t do_work(uint64_t calls, uint64_t work)
{
	uint64_t a = 1, b = 7;

	for (uint64_t i = 0; i < calls; i++) {
		syscall(SYS_getpgid, 0);
		for (uint64_t k = 0; k < work; k++) {
			a += b;
			b ^= a;
			b >>= 3;
			__asm__ volatile("" : "+r"(a), "+r"(b));
		}
	}
	return a;
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double ns_a_call(uint64_t calls, uint64_t work)
{
	double began_ns = cpu_ns();

	do_work(calls, work);
	return (cpu_ns() - began_ns) / (double)calls;
}

/* Keeps the other CPUs busy until we end, as the workload does, because a CPU is slower if another
 * one of the same core is busy. */
static void occupy_others(void)
{
	for (long i = sysconf(_SC_NPROCESSORS_ONLN); i > 1; i--)
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				do_work(1000, 1000);
		}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *x)
{
	qsort(x, TURNS, sizeof(double), by_value);
	return x[TURNS / 2];
}

static int fit(const char *object, uint64_t rounds, double percent)
{
	/* less[], more[]: times of a call with two amounts of work, to compute the work with which
	 * a call takes want_ns. All four take turns, because the machine's speed changes. */
	static double without[TURNS], added[TURNS], less[TURNS], more[TURNS];
	struct bpf_object *obj;
	struct bpf_program *prog = load(object, rounds, false, &obj);
	double want_ns;

	occupy_others();
	for (int i = 0; prog && i < TURNS; i++) {
		struct bpf_link *link;

		without[i] = ns_a_call(5000, 0);
		link = bpf_program__attach(prog);
		if (!link)
			return fail(object);
		added[i] = ns_a_call(5000, 0) - without[i];
		bpf_link__destroy(link);
		less[i] = ns_a_call(200, 1000);
		more[i] = ns_a_call(200, 10000);
	}
	if (!prog)
		return fail(object);
	want_ns = median(added) * 100 / percent;
	fprintf(stderr, "known_cost: a call takes %.1f ns, the program adds %.1f ns\n",
		median(without), median(added));
	printf("%.0f %.0f\n", RUN_NS / want_ns,
	       fmax(0, 1000 + (want_ns - median(less)) * 9000 / (median(more) - median(less))));
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t a = 0, b = 0;

	bb_stop__install(true);
	if (argc >= 4 && !strcmp(argv[1], "agent") && !bb_parse_u64(argv[3], &a))
		return be_agent(argv[2], a, argc > 4 ? argv[4] : "");
	if (argc == 3 && !strcmp(argv[1], "verify") && !bb_parse_u64(argv[2], &a))
		return verify(a);
	if (argc == 4 && !strcmp(argv[1], "work") && !bb_parse_u64(argv[2], &a) &&
	    !bb_parse_u64(argv[3], &b))
		return do_work(a, b) == 0;
	if (argc == 5 && !strcmp(argv[1], "fit") && !bb_parse_u64(argv[3], &a))
		return fit(argv[2], a, atof(argv[4]));
	fputs("usage: known_cost agent OBJECT ROUNDS [HOW] | verify INSTRUCTIONS | work CALLS WORK "
	      "| "
	      "fit OBJECT ROUNDS PERCENT\n",
	      stderr);
	return 2;
}
