#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that return early in all processes but one. If globals or maps name the process that
# fires ({pid: self} and the like), they execute all of their instructions.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("programs with filters" "nothing is left")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

variants=()
add() { variants+=("$1"); }
add 'name: other_pid, program: by_pid'
add 'name: pid, program: by_pid, globals: {target_pid: {pid: self}}'
add 'name: comm, program: by_comm, globals: {target_comm: {comm: self}}'
add 'name: map, program: by_map, maps: [{name: pids, entries: [{key: {pid: self}, value: 1}]}]'
add 'name: comm_map, program: by_comm_map, maps: [{name: comms, entries: [{key: {comm: self}, value: 1}]}]'
if grep -q ' cgroup2 ' /proc/self/mounts; then
	cgroups=1
	add 'name: cgroup, program: by_cgroup, globals: {target_cgroup: {cgroup: self}}'
	add 'name: cgroup_map, program: by_cgroup_map, maps: [{name: cgroup_ids, entries: [{key: {cgroup: self}, value: 1}]}]'
	add 'name: cgroups, program: by_cgroup_array, maps: [{name: cgroups, entries: [{key: 0, value: {cgroup: self}}]}]'
fi
add 'name: call, program: on_call, binary: libc.so.6, function: abs, globals: {target_pid: {pid: self}}, fired_by: {call: abs, arguments: [5]}'
printf '%s\n' 'name: f' "object: $O/tests/bpf/filters.bpf.o" 'loads: 2' 'refused: skip' 'variants:' >"$WORK/f.yml"
printf '  - {%s}\n' "${variants[@]}" >>"$WORK/f.yml"
printf '%s\n' 'drive:' '  - {with: step, trigger: fire, samples: 20}' >>"$WORK/f.yml"

if [[ $(readlink /proc/self/ns/pid) != 'pid:[4026531836]' ]]; then
	skip_each "in a PID namespace, programs see other pids" "${names[@]}" || plan_done
fi
real -s "$WORK/f.yml"
expect_status "programs with filters: exit code 0" 0
"$BPFBENCH" show latest --results "$results" --details >"$TMP/err"
# share NAME: "all" or "part", by how many of its instructions NAME executed; nothing: unknown
share() {
	tr -d '\n' <"$TMP/err" | grep -oE "[ ,]$1( +[-+*0-9.]+)* +[0-9]+ of [0-9]+" |
		awk '{share = $(NF - 2) == $NF ? "all" : "part"} END {print share}'
}
expect_eq "a filter for another process: a part is executed" "$(share other_pid)" part
expect_eq "{pid: self} in a global" "$(share pid)" all
expect_eq "{comm: self} in a global" "$(share comm)" all
expect_eq "{pid: self} as a key of a map" "$(share map)" all
expect_eq "{comm: self} as a key of a map" "$(share comm_map)" all
if ((${cgroups:-0})); then
	expect_eq "{cgroup: self} in a global" "$(share cgroup)" all
	expect_eq "{cgroup: self} as a key of a map" "$(share cgroup_map)" all
	expect_eq "{cgroup: self} in a cgroup array" "$(share cgroups)" all
else
	skip "{cgroup: self}" "no cgroup2 file system is mounted"
fi
if [[ -e /sys/bus/event_source/devices/uprobe/type ]] && need_user "{pid: self} of the process that calls a function"; then
	expect_eq "{pid: self} of the process that calls a function" "$(share call)" all
fi
rm -rf "$results"

# --- compared with itself, and with a drive that has no process that fires ---
sed -i 's/^  - {name: other_pid.*$//' "$WORK/f.yml"
for budget in 2 15 45; do
	real compare -s "$WORK/f.yml" --base pid --head pid --budget "$budget"
	! grep -qE '^f/step .* (same|inconclusive)' "$TMP/out" || break
done
expect_grep "compare: both sides are let through" out '^f/step .* (same|inconclusive)'
sed -i 's/with: step, trigger: fire, samples: 20/with: in-situ, event: attach, workload: amicable_pairs, seconds: 0.1/' "$WORK/f.yml"
real -s "$WORK/f.yml"
expect_grep "a drive that fires nothing has no process that fires" err '\{... : self\} is of the process that fires'
rm -rf "$results"
for bad in '{pid: other}' '{uid: self}' '{pid: [self]}'; do
	sed "s/{pid: self}/$bad/" "$WORK/f.yml" >"$WORK/bad.yml"
	real -s "$WORK/bad.yml"
	expect_grep "$bad" err 'bad.yml:[0-9]+:[0-9]+: .*a mapping here is \{pid: self\}'
done
real -s "$WORK/f.yml" --dry-run
expect_status "--dry-run needs no process" 0
plan_done
