/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drives in situ by packets, by HTTP and by a program's own section: every packet is one run on
 * the requested CPU, no other packets are seen, errors name their cause, and nothing is left
 * behind.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <math.h>
#include <sched.h>
#include <sys/wait.h>

#include "bpf/prog_stats.h"
#include "drivers/driver.h"
#include "drivers/workload_loop.h"
#include "unit/bpf_testing.h"

#define PACKETS "tests/bpf/packets.bpf.o"
#define ATTACH "tests/bpf/attach.bpf.o"
#define TEST_RUN "tests/bpf/test_run.bpf.o"
#define MAX_SAMPLES 20000u
#define FRAME_BYTES 60u

enum { CPUS, LAST_BYTES }; /* keys of the map `seen` */

/* An open drive with one program. */
struct running {
	struct bb_stats_enable stats;
	struct bb_test_prog prog;
	struct bb_drive_spec spec;
	struct bb_input inputs[3];
	uint8_t frames[3][FRAME_BYTES];
	struct bb_driver_opts opts;
	const struct bb_driver *driver;
	struct bb_drive_state *state;
	struct bb_drive_slot *slot;
	uint64_t ns[MAX_SAMPLES];
	struct bb_prog_stats before;
};

#define need_two_cpus()                                                                            \
	do {                                                                                       \
		need_root();                                                                       \
		if (!two_cpus(&(struct bb_driver_opts){0})) {                                      \
			print_message("# skip: needs two CPUs\n");                                 \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

static bool two_cpus(struct bb_driver_opts *opts)
{
	cpu_set_t allowed;
	int found = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET((size_t)cpu, &allowed))
			*(found++ ? &opts->poll_cpu : &opts->cpu) = cpu;
	return found == 2;
}

/* Lets this thread run on all CPUs again, because the drives pin it. */
static void unpin(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
}

static char *text(const char *s)
{
	return (char *)(uintptr_t)s;
}

/* Makes three packets, whose last bytes are 1, 10 and 100. */
static void make_packets(struct running *r)
{
	static const uint8_t head[] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5},
			     last[] = {1, 10, 100};

	for (size_t i = 0; i < 3; i++) {
		memcpy(r->frames[i], head, sizeof(head));
		r->frames[i][FRAME_BYTES - 1] = last[i];
		r->inputs[i] = (struct bb_input){.name = text("p"),
						 .data = r->frames[i],
						 .len = FRAME_BYTES};
	}
	r->spec.inputs = (struct bb_inputs){r->inputs, 3};
}

/* Prepares everything; the drive is not open yet. */
static struct running *prepare(const char *event, const char *object, const char *program)
{
	struct running *r = calloc(1, sizeof(*r));
	struct bb_err err = {0};

	assert_non_null(r);
	unpin();
	assert_true(two_cpus(&r->opts));
	r->opts.seed = 1;
	r->spec.event = text(event);
	r->spec.kind = bb_drive_kind_find("in-situ", event);
	assert_non_null(r->spec.kind);
	r->driver = bb_driver_of(r->spec.kind);
	assert_int_equal(bb_stats_enable__on(&r->stats, &err), 0);
	r->prog.target = open_target(object, program);
	load(r->prog.target);
	return r;
}

static void end(struct running *r)
{
	if (r->slot)
		bb_driver__detach(r->slot);
	bb_driver__close(r->state);
	bb_target__free(r->prog.target);
	bb_stats_enable__off(&r->stats);
	free(r);
	unpin();
}

static void open_drive(struct running *r)
{
	struct bb_err err = {0};

	if (bb_driver__open(&r->spec, &r->opts, &r->state, &err))
		fail_msg("%s", err.msg);
}

/* Returns -ENOTSUP if this kernel has no tcx. */
static int begin(struct running *r)
{
	struct bb_err err = {0};
	int rc;

	open_drive(r);
	rc = bb_driver__probe(r->state, &r->prog, &err);
	if (rc == -ENOTSUP && strstr(err.msg, "tcx")) {
		print_message("# %s\n", err.msg);
		return rc;
	}
	if (rc || bb_driver__attach(r->state, &r->prog, &r->slot, &err) ||
	    bb_stats_reader__agreed(&r->prog.target->reader, &r->before, &err))
		fail_msg("%s", err.msg);
	return 0;
}

static struct bb_batch batch(struct running *r, uint32_t param, size_t want, double max_s)
{
	struct bb_batch b = {.ns = r->ns, .want = want, .max_s = max_s, .drain_each_run = true};
	struct bb_err err = {0};

