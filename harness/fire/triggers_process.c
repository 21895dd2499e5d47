/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers of processes, of signals, of the scheduler, of timers and of memory. */
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/timerfd.h>

#include "fire/triggers.h"

/* `pid` is the result of fork(), which may be an error. */
static int wait_for(pid_t pid)
{
	return bb_failed(pid < 0 || bb_wait_for(pid) < 0);
}

static void *no_thread(void *arg)
{
	return arg;
}

static int fire_thread(struct bb_firing *)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, no_thread, NULL);

	return rc ? -rc : -pthread_join(thread, NULL);
}

static int fire_fork(struct bb_firing *f)
{
	pid_t pid = f->trigger->option ? vfork() : fork();

	if (!pid)
		_exit(0);
	return wait_for(pid);
}

/* Executes `true` or, if there is none, bpfbench, which prints its version. */
static int open_exec(struct bb_firing *f)
{
	static const char *const programs[] = {"/bin/true", "/usr/bin/true", "/proc/self/exe"};
	size_t i = 0;

	while (i < 2 && access(programs[i], X_OK))
		i++;
	f->own = (long)programs[i];
	return bb_failed(access(programs[i], X_OK));
}

static int fire_exec(struct bb_firing *f)
{
	const char *program = (const char *)f->own;
	pid_t pid = vfork();

	if (!pid) {
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		execl(program, "true", "--version", NULL);
		_exit(127);
	}
	return wait_for(pid);
}

static void on_signal(int)
{
}

static int open_signal(struct bb_firing *)
{
	const struct sigaction action = {.sa_handler = on_signal};

	return bb_failed(sigaction(SIGUSR2, &action, NULL));
}

