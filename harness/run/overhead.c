/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/overhead.h"

#include "base/deadline.h"
#include "base/rng.h"
#include "env/sysfile.h"
#include "stats/paired.h"
#include "stats/quantile.h"

/* number of blocks to aim at, so large that a few disturbed blocks matter little */
#define BLOCKS_WANTED 16.0
#define TURN_MAX_S 1.0 /* longest turn, s, unless one run of the workload takes longer */
#define TURN_MIN_S 0.2
#define PARTS_TURNS 4u
#define RUNS_MAX 10000.0
/* Turns with the agent (head) alternate with turns without it or with another agent (base). After
 * each switch between base and head, the workload first runs once untimed, if one run of the
 * workload takes at most this long, s, and there is no server. */
#define WARM_S 0.2
/* If base's CPU time varies by more than this share from turn to turn, the message about a missing
 * verdict says so. */
#define VARIES 0.1
/* Alpha for the two figures that get a verdict. If a figure's true value is the limit, 0.5 % of the
 * measurements find it above the limit. */
#define ALPHA_JUDGED 0.01

static double median_of_side(const struct bb_overhead *o, enum bb_overhead_what what, bool is_head,
			     double *scratch)
{
	size_t n = 0;

	for (size_t i = 0; i < 4 * o->n_blocks; i++)
		if (o->turns[i].is_head == is_head && isfinite(o->turns[i].s[what]))
			scratch[n++] = o->turns[i].s[what];
	return bb_median(scratch, n);
}

static void judge_figure(struct bb_overhead *o, enum bb_overhead_what what, double max,
			 double *scratch)
{
	bool is_judged = what == BB_OVERHEAD_CPU || what == BB_OVERHEAD_MACHINE;
	struct bb_overhead_figure *f = &o->figures[what];
	size_t n = 0;

	f->base_s = median_of_side(o, what, false, scratch);
	f->head_s = median_of_side(o, what, true, scratch);
	/* takes ln(head / base) of each block, unless one of its turns lacks the figure */
	for (size_t i = 0; i < o->n_blocks; i++) {
		double sum[2] = {0, 0}, d;

		for (size_t k = 4 * i; k < 4 * i + 4; k++)
			sum[o->turns[k].is_head] += o->turns[k].s[what];
		d = sum[0] > 0 && sum[1] > 0 ? log(sum[1] / sum[0]) : (double)NAN;
		if (isfinite(d))
			scratch[n++] = d;
	}
	struct bb_signed_rank r = bb_robust_rank(scratch, n, is_judged ? ALPHA_JUDGED : BB_ALPHA);
	f->ratio = (struct bb_estimate){exp(r.estimate), exp(r.interval.lo), exp(r.interval.hi)};
	f->verdict = BB_VERDICT_INCONCLUSIVE;
	if (is_judged && r.interval.lo > log1p(max))
		f->verdict = BB_VERDICT_REGRESSED;
	else if (is_judged && r.interval.hi < log1p(max))
		f->verdict = BB_VERDICT_SAME;
}

/* Returns the interquartile range of the CPU times of base's turns, divided by their median. */
static double variation(const struct bb_overhead *o, double *scratch)
{
	/* median_of_side() also leaves the sorted CPU times in `scratch` */
	double middle = median_of_side(o, BB_OVERHEAD_CPU, false, scratch);
	size_t n = 2 * o->n_blocks;

	return n ? (scratch[n - 1 - n / 4] - scratch[n / 4]) / middle : 0;
}

