/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The step drive by test run, on real programs of every type that has test runs: every call is one
 * run and every run one sample. The drive checks what a run returns and writes. XDP programs are
 * attached meanwhile, and nothing is left behind.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base/std.h"
#include "bpf/prog_stats.h"
#include "bpf/netns.h"
#include "drivers/driver.h"
#include "run/record.h"
#include "unit/bpf_testing.h"

#define TEST_RUN "tests/bpf/test_run.bpf.o"
#define QUEUE "tests/bpf/queue.bpf.o"
#define MAX_SAMPLES 5000u

/* A drive with one program attached. */
struct running {
	struct bb_stats_enable stats;
	struct bb_test_prog prog;
	struct bb_drive_spec spec;
	struct bb_input inputs[4];
	struct bb_drive_state *state;
	struct bb_drive_slot *slot;
	uint64_t ns[MAX_SAMPLES];
	struct bb_prog_stats before;
};

static const struct bb_driver *driver(void)
{
	return bb_driver_of(bb_drive_kind_find("step", "test-run"));
}

static int first_cpu(void)
{
	cpu_set_t allowed;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET((size_t)cpu, &allowed))
		cpu++;
	return cpu;
}

/* Prepares everything; the program is not attached yet. */
static struct running *prepare(const char *object, const char *program,
			       const struct bb_input *inputs, size_t n)
{
	struct bb_driver_opts opts = {0};
	struct running *r = calloc(1, sizeof(*r));
	struct bb_err err = {0};

	assert_non_null(r);
	opts.cpu = opts.poll_cpu = first_cpu();
	if (n)
		memcpy(r->inputs, inputs, n * sizeof(*inputs));
	r->spec.kind = &driver()->kind;
	r->spec.inputs = (struct bb_inputs){r->inputs, n};
	assert_int_equal(bb_stats_enable__on(&r->stats, &err), 0);
	r->prog.target = open_target(object, program);
	load(r->prog.target);
	assert_int_equal(bb_driver__open(&r->spec, &opts, &r->state, &err), 0);
	return r;
}

static void take_stock(struct running *r)
{
	struct bb_err err = {0};

	if (bb_stats_reader__agreed(&r->prog.target->reader, &r->before, &err))
		fail_msg("%s", err.msg);
}

static struct running *begin(const char *object, const char *program, const struct bb_input *inputs,
			     size_t n)
{
	struct running *r = prepare(object, program, inputs, n);
	struct bb_err err = {0};

	if (bb_driver__probe(r->state, &r->prog, &err) ||
	    bb_driver__attach(r->state, &r->prog, &r->slot, &err))
		fail_msg("%s", err.msg);
	take_stock(r);
	return r;
}

static struct bb_batch batch(struct running *r, uint32_t param, size_t want, size_t warmup)
{
	struct bb_batch b = {.ns = r->ns, .want = want, .warmup = warmup, .drain_each_run = true};
	struct bb_err err = {0};

	if (bb_driver__batch(r->slot, param, &b, &err))
		fail_msg("%s", err.msg);
	return b;
}

static void end(struct running *r)
{
	bb_driver__detach(r->slot);
	bb_driver__close(r->state);
	bb_target__free(r->prog.target);
	bb_stats_enable__off(&r->stats);
	free(r);
}

static uint64_t runs_since(const struct running *r)
{
	struct bb_prog_stats now;
	struct bb_err err = {0};

	if (bb_stats_reader__agreed(&r->prog.target->reader, &now, &err))
		fail_msg("%s", err.msg);
	return now.run_cnt - r->before.run_cnt;
}

/* --- every type --- */

static const struct {
	const char *program;
	bool may_be_missing; /* in a kernel built without it */
} programs[] = {
	{"xdp_pass", false},    {"tc_shot", false},      {"act_unspec", false},
	{"socket_len", false},  {"cgroup_pass", false},  {"lwt_in_ok", true},
	{"lwt_out_ok", true},   {"lwt_xmit_ok", true},   {"flow_ok", false},
	{"lookup_pass", false}, {"raw_tp_third", false},
};

/* Returns how often a program ran, by bpftool. */
static uint64_t bpftool_run_cnt(const char *bpftool, __u32 id)
{
	json_t *root = ask_bpftool(bpftool, "prog", id);
	uint64_t cnt = (uint64_t)json_integer_value(json_object_get(root, "run_cnt"));

	json_decref(root);
	return cnt;
}

