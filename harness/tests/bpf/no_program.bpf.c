/* SPDX-License-Identifier: GPL-2.0-only */
/* A BPF object without a program. */
__attribute__((section("license"))) char LICENSE[] = "GPL";