static void explain(struct bb_overhead *o, double max, double *scratch)
{
	const struct bb_estimate *r = &o->figures[BB_OVERHEAD_CPU].ratio;
	double varies = variation(o, scratch), limit = log1p(max), times;
	char because[128] = "";

	o->why[0] = '\0';
	o->advised_s = NAN;
	if (o->figures[BB_OVERHEAD_CPU].verdict != BB_VERDICT_INCONCLUSIVE)
		return;
	if (varies > VARIES)
		snprintf(because, sizeof(because),
			 "the workload's own CPU time varies by %.0f %% from turn to turn; ",
			 100 * varies);
	if (o->n_blocks < BB_OVERHEAD_LEAST_BLOCKS) {
		snprintf(o->why, sizeof(o->why),
			 "%s%zu block%s of four turns fitted the budget, a verdict needs %d",
			 because, o->n_blocks, bb_plural(o->n_blocks), BB_OVERHEAD_LEAST_BLOCKS);
		o->advised_s = 10 * ceil(o->elapsed_s * (BB_OVERHEAD_LEAST_BLOCKS + 1) /
					 (double)(o->n_blocks ? o->n_blocks : 1) / 10);
		return;
	}
	times = bb_times_to_decide(log(r->value), log(r->lo), log(r->hi), limit);
	if (isfinite(times))
		o->advised_s = 10 * ceil(o->elapsed_s * times / 10);
	snprintf(o->why, sizeof(o->why), "%sthe %s of %g %%", because,
		 isfinite(times) ? "interval contains the limit" : "ratio is the limit itself",
		 100 * max);
}

void bb_overhead__judge(struct bb_overhead *o, const struct bb_overhead_opts *opts)
{
	double *scratch = bb_calloc(4 * o->n_blocks + 1, sizeof(*scratch));
	size_t n = 0;

	for (int i = 0; i < BB_N_OVERHEAD; i++)
		judge_figure(o, (enum bb_overhead_what)i, opts->max, scratch);
	for (size_t i = 0; i < 4 * o->n_blocks; i++)
		if (o->turns[i].is_head)
			scratch[n++] = o->turns[i].agent_s;
	o->agent_s = bb_median(scratch, n);
	explain(o, opts->max, scratch);
	free(scratch);
}

bool bb_overhead__is_above(const struct bb_overhead *o)
{
	return o->figures[BB_OVERHEAD_CPU].verdict == BB_VERDICT_REGRESSED ||
	       o->figures[BB_OVERHEAD_MACHINE].verdict == BB_VERDICT_REGRESSED;
}

double bb_overhead__program_ns(const struct bb_overhead *o, const struct bb_overhead_program *p)
{
	const struct bb_overhead_figure *f = &o->figures[BB_OVERHEAD_CPU];
	double speed = f->base_s * f->ratio.value / o->parts_turn_s;

	return p->ns * (isfinite(speed) ? speed : 1);
}

double bb_overhead__program_s(const struct bb_overhead *o, const struct bb_overhead_program *p)
{
	return p->runs > 0 ? p->runs * bb_overhead__program_ns(o, p) * 1e-9 : 0;
}

double bb_overhead__unexplained_s(const struct bb_overhead *o)
{
	const struct bb_overhead_figure *f = &o->figures[BB_OVERHEAD_CPU];
	double rest_s = f->base_s * (f->ratio.value - 1) - o->agent_s;

	for (size_t i = 0; i < o->n_programs; i++)
		rest_s -= bb_overhead__program_s(o, &o->programs[i]);
	return rest_s;
}

void bb_overhead__done(struct bb_overhead *o)
{
	free(o->turns);
	free(o->programs);
	free(o->rings);
	*o = (struct bb_overhead){0};
}

struct session {
	const struct bb_overhead_opts *opts;
	struct bb_overhead *o;
	struct bb_agent agent;
	bool is_head; /* true if head's agent runs, false if base's; valid once is_begun */
	bool is_begun;
	struct bb_command server;
	uint64_t began_ns;
	double run_s;   /* time of one run of the workload; 0 if not measured yet */
	double start_s; /* time to start and end the agent */
	/* figures of the load generator, summed over the runs of a turn */
	struct bb_load_figures load;
};

static double left_s(const struct session *s)
{
	return s->opts->budget_s - bb_seconds_since(s->began_ns);
}

