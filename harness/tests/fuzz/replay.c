/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A main() that replaces libFuzzer's, so that any compiler can build a target: it passes each FILE
 * to the target once. */
#include "fuzz/fuzz.h"

#include "base/io.h"

int main(int argc, char **argv)
{
	struct bb_err err = {0};

	for (int i = 1; i < argc; i++) {
		char *data;
		size_t len;

		if (bb_read_file(argv[i], SIZE_MAX, &data, &len, &err)) {
			fprintf(stderr, "%s\n", err.msg);
			return 1;
		}
		LLVMFuzzerTestOneInput((const uint8_t *)data, len);
		free(data);
	}
	printf("%d files\n", argc - 1);
	return 0;
}
