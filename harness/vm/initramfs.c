/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vm/initramfs.h"

#include <archive.h>
#include <archive_entry.h>
#include <elf.h>
#include <link.h>

#include "base/io.h"

#define MAX_FILE (UINT32_C(512) << 20)

struct packing {
	struct archive *archive;
	char **made; /* paths that are in the archive */
	size_t n_made;
	struct bb_err *err;
	int rc;
};

/* True if `path` is in the archive already. Otherwise adds it to p->made. */
static bool is_made(struct packing *p, const char *path)
{
	if (BB_ANY(p->made, p->n_made, !strcmp(*it, path)))
		return true;
	BB_PUSH(p->made, p->n_made, bb_strdup(path));
	return false;
}

static void write_entry(struct packing *p, const char *path, mode_t mode, const void *data,
			size_t len)
{
	struct archive_entry *e = archive_entry_new();

	if (!e)
		bb_out_of_memory();
	archive_entry_set_pathname(e, path + 1); /* without the slash at the beginning */
	archive_entry_set_mode(e, mode);
	if (S_ISLNK(mode))
		archive_entry_set_symlink(e, data);
	archive_entry_set_size(e, (la_int64_t)len);
	if (archive_write_header(p->archive, e) != ARCHIVE_OK ||
	    archive_write_data(p->archive, data, len) != (la_ssize_t)len)
		p->rc = bb_fail(p->err, -EIO, "the guest's files cannot be packed: %s: %s", path,
				archive_error_string(p->archive));
	archive_entry_free(e);
}

/* Writes the folders above `path` and, if `itself` is true, the folder `path`. */
static void write_folders(struct packing *p, const char *path, bool itself)
{
	char folder[PATH_MAX];

	for (const char *at = path; !p->rc && *at; at++) {
		size_t len = (size_t)(at - path) + 1;
		bool ends = itself && !at[1] && *at != '/';

		if ((at[1] != '/' && !ends) || *at == '/' || len >= sizeof(folder))
			continue;
		memcpy(folder, path, len);
		folder[len] = '\0';
		if (!is_made(p, folder))
			write_entry(p, folder, S_IFDIR | 0755, NULL, 0);
	}
}

static void write_data(struct packing *p, const char *path, const void *data, size_t len)
{
	write_folders(p, path, false);
	if (!p->rc && !is_made(p, path))
		write_entry(p, path, S_IFREG | 0755, data, len);
}

#define TABLES "/libicudata.so"

/* Sets the constants of the library ICU to zero, because QEMU does not save pages of zeros. ICU has
 * 31 MB of constants, and libarchive needs them only for XML. */
static void clear_constants(char *data, size_t len)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)data;

	for (size_t i = 0; len >= sizeof(*head) && i < head->e_phnum; i++) {
		size_t at = head->e_phoff + i * sizeof(Elf64_Phdr);
		const Elf64_Phdr *p = (const Elf64_Phdr *)(data + at);

		if (at > len - sizeof(*p))
			return;
		if (p->p_type == PT_LOAD && p->p_flags == PF_R && p->p_offset &&
		    p->p_offset <= len && p->p_filesz <= len - p->p_offset)
			memset(data + p->p_offset, 0, p->p_filesz);
	}
}

static void write_file(struct packing *p, const char *from, const char *path)
{
	char *data = NULL;
	size_t len = 0;

	if (p->rc)
		return;
	p->rc = bb_read_file(from, MAX_FILE, &data, &len, p->err);
	if (!p->rc && strstr(from, TABLES))
		clear_constants(data, len);
	if (!p->rc)
		write_data(p, path, data, len);
	free(data);
}

/* Writes the host's file `path` into the archive. Of a folder, writes the files, not the
 * subfolders. */
static void write_from_host(struct packing *p, const char *path)
{
	struct stat st;
	char **names = NULL, file[PATH_MAX];
	size_t n = 0;
	int rc;

	if (p->rc || stat(path, &st) || !S_ISDIR(st.st_mode)) {
		write_file(p, path, path);
		return;
	}
	rc = bb_list_and_close(bb_open(path, O_RDONLY | O_DIRECTORY), "", &names, &n);
	if (rc)
		p->rc = bb_fail(p->err, rc, "%s: %m", path);
	for (size_t i = 0; !p->rc && i < n; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, names[i]);
		if (!stat(file, &st) && S_ISREG(st.st_mode))
			write_file(p, file, file);
	}
	bb_names_free(names, n);
}

