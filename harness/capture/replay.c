/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/replay.h"

#include <bpf/bpf.h>

#include "base/bpf_info.h"
#include "base/deadline.h"
#include "base/io.h"

int bb_btf_info(int fd, struct bpf_btf_info *ret_info, char *name, unsigned int name_size)
{
	memset(ret_info, 0, sizeof(*ret_info));
	memset(name, 0, name_size);
	ret_info->name = (__u64)(uintptr_t)name;
	ret_info->name_len = name_size;
	return bb_info__read(fd, ret_info);
}

bool bb_fd_is_program(int fd)
{
	char path[64], what[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, what, sizeof(what) - 1) > 0 && strstr(what, "bpf-prog");
}

/* Opens the BTF of "vmlinux" or a module. Returns -1 with errno set if there is none. */
static int btf_of_kernel(const char *module)
{
	struct bpf_btf_info info;
	char name[64];
	__u32 id = 0;

	while (!bpf_btf_get_next_id(id, &id)) {
		int fd = bpf_btf_get_fd_by_id(id);

		if (fd >= 0 && !bb_btf_info(fd, &info, name, sizeof(name)) && info.kernel_btf &&
		    !strcmp(name, module))
			return fd;
		bb_close(&fd);
	}
	errno = ENOENT;
	return -1;
}

/* limit: attempts at a load that signals interrupt (EAGAIN), as in libbpf */
#define MAX_TRIES 5

/* Flags that a new map does not get. Root needs no token, and the NUMA node is unknown. */
#define MAP_FLAGS_LEFT (BB_TOKEN_FD | BPF_F_NUMA_NODE)

static int *no_fds(size_t n)
{
	int *fds = bb_calloc(n, sizeof(*fds));

	for (size_t i = 0; i < n; i++)
		fds[i] = -1;
	return fds;
}

static void close_fds(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bb_close(&fds[i]);
	free(fds);
}

struct bb_replay bb_replay__open(const struct bb_capture *c)
{
	return (struct bb_replay){.capture = c,
				  .maps = no_fds(c->n_maps),
				  .btfs = no_fds(c->n_btfs),
				  .progs = no_fds(c->n_progs)};
}

struct bb_replay bb_replay__open_taken(const struct bb_capture *c)
{
	struct bb_replay r = bb_replay__open(c);

	r.is_taken = true;
	for (size_t i = 0; i < c->n_maps; i++)
		r.maps[i] = c->maps[i].held.fd;
	for (size_t i = 0; i < c->n_btfs; i++)
		r.btfs[i] = c->btfs[i].held.fd;
	return r;
}

void bb_replay__done(struct bb_replay *r)
{
	if (!r->capture)
		return;
	close_fds(r->progs, r->capture->n_progs);
	close_fds(r->maps, r->is_taken ? 0 : r->capture->n_maps);
	close_fds(r->btfs, r->is_taken ? 0 : r->capture->n_btfs);
	*r = (struct bb_replay){0};
}

/* Loads the BTF if it is not loaded yet. Returns its descriptor, or -errno. */
static int need_btf(struct bb_replay *r, int32_t btf)
{
	const struct bb_captured_btf *b = &r->capture->btfs[btf];
	int *fd = &r->btfs[btf];

	if (*fd < 0)
		*fd = *b->module ? btf_of_kernel(b->module)
				 : bpf_btf_load(b->raw.data, b->raw.size, NULL);
	return *fd < 0 ? -errno : *fd;
}

