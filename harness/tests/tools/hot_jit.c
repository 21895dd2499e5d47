/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hot_jit SECONDS: copies one of its functions to anonymous memory, like code of a JIT compiler,
 * lists it in /tmp/perf-PID.map, and runs it. For the tests of `bpfbench profile`.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CODE_BYTES 256 /* more than the size of spin() */

/* Uses only its argument, so that a copy at another address works. */
static __attribute__((noinline, aligned(256))) void spin(unsigned int n)
{
	for (volatile unsigned int i = 0; i < n; i++)
		;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0;
	char path[64], *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*jitted)(unsigned int);
	FILE *map;

	if (seconds <= 0 || code == MAP_FAILED)
		return 2;
	memcpy(code, (const void *)(uintptr_t)spin, CODE_BYTES);
	__builtin___clear_cache(code, code + CODE_BYTES);
	jitted = (void (*)(unsigned int))(uintptr_t)code;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		return 1;
	fprintf(map, "%llx %x jitted_function\n", (unsigned long long)(uintptr_t)code, CODE_BYTES);
	fclose(map);
	while ((double)clock() / CLOCKS_PER_SEC < seconds)
		jitted(100000);
	printf("%s\n", path);
	return 0;
}
