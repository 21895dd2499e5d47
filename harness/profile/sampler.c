/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/io.h"
#include "base/parse.h"
#include "bpf/globals.h"
#include "bpf/libbpf_log.h"
#include "bpf/object_file.h"
#include "bpf/attach.h"

int bb_samples__add(struct bb_samples *samples, const struct bb_sampled_stack *s,
		    const uint64_t *kernel, const uint64_t *user)
{
	size_t need = samples->n_addresses + s->n_kernel + s->n_user;
	struct bb_sampled_stack *copy;

	if (bb_reserve(&samples->addresses, need, &samples->addresses_size, sizeof(uint64_t)))
		return -ENOMEM;
	copy = bb_append(&samples->v, &samples->n, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = *s;
	copy->first = samples->n_addresses;
	if (s->n_kernel)
		memcpy(samples->addresses + copy->first, kernel, s->n_kernel * sizeof(*kernel));
	if (s->n_user)
		memcpy(samples->addresses + copy->first + s->n_kernel, user,
		       s->n_user * sizeof(*user));
	samples->n_addresses = need;
	return 0;
}

void bb_samples__done(struct bb_samples *samples)
{
	free(samples->v);
	free(samples->addresses);
	memset(samples, 0, sizeof(*samples));
}

#define OBJECT "profile.bpf.o"

struct bb_sampler {
	struct bb_sampler_opts opts;
	char *object_path;
	struct bpf_object *obj;
	int *event_fds;
	size_t n_events;
	struct bpf_link *links[2];
	size_t n_links;
	struct ring_buffer *overflow;
	struct bb_samples collected; /* from `overflow` */
	int overflow_rc;
	struct bb_sampler_stats stats;
	uint64_t stopped_ns;
};

/* A number in a file of /proc/sys. */
static int read_sysctl(const char *path, uint64_t *ret_value)
{
	char *text;
	size_t len;
	int rc = bb_read_proc(path, 64, &text, &len, NULL);

	if (rc)
		return rc;
	text[strcspn(text, "\n")] = '\0';
	rc = bb_parse_u64(text, ret_value);
	free(text);
	return rc;
}

static struct bpf_program *program_of(const struct bb_sampler *s, const char *name)
{
	return bpf_object__find_program_by_name(s->obj, name);
}

static int map_of(const struct bb_sampler *s, const char *name)
{
	return bpf_object__find_map_fd_by_name(s->obj, name);
}

/* The object may be another build's: all that is looked up by name later is in it. */
static int check_parts(const struct bb_sampler *s, struct bb_err *err)
{
	static const struct {
		const char *name;
		bool is_map;
	} parts[] = {
		{"sample", false}, {"switched", false}, {"forked", false},  {"targets", true},
		{"stacks", true},  {"counts", true},    {"overflow", true}, {"sleeping", true},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const char *name = parts[i].name;

		if (parts[i].is_map ? !bpf_object__find_map_by_name(s->obj, name)
				    : !bpf_object__find_program_by_name(s->obj, name))
			return bb_fail(err, -ENOENT,
				       "%s: it has no %s '%s', so it was built for another "
				       "bpfbench; build it again with make",
				       s->object_path, parts[i].is_map ? "map" : "program", name);
	}
	return 0;
}

static int configure(struct bb_sampler *s, struct bb_err *err)
{
	const struct bb_sampler_opts *o = &s->opts;
	const struct {
		const char *name;
		bool value;
	} globals[] = {
		{"only_targets", o->pid != 0},
		{"want_kernel", o->want_kernel},
		{"want_user", o->want_user},
	};
	uint64_t max_frames = BB_PROFILE_FRAMES;
	int rc = 0;

	/* The kernel makes no stack map with longer stacks than it takes. */
	if (read_sysctl("/proc/sys/kernel/perf_event_max_stack", &max_frames) ||
	    max_frames > BB_PROFILE_FRAMES)
		max_frames = BB_PROFILE_FRAMES;
	s->stats.max_frames = (uint32_t)max_frames;
	bpf_map__set_value_size(bpf_object__find_map_by_name(s->obj, "stacks"),
				(__u32)(max_frames * sizeof(uint64_t)));
	for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]) && !rc; i++)
		rc = bb_global__set(s->obj, s->object_path, globals[i].name, globals[i].value, err);
	bpf_program__set_autoload(program_of(s, "sample"), o->on_cpu);
	bpf_program__set_autoload(program_of(s, "switched"), o->off_cpu);
	bpf_program__set_autoload(program_of(s, "forked"), o->pid != 0);
	return rc;
}

static int load_object(struct bb_sampler *s, struct bb_err *err)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "bpfbench_prof");
	int rc;

	if (asprintf(&s->object_path, "%s/" OBJECT, s->opts.object_dir) < 0) {
		s->object_path = NULL;
		return bb_fail_nomem(err);
	}
	bb_libbpf_log__begin();
	s->obj = bpf_object__open_file(s->object_path, &opts);
	if (!s->obj)
		return bb_fail(err, -errno, "%s: %s; build it with make", s->object_path,
			       strerror(errno));
	rc = check_parts(s, err);
	if (!rc)
		rc = configure(s, err);
	if (rc)
		return rc;
	rc = bpf_object__load(s->obj);
	return rc ? bb_object_say_not_loaded(s->object_path, NULL, 0, s->obj,
					     program_of(s, "sample"), false, rc, err)
		  : 0;
}