	if (bb_driver__batch(r->slot, param, &b, &err))
		fail_msg("%s", err.msg);
	return b;
}

static uint64_t runs_since(const struct running *r)
{
	struct bb_prog_stats now;
	struct bb_err err = {0};

	if (bb_stats_reader__agreed(&r->prog.target->reader, &now, &err))
		fail_msg("%s", err.msg);
	return now.run_cnt - r->before.run_cnt;
}

static uint64_t seen(const struct running *r, __u32 entry)
{
	int fd = bpf_map_get_fd_by_id(map_id(r->prog.target, "seen"));
	__u64 value = 0;

	assert_true(fd >= 0);
	assert_int_equal(bpf_map_lookup_elem(fd, &entry, &value), 0);
	close(fd);
	return value;
}

/* --- packets --- */

/* Every packet sent is one run. A run is a sample, or is counted in `multi` because it shared a
 * window. */
static void check_batch(const struct bb_batch *b)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < b->n; i++)
		ns += b->ns[i];
	assert_string_equal(b->void_why, "");
	assert_true(b->events > 0);
	assert_int_equal(b->run_cnt, b->fired);
	assert_int_equal(b->n + b->multi, b->fired);
	assert_true(b->n <= b->want && ns <= b->run_time_ns && (b->multi || ns == b->run_time_ns));
	assert_true(b->elapsed_s > 0);
	assert_true(isnan(b->target_cpu_s));
}

static void test_packets(void **state)
{
	static const char *const programs[] = {"xdp_sees", "tc_sees"};

	(void)state;
	need_two_cpus();
	for (size_t i = 0; i < 2; i++) {
		struct running *r = prepare("packets", PACKETS, programs[i]);
		uint64_t sent = 0, rounds;

		make_packets(r);
		if (begin(r)) {
			end(r);
			continue;
		}
		for (int k = 0; k < 3; k++) {
			struct bb_batch b = batch(r, 2000, k ? MAX_SAMPLES : 59, 0.03);

			check_batch(&b);
			assert_int_equal(b.fired, b.events);
			/* Fewer if other processes use the CPU. */
			assert_in_range(b.events, 1, 60);
			sent += b.events;
		}
		/* All packets arrived on the requested CPU. Three in a row are the three inputs in
		 * some order, counted from the probe's packet on. */
		assert_int_equal(runs_since(r), sent);
		rounds = (sent + 1) / 3;
		if ((sent + 1) % 3)
			assert_in_range(seen(r, LAST_BYTES), 111 * rounds + 1, 111 * rounds + 110);
		else
			assert_int_equal(seen(r, LAST_BYTES), 111 * rounds);
		assert_int_equal(seen(r, CPUS), UINT64_C(1) << r->opts.cpu);
		/* No other packets arrive (router solicitations, ARP), for as long as they would
		 * take. */
		usleep(1500000);
		assert_int_equal(runs_since(r), sent);
		end(r);
	}
}

/* If there is room for fewer samples than the time allows, no more packets are sent. */
static void test_room(void **state)
{
	struct running *r;
	struct bb_batch b;

	(void)state;
	need_two_cpus();
	r = prepare("packets", PACKETS, "xdp_sees");
	begin(r); /* without inputs, the drive sends a packet of its own */
	b = batch(r, 10000, 20, 10);
	check_batch(&b);
	assert_in_range(b.events, 1, 20);
	end(r);
}

/* If the requested rate is too high, the batch ends after twice its time, with a lower rate. */
static void test_rate_that_cannot_be_held(void **state)
{
	struct running *r;
	struct bb_batch b;

	(void)state;
	need_two_cpus();
	r = prepare("packets", PACKETS, "xdp_sees");
	begin(r);
	b = batch(r, 100000, MAX_SAMPLES, 0.05);
	if (strstr(b.void_why, strerror(ENOBUFS))) {
		end(r);
		print_message("# skip: this machine is so slow that packets are lost, which voids "
			      "the series: %s\n",
			      b.void_why);
		skip();
	}
	check_batch(&b);
	assert_true(b.events <= 5000);
	assert_true((double)b.events / b.elapsed_s < 100001);
	end(r);
}

/* --- HTTP --- */

