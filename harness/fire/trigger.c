/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/trigger.h"

#include <linux/bpf.h>

#include "fire/triggers.h"

/* The tables, in the order in which their triggers are tried. */
static const struct bb_trigger *const tables[] = {
	bb_triggers_time,   bb_triggers_memory,  bb_triggers_file,     bb_triggers_socket,
	bb_triggers_cgroup, bb_triggers_process, bb_triggers_call,     bb_triggers_function,
	bb_triggers_xdp,    bb_triggers_packet,  bb_triggers_attached, bb_triggers_tcp,
};

const struct bb_trigger *bb_trigger_at(size_t i)
{
	for (size_t t = 0; t < BB_LEN(tables); t++)
		for (const struct bb_trigger *row = tables[t]; row->name; row++)
			if (!i--)
				return row;
	return NULL;
}

static long resolve(const struct bb_firing *f, long arg)
{
	if (arg >= PAGE && arg < PAGE + (long)sizeof(struct bb_firing_page))
		return (long)f->page + (arg - PAGE);
	switch (arg) {
	case FD0:
	case FD1:
	case FD2: return f->fd[arg - FD0];
	case CGROUP_FD: return f->site->cgroup_fd;
	case CHILD_PID: return f->pid;
	case OWN_PID: return getpid();
	case OWN_TID: return syscall(SYS_gettid);
	case ADDRESS_BYTES: return bb_firing__address_bytes(f);
	case PAGE_BYTES: return (long)f->page_bytes;
	case NEXT_PAGE: return (long)(f->page + f->page_bytes);
	default: return arg;
	}
}

void bb_trigger__resolve_calls(struct bb_firing *f)
{
	struct bb_firing_page *page = bb_firing__page(f);

	strcpy(page->path, "f");
	strcpy(page->no_path, "none");
	strcpy(page->here, ".");
	page->vector = (struct iovec){.iov_base = page->buffer, .iov_len = 1};
	page->moment.tv_nsec = 1;
	page->one = 1;
	page->length = sizeof(struct sockaddr_in6);
	for (size_t i = 0; i < BB_TRIGGER_CALLS; i++) {
		f->calls[i] = f->trigger->calls[i];
		for (size_t k = 0; k < 6; k++)
			f->calls[i].args[k] = resolve(f, f->calls[i].args[k]);
	}
}

int bb_trigger__call(struct bb_firing *f)
{
	for (size_t i = 0; i < BB_TRIGGER_CALLS && f->calls[i].kind; i++) {
		const long *a = f->calls[i].args;
		long ret = syscall(f->calls[i].nr, a[0], a[1], a[2], a[3], a[4], a[5]);

		if (ret < 0 && f->calls[i].kind != BB_CALL_FAILS)
			return -errno;
		if (f->calls[i].kind == BB_CALL_MAKES_FD)
			close((int)ret);
	}
	return 0;
}

const char *bb_trigger__asked_for(const struct bb_attach_point *p)
{
	if (p->pid)
		return "wait";
	if (!p->by)
		return NULL;
	return p->by->trigger ? p->by->trigger : p->by->call ? "call" : "run";
}

bool bb_trigger__is_for(const struct bb_trigger *t, const struct bb_attach_point *p)
{
	const char *asked_for = bb_trigger__asked_for(p);

	if (asked_for ? strcmp(t->name, asked_for) != 0 : t->on_demand)
		return false;
	if (!asked_for && t->only_named && bb_trigger__distance(t, p))
		return false;
	return t->at == (bb_attach_kinds[p->kind].has_triggers ? p->kind : BB_AT_NOWHERE);
}

/* Prefixes that are removed from names. "sys_enter_" and "sys_exit_" must come before "sys_". */
static const char *const prefixes[] = {
	"sys_enter_", "sys_exit_", "__x64_sys_", "__arm64_sys_", "__se_sys_", "__do_sys_",
	"do_sys_",    "ksys_",     "__sys_",     "sys_",         "security_",
};

/* Returns "openat" for "syscalls/sys_enter_openat", "libc.so.6:openat" and "__x64_sys_openat". */
static const char *core_of(const char *target)
{
	const char *slash = strrchr(target, '/'), *colon = strrchr(target, ':'), *name = target;

	name = slash ? slash + 1 : name;
	name = colon && colon >= name ? colon + 1 : name;
	for (size_t i = 0; i < BB_LEN(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return name + strlen(prefixes[i]);
	return name;
}

unsigned int bb_trigger__distance(const struct bb_trigger *t, const struct bb_attach_point *p)
{
	const char *core = core_of(p->target), *word = t->words;
	unsigned int nearest = 2;

	while (word && *word) {
		size_t len = strcspn(word, " ");

		if (len == strlen(core) && !memcmp(word, core, len))
			return 0;
		if (len >= 3 && memmem(core, strlen(core), word, len))
			nearest = 1;
		word += len + (word[len] == ' ');
	}
	return nearest;
}
