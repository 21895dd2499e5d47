/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/hook.h"

#include <bpf/bpf.h>
#include <fnmatch.h>
#include <glob.h>
#include <linux/netfilter.h>

#include "base/caller.h"
#include "base/io.h"
#include "base/kernel_fs.h"
#include "base/parse.h"
#include "bpf/attach.h"
#include "bpf/netns.h"
#include "bpf/prog_type.h"
#include "fire/later.h"

#define PMUS "/sys/bus/event_source/devices/"
/* limit: functions that match a pattern, because the kernel patches each of them */
#define MOST_FUNCTIONS 4096u
#define LEAVING_MS 1000
#define COUNTER_SHIFT 32 /* PERF_UPROBE_REF_CTR_OFFSET_SHIFT, linux/trace_events.h */

static int say_no_tracepoint(const struct bb_attach_point *p, struct bb_err *err)
{
	const char *folder, *near;
	glob_t found = {0};
	char pattern[512];
	int rc, fd;

	/* the names for a suggestion come from tracefs */
	bb_tracefs__provide(NULL);
	folder = bb_tracepoint__folder();
	size_t skip = strlen(folder) + 1;
	fd = bb_root__open(folder, O_RDONLY | O_DIRECTORY);
	if (bb_is_shortage(fd))
		return bb_fail(err, fd, "%s: %m", folder);
	bb_close(&fd);
	snprintf(pattern, sizeof(pattern), "%s/*/*/id", folder);
	bb_root__begin();
	glob(pattern, 0, NULL, &found);
	bb_root__end();
	/* shorten each path to "sched/sched_switch", or to "sched_switch" for a raw tracepoint */
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *path = found.gl_pathv[i];

		path[strlen(path) - strlen("/id")] = '\0';
		const char *name = p->kind == BB_AT_TRACEPOINT ? path + skip
							       : strrchr(path, '/') + 1;
		memmove(path, name, strlen(name) + 1);
	}
	near = bb_nearest(p->target, (const char *const *)found.gl_pathv, found.gl_pathc);
	rc = bb_fail(err, -ENOENT, "this kernel has no %s%s", bb_attach_point__words(p).text,
		     bb_did_you_mean(near, "").text);
	globfree(&found);
	return rc;
}

static int say_no_function(const char *name, struct bb_err *err)
{
	char near[128];
	bool is_near = bb_kernel_name__nearest(BB_NAME_OF_FUNCTION, name, near, sizeof(near));

	if (is_near && !strcmp(near, name))
		return bb_fail(err, -ENOTSUP, "this kernel has '%s', but lets nobody probe it",
			       name);
	return bb_fail(err, -ENOTSUP, "this kernel has no function '%s' to probe%s", name,
		       bb_did_you_mean(is_near ? near : NULL, "").text);
}

/* h->functions receives the target or, for a pattern, all functions that ftrace can trace: sorted
 * and each once, as the kernel requires. */
static int find_functions(struct bb_hook *h, struct bb_err *err)
{
	const char *pattern = h->point.target;
	char line[512];
	size_t kept = 0;

	if (!bb_is_pattern(pattern)) {
		BB_PUSH(h->functions, h->n_functions, bb_strdup(pattern));
		return 0;
	}
	if (bb_tracefs__provide(err))
		return bb_fail(err, -ENOTSUP, "%s", err ? err->msg : "");
	bb_root__begin();
	FILE *list = fopen("/sys/kernel/tracing/available_filter_functions", "re");
	if (!list)
		list = fopen("/sys/kernel/debug/tracing/available_filter_functions", "re");
	bb_root__end();
	if (!list)
		return bb_fail(err, -ENOTSUP,
			       "tracefs: available_filter_functions: %s; a name instead of the "
			       "pattern '%s' does without",
			       strerror(errno), pattern);
	/* a line is "vfs_read" or "vfs_read [module]" */
	while (h->n_functions <= MOST_FUNCTIONS && fgets(line, sizeof(line), list)) {
		line[strcspn(line, " \t\n")] = '\0';
		if (strncmp(line, "__ftrace_invalid_address__", 26) && !fnmatch(pattern, line, 0))
			BB_PUSH(h->functions, h->n_functions, bb_strdup(line));
	}
	fclose(list);
	if (h->n_functions > MOST_FUNCTIONS)
		return bb_fail(err, -ENOTSUP, "more than %u functions of this kernel are '%s'",
			       MOST_FUNCTIONS, pattern);
	qsort(h->functions, h->n_functions, sizeof(h->functions[0]), bb_by_text);
	for (size_t i = 0; i < h->n_functions; i++) {
		if (kept && !strcmp(h->functions[kept - 1], h->functions[i]))
			free(h->functions[i]);
		else
			h->functions[kept++] = h->functions[i];
	}
	h->n_functions = kept;
	return h->n_functions ? 0
			      : bb_fail(err, -ENOTSUP,
					"no function of this kernel that can be followed is '%s'",
					pattern);
}

