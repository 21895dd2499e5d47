/* SPDX-License-Identifier: GPL-2.0-only */
#define ONE_MORE
#include "tracer.bpf.c"