static bool is_given(const struct bb_command_spec *spec)
{
	return spec->shell || spec->program;
}

static int read_rings(void *agent, struct bb_err *)
{
	bb_agent__look_at_rings(agent);
	return 0;
}

static int run_command(struct session *s, const struct bb_command_spec *given, const char *noun,
		       struct bb_run_cost *cost, struct bb_err *err)
{
	const struct bb_beside beside = {NULL, read_rings, &s->agent};
	struct bb_command_spec spec = *given;
	struct bb_command c;

	spec.noun = noun;
	spec.when = s->is_head                       ? "with the agent"
		    : s->opts->against.command.shell ? "with the agent of --against"
						     : "without the agent";
	int rc = bb_command__run(&spec, s->agent.n_rings ? &beside : NULL, s->opts->budget_s, &c,
				 cost, err);
	bb_agent__look_at_rings(&s->agent);
	if (!rc && spec.keeps_stdout) {
		const struct bb_load_generator *generator = s->opts->generator;
		char *text = bb_command__stdout(&c);
		struct bb_load_figures f;

		rc = generator->read(text, &f);
		free(text);
		for (size_t i = 0; !rc && i < BB_LEN(f.x); i++)
			s->load.x[i] += f.x[i];
		if (rc)
			bb_fail(err, rc,
				"the workload printed no requests a second of `%s` on its stdout",
				generator->doc);
	}
	bb_command__done(&c);
	return rc;
}

static int stop_agent(struct session *s, struct bb_err *err)
{
	size_t cleaned;
	bool killed;
	int rc = bb_agent__stop(&s->agent, &killed, &cleaned, err);

	s->o->n_killed += killed;
	s->o->n_cleaned += cleaned;
	return rc;
}

/* Ends the agent of the other side, and starts head's agent or, if `is_head` is false, base's. Base
 * may have none. Does nothing if the wanted side is on already. */
static int switch_to(struct session *s, bool is_head, struct bb_err *err)
{
	const struct bb_agent_spec *spec = is_head ? &s->opts->agent : &s->opts->against;
	struct bb_run_cost unused = {0};

	if (s->is_begun && s->is_head == is_head)
		return 0;
	int rc = stop_agent(s, err);
	s->is_begun = true;
	s->is_head = is_head;
	if (!rc && is_given(&spec->command)) {
		s->o->n_starts++;
		rc = bb_agent__start(spec, &s->agent, err);
	}
	if (!rc && s->run_s > 0 && s->run_s <= WARM_S && !is_given(&s->opts->server))
		rc = run_command(s, &s->opts->workload, "workload", &unused, err);
	return rc;
}

static int start_server(struct session *s, struct bb_err *err)
{
	struct rusage unused;

	if (!is_given(&s->opts->server))
		return 0;
	int rc = bb_command__start(&s->opts->server, &s->server, err);
	if (!rc)
		rc = bb_command__wait(&s->server, s->opts->server_s, &unused);
	if (!rc && s->server.status)
		rc = bb_command__fail(&s->server, err);
	else if (!rc)
		rc = bb_fail(err, -ECHILD,
			     "the server '%s' ended at once with exit code 0: it must stay in the "
			     "foreground",
			     s->opts->server.shell);
	return rc == -ETIME ? 0 : rc == -EINTR ? bb_fail(err, rc, "stopped by a signal") : rc;
}

static void stop_server(struct session *s)
{
	const struct bb_ending ending = {.root = s->server.pid,
					 .steps = {{SIGTERM, 5}, {SIGKILL, 2}}};

	if (s->server.pid && !bb_processes__end(&ending, NULL))
		s->server.pid = 0;
	bb_command__done(&s->server);
}

/* Readings at the beginning and at the end of a turn. */
struct reading {
	double agent_s, server_s;
	uint64_t rss_bytes; /* resident memory of the agent */
	struct bb_cpu_times machine;
	uint64_t at_ns;
};

