/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "profile/idmap.h"

int bb_samples__add(struct bb_samples *samples, const struct bb_sampled_stack *s,
		    const uint64_t *kernel, const uint64_t *user)
{
	size_t need = samples->n_addresses + s->n_kernel + s->n_user;
	struct bb_sampled_stack *copy;

	if (bb_reserve(&samples->addresses, need, &samples->addresses_size, sizeof(uint64_t)))
		return -ENOMEM;
	if (bb_reserve(&samples->v, samples->n + 1, &samples->size, sizeof(*samples->v)))
		return -ENOMEM;
	copy = &samples->v[samples->n++];
	*copy = *s;
	copy->first = samples->n_addresses;
	if (s->n_kernel)
		memcpy(samples->addresses + copy->first, kernel, s->n_kernel * sizeof(*kernel));
	if (s->n_user)
		memcpy(samples->addresses + copy->first + s->n_kernel, user,
		       s->n_user * sizeof(*user));
	samples->n_addresses = need;
	return 0;
}

void bb_samples__done(struct bb_samples *samples)
{
	free(samples->v);
	free(samples->addresses);
	memset(samples, 0, sizeof(*samples));
}
