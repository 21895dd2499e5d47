/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/firer.h"

#include <linux/mount.h>

#include "base/caller.h"
#include "base/kernel_fs.h"
#include "base/deadline.h"
#include "base/io.h"
#include "bpf/netns.h"
#include "fire/later.h"

/* index of the loopback device in every network namespace */
#define LOOPBACK_IFINDEX 1
/* inode number of the machine's first PID namespace: include/linux/proc_ns.h */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCU
#define STUCK_S 5.0 /* limit: seconds for a firing; a child that takes longer is stuck */
#define LOOK_MS 1000
/* bytes for struct bb_fire_task at the start of the shared memory: whole cache lines */
#define HEAD_BYTES 256u

/* If this fails, network triggers use the machine's loopback device. */
static void open_netns(struct bb_fire_site *p)
{
	struct bb_err err = {0};
	int home_fd, rc = bb_netns__open(&p->netns_fd, &err);

	if (!rc)
		rc = bb_netns__enter(p->netns_fd, &home_fd, &err);
	if (!rc) {
		rc = bb_rtnl__up(LOOPBACK_IFINDEX);
		if (rc)
			bb_fail(&err, rc, "its loopback device: %m");
		rc = bb_netns__leave(home_fd, rc, &err);
	}
	if (rc && p->netns_fd >= 0) {
		close(p->netns_fd);
		p->netns_fd = -1;
	}
	if (rc)
		snprintf(p->why_no_netns, sizeof(p->why_no_netns), "%.190s", err.msg);
}

/* The keeper: removes the site's cgroup when the site is closed or our process has ended. */
static int remove_cgroups_at_end(void *arg, int alive)
{
	const struct bb_fire_site *p = arg;
	char inner[300];

	bb_child__sleep(alive);
	/* the trigger `cgroup` leaves this folder behind if its process is killed */
	snprintf(inner, sizeof(inner), "%s/c", p->cgroup);
	bb_root__begin();
	/* rmdir() fails with EBUSY while a process is in the cgroup, so try for about 2 s */
	for (int i = 0; i < 100 && (rmdir(inner), rmdir(p->cgroup)) && errno == EBUSY; i++)
		usleep(20000);
	return 0;
}

static int make_cgroup(struct bb_fire_site *p)
{
	static const struct bb_child_rules rules = {
		.link = BB_LINK_TO_CHILD,
		.signals = BB_SIGNALS_IGNORED,
		.name = "bpfbench-keeper",
		.own_session = true,
		.std = {BB_STD_NULL, BB_STD_NULL, BB_STD_NULL},
		.closes_others = true,
		.outlives = true,
	};
	static unsigned int made;
	char parent[200];
	struct stat st;
	int rc = 0;

	if (!bb_cgroup2__find(parent, sizeof(parent)))
		return -ENODEV;
	snprintf(p->cgroup, sizeof(p->cgroup), "%s/bpfbench-%d-%u", parent, (int)getpid(), made++);
	rc = bb_child__start(&rules, remove_cgroups_at_end, p, &p->keeper);
	if (rc)
		return rc;
	bb_root__begin();
	if (mkdir(p->cgroup, 0755))
		rc = -errno;
	p->cgroup_fd = rc ? -1 : open(p->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!rc && (p->cgroup_fd < 0 || fstat(p->cgroup_fd, &st)))
		rc = -errno;
	bb_root__end();
	p->cgroup_id = rc ? 0 : st.st_ino; /* the id of a cgroup2 is its inode number, on 64 bits */
	return rc;
}

static struct bb_fire_site the_site;
static size_t n_users;

struct bb_fire_site *bb_fire_site__share(int cpu, int other_cpu, const struct bb_fire_user *user)
{
	struct bb_fire_site *p = &the_site;

	if (n_users++)
		return p;
	*p = (struct bb_fire_site){.other_cpu = other_cpu == cpu ? -1 : other_cpu,
				   .netns_fd = -1,
				   .cgroup_fd = -1,
				   .user = *user};
	int rc = make_cgroup(p);
	open_netns(p);
	if (rc)
		snprintf(p->why_no_cgroup, sizeof(p->why_no_cgroup), "%s",
			 rc == -ENODEV ? "no cgroup2 file system is mounted; " BB_CGROUP2_REMEDY
				       : strerror(-rc));
	return p;
}

