#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --try-inputs: for programs that leave early, it finds an input, entries of maps and globals that
# lead them to their ends.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

names=("a search" "the scenario" "a capture" "refusals")
need_root "${names[@]}" || plan_done
object=$O/tests/bpf/try_inputs.bpf.o
few=(--drive step --loads 2 -n 100)

# shares PROGRAM: "few" if it executed less than 0.4 of its instructions, and "all" if more than 0.9
# with the found input. From "try-inputs: NAME: 18 of 43 instructions executed, 43 of 43 ..."
shares() { sed -nE "s/.*try-inputs: $1: ([0-9]+) of ([0-9]+) instructions executed, ([0-9]+) of ([0-9]+) with a found input: .*/\1 \2 \3 \4/p" "$TMP/err" |
	awk '{print ($1 < 0.4 * $2 ? "few" : "many"), ($3 > 0.9 * $4 ? "all" : "not all")}'; }

run "$BPFBENCH" --object "$object" "${few[@]}" --try-inputs="$WORK/found.yml" --no-store --format details
expect_status "a search: succeeds" 0
cp "$TMP/err" "$TMP/said"
for program in behind_lookup behind_switch behind_state behind_member behind_fields; do
	expect_eq "a search: $program" "$(shares $program)" "few all"
done
expect_grep "a search: a key of a lookup that misses, and a value of it" err 'try-inputs: behind_lookup: [0-9]+ of ([0-9]+) instructions executed, ([0-9]+) of \2 with .*: an entry of map services '
expect_grep "a search: a global" err 'behind_switch: .* global enabled = 1 '
expect_grep "a search: a member of a global" err 'behind_member: .* global config\.inner\.deep = 1'
expect_grep "a search: a number that a branch compares with, and the program's own state" err 'behind_state: .* global mode = 4711, global sampled = 1 '
expect_grep "a search: a packet's length and fields" err 'behind_fields: .*: a packet of [0-9]+ bytes '
expect_grep "a search: a program for a prog array" err 'behind_tail_call: .*: program called in map next_programs '
expect_grep "a search: is named as found" err "found input: a way through the program, not production's"
expect_grep "a search: the line that it could not pass" err 'not passed: try_inputs\.bpf\.c:[0-9]+ "if \(hashes\(len\) != 1\)"'
expect_grep "a search: its input is measured" out 'behind_fields( +[-+*0-9.]+)* +([0-9]+) of \2\b'
expect_grep "a search: where the scenario is" err "try-inputs: the scenario with what was found: $WORK/found.yml"

run "$BPFBENCH" -s "$WORK/found.yml" "${few[@]}" --no-store --format details
expect_status "the scenario: measures" 0
for program in behind_lookup behind_switch behind_state behind_member behind_fields; do
	expect_grep "the scenario: $program is executed" out "$program( +[-+*0-9.]+)* +([0-9]+) of \\2[^0-9]"
done
expect_grep "the scenario: the table names found inputs" out "found input:? +behind_switch: a way through the program, not production's"
check "the scenario: says what it is" grep -q "found input: a way through the program, not production's" "$WORK/found.yml"
run "$BPFBENCH" --object "$object" "${few[@]}" --try-inputs="$WORK/again.yml" --no-store --format table
check "the scenario: the same seed finds the same" cmp "$WORK/found.yml" "$WORK/again.yml"
expect_no_grep "a second search is not advised" out 'searches for inputs|or .--try-inputs'

run "$BPFBENCH" --object "$object" "${few[@]}" --no-store --format table
expect_grep "the option is named where a check turns runs away" out '^    .*--try-inputs'

run "$BPFBENCH" capture -o "$WORK/a.capture" -- "$O/tests/tools/load_all" -1 "$object"
run "$BPFBENCH" --object "$WORK/a.capture" --program behind_switch --program behind_member "${few[@]}" --try-inputs="$WORK/captured.yml" \
	--no-store --format table
expect_grep "a capture: a global" err 'behind_switch: .* global enabled = 1 '
expect_grep "a capture: a member of a global" err 'behind_member: .* global config\.inner\.deep = 1'
run "$BPFBENCH" -s "$WORK/captured.yml" "${few[@]}" --no-store --format details
for program in behind_switch behind_member; do
	expect_grep "a capture: $program is executed by the scenario" out "$program( +[-+*0-9.]+)* +([0-9]+) of \\2([^0-9]|$)"
done

# The keys of two maps are ids of the process that fires, which is another one in each load. A
# kernel that cannot fire the program skips it.
run "$BPFBENCH" --object "$object" --program behind_process --drive exact --loads 3 -n 10 --try-inputs="$WORK/process.yml" --no-store --format details
if grep -q '^bpfbench: try-inputs: behind_process: ' "$TMP/err"; then
	expect_eq "the process that fires: found" "$(shares behind_process)" "few all"
	# as it loops, a run executes more instructions than the program has
	expect_eq "the process that fires: in each load" "$(awk '/behind_process\/exact/ { print ($4 == $5 && $4 > 35) }' "$TMP/out")" 1
	check "the process that fires: its pid" grep -q 'name: processes, entries: \[{key: {pid: self}, ' "$WORK/process.yml"
	check "the process that fires: its thread" grep -q 'name: threads, entries: \[{key: {pid_tgid: self}, ' "$WORK/process.yml"
else
	skip "the process that fires" "$(tail -n 1 "$TMP/err")"
fi

# Both variants get what was found, so that they differ in the map alone. The search needs only one
# CPU.
run "$BPFBENCH" --object "$object" --program behind_lookup --cpus 1 --per-cpu services --loads 1 -n 4 --try-inputs="$WORK/per_cpu.yml" --no-store
for name in behind_lookup behind_lookup.services; do
	sed -nE "s/^  - \{name: $name,.*maps: \[\{name: services(, per_cpu: yes)?, (entries.*)\}\], found.*/\2/p" "$WORK/per_cpu.yml" >"$WORK/$name"
done
check "a value for each CPU: an entry was found" test -s "$WORK/behind_lookup"
check "a value for each CPU: the same entries" cmp "$WORK/behind_lookup" "$WORK/behind_lookup.services"

run "$BPFBENCH" -s "$WORK/found.yml" --try-inputs
expect_status "refusals: of a scenario" 2
run "$BPFBENCH" --object "$object" --try-inputs --no-store
expect_status "refusals: no place for the scenario" 2
expect_grep "refusals: say what to do" err 'try-inputs=FILE\.yml'
run "$BPFBENCH" --object "$O/tests/bpf/refused_map.bpf.o" "${few[@]}" --try-inputs="$WORK/none.yml" --no-store --format table
expect_status "refusals: an object that cannot be loaded" 1
plan_done
