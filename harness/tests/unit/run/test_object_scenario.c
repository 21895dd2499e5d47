/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what BPF objects hold and makes a scenario of them, for objects of this build and for files
 * that are none. Whatever characters a path or name has, the scenario's text can be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/bpf.h>

#include "base/io.h"
#include "bpf/object_info.h"
#include "bpf/prog_type.h"
#include "drivers/test_run_types.h"
#include "unit/folder_testing.h"
#include "plan/plan.h"
#include "run/object_scenario.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define OWN(name) BB_BUILD_DIR "/bpf/" name ".bpf.o"
#define TEST(name) BB_BUILD_DIR "/tests/bpf/" name ".bpf.o"

static struct bb_object_opts of_object(const struct bb_object_ref *ref)
{
	return (struct bb_object_opts){.objects = ref, .n_objects = 1};
}

static struct bb_scenario *must_make(const struct bb_object_opts *opts,
				     struct bb_object_scenario *ret_text)
{
	struct bb_scenario *s = NULL;
	struct bb_err err = {0};

	if (bb_object_scenario__make(opts, ret_text, &err))
		fail_msg("%s", err.msg);
	if (bb_scenario__parse(ret_text->text, strlen(ret_text->text), "made.yml", &s, &err))
		fail_msg("%s\n%s", err.msg, ret_text->text);
	return s;
}

static void expect_failure(const struct bb_object_opts *opts, int code, const char *says)
{
	struct bb_object_scenario text = {0};
	struct bb_err err = {0};

	assert_int_equal(bb_object_scenario__make(opts, &text, &err), code);
	if (!strstr(err.msg, says))
		fail_msg("'%s' does not say '%s'", err.msg, says);
	assert_null(text.text);
}