static int open_event(const struct bb_hook *h, uint32_t i, int *ret_fd)
{
	/* an event of all processes needs a CPU, but the program runs on every CPU */
	int cpu = h->pid < 0 ? 0 : -1;
	struct perf_event_attr attr = h->attr;

	/* also sets kprobe_func, which is in a union with uprobe_path */
	if (*h->path)
		attr.uprobe_path = (uint64_t)(uintptr_t)h->path;
	if (h->addresses) {
		attr.probe_offset = h->addresses->offsets[i];
		attr.config |= h->addresses->counters[i] << COUNTER_SHIFT;
	}
	*ret_fd = (int)syscall(__NR_perf_event_open, &attr, h->pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

static int open_events(struct bb_hook *h, uint32_t n, struct bb_err *err)
{
	int rc = 0;

	h->events = bb_calloc(2 * (size_t)n, sizeof(*h->events));
	h->links = h->events + n;
	h->n_events = n;
	for (uint32_t i = 0; i < 2 * n; i++)
		h->events[i] = -1;
	for (uint32_t i = 0; !rc && i < n; i++)
		rc = open_event(h, i, &h->events[i]);
	if ((rc == -ENOENT || rc == -EADDRNOTAVAIL) && h->point.kind == BB_AT_KPROBE)
		return say_no_function(h->path, err);
	return rc ? bb_fail(err, bb_is_shortage(rc) ? rc : -ENOTSUP, "%s: perf_event_open: %s",
			    bb_attach_point__words(&h->point).text, strerror(-rc))
		  : 0;
}

void bb_hook__name_event(struct bb_attach_point *p, const char *program)
{
	char name[128], *group;

	if (p->prog_type != BPF_PROG_TYPE_TRACEPOINT || bb_tracefs__provide(NULL))
		return;
	if (p->kind == BB_AT_TRACEPOINT) {
		bb_tracepoint__find(p->target, p->target, sizeof(p->target));
		return;
	}
	for (bool is_bare = false;; is_bare = true) {
		bb_program__named_after(program, is_bare, name, sizeof(name));
		/* "syscalls__sys_enter_read" becomes "syscalls/sys_enter_read" */
		group = strstr(name, "__");
		if (is_bare && group > name) {
			*group = '/';
			memmove(group + 1, group + 2, strlen(group + 2) + 1);
		}
		if (bb_tracepoint__find(name, p->target, sizeof(p->target)))
			p->kind = BB_AT_TRACEPOINT;
		if (is_bare || p->kind == BB_AT_TRACEPOINT)
			return;
	}
}

static int open_tracepoint(struct bb_hook *h, struct bb_err *err)
{
	const struct bb_attach_point *p = &h->point;
	char name[sizeof(p->target)], path[512];
	unsigned long long number;
	uint64_t id;
	int rc = bb_tracefs__provide(err);

	/* without tracefs, a tracepoint can be given by its number */
	if (rc && bb_tracepoint__number(p->target, &number)) {
		id = number;
	} else if (rc) {
		return rc;
	} else {
		if (!bb_tracepoint__find(p->target, name, sizeof(name)))
			return say_no_tracepoint(p, err);
		snprintf(path, sizeof(path), "%s/%s/id", bb_tracepoint__folder(), name);
		if (bb_root__read_u64(path, &id))
			return say_no_tracepoint(p, err);
	}
	h->pid = -1;
	h->attr.type = PERF_TYPE_TRACEPOINT;
	h->attr.config = id;
	return open_events(h, 1, err);
}

static int set_pmu(struct bb_hook *h, const char *pmu, struct bb_err *err)
{
	char path[128], text[32];
	uint64_t type, bit;

	snprintf(path, sizeof(path), PMUS "%s/type", pmu);
	int rc = bb_root__read_u64(path, &type);
	if (bb_is_shortage(rc))
		return bb_fail(err, rc, PMUS "%s: %m", pmu);
	if (rc)
		return bb_fail(err, -ENOTSUP, "this kernel has no %ss (" PMUS "%s: %s)", pmu, pmu,
			       strerror(-rc));
	h->attr.type = (uint32_t)type;
	if (!h->point.is_return)
		return 0;
	/* sysfs names the bit of `config` for a probe on the function's return: "config:0" */
	snprintf(path, sizeof(path), PMUS "%s/format/retprobe", pmu);
	const char *digits = bb_root__read(path, text, sizeof(text)) < 0 ? NULL : strchr(text, ':');
	if (digits)
		digits++;
	h->attr.config = digits && !bb_parse_digits(&digits, &bit) && bit < 64 ? 1ULL << bit : 1;
	return 0;
}

/* Opens a perf event for each address, unless the program was loaded for a multi link. */
static int open_at_addresses(struct bb_hook *h, struct bb_err *err)
{
	int rc = 0;

	if (bb_multi_link__is_of_users(h->point.attach_type))
		return 0;
	rc = set_pmu(h, "uprobe", err);
	return rc ? rc : open_events(h, h->addresses->n, err);
}

static int open_in_file(struct bb_hook *h, struct bb_err *err)
{
	struct bb_user_target target;

	if (h->point.kind == BB_AT_UPROBE && bb_is_pattern(h->point.target))
		return bb_fail(err, -ENOTSUP,
			       "%s is a pattern, and this kernel has no links to many functions",
			       h->point.target);
	int rc = bb_user_target__find(h->point.target, h->point.kind == BB_AT_USDT, &target,
				      &h->addresses, err);
	if (rc == -ENOENT || rc == -ENOTSUP)
		return bb_fail(err, rc, "%s: %s", bb_attach_point__words(&h->point).text,
			       err ? err->msg : "");
	snprintf(h->path, sizeof(h->path), "%s", target.path);
	return rc ? rc : open_at_addresses(h, err);
}

static int open_own_function(struct bb_hook *h, struct bb_err *err)
{
	/* helpers of a program that was loaded for kprobe.multi need a kprobe.multi link */
	if (bb_multi_link__is_of_kernel(h->point.attach_type))
		return bb_fail(err, -ENOTSUP,
			       "a kprobe.multi program runs on the kernel's functions only, once "
			       "it is loaded as one");
	int rc = bb_own_function__find(h->path, sizeof(h->path), &h->addresses, err);
	return rc ? rc : open_at_addresses(h, err);
}

/* The target is "vfs_read" or "vfs_read+0x10". */
static int open_kprobe(struct bb_hook *h, struct bb_err *err)
{
	const char *target = h->point.target, *plus = strchr(target, '+');
	uint64_t offset = 0;
	int rc = set_pmu(h, "kprobe", err);

	if (rc)
		return rc;
	snprintf(h->path, sizeof(h->path), "%.*s", (int)strcspn(target, "+"), target);
	h->attr.probe_offset = plus && !bb_parse_u64(plus + 1, &offset) ? offset : 0;
	h->pid = -1;
	return open_events(h, 1, err);
}

/* Attaches two idle programs (idle_fd). Without them, attaching a program takes longer. */
static void open_raw_tp(struct bb_hook *h)
{
	int prog_fd = bb_empty_prog__load(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0, "bpfbench_idle");

	if (prog_fd < 0)
		return;
	for (size_t i = 0; i < 2; i++)
		h->idle_fd[i] = bpf_raw_tracepoint_open(h->point.target, prog_fd);
	close(prog_fd);
}

/* Returns -ENOTSUP, with the reason, if the site lacks its network namespace or cgroup. */
static int need_site(const struct bb_fire_site *site, bool network, struct bb_err *err)
{
	if (site && (network ? site->netns_fd : site->cgroup_fd) >= 0)
		return 0;
	return bb_fail(err, -ENOTSUP, "there is no %s to attach it to%s%s",
		       network ? "network namespace of bpfbench's own" : "cgroup2 folder",
		       site ? ": " : "",
		       !site     ? ""
		       : network ? site->why_no_netns
				 : site->why_no_cgroup);
}

int bb_hook__open(const struct bb_attach_point *point, pid_t pid, const struct bb_fire_site *site,
		  bool idle, struct bb_hook *ret_hook, struct bb_err *err)
{
	struct bb_hook *h = ret_hook;
	int rc = 0;

	*h = (struct bb_hook){.point = *point,
			      .pid = pid,
			      .site = site,
			      .attr = {.size = sizeof(h->attr),
				       .sample_period = 1,
				       .wakeup_events = 1},
			      .idle_fd = {-1, -1}};
	switch (point->kind) {
	case BB_AT_TRACEPOINT: rc = open_tracepoint(h, err); break;
	case BB_AT_RAW_TP:
		if (idle)
			open_raw_tp(h);
		break;
	case BB_AT_BTF:
		if (idle && point->attach_type == BPF_TRACE_RAW_TP)
			open_raw_tp(h);
		break;
	case BB_AT_KPROBE: rc = open_kprobe(h, err); break;
	case BB_AT_KPROBE_MULTI: rc = find_functions(h, err); break;
	case BB_AT_UPROBE:
	case BB_AT_UPROBE_MULTI:
	case BB_AT_USDT: rc = open_in_file(h, err); break;
	case BB_AT_OWN_FUNCTION: rc = open_own_function(h, err); break;
	case BB_AT_ITER:
	case BB_AT_OWN_RUN:
	case BB_AT_SK_MSG:
	case BB_AT_REUSEPORT: break; /* nothing to open: the trigger attaches or runs the program */
	case BB_AT_CGROUP: rc = need_site(site, false, err); break;
	case BB_AT_NETNS:
	case BB_AT_NETFILTER: rc = need_site(site, true, err); break;
	case BB_AT_STRUCT_OPS:
		rc = bb_struct_ops__tcp_name(point->map_fd, h->path, sizeof(h->path), err);
		break;
	case BB_AT_NOWHERE:
		rc = bb_fail(err, -ENOTSUP, "its section names no hook that bpfbench attaches to");
		break;
	}
	if (rc)
		bb_hook__close(h);
	return rc;
}

static void close_now(int fd)
{
	bb_close(&fd);
}

static void close_each(int *fds, size_t n, void (*close_one)(int fd))
{
	for (size_t i = 0; fds && i < n; i++) {
		close_one(fds[i]);
		fds[i] = -1;
	}
}

void bb_hook__close(struct bb_hook *h)
{
	if (!h)
		return;
	close_each(h->events, 2 * (size_t)h->n_events, bb_close_later);
	bb_hook__close_now(h);
}

void bb_hook__close_now(struct bb_hook *h)
{
	close_each(h->events, 2 * (size_t)h->n_events, close_now);
	close_each(h->idle_fd, 2, close_now);
	bb_names_free(h->functions, h->n_functions);
	free(h->events);
	free(h->addresses);
	h->events = h->links = NULL;
	h->functions = NULL;
	h->n_functions = 0;
	h->addresses = NULL;
}

/* A link needs Linux 5.15. Older kernels need another perf event for each program. */
static int put_on_event(const struct bb_hook *h, uint32_t i, int prog_fd)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts,
		    .perf_event.bpf_cookie = h->addresses ? h->addresses->cookies[i] : 0);
	int rc, *link = &h->links[i];

	*link = bpf_link_create(prog_fd, h->events[i], BPF_PERF_EVENT, &opts);
	/* EEXIST: the previous program is not yet detached (fire/later.h) */
	for (int k = 0; *link < 0 && errno == EEXIST && k < LEAVING_MS; k++) {
		usleep(1000);
		*link = bpf_link_create(prog_fd, h->events[i], BPF_PERF_EVENT, &opts);
	}
	if (*link >= 0)
		return ioctl(h->events[i], PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
	if (errno != EINVAL)
		return -errno;
	rc = open_event(h, i, link);
	return !rc && (ioctl(*link, PERF_EVENT_IOC_SET_BPF, prog_fd) ||
		       ioctl(*link, PERF_EVENT_IOC_ENABLE, 0))
		       ? -errno
		       : rc;
}

static int put_on_events(const struct bb_hook *h, int prog_fd)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < h->n_events; i++)
		rc = put_on_event(h, i, prog_fd);
	if (rc)
		bb_hook__take_off(h, -1);
	return rc;
}

