/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Begins and ends a capture. At the end, finds out which programs the kernel accepts and where each
 * is attached. Also finds a loader's tests of the kernel: small programs that a loader such as
 * libbpf loads only to see what the kernel supports. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/utsname.h>

#include "base/bpf_info.h"
#include "base/deadline.h"
#include "base/io.h"
#include "base/kernel_fs.h"
#include "base/text.h"
#include "capture/replay.h"
#include "capture/take.h"

/* a program with more instructions than this is not a loader's test of the kernel */
#define PROBE_INSNS 8
#define LOG_BYTES (1u << 20)

/* True for the loader program of a light skeleton (bpftool gen skeleton -L), which runs in the
 * kernel and loads the skeleton's other programs. */
static bool is_light_loader(const struct bb_captured_prog *p)
{
	/* libbpf (skel_internal.h) gives the loader program this type and this name */
	return p->type == BPF_PROG_TYPE_SYSCALL && !strcmp(p->kernel_name, "__loader.prog");
}

static void say_refused(struct bb_replay *r, struct bb_captured_prog *p, size_t prog, int rc)
{
	char *log = bb_calloc(1, LOG_BYTES), words[300] = "";

	bb_replay__load_one(r, prog, 1, log, LOG_BYTES);
	/* the last line that is not a statistic mostly says why the verifier refused the program */
	for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
		if (strncmp(line, "processed ", strlen("processed ")) &&
		    strncmp(line, "verification time", strlen("verification time")) &&
		    strncmp(line, "stack depth", strlen("stack depth")) && *line)
			snprintf(words, sizeof(words), "%s", line);
	free(log);
	p->refused = bb_asprintf("%s%s%s", strerror(-rc), *words ? ": " : "", words);
}

/* Tests whether the program can be loaded with `rights`, the capabilities of the command. Returns 0
 * or -errno. */
static int try_with(struct bb_replay *r, size_t prog, uint64_t rights)
{
	struct bb_rights_before before;

	if (bb_rights__are_whole(rights))
		return 0;
	int rc = bb_rights__limit(rights, &before);
	if (!rc) {
		rc = bb_replay__load_one(r, prog, 0, NULL, 0);
		bb_rights__restore(&before);
	}
	bb_close(&r->progs[prog]);
	return rc;
}

static int load_copy(struct bb_take *t, struct bb_replay *r, size_t prog)
{
	struct bb_captured_prog *p = &t->capture->progs[prog];
	struct bb_taken_load *load = &p->taken;
	struct bpf_prog_info info = {0};
	char lacking[128];

	if (p->missing)
		return 0;
	load->lacks_rights = try_with(r, prog, load->rights);
	int rc = load->lacks_rights == -ENOMEM ? -ENOMEM : bb_replay__load_one(r, prog, 0, NULL, 0);
	if (rc == -ENOMEM)
		return rc;
	if (rc && rc != -EPERM)
		load->lacks_rights = 0;
	if (load->lacks_rights) {
		bb_rights__say_lacking(load->rights, lacking, sizeof(lacking));
		p->refused = bb_asprintf("%s to the command, which is without %s",
					 strerror(-load->lacks_rights), lacking);
		return 0;
	}
	if (rc) {
		say_refused(r, p, prog, rc);
		return 0;
	}
	if (bb_info__read(r->progs[prog], &info))
		return -errno;
	memcpy(p->tag, info.tag, sizeof(p->tag));
	p->xlated_bytes = info.xlated_prog_len;
	p->jited_bytes = info.jited_prog_len;
	return 0;
}

static int load_copies(struct bb_take *t, struct bb_err *err)
{
	struct bb_replay r = bb_replay__open_taken(t->capture);
	int rc = 0;

	for (size_t i = 0; !rc && i < t->capture->n_progs; i++)
		rc = bb_must_end() ? bb_must_end_why() : load_copy(t, &r, i);
	bb_replay__done(&r);
	return rc ? bb_fail(err, rc, "loading copies of the command's programs: %m") : 0;
}