const char *bb_guest_program(void)
{
	static char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[len < 0 ? 0 : len] = '\0';
	return path;
}

struct each_file {
	void (*do_file)(void *arg, const char *path);
	void *arg;
};

static int do_library(struct dl_phdr_info *info, size_t, void *arg)
{
	const struct each_file *each = arg;

	if (info->dlpi_name && info->dlpi_name[0] == '/')
		each->do_file(each->arg, info->dlpi_name);
	return 0;
}

void bb_initramfs__each_file(void (*do_file)(void *arg, const char *path), void *arg)
{
	struct each_file each = {do_file, arg};

	do_file(arg, bb_guest_program());
	dl_iterate_phdr(do_library, &each);
}

static void write_same(void *arg, const char *path)
{
	write_file(arg, path, path);
}

static int begin_archive(struct packing *p)
{
	int fd = memfd_create("bpfbench-guest", 0);

	if (fd < 0)
		p->rc = bb_fail(p->err, -errno, "the guest's files cannot be packed: %m");
	p->archive = archive_write_new();
	if (!p->rc &&
	    (!p->archive || archive_write_set_format_cpio_newc(p->archive) != ARCHIVE_OK ||
	     archive_write_open_fd(p->archive, fd) != ARCHIVE_OK))
		bb_out_of_memory();
	return fd;
}

/* Returns the archive's descriptor, or the error of any step. */
static int finish_archive(struct packing *p, int fd)
{
	if (p->archive && archive_write_close(p->archive) != ARCHIVE_OK && !p->rc)
		p->rc = bb_fail(p->err, -EIO, "the guest's files cannot be packed: %s",
				archive_error_string(p->archive));
	archive_write_free(p->archive);
	bb_names_free(p->made, p->n_made);
	if (p->rc)
		bb_close(&fd);
	return p->rc ? p->rc : fd;
}

int bb_initramfs__make(const char *modules, struct bb_err *err)
{
	static const char *const mounts[] = {"/proc", "/sys", "/dev", "/tmp"};
	/* needed modules that are not built into Debian's kernels; they need no other modules */
	static const char *const wanted[] = {"kernel/drivers/net/veth.ko",
					     "kernel/drivers/block/loop.ko",
					     "kernel/net/sched/sch_ingress.ko",
					     "kernel/net/sched/cls_bpf.ko"};
	char **releases = NULL, from[PATH_MAX], to[PATH_MAX];
	size_t n = 0;
	struct packing p = {.err = err};
	int fd = begin_archive(&p);

	if (!p.rc)
		write_entry(&p, "/init", S_IFLNK | 0777, bb_guest_program(), 0);
	bb_initramfs__each_file(write_same, &p);
	for (size_t i = 0; !p.rc && i < BB_LEN(mounts); i++)
		write_folders(&p, mounts[i], true);
	if (!p.rc && modules)
		bb_list_and_close(bb_open(modules, O_RDONLY | O_DIRECTORY), "", &releases, &n);
	for (size_t i = 0; n && i < BB_LEN(wanted); i++) {
		snprintf(from, sizeof(from), "%s/%s/%s", modules, releases[0], wanted[i]);
		snprintf(to, sizeof(to), BB_GUEST_MODULES "/%s", strrchr(wanted[i], '/') + 1);
		if (!access(from, R_OK))
			write_file(&p, from, to);
	}
	bb_names_free(releases, n);
	return finish_archive(&p, fd);
}

int bb_guest_job__make(const struct bb_guest_job *job, struct bb_err *err)
{
	struct packing p = {.err = err};
	char *text = NULL;
	size_t len = 0;
	int fd = begin_archive(&p);

	for (size_t i = 0; !p.rc && i < job->folders.n; i++)
		write_folders(&p, job->folders.v[i], true);
	if (!p.rc)
		write_folders(&p, job->dir, true);
	for (size_t i = 0; !p.rc && i < job->files.n; i++)
		write_from_host(&p, job->files.v[i]);
	FILE *out = bb_open_memstream(&text, &len);
	fprintf(out, "%s%c%s%c", job->dir, '\0', job->program ? job->program : bb_guest_program(),
		'\0');
	for (size_t i = 0; i < job->args.n; i++)
		fprintf(out, "%s%c", job->args.v[i], '\0');
	bb_close_memstream(out);
	if (!p.rc)
		write_data(&p, BB_GUEST_ARGS, text, len);
	free(text);
	return finish_archive(&p, fd);
}
