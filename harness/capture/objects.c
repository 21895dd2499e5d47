/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The maps, BTF and programs that a capture has seen, each once. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "capture/replay.h"
#include "capture/take.h"

static int name_uniquely(struct bb_take *t, struct bb_captured_map *m)
{
	const struct bb_capture *c = t->capture;
	const char *name = *m->kernel_name ? m->kernel_name : "map";
	unsigned int n = 1;

	for (size_t i = 0; i + 1 < c->n_maps; i++)
		n += !strcmp(c->maps[i].kernel_name, m->kernel_name);
	return (n == 1 ? asprintf(&m->name, "%s", name) : asprintf(&m->name, "%s.%u", name, n)) < 0
		       ? -ENOMEM
		       : 0;
}

/* The flag is in no struct that the kernel fills (kernel/bpf/syscall.c, bpf_map_show_fdinfo). */
static bool is_frozen(int fd)
{
	char path[64], text[1024];
	ssize_t n;
	int info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	n = info < 0 ? 0 : read(info, text, sizeof(text) - 1);
	if (info >= 0)
		close(info);
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, "frozen:\t1") != NULL;
}

/* -1: none. */
static int32_t template_of(const struct bb_take *t, const struct bpf_map_info *info)
{
	for (size_t i = t->n_templates; i > 0; i--) {
		const struct bb_template *made = &t->templates[i - 1];

		if (made->type == info->type && made->key_size == info->key_size &&
		    made->value_size == info->value_size &&
		    made->max_entries == info->max_entries &&
		    !strncmp(made->kernel_name, info->name, sizeof(made->kernel_name)))
			return made->inner;
	}
	return BB_CAPTURE_NONE;
}

static int define_map(struct bb_take *t, int fd, const struct bpf_map_info *info)
{
	struct bb_captured_map *m = bb_append(&t->capture->maps, &t->capture->n_maps, sizeof(*m));
	int32_t btf = BB_CAPTURE_NONE;

	if (!m)
		return -ENOMEM;
	if (info->btf_id && (info->btf_key_type_id || info->btf_value_type_id)) {
		int btf_fd = bpf_btf_get_fd_by_id(info->btf_id);

		btf = btf_fd < 0 ? -errno : bb_take__btf(t, btf_fd);
	}
	*m = (struct bb_captured_map){
		.type = info->type,
		.key_size = info->key_size,
		.value_size = info->value_size,
		.max_entries = info->max_entries,
		.flags = info->map_flags,
		.extra = info->map_extra,
		.btf = btf < 0 ? BB_CAPTURE_NONE : btf,
		.key_type_id = info->btf_key_type_id,
		.value_type_id = info->btf_value_type_id,
		.inner = template_of(t, info),
		.frozen = is_frozen(fd),
	};
	memcpy(m->kernel_name, info->name, sizeof(m->kernel_name) - 1);
	return name_uniquely(t, m);
}

int32_t bb_take__map(struct bb_take *t, int fd)
{
	struct bpf_map_info info = {0};
	__u32 len = sizeof(info);
	struct bb_held_object *held;
	int rc = bpf_obj_get_info_by_fd(fd, &info, &len) ? -errno : 0;

	for (size_t i = 0; !rc && i < t->n_maps; i++)
		if (t->maps[i].id == info.id) {
			close(fd);
			return (int32_t)i;
		}
	if (!rc && t->n_maps >= BB_CAPTURE_MAX_ITEMS)
		rc = -E2BIG;
	if (!rc)
		rc = define_map(t, fd, &info);
	held = rc ? NULL : bb_append(&t->maps, &t->n_maps, sizeof(*held));
	if (!held) {
		close(fd);
		return rc ? rc : -ENOMEM;
	}
	*held = (struct bb_held_object){fd, info.id};
	return (int32_t)t->n_maps - 1;
}

int32_t bb_take__btf(struct bb_take *t, int fd)
{
	struct bpf_btf_info info;
	char name[64];
	int rc = bb_btf_info(fd, &info, name, sizeof(name));
	struct bb_captured_btf *b = NULL;
	struct bb_held_object *held = NULL;

	for (size_t i = 0; !rc && i < t->n_btfs; i++)
		if (t->btfs[i].id == info.id) {
			close(fd);
			return (int32_t)i;
		}
	if (!rc && t->n_btfs < BB_CAPTURE_MAX_ITEMS) {
		b = bb_append(&t->capture->btfs, &t->capture->n_btfs, sizeof(*b));
		held = b ? bb_append(&t->btfs, &t->n_btfs, sizeof(*held)) : NULL;
	}
	if (!held) {
		close(fd);
		return rc ? rc : -ENOMEM;
	}
	if (info.kernel_btf)
		snprintf(b->module, sizeof(b->module), "%s", name);
	*held = (struct bb_held_object){fd, info.id};
	return (int32_t)t->n_btfs - 1;
}

struct bb_seen_prog *bb_take__seen(struct bb_take *t, int fd)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);
	struct bb_seen_prog *s;

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return NULL;
	for (size_t i = 0; i < t->n_seen; i++)
		if (t->seen[i].id == info.id)
			return &t->seen[i];
	s = bb_append(&t->seen, &t->n_seen, sizeof(*s));
	if (!s)
		return NULL;
	*s = (struct bb_seen_prog){.id = info.id, .type = info.type, .prog = BB_CAPTURE_NONE};
	memcpy(s->tag, info.tag, sizeof(s->tag));
	memcpy(s->kernel_name, info.name, sizeof(s->kernel_name) - 1);
	return s;
}

struct bb_captured_attachment *bb_take__attachment(struct bb_take *t, uint32_t prog_id,
						   const char *kind)
{
	struct bb_captured_attachment *a = NULL;
	struct bb_pending_attachment *pending = NULL;

	if (t->capture->n_attachments < BB_CAPTURE_MAX_ITEMS)
		pending = bb_append(&t->pending, &t->n_pending, sizeof(*pending));
	if (pending)
		a = bb_append(&t->capture->attachments, &t->capture->n_attachments, sizeof(*a));
	if (!a) {
		t->n_pending -= pending != NULL;
		return NULL;
	}
	*pending = (struct bb_pending_attachment){.prog_id = prog_id, .fd = -1};
	*a = (struct bb_captured_attachment){.prog = BB_CAPTURE_NONE, .n = 1};
	snprintf(a->kind, sizeof(a->kind), "%s", kind);
	return a;
}
