/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/mix.h"

#include <linux/bpf.h>

#include "base/rng.h"
#include "plan/packet.h"

/* Least number of indexes in a random order. If a few inputs repeated sooner, the CPU's branch
 * predictor could learn their order. */
#define DRAWS 65536u

struct of_flow {
	struct bb_flow flow;
	uint32_t input;
};

static int by_flow(const void *a, const void *b)
{
	const struct of_flow *x = a, *y = b;

	return memcmp(&x->flow, &y->flow, sizeof(x->flow)) ?: BB_ORDER(x->input, y->input);
}

/* The inputs of one flow: inputs[first] to inputs[end - 1] of find_flows(). */
struct run_of_flow {
	uint32_t first, end;
	uint32_t next;    /* index in `inputs` of the input that the next draw takes */
	uint32_t appears; /* index in bb_inputs.v of the flow's first input */
};

static int by_appearance(const void *a, const void *b)
{
	const struct run_of_flow *x = a, *y = b;

	return BB_ORDER(x->appears, y->appears);
}

/* Writes the indexes of the inputs, sorted by flow, into inputs[in->n]. Returns flows[*ret_n],
 * sorted by their first input. free() them. */
static struct run_of_flow *find_flows(const struct bb_inputs *in, uint32_t *inputs, size_t *ret_n)
{
	struct of_flow *all = bb_calloc(in->n, sizeof(*all));
	struct run_of_flow *flows = NULL;
	size_t n = 0;

	for (size_t i = 0; i < in->n; i++) {
		const struct bb_input *x = &in->v[i];
		const struct xdp_md *md = (const void *)x->ctx;
		size_t skip = x->ctx_kind == BB_CTX_XDP ? md->data : 0;

		all[i].input = (uint32_t)i;
		bb_frame__flow(x->data + skip, x->len - skip, &all[i].flow);
	}
	qsort(all, in->n, sizeof(*all), by_flow);
	for (uint32_t i = 0; i < in->n; i++) {
		bool is_new = !i || memcmp(&all[i - 1].flow, &all[i].flow, sizeof(all->flow));

		if (is_new)
			BB_PUSH(flows, n, (struct run_of_flow){i, i, i, all[i].input});
		flows[n - 1].end = i + 1;
		inputs[i] = all[i].input;
	}
	free(all);
	qsort(flows, n, sizeof(*flows), by_appearance);
	*ret_n = n;
	return flows;
}

/* Draws flows by Zipf's law, or else inputs by their weights. */
static void draw(const struct bb_inputs *in, bool by_zipf, struct bb_rng *rng,
		 struct bb_u32_list *m)
{
	uint32_t *inputs = bb_calloc(in->n, sizeof(*inputs));
	double *sums = bb_calloc(in->n, sizeof(*sums));
	size_t n = in->n;
	struct run_of_flow *flows = by_zipf ? find_flows(in, inputs, &n) : NULL;

	/* the probability of index i is proportional to sums[i] - sums[i - 1] */
	for (size_t i = 0; i < n; i++)
		sums[i] = (i ? sums[i - 1] : 0) +
			  (by_zipf ? 1.0 / (double)(i + 1) : in->v[i].weight);
	for (size_t i = 0; i < m->n; i++) {
		double x = bb_rng_double(rng) * sums[n - 1];
		size_t drawn = BB_N_LEADING(sums, n - 1, *it <= x);
		struct run_of_flow *f = by_zipf ? &flows[drawn] : NULL;

		m->v[i] = f ? inputs[f->next++] : (uint32_t)drawn;
		if (f && f->next == f->end)
			f->next = f->first;
	}
	free(flows);
	free(sums);
	free(inputs);
}

struct bb_u32_list bb_mix__make(const struct bb_inputs *in, enum bb_order order, uint64_t seed)
{
	size_t passes = order == BB_ORDER_RECORDED || !in->n ? 1 : (DRAWS + in->n - 1) / in->n;
	struct bb_u32_list m = {.n = in->n * passes};
	struct bb_rng rng;

	m.v = bb_calloc(m.n, sizeof(*m.v));
	bb_rng_seed(&rng, seed);
	if (order == BB_ORDER_ZIPF || (order == BB_ORDER_RANDOM && in->n && in->v[0].weight > 0)) {
		draw(in, order == BB_ORDER_ZIPF, &rng, &m);
		return m;
	}
	for (size_t i = 0; i < m.n; i++)
		m.v[i] = (uint32_t)(i % in->n);
	for (size_t i = 0; order != BB_ORDER_RECORDED && i < m.n; i += in->n)
		bb_rng_shuffle(&rng, m.v + i, in->n); /* one pass over all inputs */
	return m;
}

void bb_mix__words(const struct bb_inputs *inputs, enum bb_order order, char *ret_words,
		   size_t size)
{
	static const char *const orders[] = {[BB_ORDER_RECORDED] = "as recorded",
					     [BB_ORDER_RANDOM] = "in random order",
					     [BB_ORDER_ZIPF] = "in Zipf's order of flows"};

	snprintf(ret_words, size, "test runs on a mix of %zu inputs, %s", inputs->n, orders[order]);
}
