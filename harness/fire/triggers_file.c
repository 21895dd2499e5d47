/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers of files, pipes, mounts, block devices, sysctls, devices and cgroups. */
#include <linux/loop.h>
#include <sys/mount.h>

#include "base/io.h"
#include "fire/triggers.h"

#define FILE_BYTES 65536
#define SYSCTL "/proc/sys/kernel/ostype"

/* Files in the private working folder: T is always there, and triggers make and remove U. */
#define T ((long)"t")
#define U ((long)"u")

/* Only the triggers of this source file use the file T, so that others do not disturb them. */
static int open_file(struct bb_firing *f)
{
	f->fd[0] = open("t", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return bb_failed(f->fd[0] < 0 || ftruncate(f->fd[0], FILE_BYTES));
}

/* A mount below /sys does not spread to the machine, because /sys is a slave mount here. */
static int open_mount(struct bb_firing *)
{
	return bb_failed(unshare(CLONE_NEWNS) || mount(NULL, "/sys", NULL, MS_SLAVE, NULL));
}

static int open_pipe(struct bb_firing *f)
{
	return bb_failed(pipe2(f->fd, O_CLOEXEC));
}

/* The kernel removes the loop device with its last descriptor. The row's option is O_DIRECT, or 0
 * to use the page cache. */
static int open_loop(struct bb_firing *f)
{
	struct loop_config config = {.block_size = 512, .info.lo_flags = LO_FLAGS_AUTOCLEAR};
	char path[32];

	f->fd[1] = memfd_create("bpfbench", MFD_CLOEXEC);
	f->fd[2] = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (f->fd[1] < 0 || f->fd[2] < 0 || ftruncate(f->fd[1], FILE_BYTES))
		return -errno;
	int number = ioctl(f->fd[2], LOOP_CTL_GET_FREE);
	if (number < 0)
		return -errno;
	snprintf(path, sizeof(path), "/dev/loop%d", number);
	f->own = number;
	f->fd[0] = open(path, O_RDWR | O_CLOEXEC | O_DIRECT);
	config.fd = (uint32_t)f->fd[1];
	if (f->fd[0] < 0 || ioctl(f->fd[0], LOOP_CONFIGURE, &config))
		return -errno;
	return bb_failed(!f->trigger->option && fcntl(f->fd[0], F_SETFL, 0));
}

/* fd[3] chooses the I/O scheduler of the loop device. */
static int open_scheduled(struct bb_firing *f)
{
	char path[64];
	int rc = open_loop(f);

	if (rc)
		return rc;
	snprintf(path, sizeof(path), "/sys/block/loop%ld/queue/scheduler", f->own);
	f->fd[3] = open(path, O_WRONLY | O_CLOEXEC);
	return bb_failed(f->fd[3] < 0 || write(f->fd[3], "mq-deadline", 11) < 0);
}

/* Loop devices have no scheduler by default. */
static void close_scheduled(struct bb_firing *f)
{
	bb_write_all(f->fd[3], "none", 4);
}

/* Opens the executable of bpfbench for reads that bypass the page cache and so reach the disk. */
static int open_disk(struct bb_firing *f)
{
	f->fd[0] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC | O_DIRECT);
	return bb_failed(f->fd[0] < 0);
}

static int open_sysctl(struct bb_firing *f)
{
	f->fd[0] = open(SYSCTL, O_RDONLY | O_CLOEXEC);
	return bb_failed(f->fd[0] < 0);
}

static int open_cgroup(struct bb_firing *f)
{
	return f->site->cgroup_fd < 0 ? -ENODEV : 0;
}

static void close_cgroup(struct bb_firing *f)
{
	unlinkat(f->site->cgroup_fd, "c", AT_REMOVEDIR);
}

static int open_cgroup_stat(struct bb_firing *f)
{
	f->fd[0] = openat(f->site->cgroup_fd, "cpu.stat", O_RDONLY | O_CLOEXEC);
	return bb_failed(f->fd[0] < 0);
}

