/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * overhead: measures what sampling costs the sampled command, as the command `overhead` does for an
 * agent. A sample is the wall time of one run of the workload while the variant's `sampler` samples
 * it. Samplers are the program (with a consumer on another CPU, as in the drive `pipeline`), `perf
 * record`, the sampler of `bpfbench profile`, and none. The sampler is active before the command
 * begins, and its start is not part of the time.
 */

#include "base/child.h"
#include "base/deadline.h"
#include "base/io.h"
#include "base/text.h"
#include "drivers/consumer.h"
#include "drivers/windows.h"
#include "drivers/workload_loop.h"
#include "profile/recording.h"

static bool in_path(const char *name)
{
	char file[PATH_MAX];

	return bb_find_in_folders(getenv("PATH"), name, X_OK, file, sizeof(file));
}

/* Returns "PROGRAM ARG...", which the caller frees. */
static char *compose(const struct bb_workload_spec *spec)
{
	char *command = NULL;
	size_t size = 0;
	FILE *out = bb_open_memstream(&command, &size);

	bb_put_shell_word(out, spec->program);
	for (size_t i = 0; i < spec->n_args; i++) {
		putc(' ', out);
		bb_put_shell_word(out, spec->args[i]);
	}
	bb_close_memstream(out);
	return command;
}

#define ANSWER_MS 5000
/* perf runs as root: the caller's $PATH may name folders that others write to. */
#define ROOTS_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static void close_all(int (*pipes)[2])
{
	for (int i = 0; i < 4; i++)
		if (pipes[i / 2][i % 2] >= 0)
			close(pipes[i / 2][i % 2]);
}

/* Tells perf through a pipe to enable its events, and waits until it answers. */
static int enable(int control_fd, int answer_fd)
{
	struct pollfd p = {.fd = answer_fd, .events = POLLIN};
	char answer[8];

	if (write(control_fd, "enable\n", 7) != 7)
		return -EPIPE;
	if (poll(&p, 1, ANSWER_MS) <= 0)
		return -ETIMEDOUT;
	return read(answer_fd, answer, sizeof(answer)) > 0 ? 0 : -EPIPE;
}

/* Starts `perf record -e cpu-clock -F FREQ -g` on a process and its children, as a sampler to
 * compare with. Its recording goes to /dev/null. Returns when its events are enabled: 0, or -errno
 * with a message. */
static int perf_record_start(pid_t pid, uint32_t freq_hz, const struct bb_child_place *place,
			     struct bb_workload *ret_w, struct bb_err *err)
{
	enum { CONTROL, ANSWER };
	int pipes[2][2] = {{-1, -1}, {-1, -1}}, rc;
	char freq[16], target[16], control[48];
	char *args[] = {"record", "-q",        "-e",    "cpu-clock", "-F",        freq, "-g",  "-D",
			"-1",     "--control", control, "-o",        "/dev/null", "-p", target};
	const struct bb_workload_spec spec = {.program = "perf",
					      .path = ROOTS_PATH,
					      .args = args,
					      .n_args = BB_LEN(args),
					      /* as root, because it samples a process of another
					       * user */
					      .place = {.cpu = place->cpu}};

	/* perf inherits its ends of the pipes, but not ours. */
	rc = pipe(pipes[CONTROL]) || pipe(pipes[ANSWER]) ? -errno : 0;
	if (!rc && (fcntl(pipes[CONTROL][1], F_SETFD, FD_CLOEXEC) ||
		    fcntl(pipes[ANSWER][0], F_SETFD, FD_CLOEXEC)))
		rc = -errno;
	if (rc) {
		close_all(pipes);
		return bb_fail(err, rc, "cannot make a pipe to perf: %m");
	}
	snprintf(freq, sizeof(freq), "%u", freq_hz);
	snprintf(target, sizeof(target), "%d", (int)pid);
	snprintf(control, sizeof(control), "fd:%d,%d", pipes[CONTROL][0], pipes[ANSWER][1]);
	rc = bb_workload__start(&spec, ret_w, err);
	if (!rc) {
		rc = enable(pipes[CONTROL][1], pipes[ANSWER][0]);
		if (rc) {
			bb_workload__stop(ret_w);
			bb_fail(err, rc,
				"perf record did not begin: %m; try: perf record -e cpu-clock -F "
				"%u -g sleep 1",
				freq_hz);
		}
	}
	close_all(pipes);
	return rc;
}

