#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The drive `lines`, as root: the time of each line and call of one run, of programs whose lines have known costs, hold things,
# loop and call; what is refused is named; nothing left behind.
#
# slow: tables of twenty programs
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check calls
. "$(dirname "$0")/../tool.sh"

names=("lines" "annotate --time" "nothing is left behind")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"
object=$O/tests/bpf/lines.bpf.o

# times PROGRAM [LOADS]: the table of its lines into $TMP/out.
times() {
	local loads=${2:-2}

	run "$BPFBENCH" --object "$object" --program "$1" --lines --loads "$loads" --samples "$((100 * loads))" --seed 1 --budget 60 --quiet --results "$results"
	expect_status "$1: succeeds" 0
	run "$BPFBENCH" annotate --time --all --cases --variant "$1" --results "$results"
	expect_status "$1: has a table" 0
}

# of TEXT: ns of the first line of the table whose source holds TEXT; 0 for '< 3'.
of() { grep -F -- "$1" "$TMP/out" | head -n 1 | sed -E 's/^ *< 3 .*/0/; s/^ *([0-9]+) ([0-9]{3})  .*/\1\2/; s/^ *([0-9.]+) .*/\1/'; }
between() { awk -v x="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(x >= a && x <= b) }'; }
# ratio A B LEAST MOST
ratio() { awk -v a="$1" -v b="$2" -v least="$3" -v most="$4" 'BEGIN { exit !(b > 0 && a / b >= least && a / b <= most) }'; }

# With 6 loads, the sum of the parts was more than 2 % too large in 5 of 12 runs on one machine;
# with 28, in 1 of 8.
times known 28
# The ratio is 4.6 to 4.9 if the time of the first line can overlap with that of the way out.
check "known: 256 multiplications are four times 64, which come first" ratio "$(of '/* 256 */')" "$(of '/* 64 */')" 3 4.5
check "known: 256 multiplications are about twice 128" ratio "$(of '/* 256 */')" "$(of '/* 128 */')" 1.5 2.6
expect_grep "known: the sentence names the longest line first" out "^of the program's own [0-9. ]+ ns: [0-9]+ % line [0-9]+"
expect_grep "known: a helper has its line" out ' bpf_ktime_get_ns(:|\(|$)'
expect_grep "known: instructions stand beside the time" out '^ *[0-9.]+ +\[.*\] +[0-9.]+ +[0-9]{3} +[0-9]+ +BB_STEP64'
expect_no_grep "known: every cut is allowed" out 'cuts are not allowed'
expect_no_grep "known: the parts sum to the whole" out 'the parts sum to'
own=$(sed -nE "s/^of the program's own ([0-9.]+) ns.*/\1/p" "$TMP/out")
parts=$(awk -v own="$own" -v calling="$(of '(the call and its timing)')" 'BEGIN { print own + calling }')
whole=$(sed -nE 's/^[^:]*: ([0-9.]+) ns per run.*/\1/p' "$TMP/out")
check "known: within a tenth, however busy the machine" ratio "$parts" "$whole" 0.9 1.1
run "$BPFBENCH" annotate --flame "$TMP/run.svg" --results "$results"
expect_status "flame graph: is drawn" 0
check "flame graph: has the lines" grep -q 'BB_STEP64' "$TMP/run.svg"

run "$BPFBENCH" --object "$object" --program misses --lines --cold --loads 8 --samples 96 --seed 1 --budget 60 --quiet --results "$results"
expect_status "cold: succeeds" 0
run "$BPFBENCH" annotate --time --all --cases --results "$results"
expect_grep "cold: stands beside the time" out '^ +ns +95 % interval +cold ns '
expect_grep "cold: has a table of its own, too" out '^lines/misses/lines-cold: '
whole=$(sed -nE 's/^[^:]*lines: ([0-9 .]+) ns per run.*/\1/p' "$TMP/out" | tr -d ' ')
cold=$(sed -nE 's/^with cold caches ([0-9 .]+) ns.*/\1/p' "$TMP/out" | tr -d ' ')
misses='cold: names the line that misses caches first'
if ratio "$cold" "$whole" 2 1000000; then
	expect_grep "$misses" out '^with cold caches [0-9 .]+ ns: line [0-9]+ [+]'
else
	skip "$misses" "emptied caches cost nothing here: $cold ns, otherwise $whole ns"
fi

run "$BPFBENCH" annotate --flame "$TMP/cold.svg" --results "$results"
expect_status "cold: the flame graph is of the other times" 0
if command -v gnuplot >"$TMP/gnuplot"; then
	mkdir "$TMP/one"
	"$BPFBENCH" show latest --format json --results "$results" >"$TMP/one/20260101T000000Z-one-00000000.json"
	run env BPFBENCH="$BPFBENCH" RESULTS="$TMP/one" PLOTS="$TMP/plots" plots/plot.sh latest
	expect_status "plot: succeeds" 0
	check "plot: the lines of the program, hot and cold" grep -q '[0-9] at = w-' "$TMP/plots/lines-lines_misses-lines.svg"
	run env BPFBENCH="$BPFBENCH" RESULTS="$TMP/one" PLOTS="$TMP/plots" plots/plot.sh
	expect_grep "plot: also of a run that is not named" out '/lines-lines_misses-lines\.svg$'
else
	skip "plot: the lines of a program" "gnuplot is missing"
fi

times holds
expect_no_grep "holds: all that is held is given back at every cut" out 'cuts are not allowed'
expect_eq "holds: every call has a row" "$(grep -cE ' bpf_(ringbuf_(reserve|submit|discard)|spin_(un)?lock)\(' "$TMP/out")" 6

# programs with kfuncs that this kernel lacks are skipped by name
run "$BPFBENCH" --object "$O/tests/bpf/held.bpf.o" --lines --loads 2 --samples 60 --seed 1 --budget 60 --quiet --results "$results" --format table
expect_status "held: what a kernel has of it is measured" 0
run "$BPFBENCH" annotate --time --all --cases --results "$results"
for program in socket dynptr; do
	expect_grep "held: $program has a table" out "^held/$program/lines: "
done
expect_no_grep "held: everything is given back at every cut" out 'cuts are not allowed'

times rounds
expect_grep "rounds: a call in a loop is the sum of its turns" out ' bpf_map_lookup_elem, 10 times'

times removes
expect_no_grep "removes: runs that are cut leave maps as whole ones do" out 'took another path'
expect_grep "removes: the removal has a row" out ' bpf_map_delete_elem(:|\(|$)'

times calls
expect_eq "calls: a function has a row at each line that calls it" "$(grep -cE ' part\(\), without its lines(:|$)' "$TMP/out")" 2
expect_eq "calls: and its line one for each call, which says who called" "$(grep -cE ' [0-9]+  part\(\) of line [0-9]+: .*STEP64' "$TMP/out")" 2
run "$BPFBENCH" annotate --flame "$TMP/calls.svg" --results "$results"
check "calls: the flame graph has the function above its caller's line" grep -q 'part()' "$TMP/calls.svg"
run "$BPFBENCH" show latest --format json --results "$results"
expect_grep "stored: rows by load" out '"call": "part\(\)".*"ns": \[[0-9., -]+\]'
times nested
expect_grep "nested: a function that a function calls" out ' inner\(\) of line [0-9]+, outer\(\) of line [0-9]+: .*STEP64.*inner'
expect_grep "nested: a call in a function that takes what its caller gives back" out ' bpf_ringbuf_reserve(:|\(|$)'
expect_no_grep "nested: every cut is allowed" out 'cuts are not allowed'
times called_back
expect_grep "called back: a call in the function is the sum of its turns" out ' bpf_map_lookup_elem, 8 times'
expect_grep "called back: the line says who calls" out ' on_turn\(\) of line [0-9]+: '
expect_grep "called back: for each element" out ' on_element\(\) of line [0-9]+: '
expect_grep "called back: what the helper itself takes" out ' bpf_loop, without its lines'
expect_no_grep "called back: every cut is allowed" out 'cuts are not allowed'
times both
expect_grep "both: a function that a helper calls and the program, too: by the program" out ' on_turn\(\) of line [0-9]+: '
expect_eq "both: and by the helper, each with who calls" "$(sed -nE 's/.* on_turn\(\) of (line [0-9]+): .*/\1/p' "$TMP/out" | sort -u | wc -l)" 2
expect_no_grep "both: every cut is allowed" out 'cuts are not allowed'
times by_turns
expect_grep "by turns: the table says how many runs take another path" out '^ *(-?[0-9.]+|< 3) .* \([0-9]+ % of the runs took another path\)$'
run "$BPFBENCH" --object "$O/tests/bpf/lines_leave.bpf.o" --program leaves --lines --loads 2 --samples 200 --budget 60 --quiet --results "$results"
expect_status "leaves: succeeds" 0
run "$BPFBENCH" annotate --time --all --cases --results "$results"
expect_grep "leaves: a tail call is a row of its line" out '^[ 0-9<].*  bpf_tail_call, and the program that it leads to(:|$)'
times many_turns
expect_grep "many turns: a loop of thousands has a row, too" out ' bpf_map_lookup_elem, 3000 times'
expect_grep "many turns: of its cuts some are measured, and the table says so" out '^  [0-9]+ of the [0-9]{4} cuts that a run passes were measured'

run "$BPFBENCH" --object "$O/tests/bpf/exact_truth.bpf.o" --program no_room --lines --loads 2 --quiet --results "$results"
expect_status "no room on the stack: nothing is measured" 4
expect_grep "no room on the stack: is said" err 'leaves no room'
run "$BPFBENCH" --scenario fun_xdp --lines --drive step
expect_status "--lines chooses the drives" 2

# --- fired where it is attached ---
times traced
expect_grep "fired: the trigger's program has a row a call" out ' bpf_map_update_elem(:|\(|$)'
expect_grep "fired: and one for its lines" out ' key = bpf_get_current_pid_tgid\(\)'
expect_no_grep "fired: all cuts are allowed" out 'cuts are not allowed'
run "$BPFBENCH" --object "$O/tests/bpf/fire.bpf.o" --program kills --lines --loads 2 --quiet --results "$results"
expect_status "fired: a program that kills who fires it is left out" 4

# --- two programs ---
scenario() {
	cat <<-YAML
	name: pair
	object: $object
	variants:
	  - {name: known}
	  - {name: slower}
	drive:
	  - {with: step, trigger: test-run}
	YAML
}
scenario >"$TMP/pair.yml"
run "$BPFBENCH" compare --time --scenario "$TMP/pair.yml" --base known --head slower --loads 12 --budget 60 --no-store --seed 1 \
	--fail-on regressed
expect_status "compare --time: a line that is slower fails, if asked to" 3
expect_grep "compare --time: the next step names the line" out '^next: look at [a-z_.]+:[0-9]+'
expect_grep "compare --time: the line that was changed is slower" out 'regressed +(lines\.bpf\.c:)?[0-9]+ +BB_STEP64\(x\), BB_STEP64\(x\), BB_STEP64\(x\); /\* 192'
expect_no_grep "compare --time: what is the same is not" out 'regressed .*/\* (64|256)'
run "$BPFBENCH" compare --time --scenario "$TMP/pair.yml" --base known --head slower --sort percent
expect_status "compare --time: has no columns to sort by" 2
run "$BPFBENCH" compare --time --scenario "$TMP/pair.yml" --base known --head slower --loads 3 --no-store --quiet
expect_grep "compare --time: too few loads are said" out ' ns, too few loads for an interval$'
expect_grep "compare --time: and how many it takes" out '; only 3 loads of the ([6-9]|1[0-9]) that a verdict on a line takes$'
start "$BPFBENCH" compare --time --scenario "$TMP/pair.yml" --base known --head slower --loads 2000 --budget 600 --no-store
# By then it has measured some loads.
wait_until 30 used "$(getconf CLK_TCK)" || true
stop_child INT
expect_eq "compare --time: SIGINT: the reason comes first" "$(head -n 1 "$TMP/out")" 'INCOMPLETE: stopped by signal 2 (Interrupt)'
expect_grep "compare --time: SIGINT: and the lines so far" out '^[0-9]+ lines? of '
run "$BPFBENCH" compare --time latest latest --results "$results"
expect_status "compare --time: of two stored runs" 0
expect_grep "compare --time: a run and itself have no line that differs" out '^no difference was found in any line'
expect_no_grep "compare --time: nor one that regressed" out ' regressed +[0-9]'
nothing_left "nothing is left behind" 14
plan_done
