/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_BYTES_H
#define BB_PLAN_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Owned bytes, and many of them: packets on their way from a scenario into its inputs. */
struct bb_bytes {
	uint8_t *data;
	size_t len;
};

struct bb_bytes_list {
	struct bb_bytes *v;
	size_t n;
};

/* A copy of `data` at the end. 0 or -ENOMEM. */
int bb_bytes_list__add(struct bb_bytes_list *list, const uint8_t *data, size_t len);
void bb_bytes_list__done(struct bb_bytes_list *list);

/*
 * The packets of a capture file (pcap or pcapng, by libpcap), in order. Errors: -EINVAL for
 * anything but 1 to `max_packets` whole Ethernet frames of 14 to 65535 bytes, -errno for a file
 * that cannot be read. The message does not name the file.
 */
int bb_pcap__read(const char *path, size_t max_packets, struct bb_bytes_list *ret_list,
		  struct bb_err *err);

#endif
