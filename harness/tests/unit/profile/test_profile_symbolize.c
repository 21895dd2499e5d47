/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From addresses of this program to functions, lines and folded stacks. Damaged files do no
 * harm. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/std.h"
#include "base/io.h"
#include "base/rng.h"
#include "base/deadline.h"
#include "profile/recording.h"
#include "unit/folder_testing.h"

#define MUTANTS 400
#define PLACES 100u
#define N_REGIONS 11u

#ifdef __SANITIZE_ADDRESS__
#define HAS_SANITIZERS 1
#else
#define HAS_SANITIZERS 0
#endif

static uint64_t inner_address; /* within the inlined function */
static int inner_line;

static inline __attribute__((always_inline)) void inner_function(void)
{
	__asm__ volatile("lea 0(%%rip), %0" : "=r"(inner_address));
	inner_line = __LINE__;
}

static __attribute__((noinline)) void outer_function(void)
{
	inner_function();
	__asm__ volatile("");
}

/* Returns the spaces of this process, replayed. */
static struct bb_spaces own_spaces(void)
{
	struct bb_spaces s = {0};

	bb_spaces__log_proc(&s, getpid(), 1);
	bb_spaces__replay(&s);
	return s;
}

/* Returns one sample of a stack, folded. */
static char *fold_one(const struct bb_sampled_stack *stack, const uint64_t *kernel,
		      const uint64_t *user, struct bb_profile *ret_profile)
{
	struct bb_spaces spaces = own_spaces();
	struct bb_samples samples = {0};
	struct bb_symtab t = {0};
	struct bb_fold_opts opts = {.on_cpu_weight = 1, .kernel = &t};
	struct bb_err err = {0};
	char *text = NULL;
	size_t len;
	FILE *out;

	bb_symtab__add_kallsyms(&t, "ffffffff81000000 T "
				    "schedule\nffffffff81000100 T "
				    "__traceiter_sched_switch\n"
				    "ffffffff81000200 T bpf_prog_1_x\n");
	bb_symtab__sort(&t);
	bb_samples__add(&samples, stack, kernel, user);
	if (bb_fold(&samples, &spaces, &opts, ret_profile, &err))
		fail_msg("%s", err.msg);
	out = open_memstream(&text, &len);
	bb_stacks__write_folded(&ret_profile->stacks, out);
	fclose(out);
	bb_symtab__done(&t);
	bb_spaces__done(&spaces);
	return text;
}

static struct bb_sampled_stack stack_of(uint16_t n_kernel, uint16_t n_user)
{
	return (struct bb_sampled_stack){
		.pid = (uint32_t)getpid(),
		.comm = "me",
		.weight = 7,
		.n_kernel = n_kernel,
		.n_user = n_user,
	};
}

static void symbols(void **state)
{
	struct bb_sampled_stack stack = stack_of(1, 3);
	struct bb_profile p = {0};
	uint64_t kernel[] = {0xffffffff81000010}, user[3];
	char *text;
	const struct bb_frame *frame;
	const uint32_t *stack_frames;

	(void)state;
	outer_function();
	user[0] = inner_address;
	/* A return address is that after the call. Here it is the first of the next function, and
	 * the call is the instruction before it. */
	user[1] = inner_address + 1;
	user[2] = 16;
	text = fold_one(&stack, kernel, user, &p);
	assert_string_equal(text, "me;[unknown];outer_function;inner_function_[i];outer_function;"
				  "inner_function_[i];schedule_[k] 7\n");
	stack_frames = p.stacks.parts + p.stacks.v[0].first;
	frame = &p.stacks.frames[stack_frames[5]];
	assert_string_equal(bb_names__text(&p.stacks.names, frame->name), "inner_function");
	assert_int_equal(frame->line, inner_line);
	assert_non_null(strstr(bb_names__text(&p.stacks.names, frame->file), "test_profile_"
									     "symbolize.c"));
	frame = &p.stacks.frames[stack_frames[4]];
	assert_string_equal(bb_names__text(&p.stacks.names, frame->name), "outer_function");
	assert_in_range(frame->distance, 0, 64);
	free(text);
	bb_profile__done(&p);
}

