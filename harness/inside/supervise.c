/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inside/supervise.h"

#include <bpf/bpf.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include "base/io.h"
#include "capture/remote.h"
#include "capture/replay.h"
#include "capture/take.h"

#define FEWEST_INSNS 4u /* a shorter program is a loader's test of the kernel */
#define PACKETS_PER_S 500.0
#define KEPT_LOADS 8u    /* newest loads of a program that the capture always keeps */
#define FORGET_EVERY 64u /* new programs after which the capture forgets old ones */

/* A program that the command is loading. */
struct load {
	const struct bb_capture *capture;
	const struct bb_captured_prog *prog; /* NULL if its code could not be read */
	struct bb_replay_load copy;
	char why[400];
};

static int refuse(struct load *l, const char *why)
{
	snprintf(l->why, sizeof(l->why), "%.390s", why);
	return -ENOTSUP;
}

static int check_load(struct load *l)
{
	const struct bb_captured_prog *p = l->prog;

	if (!p)
		return refuse(l, "its code cannot be read");
	if (p->taken.has_unknown)
		return refuse(l, "it has attributes that bpfbench does not know (signed, or with a "
				 "token)");
	if (p->n_insns < FEWEST_INSNS)
		return refuse(l, "a test of the loader's");
	if (p->n_insns > BB_MOST_INSNS)
		return refuse(l, "it is too long");
	if (p->taken.asks_for_log)
		return refuse(l, "it asks for the verifier's log");
	if (p->flags & BB_TOKEN_FD)
		return refuse(l, "it is loaded by a token");
	if (p->type == BPF_PROG_TYPE_EXT)
		return refuse(l, "it replaces a function of another program");
	if (!bb_rights__are_whole(p->taken.rights))
		return refuse(l, "the command lacks rights that bpfbench has");
	if (p->missing) {
		snprintf(l->why, sizeof(l->why), "bpfbench cannot copy %s", p->missing);
		return -ENOTSUP;
	}
	return 0;
}

static int copy_load(struct load *l)
{
	int rc = check_load(l);

	if (rc)
		return rc;
	struct bb_replay r = bb_replay__open_taken(l->capture);
	rc = bb_replay__begin_load(&r, (size_t)(l->prog - l->capture->progs), &l->copy);
	bb_replay__done(&r);
	return rc;
}

/* Loads the program itself, because the verifier then says how deep its stack is. */
static int ask_verifier(struct load *l, struct bb_inside_program *p)
{
	uint32_t *bytes = bb_calloc(p->cfg.n_funcs, sizeof(*bytes));
	int rc = bb_load__stack_bytes(&p->code, &p->cfg, bytes, NULL);

	if (bytes[0] > p->stack_bytes)
		p->stack_bytes = bytes[0];
	free(bytes);
	return rc ? refuse(l, "the kernel refuses it, too") : 0;
}

/* Loads a clone with the instruments in `first`, or with fewer if the verifier refuses it. The
 * program itself is loaded only if its code does not show how deep its stack is, or if the first
 * clone fails. Returns a descriptor, or -errno with the reason in l->why. */
static int load_clone(struct load *l, struct bb_inside_program *p,
		      const struct bb_inside_instruments *first)
{
	static const unsigned int paths = BB_INSIDE_TIME | BB_INSIDE_PATHS,
				  tried[] = {paths | BB_INSIDE_PACKETS | BB_INSIDE_CHAINS,
					     paths | BB_INSIDE_CHAINS,
					     paths | BB_INSIDE_PACKETS,
					     paths,
					     BB_INSIDE_PATHS,
					     BB_INSIDE_TIME,
					     0};
	bool is_known = bb_inside__depth(&p->code, &p->cfg, &p->stack_bytes);
	int fd;

	if (!is_known && ask_verifier(l, p))
		return -ENOTSUP;
	for (size_t i = 0; i < BB_LEN(tried); i++) {
		struct bb_inside_instruments with = *first;
		struct bb_err err = {0};
		struct bb_rewrite out;

		if (tried[i] & ~first->with)
			continue;
		with.with = tried[i];
		if (!bb_inside_clone__make(&p->code, &p->cfg, p->stack_bytes, &with, &p->clone,
					   &out, &err)) {
			int rc = bb_load__program(&p->code, &out, &fd, &err);

			bb_rewrite__done(&out);
			if (!rc)
				return fd;
			bb_inside_clone__done(&p->clone);
		}
		if (is_known && ask_verifier(l, p))
			return -ENOTSUP;
		is_known = false;
		if (!*p->why)
			snprintf(p->why, sizeof(p->why), "%.390s", err.msg);
	}
	return refuse(l, p->why);
}