static void each_call_is_a_sample(struct running *r, const char *program)
{
	char path[4096];
	const char *bpftool = find_bpftool(path, sizeof(path));
	struct bb_batch b;
	uint64_t ns = 0;

	take_stock(r);
	b = batch(r, 0, 300, 20);
	for (size_t k = 0; k < b.n; k++)
		ns += b.ns[k];
	if (b.n != 300 || b.fired != 300 || b.run_cnt != 300 || b.multi || b.warmup != 20 ||
	    b.retries)
		fail_msg("%s: %zu samples of %llu calls and %llu runs", program, b.n,
			 (unsigned long long)b.fired, (unsigned long long)b.run_cnt);
	assert_string_equal(b.void_why, "");
	assert_int_equal(ns, b.run_time_ns);
	assert_true(isnan(b.target_cpu_s));
	assert_int_equal(runs_since(r), 320);
	if (bpftool)
		assert_int_equal(bpftool_run_cnt(bpftool, prog_id(r->prog.target)),
				 320 + r->before.run_cnt);
}

static void test_every_call_is_a_sample(void **state)
{
	(void)state;
	need_root();
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct running *r = prepare(TEST_RUN, programs[i].program, NULL, 0);
		struct bb_err err = {0};
		int rc = bb_driver__probe(r->state, &r->prog, &err);

		if (rc == -ENOTSUP && programs[i].may_be_missing) {
			print_message("# %s: %s\n", programs[i].program, err.msg);
			end(r);
			continue;
		}
		if (rc || bb_driver__attach(r->state, &r->prog, &r->slot, &err))
			fail_msg("%s: %s", programs[i].program, err.msg);
		each_call_is_a_sample(r, programs[i].program);
		end(r);
	}
}

static void test_every_call_of_a_syscall(void **state)
{
	static const uint8_t terms[12] = {1, 0, 0, 0, 2, 0, 0, 0};
	struct bb_input sum = {.name = (char *)(uintptr_t) "sum",
			       .data = (uint8_t *)(uintptr_t)terms,
			       .len = sizeof(terms),
			       .is_context = true};
	struct running *r;

	(void)state;
	need_prog_type(BPF_PROG_TYPE_SYSCALL);
	r = begin(TEST_RUN, "syscall_sum", &sum, 1);
	each_call_is_a_sample(r, "syscall_sum");
	end(r);
}

/* --- what a run returns --- */

static struct bb_input packet_of(const char *name, uint8_t *bytes, size_t len, uint32_t retval)
{
	return (struct bb_input){.name = (char *)(uintptr_t)name,
				 .data = bytes,
				 .len = len,
				 .has_retval = true,
				 .retval = retval};
}

/* A packet of 15 bytes. xdp_says returns the last one. */
#define PACKET(last)                                                                               \
	{                                                                                          \
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5, (last)                             \
	}

static void test_return_values(void **state)
{
	uint8_t one[15] = PACKET(1), two[15] = PACKET(2);
	const struct bb_input inputs[] = {
		packet_of("one", one, 15, 1),
		packet_of("two", two, 15, 2),
		packet_of("wrong", one, 15, 2),
		packet_of("unnamed", two, 15, 77),
	};
	struct running *r;
	struct bb_series s = {0};
	struct bb_batch b;
	struct bb_err err = {0};

	(void)state;
	need_root();
	r = begin(TEST_RUN, "xdp_says", inputs, 4);
	for (uint32_t i = 0; i < 2; i++)
		assert_string_equal(batch(r, i, 50, 5).void_why, "");
	b = batch(r, 2, 50, 5);
	assert_string_equal(b.void_why, "returned 1 (XDP_DROP), 2 (XDP_PASS) expected");
	assert_int_equal(b.n, 50); /* a wrong return value does not hide samples */
	b = batch(r, 3, 1, 0);
	assert_string_equal(b.void_why, "returned 2 (XDP_PASS), 77 expected");
	/* The reason arrives in the series, and the first reason stays. */
	for (uint32_t i = 0; i < 4; i++) {
		b = (struct bb_batch){.ns = r->ns, .want = 10, .warmup = 1};
		assert_int_equal(bb_record__measure(r->slot, i, &b, &s, &err), 0);
		if (i < 2)
			assert_null(s.void_why);
	}
	assert_string_equal(s.void_why, "returned 1 (XDP_DROP), 2 (XDP_PASS) expected");
	free(s.void_why);
	bb_hist_done(&s.hist);
	end(r);
}

