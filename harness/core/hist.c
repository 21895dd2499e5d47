/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/hist.h"

void bb_hist_done(struct bb_hist *h)
{
	if (!h)
		return;
	free(h->slots);
	*h = (struct bb_hist){0};
}

uint64_t bb_hist_kept(uint64_t v)
{
	int shift = bb_hist_shift(v);

	return shift ? ((v >> shift) << shift) | (1ULL << (shift - 1)) : v;
}

static struct bb_hist_bin *slot_of(struct bb_hist_bin *slots, size_t capacity, uint64_t value)
{
	size_t i = (size_t)(value * 0x9e3779b97f4a7c15ULL >> 20) & (capacity - 1);

	while (slots[i].count && slots[i].value_ns != value)
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

void bb_hist_reserve(struct bb_hist *h, size_t n)
{
	size_t want = 2 * (h->used + n), capacity = h->capacity ? h->capacity : 64;

	while (capacity < want)
		capacity *= 2;
	if (capacity == h->capacity)
		return;
	struct bb_hist_bin *slots = bb_calloc(capacity, sizeof(*slots));
	for (size_t i = 0; i < h->capacity; i++)
		if (h->slots[i].count)
			*slot_of(slots, capacity, h->slots[i].value_ns) = h->slots[i];
	free(h->slots);
	h->slots = slots;
	h->capacity = capacity;
}

void bb_hist_add(struct bb_hist *h, uint64_t value_ns, uint64_t count)
{
	uint64_t kept = h->is_exact ? value_ns : bb_hist_kept(value_ns);

	if (!count)
		return;
	if (2 * (h->used + 1) > h->capacity)
		bb_hist_reserve(h, h->used + 1);
	struct bb_hist_bin *slot = slot_of(h->slots, h->capacity, kept);
	if (!slot->count) {
		slot->value_ns = kept;
		h->used++;
	}
	slot->count += count;
	h->min_ns = h->n && h->min_ns < value_ns ? h->min_ns : value_ns;
	h->max_ns = h->n && h->max_ns > value_ns ? h->max_ns : value_ns;
	h->n += count;
	h->sum_ns += (double)value_ns * (double)count;
}

void bb_hist_merge(struct bb_hist *h, const struct bb_hist *from)
{
	uint64_t n = h->n, min_ns = h->min_ns, max_ns = h->max_ns;
	double sum_ns = h->sum_ns;

	h->is_exact |= from->is_exact;
	bb_hist_reserve(h, from->used);
	for (size_t i = 0; i < from->capacity; i++)
		bb_hist_add(h, from->slots[i].value_ns, from->slots[i].count);
	/* bb_hist_add() has used rounded values. The exact sum and extremes replace them. */
	if (from->n) {
		h->sum_ns = sum_ns + from->sum_ns;
		h->min_ns = n && min_ns < from->min_ns ? min_ns : from->min_ns;
		h->max_ns = n && max_ns > from->max_ns ? max_ns : from->max_ns;
	}
}

static int by_value(const void *a, const void *b)
{
	const struct bb_hist_bin *x = a, *y = b;

	return BB_ORDER(x->value_ns, y->value_ns);
}

void bb_hist_sort(const struct bb_hist *h, struct bb_sorted *ret_sorted)
{
	struct bb_sorted s = {.n = h->n, .bins = bb_calloc(h->used, sizeof(*s.bins))};

	for (size_t i = 0; i < h->capacity; i++)
		if (h->slots[i].count)
			s.bins[s.n_bins++] = h->slots[i];
	qsort(s.bins, s.n_bins, sizeof(*s.bins), by_value);
	*ret_sorted = s;
}

void bb_sorted_done(struct bb_sorted *s)
{
	if (!s)
		return;
	free(s->bins);
	*s = (struct bb_sorted){0};
}

double bb_time_bucket_bound(size_t i)
{
	return i + 1 < BB_TIME_BUCKETS ? (double)((i % 2 ? UINT64_C(48) : UINT64_C(32)) << i / 2)
				       : (double)INFINITY;
}

void bb_time_buckets__add(struct bb_time_buckets *b, const struct bb_hist *from)
{
	for (size_t k = 0; k < from->capacity; k++) {
		size_t i = 0;

		while ((double)from->slots[k].value_ns > bb_time_bucket_bound(i))
			i++;
		b->counts[i] += from->slots[k].count;
	}
	b->n += from->n;
	b->sum_ns += from->sum_ns;
}
