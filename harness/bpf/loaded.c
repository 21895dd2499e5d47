/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/loaded.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "base/caller.h"
#include "base/io.h"
#include "bpf/target.h"
#include "capture/replay.h"

#define BY_PERMISSION "only CAP_SYS_ADMIN may see live programs: run as root, with sudo"

int bb_loaded__next(uint32_t id, uint32_t *ret_id, struct bb_err *err)
{
	if (!bpf_prog_get_next_id(id, ret_id))
		return 0;
	int rc = -errno;
	if (rc == -ENOENT)
		return rc;
	return bb_fail(err, rc, "cannot list the loaded programs: %m%s",
		       rc == -EPERM ? "; " BY_PERMISSION : "");
}

int bb_loaded__open(uint32_t id, int *ret_fd, struct bb_err *err)
{
	int fd = bpf_prog_get_fd_by_id(id), rc = -errno;

	if (fd >= 0) {
		*ret_fd = fd;
		return 0;
	}
	if (rc == -ENOENT)
		return bb_fail(err, rc,
			       "no program with id %u is loaded; `bpfbench live --once` lists "
			       "those that are",
			       id);
	return bb_fail(err, rc, "the program with id %u: %m%s", id,
		       rc == -EPERM ? "; " BY_PERMISSION : "");
}

bool bb_loaded__is_there(uint32_t id)
{
	int fd = bpf_prog_get_fd_by_id(id);
	bool is_gone = fd < 0 && errno == ENOENT;

	bb_close(&fd);
	return !is_gone;
}

int bb_loaded__open_pinned(const char *path, int *ret_fd, struct bb_err *err)
{
	int fd, rc;

	/* Most BPF file systems can be read by root only. Root's rights are safe here, because
	 * bpf() accepts no path outside of a BPF file system. */
	bb_root__begin();
	fd = bpf_obj_get(path);
	rc = -errno;
	bb_root__end();
	if (fd >= 0) {
		if (bb_fd_is_program(fd)) {
			*ret_fd = fd;
			return 0;
		}
		close(fd);
		return bb_fail(err, -EINVAL, "%s: the object that is pinned there is no program",
			       path);
	}
	if (rc == -ENOENT)
		return bb_fail(err, rc,
			       "%s: nothing is pinned there; `bpfbench live --once` lists the "
			       "loaded programs",
			       path);
	if (rc == -EPERM || rc == -EACCES)
		return bb_fail(err, rc, "%s: %m%s", path,
			       geteuid() ? "; run as root, with sudo"
					 : "; is it in a BPF file system?");
	return bb_fail(err, rc, "%s: cannot be opened as a pinned program: %m", path);
}

void bb_loaded__whole_name(uint32_t btf_id, uint32_t func_type_id, char ret_name[BB_LOADED_NAME])
{
	struct btf *btf = btf_id ? btf__load_from_kernel_by_id(btf_id) : NULL;
	const char *name = bb_btf_name(btf, func_type_id);

	if (name)
		snprintf(ret_name, BB_LOADED_NAME, "%s", name);
	btf__free(btf);
}

int bb_loaded__read(int fd, struct bb_loaded *ret_loaded, struct bb_err *err)
{
	struct bpf_func_info main_func = {0};
	struct bpf_prog_info info = {0}, with_func = {.func_info = (__u64)(uintptr_t)&main_func,
						      .func_info_rec_size = sizeof(main_func),
						      .nr_func_info = 1};
	int rc = bb_info__read(fd, &info);

	if (rc)
		return bb_fail(err, rc, "cannot ask the kernel about a program: %m");
	ret_loaded->id = info.id;
	ret_loaded->type = info.type;
	snprintf(ret_loaded->name, sizeof(ret_loaded->name), "%.*s", (int)sizeof(info.name),
		 info.name);
	bb_write_tag(&info, ret_loaded->tag);
	if (info.btf_id && info.nr_func_info && info.func_info_rec_size >= sizeof(main_func) &&
	    !bb_info__read(fd, &with_func))
		bb_loaded__whole_name(info.btf_id, main_func.type_id, ret_loaded->name);
	return 0;
}

struct loaded {
	struct bb_target head;
	uint32_t id;
};

static int loaded_load(struct bb_target *t, struct bb_err *err)
{
	uint32_t id = ((struct loaded *)t)->id;
	int rc = bb_loaded__open(id, &t->prog_fd, err);

	if (rc == -ENOENT)
		bb_fail(err, rc, "program '%s' (id %u) is gone: its owner unloaded it or ended",
			t->program, id);
	return rc;
}

static void loaded_unload(struct bb_target *t)
{
	bb_close(&t->prog_fd);
}

static int loaded_open(struct bb_target *t, const struct bb_source_spec *spec, struct bb_err *err)
{
	struct bb_loaded loaded;
	int fd = -1, rc = spec->pinned ? bb_loaded__open_pinned(spec->pinned, &fd, err)
				       : bb_loaded__open(spec->id, &fd, err);

	if (!rc)
		rc = bb_loaded__read(fd, &loaded, err);
	if (!rc) {
		((struct loaded *)t)->id = loaded.id;
		t->program = bb_strdup(loaded.name);
	}
	bb_close(&fd);
	return rc;
}

const struct bb_source_ops bb_source_loaded = {
	.size = sizeof(struct loaded),
	.open = loaded_open,
	.load = loaded_load,
	.unload = loaded_unload,
};
