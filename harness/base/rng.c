/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/rng.h"

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

/* Fills the state by splitmix64, as the authors of xoshiro recommend. */
void bb_rng_seed(struct bb_rng *rng, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = (seed += 0x9e3779b97f4a7c15ULL);

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
		rng->s[i] = z ^ (z >> 31);
	}
}

uint64_t bb_rng_u64(struct bb_rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

uint64_t bb_rng_below(struct bb_rng *rng, uint64_t n)
{
	/* 2^64 mod n. Accepting smaller numbers would make the lowest results too frequent. */
	uint64_t reject = -n % n;
	uint64_t x;

	do
		x = bb_rng_u64(rng);
	while (x < reject);
	return x % n;
}

double bb_rng_double(struct bb_rng *rng)
{
	return (double)(bb_rng_u64(rng) >> 11) * 0x1p-53;
}

double bb_rng_normal(struct bb_rng *rng)
{
	double u = 1.0 - bb_rng_double(rng); /* in (0, 1], so that the logarithm is finite */
	double v = bb_rng_double(rng);

	return sqrt(-2.0 * log(u)) * cos(2.0 * M_PI * v);
}

void bb_rng_shuffle(struct bb_rng *rng, uint32_t *x, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)bb_rng_below(rng, i);
		uint32_t t = x[i - 1];

		x[i - 1] = x[j];
		x[j] = t;
	}
}
