/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers of processes: made, run, ended, signalled. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fire/trigger.h"

static int wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static void *no_thread(void *arg)
{
	return arg;
}

static int fire_thread(struct bb_firing *f)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, no_thread, NULL);

	(void)f;
	return rc ? -rc : -pthread_join(thread, NULL);
}

static int fire_vfork(struct bb_firing *f)
{
	pid_t pid = vfork();

	(void)f;
	if (!pid)
		_exit(0);
	return pid < 0 ? -errno : wait_for(pid);
}

static int fire_fork(struct bb_firing *f)
{
	pid_t pid = fork();

	(void)f;
	if (!pid)
		_exit(0);
	return pid < 0 ? -errno : wait_for(pid);
}

/* The program that does least. */
static int open_exec(struct bb_firing *f)
{
	f->args[0] = (long)(access("/bin/true", X_OK) ? "/usr/bin/true" : "/bin/true");
	return access((const char *)f->args[0], X_OK) ? -errno : 0;
}

static int fire_exec(struct bb_firing *f)
{
	const char *program = (const char *)f->args[0];
	pid_t pid = vfork();

	if (!pid) {
		execl(program, "true", NULL);
		_exit(127);
	}
	return pid < 0 ? -errno : wait_for(pid);
}

static void on_signal(int number)
{
	(void)number;
}

static int open_signal(struct bb_firing *f)
{
	const struct sigaction action = {.sa_handler = on_signal};

	(void)f;
	return sigaction(SIGUSR2, &action, NULL) ? -errno : 0;
}

static int fire_signal(struct bb_firing *f)
{
	(void)f;
	return kill(getpid(), SIGUSR2) ? -errno : 0;
}

/* A child that stands still, for us to look at. */
static int open_traced(struct bb_firing *f)
{
	f->pid = fork();
	if (!f->pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	if (f->pid < 0)
		return -errno;
	while (waitpid(f->pid, NULL, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static int fire_ptrace(struct bb_firing *f)
{
	unsigned long event;

	/* of no event yet: the kernel looks and finds none */
	return ptrace(PTRACE_GETEVENTMSG, f->pid, 0, &event) ? -errno : 0;
}

static void close_traced(struct bb_firing *f)
{
	if (f->pid <= 0)
		return;
	kill(f->pid, SIGKILL);
	wait_for(f->pid);
	f->pid = 0;
}

const struct bb_trigger bb_triggers_process[] = {
	{.name = "signal",
	 .doc = "a signal to ourselves, which is caught",
	 .words = "signal_generate signal_deliver signal kill rt_sigreturn send_signal",
	 .open = open_signal,
	 .fire = fire_signal},
	{.name = "ptrace",
	 .doc = "look at a child that stands still (ptrace)",
	 .words = "ptrace ptrace_access_check",
	 .open = open_traced,
	 .fire = fire_ptrace,
	 .close = close_traced},
	{.name = "thread",
	 .doc = "a thread that ends at once, waited for",
	 .words = "task_newtask exit clone clone3 "
		  "sched_wakeup_new wake_up_new_task do_exit",
	 .fire = fire_thread},
	{.name = "vfork",
	 .doc = "a process that ends at once, waited for",
	 .words = "vfork sched_process_fork sched_process_exit sched_process_wait "
		  "sched_process_free "
		  "task_newtask exit_group wait4 do_exit kernel_clone",
	 .fire = fire_vfork},
	{.name = "fork",
	 .doc = "the same with its own copy of our memory",
	 .words = "fork clone copy_process dup_mm",
	 .fire = fire_fork},
	{.name = "exec",
	 .doc = "a process that runs `true`, waited for",
	 .words = "sched_process_exec execve exec bprm load_elf_binary bprm_check",
	 .open = open_exec,
	 .fire = fire_exec},
	{0},
};
