/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/take.h"

#include <seccomp.h>

#include "base/io.h"
#include "capture/replay.h"

#define MAX_INPUTS 64          /* limit: test runs in a capture */
#define MAX_EVENTS 4096        /* limit: perf events that are remembered */
#define MAX_INPUT_BYTES 262144 /* limit: bytes of a test run's packet, and of its context */

static void miss(struct bb_captured_prog *p, const char *what)
{
	if (!p->missing)
		p->missing = bb_strdup(what);
}

static int32_t map_of(struct bb_take_call *call, int fd)
{
	int32_t map;

	for (size_t i = 0; i < call->n_known; i++)
		if (call->known[i].fd == fd)
			return call->known[i].map;
	int copy = bb_remote__fd(&call->from, fd);
	map = copy < 0 ? copy : bb_take__map(call->t, copy);
	if (map >= 0 && call->n_known < BB_TAKE_KNOWN) {
		call->known[call->n_known].fd = fd;
		call->known[call->n_known++].map = map;
	}
	return map;
}

static int32_t btf_of(struct bb_take_call *call, int fd)
{
	int copy = bb_remote__fd(&call->from, fd);

	return copy < 0 ? copy : bb_take__btf(call->t, copy);
}

/* Replaces the command's descriptors in the instructions by indexes. */
static void take_insns(struct bb_take_call *call, struct bb_captured_prog *p)
{
	uint32_t at = 0;
	int32_t *name;
	bool is_btf;

	while ((name = bb_insns__next_name(p->insns, p->n_insns, &at, &is_btf))) {
		int32_t index = (is_btf ? btf_of : map_of)(call, *name);

		*name = index < 0 ? 0 : index + is_btf;
		if (index < 0)
			miss(p, is_btf ? "a module's types" : "a map that its instructions name");
	}
}

static void take_fd_array(struct bb_take_call *call, struct bb_captured_prog *p)
{
	int top = bb_insns__highest_fd(p->insns, p->n_insns);
	int32_t *fds;

	if (top < 0 || !call->attr.fd_array)
		return;
	if ((uint32_t)top >= BB_CAPTURE_MAX_ITEMS ||
	    bb_remote__copy(&call->from, call->attr.fd_array, (size_t)top + 1, sizeof(*fds),
			    sizeof(*fds), &fds)) {
		miss(p, "its fd_array");
		return;
	}
	p->fds = bb_calloc((size_t)top + 1, sizeof(*p->fds));
	for (int i = 0; i <= top; i++) {
		int32_t map = fds[i] > 0 ? map_of(call, fds[i]) : -1;
		int32_t btf = fds[i] > 0 && map < 0 ? btf_of(call, fds[i]) : -1;

		p->fds[i] = (struct bb_captured_ref){map < 0 ? BB_CAPTURE_NONE : map,
						     btf < 0 ? BB_CAPTURE_NONE : btf};
		p->n_fds = (size_t)i + 1;
	}
	free(fds);
}

/* The union of attach_prog_fd and attach_btf_obj_fd holds the descriptor of a program, or of the
 * BTF of a module. */
static void take_attach_point(struct bb_take_call *call, struct bb_captured_prog *p)
{
	p->attach_btf_id = call->attr.attach_btf_id;
	if (!call->attr.attach_prog_fd)
		return;
	int fd = bb_remote__fd(&call->from, (int)call->attr.attach_prog_fd);
	const struct bb_seen_prog *target = fd >= 0 && bb_fd_is_program(fd)
						    ? bb_take__seen(call->t, fd)
						    : NULL;
	if (target) {
		p->taken.target_fd = fd;
		p->taken.target_id = target->id;
		return;
	}
	p->attach_btf = fd < 0 ? fd : bb_take__btf(call->t, fd);
	if (p->attach_btf < 0)
		miss(p, "the program or module that it is attached to");
}

static void take_types(struct bb_take_call *call, struct bb_captured_prog *p)
{
	const union bpf_attr *a = &call->attr;

	if (!a->prog_btf_fd)
		return;
	p->btf = btf_of(call, (int)a->prog_btf_fd);
	if (p->btf < 0) {
		p->btf = BB_CAPTURE_NONE;
		miss(p, "its type information");
		return;
	}
	if (a->func_info_cnt > p->n_insns || a->line_info_cnt > p->n_insns ||
	    bb_remote__copy(&call->from, a->func_info, a->func_info_cnt, a->func_info_rec_size,
			    sizeof(*p->funcs), &p->funcs)) {
		miss(p, "its function information");
		return;
	}
	p->n_funcs = p->funcs ? a->func_info_cnt : 0;
	if (bb_remote__copy(&call->from, a->line_info, a->line_info_cnt, a->line_info_rec_size,
			    sizeof(*p->lines), &p->lines)) {
		miss(p, "its line information");
		return;
	}
	p->n_lines = p->lines ? a->line_info_cnt : 0;
}

/* Returns the rights (capture/remote.h) of the calling thread, and limits t->rights to them. A call
 * with a BPF token counts as one with all rights. */
