/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drive `packets`: runs XDP programs on packets, and the kernel does with each packet what the
 * program returns (BPF_F_TEST_XDP_LIVE_FRAMES, Linux 5.18).
 *
 * The packets come in by one end of a pair of veth devices in private network namespaces. At the
 * other end an XDP program drops what arrives. The time of one more packet comes from calls with
 * few and with many packets (drivers/fit_line.h). Its inverse is the packet rate of one CPU. The
 * time contains receiving the packet at the other end, because the same CPU does that.
 */
#include "bpf/attach.h"
#include "drivers/trigger_test_run.h"

struct state {
	struct bb_slope_state slope;
	struct bb_veth_pair pair;
	int drops_fd; /* the XDP program that drops all packets; 0 if not loaded */
};

static int open_packets(void *state, struct bb_err *err)
{
	struct state *s = state;
	int rc = bb_slope__open(state, err);

	if (!rc)
		rc = bb_veth_pair__open(&s->pair, err);
	if (rc)
		return rc;
	s->drops_fd = bb_empty_prog__load(BPF_PROG_TYPE_XDP, 0, XDP_DROP, "bpfbench_drops");
	if (s->drops_fd < 0)
		return bb_fail(err, s->drops_fd,
			       "cannot load an XDP program that drops packets: %s",
			       strerror(-s->drops_fd));
	s->slope.ingress_ifindex = s->pair.ifindex[BB_VETH_FAR];
	return bb_veth_pair__receive(&s->pair, s->drops_fd, err);
}

static void close_packets(void *state)
{
	struct state *s = state;

	if (s->drops_fd > 0)
		close(s->drops_fd);
	bb_veth_pair__close(&s->pair);
	bb_slope__close(state);
}

static int batch(void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	struct state *s = (struct state *)((struct bb_drive_slot *)slot)->state;
	struct bb_veth_packets before, after;
	int home_fd = -1, rc = bb_veth_pair__packets(&s->pair, &before, err);

	if (!rc)
		rc = bb_netns__enter(s->pair.netns_fd[BB_VETH_FAR], &home_fd, err);
	if (rc)
		return rc;
	rc = bb_netns__leave(home_fd, bb_slope__batch(slot, param, b, err), err);
	/* -EINVAL means that the kernel refuses live frames, or live frames of this size. It does
	 * not refuse the packet, because a plain test run on it has worked. */
	if (rc == -EINVAL)
		return bb_fail(err, -ENOTSUP,
			       "this kernel takes no packets that do what the program returns "
			       "(BPF_F_TEST_XDP_LIVE_FRAMES, Linux 5.18), or none of that size "
			       "(3.5 KB at most)");
	if (!rc)
		rc = bb_veth_pair__packets(&s->pair, &after, err);
	if (!rc && b->n && after.received == before.received && !b->void_why[0] &&
	    (strstr(b->returned, "XDP_TX") || strstr(b->returned, "XDP_REDIRECT")))
		snprintf(b->void_why, sizeof(b->void_why),
			 "%s, and no packet arrived; here packets can only be sent to the device "
			 "that they come in by, ctx->ingress_ifindex",
			 b->returned);
	return rc;
}

static int probe(void *state, struct bb_test_prog *prog, struct bb_err *err)
{
	struct bb_drive_slot *slot;
	uint64_t ns[1];
	struct bb_batch b = {.ns = ns, .want = 1};
	uint32_t type;
	int rc = bb_target__prog_type(prog->target, &type, err);

	if (!rc && type != BPF_PROG_TYPE_XDP)
		rc = bb_fail(err, -ENOTSUP,
			     "only XDP programs get packets that do what they return; 'with: "
			     "in-situ, event: packets' sends packets to tc programs");
	if (!rc)
		rc = bb_driver__attach(state, prog, &slot, err);
	if (rc)
		return rc;
	rc = bb_driver__batch(slot, 0, &b, err);
	bb_driver__detach(slot);
	return rc;
}

static void fired_by(const struct bb_input *input, const struct bb_test_prog *, char *ret_words,
		     size_t size)
{
	const struct bb_test_run_type *xdp;

	if (!bb_test_run_type__find(BPF_PROG_TYPE_XDP, &xdp, NULL))
		snprintf(ret_words, size, "packets of %zu bytes that do what it returns",
			 (input ? input : xdp->otherwise)->len);
}

const struct bb_driver bb_driver_packets = {
	.kind.with = "packets",
	.kind.doc = "packets that do what the XDP program returns, and are dropped, "
		    "passed, sent back or redirected: packets per second of one CPU",
	.kind.keys = {{"inputs"}, {"repeat"}, {"samples"}},
	.kind.takes_inputs = true,
	.kind.pace = BB_SLOPE_PACE(1e-3),
	.kind.sample = {"packet", "ns per packet", false},
	.kind.units_per_ns = BB_PS_PER_NS,
	.kind.fills = BB_FILLS_PACKET_RATE,
	.kind.no_floor = true,
	.kind.needs_bpf = true,
	.kind.fires = true,
	.kind.stats_off = true,
	.trigger = &bb_trigger_test_run,
	.state_bytes = sizeof(struct state),
	.open = open_packets,
	.probe = probe,
	.batch = batch,
	.fired_by = fired_by,
	.close = close_packets,
};
