#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A run of the drive `lines` alone measures its loads in several processes, one after the other. As
# root: all loads are stored; and what happens if one of these processes dies, or if bpfbench gets a
# signal or is killed while another process measures.
#
# slow: each part waits until a second process measures
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check and wait_until call
. "$(dirname "$0")/../tool.sh"

names=("processes" "a process dies" "signals" "killed")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"
lines=("$BPFBENCH" --object "$O/tests/bpf/lines.bpf.o" --program known --lines --seed 1 --budget 0 --quiet)

# stored [OPTION]... EXPRESSION: what jq says of the one run in $results.
stored() { jq -c "$@" "$results"/*.json; }

# Eight loads: four by each of two processes, or all by one if opening the programs takes long.
run "${lines[@]}" --loads 8 --samples 800 --results "$results"
expect_status "processes: succeed" 0
for what in '.timed[0].program_ns' '.timed[0].rows[0].ns'; do
	expect_eq "processes: eight loads in $what" "$(stored "$what | length")" 8
done
expect_eq "processes: loads are numbered through" \
	"$(stored '[.cases[] | select(.variant == "known") | .series[].load]')" '[0,1,2,3,4,5,6,7]'
check "processes: their number is stored" stored -e '.timed[0].processes | . == 1 or . == 2'
rm -rf "$results"

# another: prints the process that measures for $child: the only child that has BPF programs open.
another() {
	local pid

	for pid in $(cat "/proc/$child/task/$child/children" 2>/dev/null); do
		if grep -qs '^prog_id:' "/proc/$pid/fdinfo/"*; then
			echo "$pid"
			return 0
		fi
	done
	return 1
}
other_than() { local pid; pid=$(another) && [[ $pid != "$1" ]]; }
ended() { [[ ! -e /proc/$1 || $(awk '{ print $3 }' "/proc/$1/stat" 2>/dev/null) == Z ]]; }

has_second() { second=$(another); }

# begin NAME: starts a run and waits until another process, $second, measures; if none does, NAME
# fails and begin is false. The loads are so long that opening the programs is short beside them.
begin() {
	start env --default-signal=HUP "${lines[@]}" --loads 400 --samples 500000 --results "$results"
	if wait_until 30 has_second; then
		ok "$1: another process measures"
		return 0
	fi
	stop_child TERM
	not_ok "$1: another process measures" "$(tap_shown)"
	return 1
}

if begin "a process dies"; then
	kill -s KILL "$second" 2>/dev/null || true
	check "a process dies: the next one measures" wait_until 30 other_than "$second"
	stop_child TERM
	expect_status "a process dies: the run is ended by SIGTERM" 1
	expect_eq "a process dies: which loads are missing is said" \
		"$(stored '[.skips[] | select(.what == "lines/loads 5..8") | .why]')" '["its process ended before it was done"]'
	check "a process dies: the loads before are stored" stored -e '(.timed[0].program_ns | length) >= 4'
fi
nothing_left "a process dies" 1

for signal in INT TERM HUP; do
	if begin "SIG$signal"; then
		stop_child "$signal"
		expect_status "SIG$signal: exit code 1, not killed" 1
		expect_grep "SIG$signal: says so" err "^bpfbench: stopped by signal $(kill -l "$signal") "
		check "SIG$signal: the other process has ended" wait_until 5 ended "$second"
		check "SIG$signal: the loads before are stored" stored -e '(.timed[0].program_ns | length) >= 4'
		expect_eq "SIG$signal: no loads are said to be missing" "$(stored '[.skips[] | select(.what | test("/loads "))]')" '[]'
	fi
	nothing_left "SIG$signal" 1
done

# As Ctrl-C on a terminal, which signals both processes.
if begin "SIGINT to both"; then
	kill -s INT "$second" 2>/dev/null || true
	stop_child INT
	expect_status "SIGINT to both: exit code 1, not killed" 1
	check "SIGINT to both: the other process has ended" wait_until 5 ended "$second"
	check "SIGINT to both: the loads before are stored" stored -e '(.timed[0].program_ns | length) >= 4'
fi
nothing_left "SIGINT to both" 1

if begin "killed"; then
	stop_child KILL
	check "killed: the other process ends, too" wait_until 5 ended "$second"
fi
nothing_left "killed" 0
plan_done
