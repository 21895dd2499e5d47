/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of `bpfbench inside` for programs of known cost, and the cost of its clones.
 *
 * bench_inside SCRATCH_FOLDER starts `bpfbench inside -- bench_inside FOLDER CPU` and sends
 * commands to that process, one character each, through a FIFO. The process answers each with a
 * number. The parent carries out the same commands on programs without instruments, in turns with
 * the other process and on the same CPU, so that a disturbance of the machine affects both.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <linux/bpf.h>
#include <sys/stat.h>

#include "bench.h"

#define KNOWN "tests/bpf/inside_known_tailcall.bpf.o"
#define TURNS 60u
#define BLOCK 50u     /* single runs of each program in a turn; each 50th takes the slow path */
#define REPEAT 20000u /* runs of one call */
#define LOADS 40u
#define NEAR_NS 5.0
#define NEAR 0.05

static const char *built(const char *name)
{
	static char path[4096];
	const char *o = getenv("O");

	snprintf(path, sizeof(path), "%s/%s", o ? o : "build", name);
	return path;
}

static void check(const char *what, bool ok)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* The mean of the middle half of x[n]. A median would be a multiple of the clock's resolution, 10
 * or 1 ns. Sorts x. */
static double midmean(double *x, size_t n)
{
	double sum = 0;

	bb_sort_doubles(x, n);
	for (size_t i = n / 4; i < n - n / 4; i++)
		sum += x[i];
	return sum / (double)(n - n / 4 * 2);
}

/* --- the commands, for both processes --- */

/* A program to be loaded many times. Its instructions refer to the maps of a loaded object. */
struct load {
	enum bpf_prog_type type;
	const struct bpf_insn *insns;
	size_t n;
};

struct programs {
	struct bpf_object *known, *profiler;
	int straight_fd, clocks_fd, paths_fd, chain_fd;
	struct load loads[3];
};

static const struct bpf_insn straight[] = {
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 0},
	{.code = BPF_ALU64 | BPF_ADD | BPF_K, .imm = 1},
	{.code = BPF_ALU64 | BPF_ADD | BPF_K, .imm = 1},
	{.code = BPF_JMP | BPF_EXIT},
};

/* Two readings of the clock, as in a timed run. */
static const struct bpf_insn clocks[] = {
	{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns},
	{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns},
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 2},
	{.code = BPF_JMP | BPF_EXIT},
};

/* Each load has a name of its own, because clones of equal programs with one name would share
 * their memory. */
static int load(const struct load *l)
{
	static unsigned int nth;
	char name[16];
	int fd;

	snprintf(name, sizeof(name), nth ? "straight%u" : "straight", nth);
	nth++;
	fd = bpf_prog_load(l->type, name, "GPL", l->insns, l->n, NULL);

	check("loading a program", fd >= 0);
	return fd;
}

static struct bpf_object *open_object(const char *path)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);

	check(path, obj && !bpf_object__load(obj));
	return obj;
}

static struct load load_of(const struct bpf_object *obj, const char *name)
{
	const struct bpf_program *p = bpf_object__find_program_by_name(obj, name);

	check(name, p != NULL);
	return (struct load){bpf_program__type(p), bpf_program__insns(p), bpf_program__insn_cnt(p)};
}

static int fd_of(const struct bpf_object *obj, const char *name)
{
	return bpf_program__fd(bpf_object__find_program_by_name(obj, name));
}

static void programs_open(struct programs *p)
{
	p->known = open_object(built(KNOWN));
	p->profiler = open_object(built("bpf/perf_profiler.bpf.o"));
	p->loads[0] = (struct load){BPF_PROG_TYPE_XDP, straight, 4};
	p->loads[1] = load_of(p->known, "known_paths");
	p->loads[2] = load_of(p->profiler, "ringbuf");
	p->straight_fd = load(&p->loads[0]);
	p->clocks_fd = load(&(struct load){BPF_PROG_TYPE_XDP, clocks, 4});
	p->paths_fd = fd_of(p->known, "known_paths");
	p->chain_fd = fd_of(p->known, "known_100");
}

static void programs_close(struct programs *p)
{
	bpf_object__close(p->known);
	bpf_object__close(p->profiler);
	close(p->straight_fd);
	close(p->clocks_fd);
}