const struct bb_trigger bb_triggers_file[] = {
	{"read", "read a byte of a file",
	 "vfs_read pread64 file_read filemap_read shmem_file_read_iter", open_file,
	 BB_FIRES(BB_DO(pread64, FD0, PAGE, 1, 0))},
	{"write", "write a byte of a file",
	 "vfs_write pwrite64 file_write shmem_write_begin balance_dirty_pages "
	 "writeback_dirty_inode",
	 open_file, BB_FIRES(BB_DO(pwrite64, FD0, PAGE, 1, 0))},
	{"open", "open a file and close it",
	 "openat open_exec do_filp_open file_open vfs_open filp_close close", open_file,
	 BB_FIRES(BB_MAKE(openat, AT_FDCWD, T, O_RDONLY | O_CLOEXEC))},
	{"create", "create a file and remove it",
	 "unlinkat vfs_unlink vfs_create security_inode_create d_instantiate", open_file,
	 BB_FIRES(BB_MAKE(openat, AT_FDCWD, U, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600),
		  BB_DO(unlinkat, AT_FDCWD, U, 0))},
	{"rename", "rename a file, and back", "renameat renameat2 vfs_rename", open_file,
	 BB_FIRES(BB_DO(renameat, AT_FDCWD, T, AT_FDCWD, U),
		  BB_DO(renameat, AT_FDCWD, U, AT_FDCWD, T))},
	{"link", "make a link and remove it", "linkat vfs_link", open_file,
	 BB_FIRES(BB_DO(linkat, AT_FDCWD, T, AT_FDCWD, U, 0), BB_DO(unlinkat, AT_FDCWD, U, 0))},
	{"symlink", "make a symbolic link and remove it", "symlinkat vfs_symlink", open_file,
	 BB_FIRES(BB_DO(symlinkat, T, AT_FDCWD, U), BB_DO(unlinkat, AT_FDCWD, U, 0))},
	{"mkdir", "make a folder and remove it", "mkdirat vfs_mkdir vfs_rmdir", open_file,
	 BB_FIRES(BB_DO(mkdirat, AT_FDCWD, U, 0700), BB_DO(unlinkat, AT_FDCWD, U, AT_REMOVEDIR))},
	{"mknod-file", "make an empty file by mknod and remove it", "vfs_create", open_file,
	 BB_FIRES(BB_DO(mknodat, AT_FDCWD, U, S_IFREG | 0600, 0), BB_DO(unlinkat, AT_FDCWD, U, 0))},
	{"mknod", "make a named pipe and remove it", "mknodat vfs_mknod", open_file,
	 BB_FIRES(BB_DO(mknodat, AT_FDCWD, U, S_IFIFO | 0600, 0), BB_DO(unlinkat, AT_FDCWD, U, 0))},
#ifdef SYS_open /* older calls that only x86 has */
	{"old-create", "as `create`, by open and unlink", "unlink", open_file,
	 BB_FIRES(BB_MAKE(open, U, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), BB_DO(unlink, U))},
	{"old-rename", "as `rename`, by rename", "rename", open_file,
	 BB_FIRES(BB_DO(rename, T, U), BB_DO(rename, U, T))},
	{"old-mkdir", "as `mkdir`, by mkdir and rmdir", "mkdir rmdir", open_file,
	 BB_FIRES(BB_DO(mkdir, U, 0700), BB_DO(rmdir, U))},
	{"old-link", "as `link`, by link and unlink", "link", open_file,
	 BB_FIRES(BB_DO(link, T, U), BB_DO(unlink, U))},
#endif
	{"pipe", "write a byte to a pipe and read it",
	 "read write vfs_read vfs_write pipe_read pipe_write", open_pipe,
	 BB_FIRES(BB_DO(write, FD1, PAGE, 1), BB_DO(read, FD0, PAGE, 1))},
	{"mount", "mount a file system in a namespace of its own and unmount it",
	 "mount umount umount2 do_mount path_mount", open_mount,
	 BB_FIRES(BB_DO(mount, (long)"bpfbench", (long)"/sys", (long)"tmpfs", 0, 0),
		  BB_DO(umount2, (long)"/sys", MNT_DETACH))},
	{"block-read", "read 4 KiB from a loop device over memory, past the cache",
	 "block_rq_issue block_rq_complete block_io block_bio block_bio_queue "
	 "blk_mq_start_request blk_account_io_start blk_account_io_done bio submit_bio",
	 open_loop, BB_FIRES(BB_DO(pread64, FD0, PAGE, 4096, 0)), .option = O_DIRECT},
	{"block-sched", "as `block-read`, by the I/O scheduler mq-deadline",
	 "block_rq_insert dd_insert_requests dd_dispatch_request", open_scheduled,
	 BB_FIRES(BB_DO(pread64, FD0, PAGE, 4096, 0)), .close = close_scheduled,
	 .option = O_DIRECT},
	{"block-cache", "read 4 KiB from a loop device into the cache, which then drops them",
	 "filemap_alloc_folio filemap_alloc_folio_noprof filemap_add_folio add_to_page_cache_lru "
	 "page_cache_ra_unbounded mm_filemap_add_to_page_cache mm_filemap_delete_from_page_cache "
	 "fadvise64",
	 open_loop,
	 BB_FIRES(BB_DO(pread64, FD0, PAGE, 4096, 0),
		  BB_DO(fadvise64, FD0, 0, 0, POSIX_FADV_DONTNEED))},
	{"disk-read", "read 4 KiB of bpfbench's own file from its disk, past the cache",
	 "block_rq block_rq_insert block_bio block_io irq_handler_entry irq_handler_exit irq "
	 "softirq",
	 open_disk, BB_FIRES(BB_DO(pread64, FD0, PAGE, 4096, 0))},
	{"block-write", "write 4 KiB to a loop device", "block_rq block_bio", open_loop,
	 BB_FIRES(BB_DO(pwrite64, FD0, PAGE, 4096, 0)), .option = O_DIRECT},
	{"sync", "have all file systems of the machine written to their disks", "sync",
	 BB_FIRES(BB_DO(sync)), .only_named = true},
	{"block-dirty", "write 4 KiB to a loop device through the cache, and have them written",
	 "writeback_dirty_folio writeback_dirty_page folio_mark_dirty mark_buffer_dirty writeback "
	 "fdatasync vfs_fsync",
	 open_loop, BB_FIRES(BB_DO(pwrite64, FD0, PAGE, 4096, 0), BB_DO(fdatasync, FD0))},
	{0},
};

const struct bb_trigger bb_triggers_cgroup[] = {
	{"sysctl", "read " SYSCTL, "sysctl proc_sys", open_sysctl,
	 BB_FIRES(BB_DO(pread64, FD0, PAGE, 64, 0))},
	{"device", "open /dev/null and close it", "dev device chrdev_open",
	 BB_FIRES(BB_MAKE(openat, AT_FDCWD, (long)"/dev/null", O_RDONLY | O_CLOEXEC))},
	{"cgroup", "make a cgroup in bpfbench's own and remove it",
	 "cgroup_mkdir cgroup_rmdir cgroup_release cgroup", open_cgroup,
	 BB_FIRES(BB_DO(mkdirat, CGROUP_FD, (long)"c", 0700),
		  BB_DO(unlinkat, CGROUP_FD, (long)"c", AT_REMOVEDIR)),
	 .close = close_cgroup},
	{"cgroup-stat", "read the CPU time of bpfbench's own cgroup",
	 "cgroup_rstat_locked cgroup_rstat_unlock cgroup_rstat rstat", open_cgroup_stat,
	 BB_FIRES(BB_DO(pread64, FD0, PAGE, PAGE_BYTES, 0))},
	{0},
};