static int read_all(const struct session *s, struct reading *ret, struct bb_err *err)
{
	struct bb_processes agent = {0}, server = {0};
	int rc = s->agent.spec ? bb_processes__read(getpid(), s->server.pid, &agent) : 0;

	if (!rc && s->server.pid)
		rc = bb_processes__read(s->server.pid, 0, &server);
	*ret = (struct reading){agent.cpu_s, server.cpu_s, agent.rss_bytes, {0}, bb_now_ns()};
	bb_processes__done(&agent);
	bb_processes__done(&server);
	if (rc)
		return bb_fail(err, rc, "the processes below /proc: %m");
	return bb_cpu_times__read("", -1, &ret->machine, err);
}

/* Returns the machine's CPU time between two readings, s: the time of all CPUs less idle time and
 * steal. Of the columns of /proc/stat, the kernel measures only idle and steal exactly. */
static double machine_s(const struct reading *a, const struct reading *b)
{
	double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
	double off_s = tick_s * ((double)(b->machine.idle - a->machine.idle) +
				 (double)(b->machine.steal - a->machine.steal));
	double all_s = (double)(b->at_ns - a->at_ns) * 1e-9 * (double)sysconf(_SC_NPROCESSORS_ONLN);

	return all_s > off_s ? all_s - off_s : (double)NAN;
}

static int run_workload(struct session *s, uint32_t runs, struct bb_overhead_turn *t,
			struct bb_err *err)
{
	double requests = (double)runs * (double)s->opts->requests;
	struct reading before, after;
	struct bb_run_cost cost = {0};
	int rc = start_server(s, err);

	s->load = (struct bb_load_figures){0};
	if (!rc)
		rc = read_all(s, &before, err);
	for (uint32_t i = 0; !rc && i < runs; i++)
		rc = run_command(s, &s->opts->workload, "workload", &cost, err);
	if (!rc)
		rc = read_all(s, &after, err);
	stop_server(s);
	if (rc)
		return rc;
	t->agent_s = (after.agent_s - before.agent_s) / requests;
	t->rss_bytes = after.rss_bytes;
	t->s[BB_OVERHEAD_CPU] = (cost.cpu_s + after.server_s - before.server_s) / requests +
				t->agent_s;
	t->s[BB_OVERHEAD_MACHINE] = machine_s(&before, &after) / requests;
	t->s[BB_OVERHEAD_WALL] = (double)cost.wall_ns * 1e-9 / requests;
	for (size_t i = 0; s->opts->generator && i < BB_LEN(s->load.x); i++)
		t->s[BB_OVERHEAD_LATENCY + i] = s->load.x[i] / runs;
	return 0;
}

static int measure_turn(struct session *s, bool is_head, uint32_t runs, struct bb_overhead_turn *t,
			struct bb_err *err)
{
	struct bb_run_cost bystander = {0};
	struct bb_err agents = {0};
	bool any_gone = false;
	int rc = switch_to(s, is_head, err);

	*t = (struct bb_overhead_turn){.is_head = is_head};
	for (int i = 0; i < BB_N_OVERHEAD; i++)
		t->s[i] = NAN;
	if (rc)
		return rc;
	rc = run_workload(s, runs, t, err);
	if (!rc && is_given(&s->opts->bystander)) {
		rc = run_command(s, &s->opts->bystander, "bystander", &bystander, err);
		t->s[BB_OVERHEAD_BYSTANDER] = bystander.cpu_s;
	}
	if (!s->agent.spec || (rc && rc != -ECHILD))
		return rc;
	/* tells first that the agent has ended, because the workload may have failed for that */
	if (bb_agent__check(&s->agent, &agents))
		return bb_fail(err, agents.code, "%s", agents.msg);
	for (size_t i = 0; i < s->agent.n; i++)
		if (s->agent.programs[i].is_gone) {
			any_gone = true;
			snprintf(s->o->gone, sizeof(s->o->gone), "%s",
				 s->agent.programs[i].program.name);
		}
	s->o->n_gone += any_gone;
	return rc;
}