static bool is_bad(const struct bb_captured_prog *p)
{
	return p->refused && !p->probe && !p->taken.lacks_rights;
}

static int say_rights(const struct bb_take *t, int error, const char *how_ended, struct bb_err *err)
{
	char lacking[128];
	bool are_ours = !bb_rights__are_whole(bb_rights__of(0));

	bb_rights__say_lacking(t->rights, lacking, sizeof(lacking));
	return bb_fail(err, -ENOTSUP,
		       "'%s'%s is not allowed to load BPF programs: it asked the kernel without "
		       "%s, and was told '%s'; %s",
		       t->capture->command, how_ended, lacking, strerror(error),
		       are_ours ? "run bpfbench as root, with sudo"
				: "bpfbench ran it as root, so the command gave these rights up "
				  "itself (by setpriv, su, a container or the user of a service): "
				  "capture it without that, or let it keep CAP_SYS_ADMIN");
}

int bb_take__say_nothing(const struct bb_take *t, const char *how_ended, struct bb_err *err)
{
	const struct bb_capture *c = t->capture;
	const struct bb_captured_prog *bad = BB_FIND(c->progs, c->n_progs, is_bad(it)),
				      *without_rights = BB_FIND(c->progs, c->n_progs,
								it->taken.lacks_rights);
	/* loads with one name count as one program: loaders repeat a refused load to get the log */
	bool others = bad && BB_ANY(c->progs, c->n_progs,
				    is_bad(it) && strcmp(it->kernel_name, bad->kernel_name));

	if (t->unreadable)
		return bb_fail(err, -ENOTSUP,
			       "'%s'%s ran, and its descriptors and memory could not be copied "
			       "(pidfd_getfd, process_vm_readv: %s), so its BPF programs are not "
			       "known; Yama (kernel.yama.ptrace_scope=3) or the seccomp filter of "
			       "a container or service refuses that: allow both calls, and "
			       "CAP_SYS_PTRACE",
			       c->command, how_ended, strerror(-t->unreadable));
	if (bad)
		return bb_fail(err, -ENOTSUP,
			       "'%s'%s loaded no program that the kernel takes; '%s'%s is refused: "
			       "%s; mend it, or capture the command on a kernel that takes it",
			       c->command, how_ended, bad->name, others ? ", as the others," : "",
			       bad->refused);
	if (without_rights)
		return say_rights(t, -without_rights->taken.lacks_rights, how_ended, err);
	if (BB_ANY(c->progs, c->n_progs, is_light_loader(it)))
		return bb_fail(err, -ENOTSUP,
			       "'%s'%s loads its programs by a light skeleton (bpftool gen "
			       "skeleton -L), inside the kernel, where they cannot be "
			       "copied: capture a build with an ordinary skeleton, or "
			       "measure the running ones in place, by --prog-name",
			       c->command, how_ended);
	if (c->n_progs)
		return bb_fail(err, -ENOTSUP,
			       "'%s'%s loaded its loader's tests of the kernel (%zu), and no "
			       "program: give it the arguments with which it loads programs, or "
			       "more time by --for",
			       c->command, how_ended, c->n_progs);
	if (!bb_rights__are_whole(t->rights))
		return say_rights(t, EPERM, how_ended, err);
	return bb_fail(err, -ENOTSUP,
		       "'%s'%s loaded no BPF program%s; one that a daemon loads for it is not seen",
		       c->command, how_ended, how_ended[0] ? ": its own messages may say why" : "");
}

struct bb_take bb_take__begin(const char *const *argv)
{
	struct bb_take t = {.capture = bb_calloc(1, sizeof(*t.capture)), .rights = UINT64_MAX};
	struct utsname kernel;
	__u32 id = 0;

