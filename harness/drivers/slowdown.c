/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slowdown: measures the cost of sampling to the sampled command. A sample is the wall time of one
 * run of the workload, measured by hyperfine, while the variant's `sampler` samples it. Samplers
 * are the program (with a consumer on another CPU, as in the drive `pipeline`), `perf record`, the
 * sampler of `bpfbench profile`, and none. The sampler is active before the command begins, and its
 * start is not part of the time.
 */
#include <jansson.h>
#include <poll.h>
#include <sys/mman.h>

#include "base/deadline.h"
#include "base/io.h"
#include "base/text.h"
#include "drivers/consumer.h"
#include "drivers/windows.h"
#include "profile/recording.h"

/* hyperfine (https://github.com/sharkdp/hyperfine) as the stopwatch: it runs one command once,
 * and its JSON is read. */
struct hyperfine {
	struct bb_workload_spec spec; /* how hyperfine is started */
	char *args[12];
	char *command; /* the command that it runs, quoted for it; owned */
	char *shown;   /* hyperfine's whole command line, for people; owned */
	char json_path[32];
	int json_fd; /* file in memory for its JSON; -1: none */
};

static bool in_path(const char *name)
{
	char file[PATH_MAX];

	return bb_find_in_folders(getenv("PATH"), name, X_OK, file, sizeof(file));
}

/* Returns "PROGRAM ARG..." in *ret_command, which the caller frees. Returns 0 or -ENOMEM. */
static int compose(const char *program, char *const *args, size_t n_args, char **ret_command)
{
	size_t size = 0;
	FILE *out = open_memstream(ret_command, &size);

	if (!out)
		return -ENOMEM;
	bb_put_shell_word(out, program);
	for (size_t i = 0; i < n_args; i++) {
		putc(' ', out);
		bb_put_shell_word(out, args[i]);
	}
	return fclose(out) ? -ENOMEM : 0;
}

/* Makes the command for hyperfine. We look in `dir` first, because hyperfine looks for a name
 * only in $PATH. */
static int compose_command(const char *program, char *const *args, size_t n_args, const char *dir,
			   char **ret_command)
{
	char beside[PATH_MAX] = "";

	if (dir && !strchr(program, '/'))
		snprintf(beside, sizeof(beside), "%s/%s", dir, program);
	return compose(*beside && !access(beside, X_OK) ? beside : program, args, n_args,
		       ret_command);
}

/* Accepts a zeroed struct. */
static void hyperfine_close(struct hyperfine *h)
{
	if (!h->command)
		return;
	close(h->json_fd);
	free(h->command);
	free(h->shown);
	memset(h, 0, sizeof(*h));
}

/* `dir` is as in struct bb_workload_spec. Returns 0, -ENOTSUP with the package to install, or
 * -errno with a message. */
static int hyperfine_open(const char *program, char *const *args, size_t n_args, const char *dir,
			  const struct bb_child_place *place, struct hyperfine *ret_h,
			  struct bb_err *err)
{
	static const char *const options[] = {"-N", "--style", "none", "--warmup",
					      "0",  "--runs",  "1",    "--export-json"};
	struct hyperfine *h = ret_h;
	size_t n = 0;
	int rc;

	*h = (struct hyperfine){.json_fd = -1};
	if (!in_path("hyperfine"))
		return bb_fail(err, -ENOTSUP,
			       "hyperfine, which times the command, is not installed; install the "
			       "package hyperfine");
	/* The file is in memory, so nothing is left behind. hyperfine inherits the descriptor,
	 * because the user that it runs as may not be able to open the file. */
	h->json_fd = memfd_create("hyperfine.json", 0);
	if (h->json_fd < 0)
		return bb_fail(err, -errno, "memfd_create: %m");
	snprintf(h->json_path, sizeof(h->json_path), "/proc/self/fd/%d", h->json_fd);
	rc = compose_command(program, args, n_args, dir, &h->command);
	for (size_t i = 0; i < BB_LEN(options); i++)
		h->args[n++] = (char *)(uintptr_t)options[i];
	h->args[n++] = h->json_path;
	h->args[n++] = h->command;
	h->spec = (struct bb_workload_spec){.program = "hyperfine",
					    .args = h->args,
					    .n_args = n,
					    .is_held = true,
					    .place = *place};
	if (!rc)
		rc = compose(h->spec.program, h->args, n, &h->shown);
	if (rc) {
		hyperfine_close(h);
		return bb_fail_nomem(err);
	}
	return 0;
}

