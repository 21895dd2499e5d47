/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inside/figures.h"

#define CLOCK_TICK_NS 10.0
/* the most distinct times over which the runs of a histogram bucket are spread */
#define PARTS 16u

static uint64_t word_at(const volatile char *slot, uint32_t off)
{
	return *(const volatile uint64_t *)(const volatile void *)(slot + off);
}

/* Adds a path for a new key, with the exit, return value and marks that `slot` holds. */
static struct bb_inside_path *path_of(struct bb_inside_figures *f, const struct bb_inside_clone *c,
				      const volatile char *slot, uint64_t key)
{
	struct bb_inside_path *p = BB_FIND(f->paths, f->n_paths, it->key == key);

	if (p)
		return p;
	p = bb_append(&f->paths, &f->n_paths, sizeof(*p));
	p->words = bb_calloc(c->n_words, sizeof(*p->words));
	p->key = key;
	p->exit = (uint32_t)word_at(slot, BB_INSIDE_EXIT);
	p->exit = p->exit < c->n_exits ? p->exit : 0;
	p->retval = word_at(slot, BB_INSIDE_RETVAL);
	p->turns = key ? word_at(slot, BB_INSIDE_MARKS + 8 * c->n_words) : 0;
	for (uint32_t w = 0; key && w < c->n_words; w++)
		p->words[w] = word_at(slot, BB_INSIDE_MARKS + 8 * w);
	return p;
}

static uint64_t runs_of(const volatile char *slot)
{
	uint64_t n = word_at(slot, BB_INSIDE_UNTIMED);

	for (uint32_t b = 0; b < BB_INSIDE_BUCKETS; b++)
		n += word_at(slot, BB_INSIDE_HIST + 8 * b);
	return n;
}

static void add_slot(struct bb_inside_path *to, const volatile char *slot)
{
	double worst_ns = (double)word_at(slot, BB_INSIDE_WORST);

	to->sum_ns += (double)word_at(slot, BB_INSIDE_SUM);
	to->worst_ns = worst_ns > to->worst_ns ? worst_ns : to->worst_ns;
	to->varies |= word_at(slot, BB_INSIDE_VARIES) != 0 ||
		      word_at(slot, BB_INSIDE_RETVAL) != to->retval;
	for (uint32_t b = 0; b < BB_INSIDE_BUCKETS; b++) {
		uint64_t n = word_at(slot, BB_INSIDE_HIST + 8 * b);

		to->buckets[b] += n;
		to->timed += n;
		to->runs += n;
	}
	to->runs += word_at(slot, BB_INSIDE_UNTIMED);
}

static int by_runs(const void *a, const void *b)
{
	const struct bb_inside_path *x = a, *y = b;

	return BB_ORDER(y->runs, x->runs) ?: BB_ORDER(x->key, y->key);
}

struct bb_inside_figures bb_inside_figures__read(const struct bb_inside_clone *c)
{
	struct bb_inside_figures f = {0};

	for (uint32_t i = 0; i < c->n_stripes * (c->n_slots + 1); i++) {
		uint32_t stripe = i / (c->n_slots + 1), nth = i % (c->n_slots + 1);
		const volatile char *slot = (const volatile char *)c->memory.v + BB_INSIDE_STRIPES +
					    (size_t)stripe * c->stripe_bytes + BB_INSIDE_HEAD +
					    (size_t)nth * c->slot_bytes;
		uint64_t key = nth < c->n_slots ? word_at(slot, BB_INSIDE_KEY) : 0;

		if ((nth < c->n_slots && !key) || !runs_of(slot))
			continue;
		add_slot(path_of(&f, c, slot, key), slot);
		add_slot(&f.all, slot);
	}
	f.began = c->counts_entries ? bb_inside_clone__begun(c) : f.all.runs;
	if (c->counts_entries && !c->with)
		f.all.runs = f.began;
	if (f.n_paths)
		qsort(f.paths, f.n_paths, sizeof(*f.paths), by_runs);
	return f;
}

void bb_inside_figures__done(struct bb_inside_figures *f)
{
	for (size_t i = 0; i < f->n_paths; i++)
		free(f->paths[i].words);
	free(f->paths);
	*f = (struct bb_inside_figures){0};
}

/* Returns the shortest time in bucket b of the histogram, ns: the inverse of emit_bucket(). */
static double bucket_from(uint32_t b)
{
	return b < 32 ? b : (double)(b % 16 + 16) * (double)(1ULL << (b / 16 - 1));
}

static double middle_of(uint32_t b)
{
	return (bucket_from(b) + bucket_from(b + 1)) / 2;
}

/* Returns the lower (step -1) or upper (step 1) edge of the times in bucket b, ns. Some clocks tick
 * only every 10 ns (AMD Zen). Buckets below 256 ns are narrower than such a tick, so buckets
 * between two ticks stay empty. A narrow bucket therefore extends half way to the next bucket that
 * is not empty, but at most half a tick from its own middle. */