static int make_code(struct load *l, struct bb_inside_program *p)
{
	const struct bb_captured_prog *of = l->prog;
	const union bpf_attr *a = &l->copy.attr;
	struct bb_err err = {0};

	p->code = (struct bb_code){
		.type = of->type,
		.expected_attach_type = a->expected_attach_type,
		.flags = a->prog_flags,
		.kern_version = a->kern_version,
		.attach_btf_id = a->attach_btf_id,
		.attach_prog_fd = a->attach_prog_fd,
		.fd_array = (const int *)(uintptr_t)a->fd_array,
		.insns = l->copy.insns,
		.n = of->n_insns,
		.funcs = bb_memdup(of->funcs, of->n_funcs * sizeof(*of->funcs)),
		.n_funcs = of->n_funcs,
		.lines = bb_memdup(of->lines, of->n_lines * sizeof(*of->lines)),
		.n_lines = of->n_lines,
		.btf_fd = a->prog_btf_fd ? (int)a->prog_btf_fd : -1,
	};
	memcpy(p->code.name, of->kernel_name, sizeof(p->code.name) - 1);
	snprintf(p->code.license, sizeof(p->code.license), "%s", of->license);
	l->copy.insns = NULL;
	if (BB_ANY(p->code.funcs, p->code.n_funcs, it->insn_off >= p->code.n))
		return refuse(l, "its function information is wrong");
	if (bb_cfg__make(&p->code, &p->cfg, &err))
		return refuse(l, err.msg);
	for (uint32_t at = 0; at < p->code.n; at += bb_insn_slots(&p->code.insns[at]))
		if ((bb_insn_is_function_call(&p->code.insns[at]) ||
		     bb_insn_is_function_address(&p->code.insns[at])) &&
		    !bb_cfg__callee(&p->cfg, &p->code, at))
			return refuse(l, "it calls its main function");
	return 0;
}

/* Makes the memory of chains for the command's first prog array, if the clones read the clock. */
static void see_map_type(struct bb_inside *in, uint32_t type)
{
	if (type == BPF_MAP_TYPE_PROG_ARRAY && !in->has_chains && in->with & BB_INSIDE_TIME)
		in->has_chains = !bb_inside_chains__open(&in->chains);
}

static void see_new_map(struct bb_inside *in, const struct seccomp_notif *call)
{
	struct bb_remote from;
	uint32_t type;

	if (bb_remote__open((pid_t)call->pid, &from))
		return;
	if (!bb_remote__read(&from, call->data.args[1], &type, sizeof(type)))
		see_map_type(in, type);
	bb_remote__close(&from);
}

static struct bb_inside_instruments choose_instruments(struct bb_inside *in, const struct load *l)
{
	struct bb_inside_instruments with = {.with = in->with,
					     .snap = in->snap,
					     .chains = &in->chains,
					     .number = (uint32_t)in->n_programs + 1};
	uint32_t type = l->prog->type;
	bool has_packets = type == BPF_PROG_TYPE_XDP || type == BPF_PROG_TYPE_SCHED_CLS ||
			   type == BPF_PROG_TYPE_SCHED_ACT || type == BPF_PROG_TYPE_RAW_TRACEPOINT;

	/* the command opens a pinned prog array, but does not create it */
	for (size_t i = 0; i < l->capture->n_maps && !in->has_chains; i++)
		see_map_type(in, l->capture->maps[i].type);
	if (!has_packets)
		with.with &= ~(unsigned int)BB_INSIDE_PACKETS;
	if (in->has_chains && with.number <= BB_INSIDE_CHAINED)
		with.with |= BB_INSIDE_CHAINS;
	return with;
}

