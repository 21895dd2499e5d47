/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inside/packets.h"

struct bb_inside_path_packets *bb_inside_packets__of(const struct bb_inside_packets *p,
						     uint64_t key)
{
	for (size_t i = 0; i < p->n_paths; i++)
		if (p->paths[i].key == key)
			return &p->paths[i];
	return NULL;
}

/* As bb_inside_packets__of(), but adds a path that is not there. */
static struct bb_inside_path_packets *packets_of(struct bb_inside_packets *p, uint64_t key)
{
	struct bb_inside_path_packets *of = bb_inside_packets__of(p, key);

	if (of)
		return of;
	of = bb_append(&p->paths, &p->n_paths, sizeof(*of));
	of->key = key;
	return of;
}

/* Chooses where the next packet of a path goes: first into free positions, then by chance, so that
 * each packet after the first one is as likely to stay. NULL: the packet is not kept. */
static struct bb_inside_packet *position(struct bb_inside_packets *p,
					 struct bb_inside_path_packets *of)
{
	uint64_t nth = of->n_seen++;

	if (nth >= BB_INSIDE_KEPT && bb_rng_below(&p->rng, nth))
		return NULL;
	return &of->kept[nth ? BB_INSIDE_KEPT - 1 : 0];
}

/* Keeps the packet at `from`, the `nth` of its stripe. */
static void keep_packet(struct bb_inside_packets *p, const struct bb_inside_clone *c,
			const volatile uint64_t *from, const volatile uint64_t *n_taken,
			uint64_t nth)
{
	uint64_t key = from[BB_INSIDE_KEY / 8], len = from[BB_INSIDE_LEN / 8];
	uint32_t n = len < c->snap ? (uint32_t)len : c->snap;
	uint8_t bytes[BB_INSIDE_MOST_SNAP];
	struct bb_inside_packet *to;

	for (uint32_t i = 0; i < n; i++)
		bytes[i] = ((const volatile uint8_t *)from)[BB_INSIDE_BYTES + i];
	if (!key || !n || *n_taken - nth >= BB_INSIDE_RING) /* not ended, or overwritten */
		return;
	to = position(p, packets_of(p, key));
	if (!to)
		return;
	free(to->bytes);
	*to = (struct bb_inside_packet){.len = (uint32_t)len, .bytes = bb_calloc(1, n), .n = n};
	memcpy(to->bytes, bytes, n);
}

void bb_inside_packets__collect(struct bb_inside_packets *p, const struct bb_inside_clone *c)
{
	if (!p->n_taken) {
		p->n_taken = bb_calloc(c->n_stripes, sizeof(*p->n_taken));
		bb_rng_seed(&p->rng, 1);
	}
	for (uint32_t s = 0; s < c->n_stripes; s++) {
		const volatile uint64_t *stripe =
			c->memory.v + (BB_INSIDE_STRIPES + (size_t)s * c->stripe_bytes) / 8;
		const volatile uint64_t *n_taken = stripe + BB_INSIDE_TAKEN / 8;
		const volatile uint64_t *ring =
			stripe + (c->stripe_bytes - BB_INSIDE_RING * c->packet_bytes) / 8;
		uint64_t end = *n_taken, nth = p->n_taken[s];

		if (end - nth > BB_INSIDE_RING)
			nth = end - BB_INSIDE_RING;
		for (; nth < end; nth++)
			keep_packet(p, c, ring + nth % BB_INSIDE_RING * (c->packet_bytes / 8),
				    n_taken, nth);
		p->n_taken[s] = end;
	}
}

void bb_inside_packets__done(struct bb_inside_packets *p)
{
	for (size_t i = 0; i < p->n_paths; i++)
		for (size_t k = 0; k < BB_INSIDE_KEPT; k++)
			free(p->paths[i].kept[k].bytes);
	free(p->paths);
	free(p->n_taken);
	*p = (struct bb_inside_packets){0};
}

uint32_t bb_inside_packets__differ(const struct bb_inside_path_packets *of)
{
	const struct bb_inside_packet *first = &of->kept[0], *other = &of->kept[1];

	if (!other->n)
		return first->n != 0;
	return other->len == first->len && !memcmp(other->bytes, first->bytes, first->n) ? 1 : 2;
}
