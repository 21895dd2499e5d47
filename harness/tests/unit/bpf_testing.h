/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* For tests that load BPF programs: objects of the build folder, and a skip with a reason if the
 * test does not run as root. Include cmocka.h first. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/prog_type.h"
#include "bpf/target.h"

#define PERF_PROFILER "bpf/perf_profiler.bpf.o"
#define DEPTH "tests/bpf/depth.bpf.o"
#define DROPS "tests/bpf/drops.bpf.o"

/* cmocka's skip() has no reason; run.sh takes it from the line printed before. */
#define need_root()                                                                                \
	do {                                                                                       \
		if (geteuid()) {                                                                   \
			print_message("# skip: needs root\n");                                     \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

/* Skips the test if this kernel has no programs of `type`, a BPF_PROG_TYPE_x. */
#define need_prog_type(type)                                                                       \
	do {                                                                                       \
		need_root();                                                                       \
		if (libbpf_probe_bpf_prog_type((type), NULL) != 1) {                               \
			print_message("# skip: this kernel has no programs of type %s\n",          \
				      bb_prog_type_name(type).text);                               \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#endif
#ifndef HAS_ASAN
#define HAS_ASAN 0
#endif

/* The event of the step drive is a page fault of this thread. AddressSanitizer's shadow memory
 * causes some, too. */
#define need_exact_faults()                                                                        \
	do {                                                                                       \
		need_root();                                                                       \
		if (HAS_ASAN) {                                                                    \
			print_message("# skip: AddressSanitizer takes page faults of its own\n");  \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

/* Path of a file of the build folder: $O, or the folder in which this was compiled. */
static inline const char *built(const char *name, char *buf, size_t size)
{
	const char *o = getenv("O");

	snprintf(buf, size, "%s/%s", o ? o : BB_BUILD_DIR, name);
	return buf;
}

static inline struct bb_target *open_target_with(const char *object, const char *program,
						 const struct bb_global_spec *globals,
						 size_t n_globals)
{
	struct bb_err err = {0};
	struct bb_target *t = NULL;
	char path[4096];

	if (bb_target__open(&(struct bb_source_spec){.path = built(object, path, sizeof(path)),
						     .program = program,
						     .globals = globals,
						     .n_globals = n_globals},
			    &t, &err))
		fail_msg("%s", err.msg);
	return t;
}

static inline struct bb_target *open_target(const char *object, const char *program)
{
	return open_target_with(object, program, NULL, 0);
}

static inline void load(struct bb_target *t)
{
	struct bb_err err = {0};

	if (bb_target__load(t, &err))
		fail_msg("%s", err.msg);
}

/* Returns the id of the map of that name that the loaded program uses, or 0. */
static inline __u32 map_id(const struct bb_target *t, const char *name)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info), ids[64];

	info.map_ids = (__u64)(uintptr_t)ids;
	info.nr_map_ids = 64;
	assert_int_equal(bpf_obj_get_info_by_fd(t->prog_fd, &info, &len), 0);
	for (__u32 i = 0; i < info.nr_map_ids; i++) {
		int fd = bpf_map_get_fd_by_id(ids[i]);
		struct bpf_map_info map = {0};

		len = sizeof(map);
		assert_true(fd >= 0);
		assert_int_equal(bpf_obj_get_info_by_fd(fd, &map, &len), 0);
		close(fd);
		if (!strcmp(map.name, name))
			return ids[i];
	}
	return 0;
}

/* Returns the path of a bpftool that works here, or NULL. Ubuntu's is a wrapper, so the folders of
 * the real ones are searched, too. */
static inline const char *find_bpftool(char *buf, size_t size)
{
	static const char *const patterns[] = {
		"/usr/sbin/bpftool",
		"/usr/bin/bpftool",
		"/sbin/bpftool",
		"/usr/local/sbin/bpftool",
		"/usr/lib/linux-tools*/bpftool",
		"/usr/lib/linux-tools/*/bpftool",
	};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		glob_t found = {0};

		if (!glob(patterns[i], 0, NULL, &found)) {
			for (size_t k = 0; k < found.gl_pathc; k++) {
				char command[4200];

				snprintf(command, sizeof(command), "%s version >/dev/null 2>&1",
					 found.gl_pathv[k]);
				/* NOLINT: the command is from a fixed list */
				if (strlen(found.gl_pathv[k]) >= size || system(command))
					continue;
				strcpy(buf, found.gl_pathv[k]);
				globfree(&found);
				return buf;
			}
		}
		globfree(&found);
	}
	return NULL;
}

static inline __u32 prog_id(const struct bb_target *t)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(t->prog_fd, &info, &len), 0);
	return info.id;
}

/* True if there is a BPF link of the program with that id. */
static inline bool has_link(__u32 prog_id)
{
	__u32 id = 0;

	while (!bpf_link_get_next_id(id, &id)) {
		int fd = bpf_link_get_fd_by_id(id);
		struct bpf_link_info info = {0};
		__u32 len = sizeof(info);
		bool is_it = fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len) &&
			     info.prog_id == prog_id;

		if (fd >= 0)
			close(fd);
		if (is_it)
			return true;
	}
	return false;
}

/* Returns what `bpftool KIND show id N -j` prints; KIND is prog or map. The caller frees it with
 * json_decref(). */
static inline json_t *ask_bpftool(const char *bpftool, const char *kind, __u32 id)
{
	char command[4200];
	json_error_t at;
	json_t *root;
	FILE *out;

	snprintf(command, sizeof(command), "%s %s show id %u -j", bpftool, kind, id);
	out = popen(command, "re");
	assert_non_null(out);
	root = json_loadf(out, 0, &at);
	assert_int_equal(pclose(out), 0);
	if (!root)
		fail_msg("%s: %s", command, at.text);
	return root;
}