/* True if all instructions are equal, except for descriptors. */
static bool is_same_code(const struct bb_code *a, const struct bb_code *b)
{
	/* the first half of a wide instruction, while its second half is compared */
	const struct bpf_insn *before = NULL;

	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		struct bpf_insn x = a->insns[i], y = b->insns[i];
		bool is_wide = bb_insn_is_wide(&x),
		     names_map = is_wide && (x.src_reg == BPF_PSEUDO_MAP_FD ||
					     x.src_reg == BPF_PSEUDO_MAP_VALUE);

		/* our descriptors differ from load to load */
		if (names_map || (before && before->src_reg == BPF_PSEUDO_BTF_ID))
			x.imm = y.imm = 0;
		if (memcmp(&x, &y, sizeof(x)))
			return false;
		before = !before && is_wide ? &a->insns[i] : NULL;
	}
	return true;
}

/* Returns an earlier load of `p`, or NULL. If `is_cloned`, it must have a clone and the same code.
 * Otherwise it must lack a clone for the same reason. */
static struct bb_inside_program *earlier_of(const struct bb_inside *in,
					    const struct bb_inside_program *p, bool is_cloned)
{
	return BB_FIND(in->programs, in->n_programs,
		       is_cloned == (it->id != 0) && it->type == p->type &&
			       it->n_insns == p->n_insns && it->attach_type == p->attach_type &&
			       it->attach_btf_id == p->attach_btf_id &&
			       !strcmp(it->name, p->name) &&
			       (is_cloned ? is_same_code(&it->code, &p->code)
					  : !strcmp(it->why, p->why)));
}

/* Loads a clone of `p` that adds its figures to those of `earlier`. */
static int load_again(struct bb_inside *in, const struct bb_inside_program *p,
		      const struct bb_inside_program *earlier)
{
	const struct bb_inside_instruments with = {
		.with = earlier->clone.with,
		.snap = in->snap,
		.chains = &in->chains,
		.number = (uint32_t)(earlier - in->programs) + 1,
		.earlier = &earlier->clone,
	};
	struct bb_inside_clone clone;
	struct bb_rewrite out;
	int fd, rc = bb_inside_clone__make(&p->code, &p->cfg, earlier->stack_bytes, &with, &clone,
					   &out, NULL);

	if (rc)
		return rc;
	rc = bb_load__program(&p->code, &out, &fd, NULL);
	bb_rewrite__done(&out);
	clone.memory = (struct bb_shared_memory){.fd = -1};
	bb_inside_clone__done(&clone);
	return rc ? rc : fd;
}

/* *ret_earlier receives the program whose memory the clone uses, or NULL if it has its own. */
static int clone_of(struct bb_inside *in, struct load *l, struct bb_inside_program *p,
		    struct bb_inside_program **ret_earlier)
{
	const struct bb_captured_prog *of = l->prog;
	int fd, rc = copy_load(l);

	if (of) {
		snprintf(p->name, sizeof(p->name), "%s", of->kernel_name);
		p->type = of->type;
		p->n_insns = of->n_insns;
		p->attach_type = of->expected_attach_type;
		p->attach_btf_id = of->attach_btf_id;
	}
	if (!rc && of->n_funcs)
		bb_loaded__whole_name(l->capture->btfs[of->btf].held.id, of->funcs->type_id,
				      p->name);
	if (!rc)
		rc = make_code(l, p);
	*ret_earlier = rc ? NULL : earlier_of(in, p, true);
	fd = *ret_earlier ? load_again(in, p, *ret_earlier) : rc;
	if (fd < 0)
		*ret_earlier = NULL;
	if (!rc && !*ret_earlier) {
		struct bb_inside_instruments with = choose_instruments(in, l);

		fd = load_clone(l, p, &with);
	}
	return fd;
}

static void program_done(struct bb_inside_program *p)
{
	bb_inside_packets__done(&p->packets);
	bb_inside_clone__done(&p->clone);
	bb_cfg__done(&p->cfg);
	bb_code__done(&p->code);
	bb_close(&p->btf_fd);
}

