#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Contexts beside packets, from the command line: programs return what they find in their context,
# and the input's `retval` expects that.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

need_root "a context beside a packet" || plan_done
objects=$O/tests/bpf
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# scenario PROGRAM INPUT...: to $WORK/context.yml
scenario() {
	local program=$1

	shift
	printf '%s\n' 'name: context' "object: $objects/test_run.bpf.o" "variants: [{name: $program}]" 'drive:' \
		'  - with: step' '    trigger: test-run' '    samples: 20' '    inputs:' >"$WORK/context.yml"
	printf '      - {packet: {size: 64}, %s}\n' "$@" >>"$WORK/context.yml"
}
# too_old: the last `run` says that this kernel is older than this context.
too_old() { grep -qE 'this kernel takes no (context|.[a-z_]+. in the context) [io][nf]' "$TMP/err"; }
# found NAME: the last `run` succeeded, and every return value was the expected one.
found() {
	if too_old; then
		skip "$1" "$(grep -o 'this kernel takes no.*' "$TMP/err" | head -n 1)"
	else
		expect_status "$1: succeeds" 0
		expect_no_grep "$1: what was given is found" err ' void: '
	fi
}
finds() {
	real -s "$WORK/context.yml" --loads 1
	found "$1"
}
refused() {
	real -s "$WORK/context.yml" --loads 1
	if too_old; then
		skip "$1" "$(grep -o 'this kernel takes no.*' "$TMP/err" | head -n 1)"
	else
		complains "$1" 1 "$2"
	fi
}

scenario tc_mark 'name: a, skb: {mark: 5, priority: 3, cb: [9, 7]}, retval: 537' 'name: b, retval: 0' \
	'name: c, ctx_hex: "00000000 00000000 02000000", retval: 200'
finds "mark, priority and cb"
scenario tc_mark 'name: a, skb: {mark: 5}, retval: 501'
real -s "$WORK/context.yml" --loads 1
expect_grep "another value is noticed" err 'void: .*returned 500, 501 expected'
scenario tc_device 'name: a, skb: {ifindex: 1}, retval: 1'
finds "ifindex"
scenario tc_device 'name: a, skb: {ingress_ifindex: 7, ifindex: 1}, retval: 7001'
finds "ifindex and ingress_ifindex"
scenario tc_sizes 'name: a, skb: {wire_len: 1500, gso_segs: 2, gso_size: 100, tstamp: 9223372036854775808}, retval: 21601'
finds "wire_len, gso_segs, gso_size and tstamp"
scenario socket_mark 'name: a, skb: {mark: 5}, retval: 5'
finds "a socket filter"
scenario xdp_metadata 'name: a, xdp: {metadata: "2a 00 00 00"}, retval: 42' 'name: b, xdp: {}, retval: 99'
finds "XDP metadata"

# flags PROGRAM END: PROGRAM returns the TCP flags of three packets; of the third, END is expected.
flags() {
	local ip="ipv4: {src: 10.0.0.1, dst: 10.0.0.2}, tcp: {src: 1, dst: 80}"

	cat >"$WORK/context.yml" <<-END
		name: context
		object: $objects/tcp_flags.bpf.o
		variants: [{name: $1}]
		drive:
		  - with: step
		    trigger: test-run
		    samples: 20
		    inputs:
		      - {name: syn, packet: {$ip}, retval: 2}
		      - {name: ack, packet: {$ip, tcp_flags: [ack]}, retval: 16}
		      - {name: end, packet: {$ip, tcp_flags: [ack, fin]}, retval: $2}
	END
	real -s "$WORK/context.yml" --loads 1
}
for program in xdp_flags tc_flags; do
	flags $program 17
	found "$program: TCP flags"
done
flags xdp_flags 1
expect_grep "other TCP flags are noticed" err 'void: .*returned 17, 1 .*expected'

scenario tc_mark 'name: a, xdp: {}'
refused "xdp for a tc program" "input 'a' has the key 'xdp'; a sched_cls program \('tc_mark'\) takes 'skb'"
scenario xdp_device 'name: a, skb: {}'
refused "skb for an XDP program" "takes 'xdp'"
scenario tc_mark 'name: a, ctx_hex: "01"'
refused "a member that the kernel does not take" 'zero in all members of struct __sk_buff but mark, priority, .*hwtstamp$'
scenario tc_mark "name: a, ctx_hex: '$(printf '%0600d1' 0 | sed 's/1$/01/')'"
refused "more bytes than the structure has" 'on input .a. of 64 bytes with its context of 301 \(Argument list too long\)'
scenario tc_mark 'name: a, skb: {wire_len: 63}'
refused "a wire_len less than the packet" 'a wire_len no less than the packet'
scenario tc_device 'name: a, skb: {ifindex: 1234567}'
refused "a device that there is not" 'No such device.*devices that there are in this network namespace'
scenario xdp_device 'name: a, xdp: {ingress_ifindex: 1234567}'
refused "XDP: a device that there is not" 'No such device.* takes .*a device that there is in this network namespace'
scenario xdp_device 'name: a, xdp: {ingress_ifindex: 1, rx_queue_index: 4000}'
refused "XDP: a queue that there is not" 'one of its receive queues.*by name ingress_ifindex, rx_queue_index, metadata$'
nothing_left "contexts" "$(find "$results" -name '*.json' | wc -l)"

# in_netns COMMAND...: in a network namespace with a device that has four receive queues.
in_netns() {
	# shellcheck disable=SC2016 # the inner shell's
	unshare -n bash -c 'ip link add q0 index 5 numrxqueues 4 numtxqueues 4 type veth peer name q1 index 6 && exec "$@"' - "$@"
}
if ! command -v ip >/dev/null || ! in_netns true 2>/dev/null; then
	skip "XDP: device and queue" "no ip, or no veth device with four queues can be made"
else
	scenario xdp_device 'name: a, xdp: {ingress_ifindex: 5, rx_queue_index: 3}, retval: 53' \
		'name: b, xdp: {ingress_ifindex: 5}, retval: 50' 'name: c, retval: 10'
	run in_netns "$BPFBENCH" -s "$WORK/context.yml" --loads 1 --results "$results"
	found "XDP: device and queue"
fi
rm -rf "$results"

plan_done