/* Negative values, values of programs that take a context, and no expected value, which is the
 * default. */
static void test_return_values_of_others(void **state)
{
	uint64_t args[12] = {0, 0, 42};
	uint8_t frame[15] = PACKET(0);
	struct bb_input third = packet_of("third", (uint8_t *)args, sizeof(args), 43);
	struct bb_input action = packet_of("action", frame, 15, 0);
	struct running *r;

	(void)state;
	need_root();
	third.is_context = true;
	r = begin(TEST_RUN, "raw_tp_third", &third, 1);
	assert_string_equal(batch(r, 0, 10, 1).void_why, "returned 42, 43 expected");
	end(r);
	r = begin(TEST_RUN, "act_unspec", &action, 1);
	assert_string_equal(batch(r, 0, 10, 1).void_why, "returned -1 (TC_ACT_UNSPEC), 0 "
							 "(TC_ACT_OK) expected");
	end(r);
	action.has_retval = false;
	r = begin(TEST_RUN, "act_unspec", &action, 1);
	assert_string_equal(batch(r, 0, 10, 1).void_why, "");
	end(r);
}

static void test_outputs(void **state)
{
	uint8_t in[15] = PACKET(7), out[15] = PACKET(8), wrong[15] = PACKET(9),
		longer[16] = PACKET(8);
	struct bb_input inputs[] = {
		packet_of("right", in, 15, 3),
		packet_of("wrong", in, 15, 3),
		packet_of("longer", in, 15, 3),
		packet_of("shorter", in, 15, 3),
	};
	struct running *r;

	(void)state;
	need_root();
	inputs[0].out = out, inputs[0].out_len = 15;
	inputs[1].out = wrong, inputs[1].out_len = 15;
	inputs[2].out = longer, inputs[2].out_len = 16;
	/* The output is longer than expected. */
	inputs[3].out = out, inputs[3].out_len = 13;
	r = begin(TEST_RUN, "xdp_writes", inputs, 4);
	/* Twice, because each run must get a fresh packet. */
	for (int i = 0; i < 2; i++)
		assert_string_equal(batch(r, 0, 50, 5).void_why, "");
	assert_string_equal(batch(r, 1, 50, 5).void_why, "byte 14 of the output is 0x08, 0x09 "
							 "expected");
	assert_string_equal(batch(r, 2, 50, 5).void_why, "the output is 15 bytes, 16 expected");
	assert_string_equal(batch(r, 3, 50, 5).void_why, "the output is 15 bytes, 13 expected");
	end(r);
}

/* The output of a syscall program is its context. Each run gets a fresh one. */
static void test_output_of_a_context(void **state)
{
	uint8_t in[12] = {1, 0, 0, 0, 2}, out[12] = {1, 0, 0, 0, 2, 0, 0, 0, 3},
		wrong[12] = {1, 0, 0, 0, 2, 0, 0, 0, 4};
	struct bb_input inputs[] = {packet_of("right", in, 12, 3), packet_of("wrong", in, 12, 3)};
	struct running *r;

	(void)state;
	need_prog_type(BPF_PROG_TYPE_SYSCALL);
	inputs[0].out = out, inputs[0].out_len = 12, inputs[0].is_context = true;
	inputs[1].out = wrong, inputs[1].out_len = 12, inputs[1].is_context = true;
	r = begin(TEST_RUN, "syscall_sum", inputs, 2);
	for (int i = 0; i < 2; i++)
		assert_string_equal(batch(r, 0, 50, 5).void_why, "");
	assert_string_equal(batch(r, 1, 50, 5).void_why, "byte 8 of the output is 0x03, 0x04 "
							 "expected");
	assert_int_equal(in[8], 0);
	end(r);
}

/* --- errors --- */

static void refused(const char *program, const struct bb_input *inputs, size_t n, int code,
		    const char *words)
{
	struct running *r = prepare(TEST_RUN, program, inputs, n);
	struct bb_err err = {0};
	int rc = bb_driver__probe(r->state, &r->prog, &err);

	if (rc != code || !strstr(err.msg, words))
		fail_msg("%s: %d, %s", program, rc, err.msg);
	assert_null(r->slot);
	end(r);
}

