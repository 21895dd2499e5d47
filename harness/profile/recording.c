/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/recording.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/caller.h"
#include "base/child.h"
#include "base/io.h"
#include "base/parse.h"
#include "base/deadline.h"
#include "bpf/globals.h"
#include "bpf/libbpf_log.h"
#include "bpf/object_file.h"
#include "bpf/attach.h"

#define KALLSYMS_MAX_BYTES (256u << 20)
#define FIRST_PID_NAMESPACE 0xEFFFFFFCu /* PROC_PID_INIT_INO in include/linux/proc_ns.h */

void bb_samples__add(struct bb_samples *samples, const struct bb_sampled_stack *s,
		     const uint64_t *kernel, const uint64_t *user)
{
	struct bb_sampled_stack *copy = bb_append(&samples->v, &samples->n, sizeof(*copy));

	*copy = *s;
	copy->first = samples->n_addresses;
	samples->n_addresses += (size_t)s->n_kernel + s->n_user;
	bb_reserve(&samples->addresses, samples->n_addresses, &samples->size, sizeof(*kernel));
	if (s->n_kernel)
		memcpy(samples->addresses + copy->first, kernel, s->n_kernel * sizeof(*kernel));
	if (s->n_user)
		memcpy(samples->addresses + copy->first + s->n_kernel, user,
		       s->n_user * sizeof(*user));
}

void bb_samples__done(struct bb_samples *samples)
{
	free(samples->v);
	free(samples->addresses);
	memset(samples, 0, sizeof(*samples));
}

struct bb_recorder {
	struct bb_sampler_opts opts;
	char *object_path;
	struct bpf_object *obj;
	int *event_fds;
	size_t n_events;
	struct bpf_link *links[2];
	size_t n_links;
	/* ring buffer with the samples that the maps have no room for */
	struct ring_buffer *overflow;
	struct bb_task_events task_events;
	/* has only the samples from `overflow` until the recording stops */
	struct bb_recording recording;
	uint64_t began_ns, stopped_ns;
};

static struct bpf_program *program_of(const struct bb_recorder *r, const char *name)
{
	return bpf_object__find_program_by_name(r->obj, name);
}

static int map_of(const struct bb_recorder *r, const char *name)
{
	return bpf_object__find_map_fd_by_name(r->obj, name);
}

/* Checks that the object has every program and map, because it may be from another build. */
static int open_object(struct bb_recorder *r, struct bb_err *err)
{
	static const struct {
		const char *name;
		bool is_map;
	} parts[] = {
		{"sample", false}, {"switched", false}, {"forked", false},  {"targets", true},
		{"stacks", true},  {"counts", true},    {"overflow", true}, {"sleeping", true},
	};
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "bpfbench_prof");

	r->object_path = bb_asprintf("%s/profile.bpf.o", r->opts.object_dir);
	bb_libbpf_log__begin();
	r->obj = bpf_object__open_file(r->object_path, &opts);
	if (!r->obj)
		return bb_fail(err, -errno, "%s: %m; build it with make", r->object_path);
	for (size_t i = 0; i < BB_LEN(parts); i++) {
		const char *name = parts[i].name;

		if (parts[i].is_map ? !bpf_object__find_map_by_name(r->obj, name)
				    : !program_of(r, name))
			return bb_fail(err, -ENOENT,
				       "%s: it has no %s '%s', so it was built for another "
				       "bpfbench; build it again with make",
				       r->object_path, parts[i].is_map ? "map" : "program", name);
	}
	return 0;
}

