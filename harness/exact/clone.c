/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/clone.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exact/instrument.h"
#include "exact/liveness.h"
#include "exact/load.h"

/*
 * The kernel removes instructions without effect and dead code piece by piece, and moves all the
 * rest each time: with a `ja +0` in every block, a clone of this size takes it 3.5 s; a program of
 * 400 000, half of them that, locked a CPU up for 284 s.
 */
#define MOST_INSNS 65536u

/* One value of an array that both sides see. */
static int make_counters(struct bb_clone *c, struct bb_err *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	size_t page = (size_t)sysconf(_SC_PAGESIZE),
	       bytes = ((size_t)c->cfg.n_blocks + c->n_vain) * sizeof(uint64_t);
	void *shared;
	int rc;

	c->counts_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bb_counts", sizeof(uint32_t),
				      (uint32_t)bytes, 1, &opts);
	if (c->counts_fd < 0) {
		rc = -errno;
		return bb_fail(err, rc == -EINVAL ? -ENOTSUP : rc,
			       "cannot make a map of %u counters in mapped memory (Linux 5.5): %s",
			       c->cfg.n_blocks, strerror(-rc));
	}
	c->counts_bytes = (bytes + page - 1) / page * page;
	shared = mmap(NULL, c->counts_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->counts_fd, 0);
	if (shared == MAP_FAILED)
		return bb_fail(err, -errno, "mapping %u counters: %s", c->cfg.n_blocks,
			       strerror(errno));
	c->counts = shared;
	return 0;
}

static int instrument_and_load(struct bb_clone *c, const struct bb_sites *sites, struct bb_err *err)
{
	uint32_t *stack_bytes = calloc(c->cfg.n_funcs, sizeof(*stack_bytes));
	struct bb_instrumented now = {0};
	int rc = stack_bytes ? 0 : bb_fail_nomem(err);

	if (!rc && sites->n_saved) /* asked only then: it takes a load of its own */
		rc = bb_load__stack_bytes(c->code, &c->cfg, stack_bytes, err);
	if (!rc)
		rc = bb_instrument(c->code, &c->cfg, sites, stack_bytes, c->counts_fd, &now, err);
	if (!rc && now.n > MOST_INSNS)
		rc = bb_fail(err, -ENOTSUP,
			     "'%s' has %u instructions with counters instead of %u; a clone of "
			     "more than %u is not tried, as the kernel may take minutes to load "
			     "them",
			     c->code->name, now.n, c->code->n, MOST_INSNS);
	if (!rc)
		rc = bb_load__program(c->code, &now, &c->prog_fd, err);
	c->n_insns = now.n;
	c->n_long = now.n_long;
	c->n_saved = sites->n_saved;
	bb_instrumented__done(&now);
	free(stack_bytes);
	return rc;
}

int bb_clone__load(const struct bb_code *code, struct bb_clone *ret_clone, struct bb_err *err)
{
	struct bb_clone c = {.code = code, .prog_fd = -1, .counts_fd = -1};
	struct bb_sites sites = {0};
	struct bb_liveness live = {0};
	int rc = bb_cfg__make(code, &c.cfg, err);

	if (!rc)
		rc = bb_liveness__make(code, &c.cfg, &live, err);
	if (!rc)
		rc = bb_sites__find(code, &c.cfg, &live, &sites, err);
	c.n_vain = sites.n_vain;
	if (!rc)
		rc = make_counters(&c, err);
	if (!rc)
		rc = instrument_and_load(&c, &sites, err);
	/* With fewer branches, the verifier has fewer paths to look at. */
	while (rc == -ENOTSUP && c.counts && sites.n_vain) {
		bb_sites__watch_less(&sites, code);
		rc = instrument_and_load(&c, &sites, err);
	}
	c.n_unwatched = c.n_vain - sites.n_vain;
	c.n_vain = sites.n_vain;
	c.vain = sites.vain;
	sites.vain = NULL;
	bb_sites__done(&sites);
	bb_liveness__done(&live);
	if (rc)
		bb_clone__done(&c);
	else
		*ret_clone = c;
	return rc;
}

void bb_clone__done(struct bb_clone *c)
{
	if (!c)
		return;
	if (c->counts)
		munmap(c->counts, c->counts_bytes);
	if (c->counts_fd >= 0)
		close(c->counts_fd);
	if (c->prog_fd >= 0)
		close(c->prog_fd);
	free(c->vain);
	bb_cfg__done(&c->cfg);
	*c = (struct bb_clone){.prog_fd = -1, .counts_fd = -1};
}

void bb_clone__reset(struct bb_clone *c)
{
	memset(c->counts, 0, (c->cfg.n_blocks + c->n_vain) * sizeof(*c->counts));
}

uint64_t bb_clone__in_vain(const struct bb_clone *c, uint32_t nth)
{
	return __atomic_load_n(&c->counts[c->cfg.n_blocks + nth], __ATOMIC_RELAXED);
}

void bb_clone__read(const struct bb_clone *c, uint64_t *ret_counts)
{
	for (uint32_t b = 0; b < c->cfg.n_blocks; b++)
		ret_counts[b] = __atomic_load_n(&c->counts[b], __ATOMIC_RELAXED);
}