static void test_http(void **state)
{
	struct running *r;
	struct bb_batch b;

	(void)state;
	need_two_cpus();
	r = prepare("http", PACKETS, "xdp_sees");
	begin(r);
	b = batch(r, 200, MAX_SAMPLES, 0.05);
	check_batch(&b);
	assert_in_range(b.events, 1, 10);
	/* At least SYN, ACK, GET and FIN. */
	assert_in_range(b.fired, 4 * b.events, 16 * b.events);
	assert_int_equal(runs_since(r), b.fired);
	assert_int_equal(seen(r, CPUS), UINT64_C(1) << r->opts.cpu);
	/* With little room, the runs that are no sample are still counted. */
	b = batch(r, 200, 6, 0.05);
	check_batch(&b);
	assert_in_range(b.events, 1, 2);
	end(r);
}

/* --- errors --- */

static void refused(const char *event, const char *object, const char *program, const char *words)
{
	struct running *r = prepare(event, object, program);
	struct bb_err err = {0};

	r->spec.target.workload = text("/bin/true");
	open_drive(r);
	if (bb_driver__probe(r->state, &r->prog, &err) != -ENOTSUP || !strstr(err.msg, words))
		fail_msg("%s of %s: %s", event, program, err.msg);
	end(r);
}

static void test_refused(void **state)
{
	(void)state;
	need_two_cpus();
	refused("packets", TEST_RUN, "socket_len", "xdp and sched_cls");
	refused("http", TEST_RUN, "socket_len", "xdp and sched_cls");
	refused("http", PACKETS, "xdp_drops", "does 'xdp_drops' let packets pass?");
	refused("attach", ATTACH, "nowhere",
		"SEC(\"xdp\") of 'nowhere' does not say where to attach it");
	refused("attach", ATTACH, "no_place",
		"attaching 'no_place' by SEC(\"tp/sched/no_such_tracepoint\")");
}

static void not_opened(struct running *r, int code, const char *words)
{
	struct bb_err err = {0};
	int rc = bb_driver__open(&r->spec, &r->opts, &r->state, &err);

	if (rc != code || !strstr(err.msg, words))
		fail_msg("%d, %s instead of %s", rc, err.msg, words);
}

static void test_not_opened(void **state)
{
	static uint8_t bytes[2000];
	struct running *r;

	(void)state;
	need_two_cpus();
	r = prepare("packets", PACKETS, "xdp_sees");
	make_packets(r);
	r->inputs[2] = (struct bb_input){.name = text("longer"), .data = bytes, .len = 1515};
	not_opened(r, -EINVAL,
		   "input 'longer' has 1515 bytes; 'event: packets' sends 1514 at most");
	r->inputs[2] = (struct bb_input){.name = text("context"),
					 .data = bytes,
					 .len = 60,
					 .is_context = true};
	not_opened(r, -EINVAL, "input 'context' is a context");
	r->inputs[2] = (struct bb_input){.name = text("strict"),
					 .data = bytes,
					 .len = 60,
					 .has_retval = true};
	not_opened(r, -EINVAL, "input 'strict' expects a result");
	r->inputs[2] = (struct bb_input){.name = text("marked"),
					 .data = bytes,
					 .len = 60,
					 .ctx = bytes,
					 .ctx_len = 8};
	not_opened(r, -EINVAL, "input 'marked' has a context beside its packet");
	r->spec.inputs.n = 2;
	r->opts.poll_cpu = r->opts.cpu;
	not_opened(r, -ENOTSUP, "needs two CPUs");
	end(r);
}

/* A packet of the largest size arrives, and one of the smallest. */
static void test_longest(void **state)
{
	static uint8_t bytes[1514] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
	struct running *r;
	struct bb_batch b;

	(void)state;
	need_two_cpus();
	r = prepare("packets", PACKETS, "xdp_sees");
	make_packets(r);
	r->inputs[0] =
		(struct bb_input){.name = text("longest"), .data = bytes, .len = sizeof(bytes)};
	r->inputs[1] = (struct bb_input){.name = text("shortest"), .data = bytes, .len = 14};
	begin(r);
	b = batch(r, 1000, 6, 1);
	check_batch(&b);
	end(r);
}

/* --- where the program's section says --- */

static struct running *begin_attach(const char *program)
{
	static char *args[] = {(char *)(uintptr_t) "-c", (char *)(uintptr_t) "while :; do echo; "
									     "done"};
	struct running *r = prepare("attach", ATTACH, program);

	r->spec.target.workload = text("/bin/sh");
	r->spec.target.args = args;
	r->spec.target.n_args = 2;
	begin(r);
	return r;
}