static void test_types_without_test_run(void **state)
{
	(void)state;
	need_root();
	refused("perf_event_program", NULL, 0, -ENOTSUP, "'trigger: page-fault' makes them run");
	refused("tracepoint_program", NULL, 0, -ENOTSUP,
		"programs of type tracepoint have no test run");
}

static void test_type_that_is_not_there(void **state)
{
	struct bb_err err = {0};
	struct bb_target *t;

	(void)state;
	need_root();
	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_SYSCALL, NULL) == 1) {
		print_message("# skip: this kernel has programs of type syscall; Linux 5.10 has "
			      "none\n");
		skip();
	}
	t = open_target(TEST_RUN, "syscall_sum");
	assert_int_equal(bb_target__load(t, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, "'syscall_sum' is of type syscall, which this kernel does "
					"not have"));
	bb_target__free(t);
}

static void test_inputs_that_do_not_fit(void **state)
{
	static uint8_t bytes[128];
	struct bb_input shorter = packet_of("shorter", bytes, 13, 0);
	struct bb_input context = packet_of("context", bytes, 64, 0),
			arguments = packet_of("arguments", bytes, 104, 0);
	struct bb_input with_output = packet_of("with_output", bytes, 96, 0);

	(void)state;
	need_root();
	context.is_context = arguments.is_context = with_output.is_context = true;
	with_output.out = bytes;
	refused("tc_shot", &shorter, 1, -EINVAL, "input 'shorter' of 13 bytes");
	/* Before 5.18, an XDP program accepted so short a packet. */
	refused("tc_shot", &shorter, 1, -EINVAL, "14 bytes to about a page");
	refused("xdp_pass", &context, 1, -EINVAL, "input 'context' is a context; a xdp program");
	refused("raw_tp_third", &arguments, 1, -EINVAL, "12 arguments at most");
	refused("raw_tp_third", &shorter, 1, -EINVAL, "input 'shorter' is a packet");
	refused("raw_tp_third", &with_output, 1, -EINVAL, "'with_output' expects an output");
}

static void test_context_of_a_syscall(void **state)
{
	(void)state;
	need_prog_type(BPF_PROG_TYPE_SYSCALL);
	refused("syscall_sum", NULL, 0, -EINVAL, "a context as long as the program reads");
}

/* The largest input, and the error above it, differ from kernel to kernel. */
static void test_input_too_long(void **state)
{
	static uint8_t bytes[70000];
	struct bb_input longer = packet_of("longer", bytes, sizeof(bytes), 0);
	struct bb_err err = {0};
	struct running *r;

	(void)state;
	need_root();
	r = prepare(TEST_RUN, "tc_shot", &longer, 1);
	assert_true(bb_driver__probe(r->state, &r->prog, &err) < 0);
	assert_non_null(strstr(err.msg, "input 'longer'"));
	end(r);
}

/* --- signals, queues --- */

static void on_alarm(int signal_number)
{
	(void)signal_number;
}

/* Returns the time of one signal in µs, rounded up. */
static suseconds_t signal_us(void)
{
	uint64_t began_ns = bb_now_ns();

	for (int i = 0; i < 1000; i++)
		raise(SIGALRM);
	return (suseconds_t)((bb_now_ns() - began_ns) / 1000000) + 1;
}

/* With signals all the time, calls may be interrupted. Still every call that counts is one run. */
static void test_signals(void **state)
{
	struct itimerval often = {{0, 150}, {0, 150}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_alarm}, before;
	struct running *r;
	struct bb_batch b;

	(void)state;
	need_root();
	r = begin(TEST_RUN, "xdp_pass", NULL, 0);
	assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
	/* On a slow machine a handler takes all of 150 us, and there would be no time for anything
	 * else. */
	if (signal_us() * 10 > 150)
		often.it_interval.tv_usec = often.it_value.tv_usec = 10 * signal_us();
	setitimer(ITIMER_REAL, &often, NULL);
	b = batch(r, 0, MAX_SAMPLES, 100);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	assert_int_equal(b.n, MAX_SAMPLES);
	assert_int_equal(b.fired, MAX_SAMPLES);
	assert_int_equal(runs_since(r), b.fired + b.warmup);
	end(r);
}

/* A queue of 16 entries and 500 runs: it is emptied after every run, or when it may be half full,
 * so nothing is dropped. */
