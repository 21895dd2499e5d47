/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/attach.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/mount.h>

#include "base/bpf_info.h"
#include "bpf/libbpf_log.h"

int bb_perf_event__open(struct perf_event_attr *attr, pid_t pid, int cpu, int prog_fd, int *ret_fd,
			struct bb_err *err)
{
	int fd, rc;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	fd = (int)syscall(__NR_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	rc = fd < 0 ? -errno : 0;
	if (rc == -EACCES || rc == -EPERM)
		return bb_fail(err, rc,
			       "perf_event_open: %m; CAP_PERFMON is missing: run as root, with "
			       "sudo");
	if (rc == -ENOSYS || rc == -ENOENT || rc == -EOPNOTSUPP)
		return bb_fail(err, -ENOTSUP,
			       "this kernel has no such perf event (perf_event_open: %s)",
			       strerror(-rc));
	if (rc)
		return bb_fail(err, rc, "perf_event_open: %m");
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd)) {
		rc = -errno;
		close(fd);
		return bb_fail(err, rc,
			       "cannot attach the program to a perf event: %m; its section must be "
			       "SEC(\"perf_event\"); other types are driven by `trigger: "
			       "test-run`");
	}
	*ret_fd = fd;
	return 0;
}

int bb_perf_event__enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int bb_perf_event__disable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

int bb_empty_prog__load(uint32_t type, uint32_t attach_type, int32_t retval, const char *name)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = retval},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach_type);

	return bpf_prog_load(type, name, "GPL", insns, BB_LEN(insns), &opts);
}

#define TRACEFS "/sys/kernel/tracing"

int bb_tracefs__provide(struct bb_err *err)
{
	/* libbpf looks for tracefs at these two paths */
	if (!access(TRACEFS "/events", F_OK) || !access("/sys/kernel/debug/tracing/events", F_OK))
		return 0;
	/* After MS_SLAVE, our mount stays in this namespace. We set it on /sys, because in a chroot
	 * "/" need not be a mount point. */
	if (!unshare(CLONE_NEWNS) && !mount(NULL, "/sys", NULL, MS_SLAVE, NULL) &&
	    !mount("tracefs", TRACEFS, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		return 0;
	return bb_fail(err, -errno,
		       "tracefs is not mounted and cannot be mounted for bpfbench alone (%m); "
		       "mount it with: sudo mount -t tracefs tracefs " TRACEFS);
}

/* BPF_F_KPROBE_MULTI_RETURN and BPF_F_UPROBE_MULTI_RETURN have this value */
#define MULTI_RETURN 1U

/* Part of union bpf_attr for BPF_LINK_CREATE of links to many functions (linux/bpf.h, 6.6). */
struct link_create {
	uint32_t prog_fd, target_fd, attach_type, flags;
	union {
		struct {
			uint32_t flags, cnt;
			uint64_t syms, addrs, cookies;
		} kprobe;
		struct {
			uint64_t path, offsets, ref_ctr_offsets, cookies;
			uint32_t cnt, flags, pid;
		} uprobe;
	};
};

bool bb_multi_link__is_of_kernel(uint32_t attach_type)
{
	return attach_type == BB_TRACE_KPROBE_MULTI || attach_type == BB_TRACE_KPROBE_SESSION;
}

bool bb_multi_link__is_of_users(uint32_t attach_type)
{
	return attach_type == BB_TRACE_UPROBE_MULTI || attach_type == BB_TRACE_UPROBE_SESSION;
}

int bb_multi_link__to_kernel(int prog_fd, uint32_t attach_type, bool is_return,
			     const char *const *names, uint32_t n, int *ret_link_fd)
{
	struct link_create attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = attach_type,
		.kprobe = {.flags = is_return ? MULTI_RETURN : 0,
			   .cnt = n,
			   .syms = (uint64_t)(uintptr_t)names},
	};

	*ret_link_fd = (int)syscall(__NR_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return *ret_link_fd < 0 ? -errno : 0;
}

int bb_multi_link__to_file(int prog_fd, uint32_t attach_type, bool is_return, const char *path,
			   const struct bb_multi_addresses *addresses, pid_t pid, int *ret_link_fd)
{
	struct link_create attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = attach_type,
		.uprobe = {.path = (uint64_t)(uintptr_t)path,
			   .offsets = (uint64_t)(uintptr_t)addresses->offsets,
			   .ref_ctr_offsets = (uint64_t)(uintptr_t)addresses->counters,
			   .cookies = (uint64_t)(uintptr_t)addresses->cookies,
			   .cnt = addresses->n,
			   .flags = is_return ? MULTI_RETURN : 0,
			   .pid = pid < 0 ? 0 : (uint32_t)pid},
	};

	*ret_link_fd = (int)syscall(__NR_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return *ret_link_fd < 0 ? -errno : 0;
}

/* Asks the kernel for a link that it cannot make: to a function that does not exist, or to the
 * folder "/" instead of a file. The error tells whether the kernel knows the link type. */
static bool has_link_type(uint32_t attach_type)
{
	static const char *const names[] = {"bpfbench_no_such_function"};
	static const uint64_t offset = 0;
	const struct bb_multi_addresses site = {.offsets = &offset, .n = 1};
	int prog_fd = bb_empty_prog__load(BPF_PROG_TYPE_KPROBE, attach_type, 0, "bpfbench_probe");
	int link_fd, rc;

	if (prog_fd < 0)
		return false;
	rc = bb_multi_link__is_of_kernel(attach_type)
		     ? bb_multi_link__to_kernel(prog_fd, attach_type, false, names, 1, &link_fd)
		     : bb_multi_link__to_file(prog_fd, attach_type, false, "/", &site, -1,
					      &link_fd);
	if (!rc)
		close(link_fd);
	close(prog_fd);
	/* A kernel that knows the link type returns -ESRCH if the function does not exist, and
	 * -EBADF if the file is not a regular file. */
	return !rc || rc == -ESRCH || rc == -ENOENT || rc == -EBADF;
}

bool bb_multi_link__is_there(uint32_t attach_type)
{
	static enum { NOT_ASKED, NO, YES } answers[BB_TRACE_UPROBE_SESSION + 1];

	if (!bb_multi_link__is_of_kernel(attach_type) && !bb_multi_link__is_of_users(attach_type))
		return false;
	if (answers[attach_type] == NOT_ASKED)
		answers[attach_type] = has_link_type(attach_type) ? YES : NO;
	return answers[attach_type] == YES;
}

#define MAP_LINK (1U << 13) /* BPF_F_LINK */
#define MOST_BYTES 8192u    /* largest value of a struct_ops map that we read, bytes */
#define TCP_OPS "tcp_congestion_ops"
#define VALUE_OF "bpf_struct_ops_"

void bb_struct_ops__prepare(struct bpf_object *obj)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj) if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
		bpf_map__set_map_flags(map, bpf_map__map_flags(map) | MAP_LINK);
}