/* Makes the map without its entries, unless it exists. */
static int make_map(struct bb_replay *r, size_t map, struct bb_err *err)
{
	const struct bb_captured_map *m = &r->capture->maps[map];
	union bpf_attr a = {.map_type = m->type,
			    .key_size = m->key_size,
			    .value_size = m->value_size,
			    .max_entries = m->max_entries,
			    .map_flags = m->flags & ~MAP_FLAGS_LEFT};
	int rc = 0;

	if (r->maps[map] >= 0)
		return 0;
	a.map_extra = m->extra;
	memcpy(a.map_name, m->kernel_name, sizeof(a.map_name));
	if (m->btf >= 0) {
		rc = need_btf(r, m->btf);
		a.btf_fd = rc < 0 ? 0 : (uint32_t)rc;
		a.btf_key_type_id = m->key_type_id;
		a.btf_value_type_id = m->value_type_id;
	}
	/* this recursion is one level deep, because map_fits() of file.c has checked it */
	if (rc >= 0 && m->inner >= 0) {
		rc = make_map(r, (size_t)m->inner, err);
		if (rc)
			return rc;
		a.inner_map_fd = (uint32_t)r->maps[m->inner];
	}
	if (rc >= 0) {
		r->maps[map] = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &a, sizeof(a));
		rc = r->maps[map] < 0 ? -errno : 0;
	}
	return rc < 0 ? bb_fail(err, rc, "making map '%s' of the capture anew: %m", m->name) : 0;
}

static int fill_one_by_one(int fd, const struct bb_captured_map *m, const char *values, size_t size)
{
	for (uint32_t i = 0; i < m->n_entries; i++) {
		if (bb_must_end())
			return bb_must_end_why();
		if (bpf_map_update_elem(fd, m->entries.data + (size_t)i * m->key_size,
					values + i * size, BPF_ANY))
			return -errno;
	}
	return 0;
}

static int fill_map(const struct bb_replay *r, size_t map, struct bb_err *err)
{
	const struct bb_captured_map *m = &r->capture->maps[map];
	size_t size = bb_captured_map__value_bytes(r->capture, m);
	bool is_progs = m->type == BPF_MAP_TYPE_PROG_ARRAY;
	__u32 n = m->n_entries;
	int rc = 0;

	if (n) {
		char *values = bb_memdup(bb_captured_map__values(m), n * size);

		/* descriptors replace the indexes of programs and maps */
		for (uint32_t i = 0; (is_progs || m->inner >= 0) && i < n; i++) {
			int32_t index;

			memcpy(&index, values + i * size, sizeof(index));
			index = is_progs ? r->progs[index] : r->maps[index];
			memcpy(values + i * size, &index, sizeof(index));
		}
		if (bpf_map_update_batch(r->maps[map], m->entries.data, values, &n, NULL))
			rc = fill_one_by_one(r->maps[map], m, values, size);
		free(values);
	}
	if (!rc && m->frozen && bpf_map_freeze(r->maps[map]))
		rc = -errno;
	return rc ? bb_fail(err, rc, "writing the entries of map '%s' of the capture: %m", m->name)
		  : 0;
}

struct needs {
	const struct bb_replay *r;
	bool *maps, *progs;
};

static void needs_prog(struct needs *n, size_t prog);

/* Marks the map, and all maps and programs in it. Skips marked maps, so the recursion ends. */
static void needs_map(struct needs *n, size_t map)
{
	const struct bb_captured_map *m = &n->r->capture->maps[map];
	bool is_progs = m->type == BPF_MAP_TYPE_PROG_ARRAY;

	if (n->maps[map])
		return;
	n->maps[map] = true;
	if (m->inner >= 0)
		/* only the type and sizes of this map are needed, not the maps in it */
		n->maps[m->inner] = true;
	for (uint32_t i = 0; (is_progs || m->inner >= 0) && i < m->n_entries; i++) {
		const char *values = bb_captured_map__values(m);
		int32_t index;

		memcpy(&index, values + i * sizeof(index), sizeof(index));
		(is_progs ? needs_prog : needs_map)(n, (size_t)index);
	}
}