static void test_queues_are_emptied(void **state)
{
	uint64_t drops = 1;
	struct running *r;

	(void)state;
	need_root();
	r = begin(QUEUE, "pushes", NULL, 0);
	for (int i = 0; i < 2; i++) {
		struct bb_batch b = {.ns = r->ns, .want = 500, .warmup = 100, .drain_each_run = i};
		struct bb_err err = {0};

		assert_int_equal(bb_driver__batch(r->slot, 0, &b, &err), 0);
		assert_int_equal(b.n, 500);
		assert_int_equal(bb_target__drops(r->prog.target, &drops), 0);
		assert_int_equal(drops, 0);
	}
	end(r);
}

/* --- attached --- */

/* Returns how many network namespaces this process holds by a descriptor. */
static size_t held_namespaces(void)
{
	DIR *fds = opendir("/proc/self/fd");
	const struct dirent *e;
	size_t n = 0;

	assert_non_null(fds);
	while ((e = readdir(fds))) {
		char link[64] = "";

		if (readlinkat(dirfd(fds), e->d_name, link, sizeof(link) - 1) > 0 &&
		    !strncmp(link, "net:", 4))
			n++;
	}
	closedir(fds);
	return n;
}

/* Writes the name of our network namespace and of its devices. */
static void look_around(char *ret_seen, size_t size)
{
	struct if_nameindex *devices = if_nameindex();
	char where[64] = "";
	size_t used;

	assert_non_null(devices);
	assert_true(readlink("/proc/self/ns/net", where, sizeof(where) - 1) > 0);
	used = (size_t)snprintf(ret_seen, size, "%s", where);
	for (size_t i = 0; devices[i].if_index && used < size; i++)
		used += (size_t)snprintf(ret_seen + used, size - used, " %s", devices[i].if_name);
	if_freenameindex(devices);
}

static void test_nothing_is_left(void **state)
{
	char before[4096], now[4096];
	struct running *r;
	__u32 id;

	(void)state;
	need_root();
	look_around(before, sizeof(before));
	assert_int_equal(held_namespaces(), 0);
	r = begin(TEST_RUN, "xdp_pass", NULL, 0);
	id = prog_id(r->prog.target);
	assert_true(has_link(id));
	assert_int_equal(held_namespaces(), 1);
	batch(r, 0, 10, 1);
	look_around(now, sizeof(now));
	/* The drive leaves us in our own namespace, where the devices of the other one are not
	 * seen. */
	assert_string_equal(before, now);
	end(r);
	assert_false(has_link(id));
	assert_int_equal(held_namespaces(), 0);
	look_around(now, sizeof(now));
	assert_string_equal(before, now);
}

/* Returns how many devices of `net` have a program. */
static size_t n_attached(const struct bb_xdp_net *net)
{
	struct if_nameindex *devices;
	struct bb_err err = {0};
	size_t n = 0;
	int home_fd;

	assert_int_equal(bb_netns__enter(net->netns_fd, &home_fd, &err), 0);
	devices = if_nameindex();
	assert_non_null(devices);
	for (size_t i = 0; devices[i].if_index; i++) {
		__u32 id = 0;

		bpf_xdp_query_id((int)devices[i].if_index, 0, &id);
		n += id != 0;
	}
	if_freenameindex(devices);
	assert_int_equal(bb_netns__leave(home_fd, 0, &err), 0);
	return n;
}

/* The dispatcher's binary search is the same length for all programs if their number is a power of
 * two, so empty ones are added. With one_at_a_time, each program replaces the last. */
static void test_as_many_as_a_power_of_two(void **state)
{
	static const size_t attached[] = {1, 2, 4, 4, 8};
	struct bb_target *t[BB_LEN(attached)];
	struct bb_err err = {0};
	size_t port;

	(void)state;
	need_root();
	for (size_t i = 0; i < BB_LEN(attached); i++) {
		t[i] = open_target(TEST_RUN, "xdp_pass");
		load(t[i]);
	}
	for (int one_at_a_time = 0; one_at_a_time < 2; one_at_a_time++) {
		struct bb_xdp_net net;

		if (bb_xdp_net__open(&net, &err))
			fail_msg("%s", err.msg);
		net.one_at_a_time = one_at_a_time;
		for (size_t i = 0; i < BB_LEN(attached); i++) {
			if (bb_xdp_net__attach(&net, t[i]->prog_fd, &port, &err))
				fail_msg("%s", err.msg);
			assert_int_equal(n_attached(&net), one_at_a_time ? 1 : attached[i]);
			assert_true(has_link(prog_id(t[i])));
		}
		bb_xdp_net__detach(&net, port);
		assert_int_equal(n_attached(&net), one_at_a_time ? 0 : 8);
		bb_xdp_net__close(&net);
	}
	for (size_t i = 0; i < BB_LEN(attached); i++)
		bb_target__free(t[i]);
}

