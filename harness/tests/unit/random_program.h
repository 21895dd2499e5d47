/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Runs the generator's programs in the kernel: their maps, types and runs. Include cmocka.h
 * first. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf/code.h"
#include "unit/generator.h"

#define LOW_ADDRESS 0x10000000 /* addresses in struct xdp_md have 32 bits */
#define LOW_BYTES 65536u

/* Maps memory for the context and packet of an XDP program, as the interpreter sees them. */
static inline uint8_t *low_memory(void)
{
	uint8_t *p = mmap((void *)LOW_ADDRESS, LOW_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static inline void stay_on_this_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

static inline uint32_t run_fd(int fd, const uint8_t *packet, size_t len)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = (uint32_t)len,
		    .repeat = 1);
	int rc;

	do
		rc = bpf_prog_test_run_opts(fd, &opts);
	while (rc == -EINTR);
	if (rc)
		fail_msg("a run of fd %d on %zu bytes: %s", fd, len, strerror(-rc));
	return opts.retval;
}

static inline int make_array(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "values", 4, 8, 8, NULL);

	assert_true(fd >= 0);
	for (uint32_t i = 0; i < 8; i++) {
		uint64_t value = i * 1000003U;

		assert_int_equal(bpf_map_update_elem(fd, &i, &value, 0), 0);
	}
	return fd;
}

/* Makes the BTF that the verifier needs: callbacks and global functions must have a type. */
static inline struct btf *describe(const struct gen *g, struct bpf_func_info *ret_funcs)
{
	struct btf *btf = btf__new_empty();
	int integer = btf__add_int(btf, "int", 4, BTF_INT_SIGNED), proto;

	proto = btf__add_func_proto(btf, integer);
	assert_int_equal(btf__add_func_param(btf, "a", integer), 0);
	assert_int_equal(btf__add_func_param(btf, "b", integer), 0);
	for (uint32_t f = 0; f < g->n_funcs; f++) {
		enum btf_func_linkage linkage = f == 0 || g->funcs[f].is_global ? BTF_FUNC_GLOBAL
										: BTF_FUNC_STATIC;
		char name[16];
		int id;

		snprintf(name, sizeof(name), "f%u", f);
		id = btf__add_func(btf, name, linkage, proto);
		assert_true(id > 0);
		ret_funcs[f] = (struct bpf_func_info){g->funcs[f].first, (__u32)id};
	}
	assert_int_equal(btf__load_into_kernel(btf), 0);
	return btf;
}

/* Returns the program as code to be instrumented; `btf` and `funcs` come from describe(). */
static inline void random_code(struct gen *g, uint64_t number, const struct btf *btf,
			       struct bpf_func_info *funcs, struct bb_code *ret_code)
{
	*ret_code = (struct bb_code){.license = "GPL",
				     .type = BPF_PROG_TYPE_XDP,
				     .insns = g->insns,
				     .n = g->n,
				     .funcs = funcs,
				     .n_funcs = g->n_funcs,
				     .btf = btf,
				     .btf_fd = btf__fd(btf)};
	snprintf(ret_code->name, sizeof(ret_code->name), "random%llu", (unsigned long long)number);
}

/* Makes a packet of random bytes, most of them small. Returns its length. */
static inline size_t random_packet(struct bb_rng *rng, uint8_t *low)
{
	uint8_t *packet = low + 4096;
	size_t len = bb_rng_below(rng, 8) ? 64 : 14;
	uint32_t ctx[6] = {LOW_ADDRESS + 4096, (uint32_t)(LOW_ADDRESS + 4096 + len)};

	for (size_t k = 0; k < len; k++)
		packet[k] = (uint8_t)(bb_rng_below(rng, 3) ? bb_rng_below(rng, 8)
							   : bb_rng_u64(rng));
	memcpy(low, ctx, sizeof(ctx));
	return len;
}
