/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BB_MULTIPLICATIONS_H
#define BB_MULTIPLICATIONS_H

/* Multiplications of known cost. Each multiplication needs the result of the previous one. The xor
 * keeps the compiler from merging several multiplications into one. */
#define BB_STEP(x) ((x) = ((x) ^ (x) >> 29) * 2862933555777941757ULL)
#define BB_STEP4(x) (BB_STEP(x), BB_STEP(x), BB_STEP(x), BB_STEP(x))
#define BB_STEP16(x) (BB_STEP4(x), BB_STEP4(x), BB_STEP4(x), BB_STEP4(x))
#define BB_STEP64(x) (BB_STEP16(x), BB_STEP16(x), BB_STEP16(x), BB_STEP16(x))

#endif
