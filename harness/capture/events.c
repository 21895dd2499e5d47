/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a program is attached that belongs to a perf event. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/caller.h"
#include "base/parse.h"
#include "base/kernel_fs.h"
#include "capture/take.h"

static const char *const software[] = {
	"cpu-clock",    "task-clock",   "page-faults",      "context-switches", "cpu-migrations",
	"minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy",
};
static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

/* The number of a dynamic kind of perf events, "kprobe" or "uprobe"; 0: there is none. */
static uint32_t type_of(const char *pmu)
{
	char path[128], text[32] = "";
	uint64_t type = 0;
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	fd = bb_root__open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) > 0) {
		text[strcspn(text, "\n")] = '\0';
		if (bb_parse_u64(text, &type) || type > UINT32_MAX)
			type = 0;
	}
	close(fd);
	return (uint32_t)type;
}

static void say_rate(const struct perf_event_attr *attr, const char *name,
		     struct bb_captured_attachment *a)
{
	snprintf(a->where, sizeof(a->where), attr->freq ? "%s, %llu Hz" : "%s, every %llu", name,
		 (unsigned long long)(attr->freq ? attr->sample_freq : attr->sample_period));
}

static const char *name_in(const char *const *names, size_t n, uint64_t config)
{
	return config < n ? names[config] : "an event of the CPU";
}

void bb_describe_event(const struct bb_opened_event *e, struct bb_captured_attachment *a)
{
	const struct perf_event_attr *attr = &e->attr;

	if (attr->type == PERF_TYPE_SOFTWARE) {
		say_rate(attr,
			 name_in(software, sizeof(software) / sizeof(software[0]), attr->config),
			 a);
	} else if (attr->type == PERF_TYPE_HARDWARE) {
		say_rate(attr,
			 name_in(hardware, sizeof(hardware) / sizeof(hardware[0]), attr->config),
			 a);
	} else if (attr->type == PERF_TYPE_TRACEPOINT) {
		snprintf(a->kind, sizeof(a->kind), "tracepoint");
		snprintf(a->where, sizeof(a->where), "id %llu", (unsigned long long)attr->config);
	} else if (attr->type == type_of("kprobe")) {
		snprintf(a->kind, sizeof(a->kind), attr->config & 1 ? "kretprobe" : "kprobe");
		snprintf(a->where, sizeof(a->where), "%s", e->name);
	} else if (attr->type == type_of("uprobe")) {
		snprintf(a->kind, sizeof(a->kind), attr->config & 1 ? "uretprobe" : "uprobe");
		snprintf(a->where, sizeof(a->where), "%.200s:0x%llx", e->name,
			 (unsigned long long)attr->config2);
	} else {
		say_rate(attr, "an event of the CPU", a);
	}
}

void bb_name_tracepoint(struct bb_captured_attachment *a)
{
	if (!strcmp(a->kind, "tracepoint"))
		bb_tracepoint__find(a->where, a->where, sizeof(a->where));
}

/* bpf_task_fd_query() of our own copy: the kernel describes the event once it has a program. */
bool bb_ask_event(int event_fd, struct bb_captured_attachment *a)
{
	static const char *const kinds[] = {
		[BPF_FD_TYPE_RAW_TRACEPOINT] = "raw_tracepoint",
		[BPF_FD_TYPE_TRACEPOINT] = "tracepoint",
		[BPF_FD_TYPE_KPROBE] = "kprobe",
		[BPF_FD_TYPE_KRETPROBE] = "kretprobe",
		[BPF_FD_TYPE_UPROBE] = "uprobe",
		[BPF_FD_TYPE_URETPROBE] = "uretprobe",
	};
	char name[sizeof(a->where) - 32] = "";
	__u32 len = sizeof(name), prog_id, type = 0;
	__u64 offset = 0, address;
	int rc = bpf_task_fd_query(getpid(), event_fd, 0, name, &len, &prog_id, &type, &offset,
				   &address);

	if (!rc && type < sizeof(kinds) / sizeof(kinds[0]) && *name) {
		snprintf(a->kind, sizeof(a->kind), "%s", kinds[type]);
		if (type >= BPF_FD_TYPE_UPROBE)
			snprintf(a->where, sizeof(a->where), "%s:0x%llx", name,
				 (unsigned long long)offset);
		else
			snprintf(a->where, sizeof(a->where), "%s", name);
	}
	return rc != -ENOENT; /* the event has no program */
}