/* libbpf writes the value of a struct_ops map only when it attaches the map. So we attach each map
 * and detach it at once. libbpf before 1.2 makes no link, but then the map is not registered
 * either, because the kernel registers a map with BPF_F_LINK only by a link. */
void bb_struct_ops__fill(struct bpf_object *obj)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj)
	{
		if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS || bpf_map__fd(map) < 0)
			continue;
		bb_libbpf_log__begin();
		bpf_link__destroy(bpf_map__attach_struct_ops(map));
	}
}

/* The kernel returns program ids in place of the pointers to functions. */
static int read_value(int map_fd, uint64_t *ret_words, struct bpf_map_info *ret_info)
{
	__u32 zero = 0;

	memset(ret_info, 0, sizeof(*ret_info));
	if (bb_info__read(map_fd, ret_info))
		return -errno;
	if (ret_info->value_size > MOST_BYTES)
		return -E2BIG;
	return bpf_map_lookup_elem(map_fd, &zero, ret_words) ? -errno : 0;
}

int bb_struct_ops__map_of(const struct bpf_object *obj, int prog_fd)
{
	struct bpf_prog_info prog = {0};
	struct bpf_map *map;

	if (bb_info__read(prog_fd, &prog))
		return -1;
	bpf_object__for_each_map(map, obj)
	{
		uint64_t words[MOST_BYTES / sizeof(uint64_t)];
		struct bpf_map_info info;

		if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS ||
		    read_value(bpf_map__fd(map), words, &info))
			continue;
		if (BB_ANY(words, info.value_size / sizeof(words[0]), *it == prog.id))
			return bpf_map__fd(map);
	}
	return -1;
}

static long member(const struct btf *btf, const struct btf_type *t, const char *name,
		   __u32 *ret_type)
{
	for (__u32 i = 0; t && btf_is_struct(t) && i < btf_vlen(t); i++) {
		if (strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), name))
			continue;
		*ret_type = btf_members(t)[i].type;
		return btf_member_bit_offset(t, i) / 8;
	}
	return -1;
}

int bb_struct_ops__tcp_name(int map_fd, char *ret_name, size_t size, struct bb_err *err)
{
	uint64_t words[MOST_BYTES / sizeof(uint64_t)];
	const struct btf_type *t = NULL;
	const char *of = VALUE_OF "?";
	struct bpf_map_info info;
	struct btf *btf = NULL;
	long at = -1, name;
	__u32 type = 0;
	int rc = map_fd < 0 ? -ENOENT : read_value(map_fd, words, &info);

	if (rc)
		return bb_fail(err, -ENOTSUP,
			       "no struct_ops map of this kernel has the program: %s",
			       strerror(-rc));
	btf = btf__load_vmlinux_btf();
	t = btf ? btf__type_by_id(btf, info.btf_vmlinux_value_type_id) : NULL;
	if (t)
		of = btf__name_by_offset(btf, t->name_off);
	if (!strcmp(of, VALUE_OF TCP_OPS)) {
		at = member(btf, t, "data", &type);
		name = at < 0 ? -1 : member(btf, btf__type_by_id(btf, type), "name", &type);
		at = name < 0 ? -1 : at + name;
	}
	if (at < 0 || (size_t)at >= info.value_size)
		rc = bb_fail(err, -ENOTSUP,
			     "it is a function of struct %s, for which there is no trigger; there "
			     "is one for " TCP_OPS,
			     of + (strncmp(of, VALUE_OF, strlen(VALUE_OF)) ? 0 : strlen(VALUE_OF)));
	else
		snprintf(ret_name, size, "%.*s", (int)(info.value_size - (size_t)at),
			 (const char *)words + at);
	btf__free(btf);
	return rc;
}