/* Runs a few turns to see whether the commands work and how long they take. */
static int try_out(struct session *s, struct bb_err *err)
{
	struct bb_overhead_turn t;
	int rc = measure_turn(s, false, 1, &t, err);

	if (!rc)
		rc = measure_turn(s, false, 1, &t, err);
	s->run_s = rc ? 0 : t.s[BB_OVERHEAD_WALL] * (double)s->opts->requests;
	uint64_t began_ns = bb_now_ns();
	if (!rc)
		rc = measure_turn(s, true, 1, &t, err);
	if (!rc)
		rc = stop_agent(s, err);
	s->is_begun = false;
	s->start_s = bb_seconds_since(began_ns) - s->run_s;
	return rc;
}

/* Measures a block. The turns of an interrupted block stay in o->turns but do not count. */
static int measure_block(struct session *s, bool head_first, struct bb_err *err)
{
	struct bb_overhead *o = s->o;
	double blocks = fmax(BLOCKS_WANTED - (double)o->n_blocks, 1),
	       turn_s = (left_s(s) / blocks - 1.5 * s->start_s) / 4, wall_s = 0;

	/* chooses the runs per turn so that enough blocks fit into the rest of the budget */
	turn_s = fmax(fmin(turn_s, TURN_MAX_S), TURN_MIN_S);
	o->runs_a_turn = (uint32_t)fmax(fmin(round(turn_s / s->run_s), RUNS_MAX), 1);
	for (int i = 0; i < 4; i++) {
		struct bb_overhead_turn t;
		int rc = measure_turn(s, (i == 1 || i == 2) != head_first, o->runs_a_turn, &t, err);

		if (rc)
			return rc;
		t.block = (uint32_t)o->n_blocks;
		BB_PUSH(o->turns, o->n_turns, t);
		wall_s += t.s[BB_OVERHEAD_WALL] * (double)s->opts->requests;
		o->n_runs += o->runs_a_turn;
	}
	s->run_s = wall_s / 4;
	o->n_blocks++;
	return 0;
}

static int measure_blocks(struct session *s, struct bb_err *err)
{
	double block_s = 0, reserve_s;
	struct bb_rng rng;
	int rc = 0;

	bb_rng_seed(&rng, s->opts->seed);
	do {
		uint64_t began_ns = bb_now_ns();

		rc = measure_block(s, bb_rng_below(&rng, 2), err);
		block_s = fmax(block_s, bb_seconds_since(began_ns));
		reserve_s = PARTS_TURNS * (s->start_s + s->o->runs_a_turn * s->run_s / 2);
	} while (!rc && left_s(s) > block_s + reserve_s);
	return rc;
}

/* Adds the figures of the agent's programs and ring buffers in one turn. The agent makes them anew
 * at each start. Those of different starts share a row if they have the same name. If the agent has
 * several of one name, the nth ones of each start share a row. Until attribute() divides them,
 * `runs` and `ns` of a row are sums over the turns: of runs per request, and of their time. */