/* Starts hyperfine, stopped before its first instruction, so that events can be opened on it. */
static int hyperfine_start(struct hyperfine *h, struct bb_workload *ret_w, struct bb_err *err)
{
	int rc = ftruncate(h->json_fd, 0) ? -errno : 0;

	if (rc)
		return bb_fail(err, rc, "cannot empty hyperfine's export: %m");
	return bb_workload__start(&h->spec, ret_w, err);
}

/* Reads the wall time of the command after hyperfine has ended. Returns -EPROTO if its JSON has
 * no such time. */
static int hyperfine_read(const struct hyperfine *h, uint64_t *ret_ns, struct bb_err *err)
{
	char text[64u << 10];
	ssize_t n = pread(h->json_fd, text, sizeof(text), 0);
	json_t *root = n > 0 ? json_loadb(text, (size_t)n, 0, NULL) : NULL;
	const json_t *result = json_array_get(json_object_get(root, "results"), 0);
	const json_t *time = json_array_get(json_object_get(result, "times"), 0);
	const json_t *code = json_array_get(json_object_get(result, "exit_codes"), 0);
	double s = json_number_value(time);
	int rc = 0;

	if (!json_is_number(time) || !(s > 0) || s > 1e6)
		rc = bb_fail(err, -EPROTO,
			     "hyperfine's export cannot be read: no results[0].times[0]; bpfbench "
			     "reads the JSON of hyperfine 1.13 and newer");
	else if (json_is_integer(code) && json_integer_value(code))
		rc = bb_fail(err, -ECHILD, "the command '%s' failed: exit status %d", h->command,
			     (int)json_integer_value(code));
	else
		*ret_ns = (uint64_t)llround(s * 1e9);
	json_decref(root);
	return rc;
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

#define PAUSE_NS 2000000 /* between two looks whether hyperfine has ended */

struct slowdown_state {
	struct bb_drive_state common;
	struct hyperfine hyperfine;
};

struct slowdown_slot {
	struct bb_drive_slot common;
	struct bb_target *target; /* NULL: the sampler is not a program */
	bool by_perf, by_profile;
	/* NULL: if there is a ring, it is emptied and its samples are dropped */
	const struct bb_sample_processor *processor;
	const struct bb_ring *ring;
};

struct timed_run {
	struct slowdown_state *state;
	struct slowdown_slot *slot;
	uint32_t freq_hz;
	struct bb_workload hyperfine, perf;
	struct bb_consumer consumer;
	struct bb_recorder *profile;
	int event_fd; /* -1: none */
};

static void slowdown_close(void *state)
{
	hyperfine_close(&((struct slowdown_state *)state)->hyperfine);
}

static int slowdown_open(void *state, struct bb_err *err)
{
	struct slowdown_state *s = state;
	const struct bb_drive_spec *spec = s->common.spec;
	const struct bb_driver_opts *opts = &s->common.opts;
	const struct bb_child_place place = {opts->cpu, opts->uid, opts->gid, opts->env};

	return hyperfine_open(spec->target.workload, spec->target.args, spec->target.n_args,
			      opts->workload_dir, &place, &s->hyperfine, err);
}

static bool is_sampler(const struct bb_test_prog *prog, const char *name)
{
	return !strcmp(prog->spec->sampler, name);
}

static int slowdown_probe(void *state, struct bb_test_prog *prog, struct bb_err *err)
{
	(void)state;
	if (is_sampler(prog, "perf-record") && !in_path("perf"))
		return bb_fail(err, -ENOTSUP,
			       "perf is not installed (Debian: linux-perf, Ubuntu: "
			       "linux-tools-generic)");
	return 0;
}

static int slowdown_attach(void *slot_, struct bb_err *err)
{
	struct slowdown_slot *slot = slot_;
	const struct bb_test_prog *prog = slot->common.prog;

	(void)err;
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
		.object_dir = r->state->common.opts.object_dir,
		.pid = r->hyperfine.pid,
		.freq_hz = r->freq_hz,
		.on_cpu = true,
		.want_kernel = true,
		.want_user = true,
	};

	return bb_recorder__start(&opts, &r->profile, err);
}

