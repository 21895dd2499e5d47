/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recapture FILE...: loads the programs of captures again, and prints five numbers for each file:
 * programs of the command that the kernel accepted; programs by which the loader only tested the
 * kernel; programs that the kernel refused; programs loaded again with new maps; and how many of
 * these have the same tag, translated length and JIT length as with the command's own maps. The
 * exit code is 1 if one differs. On stderr: which one, and why.
 *
 * recapture -b FILE: prints the times to write a capture of 200 programs and 100 MiB to FILE, and
 * to read it, ms.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/std.h"
#include "capture/file.h"
#include "capture/replay.h"

#define LOG_BYTES (1u << 20)
#define N_PROGS 200
#define N_MAPS 100

static char log_text[LOG_BYTES];

/* True if the loaded program equals the captured one. Prints the difference if not. */
static bool is_equal(const struct bb_captured_prog *p, int fd)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return false;
	if (!memcmp(info.tag, p->tag, sizeof(p->tag)) && info.xlated_prog_len == p->xlated_bytes &&
	    info.jited_prog_len == p->jited_bytes)
		return true;
	fprintf(stderr, "%s: differs: %u and %u bytes translated, %u and %u of machine code\n",
		p->name, p->xlated_bytes, info.xlated_prog_len, p->jited_bytes,
		info.jited_prog_len);
	return false;
}

static int look_at(const char *path)
{
	size_t taken = 0, probes = 0, refused = 0, loaded = 0, equal = 0;
	struct bb_capture *c;
	struct bb_err err = {0};

	if (bb_capture__read(path, &c, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	for (size_t i = 0; i < c->n_progs; i++) {
		const struct bb_captured_prog *p = &c->progs[i];
		struct bb_replay r;

		probes += p->probe != NULL;
		refused += p->refused && !p->probe;
		if (p->probe || p->refused)
			continue;
		taken++;
		if (p->missing) {
			fprintf(stderr, "%s: %s: without %s\n", path, p->name, p->missing);
			continue;
		}
		r = bb_replay__open(c);
		if (bb_replay__load(&r, i, log_text, sizeof(log_text), &err)) {
			fprintf(stderr, "%s\n%.400s\n", err.msg, log_text);
		} else {
			loaded++;
			equal += is_equal(p, r.progs[i]);
		}
		bb_replay__done(&r);
	}
	printf("%zu %zu %zu %zu %zu\n", taken, probes, refused, loaded, equal);
	bb_capture__free(c);
	return equal < taken;
}

static struct bb_capture *make_large(void)
{
	static const struct bpf_insn insns[500] = {[499] = {.code = BPF_JMP | BPF_EXIT}};
	struct bb_capture *c = calloc(1, sizeof(*c));

	c->command = strdup("large");
	c->kernel.release = strdup("r");
	c->kernel.version = strdup("v");
	c->kernel.machine = strdup("m");
	c->n_maps = N_MAPS;
	c->maps = calloc(N_MAPS, sizeof(*c->maps));
	for (size_t i = 0; i < N_MAPS; i++) {
		struct bb_captured_map *m = &c->maps[i];

		*m = (struct bb_captured_map){.type = BPF_MAP_TYPE_HASH,
					      .key_size = 8,
					      .value_size = 8,
					      .max_entries = 65536,
					      .btf = BB_CAPTURE_NONE,
					      .inner = BB_CAPTURE_NONE,
					      .n_entries = 65536};
		if (asprintf(&m->name, "map%zu", i) < 0)
			abort();
		m->entries.size = 65536 * 16;
		m->entries.data = malloc(m->entries.size);
		memset(m->entries.data, (int)i, m->entries.size);
	}
	c->n_progs = N_PROGS;
	c->progs = calloc(N_PROGS, sizeof(*c->progs));
	for (size_t i = 0; i < N_PROGS; i++) {
		struct bb_captured_prog *p = &c->progs[i];

		*p = (struct bb_captured_prog){.btf = BB_CAPTURE_NONE,
					       .attach_btf = BB_CAPTURE_NONE,
					       .attach_prog = BB_CAPTURE_NONE,
					       .insns = malloc(sizeof(insns)),
					       .n_insns = 500};
		memcpy(p->insns, insns, sizeof(insns));
		if (asprintf(&p->name, "prog%zu", i) < 0)
			abort();
	}
	return c;
}

static int time_large(const char *path)
{
	struct bb_capture *c = make_large(), *again = NULL;
	struct bb_err err = {0};
	uint64_t began_ns = bb_now_ns();
	int rc = bb_capture__write(c, path, &err);
	double write_ms = bb_seconds_since(began_ns) * 1e3;

	began_ns = bb_now_ns();
	if (!rc)
		rc = bb_capture__read(path, &again, &err);
	if (rc)
		fprintf(stderr, "%s\n", err.msg);
	else
		printf("%.0f %.0f\n", write_ms, bb_seconds_since(began_ns) * 1e3);
	bb_capture__free(again);
	bb_capture__free(c);
	return rc != 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc == 3 && !strcmp(argv[1], "-b"))
		return time_large(argv[2]);
	for (int i = 1; i < argc; i++)
		failed |= look_at(argv[i]);
	return failed;
}
