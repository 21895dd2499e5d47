#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that are attached to a network namespace, as root: real packets run them, in a namespace
# of bpfbench's own.
# slow: every hook of a network namespace is measured
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

network=(on_packet discards on_lookup refuses dissects)
need_root "${network[@]}" "drive hook" || plan_done
object=$O/tests/bpf/network_hooks.bpf.o
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# The words of a kernel that does not have the hook.
of_kernel='this kernel|the kernel (refuses|does not let)|the verifier rejects|not supported|no network namespace'
why() { sed -nE "s,^.*skipped:? [^ ]*/$1(/[a-z]+)?: ,,p" "$TMP/err" | head -n 1; }
table() { "$BPFBENCH" show latest --results "$results" --format details; }

# fired NAME DRIVE TRIGGER: the program has a figure, by that trigger, or the kernel has no such
# hook.
fired() {
	if [[ -n $(why "$1") && $(why "$1") =~ $of_kernel ]]; then
		skip "$1, $2: fired by $3" "$(why "$1")"
	elif more "$(bmf "$TMP/out" "network_hooks/$1/$2" latency)" 0 && table | grep -E "^    $1: $3 \(" >/dev/null; then
		ok "$1, $2: fired by $3"
	else
		not_ok "$1, $2: fired by $3" "$(tap_shown)"
	fi
}
all=()
for p in "${network[@]}"; do all+=(--program "$p"); done

real --object "$object" "${all[@]}" --trigger fire --drive step --loads 2 -n 10 --budget 60
expect_status "exit code 0" 0
fired on_packet step datagram
fired discards step datagram
fired on_lookup step datagram
fired refuses step datagram
fired dissects step frame
nothing_left "step" 1
real --object "$object" --program on_packet --program on_lookup --program dissects --trigger fire --drive hook --loads 2 -n 2 --budget 60
for p in on_packet:datagram on_lookup:datagram dissects:frame; do
	if grep -q "${p%:*}/hook: .*another process has bpf_stats on" "$TMP/err"; then
		skip "${p%:*}, hook" "another process has bpf_stats on"
	else
		fired "${p%:*}" hook "${p#*:}"
	fi
done
nothing_left "hook" 1

plan_done