#define PAUSE_S 0.002 /* between two looks at the samplers */

struct overhead_state {
	struct bb_workload_loop loop; /* each sample has a workload of its own */
	char *shown;                  /* the workload's command line, for people; owned */
};

struct overhead_slot {
	struct bb_drive_slot common;
	struct bb_target *target; /* NULL: the sampler is not a program */
	bool by_perf, by_profile;
	/* NULL: if there is a ring, it is emptied and its samples are dropped */
	const struct bb_sample_processor *processor;
	const struct bb_ring *ring;
};

struct timed_run {
	struct overhead_state *state;
	struct overhead_slot *slot;
	uint32_t freq_hz;
	struct bb_workload workload, perf;
	struct bb_consumer consumer;
	struct bb_recorder *profile;
	int event_fd; /* -1: none */
};

static void overhead_close(void *state)
{
	struct overhead_state *s = state;

	if (s->loop.workload_spec.ret_began_ns)
		munmap(s->loop.workload_spec.ret_began_ns, sizeof(uint64_t));
	free(s->shown);
}

static int overhead_open(void *state, struct bb_err *err)
{
	struct overhead_state *s = state;
	struct bb_workload_spec *spec = &s->loop.workload_spec;
	int rc = bb_workload_loop__open(&s->loop, err);

	spec->is_held = true;
	spec->ret_began_ns = bb_map_pages(sizeof(uint64_t), MAP_SHARED);
	s->shown = compose(spec);
	return rc;
}

static bool is_sampler(const struct bb_test_prog *prog, const char *name)
{
	return !strcmp(prog->spec->sampler, name);
}

static int overhead_probe(void *, struct bb_test_prog *prog, struct bb_err *err)
{
	if (is_sampler(prog, "perf-record") && !in_path("perf"))
		return bb_fail(err, -ENOTSUP,
			       "perf is not installed (Debian: linux-perf, Ubuntu: "
			       "linux-tools-generic)");
	return 0;
}

static int overhead_attach(void *slot_, struct bb_err *)
{
	struct overhead_slot *slot = slot_;
	const struct bb_test_prog *prog = slot->common.prog;

	slot->target = prog->target;
	slot->by_perf = is_sampler(prog, "perf-record");
	slot->by_profile = is_sampler(prog, "profile");
	slot->ring = slot->target ? bb_target__ring(slot->target) : NULL;
	slot->processor = slot->ring ? bb_sample_processor_find(prog->spec->consumer) : NULL;
	return 0;
}

/* Samples as `bpfbench profile -p PID -F HZ` does. */
static int start_profile(struct timed_run *r, struct bb_err *err)
{
	const struct bb_sampler_opts opts = {
		.object_dir = r->state->loop.common.opts.object_dir,
		.pid = r->workload.pid,
		.freq_hz = r->freq_hz,
		.on_cpu = true,
		.want_kernel = true,
		.want_user = true,
	};

	return bb_recorder__start(&opts, &r->profile, err);
}

/* Starts the workload, which stops before its first instruction. Then starts the sampler on it. */
static int set_up(struct timed_run *r, struct bb_err *err)
{
	struct overhead_state *s = r->state;
	const struct bb_child_place place = {s->loop.common.opts.poll_cpu, s->loop.common.opts.uid,
					     s->loop.common.opts.gid, NULL};
	int rc = 0;

	if (r->slot->target)
		bb_target__drain(r->slot->target, false);
	if (r->slot->processor)
		rc = bb_consumer__start(r->slot->processor, r->slot->ring->map_fd, 0, &place,
					&r->consumer, err);
	if (!rc)
		rc = bb_workload__start(&s->loop.workload_spec, &r->workload, err);
	if (!rc && r->slot->target)
		rc = bb_workload__open_clock(&r->workload, "cpu-clock", r->freq_hz,
					     r->slot->target->prog_fd, &r->event_fd, err);
	if (!rc && r->slot->target)
		rc = bb_workload__start_clock(r->event_fd, err);
	if (!rc && r->slot->by_perf)
		rc = perf_record_start(r->workload.pid, r->freq_hz, &place, &r->perf, err);
	if (!rc && r->slot->by_profile)
		rc = start_profile(r, err);
	return rc;
}