	if (uname(&kernel))
		kernel = (struct utsname){0};
	for (size_t i = 0; argv[i]; i++)
		bb_add_words(&t.capture->command, " ", "%s", argv[i]);
	t.capture->kernel.release = bb_strdup(kernel.release);
	t.capture->kernel.version = bb_strdup(kernel.version);
	t.capture->kernel.machine = bb_strdup(kernel.machine);
	t.capture->n_cpus = (uint32_t)libbpf_num_possible_cpus();
	while (!bpf_prog_get_next_id(id, &id))
		t.first_prog_id = id + 1;
	while (!bpf_link_get_next_id(t.last_link_id, &t.last_link_id))
		;
	return t;
}

int bb_take__ask_kernel(struct bb_take *t, pid_t command, size_t max_bytes, struct bb_err *err)
{
	__u32 id = t->first_prog_id ? t->first_prog_id - 1 : 0;

	bb_take__settle(t, BB_SETTLE_END, 0);
	/* "sched_switch" or "id 372" becomes "sched/sched_switch", which takes milliseconds */
	for (size_t i = 0; i < t->capture->n_attachments; i++) {
		struct bb_captured_attachment *a = &t->capture->attachments[i];

		if (!strcmp(a->kind, "tracepoint"))
			bb_tracepoint__find(a->where, a->where, sizeof(a->where));
	}
	while (!bpf_prog_get_next_id(id, &id)) {
		int fd = bpf_prog_get_fd_by_id(id);
		struct bb_seen_prog *seen = fd < 0 ? NULL : bb_take__seen(t, fd);

		if (seen)
			seen->stayed = true;
		bb_close(&fd);
	}
	int rc = bb_take__devices(t, command);
	if (rc)
		return bb_fail(err, rc, "asking for programs on network devices: %m");
	return bb_take__entries(t, max_bytes, err);
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = ((const struct bb_seen_prog *)a)->id, y = ((const struct bb_seen_prog *)b)->id;

	return BB_ORDER(x, y);
}

void bb_take__replaced(struct bb_take *t, uint32_t id, int32_t prog)
{
	struct bb_seen_prog *seen = BB_FIND(t->seen, t->n_seen, it->id == id);

	if (seen)
		seen->prog = prog;
}

/* Finds the index in the capture of each program that was seen in the kernel. Programs that look
 * equal are matched in the order of loading, in which the kernel's ids ascend. */
static void bind_programs(struct bb_take *t)
{
	const struct bb_capture *c = t->capture;
	bool *bound = bb_calloc(c->n_progs, sizeof(*bound));

	if (t->n_seen)
		qsort(t->seen, t->n_seen, sizeof(*t->seen), by_id);
	for (size_t i = 0; i < t->n_seen; i++)
		if (t->seen[i].prog >= 0)
			bound[t->seen[i].prog] = true;
	for (size_t i = 0; i < t->n_seen; i++) {
		struct bb_seen_prog *s = &t->seen[i];

		for (size_t k = 0; s->prog < 0 && k < c->n_progs; k++) {
			const struct bb_captured_prog *p = &c->progs[k];

			if (bound[k] || p->refused || s->type != p->type ||
			    memcmp(s->tag, p->tag, sizeof(s->tag)) ||
			    strcmp(s->kernel_name, p->kernel_name))
				continue;
			s->prog = (int32_t)k;
			bound[k] = true;
		}
	}
	free(bound);
}

static int32_t prog_of(const struct bb_take *t, uint32_t id)
{
	const struct bb_seen_prog *seen = BB_FIND(t->seen, t->n_seen, it->id == id);

	return seen ? seen->prog : BB_CAPTURE_NONE;
}

/* Replaces the ids of programs in the entries of a prog array by indexes in the capture. Removes
 * entries whose programs are not in the capture. */