/* To the tracepoints; and only `pid` is sampled, unless that is 0. */
static int attach_programs(struct bb_sampler *s, struct bb_err *err)
{
	static const char *const names[] = {"switched", "forked"};
	__u32 pid = (__u32)s->opts.pid;
	__u8 one = 1;

	if (pid && bpf_map_update_elem(map_of(s, "targets"), &pid, &one, BPF_ANY))
		return bb_fail(err, -errno, "cannot sample process %u: %s", pid, strerror(errno));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct bpf_program *program = program_of(s, names[i]);
		struct bpf_link *link;

		if (!bpf_program__autoload(program))
			continue;
		link = bpf_program__attach(program);
		if (!link)
			return bb_fail(err, -errno, "cannot attach '%s' to its tracepoint: %s",
				       names[i], strerror(errno));
		s->links[s->n_links++] = link;
	}
	return 0;
}

static int say_too_fast(const struct bb_sampler *s, struct bb_err *err)
{
	const char *sysctl = "/proc/sys/kernel/perf_event_max_sample_rate";
	uint64_t max = 0;

	if (read_sysctl(sysctl, &max) || s->opts.freq_hz <= max)
		return err ? err->code : -EINVAL;
	return bb_fail(err, -EINVAL, "%u Hz are more than the %llu that %s allows", s->opts.freq_hz,
		       (unsigned long long)max, sysctl);
}

/* On every CPU that is online. -ENOTSUP: this machine has no such event. */
static int open_events(struct bb_sampler *s, uint32_t type, uint64_t config, struct bb_err *err)
{
	int n_cpus = libbpf_num_possible_cpus();
	int prog_fd = bpf_program__fd(program_of(s, "sample"));
	int rc = 0;

	free(s->event_fds);
	s->event_fds = calloc(n_cpus > 0 ? (size_t)n_cpus : 1, sizeof(*s->event_fds));
	if (!s->event_fds)
		return bb_fail_nomem(err);
	for (int cpu = 0; cpu < n_cpus; cpu++) {
		struct perf_event_attr attr = {
			.type = type,
			.config = config,
			.freq = 1,
			.sample_freq = s->opts.freq_hz,
			.exclude_idle = 1,
			.exclude_hv = 1,
		};

		rc = bb_perf_event__open(&attr, -1, cpu, prog_fd, &s->event_fds[s->n_events], err);
		if (!rc)
			s->n_events++;
		else if (rc == -EINVAL)
			return say_too_fast(s, err);
		else if (rc != -ENODEV)
			return rc;
	}
	return s->n_events ? 0 : rc;
}

static int start_events(struct bb_sampler *s, struct bb_err *err)
{
	int rc;

	if (!s->opts.on_cpu)
		return 0;
	rc = open_events(s, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, err);
	if (rc == -ENOTSUP) {
		s->stats.is_cpu_clock = true;
		rc = open_events(s, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, err);
	}
	for (size_t i = 0; i < s->n_events && !rc; i++) {
		rc = bb_perf_event__enable(s->event_fds[i]);
		if (rc)
			bb_fail(err, rc, "cannot enable a perf event: %s", strerror(-rc));
	}
	return rc;
}

static int add_sample(struct bb_sampler *s, const struct bb_profile_key *key, uint64_t weight,
		      const uint64_t *kernel, uint16_t n_kernel, const uint64_t *user,
		      uint16_t n_user)
{
	struct bb_sampled_stack stack = {
		.pid = key->pid,
		.is_off_cpu = key->is_off_cpu != 0,
		.weight = weight,
		.n_kernel = n_kernel,
		.n_user = n_user,
		.is_kernel_cut = n_kernel == s->stats.max_frames,
		.is_user_cut = n_user == s->stats.max_frames,
		.is_lost = (key->kernel_id == -EEXIST && !n_kernel) ||
			   (key->user_id == -EEXIST && !n_user),
	};

	memcpy(stack.comm, key->comm, sizeof(stack.comm));
	return bb_samples__add(&s->collected, &stack, kernel, user);
}

static int on_overflow(void *arg, void *data, size_t size)
{
	const struct bb_profile_sample *sample = data;
	struct bb_sampler *s = arg;

	/* the bytes are < 0 where there is no such stack */
	if (size >= sizeof(*sample) && !s->overflow_rc)
		s->overflow_rc =
			add_sample(s, &sample->key, sample->weight,
				   (const uint64_t *)sample->kernel,
				   (uint16_t)(sample->kernel_bytes < 0 ? 0
								       : sample->kernel_bytes / 8),
				   (const uint64_t *)sample->user,
				   (uint16_t)(sample->user_bytes < 0 ? 0 : sample->user_bytes / 8));
	return 0;
}

