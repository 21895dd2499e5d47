/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers that are a system call each: its number and arguments, a row of a table. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/stat.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fire/trigger.h"

/* Arguments that are known only when the trigger is opened. */
enum {
	FILE_FD = 0x5eed0000, /* a file in our folder, open for reading and writing, 4096 bytes long
			       */
	FOLDER_FD,            /* our folder */
	PATH,                 /* the file's name */
	NO_PATH,              /* a name that no file has */
	HERE,                 /* "." */
	BUFFER,               /* 2 KiB, after what else is in our page */
	ZEROS,                /* 256 bytes of zeros */
	VECTOR,               /* a struct iovec of one byte */
	PAGE,                 /* our page */
	NEXT_PAGE,            /* a page of zeros that nobody else uses */
	PAGE_BYTES,
	OWN_PID,
	OWN_TID,
	END_OF_ARGS
};

#define FILE_NAME "f"

/* Where things are in the page. */
enum {
	AT_ZEROS = 0,
	AT_PATH = 256,
	AT_NO_PATH = 264,
	AT_HERE = 272,
	AT_VECTOR = 320,
	AT_BUFFER = 2048
};

static long resolve(const struct bb_firing *f, long arg)
{
	switch (arg) {
	case FILE_FD: return f->fd[0];
	case FOLDER_FD: return f->fd[1];
	case PATH: return (long)(f->page + AT_PATH);
	case NO_PATH: return (long)(f->page + AT_NO_PATH);
	case HERE: return (long)(f->page + AT_HERE);
	case BUFFER: return (long)(f->page + AT_BUFFER);
	case ZEROS: return (long)(f->page + AT_ZEROS);
	case VECTOR: return (long)(f->page + AT_VECTOR);
	case PAGE: return (long)f->page;
	case NEXT_PAGE: return (long)(f->page + f->page_bytes);
	case PAGE_BYTES: return (long)f->page_bytes;
	case OWN_PID: return (long)getpid();
	case OWN_TID: return syscall(SYS_gettid);
	default: return arg;
	}
}

static int open_call(struct bb_firing *f)
{
	struct iovec vector = {.iov_base = f->page + AT_BUFFER, .iov_len = 1};

	f->fd[0] = open(FILE_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	f->fd[1] = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->fd[0] < 0 || f->fd[1] < 0 || ftruncate(f->fd[0], 4096))
		return -errno;
	memset(f->page, 0, f->page_bytes);
	strcpy(f->page + AT_PATH, FILE_NAME);
	strcpy(f->page + AT_NO_PATH, "none");
	strcpy(f->page + AT_HERE, ".");
	memcpy(f->page + AT_VECTOR, &vector, sizeof(vector));
	for (size_t i = 0; i < 6; i++)
		f->args[i] = resolve(f, f->trigger->args[i]);
	return 0;
}

static int fire_call(struct bb_firing *f)
{
	const long *a = f->args;
	long ret = syscall(f->trigger->nr, a[0], a[1], a[2], a[3], a[4], a[5]);

	if (ret < 0)
		return f->trigger->fails ? 0 : -errno;
	if (f->trigger->makes_fd)
		close((int)ret);
	return 0;
}

#define ROW(call, ...)                                                                             \
	.name = "call-" #call, .words = #call, .doc = "the system call " #call, .open = open_call, \
	.fire = fire_call, .nr = SYS_##call, .args = {__VA_ARGS__}
#define CALL(call, ...)                                                                            \
	{                                                                                          \
		ROW(call, __VA_ARGS__)                                                             \
	}
/* It returns a descriptor. */
#define MAKES(call, ...)                                                                           \
	{                                                                                          \
		ROW(call, __VA_ARGS__), .makes_fd = true                                           \
	}
/* With arguments that the kernel refuses. */
#define REFUSED(call, ...)                                                                         \
	{                                                                                          \
		ROW(call, __VA_ARGS__), .fails = true                                              \
	}

