/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The drive `overhead`: measures what sampling costs the sampled command. A sample is the wall time
 * of one run of the workload. Meanwhile the variant's sampler samples it: its BPF program (with a
 * consumer on another CPU), `perf record`, `bpfbench profile`, or none. Starting the sampler is not
 * part of the time. The command `bpfbench overhead`, which measures an agent, is in
 * run/overhead.c. */

#include "base/io.h"
#include "base/text.h"
#include "drivers/consumer.h"
#include "drivers/windows.h"
#include "drivers/workload_loop.h"
#include "profile/recording.h"

#define ANSWER_MS 5000
/* $PATH for finding perf. It is not the caller's $PATH, because perf runs as root and the caller's
 * $PATH may name folders that other users can write to. */
#define ROOTS_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static int enable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char answer[8];

	if (send(fd, "enable\n", 7, MSG_NOSIGNAL) != 7)
		return -EPIPE;
	if (poll(&p, 1, ANSWER_MS) <= 0)
		return -ETIMEDOUT;
	return read(fd, answer, sizeof(answer)) > 0 ? 0 : -EPIPE;
}

/* Starts `perf record -e cpu-clock -F FREQ -g` on a process and its children, with /dev/null as its
 * file. Returns when its events are enabled: 0, or -errno with a message. */
static int perf_record_start(pid_t pid, uint32_t freq_hz, const struct bb_child_place *place,
			     struct bb_command *ret_w, struct bb_err *err)
{
	enum { OURS, ITS };
	int link[2], rc;
	char freq[16], target[16], control[48];
	const char *args[] = {"record", "-q", "-e",        "cpu-clock", "-F",
			      freq,     "-g", "-D",        "-1",        "--control",
			      control,  "-o", "/dev/null", "-p",        target};
	/* perf runs as root (no uid here), because it samples a process of another user */
	const struct bb_command_spec spec = {.program = "perf",
					     .path = ROOTS_PATH,
					     .args = args,
					     .n_args = BB_LEN(args),
					     .is_pinned = true,
					     .place = {.cpu = place->cpu}};

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, link))
		return bb_fail(err, -errno, "cannot make a socket to perf: %m");
	fcntl(link[OURS], F_SETFD, FD_CLOEXEC);
	snprintf(freq, sizeof(freq), "%u", freq_hz);
	snprintf(target, sizeof(target), "%d", (int)pid);
	snprintf(control, sizeof(control), "fd:%d,%d", link[ITS], link[ITS]);
	rc = bb_command__start(&spec, ret_w, err);
	/* close perf's end of the link here, so that reading our end fails when perf ends */
	close(link[ITS]);
	if (!rc) {
		rc = enable(link[OURS]);
		if (rc)
			bb_fail(err, rc,
				"perf record did not begin: %m; try: perf record -e cpu-clock -F "
				"%u -g sleep 1%s",
				freq_hz, bb_command__tail(ret_w->log_fd).text);
	}
	close(link[OURS]);
	return rc;
}

struct sampling {
	const struct bb_driver_opts *opts;
	const struct bb_test_prog *prog;
	uint32_t freq_hz;
	struct bb_command perf;
	struct bb_consumer consumer;
	struct bb_recorder *profile;
	int event_fd; /* -1 if not open */
};

static void overhead_close(void *loop)
{
	struct bb_command_spec *spec = &((struct bb_workload_loop *)loop)->workload_spec;

	if (spec->ret_began_ns)
		munmap(spec->ret_began_ns, sizeof(uint64_t));
}

/* For each sample the workload is started anew, and held until its sampler is active. */
static int overhead_open(void *loop, struct bb_err *err)
{
	struct bb_workload_loop *l = loop;
	struct bb_command_spec *spec = &l->workload_spec;
	size_t unused;
	FILE *command;
	int rc = bb_workload_loop__open(l, err);

	spec->is_held = true;
	spec->ret_began_ns = bb_map_pages(sizeof(uint64_t), MAP_SHARED);
	command = bb_open_memstream(&l->common.command, &unused);
	bb_put_shell_word(command, spec->program);
	for (size_t i = 0; i < spec->n_args; i++) {
		putc(' ', command);
		bb_put_shell_word(command, spec->args[i]);
	}
	bb_close_memstream(command);
	return rc;
}

static bool is_sampler(const struct bb_test_prog *prog, const char *name)
{
	return !strcmp(prog->spec->sampler, name);
}

static int overhead_probe(void *, struct bb_test_prog *prog, struct bb_err *err)
{
	char file[PATH_MAX];

	if (is_sampler(prog, "perf-record") &&
	    !bb_find_in_folders(ROOTS_PATH, "perf", X_OK, file, sizeof(file)))
		return bb_fail(err, -ENOTSUP,
			       "perf is not installed (Debian: linux-perf, Ubuntu: "
			       "linux-tools-generic)");
	return 0;
}

