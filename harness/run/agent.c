/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/agent.h"

#include <bpf/bpf.h>
#include <fts.h>
#include <mntent.h>

#include "base/caller.h"
#include "base/child.h"
#include "base/io.h"
#include "base/parse.h"
#include "base/deadline.h"
#include "bpf/rings.h"
#include "env/sysfile.h"
#include "plan/scenario.h"

#define STABLE_S 0.5 /* programs must stay the same for this time before the agent is ready, s */
/* longest wait until the kernel has unloaded the programs of an ended agent, s */
#define UNLOADED_S 2.0
#define PAUSE_US 20000
#define READY_EACH_S 0.2 /* pause between two runs of the --ready command, s */

static bool ids_have(const struct bb_u32_list *ids, uint32_t id)
{
	return BB_ANY(ids->v, ids->n, *it == id);
}

/* Returns the id of the program that a file descriptor refers to, directly or by a link, or 0 if
 * there is none. `name` is the descriptor's file in /proc/PID/fdinfo, relative to `dir_fd`. */
static uint32_t program_behind(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	char text[1024];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	uint64_t id;

	bb_close(&fd);
	text[n > 0 ? n : 0] = '\0';
	const char *at = strstr(text, "\nprog_id:\t");
	at += at ? strlen("\nprog_id:\t") : 0;
	return at && !bb_parse_digits(&at, &id) ? (uint32_t)id : 0;
}

static void add_open_programs(pid_t pid, uint32_t from, struct bb_u32_list *ids)
{
	const struct dirent *e;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", (int)pid);
	DIR *dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		uint32_t id = e->d_name[0] == '.' ? 0 : program_behind(dirfd(dir), e->d_name);

		if (id > from && !ids_have(ids, id))
			BB_PUSH(ids->v, ids->n, id);
	}
	if (dir)
		closedir(dir);
}

/* Finds the programs with an id above `from` that descendants of `root` have open. Ignores the
 * process `but` and its descendants. */
static int find_open(pid_t root, pid_t but, uint32_t from, struct bb_u32_list *ret_ids)
{
	struct bb_processes p;
	int rc = bb_processes__read(root, but, &p);

	if (rc)
		return rc;
	bb_root__begin(); /* only root may read the descriptors of other users' processes */
	for (size_t i = 0; i < p.n; i++)
		add_open_programs(p.pids[i], from, ret_ids);
	bb_root__end();
	bb_processes__done(&p);
	return 0;
}

int bb_owners__find(const uint32_t *ids, size_t n, struct bb_owner *ret_owners)
{
	struct bb_processes p;
	int rc = bb_processes__read(1, 0, &p);

	if (rc)
		return rc;
	memset(ret_owners, 0, n * sizeof(*ret_owners));
	bb_root__begin();
	for (size_t i = 0; i < p.n; i++) {
		struct bb_u32_list open = {0};
		char path[64];

		add_open_programs(p.pids[i], 0, &open);
		snprintf(path, sizeof(path), "/proc/%d/comm", (int)p.pids[i]);
		for (size_t k = 0; open.n && k < n; k++) {
			char *name = ret_owners[k].name;

			if (!name[0] && ids_have(&open, ids[k]) &&
			    bb_sysfile__read("", path, name, sizeof(ret_owners[k].name)))
				name[0] = '\0';
		}
		free(open.v);
	}
	bb_root__end();
	bb_processes__done(&p);
	return 0;
}

/* Adds the new programs that the agent has open (`its`) or no process has open (not `others`). */
static int add_programs(struct bb_agent *a, const struct bb_u32_list *its,
			const struct bb_u32_list *others, struct bb_err *err)
{
	uint32_t id = a->last_id;
	int rc = 0;

	while (!rc && !(rc = bb_loaded__next(id, &id, err))) {
		struct bb_agent_program p = {.is_open = ids_have(its, id)};
		int fd;

		/* a program may be in both lists, because tools that watch all programs open it */
		if (BB_ANY(a->programs, a->n, it->program.id == id) ||
		    (!p.is_open && ids_have(others, id)))
			continue;
		rc = bb_loaded__open(id, &fd, err);
		if (rc == -ENOENT) {
			rc = 0;
			continue;
		}
		if (rc)
			break;
		rc = bb_loaded__read(fd, &p.program, err);
		close(fd);
		if (!rc)
			BB_PUSH(a->programs, a->n, p);
	}
	return rc == -ENOENT ? 0 : rc;
}

