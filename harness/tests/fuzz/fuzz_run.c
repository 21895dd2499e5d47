/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a stored run (JSON) and writes it in one of the formats of `show`; the sum of the bytes
 * selects the format. One choice writes it as a stored run, which must be readable again. */
#include "fuzz/fuzz.h"

#include "cli/output.h"
#include "store/run_json.h"

static int read_run(const void *text, size_t len, struct bb_report **ret_report)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, len, "r");
	struct bb_err err = {0};
	int rc = in ? bb_run_json__read(in, "fuzz.json", ret_report, &err) : -1;

	if (in)
		fclose(in);
	return rc;
}

static void write_and_read(const struct bb_report *r)
{
	struct bb_report *again = NULL;
	char *text = NULL;
	size_t len = 0;

	bb_run_json__compose(r, &text, &len);
	if (read_run(text, len, &again))
		abort();
	bb_report__free(again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bb_report *r = NULL;
	struct bb_err err = {0};
	char *text = NULL;
	size_t len = 0, which = 0;
	FILE *out;

	if (!size || read_run(data, size, &r))
		return 0;
	for (size_t i = 0; i < size; i++)
		which += data[i];
	which %= BB_N_EXPORTERS + 1;
	out = open_memstream(&text, &len);
	if (!out)
		abort();
	if (which == BB_N_EXPORTERS)
		write_and_read(r);
	else
		bb_export(&bb_exporters[which], r, NULL, out, &err);
	fclose(out);
	free(text);
	bb_report__free(r);
	return 0;
}