/* More programs than one pair of devices has room for. A port is used again after its program is
 * detached; the links show which program is attached. */
static void test_many_ports(void **state)
{
	struct bb_target *t[7];
	struct bb_xdp_net net = {0};
	struct bb_err err = {0};
	size_t port[7];

	(void)state;
	need_root();
	bb_xdp_net__close(&net); /* not open */
	bb_xdp_net__close(NULL);
	if (bb_xdp_net__open(&net, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < 7; i++) {
		t[i] = open_target(TEST_RUN, "xdp_pass");
		load(t[i]);
	}
	for (size_t i = 0; i < 5; i++) {
		if (bb_xdp_net__attach(&net, t[i]->prog_fd, &port[i], &err))
			fail_msg("%s", err.msg);
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(port[k], port[i]);
	}
	for (size_t i = 0; i < 5; i++)
		assert_true(has_link(prog_id(t[i])));
	bb_xdp_net__detach(&net, port[1]);
	bb_xdp_net__detach(&net, port[3]);
	for (size_t i = 5; i < 7; i++) {
		assert_int_equal(bb_xdp_net__attach(&net, t[i]->prog_fd, &port[i], &err), 0);
		assert_true(port[i] == port[1] || port[i] == port[3]);
		assert_true(has_link(prog_id(t[i])));
	}
	assert_false(has_link(prog_id(t[1])));
	assert_false(has_link(prog_id(t[3])));
	bb_xdp_net__close(&net);
	for (size_t i = 0; i < 7; i++) {
		assert_false(has_link(prog_id(t[i])));
		bb_target__free(t[i]);
	}
}

/* The first program is loaded for attach type BPF_XDP, as libbpf does; the second for none, as
 * other loaders do. They can use the same port in turns. */
static void test_port_of_other_attach_type(void **state)
{
	static const enum bpf_attach_type types[] = {BPF_XDP, 0, BPF_XDP};
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct bb_xdp_net net;
	struct bb_err err = {0};
	size_t port = SIZE_MAX;

	(void)state;
	need_root();
	if (bb_xdp_net__open(&net, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < 3; i++) {
		LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = types[i]);
		int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, NULL, "GPL", insns, 2, &opts);
		size_t last = port;

		assert_true(fd >= 0);
		if (bb_xdp_net__attach(&net, fd, &port, &err))
			fail_msg("%s", err.msg);
		assert_true(!i || port == last);
		bb_xdp_net__detach(&net, port);
		close(fd);
	}
	bb_xdp_net__close(&net);
}

/* Attaching a program of another type fails with a message, and leaves us in our own network
 * namespace. */
static void test_attach_error(void **state)
{
	struct bb_target *t;
	struct bb_xdp_net net;
	struct bb_err err = {0};
	char before[64] = "", after[64] = "";
	size_t port;

	(void)state;
	need_root();
	t = open_target(TEST_RUN, "tc_shot");
	load(t);
	assert_true(readlink("/proc/self/ns/net", before, sizeof(before) - 1) > 0);
	if (bb_xdp_net__open(&net, &err))
		fail_msg("%s", err.msg);
	assert_true(bb_xdp_net__attach(&net, t->prog_fd, &port, &err) < 0);
	assert_non_null(strstr(err.msg, "cannot attach the XDP program"));
	assert_true(readlink("/proc/self/ns/net", after, sizeof(after) - 1) > 0);
	assert_string_equal(before, after);
	bb_xdp_net__close(&net);
	bb_target__free(t);
}