/* The names that C++ and Rust compilers give a function. */
static void in_cpp(void) __asm__("_ZN6module8functionEi");
static void in_rust(void) __asm__("_ZN5crate8function17h0123456789abcdefE");
static void in_rust_v0(void) __asm__("_RNvC7mycrate8function");

static __attribute__((noinline, used)) void in_cpp(void)
{
	__asm__ volatile("nop");
}

static __attribute__((noinline, used)) void in_rust(void)
{
	__asm__ volatile("nop; nop");
}

static __attribute__((noinline, used)) void in_rust_v0(void)
{
	__asm__ volatile("nop; nop; nop");
}

static void mangled(void **state)
{
	struct bb_sampled_stack stack = stack_of(0, 3);
	struct bb_profile p = {0};
	/* All addresses but the innermost are return addresses. */
	uint64_t user[] = {
		(uint64_t)(uintptr_t)in_cpp,
		(uint64_t)(uintptr_t)in_rust + 1,
		(uint64_t)(uintptr_t)in_rust_v0 + 1,
	};
	char *text;

	(void)state;
	text = fold_one(&stack, NULL, user, &p);
	assert_string_equal(text, "me;mycrate::function;crate::function;module::function 7\n");
	free(text);
	bb_profile__done(&p);
}

/* A function of the C library, and an address without a file. */
static void libraries(void **state)
{
	struct bb_sampled_stack stack = stack_of(0, 1);
	struct bb_profile p = {0};
	uint64_t user[] = {(uint64_t)(uintptr_t)qsort};
	char *text;

	(void)state;
	text = fold_one(&stack, NULL, user, &p);
	assert_non_null(strstr(text, "qsort"));
	free(text);
	bb_profile__done(&p);
}

static void notes(void **state)
{
	struct bb_sampled_stack stack = stack_of(3, 1);
	/* Frames of bpfbench itself are above those of the kernel at the switch. */
	uint64_t kernel[] = {0xffffffff81000200, 0xffffffff81000110, 0xffffffff81000010},
		 user[] = {16};
	struct bb_profile p = {0};
	char *text;

	(void)state;
	stack.is_off_cpu = stack.is_user_cut = true;
	stack.weight = 2000400; /* ns */
	text = fold_one(&stack, kernel, user, &p);
	assert_string_equal(text, "me;[cut: the stack is deeper];[unknown];schedule_[k];[off-CPU] "
				  "2000\n");
	free(text);
	bb_profile__done(&p);
	stack = stack_of(0, 0);
	stack.is_lost = true;
	text = fold_one(&stack, NULL, NULL, &p);
	assert_string_equal(text, "me;[stack lost] 7\n");
	free(text);
	bb_profile__done(&p);
}

static int count_frame(void *arg, uint32_t location, const struct bb_elf_frame *frame)
{
	(void)location;
	assert_non_null(frame->function);
	++*(size_t *)arg;
	return 0;
}

/* Writes a file of these bytes. Returns how many frames are found at its offsets. */
static size_t frames_in(const char *elf, size_t len, const uint64_t *offsets, size_t n,
			struct bb_symbolize_result *ret_result)
{
	const char *path = in_folder("mutant");
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct bb_dso dso = {.path = (char *)(uintptr_t)path, .fd = fd};
	struct bb_dsos dsos = {.v = &dso, .n = 1};
	struct bb_code_location *locations = calloc(n, sizeof(*locations));
	struct bb_err err = {0};
	size_t found = 0;

	assert_true(fd >= 0 && locations);
	assert_int_equal(write(fd, elf, len), len);
	for (size_t i = 0; i < n; i++)
		locations[i].offset = offsets[i];
	if (bb_symbolize(&dsos, locations, n, BB_SYMBOLIZE_SECONDS, count_frame, &found, ret_result,
			 &err))
		fail_msg("%s", err.msg);
	close(fd);
	free(locations);
	return found;
}

