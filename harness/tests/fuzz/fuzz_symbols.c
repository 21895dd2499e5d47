/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions and lines of a mapped ELF file, read by libdw as in the symbolizer's child process. */
#include "fuzz/fuzz.h"

#include "profile/symbolize.h"
#include "profile/symbolize.h"

#define PLACES 128u

static void use_place(struct bb_elf_symbols *s, uint64_t offset)
{
	struct bb_elf_frame frames[BB_ELF_MAX_FRAMES];
	uint64_t address;
	char text[256];
	size_t n;

	if (!bb_elf_symbols__address(s, offset, &address))
		return;
	n = bb_elf_symbols__find(s, address, frames);
	for (size_t i = 0; i < n; i++) {
		if (frames[i].function)
			bb_demangle(frames[i].function, text, sizeof(text));
		if (frames[i].file)
			fuzz_touch(frames[i].file, strlen(frames[i].file));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct bb_elf_symbols *s;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	s = bb_elf_symbols__open(fd, BB_ELF_DWARF, -1);
	for (size_t i = 0; s && i < PLACES; i++)
		use_place(s, i * size / PLACES);
	bb_elf_symbols__free(s);
	return 0;
}