static void write_file(const char *name, const void *data, size_t len)
{
	FILE *f = fopen(in_folder(name), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/* --- what an object holds --- */

static void test_info(void **state)
{
	static const struct {
		const char *name;
		uint32_t type, attach_type;
	} programs[] = {
		{"counts", BPF_PROG_TYPE_XDP, BPF_XDP},
		{"on_request", BPF_PROG_TYPE_SCHED_CLS, 0},
		{"sampled", BPF_PROG_TYPE_PERF_EVENT, 0},
		{"on_devmap", BPF_PROG_TYPE_XDP, BPF_XDP_DEVMAP},
		{"on_cpumap", BPF_PROG_TYPE_XDP, BPF_XDP_CPUMAP},
		{"probe", BPF_PROG_TYPE_KPROBE, 0},
		{"replaces", BPF_PROG_TYPE_EXT, 0},
		{"of_no_type", BPF_PROG_TYPE_UNSPEC, 0},
	};
	struct bb_object_info info;
	struct bb_err err = {0};

	(void)state;
	assert_int_equal(bb_object_info__read(TEST("sections"), &info, &err), 0);
	/* Functions that the programs call are not programs. */
	assert_int_equal(info.n_programs, ARRAY_LEN(programs));
	for (size_t i = 0; i < info.n_programs; i++) {
		size_t j = 0;

		while (j < ARRAY_LEN(programs) && strcmp(info.programs[i].name, programs[j].name))
			j++;
		assert_true(j < ARRAY_LEN(programs));
		assert_int_equal(info.programs[i].type, programs[j].type);
		if (programs[j].attach_type)
			assert_int_equal(info.programs[i].attach_type, programs[j].attach_type);
	}
	assert_int_equal(info.n_maps, 1);
	assert_string_equal(info.maps[0].name, "bpfbench_pin");
	assert_int_equal(info.maps[0].type, BPF_MAP_TYPE_ARRAY);
	assert_true(info.has_btf);
	assert_string_equal(info.licence, "GPL");
	bb_object_info__done(&info);
	bb_object_info__done(&info);
	bb_object_info__done(NULL);
	assert_int_equal(bb_object_info__read(TEST("no_licence"), &info, &err), 0);
	assert_null(info.licence);
	bb_object_info__done(&info);
}

static void test_bad_objects(void **state)
{
	static const struct {
		const char *path;
		int code;
		const char *says;
	} cases[] = {
		{"/nowhere/x.o", -ENOENT, "/nowhere/x.o: there is no such BPF object; build it"},
		{TEST("legacy_maps"), -EINVAL,
		 "struct { __uint(type, ...); ... } name SEC(\".maps\")"},
		{TEST("no_program"), -ENOENT,
		 "holds no program: its section makes a function a program"},
		{BB_BUILD_DIR "/obj/base/std.o", -EINVAL, "not a BPF object: an ELF file for "},
		{BB_BUILD_DIR, -EISDIR, "Is a directory"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct bb_object_ref ref = {.path = cases[i].path};
		struct bb_object_opts opts = of_object(&ref);

		expect_failure(&opts, cases[i].code, cases[i].says);
	}
}

static void test_damaged_objects(void **state)
{
	struct bb_object_ref ref = {.path = in_folder("x.o")};
	struct bb_object_opts opts = of_object(&ref);
	char *elf = NULL, swapped[64];
	size_t len = 0;

	(void)state;
	assert_int_equal(bb_read_file(TEST("sections"), 1 << 24, &elf, &len, NULL), 0);
	write_file("x.o", "", 0);
	expect_failure(&opts, -EINVAL, "not a BPF object, not even an ELF file (0 bytes)");
	write_file("x.o", "#include <linux/bpf.h>\n", 23);
	expect_failure(&opts, -EINVAL,
		       "not a BPF object, not even an ELF file (23 bytes); build it with clang "
		       "-target bpf");
	write_file("x.o", elf, 40);
	expect_failure(&opts, -EINVAL, "cut off after 40 bytes");
	write_file("x.o", elf, len - 100);
	expect_failure(&opts, -EINVAL, "cut off, it has ");
	for (size_t at = 64; at + 100 < len; at += 61) { /* an error, and no crash */
		write_file("x.o", elf, at);
		expect_failure(&opts, -EINVAL, "cut off, it has ");
	}
	/* Only the header is in the other byte order: e_ident[EI_DATA] and e_machine. */
	memcpy(swapped, elf, sizeof(swapped));
	swapped[5] = (char)(3 - elf[5]);
	swapped[18] = elf[19];
	swapped[19] = elf[18];
	write_file("x.o", swapped, sizeof(swapped));
	expect_failure(&opts, -EINVAL, "-endian, and this machine is ");
	free(elf);
}

/* Randomly changed bytes: the object is opened or refused, and a scenario made of it can be
 * read. */
static void test_mutated_objects(void **state)
{
	struct bb_object_ref ref = {.path = in_folder("x.o")};
	struct bb_object_opts opts = of_object(&ref);
	char *elf = NULL, *copy;
	size_t len = 0;
	unsigned int random = 1;

	(void)state;
	assert_int_equal(bb_read_file(TEST("sections"), 1 << 24, &elf, &len, NULL), 0);
	copy = malloc(len);
	assert_non_null(copy);
	for (int i = 0; i < 300; i++) {
		struct bb_object_scenario text = {0};
		struct bb_scenario *s = NULL;

		memcpy(copy, elf, len);
		for (int j = 0; j < 3; j++) {
			random = random * 1103515245 + 12345;
			copy[64 + random / 16 % (len - 64)] = (char)(random >> 8);
		}
		write_file("x.o", copy, len);
		if (!bb_object_scenario__make(&opts, &text, NULL))
			bb_scenario__parse(text.text, strlen(text.text), "made.yml", &s, NULL);
		bb_scenario__free(s);
		bb_object_scenario__done(&text);
	}
	free(copy);
	free(elf);
}

/* --- the scenario --- */

static void test_one_type(void **state)
{
	struct bb_object_ref ref = {.path = OWN("fun_xdp")};
	const char *programs[] = {"v3"};
	struct bb_object_opts opts = of_object(&ref);
	struct bb_object_scenario text;
	struct bb_scenario *s;

	(void)state;
	opts.programs.v = programs;
	opts.programs.n = 1;
	s = must_make(&opts, &text);
	assert_string_equal(s->name, "fun_xdp");
	assert_int_equal(s->object[0], '/');
	assert_string_equal(s->floor, "empty-xdp");
	assert_int_equal(s->n_variants, 2);
	assert_string_equal(s->variants[0].program, "empty_xdp");
	assert_string_equal(s->variants[0].object, "floors.bpf.o");
	assert_string_equal(s->variants[1].name, "v3");
	assert_string_equal(s->variants[1].program, "v3");
	assert_null(s->variants[1].object);
	assert_int_equal(s->n_drives, 2);
	assert_string_equal(s->drives[0].kind->with, "step");
	assert_string_equal(s->drives[0].kind->by[0], "test-run");
	assert_string_equal(s->drives[1].kind->with, "slope");
	assert_int_equal(s->drives[0].n_variants, 0);
	assert_int_equal(text.n_skips, 0);
	bb_scenario__free(s);
	bb_object_scenario__done(&text);
	programs[0] = "v5";
	expect_failure(&opts, -ENOENT,
		       "has no program 'v5' (did you mean 'v0'?); it has: empty, v0, v1, v2, v3, "
		       "v4");
}

static void test_many_types(void **state)
{
	static const struct {
		const char *with, *trigger, *floor, *variant;
	} drives[] = {
		{"step", "test-run", "empty-xdp", "counts"},
		{"slope", NULL, "empty-xdp", "counts"},
		{"step", "test-run", "empty-sched_cls", "on_request"},
		{"slope", NULL, "empty-sched_cls", "on_request"},
		{"step", "page-fault", "empty-perf_event", "sampled"},
		{"step", "fire", "empty-kprobe", "probe"},
	};
	static const char *const skips[][2] = {
		{"sections/on_devmap", "only on frames redirected to a devmap, and refuses to "
				       "test-run it"},
		{"sections/on_cpumap", "only on frames redirected to a cpumap"},
		{"sections/replaces", "it runs as part of the program that it replaces"},
		{"sections/of_no_type", "libbpf cannot tell its type from its section "
					"\"my_section\""},
	};
	const char *replaces[] = {"replaces"};
	struct bb_object_ref ref = {.path = TEST("sections")};
	struct bb_object_opts opts = of_object(&ref);
	struct bb_object_scenario text;
	struct bb_scenario *s = must_make(&opts, &text);

	(void)state;
	assert_null(s->floor);
	assert_int_equal(s->n_drives, ARRAY_LEN(drives));
	for (size_t i = 0; i < ARRAY_LEN(drives); i++) {
		assert_string_equal(s->drives[i].kind->with, drives[i].with);
		if (drives[i].trigger)
			assert_string_equal(s->drives[i].kind->by[0], drives[i].trigger);
		assert_string_equal(s->drives[i].floor, drives[i].floor);
		assert_int_equal(s->drives[i].n_variants, 1);
		assert_string_equal(s->drives[i].variants[0], drives[i].variant);
	}
	assert_int_equal(s->drives[4].values.v[0], 32);
	assert_int_equal(text.n_skips, ARRAY_LEN(skips));
	for (size_t i = 0; i < ARRAY_LEN(skips); i++) {
		assert_string_equal(text.skips[i].what, skips[i][0]);
		if (!strstr(text.skips[i].why, skips[i][1]))
			fail_msg("%s: '%s'", text.skips[i].what, text.skips[i].why);
	}
	bb_scenario__free(s);
	bb_object_scenario__done(&text);
	opts.programs.v = replaces;
	opts.programs.n = 1;
	expect_failure(&opts, -ENOTSUP,
		       "can be driven:\n  sections/replaces: no trigger here makes");
}

/* Every type that a drive can run has an empty program. */
static void test_floors(void **state)
{
	struct bb_object_info info;
	char name[64];

	(void)state;
	assert_int_equal(bb_object_info__read(OWN("floors"), &info, NULL), 0);
	for (uint32_t type = 0; type < 64; type++) {
		const struct bb_test_run_type *t = NULL;

		if (bb_test_run_type__find(type, &t, NULL) && type != BPF_PROG_TYPE_PERF_EVENT)
			continue;
		snprintf(name, sizeof(name), "empty_%s", t ? t->name : "perf_event");
		assert_int_equal(bb_object_info__need_program(&info, "floors", name, NULL), 0);
		/* An older libbpf does not know the newest types. */
		if (strncmp(bb_prog_type_name(type).text, "type-", 5))
			assert_string_equal(bb_prog_type_name(type).text, name + strlen("empty_"));
	}
	bb_object_info__done(&info);
}

static void test_many_objects(void **state)
{
	static const struct bb_object_ref alike[] = {{.path = OWN("fun_xdp")},
						     {.path = OWN("fun_xdp")}};
	static const struct bb_object_ref named[] = {{.name = "old", .path = OWN("fun_xdp")},
						     {.name = "new", .path = OWN("fun_xdp")}};
	static const struct bb_object_ref as_floor[] = {{.name = "empty-xdp",
							 .path = OWN("fun_xdp")},
							{.name = "new", .path = OWN("fun_xdp")}};
	static const struct bb_object_ref wrong[] = {{.name = "old one", .path = OWN("fun_xdp")},
						     {.name = "new", .path = OWN("fun_xdp")}};
	const char *programs[] = {"v1"};
	struct bb_object_opts opts = {.objects = named, .n_objects = 2, .programs = {programs, 1}};
	struct bb_object_scenario text;
	struct bb_scenario *s = must_make(&opts, &text);
	struct bb_err err = {0};

	(void)state;
	assert_string_equal(s->name, "objects");
	assert_int_equal(s->n_variants, 3);
	assert_string_equal(s->variants[1].name, "old");
	assert_string_equal(s->variants[2].name, "new");
	assert_string_equal(s->variants[2].program, "v1");
	assert_string_equal(s->variants[2].object, s->object);
	bb_scenario__free(s);
	bb_object_scenario__done(&text);
	opts.programs.n = 0;
	s = must_make(&opts, &text);
	assert_int_equal(s->n_variants, 1 + 2 * 6);
	assert_string_equal(s->variants[2].name, "old.v0");
	assert_string_equal(s->variants[12].name, "new.v4");
	bb_scenario__free(s);
	bb_object_scenario__done(&text);
	opts.objects = alike;
	expect_failure(&opts, -EEXIST,
		       "would both be called 'fun_xdp.empty'; give the objects names of their own: "
		       "--object NAME=FILE");
	opts.one_each = true;
	expect_failure(&opts, -EINVAL, "add --program NAME; it has: empty, v0, v1, v2, v3, v4");
	opts.programs.n = 1;
	opts.objects = as_floor;
	expect_failure(&opts, -EEXIST, "'empty-xdp' is the name of the empty program");
	opts.objects = wrong; /* the scenario's reader refuses a wrong name */
	assert_int_equal(bb_object_scenario__make(&opts, &text, &err), 0);
	assert_int_equal(bb_scenario__parse(text.text, strlen(text.text), "made.yml", &s, &err),
			 -EINVAL);
	assert_non_null(strstr(err.msg, "name 'old one' must be letters, digits"));
	bb_object_scenario__done(&text);
}

/* Odd paths that a disk may have. */
static void test_odd_paths(void **state)
{
	static const char *const names[] = {
		"a b.bpf.o", "it's.o",         "say \"hi\".o", "back\\slash.o", "co:lon, comma.o",
		"#hash.o",   "-dash.o",        ".o",           "{brace}.o",     "new\nline.o",
		"tab\t.o",   "m\xc3\xbcsli.o", "null",         "%s%n.o",        "\x7f.o",
	};
	char *elf = NULL;
	size_t len = 0;

	(void)state;
	assert_int_equal(bb_read_file(OWN("fun_xdp"), 1 << 24, &elf, &len, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct bb_object_ref ref;
		struct bb_object_opts opts = of_object(&ref);
		struct bb_object_scenario text;
		struct bb_scenario *s;
		char *path = strdup(in_folder(names[i]));

		write_file(names[i], elf, len);
		ref = (struct bb_object_ref){.path = path};
		s = must_make(&opts, &text);
		assert_string_equal(s->object + strlen(s->object) - strlen(names[i]), names[i]);
		assert_int_equal(s->n_variants, 7);
		bb_scenario__free(s);
		bb_object_scenario__done(&text);
		free(path);
	}
	free(elf);
}

/* --- inputs --- */

#define FRAME_HEX "02 00 00 00 00 02\n02 00 00 00 00 01 ffff\n"

static void test_inputs(void **state)
{
	static const char pcap[] = "\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\0\0\4\0\1\0\0\0"
				   "\0\0\0\0\0\0\0\0\16\0\0\0\16\0\0\0\2\0\0\0\0\2\2\0\0\0\0\1\xff"
				   "\xff"
				   "\0\0\0\0\0\0\0\0\16\0\0\0\16\0\0\0\2\0\0\0\0\2\2\0\0\0\0\1\xff"
				   "\xee";
	static const char *const expected[] = {"a_frame", "_raw", "two-0", "two-1"};
	char hex_path[PATH_MAX], raw_path[PATH_MAX], pcap_path[PATH_MAX];
	const char *packets[] = {hex_path, raw_path, pcap_path};
	struct bb_object_ref ref = {.path = OWN("fun_xdp")};
	struct bb_object_opts opts = of_object(&ref);
	struct bb_object_scenario text;
	struct bb_scenario *s;

	(void)state;
	snprintf(hex_path, sizeof(hex_path), "%s", in_folder("a frame.hex"));
	snprintf(raw_path, sizeof(raw_path), "%s", in_folder("_raw.bin"));
	snprintf(pcap_path, sizeof(pcap_path), "%s", in_folder("two.pcap"));
	write_file("a frame.hex", FRAME_HEX, strlen(FRAME_HEX));
	write_file("_raw.bin", "\2\0\0\0\0\2\2\0\0\0\0\1\xff\xdd", 14);
	write_file("two.pcap", pcap, sizeof(pcap) - 1);
	opts.packets.v = packets;
	opts.packets.n = 3;
	s = must_make(&opts, &text);
	for (size_t d = 0; d < 2; d++) { /* the drives step and slope */
		assert_int_equal(s->drives[d].inputs.n, 4);
		for (size_t i = 0; i < 4; i++) {
			const struct bb_input *in = &s->drives[d].inputs.v[i];

			assert_string_equal(in->name + (in->name[0] == 'x'), expected[i]);
			assert_int_equal(in->len, 14);
			assert_false(in->is_context);
			assert_int_equal(in->data[0], 2);
		}
	}
	bb_scenario__free(s);
	bb_object_scenario__done(&text);
	ref.path = OWN("perf_profiler");
	expect_failure(&opts, -EINVAL, "a frame.hex: none of the programs takes a packet");
	ref.path = OWN("fun_xdp");
	opts.contexts.v = packets;
	opts.contexts.n = 1;
	expect_failure(&opts, -EINVAL,
		       "none of the programs takes a context; a packet is given with --packet");
}

static void test_contexts(void **state)
{
	char path[PATH_MAX];
	const char *contexts[] = {path}, *programs[] = {"syscall_sum"};
	struct bb_object_ref ref = {.path = TEST("test_run")};
	struct bb_object_opts opts = of_object(&ref);
	struct bb_object_scenario text;
	struct bb_scenario *s;

	(void)state;
	snprintf(path, sizeof(path), "%s", in_folder("ctx"));
	opts.programs.v = programs;
	opts.programs.n = 1;
	opts.contexts.v = contexts;
	opts.contexts.n = 1;
	expect_failure(&opts, -ENOENT, "ctx: No such file");
	write_file("ctx", "01000000 02000000", 17);
	s = must_make(&opts, &text);
	assert_int_equal(s->n_drives, 1); /* without repeat there is no slope */
	assert_int_equal(s->drives[0].inputs.n, 1);
	assert_int_equal(s->drives[0].inputs.v[0].len, 8);
	assert_true(s->drives[0].inputs.v[0].is_context);
	bb_scenario__free(s);
	bb_object_scenario__done(&text);
	write_file("ctx", "\xd4\xc3\xb2\xa1", 4);
	expect_failure(&opts, -EINVAL, "a capture file holds packets, not a context");
}

/* A trigger given by option is the only drive, also for programs that no other drive could run. */
static void test_trigger(void **state)
{
	const char *replaces[] = {"replaces"};
	struct bb_object_ref ref = {.path = TEST("sections")};
	struct bb_object_opts opts = of_object(&ref);
	struct bb_object_scenario text;
	struct bb_scenario *s;

	(void)state;
	opts.programs.v = replaces;
	opts.programs.n = 1;
	opts.trigger = "test-run";
	s = must_make(&opts, &text);
	assert_int_equal(s->n_drives, 1);
	assert_int_equal(s->n_variants, 1); /* the type has no empty program */
	assert_null(s->floor);
	assert_string_equal(s->drives[0].kind->by[0], "test-run");
	bb_scenario__free(s);
	bb_object_scenario__done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_bad_objects),
		cmocka_unit_test_setup_teardown(test_damaged_objects, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_mutated_objects, make_folder, remove_folder),
		cmocka_unit_test(test_one_type),
		cmocka_unit_test(test_many_types),
		cmocka_unit_test(test_floors),
		cmocka_unit_test(test_many_objects),
		cmocka_unit_test_setup_teardown(test_odd_paths, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_inputs, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_contexts, make_folder, remove_folder),
		cmocka_unit_test(test_trigger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
