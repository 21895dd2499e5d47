#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of a network namespace, run by real packets in one of bpfbench's own, and of memory that is reclaimed, as root.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

network=(on_packet discards on_lookup refuses dissects)
need_root "${network[@]}" "drive hook" "memory" || plan_done
object=$O/tests/bpf/network_hooks.bpf.o
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# The words of a kernel that does not have the hook.
of_kernel='this kernel|the kernel (refuses|does not let)|the verifier rejects|not supported|no network namespace'
why() { sed -nE "s,^.*skipped:? [^ ]*/$1/[a-z]+: ,,p" "$TMP/err" | head -n 1; }
table() { "$BPFBENCH" show latest --results "$results" --format table; }

# fired NAME DRIVE TRIGGER: it has a figure, by that trigger, or the kernel has no such hook.
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

real --object "$object" "${all[@]}" --trigger fire --drive step --loads 2 -n 40 --budget 60
expect_status "exit code 0" 0
fired on_packet step datagram
fired discards step datagram
fired on_lookup step datagram
fired refuses step datagram
fired dissects step frame
nothing_left "step" 1
# Whoever else has bpf_stats on voids a load: asked again.
for ((i = 0; i < 5; i++)); do
	rm -rf "$results"
	real --object "$object" --program on_packet --program on_lookup --program dissects --trigger fire --drive hook --loads 2 -n 2 --budget 60
	grep -q 'another process has bpf_stats on' "$TMP/err" || break
done
for p in on_packet:datagram on_lookup:datagram dissects:frame; do
	if grep -q "${p%:*}/hook: .*another process has bpf_stats on" "$TMP/err"; then
		skip "${p%:*}, hook" "another process has bpf_stats on"
	else
		fired "${p%:*}" hook "${p#*:}"
	fi
done
nothing_left "hook" 1

# The kernel reclaims what we ask it to, where its cgroups have the controller for that.
run "$BPFBENCH" triggers "$object" --program on_pageout --program on_reclaim
if grep -q "this kernel has no tracepoint vmscan/mm_vmscan_reclaim_pages" "$TMP/out"; then
	skip "a page that is to be paged out" "this kernel has no such tracepoint (Linux 6.15)"
else
	expect_grep "a page that is to be paged out" out '^  \* pageout +1 run a firing'
fi
place=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
if [[ -n $place ]] && mkdir "$place/bpfbench-test-$$" 2>/dev/null; then
	[[ ! -e $place/bpfbench-test-$$/memory.reclaim ]] || has_reclaim=1
	rmdir "$place/bpfbench-test-$$"
fi
if [[ -n ${has_reclaim:-} ]]; then
	expect_grep "memory of our cgroup" out '^  \* reclaim +[0-9]+ runs? a firing'
else
	skip "memory of our cgroup" "no memory.reclaim in a cgroup of version 2 here"
fi
plan_done