static int load_object(struct bb_recorder *r, struct bb_err *err)
{
	const struct bb_sampler_opts *o = &r->opts;
	const struct bb_global_spec globals[] = {
		{.name = "only_targets", .value = o->pid != 0},
		{.name = "want_kernel", .value = o->want_kernel},
		{.name = "want_user", .value = o->want_user},
	};
	uint64_t max_frames = BB_PROFILE_FRAMES;
	int rc = 0;

	/* The kernel refuses a stack map with longer stacks than this sysctl allows. */
	if (bb_root__read_u64("/proc/sys/kernel/perf_event_max_stack", &max_frames) ||
	    max_frames > BB_PROFILE_FRAMES)
		max_frames = BB_PROFILE_FRAMES;
	r->recording.stats.max_frames = (uint32_t)max_frames;
	bpf_map__set_value_size(bpf_object__find_map_by_name(r->obj, "stacks"),
				(__u32)(max_frames * sizeof(uint64_t)));
	for (size_t i = 0; i < BB_LEN(globals) && !rc; i++)
		rc = bb_global__set(r->obj, r->object_path, &globals[i], NULL, err);
	if (rc)
		return rc;
	bpf_program__set_autoload(program_of(r, "sample"), o->on_cpu);
	bpf_program__set_autoload(program_of(r, "switched"), o->off_cpu);
	bpf_program__set_autoload(program_of(r, "forked"), o->pid != 0);
	rc = bpf_object__load(r->obj);
	return rc ? bb_object_say_not_loaded(r->object_path, NULL, 0, r->obj,
					     program_of(r, "sample"), false, rc, err)
		  : 0;
}

/* If opts.pid is set, limits the sampling to that process and its later child processes. */
static int attach_programs(struct bb_recorder *r, struct bb_err *err)
{
	static const char *const names[] = {"switched", "forked"};
	__u32 pid = (__u32)r->opts.pid;
	__u8 one = 1;

	if (pid && bpf_map_update_elem(map_of(r, "targets"), &pid, &one, BPF_ANY))
		return bb_fail(err, -errno, "cannot sample process %u: %m", pid);
	for (size_t i = 0; i < BB_LEN(names); i++) {
		struct bpf_program *program = program_of(r, names[i]);

		if (!bpf_program__autoload(program))
			continue;
		struct bpf_link *link = bpf_program__attach(program);
		if (!link)
			return bb_fail(err, -errno, "cannot attach '%s' to its tracepoint: %m",
				       names[i]);
		r->links[r->n_links++] = link;
	}
	return 0;
}

/* Returns -ENOTSUP if the machine lacks the event. */
static int open_events(struct bb_recorder *r, uint32_t type, uint64_t config, struct bb_err *err)
{
	const char *sysctl = "/proc/sys/kernel/perf_event_max_sample_rate";
	int n_cpus = libbpf_num_possible_cpus(), prog_fd = bpf_program__fd(program_of(r, "sample"));
	uint64_t max = 0;
	int rc = 0;

	/* events of another type may be open on some CPUs, and refused on the next one */
	while (r->n_events)
		close(r->event_fds[--r->n_events]);
	free(r->event_fds);
	r->event_fds = bb_calloc(n_cpus > 0 ? (size_t)n_cpus : 1, sizeof(*r->event_fds));
	for (int cpu = 0; cpu < n_cpus; cpu++) {
		struct perf_event_attr attr = {
			.type = type,
			.config = config,
			.freq = 1,
			.sample_freq = r->opts.freq_hz,
			.exclude_idle = 1,
			.exclude_hv = 1,
		};

		rc = bb_perf_event__open(&attr, -1, cpu, prog_fd, &r->event_fds[r->n_events], err);
		if (!rc)
			r->n_events++;
		else if (rc == -EINVAL && !bb_root__read_u64(sysctl, &max) && r->opts.freq_hz > max)
			return bb_fail(err, rc, "%u Hz are more than the %llu that %s allows",
				       r->opts.freq_hz, (unsigned long long)max, sysctl);
		else if (rc != -ENODEV)
			return rc;
	}
	return r->n_events ? 0 : rc;
}

static int start_events(struct bb_recorder *r, struct bb_err *err)
{
	int rc = open_events(r, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, err);

	if (rc == -ENOTSUP) {
		r->recording.stats.is_cpu_clock = true;
		rc = open_events(r, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, err);
	}
	for (size_t i = 0; i < r->n_events && !rc; i++) {
		rc = bb_perf_event__enable(r->event_fds[i]);
		if (rc)
			bb_fail(err, rc, "cannot enable a perf event: %m");
	}
	return rc;
}

