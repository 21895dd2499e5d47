/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capture files: written and read again, damaged, hostile, of a later version, of another
 * kernel. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <cmocka.h>

#include <bpf/libbpf.h>

#include "base/io.h"
#include "capture/file.h"
#include "unit/folder_testing.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void *copy_of(const void *data, size_t size)
{
	void *copy = malloc(size);

	assert_non_null(copy);
	return memcpy(copy, data, size);
}

static void put_prog(struct bb_captured_prog *p, const char *name)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD},
		{0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	const struct bpf_func_info func = {.type_id = 3};
	const struct bpf_line_info line = {.line_col = 7 << 10};

	*p = (struct bb_captured_prog){
		.name = strdup(name),
		.kernel_name = "fifteen_bytes_x",
		.license = "GPL",
		.type = BPF_PROG_TYPE_XDP,
		.flags = BPF_F_SLEEPABLE,
		.insns = copy_of(insns, sizeof(insns)),
		.n_insns = N(insns),
		.funcs = copy_of(&func, sizeof(func)),
		.n_funcs = 1,
		.lines = copy_of(&line, sizeof(line)),
		.n_lines = 1,
		.btf = 0,
		.attach_btf = BB_CAPTURE_NONE,
		.attach_prog = BB_CAPTURE_NONE,
		.tag = {1, 2, 3, 4, 5, 6, 7, 0xab},
		.xlated_bytes = 64,
	};
}

/* Makes a capture of two programs, the second attached to the first, and two maps: a hash and a
 * prog array that holds both programs. */
static struct bb_capture *make(void)
{
	static const char entries[] = "key1key2value1..value2..";
	static const uint32_t slots[] = {0, 5, 1, 0};
	struct bb_capture *c = calloc(1, sizeof(*c));
	struct utsname kernel;

	assert_non_null(c);
	assert_int_equal(uname(&kernel), 0);
	c->command = strdup("loader \"with quotes\"\n");
	c->kernel.release = strdup(kernel.release);
	c->kernel.version = strdup(kernel.version);
	c->kernel.machine = strdup(kernel.machine);
	c->n_cpus = (uint32_t)libbpf_num_possible_cpus();
	c->btfs = calloc(c->n_btfs = 2, sizeof(*c->btfs));
	c->btfs[0].raw = (struct bb_blob){copy_of("types", 5), 5};
	snprintf(c->btfs[1].module, sizeof(c->btfs[1].module), "vmlinux");
	c->maps = calloc(c->n_maps = 2, sizeof(*c->maps));
	c->maps[0] = (struct bb_captured_map){.name = strdup("hash"),
					      .kernel_name = "hash",
					      .type = BPF_MAP_TYPE_HASH,
					      .key_size = 4,
					      .value_size = 8,
					      .max_entries = 10,
					      .extra = 1ULL << 63,
					      .btf = 0,
					      .inner = BB_CAPTURE_NONE,
					      .frozen = true,
					      .entries = {copy_of(entries, 24), 24},
					      .n_entries = 2,
					      .left_out = strdup("some")};
	c->maps[1] = (struct bb_captured_map){.name = strdup("jumps"),
					      .type = BPF_MAP_TYPE_PROG_ARRAY,
					      .key_size = 4,
					      .value_size = 4,
					      .max_entries = 8,
					      .btf = BB_CAPTURE_NONE,
					      .inner = BB_CAPTURE_NONE,
					      .entries = {copy_of(slots, 16), 16},
					      .n_entries = 2};
	c->progs = calloc(c->n_progs = 2, sizeof(*c->progs));
	put_prog(&c->progs[0], "first");
	put_prog(&c->progs[1], "second");
	c->progs[1].attach_prog = 0;
	c->progs[1].attach_btf = 1;
	c->progs[1].refused = strdup("Invalid argument");
	c->progs[0].fds = calloc(c->progs[0].n_fds = 2, sizeof(*c->progs[0].fds));
	c->progs[0].fds[0] = (struct bb_captured_ref){BB_CAPTURE_NONE, BB_CAPTURE_NONE};
	c->progs[0].fds[1] = (struct bb_captured_ref){1, BB_CAPTURE_NONE};
	c->attachments = calloc(c->n_attachments = 3, sizeof(*c->attachments));
	c->attachments[0] = (struct bb_captured_attachment){.prog = 1,
							    .kind = "kprobe",
							    .where = "do_unlinkat",
							    .attach_type = 41,
							    .n = 2};
	c->attachments[1] = (struct bb_captured_attachment){.prog = 0,
							    .kind = "raw_tracepoint",
							    .where = "a",
							    .n = 1,
							    .refused = true};
	c->attachments[2] = (struct bb_captured_attachment){.prog = 0,
							    .kind = "raw_tracepoint",
							    .where = "b",
							    .n = 1,
							    .refused = true};
	c->inputs = calloc(c->n_inputs = 1, sizeof(*c->inputs));
	c->inputs[0] = (struct bb_captured_input){.prog = 0,
						  .data = {copy_of("packet", 6), 6},
						  .repeat = 9};
	return c;
}