void bb_fire_site__unshare(struct bb_fire_site *p)
{
	if (!p || --n_users)
		return;
	bb_close(&p->netns_fd);
	bb_close(&p->cgroup_fd);
	if (p->keeper.pid > 0) {
		close(p->keeper.fd);
		bb_wait_for(p->keeper.pid);
	}
}

const struct bb_fire_site *bb_fire_site__shared(void)
{
	return n_users ? &the_site : NULL;
}

/* --- in the child, which fires --- */

int bb_firing__open(struct bb_firing *f, const struct bb_trigger *t,
		    const struct bb_attach_point *point, int prog_fd,
		    const struct bb_fire_task *task)
{
	int rc = 0;

	*f = (struct bb_firing){.trigger = t,
				.page_bytes = (size_t)sysconf(_SC_PAGESIZE),
				.prog_fd = prog_fd,
				.call_fd = task->call_fd,
				.site = task->site,
				.point = point};
	for (size_t i = 0; i < BB_FIRING_FDS; i++)
		f->fd[i] = -1;
	f->page = bb_map_pages(2 * f->page_bytes, MAP_PRIVATE | MAP_POPULATE);
	if (t->open)
		rc = t->open(f);
	bb_trigger__resolve_calls(f);
	return rc;
}

void bb_firing__close(struct bb_firing *f)
{
	if (f->trigger->close)
		f->trigger->close(f);
	bb_child__stop(&(struct bb_child){.pid = f->pid, .fd = -1, .report_fd = -1});
	for (size_t i = 0; i < BB_FIRING_FDS; i++)
		bb_close(&f->fd[i]);
	munmap(f->page, 2 * f->page_bytes);
}

struct firing_child {
	const struct bb_firer *firer;
	void *arg;
};

/* The child's working folder becomes a tmpfs that is mounted nowhere. The kernel removes it with
 * the last process that uses it. */
static int enter_site(void *arg)
{
	const struct bb_fire_site *p = ((const struct firing_child *)arg)->firer->task->site;
	int fs, fd;

	/* Ctrl-C signals this child, too, but only its parent may end it */
	signal(SIGINT, SIG_IGN);
	signal(SIGALRM, SIG_IGN);
	bb_root__begin();
	if (p->cgroup_fd >= 0) {
		fd = openat(p->cgroup_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, "0", 1) != 1)
			return -errno;
		close(fd);
	}
	if (p->netns_fd >= 0 && setns(p->netns_fd, CLONE_NEWNET))
		return -errno;
	fs = (int)syscall(SYS_fsopen, "tmpfs", 1U /* FSOPEN_CLOEXEC */);
	if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return -errno;
	fd = (int)syscall(SYS_fsmount, fs, 1U /* FSMOUNT_CLOEXEC */,
			  MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (fd < 0 || fchdir(fd))
		return -errno;
	close(fd);
	close(fs);
	return 0;
}

static int serve(void *arg, int fd)
{
	const struct firing_child *c = arg;
	struct bb_fire_task *task = c->firer->task;
	char byte;

	while (recv(fd, &byte, 1, 0) == 1) {
		task->rc = task->work(c->arg, task, c->firer->shared);
		if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1)
			break;
	}
	return 0;
}

/* --- in the parent --- */

/* Returns 0, -EINTR or -ETIME (base/deadline.h), -ESRCH if the child ended, -ETIMEDOUT if it is
 * stuck. */
static int wait_for(const struct bb_firer *f)
{
	uint64_t began_ns = bb_now_ns(), beats = 0;
	struct pollfd p = {.fd = f->child.fd, .events = POLLIN};
	char byte;

	while (poll(&p, 1, LOOK_MS) <= 0) {
		int rc = bb_must_end_why();
		if (rc)
			return rc;
		if (f->task->beats != beats) {
			beats = f->task->beats;
			began_ns = bb_now_ns();
		}
		if (bb_seconds_since(began_ns) > STUCK_S)
			return -ETIMEDOUT;
	}
	return recv(f->child.fd, &byte, 1, 0) == 1 ? 0 : -ESRCH;
}

void bb_firer__stop(struct bb_firer *f)
{
	if (!f)
		return;
	bb_child__stop(&f->child);
	bb_child__stop(&f->call);
	if (f->task)
		munmap(f->task, f->bytes);
	*f = (struct bb_firer){0};
}