/* A user without capabilities cannot make a network namespace and gets a message. */
static void test_no_namespace(void **state)
{
	int status = -1;
	pid_t child;

	(void)state;
	need_root();
	child = fork();
	if (child == 0) {
		struct bb_xdp_net net = {0};
		struct bb_err err = {0};

		if (setgid(65534) || setuid(65534) || bb_xdp_net__open(&net, &err) != -ENOTSUP)
			_exit(1);
		_exit(strstr(err.msg, "CAP_SYS_ADMIN") && !net.ports ? 0 : 2);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static uint64_t median_ns(uint64_t *ns, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t x = ns[i];
		size_t k = i;

		for (; k && ns[k - 1] > x; k--)
			ns[k] = ns[k - 1];
		ns[k] = x;
	}
	return ns[n / 2];
}

/* An attached XDP program runs through its dispatcher. What that saves depends on the CPU's
 * mitigations, so it is printed and not tested. */
static void test_attached_costs_less(void **state)
{
	uint64_t attached_ns, alone_ns, ns[500];
	struct bb_prog_stats last, now;
	struct running *r;
	uint8_t packet[64] = {0};

	(void)state;
	need_root();
	r = begin(TEST_RUN, "xdp_pass", NULL, 0);
	batch(r, 0, 500, 100);
	attached_ns = median_ns(r->ns, 500);
	/* Another load of the program, which is not attached. */
	load(r->prog.target);
	for (size_t i = 0; i < 500; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet,
			    .data_size_in = sizeof(packet), .repeat = 1);

		assert_int_equal(bb_stats_reader__info(&r->prog.target->reader, &last), 0);
		assert_int_equal(bpf_prog_test_run_opts(r->prog.target->prog_fd, &opts), 0);
		assert_int_equal(bb_stats_reader__info(&r->prog.target->reader, &now), 0);
		ns[i] = now.run_time_ns - last.run_time_ns;
	}
	alone_ns = median_ns(ns, 500);
	print_message("# attached %llu ns, unattached %llu ns: %.2f\n",
		      (unsigned long long)attached_ns, (unsigned long long)alone_ns,
		      (double)attached_ns / (double)alone_ns);
	end(r);
}

/* --- names --- */

static void test_find_by_trigger(void **state)
{
	static const struct {
		const char *name;
		const struct bb_driver *driver;
	} events[] = {
		{"cpu-clock", &bb_driver_insitu},       {"task-clock", &bb_driver_insitu},
		{"packets", &bb_driver_insitu_packets}, {"http", &bb_driver_insitu_http},
		{"attach", &bb_driver_insitu_attach},   {"earthquake", NULL},
	};

	(void)state;
	/* page-fault is the default trigger. */
	assert_ptr_equal(bb_drive_kind_find("step", NULL), bb_drive_kind_find("step", "page-"
										      "fault"));
	assert_ptr_equal(bb_drive_kind_find("step", "page-fault"),
			 bb_drive_kind_find("step", "page-fault"));
	assert_ptr_equal(bb_drive_kind_find("step", "test-run"), bb_drive_kind_find("step", "test-"
											    "run"));
	assert_null(bb_drive_kind_find("step", "earthquake"));
	assert_ptr_equal(bb_drive_kind_find("fake", NULL), &bb_driver_fake.kind);
	assert_ptr_equal(bb_drive_kind_find("in-situ", NULL), &bb_driver_insitu.kind);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		assert_ptr_equal(bb_drive_kind_find("in-situ", events[i].name),
				 events[i].driver ? &events[i].driver->kind : NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find_by_trigger),
		cmocka_unit_test(test_every_call_is_a_sample),
		cmocka_unit_test(test_every_call_of_a_syscall),
		cmocka_unit_test(test_return_values),
		cmocka_unit_test(test_return_values_of_others),
		cmocka_unit_test(test_outputs),
		cmocka_unit_test(test_output_of_a_context),
		cmocka_unit_test(test_types_without_test_run),
		cmocka_unit_test(test_type_that_is_not_there),
		cmocka_unit_test(test_inputs_that_do_not_fit),
		cmocka_unit_test(test_context_of_a_syscall),
		cmocka_unit_test(test_input_too_long),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_queues_are_emptied),
		cmocka_unit_test(test_nothing_is_left),
		cmocka_unit_test(test_as_many_as_a_power_of_two),
		cmocka_unit_test(test_many_ports),
		cmocka_unit_test(test_port_of_other_attach_type),
		cmocka_unit_test(test_attach_error),
		cmocka_unit_test(test_no_namespace),
		cmocka_unit_test(test_attached_costs_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
