/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers of memory: page faults and mappings. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fire/trigger.h"

#define RECLAIM_BYTES 65536
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21 /* 5.4 */
#endif

static int map_page(const struct bb_firing *f, void **ret_page)
{
	*ret_page = mmap(NULL, f->page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	return *ret_page == MAP_FAILED ? -errno : 0;
}

/* A page that is dropped and written to: 1 fault. */
static int fire_fault(struct bb_firing *f)
{
	char *page = f->page + f->page_bytes;

	if (madvise(page, f->page_bytes, MADV_DONTNEED))
		return -errno;
	*(volatile char *)page = 1;
	return 0;
}

static int fire_mmap(struct bb_firing *f)
{
	void *page;
	int rc = map_page(f, &page);

	if (!rc && munmap(page, f->page_bytes))
		rc = -errno;
	return rc;
}

static int fire_touch(struct bb_firing *f)
{
	void *page;
	int rc = map_page(f, &page);

	if (rc)
		return rc;
	*(volatile char *)page = 1;
	return munmap(page, f->page_bytes) ? -errno : 0;
}

static int fire_brk(struct bb_firing *f)
{
	long top = syscall(SYS_brk, 0);

	return syscall(SYS_brk, top + (long)f->page_bytes) < 0 || syscall(SYS_brk, top) < 0 ? -errno
											    : 0;
}

/* Not through the cache that malloc keeps for each thread. */
static int fire_malloc(struct bb_firing *f)
{
	void *volatile p = malloc(64);

	(void)f;
	free(p);
	return p ? 0 : -ENOMEM;
}

static int fire_calloc(struct bb_firing *f)
{
	void *volatile p = calloc(1, 64);

	(void)f;
	free(p);
	return p ? 0 : -ENOMEM;
}

static int fire_realloc(struct bb_firing *f)
{
	void *volatile p = realloc(NULL, 64);

	(void)f;
	free(p);
	return p ? 0 : -ENOMEM;
}

static int fire_aligned(struct bb_firing *f)
{
	void *p = NULL;
	int rc = posix_memalign(&p, 64, 64);

	(void)f;
	free(p);
	return -rc;
}

static int fire_aligned_alloc(struct bb_firing *f)
{
	void *volatile p = aligned_alloc(64, 64);

	(void)f;
	free(p);
	return p ? 0 : -ENOMEM;
}

/* --- reclaim --- */

/* Without swap it stays where it is, but the kernel has looked at it. */
static int fire_pageout(struct bb_firing *f)
{
	f->page[0] = 1;
	return madvise(f->page, f->page_bytes, MADV_PAGEOUT) ? -errno : 0;
}

/*
 * fd[0]: what the cgroup that we are in gives back (Linux 5.19, where it has the memory
 * controller); fd[1]: our own file, whose cached pages are charged to whoever reads them first.
 */
static int open_reclaim(struct bb_firing *f)
{
	if (f->cgroup_fd < 0)
		return -ENODEV;
	f->fd[0] = openat(f->cgroup_fd, "memory.reclaim", O_WRONLY | O_CLOEXEC);
	f->fd[1] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (f->fd[0] < 0 || f->fd[1] < 0)
		return -errno;
	return -posix_fadvise(f->fd[1], 0, 0, POSIX_FADV_DONTNEED);
}

/* The last part of the file is debugging information or nothing at all: it is not mapped. */
static int fire_reclaim(struct bb_firing *f)
{
	off_t end = lseek(f->fd[1], 0, SEEK_END);

	for (off_t at = end > RECLAIM_BYTES ? end - RECLAIM_BYTES : 0; at < end;
	     at += (off_t)f->page_bytes)
		if (pread(f->fd[1], f->page, f->page_bytes, at) < 0)
			return -errno;
	return write(f->fd[0], "4096", 4) < 0 ? -errno : 0;
}

const struct bb_trigger bb_triggers_memory[] = {
	{.name = "malloc",
	 .doc = "malloc and free of the C library",
	 .words = "malloc free",
	 .fire = fire_malloc},
	{.name = "calloc", .doc = "calloc and free", .words = "calloc", .fire = fire_calloc},
	{.name = "realloc", .doc = "realloc and free", .words = "realloc", .fire = fire_realloc},
	{.name = "memalign",
	 .doc = "posix_memalign and free",
	 .words = "posix_memalign memalign",
	 .fire = fire_aligned},
	{.name = "aligned-alloc",
	 .doc = "aligned_alloc and free",
	 .words = "aligned_alloc",
	 .fire = fire_aligned_alloc},
	{.name = "page-fault",
	 .doc = "drop a page (madvise) and write to it",
	 .words = "page_fault_user page_fault handle_mm_fault mm_page_alloc mm_page_free "
		  "exceptions madvise",
	 .fire = fire_fault},
	{.name = "mmap",
	 .doc = "map a page and unmap it",
	 .words = "mmap munmap vm_mmap do_mmap kmem_cache_alloc kmem_cache_free",
	 .fire = fire_mmap},
	{.name = "mmap-touch",
	 .doc = "map a page, write to it, unmap it",
	 .words = "mm_page_alloc mm_page_free mm_page kmem tlb_flush rss_stat",
	 .fire = fire_touch},
	{.name = "pageout",
	 .doc = "ask the kernel to reclaim a page (madvise)",
	 .words = "mm_vmscan_reclaim_pages madvise_pageout reclaim_pages",
	 .fire = fire_pageout},
	{.name = "reclaim",
	 .doc = "have a page of bpfbench's own cgroup reclaimed (memory.reclaim)",
	 .words = "vmscan mm_vmscan_memcg_reclaim_begin mm_vmscan_memcg_reclaim_end "
		  "mm_shrink_slab_start mm_shrink_slab_end shrink_slab shrink_lruvec shrink_node "
		  "try_to_free_mem_cgroup_pages",
	 .open = open_reclaim,
	 .fire = fire_reclaim},
	{.name = "brk",
	 .doc = "one page more at the end of the heap, and less",
	 .words = "brk",
	 .fire = fire_brk},
	{0},
};