static void needs_prog(struct needs *n, size_t prog)
{
	const struct bb_captured_prog *p = &n->r->capture->progs[prog];
	int32_t map;

	if (n->progs[prog])
		return;
	n->progs[prog] = true;
	if (p->attach_prog >= 0)
		needs_prog(n, (size_t)p->attach_prog);
	for (uint32_t at = 0; (map = bb_captured_prog__next_map(p, &at)) >= 0;)
		needs_map(n, (size_t)map);
}

int32_t bb_captured_prog__next_map(const struct bb_captured_prog *p, uint32_t *at)
{
	const int32_t *name;
	bool is_btf;

	while ((name = bb_insns__next_name(p->insns, p->n_insns, at, &is_btf)))
		if (!is_btf)
			return *name;
	while (*at - p->n_insns < p->n_fds) {
		int32_t map = p->fds[(*at)++ - p->n_insns].map;

		if (map >= 0)
			return map;
	}
	return BB_CAPTURE_NONE;
}

void bb_replay__put_fds(const struct bb_replay *r, size_t prog, struct bpf_insn *ret_insns)
{
	const struct bb_captured_prog *p = &r->capture->progs[prog];
	uint32_t at = 0;
	int32_t *name;
	bool is_btf;

	memcpy(ret_insns, p->insns, p->n_insns * sizeof(*ret_insns));
	while ((name = bb_insns__next_name(ret_insns, p->n_insns, &at, &is_btf)))
		*name = is_btf ? r->btfs[*name - 1] : r->maps[*name];
}

static int need_btfs(struct bb_replay *r, const struct bb_captured_prog *p)
{
	int rc = p->btf >= 0 ? need_btf(r, p->btf) : 0;
	uint32_t at = 0;
	int32_t *name;
	bool is_btf;

	if (rc >= 0 && p->attach_btf >= 0)
		rc = need_btf(r, p->attach_btf);
	for (size_t i = 0; rc >= 0 && i < p->n_fds; i++)
		if (p->fds[i].btf >= 0)
			rc = need_btf(r, p->fds[i].btf);
	while (rc >= 0 && (name = bb_insns__next_name(p->insns, p->n_insns, &at, &is_btf)))
		rc = is_btf ? need_btf(r, *name - 1) : 0;
	return rc < 0 ? rc : 0;
}

/* Returns the descriptor of the program's target, or -1 if its target is no program. */
static int target_of(const struct bb_replay *r, const struct bb_captured_prog *p)
{
	if (r->is_taken)
		return p->taken.target_fd;
	return p->attach_prog >= 0 ? r->progs[p->attach_prog] : -1;
}

int bb_replay__begin_load(struct bb_replay *r, size_t prog, struct bb_replay_load *ret_load)
{
	const struct bb_captured_prog *p = &r->capture->progs[prog];
	int *fd_array, target = target_of(r, p), rc = need_btfs(r, p);
	union bpf_attr a = {.prog_type = p->type,
			    .insn_cnt = p->n_insns,
			    .license = (uintptr_t)p->license,
			    .kern_version = p->kern_version,
			    .prog_flags = p->flags & ~BB_TOKEN_FD};

	if (rc)
		return rc;
	struct bpf_insn *insns = bb_calloc(p->n_insns, sizeof(*insns));
	fd_array = bb_calloc(p->n_fds, sizeof(*fd_array));
	for (size_t i = 0; i < p->n_fds; i++)
		fd_array[i] = p->fds[i].map >= 0   ? r->maps[p->fds[i].map]
			      : p->fds[i].btf >= 0 ? r->btfs[p->fds[i].btf]
						   : 0;
	bb_replay__put_fds(r, prog, insns);
	a.insns = (uintptr_t)insns;
	a.expected_attach_type = p->expected_attach_type;
	memcpy(a.prog_name, p->kernel_name, sizeof(a.prog_name));
	if (p->btf >= 0) {
		a.prog_btf_fd = (uint32_t)r->btfs[p->btf];
		a.func_info = (uintptr_t)p->funcs;
		a.func_info_cnt = p->n_funcs;
		a.func_info_rec_size = sizeof(*p->funcs);
		a.line_info = (uintptr_t)p->lines;
		a.line_info_cnt = p->n_lines;
		a.line_info_rec_size = sizeof(*p->lines);
	}
	a.attach_btf_id = p->attach_btf_id;
	if (target >= 0)
		a.attach_prog_fd = (uint32_t)target;
	else if (p->attach_btf >= 0)
		a.attach_btf_obj_fd = (uint32_t)r->btfs[p->attach_btf];
	a.fd_array = p->n_fds ? (uintptr_t)fd_array : 0;
	*ret_load = (struct bb_replay_load){a, insns, fd_array};
	return 0;
}