static void add_sample(struct bb_recorder *r, const struct bb_profile_key *key, uint64_t weight,
		       const uint64_t *kernel, uint16_t n_kernel, const uint64_t *user,
		       uint16_t n_user)
{
	struct bb_sampled_stack stack = {
		.pid = key->pid,
		.is_off_cpu = key->is_off_cpu != 0,
		.weight = weight,
		.n_kernel = n_kernel,
		.n_user = n_user,
		.is_kernel_cut = n_kernel == r->recording.stats.max_frames,
		.is_user_cut = n_user == r->recording.stats.max_frames,
		.is_lost = (key->kernel_id == -EEXIST && !n_kernel) ||
			   (key->user_id == -EEXIST && !n_user),
	};

	memcpy(stack.comm, key->comm, sizeof(stack.comm));
	bb_samples__add(&r->recording.samples, &stack, kernel, user);
}

static int on_overflow(void *arg, void *data, size_t size)
{
	const struct bb_profile_sample *sample = data;
	int64_t kernel_bytes, user_bytes; /* an error (< 0) counts as 0 bytes */

	if (size < sizeof(*sample))
		return 0;
	kernel_bytes = sample->kernel_bytes < 0 ? 0 : sample->kernel_bytes;
	user_bytes = sample->user_bytes < 0 ? 0 : sample->user_bytes;
	add_sample(arg, &sample->key, sample->weight, (const uint64_t *)sample->kernel,
		   (uint16_t)(kernel_bytes / 8), (const uint64_t *)sample->user,
		   (uint16_t)(user_bytes / 8));
	return 0;
}

/* Logs the mappings that the process `pid` (0 for every process) has already. */
static int log_existing(struct bb_spaces *spaces, pid_t pid, struct bb_err *err)
{
	uint64_t now_ns = bb_now_ns(), number;
	DIR *proc = pid ? NULL : opendir("/proc");
	struct dirent *entry;
	int rc = pid || proc ? 0 : -errno;

	if (pid)
		bb_spaces__log_proc(spaces, pid, now_ns);
	while (proc && (entry = readdir(proc)))
		if (!bb_parse_u64(entry->d_name, &number))
			bb_spaces__log_proc(spaces, (pid_t)number, now_ns);
	if (proc)
		closedir(proc);
	return rc ? bb_fail(err, rc, "reading /proc: %m") : 0;
}

void bb_kernel_symbols(struct bb_symtab *t)
{
	char *text;
	size_t len;

	if (bb_read_proc("/proc/kallsyms", KALLSYMS_MAX_BYTES, &text, &len))
		return; /* functions of the kernel then have no names */
	bb_symtab__add_kallsyms(t, text);
	free(text);
	bb_symtab__sort(t);
}

int bb_recorder__start(const struct bb_sampler_opts *opts, struct bb_recorder **ret_recorder,
		       struct bb_err *err)
{
	struct bb_recorder *r = bb_calloc(1, sizeof(*r));
	int rc, pid = opts->pid;
	char path[64];
	struct stat st;

	r->opts = *opts;
	rc = open_object(r, err);
	/* BPF sees the process ids of the first PID namespace. */
	if (!rc && !stat("/proc/self/ns/pid", &st) && st.st_ino != FIRST_PID_NAMESPACE)
		rc = bb_fail(err, -ENOTSUP,
			     "profile cannot tell processes apart from within a PID namespace (a "
			     "container); run it on the host");
	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, pid);
	if (!rc && pid && stat(path, &st))
		rc = bb_fail(err, -ESRCH, "there is no process %d in /proc", pid);
	/* a recording keeps the file of each mapping open */
	bb_open_files__allow_more();
	rc = rc ? rc : bb_task_events__open(&r->recording.spaces, &r->task_events, err);
	rc = rc ? rc : log_existing(&r->recording.spaces, pid, err);
	rc = rc ? rc : load_object(r, err);
	if (!rc) {
		r->overflow = ring_buffer__new(map_of(r, "overflow"), on_overflow, r, NULL);
		rc = r->overflow ? 0 : bb_fail(err, -errno, "cannot map the ring buffer: %m");
	}
	rc = rc ? rc : attach_programs(r, err);
	rc = rc || !opts->on_cpu ? rc : start_events(r, err);
	r->began_ns = bb_now_ns();
	if (rc)
		bb_recorder__free(r);
	else
		*ret_recorder = r;
	return rc;
}

