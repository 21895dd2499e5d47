/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/object_input.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/parse.h"
#include "plan/field.h"
#include "plan/yaml.h"

#define MAX_BYTES                                                                                  \
	((size_t)64 << 20) /* of a capture; what an input may have, the scenario's reader says */

/* pcap in either byte order, with µs or ns, and pcapng. */
static bool is_capture(const char *data, size_t len)
{
	static const uint32_t magics[] = {0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d, 0x4d3cb2a1,
					  0x0a0d0d0a};
	uint32_t magic = 0;

	if (len < sizeof(magic))
		return false;
	memcpy(&magic, data, sizeof(magic));
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (magic == magics[i])
			return true;
	return false;
}

static bool is_hex(const char *data, size_t len)
{
	uint8_t *bytes = malloc(len / 2 + 1);
	size_t n = 0, at = 0;
	bool yes = bytes && strlen(data) == len &&
		   !bb_parse_hex(data, bytes, len / 2 + 1, &n, &at) && n;

	free(bytes);
	return yes;
}

int bb_object_input__write(const char *path, bool is_context, FILE *out, struct bb_err *err)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path,
		   *prefix = is_context ? "context_" : "";
	char name[BB_NAME_MAX_BYTES + 1], whole[PATH_MAX], *data = NULL;
	bool capture, hex;
	size_t len = 0;
	int rc = bb_read_file(path, MAX_BYTES, &data, &len, err);

	if (rc)
		return rc;
	capture = is_capture(data, len);
	hex = !capture && is_hex(data, len);
	if (!realpath(path, whole)) {
		rc = -errno;
		bb_fail(err, rc, "%s: %s", path, strerror(-rc));
	} else if (is_context && capture) {
		rc = bb_fail(err, -EINVAL,
			     "%s: a capture file holds packets, not a context; a context is the "
			     "bytes of the program's argument, or their hexadecimal text",
			     path);
	} else {
		bb_name_from(base, strcspn(base, "."), name);
		fputs("      - {name: ", out);
		bb_yaml__write(out, name);
		fprintf(out, ", %s%s: ", prefix, capture ? "pcap" : hex ? "hex" : "file");
		bb_yaml__write(out, hex ? data : whole);
		fputs("}\n", out);
	}
	free(data);
	return rc;
}
