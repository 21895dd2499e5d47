#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The drive `parallel`, as root: a counter that all CPUs write is slower on two CPUs than on one;
# with a counter for each CPU the difference is smaller. No time is asserted, only that the
# intervals are apart.
# slow: it measures whether CPUs hinder each other
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("more CPUs than there are" "a counter of all CPUs" "different inputs" "nothing is left behind")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

object=$O/tests/bpf/shared.bpf.o
n_cpus=$(nproc)

# scenario CPUS MORE: MORE are further keys of the drive.
scenario() {
	cat >"$TMP/shared.yml" <<-END
		name: shared
		object: $object
		floor: empty
		variants: [{name: empty}, {name: one_counter}, {name: counter_each}]
		drive: [{with: parallel, cpus: $1${2:-}}]
	END
}

# This drive cannot measure while another process has bpf_stats on: then once more.
measure() {
	for _ in {1..20}; do
		real --scenario "$TMP/shared.yml" "$@"
		grep -q 'has bpf_stats on' "$TMP/err" || break
		rm -rf -- "$results"
		sleep 1
	done
}
stats_are_on() { grep -m 1 'has bpf_stats on' "$TMP/err"; }
# says REGEX: stderr matches, with its lines joined, as messages are wrapped.
says() { tr -s '\n ' ' ' <"$TMP/err" | grep -Eq "$1"; }
says_not() { ! says "$1"; }
# of_object ARG...: without a scenario. False if others have bpf_stats on.
of_object() {
	rm -rf -- "$results"
	real --object "$object" --cpus 1,all --drive parallel "$@"
	! stats_are_on >"$TMP/why"
}

scenario "[1, $((n_cpus + 1))]"
measure
if stats_are_on >"$TMP/why"; then skip_each "$(cat "$TMP/why")" "${names[@]}" || plan_done; fi
expect_status "more CPUs than there are: fails" 1
expect_grep "more CPUs than there are: the message" err \
	"'parallel' asks for $((n_cpus + 1)) CPUs, and $n_cpus (is|are) online and allowed here; take $n_cpus at most, or 'all'"
check "more CPUs than there are: nothing was measured" test ! -e "$results"

if ((n_cpus < 2)); then
	skip_each "this machine has one CPU" "a counter of all CPUs" "different inputs" || plan_done
fi

figure() { bmf "$TMP/out" "shared/$1/parallel/cpus=$2" "$3"; }
# end VARIANT N: end N (1, 2) of the interval of its verdict
end() { sed -nE "s/^ *$1 +2 .*\[([-+0-9.]+), ([-+0-9.]+)\].*/\\$2/p" "$TMP/err"; }

scenario "[1, 2]"
measure
if stats_are_on >"$TMP/why"; then skip_each "$(cat "$TMP/why")" "${names[@]:1}" || plan_done; fi
expect_status "a counter of all CPUs: succeeds" 0
check "a counter of all CPUs: stdout is strictly valid BMF" valid_bmf "$TMP/out"
expect_grep "a counter of all CPUs: the verdict" err '^ +one_counter +2 .* contended$'
expect_grep "a counter of all CPUs: the map and the line" err "shared: one_counter: what a run writes for all CPUs: map 'shared'"
check "a counter of all CPUs: its line" says "map 'shared' \(shared.bpf.c:29\)"
expect_no_grep "a counter of all CPUs: not the map of a counter for each" err "map 'of_cpu'"
check "a counter of all CPUs: the other's interval is apart" more "$(end one_counter 1)" "$(end counter_each 2)"
check "a counter of all CPUs: two CPUs with a counter each do more than one" \
	more "$(figure counter_each 2 run-rate)" "$(figure counter_each 1 run-rate)"
expect_grep "a counter of all CPUs: the runs of all CPUs together" err '^ +variant .* runs/s$'
check "a counter of all CPUs: there is no case of another number of CPUs" eval "! grep -q 'cpus=[03-9]' '$TMP/out'"

packet="packet: {ipv4: {src: 10.0.0.1, dst: 10.0.0.2}}"
scenario "2" ", inputs: [{name: a, $packet}, {name: b, $packet, retval: 7}]"
measure --variant one_counter
if stats_are_on >"$TMP/why"; then skip_each "$(cat "$TMP/why")" "different inputs" "nothing is left behind" || plan_done; fi
# Input b expects a result that the program does not give. That this is noticed shows that the
# second CPU ran it.
expect_grep "different inputs: the second CPU has the second" err 'returned 0 .*, 7 .*expected'

nothing_left "nothing is left behind" 2

# --- the map that the CPUs contend for ---
sed -i 's/{name: counter_each}/{name: each, program: one_counter, maps: [{name: shared, per_cpu: yes}]}/' "$TMP/shared.yml"
sed -i 's/drive: .*/drive: [{with: parallel, cpus: [1, 2]}]/' "$TMP/shared.yml"
measure
if ! stats_are_on >"$TMP/why"; then
	expect_status "per_cpu: succeeds" 0
	check "per_cpu: the map's own interval is apart" more "$(end one_counter 1)" "$(end each 2)"
	check "per_cpu: the map is named" says "one_counter: the value of map 'shared' is (what|a part of what) the CPUs contend for"
fi
rm -rf -- "$results"

# --- without a scenario ---
if of_object --program one_counter --loads 1 -n 4; then
	expect_status "--cpus: succeeds" 0
	for n in 1 "$n_cpus"; do expect_grep "--cpus: on $n" out "\"shared/one_counter/parallel/cpus=$n\""; done
fi
if of_object --program one_bucket --per-cpu locked --loads 8 -n 160; then
	expect_status "--per-cpu, a bucket: succeeds" 0
	check "--per-cpu, a bucket: its value alone is not it" says_not "'locked' is what the CPUs contend for"
	check "--per-cpu, a bucket: more than the value" says "value of map 'locked' is (a part of|at most a part of) what the CPUs contend for"
fi
# CPUs with keys of their own do not share what belongs to a key, but all share a ring's position.
at_most="record_of_flow: what belongs to one input .* is at most a part of .*; the rest all inputs share"
measured=''
for _ in 1 2 3; do # in a disturbed run the intervals are too wide to tell
	measured=''
	of_object --program counter_of_flow --program record_of_flow --same-input --loads 8 -n 160 || break
	measured=1
	! says "$at_most" || break
done
if [[ $measured ]]; then
	expect_status "--same-input: succeeds" 0
	for drive in parallel parallel-same; do expect_grep "--same-input: $drive" out "\"shared/counter_of_flow/$drive/cpus=$n_cpus\""; done
	check "--same-input: a value of a key" says \
		"counter_of_flow: what belongs to one input \(a value, a bucket\) is (what|a part of what) the CPUs contend for: "
	check "--same-input: a ring's position" says "$at_most"
	check "--same-input: the map is named once" test "$(grep -c 'counter_of_flow: what a run writes for all CPUs' "$TMP/err")" = 1
fi
# a program that does not use the map: its variant with a value for each CPU changes nothing, and nothing is said of it
if of_object --program counter_each --per-cpu shared --loads 6 -n 24; then
	expect_status "--per-cpu: succeeds" 0
	expect_grep "--per-cpu: the second variant" out "\"shared/counter_each.shared/parallel/cpus=1\""
	check "--per-cpu: a map that is not written is not named" says_not "is (what|a part of what) the CPUs contend for"
fi
rm -rf -- "$results"

plan_done
