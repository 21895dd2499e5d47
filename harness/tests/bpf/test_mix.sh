#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Mixes of packets, as root: the packets come in the order that was asked for, and the report says what a run costs by return
# value. No time is asserted.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("recorded" "random" "zipf" "expected values" "stored" "firewall" "nothing is left behind")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# scenario ORDER MORE: MORE are further keys of the input with 5000 flows.
scenario() {
	cat >"$TMP/mix.yml" <<-END
		name: mix
		object: $O/tests/bpf/mix.bpf.o
		floor: mix_empty
		variants: [{name: mix_empty}, {name: mix_in_order}, {name: mix_by_flow, maps: [{name: flows}]}]
		drive:
		  - with: step
		    trigger: test-run
		    order: $1
		    samples: 700
		    inputs:
		      - {name: flow, flows: 5000, packet: {ipv4: {src: 10.0.0.1, dst: 10.0.0.2}, udp: {src: 1, dst: 53}}${2:-}}
	END
}

measure() { real --scenario "$TMP/mix.yml" --loads 7 "$@"; }

# share RETURNED: the share of the runs that returned this, %, in the first table by return value
share() { awk -v returned="$1" '/by return value/ { ours = 1 } ours && index($0, returned) { print $(NF - 2); exit }' "$TMP/err"; }

scenario recorded
measure --variant mix_in_order
expect_status "recorded: succeeds" 0
# A load goes on where the one before it ended: in 7 loads of 100 samples no packet is out of order.
check "recorded: every packet follows the one before it" test "$(share XDP_PASS)" = 100
check "recorded: stdout is strictly valid BMF" valid_bmf "$TMP/out"
expect_grep "recorded: the case has no input in its name" out '"mix/mix_in_order/step"'
expect_grep "recorded: the title" err 'by test runs on a mix of 5000 inputs, as recorded'

scenario random
measure --variant mix_in_order
expect_status "random: succeeds" 0
check "random: nearly no packet follows the one before it" more "$(share XDP_DROP)" 95

scenario zipf
measure --variant mix_by_flow
expect_status "zipf: succeeds" 0
# The 100 most frequent of 5000 flows have 57 % of the packets; of packets in random order, more than 80 % would be new.
check "zipf: many packets are of flows that came before" more "$(share XDP_PASS)" 35
check "zipf: not all" more "$(share XDP_TX)" 5
expect_no_grep "zipf: no paths, as they depend on the flows before" err 'by return value and path'
rm -rf -- "$results"

# Half of the flows are in the map when a load begins; its 100 samples and their warm-up add a few.
sed -i 's/maps: \[{name: flows}\]/maps: [{name: flows, fill: {count: 2500, key: {from: [FLOWS], bytes: 29-26}}}]/
	s/order: zipf/order: random/' "$TMP/mix.yml"
flows=$(sed -n 's/^ *- \({name: flow.*\)$/\1/p' "$TMP/mix.yml")
sed -i "s/FLOWS/$flows/" "$TMP/mix.yml"
measure --variant mix_by_flow
expect_status "keys of the packets: succeeds" 0
check "keys of the packets: half of them are found" more "$(share XDP_PASS)" 40
check "keys of the packets: half of them are not" more "$(share XDP_TX)" 30
rm -rf -- "$results"

scenario random ", retval: XDP_PASS"
measure --variant mix_in_order
expect_grep "expected values: another one voids the series" err 'returned 1 \(XDP_DROP\), 2 \(XDP_PASS\) expected'
rm -rf -- "$results"

scenario zipf
measure --variant mix_by_flow
sed -n '/by return value/,/^$/p' "$TMP/err" >"$TMP/before"
run "$BPFBENCH" show --results "$results"
check "stored: the table is there" test -s "$TMP/before"
check "stored: the table is that of the run" eval "sed -n '/by return value/,/^\$/p' '$TMP/out' | cmp - '$TMP/before'"

# Four packets in five come from random addresses, of which the prefixes cover 55 %.
real --scenario lpm_firewall --budget 100 --loads 3 --samples 1500 --variant empty --variant allow_deny
expect_status "firewall: succeeds" 0
sed -n '/entries = 1000000, by return value/,/the mix/p' "$TMP/err" >"$TMP/largest"
dropped=$(awk '/XDP_DROP/ { print $(NF - 2) }' "$TMP/largest")
check "firewall: 44 % of the packets are dropped" eval "more '$dropped' 39 && more 49 '$dropped'"
allowed=$(awk '/XDP_PASS.*not through lpm_firewall.bpf.c:/ { print $(NF - 2) }' "$TMP/largest")
check "firewall: one packet in five takes the path of those that are allowed" eval "more '$allowed' 15 && more 25 '$allowed'"
expect_grep "firewall: ten prefixes are as good as none" err "failed lookup: allow_deny: map 'denied' .* has 10 entries"
expect_no_grep "firewall: some packets of the mix are allowed" err "map 'allowed'"

nothing_left "nothing is left behind" 2
plan_done