/* This program's file, whose bytes can be changed. */
struct image {
	char *elf;
	size_t len;
	uint64_t offsets[PLACES]; /* spread over its code */
	size_t n_frames;          /* found at these offsets without damage */
};

struct region {
	size_t from, to;
};

static struct region section_named(const struct image *m, const char *name)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)(const void *)m->elf;
	const Elf64_Shdr *s = (const Elf64_Shdr *)(const void *)(m->elf + e->e_shoff);
	const char *names = m->elf + s[e->e_shstrndx].sh_offset;

	for (size_t i = 0; i < e->e_shnum; i++)
		if (!strcmp(names + s[i].sh_name, name))
			return (struct region){s[i].sh_offset, s[i].sh_offset + s[i].sh_size};
	return (struct region){0};
}

static void open_image(struct image *m)
{
	struct bb_symbolize_result result = {0};
	struct region code;

	assert_int_equal(bb_read_file("/proc/self/exe", SIZE_MAX, &m->elf, &m->len, NULL), 0);
	code = section_named(m, ".text");
	assert_in_range(code.to, code.from + PLACES, m->len);
	for (size_t i = 0; i < PLACES; i++)
		m->offsets[i] = code.from + i * (code.to - code.from) / PLACES;
	m->n_frames = frames_in(m->elf, m->len, m->offsets, PLACES, &result);
	assert_in_range(m->n_frames, PLACES * 3 / 4, PLACES * BB_ELF_MAX_FRAMES);
	assert_int_equal(result.n_damaged, 0);
}

/* Finds the regions where damage matters: the headers, the section table, and the sections that
 * libdw reads. */
static size_t regions_of(const struct image *m, struct region *regions)
{
	static const char *const names[] = {
		".debug_abbrev",   ".debug_info", ".debug_line", ".debug_line_str", ".debug_ranges",
		".debug_rnglists", ".debug_str",  ".symtab",     ".strtab",
	};
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)(const void *)m->elf;
	size_t n = 0;

	regions[n++] = (struct region){0, sizeof(*e) + e->e_phnum * sizeof(Elf64_Phdr)};
	regions[n++] = (struct region){e->e_shoff, e->e_shoff + e->e_shnum * sizeof(Elf64_Shdr)};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct region r = section_named(m, names[i]);

		if (r.to > r.from && r.to <= m->len)
			regions[n++] = r;
	}
	assert_in_range(n, 7, N_REGIONS);
	return n;
}

static void damaged(void **state)
{
	struct region regions[N_REGIONS];
	size_t n_regions, unchanged = 0, n_given_up = 0;
	uint64_t began_ns = bb_now_ns();
	struct image m;
	struct bb_rng rng;
	char *mutant;

	(void)state;
	bb_rng_seed(&rng, 7);
	open_image(&m);
	n_regions = regions_of(&m, regions);
	mutant = malloc(m.len);
	assert_non_null(mutant);
	for (int i = 0; i < MUTANTS; i++) {
		const struct region *r = &regions[bb_rng_below(&rng, n_regions)];
		struct bb_symbolize_result result = {0};
		size_t len = i % 10 ? m.len : 1 + bb_rng_below(&rng, m.len - 1);

		memcpy(mutant, m.elf, m.len);
		for (uint64_t k = 1 + bb_rng_below(&rng, 30); k; k--)
			mutant[r->from + bb_rng_below(&rng, r->to - r->from)] =
				(char)bb_rng_u64(&rng);
		/* Any result will do, but the call must return. */
		unchanged += frames_in(mutant, len, m.offsets, PLACES, &result) == m.n_frames;
		n_given_up += result.n_damaged;
	}
	/* Some damage must have had an effect, or this tested nothing. */
	assert_in_range(unchanged, 1, MUTANTS - 40);
	print_message("# %d damaged files in %.1f s, %zu of them given up\n", MUTANTS,
		      bb_seconds_since(began_ns), n_given_up);
	/* If the child crashes or takes too long, the file is given up. Under sanitizers, a crash
	 * may be a bug of ours, so there must be none. */
	if (HAS_SANITIZERS)
		assert_int_equal(n_given_up, 0);
	free(mutant);
	free(m.elf);
}