/* Without a consumer, the stack samples in the program's ring are discarded. */
static int start_program(struct sampling *r, const struct bb_command *workload,
			 const struct bb_child_place *place, struct bb_err *err)
{
	const struct bb_ring *ring = bb_target__ring(r->prog->target);
	const struct bb_sample_processor *processor =
		ring ? bb_sample_processor_find(r->prog->spec->consumer) : NULL;
	int rc = 0;

	bb_target__drain(r->prog->target, false);
	if (processor)
		rc = bb_consumer__start(processor, ring->map_fd, 0, place, &r->consumer, err);
	if (!rc)
		rc = bb_command__open_clock(workload, "cpu-clock", r->freq_hz,
					    r->prog->target->prog_fd, &r->event_fd, err);
	return rc ? rc : bb_command__start_clock(r->event_fd, err);
}

/* bb_beside.begin(): called before the workload begins. */
static int begin(void *arg, const struct bb_command *workload, struct bb_err *err)
{
	struct sampling *r = arg;
	const struct bb_child_place place = {r->opts->poll_cpu, r->opts->uid, r->opts->gid, NULL};
	const struct bb_sampler_opts profile = {
		.object_dir = r->opts->object_dir,
		.pid = workload->pid,
		.freq_hz = r->freq_hz,
		.on_cpu = true,
		.want_kernel = true,
		.want_user = true,
	};

	if (r->prog->target)
		return start_program(r, workload, &place, err);
	if (is_sampler(r->prog, "perf-record"))
		return perf_record_start(workload->pid, r->freq_hz, &place, &r->perf, err);
	return is_sampler(r->prog, "profile") ? bb_recorder__start(&profile, &r->profile, err) : 0;
}

static int feed(void *arg, struct bb_err *err)
{
	struct sampling *r = arg;

	if (r->consumer.pid)
		return bb_consumer__check(&r->consumer, err);
	if (r->prog->target)
		bb_target__drain(r->prog->target, false);
	return r->profile ? bb_recorder__poll(r->profile, 0, err) : 0;
}

static int run_sampled(const struct bb_drive_slot *slot, uint32_t freq_hz, struct bb_run_cost *cost,
		       struct bb_err *err)
{
	const struct bb_workload_loop *l = (const struct bb_workload_loop *)slot->state;
	struct sampling r = {.opts = &slot->state->opts,
			     .prog = slot->prog,
			     .freq_hz = freq_hz,
			     .event_fd = -1};
	const struct bb_beside beside = {begin, feed, &r};
	struct bb_command workload;
	int rc = bb_command__run(&l->workload_spec, &beside, INFINITY, &workload, cost, err);

	bb_command__done(&workload);
	bb_command__done(&r.perf);
	bb_consumer__close(&r.consumer);
	bb_recorder__free(r.profile);
	bb_close(&r.event_fd);
	return rc;
}

static int overhead_batch(void *slot_, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	const struct bb_drive_slot *slot = slot_;
	const struct bb_target *target = slot->prog->target;
	struct bb_prog_stats before = {0}, after = {0};
	struct bb_run_cost all = {0};
	uint64_t began_ns = bb_now_ns();
	int rc = target ? bb_read_counters(target, &before, err) : 0;

	while (!rc && b->n < b->want && (!b->n || bb_seconds_since(began_ns) < b->max_s)) {
		uint64_t before_ns = all.wall_ns;

		rc = run_sampled(slot, param, &all, err);
		if (!rc)
			b->ns[b->n++] = all.wall_ns - before_ns;
	}
	bool is_stopped = rc == -EINTR;
	/* not an error: the last run of the workload was cut off, and gives no sample */
	if (is_stopped || rc == -ETIME)
		rc = 0;
	if (!rc && target)
		rc = bb_read_counters(target, &after, err);
	if (rc)
		return rc;
	b->run_cnt = target ? after.run_cnt - before.run_cnt : b->n;
	b->run_time_ns = target ? after.run_time_ns - before.run_time_ns : all.wall_ns;
	/* reports divide run_cnt by this time for the rate of runs */
	b->target_cpu_s = target ? all.cpu_s : NAN;
	if (target && b->n && !b->run_cnt)
		snprintf(b->void_why, sizeof(b->void_why),
			 "the program never ran: the command took %.3g s, a period of %u Hz takes "
			 "%.3g s",
			 (double)all.wall_ns * 1e-9, param, 1.0 / param);
	return is_stopped ? -EINTR : 0;
}

const struct bb_driver bb_driver_overhead = {
	.kind.with = "overhead",
	.kind.old_with = "slowdown",
	.kind.name = "slowdown",
	.kind.doc = "wall time of a command while it is sampled: by the program, perf "
		    "record, `bpfbench profile`, or not at all",
	.kind.keys = {{"workload"}, {"args"}, {"freq_hz"}, {"seconds"}},
	.kind.param = "freq_hz",
	.kind.param_default = 100,
	.kind.seconds = 1.2,
	.kind.pace = BB_TIMED_PACE,
	.kind.samples_per_event = 2,
	.kind.sample = {"command", "ms per run of the command", false, 1e6},
	.kind.is_whole = true,
	.kind.fills = BB_FILLS_SLOWDOWN,
	.kind.needs_bpf = true,
	.kind.any_sampler = true,
	.polls = true,
	.state_bytes = sizeof(struct bb_workload_loop),
	.open = overhead_open,
	.probe = overhead_probe,
	.batch = overhead_batch,
	.close = overhead_close,
};
