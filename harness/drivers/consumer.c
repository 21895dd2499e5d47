/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/consumer.h"

#include <bpf/libbpf.h>

#include "base/child.h"
#include "perf_profiler.h"

/* longest time between two readings of the ring buffer; some programs never wake their reader */
#define POLL_MS 10
#define GRACE_S 0.02
#define LOG_BYTES (64u << 10)

struct bb_consumer_shared {
	size_t bytes;
	size_t room;
	volatile bool stop; /* set by the parent process to end the consumer */
	volatile int rc;    /* -errno if the consumer ended by itself */
	volatile uint64_t samples;
	double setup_cpu_s; /* CPU time used before it was ready, s */
	uint64_t lag_ns[];
};

struct reader {
	const struct bb_sample_processor *processor;
	struct bb_sample_log log;
	struct bb_consumer_shared *shared;
	const struct bb_child_place *place;
	struct ring_buffer *ring;
	int ring_fd;
};

static int on_sample(void *arg, void *data, size_t size)
{
	struct reader *r = arg;
	struct bb_consumer_shared *s = r->shared;
	const struct bb_sample_header *header = data;
	uint64_t samples = s->samples;
	int rc = r->processor->process(data, size, &r->log);

	if (rc)
		return rc;
	if (samples < s->room)
		s->lag_ns[samples] = bb_now_ns() - header->ktime_ns;
	s->samples = samples + 1;
	return s->stop ? -ECANCELED : 0;
}

/* Runs before the child process gives up root, because opening the ring buffer needs root. */
static int prepare(void *arg)
{
	struct reader *r = arg;

	r->ring = ring_buffer__new(r->ring_fd, on_sample, r, NULL);
	r->log.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return r->ring ? bb_child_place__take(r->place) : -errno;
}

static int run_child(void *arg, int)
{
	struct reader *r = arg;
	struct bb_consumer_shared *s = r->shared;
	int rc = 0;

	s->setup_cpu_s = bb_process_cpu_s(getpid());
	while (!s->stop && rc >= 0) {
		rc = ring_buffer__poll(r->ring, POLL_MS);
		/* after a timeout, samples may be left: some programs never wake their reader */
		if (rc == 0 && !s->stop)
			rc = ring_buffer__consume(r->ring);
		/* go on after a signal: the parent process handles it and stops this one */
		if (rc == -EINTR)
			rc = 0;
	}
	s->rc = rc < 0 && rc != -ECANCELED ? rc : 0;
	return s->rc != 0;
}

int bb_consumer__start(const struct bb_sample_processor *processor, int ring_fd, size_t room,
		       const struct bb_child_place *place, struct bb_consumer *ret_consumer,
		       struct bb_err *err)
{
	size_t bytes = sizeof(struct bb_consumer_shared) + room * sizeof(uint64_t);
	struct reader child = {
		.processor = processor,
		.log = {.text = bb_calloc(1, LOG_BYTES), .size = LOG_BYTES, .fd = -1},
		.place = place,
		.ring_fd = ring_fd,
	};
	const struct bb_child_rules rules = {
		.signals = BB_SIGNALS_DEFAULT,
		.own_session = true,
		.before = prepare,
		.std = {BB_STD_NULL, BB_STD_NULL},
		.uid = place->uid,
		.gid = place->gid,
	};
	/* MAP_POPULATE, so that no lag contains a page fault */
	struct bb_consumer_shared *s = bb_map_pages(bytes, MAP_SHARED | MAP_POPULATE);
	struct bb_child c;

	s->bytes = bytes;
	s->room = room;
	child.shared = s;
	int rc = bb_child__start(&rules, run_child, &child, &c);
	free(child.log.text);
	if (rc) {
		munmap(s, bytes);
		return bb_fail(err, rc, "cannot start the consumer: %m");
	}
	*ret_consumer = (struct bb_consumer){.pid = c.pid, .shared = s};
	return 0;
}

static int say_ended(const struct bb_consumer *c, int status, struct bb_err *err)
{
	if (WIFSIGNALED(status))
		return bb_fail(err, -ECHILD, "the consumer died midway: it %s",
			       bb_how_ended(status).text);
	if (c->shared->rc == -EINVAL)
		return bb_fail(err, -ECHILD,
			       "the consumer cannot read the records in the ring: it expects "
			       "samples of perf_profiler (bpf/perf_profiler.h)");
	return bb_fail(err, -ECHILD, "the consumer ended: %s", strerror(-c->shared->rc));
}

int bb_consumer__check(struct bb_consumer *c, struct bb_err *err)
{
	int status;

	if (waitpid(c->pid, &status, WNOHANG) != c->pid)
		return 0;
	c->pid = 0;
	return say_ended(c, status, err);
}

int bb_consumer__stop(struct bb_consumer *c, struct bb_consumed *ret_consumed, struct bb_err *err)
{
	struct bb_consumer_shared *s = c->shared;
	struct rusage usage;
	int status = 0;

	s->stop = true;
	if (bb_child__wait(c->pid, GRACE_S))
		kill(c->pid, SIGKILL);
	long ended = TEMP_FAILURE_RETRY(wait4(c->pid, &status, 0, &usage));
	c->pid = 0;
	if (ended < 0)
		return bb_fail(err, -errno, "cannot wait for the consumer: %m");
	if (WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) != SIGKILL)
		return say_ended(c, status, err);
	*ret_consumed = (struct bb_consumed){
		.samples = s->samples,
		.lag_ns = s->lag_ns,
		.n = s->samples < s->room ? s->samples : s->room,
		.cpu_s = bb_rusage_cpu_s(&usage) - s->setup_cpu_s,
	};
	return 0;
}

void bb_consumer__close(struct bb_consumer *c)
{
	bb_child__stop(&(struct bb_child){.pid = c->pid, .fd = -1, .report_fd = -1});
	c->pid = 0;
	if (c->shared)
		munmap(c->shared, c->shared->bytes);
	c->shared = NULL;
}

struct ages {
	uint64_t now_ns, *age_ns;
	size_t room, n;
};

static int on_waiting(void *arg, void *data, size_t size)
{
	const struct bb_sample_header *header = data;
	struct ages *a = arg;

	if (size < sizeof(*header))
		return -EINVAL;
	if (a->n < a->room)
		a->age_ns[a->n] = a->now_ns > header->ktime_ns ? a->now_ns - header->ktime_ns : 0;
	a->n++;
	return 0;
}

int bb_ring_ages(int ring_fd, uint64_t now_ns, uint64_t *ret_age_ns, size_t room, size_t *ret_n,
		 struct bb_err *err)
{
	struct ages a = {.now_ns = now_ns, .age_ns = ret_age_ns, .room = room};
	struct ring_buffer *ring = ring_buffer__new(ring_fd, on_waiting, &a, NULL);
	int rc = ring ? ring_buffer__consume(ring) : -errno;

	ring_buffer__free(ring);
	if (rc < 0)
		return bb_fail(err, rc, "cannot read the records that are left in the ring: %m");
	*ret_n = a.n;
	return 0;
}