/* Debug information whose functions have no name: DW_AT_name (3) becomes DW_AT_bit_size (13), in
 * the usual forms. */
static void nameless(void **state)
{
	struct bb_symbolize_result result = {0};
	struct region abbreviations;
	size_t n_changed = 0;
	struct image m;

	(void)state;
	open_image(&m);
	abbreviations = section_named(&m, ".debug_abbrev");
	for (size_t i = abbreviations.from; i + 1 < abbreviations.to; i++)
		if (m.elf[i] == 3 && m.elf[i + 1] && strchr("\x08\x0e\x1f\x25", m.elf[i + 1])) {
			m.elf[i] = 13;
			n_changed++;
		}
	assert_in_range(n_changed, 10, abbreviations.to);
	assert_int_equal(frames_in(m.elf, m.len, m.offsets, PLACES, &result), m.n_frames);
	assert_int_equal(result.n_damaged, 0);
	free(m.elf);
}

/* A program of type ET_REL, so not linked: nothing is found, and nothing counts as damaged. */
static void not_linked(void **state)
{
	struct bb_symbolize_result result = {0};
	struct image m;

	(void)state;
	open_image(&m);
	((Elf64_Ehdr *)(void *)m.elf)->e_type = ET_REL;
	assert_int_equal(frames_in(m.elf, m.len, m.offsets, PLACES, &result), 0);
	assert_int_equal(result.n_damaged, 0);
	free(m.elf);
}

static int count_by_place(void *arg, uint32_t location, const struct bb_elf_frame *frame)
{
	(void)frame;
	((size_t *)arg)[location]++;
	return 0;
}

/* If the child dies at one file, only that file is given up. A limit on the bytes that it may write
 * kills it. */