static const char *written(const struct bb_capture *c)
{
	struct bb_err err = {0};

	if (bb_capture__write(c, in_folder("a.capture"), &err))
		fail_msg("%s", err.msg);
	return in_folder("a.capture");
}

static struct bb_capture *read_back(struct bb_capture *c)
{
	struct bb_capture *again;
	struct bb_err err = {0};

	if (bb_capture__read(written(c), &again, &err))
		fail_msg("%s", err.msg);
	bb_capture__free(c);
	return again;
}

static void test_round_trip(void **state)
{
	struct bb_capture *was = make(), *c = read_back(make());
	const struct bb_captured_attachment **places;
	struct stat st;

	(void)state;
	assert_int_equal(stat(in_folder("a.capture"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_true(bb_capture_is_one(in_folder("a.capture")));
	assert_string_equal(c->command, was->command);
	assert_int_equal(c->n_btfs, 2);
	assert_memory_equal(c->btfs[0].raw.data, "types", 5);
	assert_string_equal(c->btfs[1].module, "vmlinux");
	assert_int_equal(c->n_maps, 2);
	for (size_t i = 0; i < c->n_maps; i++) {
		const struct bb_captured_map *m = &c->maps[i], *w = &was->maps[i];

		assert_string_equal(m->name, w->name);
		assert_string_equal(m->kernel_name, w->kernel_name);
		assert_memory_equal(&m->type, &w->type, 5 * sizeof(m->type));
		assert_true(m->extra == w->extra && m->frozen == w->frozen);
		assert_int_equal(m->btf, w->btf);
		assert_int_equal(m->inner, w->inner);
		assert_int_equal(m->n_entries, w->n_entries);
		assert_memory_equal(m->entries.data, w->entries.data, w->entries.size);
	}
	assert_string_equal(c->maps[0].left_out, "some");
	assert_null(c->maps[1].left_out);
	assert_int_equal(c->n_progs, 2);
	for (size_t i = 0; i < c->n_progs; i++) {
		const struct bb_captured_prog *p = &c->progs[i], *w = &was->progs[i];

		assert_string_equal(p->name, w->name);
		assert_string_equal(p->kernel_name, w->kernel_name);
		assert_string_equal(p->license, w->license);
		assert_memory_equal(&p->type, &w->type, 4 * sizeof(p->type));
		assert_int_equal(p->n_insns, w->n_insns);
		assert_memory_equal(p->insns, w->insns, w->n_insns * sizeof(*w->insns));
		assert_memory_equal(p->funcs, w->funcs, sizeof(*w->funcs));
		assert_memory_equal(p->lines, w->lines, sizeof(*w->lines));
		assert_int_equal(p->attach_prog, w->attach_prog);
		assert_int_equal(p->attach_btf, w->attach_btf);
		assert_memory_equal(p->tag, w->tag, sizeof(w->tag));
		assert_int_equal(p->xlated_bytes, 64);
	}
	assert_int_equal(c->progs[0].n_fds, 2);
	assert_int_equal(c->progs[0].fds[0].map, BB_CAPTURE_NONE);
	assert_int_equal(c->progs[0].fds[1].btf, BB_CAPTURE_NONE);
	assert_int_equal(c->progs[0].fds[1].map, 1);
	assert_true(bb_captured_prog__is_measured(&c->progs[0]));
	assert_false(bb_captured_prog__is_measured(&c->progs[1]));
	assert_ptr_equal(bb_capture__find(c, "second"), &c->progs[1]);
	assert_true(bb_capture__any_attachment(c, 0)->refused);
	assert_string_equal(bb_capture__any_attachment(c, 0)->where, "a");
	places = bb_capture__any_attachments(c);
	assert_non_null(places);
	for (size_t i = 0; i < c->n_progs; i++)
		assert_ptr_equal(places[i], bb_capture__any_attachment(c, i));
	free(places);
	assert_string_equal(bb_capture__any_attachment(c, 1)->where, "do_unlinkat");
	assert_int_equal(c->inputs[0].repeat, 9);
	assert_memory_equal(c->inputs[0].data.data, "packet", 6);
	assert_int_equal(bb_capture__check_kernel(c, NULL), 0);
	bb_capture__free(was);
	bb_capture__free(c);
}

/* A bad capture can be written, but reading it fails with `why`. */
static void refused(struct bb_capture *c, const char *why)
{
	struct bb_capture *again = NULL;
	struct bb_err err = {0};

	assert_int_equal(bb_capture__read(written(c), &again, &err), -EINVAL);
	if (!strstr(err.msg, why))
		fail_msg("'%s' says nothing of '%s'", err.msg, why);
	bb_capture__free(c);
}

static void test_what_does_not_fit(void **state)
{
	struct bb_capture *c = make();

	(void)state;
	c->progs[0].insns[0].imm = 2;
	refused(c, "program 0");
	c = make();
	c->progs[0].insns[0].imm = -1;
	refused(c, "program 0");
	c = make();
	c->progs[0].n_insns = 1; /* half an instruction */
	refused(c, "program 0");
	c = make();
	c->progs[1].lines[0].insn_off = 4;
	refused(c, "program 1");
	c = make();
	c->progs[0].attach_prog = 1; /* only an earlier one, or there could be a circle */
	refused(c, "program 0");
	c = make();
	c->maps[0].n_entries = 1;
	refused(c, "map 0");
	c = make();
	c->maps[0].n_entries = UINT32_MAX;
	c->maps[0].max_entries = UINT32_MAX;
	c->maps[0].key_size = UINT32_MAX;
	refused(c, "map 0");
	c = make();
	c->maps[1].entries.data[8] = 2; /* the third of two programs */
	refused(c, "map 1");
	c = make();
	c->maps[0].inner = 1;
	refused(c, "map 0");
	c = make();
	c->maps[1].btf = 2;
	refused(c, "map 1");
	c = make();
	free(c->progs[1].name);
	c->progs[1].name = strdup("first");
	refused(c, "two programs of one name");
}

static void test_another_kernel(void **state)
{
	struct bb_capture *c = make();
	struct bb_err err = {0};

	(void)state;
	free(c->kernel.release);
	c->kernel.release = strdup("4.2.0-amd64");
	c = read_back(c);
	assert_int_equal(bb_capture__check_kernel(c, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, "a capture of Linux 4.2.0-amd64"));
	bb_capture__free(c);
	c = make();
	c->n_cpus++;
	assert_int_equal(bb_capture__check_kernel(c, &err), -ENOTSUP);
	assert_non_null(strstr(err.msg, "possible CPUs"));
	bb_capture__free(c);
}

/* A capture that is cut off is refused. One with a changed byte is refused or read, without a
 * crash. */
static void test_damaged(void **state)
{
	struct bb_capture *c = make(), *again;
	char *data, *later;
	struct bb_err err;
	size_t len;

	(void)state;
	assert_int_equal(bb_read_file(written(c), 1 << 20, &data, &len, NULL), 0);
	for (size_t n = 0; n < len - 1024; n += 97) /* the file ends in zeros */
		if (!bb_capture__parse(data, n, "cut", &again, &err)) {
			assert_true(n >= len - 10240); /* the last block is only partly used */
			bb_capture__free(again);
		}
	for (size_t i = 0; i < len; i += 3) {
		data[i] = (char)(data[i] ^ 0x41);
		if (!bb_capture__parse(data, len, "changed", &again, &err))
			bb_capture__free(again);
		else
			assert_true(*err.msg);
		data[i] = (char)(data[i] ^ 0x41);
	}
	later = strstr(data + 512, "\"bpfbench_capture\": 1");
	assert_non_null(later);
	later[strlen("\"bpfbench_capture\": ")] = '2';
	assert_int_equal(bb_capture__parse(data, len, "later", &again, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "a capture of version 2"));
	free(data);
	bb_capture__free(c);
}

/* The message about a faulty kernel names the key. */
static void test_faulty_kernel(void **state)
{
	static const struct {
		const char *from, *to, *says;
	} cases[] = {
		{"\"kernel\": {", "\"kernal\": {", ": kernel: is missing"},
		{"\"release\": ", "\"relaese\": ", ": kernel.release: is missing"},
	};
	struct bb_capture *c = make(), *again;
	char *data, *at;
	struct bb_err err;
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(bb_read_file(written(c), 1 << 20, &data, &len, NULL), 0);
		at = strstr(data + 512, cases[i].from);
		assert_non_null(at);
		memcpy(at, cases[i].to, strlen(cases[i].to));
		assert_int_equal(bb_capture__parse(data, len, "faulty", &again, &err), -EINVAL);
		if (!strstr(err.msg, cases[i].says))
			fail_msg("'%s' says nothing of '%s'", err.msg, cases[i].says);
		free(data);
	}
	bb_capture__free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_what_does_not_fit),
		cmocka_unit_test(test_another_kernel), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_faulty_kernel),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