void bb_replay_load__done(struct bb_replay_load *l)
{
	free(l->insns);
	free(l->fd_array);
	*l = (struct bb_replay_load){0};
}

int bb_replay__load_one(struct bb_replay *r, size_t prog, uint32_t log_level, char *log,
			uint32_t log_size)
{
	struct bb_replay_load l;
	int fd = -1, rc = bb_replay__begin_load(r, prog, &l);

	if (rc)
		return rc;
	l.attr.log_level = log_level;
	l.attr.log_buf = log_level ? (uintptr_t)log : 0;
	l.attr.log_size = log_level ? log_size : 0;
	for (int i = 0; i < MAX_TRIES && fd < 0 && (!i || errno == EAGAIN); i++)
		fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &l.attr, sizeof(l.attr));
	if (fd < 0) {
		rc = -errno;
	} else {
		bb_close(&r->progs[prog]);
		r->progs[prog] = fd;
	}
	bb_replay_load__done(&l);
	return rc;
}

/* Loads without a log, which is faster. If the kernel refuses the program, loads it again with a
 * log. */
static int load_or_say(struct bb_replay *r, size_t prog, char *log, size_t size, struct bb_err *err)
{
	const struct bb_captured_prog *p = &r->capture->progs[prog];
	int rc = bb_replay__load_one(r, prog, 0, NULL, 0);

	if (!rc || rc == -ENOMEM || bb_must_end())
		return rc ? bb_fail(err, bb_unless_broken_off(rc), "loading '%s': %s", p->name,
				    strerror(-rc))
			  : 0;
	if (!bb_replay__load_one(r, prog, 1, log, (uint32_t)size))
		return 0;
	return bb_fail(err, rc, "%s: the kernel does not load '%s': %m", r->capture->path, p->name);
}

int bb_replay__load(struct bb_replay *r, size_t prog, char *log, size_t log_size,
		    struct bb_err *err)
{
	const struct bb_capture *c = r->capture;
	struct needs n = {.r = r,
			  .maps = bb_calloc(c->n_maps, sizeof(*n.maps)),
			  .progs = bb_calloc(c->n_progs, sizeof(*n.progs))};
	bool *is_new = bb_calloc(c->n_maps, sizeof(*is_new));
	int rc = 0;

	*log = '\0';
	needs_prog(&n, prog);
	for (size_t i = 0; !rc && i < c->n_maps; i++) {
		is_new[i] = n.maps[i] && r->maps[i] < 0;
		if (n.maps[i])
			rc = make_map(r, i, err);
	}
	/* prog arrays are filled last, because the programs in them must be loaded first */
	for (size_t i = 0; !rc && i < c->n_maps; i++)
		if (is_new[i] && c->maps[i].type != BPF_MAP_TYPE_PROG_ARRAY)
			rc = fill_map(r, i, err);
	for (size_t i = 0; !rc && i < c->n_progs; i++)
		if (n.progs[i])
			rc = load_or_say(r, i, log, log_size, err);
	for (size_t i = 0; !rc && i < c->n_maps; i++)
		if (is_new[i] && c->maps[i].type == BPF_MAP_TYPE_PROG_ARRAY)
			rc = fill_map(r, i, err);
	free(is_new);
	free(n.maps);
	free(n.progs);
	return rc;
}
