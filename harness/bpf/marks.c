/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/marks.h"

#include <bpf/btf.h>
#ifdef __x86_64__
#include <sys/io.h>
#endif

#include "base/bpf_info.h"
#include "base/io.h"
#include "bpf/trace_record.h"

#define MOST_FUNCTIONS 256u
#define MOST_LINES 65536u

static bool is_enabled;

#ifdef __x86_64__
int bb_marks__enable(void)
{
	is_enabled = !ioperm(BB_MARKS_PORT, 1, 1);
	return is_enabled ? 0 : -errno;
}

static void write_bytes(const char *text, size_t len)
{
	asm volatile("rep outsb" : "+S"(text), "+c"(len) : "d"(BB_MARKS_PORT) : "memory");
}

#define BYTES(...) BYTES_OF(__VA_ARGS__)
#define BYTES_OF(...) ".byte " #__VA_ARGS__

void bb_marks__begin(void)
{
	asm volatile(BYTES(BB_TRACE_MARK(0x41))::: "memory");
}

void bb_marks__end(void)
{
	asm volatile(BYTES(BB_TRACE_MARK(0x42))::: "memory");
}
#else
int bb_marks__enable(void)
{
	return -ENOTSUP;
}

static void write_bytes(const char *, size_t)
{
}

void bb_marks__begin(void)
{
}

void bb_marks__end(void)
{
}
#endif

bool bb_marks__are_enabled(void)
{
	return is_enabled;
}

static __attribute__((format(printf, 1, 2))) void write_line(const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	int len = vsnprintf(text, sizeof(text) - 1, fmt, args);
	va_end(args);
	if (len < 0)
		return;
	len = len < (int)sizeof(text) - 1 ? len : (int)sizeof(text) - 2;
	/* a source line from BTF may contain a line break, which would end our line too early */
	for (int i = 0; i < len; i++)
		if (iscntrl((unsigned char)text[i]))
			text[i] = ' ';
	text[len] = '\n';
	write_bytes(text, (size_t)len + 1);
}

void bb_marks__write_run(uint64_t ns)
{
	write_line("run %" PRIu64, ns);
}

void bb_marks__describe(int prog_fd, const char *name, const char *object)
{
	uint64_t *functions = bb_calloc(MOST_FUNCTIONS, sizeof(*functions));
	uint32_t *sizes = bb_calloc(MOST_FUNCTIONS, sizeof(*sizes));
	uint64_t *addresses = bb_calloc(MOST_LINES, sizeof(*addresses));
	struct bpf_line_info *lines = bb_calloc(MOST_LINES, sizeof(*lines));
	struct bpf_prog_info info = {
		.jited_ksyms = (uintptr_t)functions,
		.nr_jited_ksyms = MOST_FUNCTIONS,
		.jited_func_lens = (uintptr_t)sizes,
		.nr_jited_func_lens = MOST_FUNCTIONS,
		.jited_line_info = (uintptr_t)addresses,
		.nr_jited_line_info = MOST_LINES,
		.jited_line_info_rec_size = sizeof(*addresses),
		.line_info = (uintptr_t)lines,
		.nr_line_info = MOST_LINES,
		.line_info_rec_size = sizeof(*lines),
	};
	struct btf *btf = NULL;

	write_line("program %s", name);
	write_line("object %.400s", object);
	if (!bb_info__read(prog_fd, &info)) {
		for (uint32_t i = 0; i < info.nr_jited_ksyms && i < MOST_FUNCTIONS; i++)
			write_line("function %" PRIx64 " %u %s", functions[i], sizes[i],
				   i ? "(function)" : name);
		if (info.nr_jited_line_info <= MOST_LINES &&
		    info.nr_line_info == info.nr_jited_line_info)
			btf = btf__load_from_kernel_by_id(info.btf_id);
	}
	for (uint32_t i = 0; btf && i < info.nr_jited_line_info; i++) {
		const char *text = btf__name_by_offset(btf, lines[i].line_off);

		while (text && isspace((unsigned char)*text))
			text++;
		write_line("line %" PRIx64 " %u %.200s", addresses[i],
			   BPF_LINE_INFO_LINE_NUM(lines[i].line_col), text ? text : "");
	}
	btf__free(btf);
	free(functions);
	free(sizes);
	free(addresses);
	free(lines);
}

void bb_marks__write_symbols(void)
{
	char *text = NULL;
	size_t len = 0;

	if (bb_marks__enable() || bb_read_proc("/proc/kallsyms", 64 << 20, &text, &len))
		return;
	write_line("symbols");
	write_bytes(text, len);
	free(text);
}
