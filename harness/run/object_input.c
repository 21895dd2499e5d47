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
#include "plan/packet.h"
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

static bool is_text(const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] < ' ' && !strchr("\t\r\n", data[i] ? data[i] : '?'))
			return false;
	return true;
}

/* 0: it is hexadecimal text; 1: it is none, so it is the bytes themselves. -EINVAL: it can be meant
 * as neither. */
static int look_for_hex(const char *path, const char *data, size_t len, size_t least,
			struct bb_err *err)
{
	uint8_t *bytes = malloc(len / 2 + 1);
	size_t n = 0, at = 0;
	int rc = bytes ? bb_parse_hex(data, bytes, len / 2 + 1, &n, &at) : -ENOMEM;

	free(bytes);
	if (rc == -ENOMEM)
		return bb_fail_nomem(err);
	if (!is_text(data, len))
		return 1;
	if (rc)
		return bb_fail(err, -EINVAL,
			       "%s: a text that is not hexadecimal: character %zu is wrong; bytes "
			       "of two hexadecimal digits each are expected",
			       path, at + 1);
	return n >= least ? 0
			  : bb_fail(err, -EINVAL,
				    "%s has %zu bytes%s; a packet or context has at "
				    "least %zu",
				    path, n, len ? " of hexadecimal text" : "", least);
}

int bb_object_input__write(const char *path, bool is_context, FILE *out, struct bb_err *err)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path,
		   *prefix = is_context ? "context_" : "";
	char name[BB_NAME_MAX_BYTES + 1], whole[PATH_MAX], *data = NULL;
	bool capture;
	size_t len = 0;
	int rc = bb_read_file(path, MAX_BYTES, &data, &len, err), no_hex;

	if (rc)
		return rc;
	capture = is_capture(data, len);
	no_hex = capture ? 1
			 : look_for_hex(path, data, len, is_context ? 1 : BB_FRAME_MIN_BYTES, err);
	if (no_hex < 0) {
		rc = no_hex;
	} else if (!realpath(path, whole)) {
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
		fprintf(out, ", %s%s: ", prefix, capture ? "pcap" : no_hex ? "file" : "hex");
		bb_yaml__write(out, no_hex ? whole : data);
		fputs("}\n", out);
	}
	free(data);
	return rc;
}