int bb_sampler__start(const struct bb_sampler_opts *opts, struct bb_sampler **ret_sampler,
		      struct bb_err *err)
{
	struct bb_sampler *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return bb_fail_nomem(err);
	s->opts = *opts;
	rc = load_object(s, err);
	if (!rc) {
		s->overflow = ring_buffer__new(map_of(s, "overflow"), on_overflow, s, NULL);
		rc = s->overflow ? 0
				 : bb_fail(err, -errno, "cannot map the ring buffer: %s",
					   strerror(errno));
	}
	if (!rc)
		rc = attach_programs(s, err);
	if (!rc)
		rc = start_events(s, err);
	if (rc)
		bb_sampler__free(s);
	else
		*ret_sampler = s;
	return rc;
}

int bb_sampler__poll(struct bb_sampler *s, int timeout_ms, struct bb_err *err)
{
	int rc = ring_buffer__poll(s->overflow, timeout_ms);

	if (s->overflow_rc)
		return bb_fail_nomem(err);
	return rc < 0 && rc != -EINTR
		       ? bb_fail(err, rc, "cannot read the ring buffer: %s", strerror(-rc))
		       : 0;
}

void bb_sampler__stop(struct bb_sampler *s)
{
	for (size_t i = 0; i < s->n_events; i++)
		bb_perf_event__disable(s->event_fds[i]);
	for (size_t i = 0; i < s->n_links; i++)
		bpf_link__destroy(s->links[i]);
	s->n_links = 0;
	s->stopped_ns = bb_now_ns();
}

/* The stack of an id, into frames[max_frames]; how many it has. */
static uint16_t look_up(const struct bb_sampler *s, int32_t id, uint64_t *frames)
{
	int stacks_fd = map_of(s, "stacks");
	uint16_t n = 0;

	memset(frames, 0, s->stats.max_frames * sizeof(*frames));
	if (id < 0 || bpf_map_lookup_elem(stacks_fd, &id, frames))
		return 0;
	while (n < s->stats.max_frames && frames[n])
		n++;
	return n;
}

static int collect_one(struct bb_sampler *s, const struct bb_profile_key *key, uint64_t weight)
{
	uint64_t kernel[BB_PROFILE_FRAMES], user[BB_PROFILE_FRAMES];
	uint16_t n_kernel = look_up(s, key->kernel_id, kernel);
	uint16_t n_user = look_up(s, key->user_id, user);

	return weight ? add_sample(s, key, weight, kernel, n_kernel, user, n_user) : 0;
}

/* What the maps hold. */
static int collect_maps(struct bb_sampler *s)
{
	int counts_fd = map_of(s, "counts"), rc = 0;
	int sleeping_fd = map_of(s, "sleeping");
	struct bb_profile_key key, *last_key = NULL;
	struct bb_profile_sleep sleep;
	__u32 tid, *last_tid = NULL;
	__u64 weight;

	for (; !rc && !bpf_map_get_next_key(counts_fd, last_key, &key); last_key = &key)
		if (!bpf_map_lookup_elem(counts_fd, &key, &weight))
			rc = collect_one(s, &key, weight);
	/* Threads that are still off their CPU have been so until now. */
	for (; !rc && !bpf_map_get_next_key(sleeping_fd, last_tid, &tid); last_tid = &tid)
		if (!bpf_map_lookup_elem(sleeping_fd, &tid, &sleep) &&
		    sleep.since_ns < s->stopped_ns)
			rc = collect_one(s, &sleep.key, s->stopped_ns - sleep.since_ns);
	return rc;
}

int bb_sampler__collect(struct bb_sampler *s, struct bb_samples *ret_samples,
			struct bb_sampler_stats *ret_stats, struct bb_err *err)
{
	const struct {
		const char *name;
		uint64_t *value;
	} counters[] = {
		{"samples", &s->stats.samples},
		{"lost_stacks", &s->stats.lost_stacks},
		{"drops", &s->stats.drops},
	};
	int rc = 0;

	ring_buffer__consume(s->overflow);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]) && !rc; i++)
		rc = bb_global__read_u64(s->obj, counters[i].name, counters[i].value);
	if (rc)
		return bb_fail(err, rc, "cannot read the counters of the profiler: %s",
			       strerror(-rc));
	if (collect_maps(s) || s->overflow_rc)
		return bb_fail_nomem(err);
	*ret_samples = s->collected;
	s->collected = (struct bb_samples){0};
	*ret_stats = s->stats;
	return 0;
}

void bb_sampler__free(struct bb_sampler *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_events; i++)
		close(s->event_fds[i]);
	for (size_t i = 0; i < s->n_links; i++)
		bpf_link__destroy(s->links[i]);
	ring_buffer__free(s->overflow);
	bpf_object__close(s->obj);
	bb_samples__done(&s->collected);
	free(s->event_fds);
	free(s->object_path);
	free(s);
}