static void test_attach(void **state)
{
	static const char *const programs[] = {"on_tracepoint", "on_raw_tp", "on_uprobe"};

	(void)state;
	need_two_cpus();
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct running *r = begin_attach(programs[i]);
		struct bb_batch b = {0};
		uint64_t runs;

		/* Other processes and timers make the workload switch tasks, too. In an emulated
		 * machine on a busy host, a run may take seconds. */
		for (int k = 0; k < 50 && !b.run_cnt; k++)
			b = batch(r, 0, MAX_SAMPLES, 0.1);
		if (!b.run_cnt || b.n + b.multi != b.run_cnt || b.void_why[0])
			fail_msg("%s: %llu runs, %zu samples, '%s'", programs[i],
				 (unsigned long long)b.run_cnt, b.n, b.void_why);
		assert_true(b.target_cpu_s > 0);
		assert_int_equal(b.events, 0);
		/* The program is attached only while a batch runs. */
		assert_false(has_link(prog_id(r->prog.target)));
		runs = runs_since(r);
		assert_true(runs >= b.run_cnt);
		usleep(50000);
		assert_int_equal(runs_since(r), runs);
		end(r);
	}
}

/* Runs that bpfbench's own polling causes make the batch void, with a message. On a busy machine,
 * the message may be that they cannot be told from the others. */
static void test_our_own_polling(void **state)
{
	struct running *r;
	struct bb_batch b;

	(void)state;
	need_two_cpus();
	r = begin_attach("on_sys_enter");
	b = batch(r, 0, MAX_SAMPLES, 0.02);
	if (strncmp(b.void_why, "bpfbench's own readings make it run", 35))
		fail_msg("'%s'", b.void_why);
	end(r);
}

/* --- cleanup --- */

static size_t open_fds(void)
{
	DIR *fds = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(fds);
	while (readdir(fds))
		n++;
	closedir(fds);
	return n;
}

static void test_nothing_is_left(void **state)
{
	static const char *const events[] = {"packets", "http"};
	size_t fds;

	(void)state;
	need_two_cpus();
	fds = open_fds();
	for (size_t i = 0; i < 2; i++) {
		struct running *r = prepare(events[i], PACKETS, "xdp_sees");
		__u32 id = prog_id(r->prog.target);

		begin(r);
		batch(r, 100, MAX_SAMPLES, 0.02);
		assert_true(has_link(id));
		end(r);
		assert_int_equal(open_fds(), fds);
		assert_false(has_link(id));
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child process is left */
		assert_int_equal(errno, ECHILD);
	}
	/* The same if a drive cannot be opened. */
	for (int i = 0; i < 2; i++) {
		struct running *r = prepare("packets", PACKETS, "xdp_sees");

		r->opts.cpu = i ? 4000 : r->opts.poll_cpu;
		not_opened(r, i ? -EINVAL : -ENOTSUP,
			   i ? "the sender of packets cannot be started" : "two CPUs");
		end(r);
		assert_int_equal(open_fds(), fds);
	}
}

/* --- a workload that takes long to end --- */

struct ending {
	pid_t first; /* the first process of the workload: no event can be opened on it */
	unsigned int refused, begun;
};

static int begin_unless_ending(void *arg, const struct bb_command *workload, struct bb_err *)
{
	struct ending *e = arg;

	e->first = e->first ? e->first : workload->pid;
	if (workload->pid == e->first) {
		e->refused++;
		return -ESRCH;
	}
	e->begun++;
	return 0;
}

/* The batch waits for the end of a process on which no event can be opened any more, and goes on
 * with the next process. */
static void test_workload_ends_slowly(void **state)
{
	static const char *const args[] = {"0.4"};
	struct running *r;
	struct ending e = {0};
	struct bb_workload_loop l = {
		.workload_spec = {.noun = "workload",
				  .program = "/bin/sleep",
				  .args = args,
				  .n_args = 1},
	};
	const struct bb_workload_event event = {.begin = begin_unless_ending, .arg = &e};
	struct bb_batch b = {.want = 1, .max_s = 0.5};
	struct bb_err err = {0};

	(void)state;
	need_two_cpus();
	r = prepare("packets", PACKETS, "xdp_sees");
	b.ns = r->ns;
	l.common.spec = &r->spec;
	assert_int_equal(bb_workload_loop__batch(&(struct bb_drive_slot){.state = &l.common,
									 .prog = &r->prog},
						 &event, &b, &err),
			 0);
	assert_int_equal(e.refused, 1);
	assert_true(e.begun > 0);
	assert_int_equal(b.n, 0);
	bb_workload_loop__close(&l);
	end(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_rate_that_cannot_be_held),
		cmocka_unit_test(test_http),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_not_opened),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_attach),
		cmocka_unit_test(test_our_own_polling),
		cmocka_unit_test(test_workload_ends_slowly),
		cmocka_unit_test(test_nothing_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