/*
 * Answers the call `id` of the command in two steps: adds a copy of `fd` to the command's
 * descriptors, and sends the number of the copy as the result of the call. Returns false if a
 * signal broke the call off. The command then makes the call again, so nothing is recorded. If the
 * call is broken off between the two steps, the command keeps one descriptor too many.
 *
 * SECCOMP_ADDFD_FLAG_SEND would do both steps at once. But if bpfbench were killed while the kernel
 * adds the copy, the call would return 0 (seccomp_notify_addfd()). With two steps, the guard
 * process (capture/watched.h) lets the call go on.
 */
static bool give(int listener_fd, uint64_t id, int fd)
{
	struct seccomp_notif_addfd add = {.id = id,
					  .srcfd = (uint32_t)fd,
					  .newfd_flags = O_CLOEXEC};
	struct seccomp_notif_resp response = {.id = id};

	response.val = ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	return response.val >= 0 && !ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

bool bb_inside__load(void *inside, int listener_fd, const struct seccomp_notif *call)
{
	uint64_t began_ns = bb_now_ns();
	struct bb_inside *in = inside;
	struct bb_inside_program p = {.clone.memory.fd = -1, .btf_fd = -1, .n_loads = 1}, *earlier;
	struct bb_take own = {0}, *take = in->take ? in->take : &own;
	struct load l = {0};
	bool given = false, in_vain = false;

	if (call->data.arch != seccomp_arch_native() || call->data.nr != SYS_bpf)
		return false;
	if ((uint32_t)call->data.args[0] == BPF_MAP_CREATE)
		see_new_map(in, call);
	if ((uint32_t)call->data.args[0] != BPF_PROG_LOAD)
		return false;
	if (!in->take) {
		struct bb_take_mark mark;

		own.capture = bb_calloc(1, sizeof(*own.capture));
		bb_take__call(&own, call, &mark);
	}
	l.capture = take->capture;
	l.prog = take->loading < 0 ? NULL : &take->capture->progs[take->loading];
	if (!l.prog && ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id)) {
		bb_take__free(&own); /* the thread has ended */
		return false;
	}
	int fd = clone_of(in, &l, &p, &earlier);
	if (fd >= 0) {
		struct bpf_prog_info info = {0};

		given = !bb_info__read(fd, &info);
		p.id = info.id;
		p.btf_id = info.btf_id;
		p.btf_fd = info.btf_id ? bpf_btf_get_fd_by_id(info.btf_id) : -1;
		given = given && give(listener_fd, call->id, fd);
		in_vain = !given;
		close(fd);
	} else {
		snprintf(p.why, sizeof(p.why), "%s", *l.why ? l.why : strerror(-fd));
		earlier = earlier_of(in, &p, false);
	}
	/* these are closed or freed below */
	p.code.fd_array = NULL;
	p.code.attach_prog_fd = 0;
	p.code.btf_fd = -1;
	p.taken = in->take ? in->take->loading : BB_CAPTURE_NONE;
	p.began_ns = bb_now_ns();
	if (given && in->take)
		BB_PUSH(in->replaced, in->n_replaced,
			(struct bb_inside_replaced){p.id, p.taken,
						    earlier ? (size_t)(earlier - in->programs)
							    : in->n_programs});
	if (!in_vain && !earlier)
		BB_PUSH(in->programs, in->n_programs, p);
	else
		program_done(&p);
	if (!in_vain && earlier) {
		earlier->n_loads++;
		earlier->taken = p.taken;
	}
	bb_replay_load__done(&l.copy);
	bb_take__free(&own);
	in->n_loads++;
	in->spent_ns += bb_now_ns() - began_ns;
	return given;
}

/* Returns the smallest mask that chooses at most `most` runs per second, if `rate` runs begin per
 * second. A run is chosen if (run number & mask) is 0. */
static uint64_t mask_for(double rate, double most)
{
	uint64_t mask = 0;

	while (rate / (double)(mask + 1) > most)
		mask = 2 * mask + 1;
	return mask;
}