static void child_dies(void **state)
{
	enum { N_PLACES = 402, LAST = N_PLACES - 1 };
	struct bb_dso dsos_v[3] = {{0}};
	struct bb_dsos dsos = {.v = dsos_v, .n = 3};
	struct bb_code_location locations[N_PLACES] = {{0}};
	struct bb_symbolize_result result = {0};
	struct rlimit before, limit = {.rlim_cur = 8192, .rlim_max = RLIM_INFINITY};
	size_t found[N_PLACES] = {0};
	struct bb_err err = {0};
	uint64_t address = (uint64_t)(uintptr_t)child_dies;
	struct bb_spaces spaces = own_spaces();
	const struct bb_mapping *m = bb_spaces__find(&spaces, 0, address);

	(void)state;
	assert_non_null(m);
	for (size_t i = 0; i < 3; i++)
		dsos_v[i] =
			(struct bb_dso){.path = (char *)(uintptr_t)(i == 1 ? "/large" : "/small"),
					.fd = spaces.dsos.v[m->dso].fd};
	for (size_t i = 0; i < N_PLACES; i++)
		locations[i] = (struct bb_code_location){.dso = i == 0      ? 0
								: i == LAST ? 2
									    : 1,
							 .offset = address - m->start +
								   m->file_offset + i % 8};
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	if (bb_symbolize(&dsos, locations, N_PLACES, BB_SYMBOLIZE_SECONDS, count_by_place, found,
			 &result, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(result.n_damaged, 1);
	assert_string_equal(result.damaged, "large");
	assert_int_equal(found[0], 1);
	assert_int_equal(found[1], 0);
	assert_int_equal(found[LAST], 1);
	bb_spaces__done(&spaces);
}

/* The kernel's page of code (vdso), which is no file. */
static void vdso(void **state)
{
	struct bb_symbolize_result result = {0};
	struct bb_spaces spaces = own_spaces();
	struct bb_code_location locations[64];
	struct bb_err err = {0};
	size_t found = 0;
	uint32_t dso = 0;

	(void)state;
	while (dso < spaces.dsos.n && strcmp(spaces.dsos.v[dso].path, "[vdso]"))
		dso++;
	if (dso == spaces.dsos.n) {
		print_message("# skip: this kernel has no vdso\n");
		skip();
	}
	for (size_t i = 0; i < 64; i++)
		locations[i] = (struct bb_code_location){.dso = dso, .offset = i * 128};
	if (bb_symbolize(&spaces.dsos, locations, 64, BB_SYMBOLIZE_SECONDS, count_frame, &found,
			 &result, &err))
		fail_msg("%s", err.msg);
	assert_in_range(found, 1, 64 * BB_ELF_MAX_FRAMES);
	bb_spaces__done(&spaces);
}

/* The next child of this process sends its parent a signal and then hangs. */
static struct {
	bool is_due;
	int signal_number; /* 0 means no signal */
} stopping;

static void send_signal(void)
{
	if (stopping.is_due)
		kill(getppid(), stopping.signal_number);
}

/* Replaces setitimer() of the C library, which the child calls when it begins with a file. */
int setitimer(__itimer_which_t which, const struct itimerval *new, struct itimerval *old)
{
	while (stopping.is_due)
		sched_yield();
	return (int)syscall(SYS_setitimer, which, new, old);
}

static void not_again(void)
{
	stopping.is_due = false;
}

static void stop_next_child(int signal_number)
{
	static bool is_set;

	if (!is_set)
		assert_int_equal(pthread_atfork(NULL, not_again, send_signal), 0);
	is_set = true;
	stopping.is_due = true;
	stopping.signal_number = signal_number;
}

/* If a child hangs, it is killed, and its file is tried again without debug information. */
static void takes_too_long(void **state)
{
	struct bb_symbolize_result result = {0};
	struct bb_spaces spaces = own_spaces();
	uint64_t address = (uint64_t)(uintptr_t)takes_too_long;
	const struct bb_mapping *m = bb_spaces__find(&spaces, 0, address);
	struct bb_code_location location;
	struct bb_err err = {0};
	size_t found = 0;

	(void)state;
	assert_non_null(m);
	location = (struct bb_code_location){.dso = m->dso,
					     .offset = address - m->start + m->file_offset};
	stop_next_child(0);
	if (bb_symbolize(&spaces.dsos, &location, 1, 5, count_frame, &found, &result, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(result.n_damaged, 1);
	assert_int_equal(found, 1);
	bb_spaces__done(&spaces);
}

/* A stop signal ends the child, even if it hangs. */
static void stopped_by_a_signal(void **state)
{
	struct bb_symbolize_result result = {0};
	struct bb_spaces spaces = own_spaces();
	struct bb_code_location location = {.dso = 0};
	struct bb_err err = {0};
	size_t found = 0;

	(void)state;
	bb_stop__install(true);
	stop_next_child(SIGTERM);
	assert_int_equal(bb_symbolize(&spaces.dsos, &location, 1, 1000, count_frame, &found,
				      &result, &err),
			 -EINTR);
	assert_non_null(strstr(err.msg, "stopped by signal 15"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	bb_stop_signal = 0;
	bb_spaces__done(&spaces);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols),
		cmocka_unit_test(mangled),
		cmocka_unit_test(libraries),
		cmocka_unit_test(notes),
		cmocka_unit_test(damaged),
		cmocka_unit_test(nameless),
		cmocka_unit_test(child_dies),
		cmocka_unit_test(not_linked),
		cmocka_unit_test(vdso),
		cmocka_unit_test(takes_too_long),
		cmocka_unit_test(stopped_by_a_signal),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