/* Lets the workload go, and feeds its sampler until it ends. *ret_ns is its wall time. */
static int run_workload(struct timed_run *r, uint64_t *ret_ns, struct bb_err *err)
{
	int rc = 0;

	bb_workload__resume(&r->workload);
	while (!rc && (rc = bb_child__wait(r->workload.pid, PAUSE_S)) == -ETIME) {
		rc = bb_must_end_why();
		if (rc)
			return rc;
		if (r->consumer.pid)
			rc = bb_consumer__check(&r->consumer, err);
		else if (r->slot->target)
			bb_target__drain(r->slot->target, false);
		else if (r->profile)
			rc = bb_recorder__poll(r->profile, 0, err);
	}
	if (rc)
		return rc;
	*ret_ns = bb_now_ns() - *r->state->loop.workload_spec.ret_began_ns;
	rc = bb_workload__ended(&r->workload, r->state->shown, err);
	return rc == 1 ? 0 : rc;
}

static int time_command(struct overhead_state *s, struct overhead_slot *slot, uint32_t freq_hz,
			uint64_t *ret_ns, struct bb_err *err)
{
	struct timed_run r = {.state = s, .slot = slot, .freq_hz = freq_hz, .event_fd = -1};
	int rc = set_up(&r, err);

	if (!rc)
		rc = run_workload(&r, ret_ns, err);
	bb_workload__stop(&r.workload);
	bb_workload__stop(&r.perf);
	bb_consumer__close(&r.consumer);
	bb_recorder__free(r.profile);
	bb_close(&r.event_fd);
	return rc;
}

static int overhead_batch(void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	const struct overhead_slot *sl = slot;
	struct overhead_state *s = (struct overhead_state *)sl->common.state;
	struct bb_prog_stats before = {0}, after = {0};
	uint64_t began_ns = bb_now_ns(), took_ns = 0;
	bool is_stopped;
	int rc = 0;

	if (sl->target)
		rc = bb_read_counters(sl->target, &before, err);
	while (!rc && b->n < b->want && (!b->n || bb_seconds_since(began_ns) < b->max_s)) {
		rc = time_command(s, slot, param, &b->ns[b->n], err);
		if (!rc)
			took_ns += b->ns[b->n++];
	}
	is_stopped = rc == -EINTR;
	if (is_stopped || rc == -ETIME) /* the command was stopped, so there is no sample */
		rc = 0;
	if (!rc && sl->target)
		rc = bb_read_counters(sl->target, &after, err);
	if (rc)
		return rc;
	b->run_cnt = sl->target ? after.run_cnt - before.run_cnt : b->n;
	b->run_time_ns = sl->target ? after.run_time_ns - before.run_time_ns : took_ns;
	if (sl->target && b->n && !b->run_cnt)
		snprintf(b->void_why, sizeof(b->void_why),
			 "the program never ran: the command took %.3g s, a period of %u Hz takes "
			 "%.3g s",
			 (double)took_ns * 1e-9, param, 1.0 / param);
	return is_stopped ? -EINTR : 0;
}

static const char *overhead_command(void *state)
{
	return ((struct overhead_state *)state)->shown;
}

const struct bb_driver bb_driver_overhead = {
	.kind =
		{
			.with = "overhead",
			.old_with = "slowdown",
			.name = "slowdown",
			.doc = "wall time of a command while it is sampled: by the program, perf "
			       "record, `bpfbench profile`, or not at all",
			.keys = {{.name = "workload"},
				 {.name = "args"},
				 {.name = "freq_hz"},
				 {.name = "seconds"}},
			.param = "freq_hz",
			.param_default = 100,
			.seconds = 1.2,
			.pace = BB_TIMED_PACE,
			.samples_per_event = 2,
			.sample = {"command", "ns per run of the command", false},
			.is_whole = true,
			.fills = BB_FILLS_SLOWDOWN,
			.needs_bpf = true,
			.any_sampler = true,
		},
	.polls = true,
	.state_bytes = sizeof(struct overhead_state),
	.slot_bytes = sizeof(struct overhead_slot),
	.open = overhead_open,
	.probe = overhead_probe,
	.attach = overhead_attach,
	.batch = overhead_batch,
	.command = overhead_command,
	.close = overhead_close,
};