const struct bb_trigger bb_triggers_call[] = {
	CALL(getppid),
	CALL(getpid),
	CALL(gettid),
	CALL(getuid),
	CALL(geteuid),
	CALL(getgid),
	CALL(getegid),
	CALL(getpgid),
	CALL(getsid),
	CALL(umask, 0077),
	CALL(personality, 0xffffffff),
	CALL(uname, BUFFER),
	CALL(times, BUFFER),
	CALL(sysinfo, BUFFER),
	CALL(getrusage, RUSAGE_SELF, BUFFER),
	CALL(getcpu, BUFFER),
	CALL(prlimit64, 0, RLIMIT_NOFILE, 0, BUFFER),
	CALL(getpriority, PRIO_PROCESS, 0),
	CALL(setpriority, PRIO_PROCESS, 0, 0),
	CALL(sched_getaffinity, 0, 128, BUFFER),
	CALL(sched_getscheduler),
	CALL(sched_getparam, 0, BUFFER),
	CALL(prctl, PR_GET_NAME, BUFFER),
	CALL(capget, ZEROS, 0),
	CALL(getgroups, 0, 0),
	CALL(setuid, 0),
	CALL(setgid, 0),
	CALL(setresuid, -1, -1, -1),
	CALL(setresgid, -1, -1, -1),
	CALL(setreuid, -1, -1),
	CALL(setregid, -1, -1),
	CALL(setfsuid, -1),
	CALL(clock_gettime, 1, BUFFER),
	CALL(clock_getres, 1, BUFFER),
	CALL(gettimeofday, BUFFER, 0),
	CALL(getitimer, 0, BUFFER),
	CALL(getrandom, BUFFER, 8, 0),
	/* files */
	CALL(read, FILE_FD, BUFFER, 1),
	CALL(write, FILE_FD, BUFFER, 0),
	CALL(pread64, FILE_FD, BUFFER, 1, 0),
	CALL(pwrite64, FILE_FD, BUFFER, 1, 0),
	CALL(readv, FILE_FD, VECTOR, 1),
	CALL(writev, FILE_FD, VECTOR, 0),
	CALL(preadv, FILE_FD, VECTOR, 1, 0),
	CALL(pwritev, FILE_FD, VECTOR, 1, 0),
	CALL(lseek, FILE_FD, 0, SEEK_SET),
	CALL(fstat, FILE_FD, BUFFER),
	CALL(newfstatat, AT_FDCWD, PATH, BUFFER, 0),
	CALL(statx, AT_FDCWD, PATH, 0, STATX_BASIC_STATS, BUFFER),
	CALL(statfs, PATH, BUFFER),
	CALL(fstatfs, FILE_FD, BUFFER),
	CALL(faccessat, AT_FDCWD, PATH, R_OK),
	MAKES(openat, AT_FDCWD, PATH, O_RDONLY | O_CLOEXEC),
	CALL(close_range, 4000000, 4000000, 0),
	MAKES(dup, FILE_FD),
	CALL(fcntl, FILE_FD, F_GETFD),
	REFUSED(ioctl, FILE_FD, 0, 0),
	CALL(flock, FILE_FD, 8 /* LOCK_UN */),
	CALL(fsync, FILE_FD),
	CALL(fdatasync, FILE_FD),
	CALL(sync_file_range, FILE_FD, 0, 0, 0),
	CALL(fadvise64, FILE_FD, 0, 0, 0),
	CALL(readahead, FILE_FD, 0, 0),
	CALL(ftruncate, FILE_FD, 4096),
	CALL(truncate, PATH, 4096),
	CALL(fallocate, FILE_FD, 0, 0, 4096),
	CALL(fchmod, FILE_FD, 0600),
	CALL(fchmodat, AT_FDCWD, PATH, 0600),
	CALL(fchown, FILE_FD, -1, -1),
	CALL(fchownat, AT_FDCWD, PATH, -1, -1, 0),
	CALL(utimensat, AT_FDCWD, PATH, 0, 0),
	CALL(getdents64, FOLDER_FD, BUFFER, 1024),
	CALL(chdir, HERE),
	CALL(fchdir, FOLDER_FD),
	REFUSED(getcwd, BUFFER, 1024),
	REFUSED(readlinkat, AT_FDCWD, PATH, BUFFER, 64),
	REFUSED(getxattr, PATH, NO_PATH, BUFFER, 16),
	REFUSED(setxattr, PATH, NO_PATH, BUFFER, 1, 0),
	CALL(listxattr, PATH, BUFFER, 16),
	REFUSED(removexattr, PATH, NO_PATH),
	REFUSED(copy_file_range, FILE_FD, 0, -1, 0, 1, 0),
	REFUSED(sendfile, -1, FILE_FD, 0, 1),
	REFUSED(splice, FILE_FD, 0, -1, 0, 1, 0),
	REFUSED(tee, -1, -1, 1, 0),
	MAKES(memfd_create, PATH, 1),
	MAKES(inotify_init1, 0),
	REFUSED(inotify_add_watch, -1, PATH, 1),
	MAKES(fanotify_init, 0, 0),
	/* memory */
	CALL(mprotect, NEXT_PAGE, PAGE_BYTES, PROT_READ | PROT_WRITE),
	CALL(madvise, NEXT_PAGE, PAGE_BYTES, MADV_NORMAL),
	CALL(mincore, PAGE, PAGE_BYTES, BUFFER),
	CALL(msync, NEXT_PAGE, PAGE_BYTES, MS_ASYNC),
	CALL(mlock, NEXT_PAGE, PAGE_BYTES),
	CALL(munlock, NEXT_PAGE, PAGE_BYTES),
	CALL(mremap, NEXT_PAGE, PAGE_BYTES, PAGE_BYTES, 0),
	CALL(brk, 0),
	REFUSED(process_vm_readv, OWN_PID, VECTOR, 1, ZEROS, 0, 0),
	CALL(membarrier, 0, 0),
	/* signals, waiting */
	CALL(rt_sigaction, SIGUSR2, 0, BUFFER, 8),
	CALL(rt_sigprocmask, SIG_BLOCK, 0, BUFFER, 8),
	CALL(rt_sigpending, BUFFER, 8),
	CALL(sigaltstack, 0, BUFFER),
	REFUSED(rt_sigtimedwait, ZEROS, 0, ZEROS, 8),
	CALL(kill, OWN_PID, 0),
	CALL(tkill, OWN_TID, 0),
	CALL(tgkill, OWN_PID, OWN_TID, 0),
	CALL(futex, BUFFER, FUTEX_WAKE, 1),
	CALL(ppoll, 0, 0, ZEROS, 0, 0),
	CALL(pselect6, 0, 0, 0, 0, ZEROS, 0),
	MAKES(eventfd2, 0, O_CLOEXEC),
	MAKES(timerfd_create, 1, O_CLOEXEC),
	MAKES(signalfd4, -1, ZEROS, 8, O_CLOEXEC),
	MAKES(epoll_create1, EPOLL_CLOEXEC),
	REFUSED(epoll_ctl, -1, EPOLL_CTL_ADD, FILE_FD, ZEROS),
	REFUSED(epoll_pwait, -1, BUFFER, 1, 0, 0, 8),
	REFUSED(wait4, -1, 0, WNOHANG, 0),
	REFUSED(waitid, P_ALL, 0, 0, WNOHANG | WEXITED, 0),
	REFUSED(ptrace, -1, 0, 0, 0),
	/* sockets */
	MAKES(socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
	REFUSED(connect, -1, ZEROS, 16),
	REFUSED(bind, -1, ZEROS, 16),
	REFUSED(listen, -1, 1),
	REFUSED(accept, -1, 0, 0),
	REFUSED(accept4, -1, 0, 0, 0),
	REFUSED(sendto, -1, BUFFER, 1, 0, 0, 0),
	REFUSED(recvfrom, -1, BUFFER, 1, 0, 0, 0),
	REFUSED(sendmsg, -1, ZEROS, 0),
	REFUSED(recvmsg, -1, ZEROS, 0),
	REFUSED(sendmmsg, -1, ZEROS, 0, 0),
	REFUSED(recvmmsg, -1, ZEROS, 0, 0, 0),
	REFUSED(shutdown, -1, 0),
	REFUSED(getsockname, -1, BUFFER, BUFFER),
	REFUSED(getpeername, -1, BUFFER, BUFFER),
	REFUSED(getsockopt, -1, 1, 1, BUFFER, BUFFER),
	REFUSED(setsockopt, -1, 1, 1, BUFFER, 4),
	/* the system */
	CALL(unshare, 0),
	REFUSED(setns, -1, 0),
	REFUSED(mount, NO_PATH, NO_PATH, NO_PATH, 0, 0),
	REFUSED(umount2, NO_PATH, 0),
	REFUSED(move_mount, -1, PATH, -1, PATH, 0),
	REFUSED(pivot_root, NO_PATH, NO_PATH),
	REFUSED(chroot, NO_PATH),
	REFUSED(execve, NO_PATH, 0, 0),
	REFUSED(execveat, -1, NO_PATH, 0, 0, 0),
	REFUSED(finit_module, -1, PATH, 0),
	REFUSED(init_module, 0, 0, PATH),
	REFUSED(delete_module, NO_PATH, O_NONBLOCK),
	REFUSED(bpf, 0, 0, 0),
	REFUSED(perf_event_open, 0, 0, -1, -1, 0),
	REFUSED(io_uring_setup, 0, 0),
	REFUSED(io_uring_enter, -1, 0, 0, 0, 0, 0),
	REFUSED(keyctl, 0x7fff, 0, 0, 0, 0),
	REFUSED(add_key, 0, 0, 0, 0, 0),
	REFUSED(request_key, 0, 0, 0, 0),
	REFUSED(seccomp, 0x7fff, 0, 0),
	REFUSED(userfaultfd, 0x40000000),
	REFUSED(clone, 0x40000000 | 0x00010000 /* a thread that shares no memory */, 0, 0, 0, 0),
	REFUSED(clone3, ZEROS, 0),
	REFUSED(linkat, AT_FDCWD, NO_PATH, AT_FDCWD, NO_PATH, 0),
	REFUSED(symlinkat, PATH, AT_FDCWD, PATH),
	REFUSED(renameat, AT_FDCWD, NO_PATH, AT_FDCWD, NO_PATH),
	REFUSED(renameat2, AT_FDCWD, NO_PATH, AT_FDCWD, NO_PATH, 0),
	REFUSED(mkdirat, AT_FDCWD, PATH, 0700),
	REFUSED(mknodat, AT_FDCWD, PATH, 0600, 0),
	REFUSED(unlinkat, AT_FDCWD, NO_PATH, 0),
#ifdef SYS_open /* on x86, where there are older calls than elsewhere */
	MAKES(open, PATH, O_RDONLY | O_CLOEXEC),
	MAKES(creat, PATH, 0600),
	CALL(stat, PATH, BUFFER),
	CALL(lstat, PATH, BUFFER),
	CALL(access, PATH, R_OK),
	CALL(chmod, PATH, 0600),
	CALL(chown, PATH, -1, -1),
	CALL(lchown, PATH, -1, -1),
	CALL(utime, PATH, 0),
	CALL(utimes, PATH, 0),
	REFUSED(readlink, PATH, BUFFER, 64),
	REFUSED(link, NO_PATH, NO_PATH),
	REFUSED(symlink, PATH, PATH),
	REFUSED(rename, NO_PATH, NO_PATH),
	REFUSED(mkdir, PATH, 0700),
	REFUSED(rmdir, NO_PATH),
	REFUSED(mknod, PATH, 0600, 0),
	REFUSED(unlink, NO_PATH),
	REFUSED(dup2, -1, -1),
	REFUSED(pipe, 0),
	CALL(poll, 0, 0, 0),
	CALL(select, 0, 0, 0, 0, ZEROS),
	MAKES(eventfd, 0),
	MAKES(inotify_init),
	MAKES(epoll_create, 1),
	REFUSED(epoll_wait, -1, BUFFER, 1, 0),
	CALL(getpgrp),
	CALL(time, 0),
	CALL(alarm, 0),
	REFUSED(arch_prctl, 0x7fff, 0),
#endif
#ifdef SYS_openat2 /* 5.6 */
	MAKES(openat2, AT_FDCWD, PATH, ZEROS, 24 /* struct open_how */),
#endif
#ifdef SYS_fsopen /* 5.2 */
	REFUSED(fsopen, NO_PATH, 0),
	REFUSED(fsconfig, -1, 0, 0, 0, 0),
	REFUSED(fsmount, -1, 0, 0),
	REFUSED(fspick, -1, NO_PATH, 0),
	REFUSED(open_tree, -1, NO_PATH, 0),
#endif
	CALL(syncfs, FILE_FD),
	REFUSED(dup3, -1, -1, 0),
	REFUSED(pipe2, 0, 0),
	{0},
};