static uint64_t note_rights(struct bb_take_call *call, uint32_t flags)
{
	uint64_t rights = flags & BB_TOKEN_FD ? UINT64_MAX : bb_rights__of(call->from.tid);

	call->t->rights &= rights;
	return rights;
}

/* True if bytes behind core_relo_rec_size are set, because we do not know what they mean. */
static bool has_unknown(const struct bb_take_call *call)
{
	size_t known = offsetof(union bpf_attr, core_relo_rec_size) + sizeof(uint32_t);

	return call->attr_size > sizeof(call->attr_bytes) ||
	       BB_ANY(call->attr_bytes + known, sizeof(call->attr_bytes) - known, *it);
}

static void take_load(struct bb_take_call *call)
{
	const union bpf_attr *a = &call->attr;
	struct bb_take *t = call->t;
	struct bpf_insn *insns;

	/* ignore a load that the kernel will refuse, or that exceeds the limits of a capture */
	if (!a->insn_cnt || a->insn_cnt > BB_CAPTURE_MAX_INSNS ||
	    t->capture->n_progs >= BB_CAPTURE_MAX_ITEMS ||
	    bb_remote__copy(&call->from, a->insns, a->insn_cnt, sizeof(struct bpf_insn),
			    sizeof(struct bpf_insn), &insns) ||
	    !insns)
		return;
	if (bb_insns__are_cut_off(insns, a->insn_cnt)) {
		free(insns);
		return;
	}
	struct bb_captured_prog *p = BB_ADD(bb_captured_prog_record, t->capture, progs);
	p->taken = (struct bb_taken_load){.target_fd = -1,
					  .rights = note_rights(call, a->prog_flags),
					  .asks_for_log = a->log_level || a->log_buf,
					  .has_unknown = has_unknown(call)};
	t->loading = (int32_t)t->capture->n_progs - 1;
	p->insns = insns;
	p->n_insns = a->insn_cnt;
	p->type = a->prog_type;
	p->expected_attach_type = a->expected_attach_type;
	p->flags = a->prog_flags;
	p->kern_version = a->kern_version;
	memcpy(p->kernel_name, a->prog_name, sizeof(p->kernel_name) - 1);
	if (a->prog_name[sizeof(a->prog_name) - 1])
		miss(p, "its name, which does not end");
	if (bb_remote__read_text(&call->from, a->license, p->license, sizeof(p->license)))
		miss(p, "its licence");
	take_insns(call, p);
	take_fd_array(call, p);
	take_types(call, p);
	take_attach_point(call, p);
	if (a->prog_ifindex)
		miss(p, "the network device that it is bound to");
	if (a->core_relo_cnt)
		miss(p, "the kernel's own relocation of it (core_relos)");
}

static void take_map_of_maps(struct bb_take_call *call)
{
	const union bpf_attr *a = &call->attr;

	if (a->map_type != BPF_MAP_TYPE_ARRAY_OF_MAPS && a->map_type != BPF_MAP_TYPE_HASH_OF_MAPS)
		return;
	int32_t inner = map_of(call, (int)a->inner_map_fd);
	if (inner < 0)
		return;
	struct bb_template made = {.type = a->map_type,
				   .key_size = a->key_size,
				   .value_size = a->value_size,
				   .max_entries = a->max_entries};
	memcpy(made.kernel_name, a->map_name, sizeof(made.kernel_name) - 1);
	for (size_t i = 0; i < call->t->n_templates; i++) {
		made.inner = call->t->templates[i].inner;
		/* Maps of maps with equal names, types and sizes cannot be told apart later, so the
		 * newer one replaces the older one. */
		if (!memcmp(&call->t->templates[i], &made, sizeof(made))) {
			call->t->templates[i].inner = inner;
			return;
		}
	}
	made.inner = inner;
	BB_PUSH(call->t->templates, call->t->n_templates, made);
}

static void take_event(struct bb_take_call *call, uint64_t attr_at)
{
	struct bb_take *t = call->t;
	struct bb_opened_event e = {.tgid = bb_remote__process(&call->from)};

	/* read only the members that the command's struct and ours have */
	if (bb_remote__read(&call->from, attr_at, &e.attr, PERF_ATTR_SIZE_VER0) ||
	    (e.attr.size > PERF_ATTR_SIZE_VER0 &&
	     bb_remote__read(&call->from, attr_at, &e.attr,
			     e.attr.size < sizeof(e.attr) ? e.attr.size : sizeof(e.attr))))
		return;
	/* programs write to an event of this type, and are not attached to it */
	if (e.attr.type == PERF_TYPE_SOFTWARE && e.attr.config == PERF_COUNT_SW_BPF_OUTPUT)
		return;
	/* for a kprobe or uprobe, config1 points to the name of the function or file */
	if (e.attr.type >= PERF_TYPE_MAX)
		bb_remote__read_text(&call->from, e.attr.config1, e.name, sizeof(e.name));
	/* drop the older half, because a process attaches programs to its newest events */
	if (t->n_events == MAX_EVENTS) {
		t->n_events /= 2;
		memmove(t->events, t->events + t->n_events, t->n_events * sizeof(e));
	}
	BB_PUSH(t->events, t->n_events, e);
}