void bb_inside__turn(struct bb_inside *in)
{
	uint64_t now_ns = bb_now_ns();
	double seconds = (double)(now_ns - in->turned_ns) * 1e-9;

	for (size_t i = 0; i < in->n_programs; i++)
		if (in->programs[i].clone.with & BB_INSIDE_PACKETS)
			bb_inside_packets__collect(&in->programs[i].packets,
						   &in->programs[i].clone);
	if (in->turned_ns && seconds < 0.1)
		return;
	for (size_t i = 0; i < in->n_programs; i++) {
		struct bb_inside_program *p = &in->programs[i];
		uint64_t runs = p->id ? bb_inside_clone__begun(&p->clone) : 0;
		double rate = (double)(runs - p->seen_runs) / seconds;

		p->seen_runs = runs;
		if (!p->id || !in->turned_ns)
			continue;
		bb_inside_clone__time_each(&p->clone, mask_for(rate, in->time_at_most),
					   mask_for(rate, PACKETS_PER_S));
	}
	in->turned_ns = now_ns;
}

/* Marks each captured program with a clone in has_clone[]. Marks it in gone[] if the command has
 * loaded it KEPT_LOADS times since and the kernel has removed this clone. Writes the ids of the
 * removed clones to ids[], and returns their number. */
static size_t find_replaced(const struct bb_inside *in, bool *has_clone, bool *gone, uint32_t *ids)
{
	size_t *n_later = bb_calloc(in->n_programs, sizeof(*n_later)), n = 0;

	for (size_t i = in->n_replaced; i-- > 0;) {
		const struct bb_inside_replaced *r = &in->replaced[i];

		if (r->taken < 0)
			continue;
		has_clone[r->taken] = true;
		if (n_later[r->program]++ < KEPT_LOADS || bb_loaded__is_there(r->id))
			continue;
		gone[r->taken] = true;
		ids[n++] = r->id;
	}
	free(n_later);
	return n;
}

/* Marks loaders' tests of the kernel in gone[], if an equal one was loaded KEPT_LOADS times since.
 * Keeps other programs without a clone: their ids are unknown, so they may still be loaded. */
static void find_others(const struct bb_capture *c, const bool *has_clone, bool *gone)
{
	for (size_t i = 0; i < c->n_progs; i++) {
		const struct bb_captured_prog *p = &c->progs[i];
		size_t n_later = 0;

		if (has_clone[i] || p->n_insns >= FEWEST_INSNS)
			continue;
		for (size_t k = i + 1; k < c->n_progs; k++)
			n_later += !has_clone[k] && p->type == c->progs[k].type &&
				   p->n_insns == c->progs[k].n_insns &&
				   !strcmp(p->kernel_name, c->progs[k].kernel_name);
		gone[i] |= n_later >= KEPT_LOADS;
	}
}

void bb_inside__forget(struct bb_inside *in)
{
	struct bb_take *t = in->take;
	size_t n = t->capture->n_progs, n_ids;
	bool *gone, *has_clone;
	int32_t *now, next = 0;

	if (n < in->n_kept + FORGET_EVERY)
		return;
	gone = bb_calloc(2 * n, sizeof(*gone));
	has_clone = gone + n;
	uint32_t *ids = bb_calloc(in->n_replaced, sizeof(*ids));
	now = bb_calloc(n, sizeof(*now));
	n_ids = find_replaced(in, has_clone, gone, ids);
	find_others(t->capture, has_clone, gone);
	/* the programs that stay get new indexes */
	for (size_t i = 0; i < n; i++)
		now[i] = gone[i] ? BB_CAPTURE_NONE : next++;
	BB_KEEP(in->replaced, in->n_replaced, it->taken < 0 || !gone[it->taken]);
	for (size_t i = 0; i < in->n_replaced; i++)
		if (in->replaced[i].taken >= 0)
			in->replaced[i].taken = now[in->replaced[i].taken];
	for (size_t i = 0; i < in->n_programs; i++) {
		int32_t *taken = &in->programs[i].taken;

		/* an index is too large if the capture has dropped its last, unfinished load */
		if (*taken >= 0)
			*taken = (size_t)*taken < n ? now[*taken] : BB_CAPTURE_NONE;
	}
	bb_take__forget(t, gone, ids, n_ids);
	in->n_kept = t->capture->n_progs;
	free(now);
	free(gone);
	free(ids);
}