/* Returns ns per run, as the kernel reports it. */
static double run(int fd, unsigned int repeat)
{
	static const uint8_t frame[64];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = (int)repeat);

	check("a test run", !bpf_prog_test_run_opts(fd, &opts));
	return opts.duration;
}

static double run_block(int fd)
{
	for (unsigned int i = 0; i < BLOCK; i++)
		run(fd, 1);
	return 0;
}

static double load_us(const struct load *l)
{
	uint64_t began_ns = bb_now_ns();
	int fd = load(l);
	double us = (double)(bb_now_ns() - began_ns) * 1e-3;

	close(fd);
	return us;
}

static struct bb_prog_stats stats_of(int fd)
{
	struct bpf_prog_info info = {0};

	check("reading a program's counters", !bb_info__read(fd, &info));
	return (struct bb_prog_stats){.run_cnt = info.run_cnt, .run_time_ns = info.run_time_ns};
}

static double execute(const struct programs *p, char command)
{
	switch (command) {
	case 'p': return run_block(p->paths_fd);
	case 'c': return run_block(p->chain_fd);
	case 's': return run_block(p->straight_fd);
	case 'P': return (double)stats_of(p->paths_fd).run_cnt;
	case 'C': return (double)stats_of(p->chain_fd).run_cnt;
	case 'S': return (double)stats_of(p->straight_fd).run_cnt;
	case 't': return (double)stats_of(p->paths_fd).run_time_ns;
	case 'T': return (double)stats_of(p->straight_fd).run_time_ns;
	case 'r': return run(p->straight_fd, REPEAT);
	case 'R': return run(p->paths_fd, REPEAT);
	case 'k': return run(p->clocks_fd, REPEAT);
	default: return load_us(&p->loads[command - '0']);
	}
}

/* The process under `bpfbench inside`. It ends when the parent closes the FIFO. */
static int serve(const char *folder, int cpu)
{
	struct programs p;
	char path[4096], command;
	int in, out;

	check("the CPU", !bb_pin_to_cpu(cpu, NULL));
	programs_open(&p);
	snprintf(path, sizeof(path), "%s/commands", folder);
	check(path, (in = open(path, O_RDONLY)) >= 0);
	snprintf(path, sizeof(path), "%s/answers", folder);
	check(path, (out = open(path, O_WRONLY)) >= 0);
	while (read(in, &command, 1) == 1) {
		double answer = execute(&p, command);

		check(path, write(out, &answer, sizeof(answer)) == sizeof(answer));
	}
	return 0;
}

/* --- the session --- */

struct session {
	char folder[2048], json[4096];
	int cpu;
	pid_t pid;
	int to, from;
	json_t *report;
};

static int open_fifo(const struct session *s, const char *name, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", s->folder, name);
	check(path, !mkfifo(path, 0600) || errno == EEXIST);
	if (flags < 0)
		return -1;
	fd = open(path, flags);
	check(path, fd >= 0);
	return fd;
}

