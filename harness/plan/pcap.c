/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/io.h"
#include "plan/bytes.h"
#include "plan/packet.h"

#define MAX_FILE_BYTES ((size_t)64 << 20)

int bb_bytes_list__add(struct bb_bytes_list *list, const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct bb_bytes *added = copy ? bb_append(&list->v, &list->n, sizeof(*added)) : NULL;

	if (!added) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, data, len);
	*added = (struct bb_bytes){.data = copy, .len = len};
	return 0;
}

void bb_bytes_list__done(struct bb_bytes_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->v[i].data);
	free(list->v);
	*list = (struct bb_bytes_list){0};
}

static int add_packet(struct bb_bytes_list *list, const struct pcap_pkthdr *h, const uint8_t *data,
		      size_t max_packets, struct bb_err *err)
{
	if (list->n == max_packets)
		return bb_fail(err, -EINVAL, "more than %zu packets", max_packets);
	if (h->caplen < h->len)
		return bb_fail(err, -EINVAL,
			       "packet %zu was cut by the capture, %u of its %u bytes are there; "
			       "capture whole packets (tcpdump -s 0)",
			       list->n, h->caplen, h->len);
	if (h->caplen < BB_FRAME_MIN_BYTES || h->caplen > BB_FRAME_MAX_BYTES)
		return bb_fail(err, -EINVAL, "packet %zu has %u bytes; a packet has from %u to %u",
			       list->n, h->caplen, BB_FRAME_MIN_BYTES, BB_FRAME_MAX_BYTES);
	return bb_bytes_list__add(list, data, h->caplen) ? bb_fail_nomem(err) : 0;
}

static int read_packets(pcap_t *pcap, size_t max_packets, struct bb_bytes_list *list,
			struct bb_err *err)
{
	const char *type = pcap_datalink_val_to_name(pcap_datalink(pcap));
	int more, rc = 0;

	if (pcap_datalink(pcap) != DLT_EN10MB)
		return bb_fail(err, -EINVAL,
			       "its packets have the link type %s; only Ethernet (EN10MB) is "
			       "supported",
			       type ? type : "unknown");
	do {
		struct pcap_pkthdr *h;
		const uint8_t *data;

		more = pcap_next_ex(pcap, &h, &data);
		if (more == 1)
			rc = add_packet(list, h, data, max_packets, err);
		else if (more == PCAP_ERROR)
			rc = bb_fail(err, -EINVAL, "packet %zu: %s", list->n, pcap_geterr(pcap));
	} while (!rc && more == 1);
	if (!rc && !list->n)
		rc = bb_fail(err, -EINVAL, "it holds no packet");
	return rc;
}

/* The file's content, so that a pipe or an endless device is never opened as a capture. */
static int open_capture(char *data, size_t len, pcap_t **ret_pcap, struct bb_err *err)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	FILE *file = len ? fmemopen(data, len, "r") : NULL;

	if (!len)
		return bb_fail(err, -EINVAL, "the file is empty");
	if (!file)
		return bb_fail_nomem(err);
	*ret_pcap = pcap_fopen_offline(file, why);
	if (*ret_pcap)
		return 0; /* and has the file */
	fclose(file);
	return bb_fail(err, -EINVAL, "not a capture: %s", why);
}

int bb_pcap__read(const char *path, size_t max_packets, struct bb_bytes_list *ret_list,
		  struct bb_err *err)
{
	struct bb_bytes_list list = {0};
	struct bb_err why = {0};
	char *data = NULL;
	size_t len = 0;
	pcap_t *pcap = NULL;
	int rc = bb_read_file(path, MAX_FILE_BYTES, &data, &len, &why);

	if (rc)
		return bb_fail(err, rc, "%s", rc == -EINVAL ? "not a regular file" : strerror(-rc));
	rc = open_capture(data, len, &pcap, err);
	if (!rc) {
		rc = read_packets(pcap, max_packets, &list, err);
		pcap_close(pcap);
	}
	free(data);
	if (rc)
		bb_bytes_list__done(&list);
	else
		*ret_list = list;
	return rc;
}