/* Adds the agent's new programs to a->programs, and marks the unloaded ones. */
static int find_programs(struct bb_agent *a, struct bb_err *err)
{
	struct bb_u32_list its = {0}, others = {0};
	uint32_t from = a->n ? a->programs[a->n - 1].program.id : 0, id;
	size_t n = a->n;

	for (size_t i = 0; i < n; i++)
		a->programs[i].is_gone = !bb_loaded__is_there(a->programs[i].program.id);
	/* removes the loaded programs that no process had open, to judge them again */
	BB_KEEP(a->programs, a->n, it->is_open || it->is_gone);
	int rc = bb_loaded__next(a->n < n || !n ? a->last_id : from, &id, err);
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	rc = find_open(getpid(), 0, a->last_id, &its);
	if (!rc)
		rc = find_open(1, getpid(), a->last_id, &others);
	rc = rc ? bb_fail(err, rc, "the descriptors of processes: %m")
		: add_programs(a, &its, &others, err);
	/* drops programs that no process has open if the agent has others open */
	if (BB_ANY(a->programs, a->n, it->is_open))
		BB_KEEP(a->programs, a->n, it->is_open);
	free(its.v);
	free(others.v);
	return rc;
}

/* Returns 0 while the agent or one of its processes runs, else -ECHILD with a message. */
static int check_runs(struct bb_agent *a, const char *when, struct bb_err *err)
{
	struct bb_command *c = &a->command;
	struct bb_processes p = {0};

	if (c->pid && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->pid = 0;
	if (c->pid)
		return 0;
	/* not an error if the agent became a daemon, and another process of it runs */
	bool has_others = !c->status && !bb_processes__read(getpid(), 0, &p) && p.n;
	bb_processes__done(&p);
	if (has_others)
		return 0;
	return bb_fail(err, -ECHILD, "the agent '%s' %s %s%s", a->spec->command.shell,
		       bb_how_ended(c->status).text, when, bb_command__tail(c->log_fd).text);
}

static int say_not_ready(const struct bb_agent *a, struct bb_err *err)
{
	if (a->spec->ready)
		return bb_fail(err, -ETIME,
			       "the agent '%s' was not ready within %g s: --ready '%s' still fails "
			       "(%zu programs so far); --ready-within gives it more time%s",
			       a->spec->command.shell, a->spec->ready_s, a->spec->ready, a->n,
			       bb_command__tail(a->command.log_fd).text);
	return bb_fail(err, -ETIME,
		       "the agent '%s' was not ready within %g s: %s; --ready-within gives it more "
		       "time, --ready CMD says by a command when it is ready%s",
		       a->spec->command.shell, a->spec->ready_s,
		       a->n ? "it loads programs all the time, or a thread of it stays in one "
			      "system call"
			    : "it has loaded no BPF program",
		       bb_command__tail(a->command.log_fd).text);
}

/* Returns 1 if the --ready command succeeds, 0 if it fails or takes longer than `most_s`, or
 * -errno. */
static int ask_ready(const struct bb_agent *a, double most_s, struct bb_err *err)
{
	const struct bb_command_spec spec = {.shell = a->spec->ready,
					     .place = {.env = a->spec->command.place.env}};
	struct bb_command c;
	struct rusage usage;
	int rc = bb_command__start(&spec, &c, err), status;

	if (!rc)
		rc = bb_command__wait(&c, most_s, &usage);
	status = c.status;
	bb_command__done(&c);
	if (rc == -EINTR)
		bb_fail_stopped(err, "", "");
	if (rc)
		return rc == -ETIME ? 0 : rc;
	usleep(status ? (useconds_t)(READY_EACH_S * 1e6) : 0);
	return !status;
}

static int wait_ready(struct bb_agent *a, struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns(), same_ns = began_ns;
	struct bb_running running = {0};
	uint32_t newest = 0, id;
	size_t n = 0;
	int rc = 0;

	while (!rc) {
		double left_s = a->spec->ready_s - bb_seconds_since(began_ns);

		rc = check_runs(a, "before it was ready", err);
		if (!rc)
			rc = find_programs(a, err);
		if (rc)
			break;
		/* drops programs that the agent loaded only to test the kernel's features */
		BB_KEEP(a->programs, a->n, !it->is_gone);
		if (bb_stop_signal || left_s <= 0) {
			rc = bb_stop_signal ? bb_fail_stopped(err, "", "") : say_not_ready(a, err);
			break;
		}
		id = a->n ? a->programs[a->n - 1].program.id : 0;
		if (a->n != n || id != newest)
			same_ns = bb_now_ns();
		n = a->n;
		newest = id;
		if (a->spec->ready)
			rc = ask_ready(a, left_s, err);
		else
			rc = !bb_running__in_kernel(&running, getpid()) && n &&
			     bb_seconds_since(same_ns) >= STABLE_S;
		usleep(rc ? 0 : PAUSE_US);
	}
	free(running.v);
	return rc < 0 ? rc : find_programs(a, err);
}

int bb_agent__start(const struct bb_agent_spec *spec, struct bb_agent *ret_agent,
		    struct bb_err *err)
{
	struct bb_agent *a = ret_agent;
	int rc;

	*a = (struct bb_agent){.spec = spec};
	/* the kernel stamps inodes with this clock, and remove_pin() compares with those stamps */
	clock_gettime(CLOCK_REALTIME_COARSE, &a->began);
	while (!(rc = bb_loaded__next(a->last_id, &a->last_id, err)))
		;
	if (rc == -ENOENT)
		rc = bb_command__start(&spec->command, &a->command, err);
	return rc ? rc : wait_ready(a, err);
}

int bb_agent__check(struct bb_agent *a, struct bb_err *err)
{
	int rc = check_runs(a, "while it was measured", err);

	bb_command__limit_log(a->command.log_fd);
	return rc ? rc : find_programs(a, err);
}

int bb_agent__read_counters(struct bb_agent *a, struct bb_err *err)
{
	for (size_t i = 0; i < a->n; i++) {
		struct bb_agent_program *p = &a->programs[i];
		struct bb_prog_stats now = p->now;
		int fd, rc = bb_loaded__open(p->program.id, &fd, err);

		p->is_gone = rc == -ENOENT;
		if (rc && !p->is_gone)
			return rc;
		if (!rc) {
			rc = bb_stats_reader__info(&(struct bb_stats_reader){fd, -1}, &now);
			close(fd);
			if (rc)
				return bb_fail(err, rc, "the counters of program '%s': %m",
					       p->program.name);
		}
		p->since = bb_prog_stats__since(&now, &p->now);
		p->now = now;
	}
	return 0;
}

static struct bb_u32_list map_ids(const struct bb_agent *a)
{
	struct bb_u32_list all = {0};

	for (size_t i = 0; i < a->n; i++) {
		uint32_t ids[BB_MAX_PROG_MAPS];
		int fd = bpf_prog_get_fd_by_id(a->programs[i].program.id);
		int n = bb_prog_map_ids(fd, ids);

		bb_close(&fd);
		for (int k = 0; k < n; k++)
			if (!ids_have(&all, ids[k]))
				BB_PUSH(all.v, all.n, ids[k]);
	}
	return all;
}

double bb_agent__map_bytes(const struct bb_agent *a)
{
	struct bb_u32_list ids = map_ids(a);
	double bytes = 0;

	for (size_t i = 0; i < ids.n; i++)
		bytes += bb_map_bytes_by_id(ids.v[i]);
	free(ids.v);
	return bytes;
}

/* Maps the two pages that hold the reader's and the writer's position (kernel/bpf/ringbuf.c). Maps
 * them read-only, because only the agent may move the reader. */
void bb_agent__open_rings(struct bb_agent *a)
{
	size_t bytes = 2 * (size_t)sysconf(_SC_PAGESIZE);
	struct bb_u32_list ids = map_ids(a);

	for (size_t i = 0; i < ids.n; i++) {
		struct bpf_map_info info = {0};
		int fd = bpf_map_get_fd_by_id(ids.v[i]);
		bool is_known = fd >= 0 && !bb_info__read(fd, &info);
		void *pages = MAP_FAILED;

		if (is_known && info.type == BPF_MAP_TYPE_RINGBUF)
			pages = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
		if (pages != MAP_FAILED) {
			struct bb_agent_ring ring = {.bytes = info.max_entries, .pages = pages};

			memcpy(ring.name, info.name, sizeof(ring.name));
			BB_PUSH(a->rings, a->n_rings, ring);
		}
		a->n_perf_buffers += is_known && info.type == BPF_MAP_TYPE_PERF_EVENT_ARRAY;
		bb_close(&fd);
	}
	free(ids.v);
}

void bb_agent__look_at_rings(struct bb_agent *a)
{
	for (size_t i = 0; i < a->n_rings; i++) {
		struct bb_agent_ring *r = &a->rings[i];
		const char *pages = r->pages;
		unsigned long held =
			bb_ring__bytes_held((const void *)pages,
					    (const void *)(pages + sysconf(_SC_PAGESIZE)));

		r->peak = fmax(r->peak, (double)held / (double)r->bytes);
	}
}

/* Removes the pin `e` if it was made since the agent's start and holds a program of the agent. */
static void remove_pin(const struct bb_agent *a, const FTSENT *e)
{
	const struct timespec *made = &e->fts_statp->st_ctim;
	char info[48];

	if (made->tv_sec < a->began.tv_sec ||
	    (made->tv_sec == a->began.tv_sec && made->tv_nsec < a->began.tv_nsec))
		return;
	int fd = bpf_obj_get(e->fts_accpath);
	snprintf(info, sizeof(info), "/proc/self/fdinfo/%d", fd);
	uint32_t id = fd >= 0 ? program_behind(AT_FDCWD, info) : 0;
	if (id && BB_ANY(a->programs, a->n, it->program.id == id && it->is_open))
		unlink(e->fts_accpath);
	bb_close(&fd);
}

static void remove_pins(const struct bb_agent *a)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *m;
	FTSENT *e;

	while (mounts && (m = getmntent(mounts))) {
		char *roots[] = {m->mnt_dir, NULL};
		FTS *fts = strcmp(m->mnt_type, "bpf")
				   ? NULL
				   : fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);

		while (fts && (e = fts_read(fts)))
			if (e->fts_info == FTS_D && e->fts_statp->st_uid)
				/* only root's folders, because another owner could replace them */
				fts_set(fts, e, FTS_SKIP);
			else if (e->fts_info == FTS_F)
				remove_pin(a, e);
		if (fts)
			fts_close(fts);
	}
	if (mounts)
		endmntent(mounts);
}