/* Starts hyperfine, stopped, and the sampler on it. */
static int set_up(struct timed_run *r, struct bb_err *err)
{
	struct slowdown_state *s = r->state;
	const struct bb_child_place place = {s->common.opts.poll_cpu, s->common.opts.uid,
					     s->common.opts.gid, NULL};
	int rc = 0;

	if (r->slot->target)
		bb_target__drain(r->slot->target, false);
	if (r->slot->processor)
		rc = bb_consumer__start(r->slot->processor, r->slot->ring->map_fd, 0, &place,
					&r->consumer, err);
	if (!rc)
		rc = hyperfine_start(&s->hyperfine, &r->hyperfine, err);
	if (!rc && r->slot->target)
		rc = bb_workload__open_clock(&r->hyperfine, "cpu-clock", r->freq_hz,
					     r->slot->target->prog_fd, &r->event_fd, err);
	if (!rc && r->slot->target)
		rc = bb_workload__start_clock(r->event_fd, err);
	if (!rc && r->slot->by_perf)
		rc = perf_record_start(r->hyperfine.pid, r->freq_hz, &place, &r->perf, err);
	if (!rc && r->slot->by_profile)
		rc = start_profile(r, err);
	return rc;
}

static int wait_for_end(struct timed_run *r, struct bb_err *err)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	int rc = 0;

	while (!rc) {
		nanosleep(&pause, NULL);
		rc = bb_must_end_why();
		if (rc)
			return rc;
		if (r->consumer.pid)
			rc = bb_consumer__check(&r->consumer, err);
		else if (r->slot->target)
			bb_target__drain(r->slot->target, false);
		else if (r->profile)
			rc = bb_recorder__poll(r->profile, 0, err);
		if (!rc)
			rc = bb_workload__ended(&r->hyperfine, "hyperfine", err);
	}
	return rc == 1 ? 0 : rc;
}

static int time_command(struct slowdown_state *s, struct slowdown_slot *slot, uint32_t freq_hz,
			uint64_t *ret_ns, struct bb_err *err)
{
	struct timed_run r = {.state = s, .slot = slot, .freq_hz = freq_hz, .event_fd = -1};
	int rc = set_up(&r, err);

	bb_workload__resume(&r.hyperfine);
	if (!rc)
		rc = wait_for_end(&r, err);
	if (!rc)
		rc = hyperfine_read(&s->hyperfine, ret_ns, err);
	bb_workload__stop(&r.hyperfine);
	bb_workload__stop(&r.perf);
	bb_consumer__close(&r.consumer);
	bb_recorder__free(r.profile);
	bb_close(&r.event_fd);
	return rc;
}

static int slowdown_batch(void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	const struct slowdown_slot *sl = slot;
	struct slowdown_state *s = (struct slowdown_state *)sl->common.state;
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

static const char *slowdown_command(void *state)
{
	return ((struct slowdown_state *)state)->hyperfine.shown;
}

const struct bb_driver bb_driver_slowdown = {
	.kind =
		{
			.with = "slowdown",
			.doc = "wall time of a command (by hyperfine) while it is sampled: by the "
			       "program, perf record, `bpfbench profile`, or not at all",
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
	.state_bytes = sizeof(struct slowdown_state),
	.slot_bytes = sizeof(struct slowdown_slot),
	.open = slowdown_open,
	.probe = slowdown_probe,
	.attach = slowdown_attach,
	.batch = slowdown_batch,
	.command = slowdown_command,
	.close = slowdown_close,
};
