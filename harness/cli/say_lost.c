/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/say_lost.h"

#include <stdio.h>

void bb_say_lost(const struct bb_recording *r, const struct bb_profile *p, bool want_kernel)
{
	const struct bb_sampler_stats *s = &r->stats;

	if (s->is_cpu_clock)
		fprintf(stderr, "bpfbench: there are no hardware cycles to count here; cpu-clock "
				"sets the rate\n");
	if (s->lost_stacks)
		fprintf(stderr,
			"bpfbench: %llu stacks collided with others and are lost; their time is "
			"shown as [stack lost]\n",
			(unsigned long long)s->lost_stacks);
	if (s->drops)
		fprintf(stderr,
			"bpfbench: %llu samples are missing: the maps are full; sample less, or "
			"fewer processes\n",
			(unsigned long long)s->drops);
	if (r->lost_task_events)
		fprintf(stderr,
			"bpfbench: %llu records of new mappings came too fast and are lost; some "
			"code is [unknown]\n",
			(unsigned long long)r->lost_task_events);
	if (r->spaces.n_replaced)
		fprintf(stderr,
			"bpfbench: %zu files were mapped where others had been unloaded, whose "
			"samples are shown as theirs\n",
			r->spaces.n_replaced);
	if (p->symbols.n_damaged)
		fprintf(stderr,
			"bpfbench: %u damaged files, of which not all symbols could be read: %s\n",
			p->symbols.n_damaged, p->symbols.damaged);
	if (p->unknown_kernel && want_kernel && !r->kernel.n)
		fprintf(stderr, "bpfbench: /proc/kallsyms shows no addresses, so that kernel "
				"functions have no names (kernel.kptr_restrict)\n");
}
