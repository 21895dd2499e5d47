#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The drive `packets`, as root: packets are dropped, passed, sent back and redirected, and arrive where they are sent. No time is
# asserted but that a packet that goes up the stack takes longer than one that is dropped.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("four ends of a packet" "a redirect to nowhere" "other types" "compare" "nothing is left behind")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# scenario OBJECT VARIANT...
scenario() {
	local object=$1 variants=''

	shift
	printf -v variants '{name: %s}, ' "$@"
	cat >"$TMP/live.yml" <<-END
		name: live
		object: $O/tests/bpf/$object.bpf.o
		variants: [${variants%, }]
		drive: [{with: packets, inputs: [{name: udp, packet: {ipv4: {src: 10.0.0.1, dst: 10.0.0.2}, udp: {src: 1, dst: 53}}}]}]
	END
}

# This drive cannot measure while another process has bpf_stats on: then once more.
measure() {
	for _ in {1..20}; do
		real "$@" --loads 3
		grep -q 'has bpf_stats on' "$TMP/err" || break
		rm -rf -- "$results"
		sleep 1
	done
}
why_not() { grep -m 1 -E 'has bpf_stats on|this kernel takes no packets' "$TMP/err"; }
figure() { bmf "$TMP/out" "live/$1/packets" "$2"; }

scenario mix live_drop live_pass live_tx live_redirect
measure --scenario "$TMP/live.yml"
if why_not >"$TMP/why"; then skip_each "$(cat "$TMP/why")" "${names[@]}" || plan_done; fi
expect_status "four ends of a packet: succeeds" 0
check "four ends of a packet: stdout is strictly valid BMF" valid_bmf "$TMP/out"
for program in live_drop live_pass live_tx live_redirect; do
	check "four ends of a packet: $program: so many a second" more "$(figure "$program" run-rate)" 1000
done
check "four ends of a packet: a packet that is passed takes longer than one that is dropped" \
	more "$(figure live_pass latency)" "$(figure live_drop latency)"
rm -rf -- "$results"

scenario mix live_redirect_nowhere
measure --scenario "$TMP/live.yml"
expect_grep "a redirect to nowhere is no figure" err '4 \(XDP_REDIRECT\), and no packet arrived'
rm -rf -- "$results"

scenario maps finds_in_hash
measure --scenario "$TMP/live.yml"
expect_grep "other types are refused by name" err 'only XDP programs get packets'
rm -rf -- "$results"

scenario mix live_drop live_pass
for _ in {1..20}; do
	run "$BPFBENCH" compare --scenario "$TMP/live.yml" --base live_drop --head live_pass --results "$results" --budget 10
	grep -q 'has bpf_stats on' "$TMP/err" "$TMP/out" || break
	rm -rf -- "$results"
	sleep 1
done
expect_grep "compare: more time is a regression" out "^live/packets .* regressed(  [0-9]+ of [0-9]+ pairs are void)?$"

nothing_left "nothing is left behind" 1
plan_done