/* Waits for unloading. Returns how many programs stay loaded, and writes their names. */
static size_t wait_unloaded(const struct bb_agent *a, char *ret_names, size_t size)
{
	uint64_t began_ns = bb_now_ns();
	size_t left = 0, used = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct bb_loaded *p = &a->programs[i].program;

		while (bb_loaded__is_there(p->id) && bb_seconds_since(began_ns) < UNLOADED_S)
			usleep(PAUSE_US);
		if (!bb_loaded__is_there(p->id))
			continue;
		if (used < size - 96)
			used += (size_t)sprintf(ret_names + used, "%s'%.60s' (id %u)",
						left ? ", " : "", p->name, p->id);
		left++;
	}
	return left;
}

int bb_agent__stop(struct bb_agent *a, bool *ret_killed, size_t *ret_cleaned, struct bb_err *err)
{
	const struct bb_ending all = {.root = getpid(), .steps = {{SIGTERM, 5}, {SIGKILL, 2}}};
	struct bb_err late = {0}, ending = {0};
	char names[256];
	int rc, last;

	*ret_killed = false;
	*ret_cleaned = 0;
	if (!a->spec)
		return 0;
	find_programs(a, &late);
	rc = bb_processes__end(&all, &last);
	*ret_killed = last == SIGKILL;
	if (rc)
		bb_fail(&ending, rc, "a process of the agent '%s' does not end",
			a->spec->command.shell);
	else
		a->command.pid = 0; /* the process was reaped, so its pid is no longer valid */
	bb_command__done(&a->command);
	size_t left = rc ? 0 : wait_unloaded(a, names, sizeof(names));
	if (left && a->spec->cleans) {
		*ret_cleaned = left;
		remove_pins(a);
		left = wait_unloaded(a, names, sizeof(names));
		*ret_cleaned -= left;
	}
	if (left)
		rc = bb_fail(&ending, -EBUSY,
			     "the agent '%s' has ended and left %zu of its programs loaded: %s; "
			     "turns without it would be turns with them. %s; or give an --agent "
			     "command that removes them when it gets SIGTERM",
			     a->spec->command.shell, left, names,
			     a->spec->cleans ? "--clean removes only pins that the agent made "
					       "itself"
					     : "--clean removes the pins that it made");
	for (size_t i = 0; i < a->n_rings; i++)
		munmap(a->rings[i].pages, 2 * (size_t)sysconf(_SC_PAGESIZE));
	free(a->rings);
	free(a->programs);
	*a = (struct bb_agent){0};
	return rc ? bb_fail(err, rc, "%s", ending.msg) : 0;
}