static int drain(struct bb_recorder *r, struct bb_err *err)
{
	int rc = perf_buffer__consume(r->task_events.rings);

	return rc ? bb_fail(err, rc, "cannot follow the code mappings of processes: %m") : 0;
}

int bb_recorder__poll(struct bb_recorder *r, int timeout_ms, struct bb_err *err)
{
	int rc = ring_buffer__poll(r->overflow, timeout_ms);

	if (rc < 0 && rc != -EINTR)
		return bb_fail(err, rc, "cannot read the ring buffer: %m");
	return drain(r, err);
}

/* Copies the stack with this id into frames[max_frames]. Returns its number of frames. */
static uint16_t look_up(const struct bb_recorder *r, int32_t id, uint64_t *frames)
{
	uint32_t max_frames = r->recording.stats.max_frames;
	uint16_t n = 0;

	memset(frames, 0, max_frames * sizeof(*frames));
	if (id < 0 || bpf_map_lookup_elem(map_of(r, "stacks"), &id, frames))
		return 0;
	while (n < max_frames && frames[n])
		n++;
	return n;
}

static void collect_one(struct bb_recorder *r, const struct bb_profile_key *key, uint64_t weight)
{
	uint64_t kernel[BB_PROFILE_FRAMES], user[BB_PROFILE_FRAMES];
	uint16_t n_kernel = look_up(r, key->kernel_id, kernel);
	uint16_t n_user = look_up(r, key->user_id, user);

	if (weight)
		add_sample(r, key, weight, kernel, n_kernel, user, n_user);
}

int bb_recorder__finish(struct bb_recorder *r, struct bb_recording *ret_recording,
			struct bb_err *err)
{
	struct bb_recording *recording = &r->recording;
	struct bb_sampler_stats *stats = &recording->stats;
	const struct {
		const char *name;
		uint64_t *value;
	} counters[] = {
		{"samples", &stats->samples},
		{"lost_stacks", &stats->lost_stacks},
		{"drops", &stats->drops},
	};
	int counts_fd = map_of(r, "counts"), sleeping_fd = map_of(r, "sleeping"), rc;
	struct bb_profile_key key, *last_key = NULL;
	struct bb_profile_sleep sleep;
	__u32 tid, *last_tid = NULL;
	__u64 weight;

	for (size_t i = 0; i < r->n_events; i++)
		bb_perf_event__disable(r->event_fds[i]);
	for (size_t i = 0; i < r->n_links; i++)
		bpf_link__destroy(r->links[i]);
	r->n_links = 0;
	r->stopped_ns = bb_now_ns();
	recording->seconds = bb_seconds_since(r->began_ns);
	rc = drain(r, err);
	if (rc)
		return rc;
	ring_buffer__consume(r->overflow);
	for (size_t i = 0; i < BB_LEN(counters) && !rc; i++)
		rc = bb_global__read_u64(r->obj, counters[i].name, counters[i].value);
	if (rc)
		return bb_fail(err, rc, "cannot read the counters of the profiler: %m");
	for (; !bpf_map_get_next_key(counts_fd, last_key, &key); last_key = &key)
		if (!bpf_map_lookup_elem(counts_fd, &key, &weight))
			collect_one(r, &key, weight);
	/* threads that still wait have been off the CPU until now */
	for (; !bpf_map_get_next_key(sleeping_fd, last_tid, &tid); last_tid = &tid)
		if (!bpf_map_lookup_elem(sleeping_fd, &tid, &sleep) &&
		    sleep.since_ns < r->stopped_ns)
			collect_one(r, &sleep.key, r->stopped_ns - sleep.since_ns);
	/* read the symbols while our own programs are still among them */
	bb_kernel_symbols(&recording->kernel);
	bb_spaces__replay(&recording->spaces);
	recording->lost_task_events = r->task_events.lost;
	*ret_recording = *recording;
	memset(recording, 0, sizeof(*recording));
	return 0;
}

void bb_recorder__free(struct bb_recorder *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_events; i++)
		close(r->event_fds[i]);
	for (size_t i = 0; i < r->n_links; i++)
		bpf_link__destroy(r->links[i]);
	ring_buffer__free(r->overflow);
	bpf_object__close(r->obj);
	bb_recording__done(&r->recording);
	bb_task_events__close(&r->task_events);
	free(r->event_fds);
	free(r->object_path);
	free(r);
}

