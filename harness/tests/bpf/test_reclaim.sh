#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs on memory that the kernel reclaims because bpfbench asks it to, in a cgroup of bpfbench's own, as root.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check calls
. "$(dirname "$0")/../tool.sh"

need_root "a page that is to be paged out" "memory of our cgroup" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"
object=$O/tests/bpf/network_hooks.bpf.o

# fires NAME PROGRAM TRIGGER: the trigger is found, and a run has a figure by it.
fires() {
	run "$BPFBENCH" triggers "$object" --program "$2"
	expect_grep "$1: found" out "^  \\* $3 +[0-9]+ runs? per firing"
	real --object "$object" --program "$2" --drive step --loads 1 -n 10 --budget 60
	expect_grep "$1: a figure" err "^  $2 +net \*?-?[0-9.]+ .*ns"
	"$BPFBENCH" show latest --results "$results" --details >>"$TMP/err"
	expect_grep "$1: by that" err "(by|    $2:) $3 \\("
	nothing_left "$1" 1
	rm -rf "$results"
}

run "$BPFBENCH" triggers "$object" --program on_pageout
if grep -q "this kernel has no tracepoint vmscan/mm_vmscan_reclaim_pages" "$TMP/out"; then
	skip "a page that is to be paged out" "this kernel has no such tracepoint (Linux 6.15)"
else
	fires "a page that is to be paged out" on_pageout pageout
fi

# Which files a cgroup has can only be seen in one, so one is made.
place=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts) seen=$place/bpfbench-test-$$
[[ -z $place ]] || mkdir "$seen" 2>/dev/null || place=''
if [[ -n $place && -e $seen/memory.reclaim ]]; then
	rmdir "$seen"
	fires "memory of our cgroup" on_reclaim reclaim
else
	[[ -z $place ]] || rmdir "$seen"
	skip "memory of our cgroup" "no cgroup of version 2 with memory.reclaim here (Linux 5.19, and the memory controller in it)"
fi
plan_done