void bb_inside__done(struct bb_inside *in)
{
	for (size_t i = 0; i < in->n_programs; i++)
		program_done(&in->programs[i]);
	if (in->has_chains)
		bb_inside_clone__done(&in->chains);
	free(in->programs);
	free(in->replaced);
	*in = (struct bb_inside){0};
}

/* An empty program runs in `calls` test calls of `repeat` runs each. The fastest call counts. */
struct price_runs {
	int repeat, calls;
};

static const struct price_runs in_a_row = {20000, 5}, one_by_one = {1, 2000};

/* Returns the time of a run in the fastest test call, ns; -1 if the program cannot be run. */
static double run_empty(int fd, struct price_runs runs)
{
	char frame[64] = {0};
	double least = -1;

	for (int i = 0; i < runs.calls; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame,
			    .data_size_in = sizeof(frame), .repeat = runs.repeat);
		if (bpf_prog_test_run_opts(fd, &opts))
			return -1;
		if (least < 0 || opts.duration < least)
			least = opts.duration;
	}
	return least;
}

static double price_of(const struct bb_code *code, const struct bb_cfg *g, unsigned int with,
		       uint64_t mask, struct price_runs runs, double *ret_clock_ns)
{
	const struct bb_inside_instruments instruments = {.with = with};
	struct bb_inside_clone clone;
	struct bb_rewrite out;
	double ns = -1;
	int fd;

	if (bb_inside_clone__make(code, g, 0, &instruments, &clone, &out, NULL))
		return -1;
	if (!bb_load__program(code, &out, &fd, NULL)) {
		bb_inside_clone__time_each(&clone, mask, 0);
		ns = run_empty(fd, runs);
		close(fd);
	}
	bb_rewrite__done(&out);
	struct bb_inside_figures figures = bb_inside_figures__read(&clone);
	*ret_clock_ns = bb_inside_path__median(&figures.all);
	bb_inside_figures__done(&figures);
	bb_inside_clone__done(&clone);
	return ns;
}

int bb_inside_price__measure(struct bb_inside_price *ret_price, struct bb_err *err)
{
	struct bpf_insn insns[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 2},
				   {.code = BPF_JMP | BPF_EXIT}};
	struct bb_code code = {.name = "empty",
			       .insns = insns,
			       .n = 2,
			       .type = BPF_PROG_TYPE_SCHED_CLS,
			       .license = "GPL",
			       .btf_fd = -1};
	const unsigned int all = BB_INSIDE_TIME | BB_INSIDE_PATHS;
	struct bb_inside_price price = {0};
	struct bb_cfg g = {0};
	struct bb_err why = {0};
	int fd = -1, load_rc, rc = bb_cfg__make(&code, &g, err);
	double empty_ns, *ns = &price.clock_ns;

	if (rc)
		return rc;
	load_rc = bb_load__program(&code, NULL, &fd, &why);
	empty_ns = fd < 0 ? -1 : run_empty(fd, in_a_row);
	bb_close(&fd);
	/* a difference below 0, from disturbances of the empty program, becomes 0 */
	price.timed_ns = fmax(0, price_of(&code, &g, all, 0, in_a_row, ns) - empty_ns);
	price.untimed_ns = fmax(0, price_of(&code, &g, all, INT64_MAX, in_a_row, ns) - empty_ns);
	price.counted_ns = fmax(0,
				price_of(&code, &g, BB_INSIDE_PATHS, 0, in_a_row, ns) - empty_ns);
	/* Measure clock_ns with single runs, because most programs run between other work, where
	 * reading the clock takes longer. This comes last, because each price_of() overwrites
	 * clock_ns. */
	price_of(&code, &g, all, 0, one_by_one, ns);
	if (load_rc || isnan(price.clock_ns))
		rc = bb_fail(err, load_rc ? load_rc : -ENOTSUP,
			     "the price of the clock readings cannot be measured: %s; run as root, "
			     "with sudo",
			     load_rc ? why.msg : "an empty clone was refused");
	*ret_price = price;
	bb_cfg__done(&g);
	return rc;
}
