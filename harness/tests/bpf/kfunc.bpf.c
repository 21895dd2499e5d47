// SPDX-License-Identifier: GPL-2.0-only
/* A program that calls kfuncs of Linux 6.4. Kernels without them refuse the object, so it has no
 * other program. */
/* libbpf 1.2 and newer declare these kfuncs, with a struct that older kernel headers lack. Here,
 * those declarations get other names; ours below work with any headers. */
#define bpf_iter_num_new headers_iter_num_new
#define bpf_iter_num_next headers_iter_num_next
#define bpf_iter_num_destroy headers_iter_num_destroy
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#undef bpf_iter_num_new
#undef bpf_iter_num_next
#undef bpf_iter_num_destroy

struct numbers { /* struct bpf_iter_num */
	__u64 opaque[1];
} __attribute__((aligned(8)));

extern int bpf_iter_num_new(struct numbers *it, int start, int end) __ksym;
extern int *bpf_iter_num_next(struct numbers *it) __ksym;
extern void bpf_iter_num_destroy(struct numbers *it) __ksym;

/* Ten rounds. */
SEC("xdp")
int iterates(struct xdp_md *ctx)
{
	struct numbers it;
	int *i, sum = 0;

	bpf_iter_num_new(&it, 0, 10);
	while ((i = bpf_iter_num_next(&it)))
		sum += *i;
	bpf_iter_num_destroy(&it);
	return sum == 45 ? XDP_PASS : XDP_ABORTED;
}

char LICENSE[] SEC("license") = "GPL";