static int link_of(int fd, int *ret_fd)
{
	*ret_fd = fd;
	return fd < 0 ? -errno : 0;
}

/* Incoming packets in the site's network namespace run the program. */
static int put_on_netfilter(const struct bb_hook *h, int prog_fd, int *ret_fd)
{
	/* members of union bpf_attr for BPF_LINK_CREATE (Linux 6.4) that Debian 12 lacks */
	struct {
		uint32_t prog_fd, target_fd, attach_type, flags;
		uint32_t pf, hooknum;
		int32_t priority;
		uint32_t netfilter_flags;
	} attr = {.prog_fd = (uint32_t)prog_fd,
		  .attach_type = BB_ATTACH_NETFILTER,
		  .pf = NFPROTO_IPV4,
		  .hooknum = NF_INET_LOCAL_IN};
	int home_fd, rc = bb_netns__enter(h->site->netns_fd, &home_fd, NULL);

	if (rc)
		return rc;
	rc = link_of((int)syscall(__NR_bpf, BPF_LINK_CREATE, &attr, sizeof(attr)), ret_fd);
	return bb_netns__leave(home_fd, rc, NULL);
}

static int put_once(const struct bb_hook *h, int prog_fd, int *ret_link_fd)
{
	const struct bb_attach_point *p = &h->point;
	struct bb_multi_addresses addresses = {0};
	int rc = -ENOTSUP;

	*ret_link_fd = -1;
	if (h->addresses)
		addresses = (struct bb_multi_addresses){h->addresses->offsets,
							h->addresses->counters,
							h->addresses->cookies, h->addresses->n};
	switch (p->kind) {
	case BB_AT_TRACEPOINT:
	case BB_AT_KPROBE:
	case BB_AT_UPROBE:
	case BB_AT_UPROBE_MULTI:
	case BB_AT_OWN_FUNCTION:
	case BB_AT_USDT:
		rc = h->n_events ? put_on_events(h, prog_fd)
				 : bb_multi_link__to_file(prog_fd, p->attach_type, p->is_return,
							  h->path, &addresses, h->pid, ret_link_fd);
		break;
	case BB_AT_KPROBE_MULTI:
		rc = bb_multi_link__to_kernel(prog_fd, p->attach_type, p->is_return,
					      (const char *const *)h->functions,
					      (uint32_t)h->n_functions, ret_link_fd);
		break;
	case BB_AT_RAW_TP:
		rc = link_of(bpf_raw_tracepoint_open(p->target, prog_fd), ret_link_fd);
		break;
	case BB_AT_BTF: rc = link_of(bpf_raw_tracepoint_open(NULL, prog_fd), ret_link_fd); break;
	case BB_AT_ITER:
	case BB_AT_OWN_RUN:
	case BB_AT_SK_MSG:
	case BB_AT_REUSEPORT: rc = 0; break;
	case BB_AT_CGROUP:
		rc = link_of(bpf_link_create(prog_fd, h->site->cgroup_fd,
					     (enum bpf_attach_type)p->attach_type, NULL),
			     ret_link_fd);
		break;
	case BB_AT_NETNS:
		rc = link_of(bpf_link_create(prog_fd, h->site->netns_fd,
					     p->prog_type == BPF_PROG_TYPE_SK_LOOKUP
						     ? BPF_SK_LOOKUP
						     : BPF_FLOW_DISSECTOR,
					     NULL),
			     ret_link_fd);
		break;
	case BB_AT_NETFILTER: rc = put_on_netfilter(h, prog_fd, ret_link_fd); break;
	case BB_AT_STRUCT_OPS: /* attaches the struct in the map, which contains the program */
		rc = link_of(bpf_link_create(p->map_fd, 0, BB_ATTACH_STRUCT_OPS, NULL),
			     ret_link_fd);
		break;
	case BB_AT_NOWHERE: break;
	}
	return rc;
}

int bb_hook__put(const struct bb_hook *h, int prog_fd, int *ret_link_fd, struct bb_err *err)
{
	const struct bb_attach_point *p = &h->point;
	int rc = put_once(h, prog_fd, ret_link_fd);

	/* a thread of fire/later.h may still detach the previous program (EBUSY: netfilter) */
	if (rc == -EEXIST || rc == -EBUSY) {
		bb_close_later__wait();
		rc = put_once(h, prog_fd, ret_link_fd);
	}
	if (rc == -ENOENT && p->kind == BB_AT_RAW_TP)
		return say_no_tracepoint(p, err);
	if ((rc == -ENOENT || rc == -ESRCH) && p->kind == BB_AT_KPROBE_MULTI)
		return say_no_function(p->target, err);
	return rc ? bb_fail(err, bb_is_shortage(rc) ? rc : -ENOTSUP,
			    "%s: the kernel does not let the program there: %s",
			    bb_attach_point__words(p).text, strerror(-rc))
		  : 0;
}

void bb_hook__take_off(const struct bb_hook *h, int link_fd)
{
	void (*close_one)(int fd) = h->point.acts_on_all ? close_now : bb_close_later;

	close_each(h->links, h->n_events, close_one);
	close_one(link_fd);
}
