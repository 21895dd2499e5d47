/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers of files in a folder of our own, and of a block device in memory. */
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fire/trigger.h"

#define FILE_BYTES 65536

/* A file of its own, so that triggers do not come into each other's way. */
static int open_file(struct bb_firing *f)
{
	f->fd[0] = open("t", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return f->fd[0] < 0 || ftruncate(f->fd[0], FILE_BYTES) ? -errno : 0;
}

static int fire_read(struct bb_firing *f)
{
	return pread(f->fd[0], f->page, 1, 0) < 0 ? -errno : 0;
}

static int fire_write(struct bb_firing *f)
{
	return pwrite(f->fd[0], f->page, 1, 0) < 0 ? -errno : 0;
}

static int fire_open(struct bb_firing *f)
{
	int fd = openat(AT_FDCWD, "t", O_RDONLY | O_CLOEXEC);

	(void)f;
	return fd < 0 || close(fd) ? -errno : 0;
}

static int fire_create(struct bb_firing *f)
{
	int fd = openat(AT_FDCWD, "u", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	(void)f;
	if (fd < 0)
		return -errno;
	close(fd);
	return unlinkat(AT_FDCWD, "u", 0) ? -errno : 0;
}

static int fire_rename(struct bb_firing *f)
{
	(void)f;
	return renameat(AT_FDCWD, "t", AT_FDCWD, "v") || renameat(AT_FDCWD, "v", AT_FDCWD, "t")
		       ? -errno
		       : 0;
}

static int fire_link(struct bb_firing *f)
{
	(void)f;
	return linkat(AT_FDCWD, "t", AT_FDCWD, "l", 0) || unlinkat(AT_FDCWD, "l", 0) ? -errno : 0;
}

static int fire_symlink(struct bb_firing *f)
{
	(void)f;
	return symlinkat("t", AT_FDCWD, "s") || unlinkat(AT_FDCWD, "s", 0) ? -errno : 0;
}

static int fire_mkdir(struct bb_firing *f)
{
	(void)f;
	return mkdirat(AT_FDCWD, "d", 0700) || unlinkat(AT_FDCWD, "d", AT_REMOVEDIR) ? -errno : 0;
}

static int fire_mknod(struct bb_firing *f)
{
	(void)f;
	return mknodat(AT_FDCWD, "n", S_IFIFO | 0600, 0) || unlinkat(AT_FDCWD, "n", 0) ? -errno : 0;
}

#ifdef SYS_unlink
static int fire_old_create(struct bb_firing *f)
{
	long fd = syscall(SYS_open, "u", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	(void)f;
	if (fd < 0)
		return -errno;
	close((int)fd);
	return syscall(SYS_unlink, "u") ? -errno : 0;
}

static int fire_old_rename(struct bb_firing *f)
{
	(void)f;
	return syscall(SYS_rename, "t", "v") || syscall(SYS_rename, "v", "t") ? -errno : 0;
}

static int fire_old_mkdir(struct bb_firing *f)
{
	(void)f;
	return syscall(SYS_mkdir, "d", 0700) || syscall(SYS_rmdir, "d") ? -errno : 0;
}

static int fire_old_link(struct bb_firing *f)
{
	(void)f;
	return syscall(SYS_link, "t", "l") || syscall(SYS_unlink, "l") ? -errno : 0;
}
#endif

/* In a mount namespace of its own: a mount in a slave does not come back. */
static int open_mount(struct bb_firing *f)
{
	(void)f;
	return unshare(CLONE_NEWNS) || mount(NULL, "/sys", NULL, MS_SLAVE, NULL) ? -errno : 0;
}

static int fire_mount(struct bb_firing *f)
{
	(void)f;
	return mount("bpfbench", "/sys", "tmpfs", 0, NULL) || umount2("/sys", MNT_DETACH) ? -errno
											  : 0;
}

static int open_pipe(struct bb_firing *f)
{
	return pipe2(f->fd, O_CLOEXEC) ? -errno : 0;
}

static int fire_pipe(struct bb_firing *f)
{
	return write(f->fd[1], f->page, 1) < 0 || read(f->fd[0], f->page, 1) < 0 ? -errno : 0;
}

/* A loop device over memory, which the kernel takes apart when the last descriptor is closed. */
static int open_block(struct bb_firing *f)
{
	struct loop_config config = {.block_size = 512, .info.lo_flags = LO_FLAGS_AUTOCLEAR};
	char path[32];
	int number;

	f->fd[0] = (int)syscall(SYS_memfd_create, "bpfbench", 1U /* MFD_CLOEXEC */);
	f->fd[1] = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (f->fd[0] < 0 || f->fd[1] < 0 || ftruncate(f->fd[0], FILE_BYTES))
		return -errno;
	number = ioctl(f->fd[1], LOOP_CTL_GET_FREE);
	if (number < 0)
		return -errno;
	snprintf(path, sizeof(path), "/dev/loop%d", number);
	f->fd[2] = open(path, O_RDWR | O_CLOEXEC | O_DIRECT);
	config.fd = (uint32_t)f->fd[0];
	return f->fd[2] < 0 || ioctl(f->fd[2], LOOP_CONFIGURE, &config) ? -errno : 0;
}

static int fire_block_read(struct bb_firing *f)
{
	return pread(f->fd[2], f->page, 4096, 0) < 0 ? -errno : 0;
}

static int fire_block_write(struct bb_firing *f)
{
	return pwrite(f->fd[2], f->page, 4096, 0) < 0 ? -errno : 0;
}

/* The file of this program, past the cache: its file system's device has to read. */
static int open_disk(struct bb_firing *f)
{
	f->fd[2] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC | O_DIRECT);
	return f->fd[2] < 0 ? -errno : 0;
}

/* The loop device by its page cache: a page of it becomes dirty, and is written. */
static int open_block_cached(struct bb_firing *f)
{
	int rc = open_block(f), flags = rc ? 0 : fcntl(f->fd[2], F_GETFL);

	return rc ? rc : fcntl(f->fd[2], F_SETFL, flags & ~O_DIRECT) ? -errno : 0;
}

static int fire_block_dirty(struct bb_firing *f)
{
	return pwrite(f->fd[2], f->page, 4096, 0) < 0 || fdatasync(f->fd[2]) ? -errno : 0;
}

#define OF_FILE(n, words_, fire_, doc_)                                                            \
	{                                                                                          \
		.name = (n), .words = (words_), .doc = (doc_), .open = open_file, .fire = (fire_)  \
	}

const struct bb_trigger bb_triggers_file[] = {
	OF_FILE("read", "vfs_read pread64 file_read filemap_read shmem_file_read_iter", fire_read,
		"read a byte of a file"),
	OF_FILE("write",
		"vfs_write pwrite64 file_write shmem_write_begin balance_dirty_pages "
		"writeback_dirty_inode",
		fire_write, "write a byte of a file"),
	OF_FILE("open", "openat open_exec do_filp_open file_open vfs_open filp_close close",
		fire_open, "open a file and close it"),
	OF_FILE("create", "unlinkat vfs_unlink vfs_create security_inode_create d_instantiate",
		fire_create, "create a file and remove it"),
	OF_FILE("rename", "renameat renameat2 vfs_rename", fire_rename, "rename a file, and back"),
	OF_FILE("link", "linkat vfs_link", fire_link, "make a link and remove it"),
	OF_FILE("symlink", "symlinkat vfs_symlink", fire_symlink,
		"make a symbolic link and remove it"),
	OF_FILE("mkdir", "mkdirat vfs_mkdir vfs_rmdir", fire_mkdir, "make a folder and remove it"),
	OF_FILE("mknod", "mknodat vfs_mknod", fire_mknod, "make a named pipe and remove it"),
#ifdef SYS_unlink
	OF_FILE("old-create", "unlink", fire_old_create, "the same as create by open and unlink"),
	OF_FILE("old-rename", "rename", fire_old_rename, "the same as rename by rename"),
	OF_FILE("old-mkdir", "mkdir rmdir", fire_old_mkdir, "the same as mkdir by mkdir and rmdir"),
	OF_FILE("old-link", "link", fire_old_link, "the same as link by link and unlink"),
#endif
	{.name = "pipe",
	 .doc = "write a byte to a pipe and read it",
	 .words = "read write vfs_read vfs_write pipe_read pipe_write",
	 .open = open_pipe,
	 .fire = fire_pipe},
	{.name = "mount",
	 .doc = "mount a file system in a namespace of its own and unmount it",
	 .words = "mount umount umount2 do_mount path_mount",
	 .open = open_mount,
	 .fire = fire_mount},
	{.name = "block-read",
	 .doc = "read 4 KiB from a loop device over memory, past the cache",
	 .words = "block_rq_insert block_rq_issue block_rq_complete block_io block_bio "
		  "block_bio_queue "
		  "blk_mq_start_request blk_account_io_start blk_account_io_done bio submit_bio",
	 .open = open_block,
	 .fire = fire_block_read},
	{.name = "disk-read",
	 .doc = "read 4 KiB of bpfbench's own file from its disk, past the cache",
	 .words = "block_rq block_rq_insert block_bio block_io irq_handler_entry irq_handler_exit "
		  "irq softirq",
	 .open = open_disk,
	 .fire = fire_block_read},
	{.name = "block-write",
	 .doc = "write 4 KiB to it",
	 .words = "block_rq block_bio",
	 .open = open_block,
	 .fire = fire_block_write},
	{.name = "block-dirty",
	 .doc = "write 4 KiB to it through the cache, and have them written",
	 .words = "writeback_dirty_folio writeback_dirty_page folio_mark_dirty mark_buffer_dirty "
		  "writeback fdatasync",
	 .open = open_block_cached,
	 .fire = fire_block_dirty},
	{0},
};