static void add_parts(struct bb_overhead *o, const struct bb_agent *a, double requests,
		      const struct bb_overhead_turn *t)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct bb_agent_program *p = &a->programs[i];
		const char *name = p->program.name;
		size_t n_before = BB_SUM(a->programs, i, !strcmp(it->program.name, name));
		struct bb_overhead_program *part = BB_FIND(o->programs, o->n_programs,
							   !strcmp(it->program.name, name) &&
								   !n_before--);

		if (!part) {
			part = bb_append(&o->programs, &o->n_programs, sizeof(*part));
			part->program = p->program;
		}
		part->runs += (double)p->since.run_cnt / requests;
		part->ns += (double)p->since.run_time_ns / requests;
		part->misses += p->since.recursion_misses;
		part->is_gone |= p->is_gone;
	}
	for (size_t i = 0; i < a->n_rings; i++) {
		const struct bb_agent_ring *its = &a->rings[i];
		size_t n_before = BB_SUM(a->rings, i, !strcmp(it->name, its->name));
		struct bb_agent_ring *ring = BB_FIND(o->rings, o->n_rings,
						     !strcmp(it->name, its->name) && !n_before--);

		if (!ring) {
			ring = bb_append(&o->rings, &o->n_rings, sizeof(*ring));
			*ring = *its;
			ring->pages = NULL;
		}
		ring->peak = fmax(ring->peak, its->peak);
	}
	o->n_perf_buffers = a->n_perf_buffers;
	o->parts_turn_s += t->s[BB_OVERHEAD_CPU];
	o->map_bytes = bb_agent__map_bytes(a);
	o->rss_bytes = (double)t->rss_bytes;
}

static int measure_parts(struct session *s, uint32_t runs, struct bb_err *err)
{
	struct bb_stats_enable stats = {.fd = -1};
	struct bb_overhead_turn t = {0};
	int rc = switch_to(s, true, err);

	if (!rc)
		rc = bb_stats_enable__on(&stats, err);
	if (rc)
		return rc;
	bb_agent__open_rings(&s->agent);
	rc = bb_agent__read_counters(&s->agent, err);
	if (!rc)
		rc = run_workload(s, runs, &t, err);
	if (!rc)
		rc = bb_agent__read_counters(&s->agent, err);
	bb_stats_enable__off(&stats);
	if (!rc)
		add_parts(s->o, &s->agent, (double)runs * (double)s->opts->requests, &t);
	return rc;
}

/* Runs some turns with bpf_stats on, to time each program. Starts the agent anew for each turn,
 * because the address that the JIT chooses can change a program's time by a quarter. */
static int attribute(struct session *s, struct bb_err *err)
{
	struct bb_overhead *o = s->o;
	uint32_t n = 0;
	int rc = 0;

	while (!rc && n < PARTS_TURNS && (!n || left_s(s) > 0)) {
		if (n) {
			rc = stop_agent(s, err);
			s->is_begun = false;
		}
		if (!rc)
			rc = measure_parts(s, (o->runs_a_turn + 1) / 2, err);
		n += !rc;
	}
	if (!n)
		return rc;
	for (size_t i = 0; i < o->n_programs; i++) {
		o->programs[i].ns /= o->programs[i].runs;
		o->programs[i].runs /= n;
	}
	o->parts_turn_s /= n;
	return rc;
}

int bb_overhead__measure(const struct bb_overhead_opts *opts, struct bb_overhead *ret_overhead,
			 struct bb_err *err)
{
	struct session s = {.opts = opts, .o = ret_overhead, .began_ns = bb_now_ns()};
	struct bb_cpu_times before = {0}, after = {0};
	struct bb_err ending = {0};

	*ret_overhead = (struct bb_overhead){.map_bytes = NAN, .rss_bytes = NAN};
	/* a second signal must not kill bpfbench before it has ended the agent */
	bb_stop__install(false);
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphaned descendants become children of bpfbench */
	int rc = bb_cpu_times__read("", -1, &before, err);
	if (!rc)
		rc = try_out(&s, err);
	if (!rc)
		rc = measure_blocks(&s, err);
	if (!rc)
		rc = attribute(&s, err);
	if (stop_agent(&s, &ending) && !rc)
		rc = bb_fail(err, ending.code, "%s", ending.msg);
	bb_stop__install(true);
	ret_overhead->elapsed_s = bb_seconds_since(s.began_ns);
	ret_overhead->steal = bb_cpu_times__read("", -1, &after, &ending)
				      ? (double)NAN
				      : bb_steal_share(&before, &after);
	bb_overhead__judge(ret_overhead, opts);
	return rc;
}