static void take_test_run(struct bb_take_call *call)
{
	const union bpf_attr *a = &call->attr;
	struct bb_take *t = call->t;
	int copy = bb_remote__fd(&call->from, (int)a->test.prog_fd);
	const struct bb_seen_prog *seen = copy < 0 ? NULL : bb_take__seen(t, copy);
	char *data = NULL, *ctx = NULL;

	bb_close(&copy);
	if (!seen || t->capture->n_inputs >= MAX_INPUTS || a->test.data_size_in > MAX_INPUT_BYTES ||
	    a->test.ctx_size_in > MAX_INPUT_BYTES ||
	    bb_remote__copy(&call->from, a->test.data_in, a->test.data_size_in, 1, 1, &data) ||
	    bb_remote__copy(&call->from, a->test.ctx_in, a->test.ctx_size_in, 1, 1, &ctx)) {
		free(data);
		return;
	}
	BB_PUSH(t->capture->inputs, t->capture->n_inputs,
		(struct bb_captured_input){
			.prog = BB_CAPTURE_NONE,
			.data = {data, data ? a->test.data_size_in : 0},
			.ctx = {ctx, ctx ? a->test.ctx_size_in : 0},
			.share = NAN,
			.repeat = a->test.repeat,
			.prog_id = seen->id,
		});
}

static void take_bpf(struct bb_take_call *call, const struct seccomp_data *data)
{
	size_t size = (uint32_t)data->args[2];

	call->attr_size = (uint32_t)size;
	size = size < sizeof(call->attr_bytes) ? size : sizeof(call->attr_bytes);
	if (bb_remote__read(&call->from, data->args[1], call->attr_bytes, size))
		return;
	switch ((uint32_t)data->args[0]) {
	case BPF_PROG_LOAD: take_load(call); break;
	case BPF_MAP_CREATE:
		note_rights(call, call->attr.map_flags);
		take_map_of_maps(call);
		break;
	case BPF_LINK_CREATE: bb_take_attach__link(call); break;
	case BPF_RAW_TRACEPOINT_OPEN: bb_take_attach__raw_tracepoint(call); break;
	case BPF_PROG_ATTACH: bb_take_attach__prog_attach(call); break;
	case BPF_PROG_TEST_RUN: take_test_run(call); break;
	default: break;
	}
}

void bb_take__call(struct bb_take *t, const struct seccomp_notif *n, struct bb_take_mark *ret_mark)
{
	uint64_t began_ns = bb_now_ns();
	struct bb_take_call call = {.t = t};
	/* a 32-bit process uses other numbers for calls, with the same arguments and structs */
	char *name = seccomp_syscall_resolve_num_arch(n->data.arch, n->data.nr);
	int nr = name ? seccomp_syscall_resolve_name(name) : n->data.nr, rc;

	free(name);
	t->loading = BB_CAPTURE_NONE;
	*ret_mark = (struct bb_take_mark){t->capture->n_progs, t->capture->n_attachments,
					  t->capture->n_inputs, t->n_templates, t->n_events};
	bb_take__settle(t, BB_SETTLE_CALL, (pid_t)n->pid);
	rc = bb_remote__open((pid_t)n->pid, &call.from);
	if (rc == -EPERM || rc == -ENOSYS)
		t->unreadable = rc;
	if (rc) /* the thread has ended, or we may not open it */
		return;
	if (!t->unreadable)
		t->unreadable = bb_remote__try(&call.from);
	if (nr == SYS_perf_event_open)
		take_event(&call, n->data.args[0]);
	else if (nr == SYS_ioctl) /* of all ioctls, only PERF_EVENT_IOC_SET_BPF is watched */
		bb_take_attach__event(&call, (int)n->data.args[0], (int)n->data.args[2]);
	else if (nr == SYS_setsockopt)
		bb_take_attach__socket(&call, n->data.args[2], n->data.args[3]);
	else if (nr == SYS_seccomp)
		t->supervises = true;
	else if (nr == SYS_bpf)
		take_bpf(&call, &n->data);
	bb_remote__close(&call.from);
	t->n_calls++;
	t->spent_ns += bb_now_ns() - began_ns;
}

void bb_take__undo(struct bb_take *t, const struct bb_take_mark *mark)
{
	struct bb_capture *c = t->capture;

	while (c->n_progs > mark->n_progs) {
		bb_close(&c->progs[--c->n_progs].taken.target_fd);
		bb_record__done(&bb_captured_prog_record, &c->progs[c->n_progs]);
	}
	while (c->n_attachments > mark->n_attachments)
		bb_taken_attachment__done(&c->attachments[--c->n_attachments].taken);
	while (c->n_inputs > mark->n_inputs)
		bb_record__done(&bb_captured_input_record, &c->inputs[--c->n_inputs]);
	t->n_templates = mark->n_templates;
	t->n_events = mark->n_events;
}