/* Reports that the child is stuck or has ended, and kills it if it is stuck. Returns -ESRCH. */
static int say_gone(struct bb_firer *f, bool is_stuck, struct bb_err *err)
{
	const struct bb_trigger *t = f->task->in_work;

	if (is_stuck)
		kill(f->child.pid, SIGKILL);
	int status = bb_wait_for(f->child.pid);
	f->child.pid = 0;
	close(f->child.fd);
	if (is_stuck)
		return bb_fail(err, -ESRCH,
			       "trigger %s did not come back within %g s, and was ended",
			       t ? t->name : "", STUCK_S);
	return bb_fail(err, -ESRCH, "%s%s: the process that fires %s; by the program?",
		       t ? "trigger " : "", t ? t->name : "its trigger", bb_how_ended(status).text);
}

int bb_firer__do(struct bb_firer *f, bb_fire_work *work, struct bb_err *err)
{
	char byte = 0;

	f->task->work = work;
	if (f->child.pid <= 0)
		return bb_fail(err, -ESRCH, "the process that fires has ended before");
	int rc = send(f->child.fd, &byte, 1, MSG_NOSIGNAL) == 1 ? wait_for(f) : -ESRCH;
	if (rc == -ESRCH || rc == -ETIMEDOUT)
		return say_gone(f, rc == -ETIMEDOUT, err);
	/* after a signal or at the end of the budget, the results so far count */
	if (rc) {
		kill(f->child.pid, SIGKILL);
		return rc;
	}
	return f->task->rc;
}

pid_t bb_firer__probed(const struct bb_firer *f, const struct bb_attach_point *point)
{
	if (point->pid)
		return (pid_t)point->pid;
	if (f->call.pid > 0)
		return f->call.pid;
	return point->by && point->by->run ? -1 : f->child.pid;
}

int bb_firer__start(const struct bb_fire_site *site, const struct bb_attach_point *point, void *arg,
		    size_t shared_bytes, struct bb_firer *ret_firer, struct bb_err *err)
{
	struct bb_firer f = {.call.fd = -1, .bytes = HEAD_BYTES + shared_bytes};
	struct firing_child child = {&f, arg};
	struct bb_child_rules rules = {
		.link = BB_LINK_SOCKET,
		.name = BB_FIRER_NAME,
		.before = enter_site,
	};
	struct bb_user_target target;
	int rc = 0;

	if (point->by && point->by->call) {
		rc = bb_user_target__parse(point->target, point->kind == BB_AT_USDT, &target, err);
		if (!rc)
			rc = bb_call_child__start(&site->user, target.path, point->by,
						  point->self_pid, &f.call, err);
	}
	if (rc)
		return rc;
	/* the process that calls a function, if any, gets the reserved pid instead of this child */
	rules.pid = f.call.pid > 0 ? 0 : point->self_pid;
	f.task = bb_map_pages(f.bytes, MAP_SHARED | MAP_POPULATE);
	f.task->site = site;
	f.task->call_fd = f.call.fd;
	f.shared = (char *)f.task + HEAD_BYTES;
	if (rules.pid)
		bb_close_later__wait();
	rc = bb_child__start(&rules, serve, &child, &f.child);
	if (!rc) {
		*ret_firer = f;
		return 0;
	}
	if (f.child.pid < 0 && point->self_pid)
		rc = bb_fail(err, -EAGAIN, "pid %d, which the program was told: %s",
			     (int)point->self_pid, strerror(-rc));
	else
		bb_fail(err, rc, "starting the process that fires: %m");
	bb_firer__stop(&f);
	return rc;
}

static int end_at_once(void *, int)
{
	return 0;
}

int bb_reserve_pid(pid_t *ret_pid, struct bb_err *err)
{
	static const struct bb_child_rules rules = {0};
	struct bb_child c;
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino != FIRST_PID_NAMESPACE)
		return bb_fail(err, -ENOTSUP,
			       "{pid: self}: bpfbench runs in a PID namespace, and does not know "
			       "which pid programs see there");
	int rc = bb_child__start(&rules, end_at_once, NULL, &c);
	if (rc)
		return bb_fail(err, rc, "fork: %m");
	*ret_pid = c.pid;
	bb_wait_for(c.pid);
	return 0;
}
