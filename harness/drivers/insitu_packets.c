/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * in-situ, event: packets. The inputs are real packets: they leave one end of a veth pair through a
 * packet socket, at a steady rate and in random order, and each runs the program at the other end
 * as it comes in.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include "base/rng.h"
#include "drivers/test_run_types.h"
#include "drivers/traffic.h"

/* In the sender: a deck of the inputs, shuffled anew when all are dealt, so that each comes as
 * often as the others. */
struct packets {
	const struct bb_input *inputs;
	uint32_t *order; /* order[n] */
	size_t n, next;
	unsigned int ifindex;
	struct bb_rng rng;
};

/* A socket that goes by no queue discipline: what is sent is received before the call returns. */
static int open_packet_socket(void *arg, int *ret_fd)
{
	const struct packets *p = arg;
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)p->ifindex};
	/* protocol 0: nothing is received */
	int one = 1, fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&to, sizeof(to)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one))) {
		rc = -errno;
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

static int send_packet(void *arg, int socket_fd)
{
	struct packets *p = arg;
	const struct bb_input *in;

	if (p->next == p->n) {
		bb_rng_shuffle(&p->rng, p->order, p->n);
		p->next = 0;
	}
	in = &p->inputs[p->order[p->next++]];
	return send(socket_fd, in->data, in->len, 0) < 0 ? -errno : 0;
}

static int check_inputs(const struct bb_inputs *inputs, struct bb_err *err)
{
	for (size_t i = 0; i < inputs->n; i++) {
		const struct bb_input *in = &inputs->v[i];

		if (in->is_context)
			return bb_fail(err, -EINVAL,
				       "input '%s' is a context; 'event: packets' sends packets",
				       in->name);
		if (in->ctx)
			return bb_fail(err, -EINVAL,
				       "input '%s' has a context beside its packet, and no wire "
				       "carries one; 'with: step, trigger: test-run' gives it to "
				       "the program",
				       in->name);
		if (in->len > BB_VETH_MAX_FRAME)
			return bb_fail(err, -EINVAL,
				       "input '%s' has %zu bytes; 'event: packets' sends %u at "
				       "most",
				       in->name, in->len, BB_VETH_MAX_FRAME);
		if (in->has_retval || in->out)
			return bb_fail(err, -EINVAL,
				       "input '%s' expects a result, and in situ only the kernel "
				       "sees it; 'with: step, trigger: test-run' checks it",
				       in->name);
	}
	return 0;
}

static int start(struct bb_traffic *t, struct bb_err *err)
{
	const struct bb_test_run_type *xdp;
	struct packets p = {.inputs = t->spec->inputs.v,
			    .n = t->spec->inputs.n,
			    .ifindex = t->pair.ifindex[BB_VETH_NEAR]};
	const struct bb_traffic_sender sender = {"the sender of packets", open_packet_socket,
						 send_packet, &p};
	int rc = 0;

	if (!p.n)
		rc = bb_test_run_type__find(BPF_PROG_TYPE_XDP, &xdp, err);
	if (rc)
		return rc;
	if (!p.n)
		p.inputs = xdp->otherwise, p.n = 1;
	bb_rng_seed(&p.rng, t->opts.seed);
	p.order = calloc(p.n, sizeof(*p.order));
	if (!p.order)
		return bb_fail_nomem(err);
	for (size_t i = 0; i < p.n; i++)
		p.order[i] = (uint32_t)i;
	p.next = p.n;
	rc = bb_traffic__start(t, &sender, err);
	free(p.order);
	return rc;
}

static int packets_open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
			void **ret_state, struct bb_err *err)
{
	int rc = check_inputs(&spec->inputs, err);

	return rc ? rc : bb_traffic__open(spec, opts, 1, start, ret_state, err);
}

static const struct bb_drive_key keys[] = {
	{.name = "event"}, {.name = "inputs"}, {.name = "rate_hz"}, {.name = "seconds"}, {0},
};

const struct bb_driver bb_driver_insitu_packets = {
	.kind =
		{
			BB_TRAFFIC_KIND,
			.by = {"packets"},
			.name = "in-situ-packets",
			.title = "in-situ by packets",
			.doc = "the program under real packets at a steady rate, counters polled "
			       "from another CPU",
			.keys = keys,
			.param_default = 1000,
		},
	.open = packets_open,
	BB_TRAFFIC_FUNCTIONS,
};