static int open_traced(struct bb_firing *f)
{
	f->pid = fork();
	if (!f->pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	return wait_for(f->pid);
}

const struct bb_trigger bb_triggers_process[] = {
	{"signal", "a signal to ourselves, which is caught",
	 "signal_generate signal_deliver signal kill rt_sigreturn send_signal", open_signal,
	 BB_FIRES(BB_DO(kill, OWN_PID, SIGUSR2))},
	/* the call succeeds, although the child has no event message */
	{"ptrace", "look at a child that stands still (ptrace)", "ptrace ptrace_access_check",
	 open_traced, BB_FIRES(BB_DO(ptrace, PTRACE_GETEVENTMSG, CHILD_PID, 0, BUFFER))},
	{"thread", "a thread that ends at once, waited for",
	 "task_newtask exit clone clone3 sched_wakeup_new wake_up_new_task do_exit",
	 .fire = fire_thread},
	{"vfork", "a process that ends at once, waited for",
	 "vfork sched_process_fork sched_process_exit sched_process_wait sched_process_free "
	 "task_newtask exit_group wait4 do_exit kernel_clone",
	 .fire = fire_fork, .option = 1},
	{"fork", "as `vfork`, with a copy of our memory", "fork clone copy_process dup_mm",
	 .fire = fire_fork},
	{"exec", "a process that runs `true`, waited for",
	 "sched_process_exec execve exec bprm load_elf_binary bprm_check", open_exec,
	 .fire = fire_exec},
	{0},
};

static int open_timerfd(struct bb_firing *f)
{
	f->fd[0] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	return bb_failed(f->fd[0] < 0);
}

static int fire_timerfd(struct bb_firing *f)
{
	const struct itimerspec soon = {.it_value = {.tv_nsec = 1}};
	uint64_t n;

	return bb_failed(timerfd_settime(f->fd[0], 0, &soon, NULL) ||
			 read(f->fd[0], &n, sizeof(n)) < 0);
}

/* A thread that wakes us when we have woken it. */
static void *answer(void *arg)
{
	const struct bb_firing *f = arg;
	uint64_t n;

	while (read(f->fd[0], &n, sizeof(n)) == sizeof(n) && n == 1)
		if (write(f->fd[1], &n, sizeof(n)) != sizeof(n))
			break;
	return NULL;
}

static int open_partner(struct bb_firing *f)
{
	pthread_t thread;

	f->fd[0] = eventfd(0, EFD_CLOEXEC);
	f->fd[1] = eventfd(0, EFD_CLOEXEC);
	if (f->fd[0] < 0 || f->fd[1] < 0)
		return -errno;
	if (pthread_create(&thread, NULL, answer, f))
		return -EAGAIN;
	f->own = (long)thread;
	return 0;
}

static int fire_partner(struct bb_firing *f)
{
	uint64_t n = 1;

	return bb_failed(write(f->fd[0], &n, sizeof(n)) != sizeof(n) ||
			 read(f->fd[1], &n, sizeof(n)) != sizeof(n));
}

static void close_partner(struct bb_firing *f)
{
	uint64_t end = 2;

	if (f->own && write(f->fd[0], &end, sizeof(end)) == sizeof(end))
		pthread_join((pthread_t)f->own, NULL);
}

static int fire_migrate(struct bb_firing *f)
{
	cpu_set_t here, there;

	if (f->site->other_cpu < 0)
		return -ENODEV;
	CPU_ZERO(&there);
	CPU_SET((size_t)f->site->other_cpu, &there);
	return bb_failed(sched_getaffinity(0, sizeof(here), &here) ||
			 sched_setaffinity(0, sizeof(there), &there) ||
			 sched_setaffinity(0, sizeof(here), &here));
}

const struct bb_trigger bb_triggers_time[] = {
	{"counters", "nothing but the system call that reads the program's counters",
	 "bpf sys_enter sys_exit", .fire = NULL},
	{"task-rename", "a thread gives itself a name (prctl)", "task_rename prctl set_task_comm",
	 BB_FIRES(BB_DO(prctl, PR_SET_NAME, (long)"bpfbench"))},
	{"sched-yield", "sched_yield", "sched_yield yield", BB_FIRES(BB_DO(sched_yield))},
	{"nanosleep", "sleep for a nanosecond: off the CPU, a timer, a wakeup, on again",
	 "nanosleep sched_switch sched_wakeup sched_waking hrtimer_start hrtimer_init "
	 "hrtimer_expire_entry hrtimer_expire_exit hrtimer_cancel hrtimer sched_stat "
	 "finish_task_switch try_to_wake_up schedule local_timer",
	 BB_FIRES(BB_DO(nanosleep, MOMENT, 0))},
	{"clock-nanosleep", "as `nanosleep`, by clock_nanosleep", "clock_nanosleep",
	 BB_FIRES(BB_DO(clock_nanosleep, CLOCK_MONOTONIC, 0, MOMENT, 0))},
	{"timerfd", "set a timerfd to a nanosecond and wait for it",
	 "timerfd_settime timerfd hrtimer_start", open_timerfd, .fire = fire_timerfd},
	{"wakeup", "wake a thread on the same CPU and wait until it wakes us",
	 "eventfd sched_switch sched_wakeup sched_waking sched futex", open_partner,
	 .fire = fire_partner, .close = close_partner},
	{"migrate", "to another CPU and back",
	 "sched_migrate_task sched_setaffinity migrate set_cpus_allowed", .fire = fire_migrate},
	{0},
};

#define RECLAIM_BYTES 65536
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21 /* Linux 5.4 */
#endif

/* Drops a page and writes to it, which causes exactly one page fault. */
static int fire_fault(struct bb_firing *f)
{
	char *page = f->page + f->page_bytes;

	if (madvise(page, f->page_bytes, MADV_DONTNEED))
		return -errno;
	*(volatile char *)page = 1;
	return 0;
}

static int fire_map(struct bb_firing *f)
{
	char *page = mmap(NULL, f->page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (page == MAP_FAILED)
		return -errno;
	if (f->trigger->option)
		*(volatile char *)page = 1;
	return bb_failed(munmap(page, f->page_bytes));
}

static int fire_brk(struct bb_firing *f)
{
	long top = syscall(SYS_brk, 0);

	return bb_failed(syscall(SYS_brk, top + (long)f->page_bytes) < 0 ||
			 syscall(SYS_brk, top) < 0);
}

/* `volatile` keeps the compiler from removing the allocation and the free(). */
static int freed(void *volatile p)
{
	free(p);
	return p ? 0 : -ENOMEM;
}

static int fire_malloc(struct bb_firing *)
{
	return freed(malloc(64));
}

/* Unlike malloc(), calloc() does not use the per-thread cache of the C library. */
static int fire_calloc(struct bb_firing *)
{
	return freed(calloc(1, 64));
}

static int fire_realloc(struct bb_firing *)
{
	return freed(realloc(NULL, 64));
}

static int fire_aligned(struct bb_firing *)
{
	void *p = NULL;
	int rc = posix_memalign(&p, 64, 64);

	free(p);
	return -rc;
}

static int fire_aligned_alloc(struct bb_firing *)
{
	return freed(aligned_alloc(64, 64));
}

/* Without swap, the kernel examines the page, but cannot reclaim it. */
static int fire_pageout(struct bb_firing *f)
{
	f->page[0] = 1;
	return bb_failed(madvise(f->page, f->page_bytes, MADV_PAGEOUT));
}

/* fd[0] is memory.reclaim of our cgroup (Linux 5.19). fd[1] is our executable, which leaves the
 * page cache, because a page is charged to the cgroup that first reads it. */
static int open_reclaim(struct bb_firing *f)
{
	if (f->site->cgroup_fd < 0)
		return -ENODEV;
	f->fd[0] = openat(f->site->cgroup_fd, "memory.reclaim", O_WRONLY | O_CLOEXEC);
	f->fd[1] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (f->fd[0] < 0 || f->fd[1] < 0)
		return -errno;
	return -posix_fadvise(f->fd[1], 0, 0, POSIX_FADV_DONTNEED);
}

/* Reads the executable's end (debugging information, if any), which no process has mapped. */
static int fire_reclaim(struct bb_firing *f)
{
	off_t end = lseek(f->fd[1], 0, SEEK_END);

	for (off_t at = end > RECLAIM_BYTES ? end - RECLAIM_BYTES : 0; at < end;
	     at += (off_t)f->page_bytes)
		if (pread(f->fd[1], f->page, f->page_bytes, at) < 0)
			return -errno;
	return bb_failed(write(f->fd[0], "4096", 4) < 0);
}

const struct bb_trigger bb_triggers_memory[] = {
	{"malloc", "malloc and free of the C library", "malloc free", .fire = fire_malloc},
	{"calloc", "calloc and free", "calloc", .fire = fire_calloc},
	{"realloc", "realloc and free", "realloc", .fire = fire_realloc},
	{"memalign", "posix_memalign and free", "posix_memalign memalign", .fire = fire_aligned},
	{"aligned-alloc", "aligned_alloc and free", "aligned_alloc", .fire = fire_aligned_alloc},
	{"page-fault", "drop a page (madvise) and write to it",
	 "page_fault_user page_fault handle_mm_fault mm_page_alloc mm_page_free exceptions madvise",
	 .fire = fire_fault},
	{"mmap", "map a page and unmap it",
	 "mmap munmap vm_mmap do_mmap kmem_cache_alloc kmem_cache_free", .fire = fire_map},
	{"mmap-touch", "map a page, write to it, unmap it",
	 "mm_page_alloc mm_page_free mm_page kmem tlb_flush rss_stat", .fire = fire_map,
	 .option = 1},
	{"pageout", "ask the kernel to reclaim a page (madvise)",
	 "mm_vmscan_reclaim_pages madvise_pageout reclaim_pages", .fire = fire_pageout},
	{"reclaim", "have a page of bpfbench's own cgroup reclaimed (memory.reclaim)",
	 "vmscan mm_vmscan_memcg_reclaim_begin mm_vmscan_memcg_reclaim_end mm_shrink_slab_start "
	 "mm_shrink_slab_end shrink_slab shrink_lruvec shrink_node try_to_free_mem_cgroup_pages",
	 open_reclaim, .fire = fire_reclaim},
	{"brk", "one page more at the end of the heap, and less", "brk", .fire = fire_brk},
	{0},
};