static void index_prog_array(struct bb_take *t, struct bb_captured_map *m)
{
	char *keys = m->entries.data, *values = keys + (size_t)m->n_entries * m->key_size;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_entries; i++) {
		uint32_t id;

		memcpy(&id, values + i * sizeof(id), sizeof(id));
		int32_t prog = prog_of(t, id);
		if (prog < 0)
			continue;
		memmove(keys + n * m->key_size, keys + i * m->key_size, m->key_size);
		memcpy(values + n * sizeof(prog), &prog, sizeof(prog));
		n++;
	}
	if (n < m->n_entries) {
		free(m->left_out);
		m->left_out = bb_strdup("programs that the command did not load itself");
	}
	memmove(keys + n * m->key_size, values, n * sizeof(int32_t));
	m->n_entries = n;
	m->entries.size = n * (m->key_size + sizeof(int32_t));
}

/* In the kernel's BTF, a hook's name may have one of these prefixes. */
static const char *const prefixes[] = {"btf_trace_", "bpf_lsm_", "bpf_iter_"};

/* Sets p->attach_name if the program's hook is given by a type of the kernel's BTF. Reads this BTF
 * into *vmlinux only when it is needed, because reading takes 0.1 s. The caller frees *vmlinux. */
static void name_btf_target(struct bb_captured_prog *p, struct btf **vmlinux)
{
	if (!p->attach_btf_id || p->attach_btf >= 0 || p->attach_prog >= 0)
		return;
	if (!*vmlinux)
		*vmlinux = btf__load_vmlinux_btf();
	const struct btf_type *type = *vmlinux ? btf__type_by_id(*vmlinux, p->attach_btf_id) : NULL;
	const char *name = type ? btf__name_by_offset(*vmlinux, type->name_off) : "";
	for (size_t i = 0; i < BB_LEN(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			name += strlen(prefixes[i]);
	snprintf(p->attach_name, sizeof(p->attach_name), "%s", name);
}

static void resolve(struct bb_take *t)
{
	struct bb_capture *c = t->capture;
	struct btf *vmlinux = NULL;
	size_t n = 0;

	bind_programs(t);
	for (size_t i = 0; i < c->n_progs; i++)
		if (!c->progs[i].refused)
			name_btf_target(&c->progs[i], &vmlinux);
	btf__free(vmlinux);
	for (size_t i = 0; i < c->n_attachments; i++) {
		struct bb_captured_attachment *a = &c->attachments[i];

		a->prog = prog_of(t, a->taken.prog_id);
		if (!a->taken.by_btf || a->prog < 0)
			continue;
		const struct bb_captured_prog *p = &c->progs[a->prog];
		if (!*p->attach_name)
			continue;
		snprintf(a->where, sizeof(a->where), "%s", p->attach_name);
		/* BPF_RAW_TRACEPOINT_OPEN also attaches programs of other kinds, such as fentry */
		const char *kind = libbpf_bpf_attach_type_str(p->expected_attach_type);
		if (!strcmp(a->kind, "raw_tracepoint") && kind)
			snprintf(a->kind, sizeof(a->kind), "%s", kind);
	}
	for (size_t i = 0; i < c->n_inputs; i++)
		c->inputs[i].prog = prog_of(t, c->inputs[i].prog_id);
	for (size_t i = 0; i < c->n_maps; i++)
		if (c->maps[i].type == BPF_MAP_TYPE_PROG_ARRAY && c->maps[i].n_entries)
			index_prog_array(t, &c->maps[i]);
	/* merge equal attachments, such as those of one event on each CPU, into one with a count */
	for (size_t i = 0; i < c->n_attachments; i++) {
		const struct bb_captured_attachment *a = &c->attachments[i];
		struct bb_captured_attachment *same =
			BB_FIND(c->attachments, n,
				it->prog == a->prog && it->refused == a->refused &&
					!strcmp(it->kind, a->kind) && !strcmp(it->where, a->where));

		if (same)
			same->n++;
		else
			c->attachments[n++] = *a;
	}
	c->n_attachments = n;
	for (size_t i = 0; i < c->n_progs; i++) {
		struct bb_captured_prog *p = &c->progs[i];
		int32_t target = prog_of(t, p->taken.target_id);

		if (!p->taken.target_id)
			continue;
		if (target >= 0 && (size_t)target < i)
			p->attach_prog = target;
		else if (!p->missing)
			p->missing = bb_strdup("the program of others that it is attached to");
	}
}

static int read_btf(struct bb_captured_btf *b)
{
	struct bpf_btf_info info = {0};

	if (*b->module)
		return 0;
	if (bb_info__read(b->held.fd, &info))
		return -errno;
	b->raw.data = bb_calloc(1, info.btf_size);
	b->raw.size = info.btf_size;
	info = (struct bpf_btf_info){.btf = (uintptr_t)b->raw.data, .btf_size = info.btf_size};
	return bb_info__read(b->held.fd, &info);
}

static void name_programs(struct bb_capture *c)
{
	struct btf **btfs = bb_calloc(c->n_btfs, sizeof(struct btf *));
	unsigned int *n = bb_calloc(c->n_progs, sizeof(*n));

	for (size_t i = 0; i < c->n_btfs; i++)
		if (c->btfs[i].raw.size)
			btfs[i] = btf__new(c->btfs[i].raw.data, (__u32)c->btfs[i].raw.size);
	for (size_t i = 0; i < c->n_progs; i++) {
		struct bb_captured_prog *p = &c->progs[i];
		const struct btf *btf = p->btf >= 0 ? btfs[p->btf] : NULL;
		const struct btf_type *type = btf && p->n_funcs
						      ? btf__type_by_id(btf, p->funcs[0].type_id)
						      : NULL;
		/* the whole name is in the BTF, because the kernel keeps only 15 bytes of it */
		const char *name = type ? btf__name_by_offset(btf, type->name_off) : NULL;

		if (!name || !*name)
			name = *p->kernel_name ? p->kernel_name : "nameless";
		p->name = bb_strdup(name);
		n[i] = 1;
		for (size_t j = 0; j < i; j++)
			n[i] += !strcmp(c->progs[j].name, c->progs[i].name);
	}
	for (size_t i = 0; i < c->n_progs; i++) {
		char *name = c->progs[i].name;

		if (n[i] == 1)
			continue;
		c->progs[i].name = bb_asprintf("%s.%u", name, n[i]);
		free(name);
	}
	for (size_t i = 0; i < c->n_btfs; i++)
		btf__free(btfs[i]);
	free(btfs);
	free(n);
}

/* True if the program makes tail calls, is in a prog array, or is the target of another program. A
 * loader's test of the kernel does none of this. */
static bool is_part_of_others(const struct bb_capture *c, size_t prog)
{
	const struct bb_captured_prog *p = &c->progs[prog];

	if (!p->refused && BB_ANY(p->insns, p->n_insns, bb_insn_is_tail_call(it)))
		return true;
	if (BB_ANY(c->progs, c->n_progs, it->attach_prog == (int32_t)prog))
		return true;
	for (size_t i = 0; i < c->n_maps; i++) {
		const struct bb_captured_map *m = &c->maps[i];
		const char *values = bb_captured_map__values(m);

		for (uint32_t k = 0; m->type == BPF_MAP_TYPE_PROG_ARRAY && k < m->n_entries; k++)
			if (!memcmp(values + k * sizeof(int32_t), &(int32_t){(int32_t)prog},
				    sizeof(int32_t)))
				return true;
	}
	return false;
}

static const char *sign_of_probe(const struct bb_take *t, size_t prog)
{
	const struct bb_capture *c = t->capture;
	static const char *const names[] = {"libbpf_", "aya_",     "probe_",     "bpf_probe",
					    "test_",   "feature_", "det_arg_ctx"};
	const struct bb_captured_prog *p = &c->progs[prog];
	const struct bb_captured_attachment *attachment = bb_capture__any_attachment(c, prog);
	bool others = BB_ANY(t->seen, t->n_seen, it->prog >= 0 && it->stayed),
	     stayed = p->refused ||
		      BB_ANY(t->seen, t->n_seen, it->prog == (int32_t)prog && it->stayed),
	     has_run = BB_ANY(c->inputs, c->n_inputs, it->prog == (int32_t)prog);
	/* true if it is only "return CONSTANT", and the capture has larger programs */
	bool is_stub = BB_ANY(c->progs, c->n_progs, it->n_insns > PROBE_INSNS) && p->n_insns == 2 &&
		       BPF_OP(p->insns[0].code) == BPF_MOV && BPF_SRC(p->insns[0].code) == BPF_K &&
		       bb_insn_is_exit(&p->insns[1]);

	if (is_light_loader(p))
		return "it is the program by which a light skeleton loads the others";
	if (p->n_insns > PROBE_INSNS || is_part_of_others(c, prog))
		return NULL;
	if (!stayed && others)
		return "it has a handful of instructions, and the command let go of it";
	if (attachment && !attachment->refused)
		return NULL;
	/* To test the kernel, bpftrace loads two programs that return at once: one with a name to
	 * test BPF links, and one without a name to test BPF_PROG_TEST_RUN */
	if (!stayed && is_stub && !(has_run && *p->kernel_name))
		return "it returns at once, was attached nowhere, and the command let go of it";
	if (has_run)
		return NULL;
	/* libbpf-tools load a program of this name to test whether fentry works */
	if (p->type == BPF_PROG_TYPE_TRACING && !strcmp(p->kernel_name, "test"))
		return "it is called 'test', has a handful of instructions, and was attached "
		       "nowhere";
	if (!*p->kernel_name)
		return "it has no name, a handful of instructions, and was attached nowhere";
	if (BB_ANY(names, BB_LEN(names), !strncmp(p->kernel_name, *it, strlen(*it))))
		return "it has a loader's name, a handful of instructions, and was "
		       "attached nowhere";
	return NULL;
}

static void close_held(struct bb_capture *c)
{
	for (size_t i = 0; i < c->n_maps; i++)
		bb_close(&c->maps[i].held.fd);
	for (size_t i = 0; i < c->n_btfs; i++)
		bb_close(&c->btfs[i].held.fd);
	for (size_t i = 0; i < c->n_progs; i++)
		bb_close(&c->progs[i].taken.target_fd);
	for (size_t i = 0; i < c->n_attachments; i++)
		bb_taken_attachment__done(&c->attachments[i].taken);
}

int bb_take__end(struct bb_take *t, const char *how_ended, struct bb_capture **ret_capture,
		 struct bb_err *err)
{
	struct bb_capture *c = t->capture;
	int rc = load_copies(t, err);

	for (size_t i = 0; !rc && i < c->n_btfs; i++) {
		rc = read_btf(&c->btfs[i]);
		if (rc)
			bb_fail(err, rc, "ending the capture: %m");
	}
	if (!rc) {
		resolve(t);
		name_programs(c);
		for (size_t i = 0; i < c->n_progs; i++) {
			const char *sign = sign_of_probe(t, i);

			c->progs[i].probe = sign ? bb_strdup(sign) : NULL;
		}
		if (!BB_ANY(c->progs, c->n_progs, !it->probe && !it->refused))
			rc = bb_take__say_nothing(t, how_ended, err);
	}
	if (!rc) {
		close_held(c);
		*ret_capture = c;
		t->capture = NULL;
	}
	bb_take__free(t);
	return rc;
}

void bb_take__free(struct bb_take *t)
{
	if (t->capture)
		close_held(t->capture);
	free(t->seen);
	free(t->templates);
	free(t->events);
	free(t->links);
	bb_capture__free(t->capture);
	*t = (struct bb_take){0};
}