/* The command to sample. It waits before its exec until we send it a byte, so that we miss nothing
 * of it. Its stdout is our stderr. The kernel kills it if we die. */
struct command {
	struct bb_child child; /* pid is 0 if there is no command, or it has ended */
	int status;            /* from waitpid(2), once the command has ended */
};

#define TERM_MS 2000 /* time that the command has to end after SIGTERM */
#define POLL_MS 50   /* After each poll of this length we check whether the command has ended. */

/* Runs in the child. Without the byte 'g' our parent has died, and nobody reads the error. */
static int wait_and_execute(void *arg, int go_fd)
{
	char *const *argv = arg;

	if (bb_child__sleep(go_fd) != 'g')
		return -ESRCH;
	execvp(argv[0], argv);
	return -errno;
}

static bool command_has_ended(struct command *c)
{
	if (c->child.pid && waitpid(c->child.pid, &c->status, WNOHANG) == c->child.pid)
		c->child.pid = 0;
	return !c->child.pid;
}

/* Ends the command by SIGTERM and, if that does not help, by SIGKILL. */
static void command_end(struct command *c)
{
	const struct timespec step = {.tv_nsec = 10000000};

	close(c->child.fd); /* makes the command end if it still waits for its byte */
	bb_close(&c->child.report_fd);
	if (command_has_ended(c))
		return;
	kill(c->child.pid, SIGTERM);
	kill(c->child.pid, SIGCONT);
	for (int waited_ms = 0; waited_ms < TERM_MS && !command_has_ended(c); waited_ms += 10)
		nanosleep(&step, NULL);
	if (!c->child.pid)
		return;
	kill(c->child.pid, SIGKILL);
	c->status = bb_wait_for(c->child.pid);
}

int bb_recording__take(const struct bb_recording_opts *opts, struct bb_recording *ret_recording,
		       struct bb_err *err)
{
	const struct bb_child_rules rules = {
		.link = BB_LINK_TO_CHILD,
		.signals = BB_SIGNALS_DEFAULT,
		.is_program = true,
		.env = opts->env,
		.std = {0, STDERR_FILENO},
		.uid = opts->uid,
		.gid = opts->gid,
	};
	struct bb_sampler_opts sampler = opts->sampler;
	struct command command = {.child = {.fd = -1}};
	struct bb_recorder *r = NULL;
	int rc = 0;

	if (opts->argv) {
		rc = bb_child__start(&rules, wait_and_execute, (void *)(uintptr_t)opts->argv,
				     &command.child);
		sampler.pid = command.child.pid;
		if (rc)
			bb_fail(err, rc, "cannot start '%s': %m", opts->argv[0]);
	}
	if (!rc)
		rc = bb_recorder__start(&sampler, &r, err);
	uint64_t began_ns = bb_now_ns();
	/* If the byte cannot be written, the command has died, which command_has_ended() finds
	 * out. */
	if (!rc && opts->argv && write(command.child.fd, "g", 1) > 0) {
		rc = bb_child__executed(&command.child);
		if (rc)
			bb_fail(err, rc, "cannot run '%s': %m", opts->argv[0]);
	}
	while (!rc && !bb_stop_signal) {
		double left_ms = (opts->seconds - bb_seconds_since(began_ns)) * 1000;
		bool has_ended = opts->argv ? command_has_ended(&command)
					    : sampler.pid && kill(sampler.pid, 0) && errno == ESRCH;

		if (left_ms <= 0 || has_ended)
			break;
		rc = bb_recorder__poll(r, left_ms < POLL_MS ? (int)left_ms + 1 : POLL_MS, err);
	}
	if (!rc)
		rc = bb_recorder__finish(r, ret_recording, err);
	bb_recorder__free(r);
	if (command.child.fd >= 0)
		command_end(&command);
	if (!rc)
		ret_recording->command_status = command.status;
	return rc;
}

void bb_recording__done(struct bb_recording *r)
{
	bb_samples__done(&r->samples);
	bb_spaces__done(&r->spaces);
	bb_symtab__done(&r->kernel);
	memset(r, 0, sizeof(*r));
}
