/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <bpf/bpf.h>
#include <jansson.h>

#include "bench.h"

/* The cost of one run of a loaded program according to other tools, ns; NAN: they give none. */
#define OTHER_PACKET_BYTES 64u /* the packet has only zeros */
#define OTHER_BPFTOOL_REPEAT 1000000u
#define OTHER_GO_SECONDS 0.1 /* like `go test -benchtime 100ms` */

/* Writes the packet to a file in `scratch`, for bpftool. */
static inline void other_packet_path(const char *scratch, char *ret_path, size_t size)
{
	uint8_t packet[OTHER_PACKET_BYTES] = {0};
	FILE *out;

	snprintf(ret_path, size, "%s/packet", scratch);
	out = fopen(ret_path, "w");
	if (!out || fwrite(packet, sizeof(packet), 1, out) != 1 || fclose(out)) {
		perror(ret_path);
		exit(1);
	}
}

/* `bpftool prog run` with `repeat` runs. */
static inline double other_bpftool_ns(int prog_fd, const char *packet_path, unsigned int repeat)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);
	json_t *answer = NULL;
	char command[1024];
	double ns = NAN;
	FILE *out;

	if (bpf_obj_get_info_by_fd(prog_fd, &info, &len))
		return NAN;
	snprintf(command, sizeof(command),
		 "PATH=$PATH:/usr/sbin bpftool -j prog run id %u data_in %s repeat %u", info.id,
		 packet_path, repeat);
	out = popen(command, "r");
	if (out) {
		answer = json_loadf(out, 0, NULL);
		pclose(out);
	}
	if (json_is_number(json_object_get(answer, "duration")))
		ns = json_number_value(json_object_get(answer, "duration"));
	json_decref(answer);
	return ns;
}

/* Like testing.B: calls with more and more runs until one takes long enough, and the mean of this
 * last call. */
static inline double other_go_ns(int prog_fd)
{
	uint8_t packet[OTHER_PACKET_BYTES] = {0};
	double n = 1;

	for (;;) {
		LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet,
			    .data_size_in = sizeof(packet), .repeat = (int)n);
		uint64_t began_ns = bb_now_ns();
		double took_s;

		if (bpf_prog_test_run_opts(prog_fd, &opts))
			return NAN;
		took_s = bb_seconds_since(began_ns);
		if (took_s >= OTHER_GO_SECONDS || n >= 1e9)
			return (double)opts.duration;
		n = fmin(fmax(n * fmin(1.2 * OTHER_GO_SECONDS / fmax(took_s, 1e-9), 100), n + 1),
			 1e9);
	}
}