static void session_start(struct session *s, const char *option)
{
	char self[4096], cpu[16];
	const char *argv[] = {"./bpfbench", "inside", "--format", "json", "--no-store", option,
			      "--",         self,     s->folder,  cpu,    NULL};

	snprintf(s->json, sizeof(s->json), "%s/inside.json", s->folder);
	snprintf(self, sizeof(self), "%s", built("bench/bench_inside"));
	snprintf(cpu, sizeof(cpu), "%d", s->cpu);
	open_fifo(s, "commands", -1);
	open_fifo(s, "answers", -1);
	s->pid = fork();
	if (!s->pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		check(s->json, freopen(s->json, "w", stdout) != NULL);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	check("fork", s->pid > 0);
	s->to = open_fifo(s, "commands", O_WRONLY);
	s->from = open_fifo(s, "answers", O_RDONLY);
}

static double ask(const struct session *s, char command)
{
	double answer;

	if (write(s->to, &command, 1) != 1 ||
	    read(s->from, &answer, sizeof(answer)) != sizeof(answer)) {
		fprintf(stderr, "the process inside does not answer\n");
		exit(1);
	}
	return answer;
}

static void session_end(struct session *s)
{
	int status;

	close(s->to);
	close(s->from);
	check("waiting for bpfbench", waitpid(s->pid, &status, 0) == s->pid);
	json_decref(s->report);
	s->report = json_load_file(s->json, 0, NULL);
	if (status || !s->report) {
		fprintf(stderr, "bpfbench inside failed with status %#x\n", (unsigned int)status);
		exit(1);
	}
}

/* Of the programs with that name, the one that ran most. */
static const json_t *program_of(const struct session *s, const char *name)
{
	const json_t *programs = json_object_get(s->report, "programs"), *found = NULL;

	for (size_t i = 0; i < json_array_size(programs); i++) {
		const json_t *p = json_array_get(programs, i);

		if (!strcmp(json_string_value(json_object_get(p, "name")), name) &&
		    (!found || json_number_value(json_object_get(p, "runs")) >
				       json_number_value(json_object_get(found, "runs"))))
			found = p;
	}
	if (!found) {
		fprintf(stderr, "no figures of %s\n", name);
		exit(1);
	}
	return found;
}

static double figure(const json_t *of, const char *name)
{
	const json_t *value = json_object_get(of, name);

	return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static const json_t *path_of(const struct session *s, size_t nth)
{
	return json_array_get(json_object_get(program_of(s, "known_paths"), "paths"), nth);
}

/* --- the step drive, on the same work --- */

enum { EMPTY, ALONE_100, ALONE_400, ALONE_1600, ALONE_FAST, ALONE_SLOW, N_ALONE };

struct alone {
	struct bb_variant_spec variant;
	struct bb_test_prog prog;
	struct bb_drive_slot *slot;
	double ns[TURNS * BLOCK];
	size_t n;
};

struct stepper {
	struct bb_drive_spec drive;
	struct bb_input input;
	uint8_t packet[64];
	struct bb_stats_enable stats;
	struct bb_drive_state *state;
	struct alone alone[N_ALONE];
	int cpu;
};

static int alone_open(struct stepper *s, int i, struct bb_err *err)
{
	static char names[N_ALONE][16] = {"empty_xdp",  "alone_100",  "alone_400",
					  "alone_1600", "alone_fast", "alone_slow"};
	struct alone *a = &s->alone[i];
	struct bb_rng rng;
	int rc;

	bb_rng_seed(&rng, BENCH_SEED);
	a->variant = (struct bb_variant_spec){.name = names[i], .program = names[i]};
	rc = bench_load(&a->variant, built(i == EMPTY ? "bpf/loops.bpf.o" : KNOWN), &rng, &a->prog,
			err);
	return rc ? rc : bb_driver__attach(s->state, &a->prog, &a->slot, err);
}

static void stepper_open(struct stepper *s)
{
	static char name[] = "zeros";
	struct bb_driver_opts opts = {.seed = BENCH_SEED};
	struct bb_err err = {0};
	int rc = bench_prepare(&opts, &s->stats, &err);

	s->cpu = opts.cpu;
	s->input = (struct bb_input){.name = name, .data = s->packet, .len = sizeof(s->packet)};
	s->drive.kind = bb_drive_kind_find("step", "test-run");
	s->drive.inputs = (struct bb_inputs){&s->input, 1};
	if (!rc)
		rc = bb_driver__open(&s->drive, &opts, &s->state, &err);
	for (int i = 0; !rc && i < N_ALONE; i++)
		rc = alone_open(s, i, &err);
	if (rc)
		bench_die("step", &err);
}

static void take_block(struct alone *a)
{
	uint64_t ns[BLOCK];
	struct bb_batch b = {.ns = ns, .want = BLOCK, .warmup = BENCH_WARMUP};
	struct bb_err err = {0};

	if (bb_driver__batch(a->slot, 0, &b, &err))
		bench_die(a->variant.name, &err);
	for (size_t i = 0; i < b.n; i++)
		a->ns[a->n++] = (double)ns[i];
}

static double net(struct stepper *s, int i)
{
	return midmean(s->alone[i].ns, s->alone[i].n) -
	       midmean(s->alone[EMPTY].ns, s->alone[EMPTY].n);
}

static void stepper_close(struct stepper *s)
{
	for (int i = 0; i < N_ALONE; i++) {
		bb_driver__detach(s->alone[i].slot);
		bb_test_prog__close(&s->alone[i].prog);
	}
	bb_driver__close(s->state);
	bb_stats_enable__off(&s->stats);
}

/* --- known programs --- */

static void judge_near(const char *what, const char *bound, double ns, double known_ns,
		       double at_least_ns)
{
	double off = fabs(ns - known_ns);
	char measured[64];

	snprintf(measured, sizeof(measured), "%.1f of %.1f ns, %+.1f %%", ns, known_ns,
		 100 * (ns / known_ns - 1));
	bench_judge(what, bound, measured, off <= fmax(at_least_ns, NEAR * known_ns));
}

/* For a short program, step's net is too low: the CPU begins the program's first instructions
 * while it still works on the call. The difference of many rounds and few has no such error. */
static void judge_chain(const struct session *s, struct stepper *known)
{
	static const char *const names[] = {"known_100", "known_400", "known_1600"};
	static const double rounds[] = {10, 40, 160};
	double round_ns = (net(known, ALONE_1600) - net(known, ALONE_400)) / 120;
	char what[80];

	for (int i = 0; i < 3; i++) {
		double p50 = figure(program_of(s, names[i]), "p50");

		snprintf(what, sizeof(what), "inside: p50 of tail-called program %d, by step's net",
			 i + 1);
		judge_near(what, "<= 5 % or 5 ns", p50, net(known, ALONE_100 + i), NEAR_NS);
		snprintf(what, sizeof(what), "inside: p50 of tail-called program %d, by its rounds",
			 i + 1);
		judge_near(what, "<= 5 % or 5 ns", p50, rounds[i] * round_ns, NEAR_NS);
	}
}

static void judge_paths(const struct session *s, struct stepper *known)
{
	double runs = TURNS * BLOCK, slow = figure(path_of(s, 1), "runs"), p99;
	char measured[64];

	snprintf(measured, sizeof(measured), "%.0f of %.0f", slow, runs);
	bench_judge("inside: runs on the slow path of 2 %", "exact", measured, slow * 50 == runs);
	judge_near("inside: p50 of the fast path, by step's net", "<= 5 %",
		   figure(path_of(s, 0), "p50"), net(known, ALONE_FAST), 0);
	judge_near("inside: p50 of the slow path, by step's net", "<= 5 %",
		   figure(path_of(s, 1), "p50"), net(known, ALONE_SLOW), 0);
	p99 = figure(program_of(s, "known_paths"), "p99");
	snprintf(measured, sizeof(measured), "%.1f, slow path %.1f ns", p99,
		 figure(path_of(s, 1), "p50"));
	bench_judge("inside: p99 of the whole is on the slow path", "> half of it", measured,
		    2 * p99 > figure(path_of(s, 1), "p50"));
}

/* Returns the mean time of known_paths as the kernel measures it, without clones, ns. This time
 * includes the kernel's own clock. The straight program has that, too, and does nothing else, so
 * its time is subtracted. */
static double known_mean_ns(const struct programs *here)
{
	for (unsigned int i = 0; i < TURNS; i++) {
		execute(here, 'R');
		execute(here, 'r');
	}
	return execute(here, 't') / execute(here, 'P') - execute(here, 'T') / execute(here, 'S');
}

static void known_sum(struct session *s)
{
	struct bb_stats_enable stats;
	struct bb_err err = {0};
	struct programs here;
	double kernel_ns;

	if (bb_stats_enable__on(&stats, &err))
		bench_die("statistics of programs", &err);
	programs_open(&here);
	session_start(s, "--time-at-most=1e9");
	for (unsigned int i = 0; i < TURNS; i++)
		ask(s, 'R');
	session_end(s);
	kernel_ns = known_mean_ns(&here);
	programs_close(&here);
	bb_stats_enable__off(&stats);
	judge_near("inside: mean of known_paths, by its run_time_ns without a clone", "<= 5 %",
		   figure(program_of(s, "known_paths"), "mean"), kernel_ns, 0);
}

static void judge_counts(const struct session *s, const double run_cnt[3])
{
	static const char *const names[] = {"known_paths", "known_100", "straight"};
	double runs = 0, all = 0;
	bool equal = true;
	char measured[64];

	for (int i = 0; i < 3; i++) {
		double n = figure(program_of(s, names[i]), "runs");

		equal = equal && n == run_cnt[i];
		runs += n;
		all += run_cnt[i];
	}
	snprintf(measured, sizeof(measured), "%.0f and %.0f", runs, all);
	bench_judge("inside: runs of three programs, by run_cnt", "equal", measured, equal);
}

static void known_programs(struct session *s)
{
	static struct stepper known;
	double run_cnt[3];

	stepper_open(&known);
	s->cpu = known.cpu;
	session_start(s, "--time-at-most=1e9");
	for (unsigned int i = 0; i < TURNS; i++) {
		for (int k = 0; k < N_ALONE; k++)
			take_block(&known.alone[k]);
		ask(s, 'p');
		ask(s, 'c');
		ask(s, 's');
	}
	run_cnt[0] = ask(s, 'P');
	run_cnt[1] = ask(s, 'C');
	run_cnt[2] = ask(s, 'S');
	session_end(s);
	judge_chain(s, &known);
	judge_paths(s, &known);
	judge_counts(s, run_cnt);
	stepper_close(&known);
}

/* --- the cost of clones --- */

/* A command, carried out in turns by the process under `bpfbench inside` and by this one. */
struct both {
	const struct session *there;
	const struct programs *here;
	char command;
};

static double ask_there(void *arg)
{
	const struct both *b = arg;

	return ask(b->there, b->command);
}

static double execute_here(void *arg)
{
	const struct both *b = arg;

	return execute(b->here, b->command);
}

/* The lowest decile, because a load is long enough to be preempted on a busy machine. */
static double low(double *x, size_t n)
{
	bb_sort_doubles(x, n);
	return bb_quantile_sorted(x, n, 0.1);
}

static void judge_price(const char *what, const struct session *s, const struct programs *here,
			char command, double most)
{
	bool is_load = command >= '0' && command <= '9';
	const char *unit = is_load ? "us" : "ns";
	double (*figure_of)(double *, size_t) = is_load ? low : midmean;
	size_t n = is_load ? LOADS : TURNS;
	struct both both = {s, here, command};
	struct bench_duel d = bench_duel(ask_there, execute_here, &both, n);
	double there = figure_of(d.a, n), here_too = figure_of(d.b, n);
	char bound[32], measured[64];

	snprintf(bound, sizeof(bound), "<= %.0f %s", most, unit);
	snprintf(measured, sizeof(measured), "%.1f: %.1f instead of %.1f %s", there - here_too,
		 there, here_too, unit);
	bench_judge(what, bound, measured, there - here_too <= most);
	free(d.a);
	free(d.b);
}

static void two_clocks(const struct programs *here)
{
	double with[TURNS], without[TURNS];
	char measured[64];

	for (unsigned int i = 0; i < TURNS; i++) {
		with[i] = execute(here, 'k');
		without[i] = execute(here, 'r');
	}
	snprintf(measured, sizeof(measured), "%.1f ns",
		 midmean(with, TURNS) - midmean(without, TURNS));
	bench_row("inside: two calls of bpf_ktime_get_ns, the least of a timed run", "", measured,
		  "-");
}

static void prices(struct session *s)
{
	struct programs here;

	programs_open(&here);
	session_start(s, "--no-time");
	judge_price("inside: a run with paths alone", s, &here, 'r', 3);
	session_end(s);
	session_start(s, "--time-at-most=1");
	for (int i = 0; i < 200; i++) /* after these, hardly any run is timed */
		ask(s, 'r');
	judge_price("inside: a run that is not timed, of a sampled program", s, &here, 'r', 3);
	session_end(s);
	session_start(s, "--time-at-most=1e9");
	judge_price("inside: a timed run", s, &here, 'r', 60);
	two_clocks(&here);
	judge_price("inside: a load of 4 instructions", s, &here, '0', 500);
	judge_price("inside: a load of known_paths", s, &here, '1', 500);
	judge_price("inside: a load of our profiler", s, &here, '2', 500);
	session_end(s);
	programs_close(&here);
}

int main(int argc, char **argv)
{
	static struct session s;

	if (argc == 3)
		return serve(argv[1], atoi(argv[2]));
	if (argc != 2) {
		fprintf(stderr, "usage: bench_inside SCRATCH_FOLDER\n");
		return 2;
	}
	snprintf(s.folder, sizeof(s.folder), "%s", argv[1]);
	known_programs(&s);
	known_sum(&s);
	prices(&s);
	json_decref(s.report);
	return 0;
}