static double edge_of(const struct bb_inside_path *p, uint32_t b, int step)
{
	double edge = bucket_from(step < 0 ? b : b + 1), middle = middle_of(b);
	double farthest = middle + step * CLOCK_TICK_NS / 2;

	if (fabs(edge - middle) >= CLOCK_TICK_NS / 2)
		return edge;
	for (uint32_t n = b + (uint32_t)step; n < BB_INSIDE_BUCKETS; n += (uint32_t)step) {
		double half_way = (middle + middle_of(n)) / 2;

		if (fabs(half_way - middle) >= CLOCK_TICK_NS / 2)
			break;
		if (p->buckets[n])
			return half_way;
	}
	return farthest;
}

double bb_inside_path__median(const struct bb_inside_path *p)
{
	double all = (double)BB_SUM(p->buckets, BB_INSIDE_BUCKETS, *it), sum = 0;

	for (uint32_t b = 0; all > 0 && b < BB_INSIDE_BUCKETS; b++) {
		double in = (double)p->buckets[b], ns;

		if (in > 0 && sum + in >= all / 2) {
			ns = edge_of(p, b, -1);
			ns += (all / 2 - sum) / in * (edge_of(p, b, 1) - ns);
			return fmax(fmin(ns, p->worst_ns), 0);
		}
		sum += in;
	}
	return NAN;
}

double bb_inside_path__mean(const struct bb_inside_path *p, double clock_ns)
{
	double mean = p->timed ? p->sum_ns / (double)p->timed : NAN;

	return isnan(mean) || mean > clock_ns ? mean - clock_ns : 0;
}

double bb_inside_path__worst(const struct bb_inside_path *p, double clock_ns)
{
	/* rounded as in bb_inside_path__samples() */
	return p->timed ? round(fmax(p->worst_ns - clock_ns, 0)) : NAN;
}

void bb_inside_path__samples(const struct bb_inside_path *p, double clock_ns, struct bb_hist *hist)
{
	uint64_t worst_ns = p->timed ? (uint64_t)bb_inside_path__worst(p, clock_ns) : 0, last = 0;

	for (uint32_t b = 0; b < BB_INSIDE_BUCKETS; b++)
		last = p->buckets[b] ? b : last;
	for (uint32_t b = 0; b <= last; b++) {
		uint64_t n = p->buckets[b], parts = n < PARTS ? n : PARTS;
		double from = n ? edge_of(p, b, -1) : 0, width = n ? edge_of(p, b, 1) - from : 0;

		for (uint64_t k = 0; k < parts; k++) {
			double ns = from + ((double)k + 0.5) / (double)parts * width - clock_ns;
			uint64_t value = ns > 0 ? (uint64_t)(ns + 0.5) : 0;
			bool is_worst = value > worst_ns || (b == last && k + 1 == parts);

			bb_hist_add(hist, is_worst ? worst_ns : value,
				    n * (k + 1) / parts - n * k / parts);
		}
	}
}

bool bb_inside_path__marks(const struct bb_inside_clone *c, const struct bb_inside_path *p,
			   uint32_t block)
{
	uint32_t mark = c->mark_of[block], bit;

	if (!mark)
		return false;
	bit = bb_inside_clone__bit_of(c, mark - 1);
	return p->words[bit / 64] >> bit % 64 & 1;
}

struct bb_inside_path_packets *bb_inside_packets__of(const struct bb_inside_packets *p,
						     uint64_t key)
{
	return BB_FIND(p->paths, p->n_paths, it->key == key);
}

/* Keeps the packet at `from`, which is the `nth` that the clone copied into its stripe. The first
 * packet of a path is always kept. Of its later packets one is kept, and each has the same
 * chance. */
static void keep_packet(struct bb_inside_packets *p, const struct bb_inside_clone *c,
			const volatile uint64_t *from, const volatile uint64_t *n_taken,
			uint64_t nth)
{
	uint64_t key = from[BB_INSIDE_KEY / 8], len = from[BB_INSIDE_LEN / 8];
	uint32_t n = len < c->snap ? (uint32_t)len : c->snap;
	uint8_t bytes[BB_INSIDE_MOST_SNAP];

	for (uint32_t i = 0; i < n; i++)
		bytes[i] = ((const volatile uint8_t *)from)[BB_INSIDE_BYTES + i];
	/* skip the packet if its run has not ended, or if a later packet may have overwritten it */
	if (!key || !n || *n_taken - nth >= BB_INSIDE_RING)
		return;
	struct bb_inside_path_packets *of = bb_inside_packets__of(p, key);
	if (!of) {
		of = bb_append(&p->paths, &p->n_paths, sizeof(*of));
		of->key = key;
	}
	uint64_t n_before = of->n_seen++;
	if (n_before >= BB_INSIDE_KEPT && bb_rng_below(&p->rng, n_before))
		return;
	struct bb_inside_packet *to = &of->kept[n_before ? BB_INSIDE_KEPT - 1 : 0];
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
