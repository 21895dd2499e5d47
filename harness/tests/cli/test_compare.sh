#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bpfbench compare` and `selftest`: verdicts, exit codes of --fail-on, stored runs and baselines, with the fake drive and without root.
# bpf/test_compare.sh has real programs.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check and wait_until call
. "$(dirname "$0")/../tool.sh"

results=$WORK/results

# scenario FILE NAME VARIANT...: writes $WORK/FILE.yml with these variants under the fake drive; the floor is `empty`.
scenario() {
	local file=$WORK/$1.yml name=$2 variant

	shift 2
	{
		printf 'name: %s\nfloor: empty\nvariants:\n  - {name: empty, globals: {location_ns: 30, spread_ns: 2}}\n' "$name"
		for variant in "$@"; do printf '  - %s\n' "$variant"; done
		printf 'drive:\n  - {with: fake}\n'
	} >"$file"
}

bench() { run "${user[@]}" "$BPFBENCH" "$@" --results "$results"; }

# live HEAD OPTION...: compares `plain` with HEAD, measured now.
live() {
	local head=$1

	shift
	bench compare -s "$WORK/ab.yml" --base plain --head "$head" --seed 3 "$@"
}

# says VERDICT: true if the last comparison's table has this verdict on the latency. For `check`.
says() { grep -E "^ab/fake +latency, ns .* $1( |\$)" "$TMP/out"; }

# Prints the path of the run that the last `run` stored.
stored() { sed -n 's/^bpfbench: \(incomplete \)\{0,1\}run stored as //p' "$TMP/err"; }

scenario ab ab '{name: plain}' '{name: again}' '{name: slower, globals: {location_ns: 1050}}' \
	'{name: faster, globals: {location_ns: 950}}' '{name: tail, globals: {tail_permille: 100}}' \
	'{name: lossy, globals: {lose_after: 300}}' '{name: dies, globals: {fail_after: 200}}'

# --- verdicts and exit codes ---
live again
expect_status "same: exit code 0" 0
check "same: says so" says same
expect_grep "same: the columns of a diff" out '^Case +Metric +A +B +Diff +Diff % +Interval % +Verdict'
expect_grep "same: what A and B are" out '^B: again$'
expect_no_grep "same: no net where nothing changed" out '^ab/fake +net, ns '
expect_no_grep "same: each version by itself is in the details" err '^ *variant .* p50'
live slower
expect_status "regressed: exit code 0 without --fail-on" 0
check "regressed: says so" says regressed
expect_grep "regressed: net beside gross" out '^ab/fake +net, ns '
expect_grep "regressed: what CI has to add" out '^in CI: `--fail-on regressed` ends with exit code 3$'
expect_grep "regressed: by 5 %, with an interval around it" out '^ab/fake +latency, ns .* \+(4\.9|5\.0|5\.1)[0-9]? +\[\+4\.[0-9]+, \+5\.[0-9]+\]'
live slower --fail-on regressed
expect_status "gate: a regression is exit code 3" 3
check "gate: the table is there all the same" says regressed
check "gate: the run is stored" test -s "$(stored)"
live again --fail-on regressed
expect_status "gate: same is exit code 0" 0
live faster --fail-on regressed
expect_status "gate: an improvement is exit code 0" 0
check "gate: and said" says improved
live faster --fail-on improved
expect_status "gate: unless that is what is to fail" 3
live slower --fail-on regressed --loads 3
expect_status "gate: inconclusive never fails" 0
check "gate: three pairs are too few to say anything" says inconclusive
expect_grep "next step: how many loads it takes" out '^ab/fake +latency, ns .* inconclusive +--loads [0-9]+ should decide \(no interval yet: [1-6] of the 7 pairs it takes\)'
live slower --threshold 5 --alpha 0.000001 --budget 1
expect_grep "next step: which budget would do, or which threshold" out \
	'^ab/fake +latency, ns .* inconclusive +(the interval is \+-[0-9.]+ % so far|too close to 5 % to decide \(\+-.*\); --threshold [0-9.]+ would be same)'
# a row that more time can decide suggests a budget; a row that is too close to the threshold does not
expect_eq "next step: one budget" "$(grep -c -- '--budget [0-9]' "$TMP/out")" "$(grep -cE '^ab/fake .* inconclusive +the interval is \+-' "$TMP/out")"
live slower --fail-on inconclusive
complains "gate: inconclusive cannot be asked to fail" 2 'inconclusive never fails'
live slower --fail-on regressed --threshold 10%
expect_status "threshold: 5 % are below 10 %" 0
check "threshold: that is the same then" says same
live tail --fail-on regressed
expect_status "tail: preemptions of 10 % of the runs are no regression" 0
check "tail: same" says same
live slower --fail-on regressed --filter verdict=same
expect_status "filter: the exit code is by all rows" 3
expect_no_grep "filter: only what is asked for is shown" out '^ab/fake'
live slower --quiet
expect_empty "quiet: nothing on stderr" err
live slower --no-store --quiet --results "$WORK/nowhere"
check "no-store: nothing is written" test ! -e "$WORK/nowhere"

# --- formats ---
rm -rf "$results"
live slower --fail-on regressed --format bmf --seed 5
expect_status "bmf: the gate holds with any format" 3
check "bmf: stdout is strictly valid BMF and nothing else" valid_bmf "$TMP/out"
expect_grep "bmf: the comparison is on stderr" err '^ab/fake +latency, ns .* regressed'
live slower --format json --quiet --seed 5
cp "$TMP/out" "$WORK/run.json"
chmod 644 "$WORK/run.json"
bench show "$WORK/run.json"
check "json: show reads it, comparison and all" says regressed
live slower --output "$WORK/out.txt" --quiet
expect_empty "output: stdout stays empty" out
check "output: the table is in the file" grep -qE '^ab/fake +latency, ns .* regressed' "$WORK/out.txt"
live slower --sort percent --format bmf
complains "sort and format exclude each other" 2 '--sort and --filter are for the table'

# --- stored and shown ---
rm -rf "$results"
live slower --seed 9
grep -E '^ab/fake' "$TMP/out" >"$TMP/rows"
check "stored: one whole run" only_whole "$results" 1
bench show latest
expect_status "show: succeeds" 0
check "show: the same comparison again" diff -u "$TMP/rows" <(grep -E '^ab/fake' "$TMP/out")
expect_grep "show: at which threshold" out 'inconclusive, at a threshold of 1 %'
bench show --details latest
expect_grep "show: the cases are in the details" out '^ *slower +[0-9]+ '
bench show latest --format bmf
check "show: BMF of its cases" valid_bmf "$TMP/out"
comparisons() { sed -n '/"comparisons"/,/^ \],/p' "$(stored)"; }
rm -rf "$results"
live slower --seed 9
comparisons >"$TMP/first"
live slower --seed 9
comparisons >"$TMP/again"
live slower --seed 10
comparisons >"$TMP/other"
check "seed: the same one gives the same pairs, byte for byte" cmp "$TMP/first" "$TMP/again"
check "seed: another one gives others" differ "$TMP/first" "$TMP/other"
rm -rf "$results"
bench compare -s "$WORK/ab.yml" --base plain --head plain
check "a program against itself: same" says same
check "a program against itself: can be read back" only_whole "$results" 1

# --- lost events and signals ---
rm -rf "$results"
live lossy --loads 8
expect_status "lost events: exit code 0" 0
expect_grep "lost events: pairs are void, by number and name" out \
	'^ab/fake +latency, ns .* [0-9]+ of 1[0-9] pairs are void|^ +[0-9]+ of 1[0-9] pairs are void$'
expect_eq "lost events: the reason, once" "$(grep -cE '^ *void: head: run_cnt rose by [0-9]+, [0-9]+ events' "$TMP/out")" 1
rm -rf "$results"
live dies
expect_status "dies midway: exit code 1" 1
expect_empty "dies midway: no table" out
expect_grep "dies midway: says so" err "^bpfbench: fake workload of 'dies' died midway"
check "dies midway: what was measured is stored" only_whole "$results" 1
bench show latest
expect_grep "dies midway: show marks it" out "^INCOMPLETE: fake workload of 'dies' died midway"
rm -rf "$results"
# The alpha is so small that no verdict comes before the signal. At 5 %, one comparison in twenty of a program with itself has one.
start "${user[@]}" "$BPFBENCH" compare -s "$WORK/ab.yml" --base plain --head again --threshold 0.001 \
	--alpha 0.000001 --budget 600 --results "$results"
# until some pairs are measured
wait_until 20 used $(($(getconf CLK_TCK) / 3)) || true
stop_child INT
expect_status "SIGINT: exit code 1, not killed" 1
expect_eq "SIGINT: the table begins with the reason" "$(head -n 1 "$TMP/out")" 'INCOMPLETE: stopped by signal 2 (Interrupt)'
check "SIGINT: the pairs so far are in the table" says inconclusive
expect_grep "SIGINT: says so" err '^bpfbench: stopped by signal 2 '
check "SIGINT: what was measured is stored, whole" only_whole "$results" 1
bench show latest
expect_grep "SIGINT: show marks it" out '^INCOMPLETE: stopped by signal 2 '
check "SIGINT: show has its pairs" says inconclusive

# --- usage ---
bench compare
complains "usage: what to compare is missing" 2 'compare needs --scenario S --base V1 --head V2'
bench compare -s "$WORK/ab.yml" --base plain
complains "usage: --head is missing" 2 'a comparison needs --scenario, --base and --head'
bench compare --base-object a.bpf.o --program x
complains "usage: --base-object without --head-object" 2 '--base-object and --head-object go together'
bench compare --head-object a.bpf.o --program x
complains "usage: --head-object without --base-object" 2 '--base-object and --head-object go together'
bench compare -s "$WORK/ab.yml" --base plain --head again latest latest
complains "usage: programs and stored runs" 2 'not both'
bench compare a b c
complains "usage: three runs" 2 'two arguments at the most'
bench compare a b --loads 3
complains "usage: --loads of stored runs" 2 '--loads, --drive and --cold are for programs measured now'
bench compare a b --format bmf
complains "usage: --format of stored runs" 2 '--format and --output are for programs measured now'
live plian --quiet
complains "usage: an unknown variant: the nearest is named" 1 "plian.*plain"
live again --threshold 0
complains "usage: a threshold of nothing" 2 'threshold'
live again --sort speed
complains "usage: an unknown column, before anything is measured" 2 "no column 'speed'"
live again --filter 'percent ~ x'
complains "usage: a filter that cannot be, likewise" 2 "the column 'percent' takes one of"

# --- stored runs ---
rm -rf "$results"
# stored_run LOCATION_NS SEED [VARIANT]...: runs the scenario `st`, in which `plain` takes LOCATION_NS, and stores the run as $path.
stored_run() {
	local location_ns=$1 seed=$2

	shift 2
	scenario st st "{name: plain, globals: {location_ns: $location_ns}}" '{name: other}' "$@"
	run "${user[@]}" "$BPFBENCH" run -s "$WORK/st.yml" --results "$results" --seed "$seed" -n 2400
	path=$(stored)
	id=$(basename "$path" .json)
}
# of CASE VERDICT: true if the last table has this verdict on the case's latency. For `check`.
of() { grep -E "^st/$1/fake +latency, ns .* $2( |\$)" "$TMP/out"; }

stored_run 1000 1
old=$id old_path=$path
stored_run 1000 2 '{name: more}'
again=$id
stored_run 1050 3
new=$id new_path=$path

bench compare "$old" "$new" --fail-on regressed
expect_status "OLD NEW: a regression is exit code 3" 3
check "OLD NEW: the case that is slower" of plain regressed
check "OLD NEW: the case that is not" of other same
expect_grep "OLD NEW: which run A is" out "^A: $old\$"
bench compare "$new_path" "$old_path" --fail-on regressed
expect_status "NEW OLD, by path: an improvement is exit code 0" 0
check "NEW OLD: improved" of plain improved
bench compare "$old" "$again" --fail-on regressed
expect_status "OLD again: exit code 0" 0
check "OLD again: same" of plain same
expect_grep "OLD again: a case that one run lacks is named" out '^st/more/fake .* only in B'
bench compare "$old" "$new" --threshold 10% --fail-on regressed
expect_status "stored threshold: 5 % are below 10 %" 0
check "stored threshold: same" of plain same
bench compare "$old" "$new" --sort percent:desc --filter metric=latency
expect_eq "sort: by column, downwards" "$(grep -oE '^st/[a-z]+' "$TMP/out" | head -n 1)" st/plain
expect_no_grep "filter: by metric" out ' p50, ns '
bench compare "$old" "$new" --filter 'percent > 3' --filter 'metric=latency'
expect_eq "filter: by number, two of them" "$(grep -cE '^st/' "$TMP/out")" 1
bench compare "$old"
complains "stored: one run is not two" 1 'two runs are needed'
bench compare "$old" 2099
complains "stored: a run that is not there" 1 "no run '2099' among the "
bench compare "$old" "$WORK/none.json"
complains "stored: a file that is not there" 1 'none\.json: No such file'

# --- baselines ---
bench compare --save-baseline main "$old"
expect_status "baseline: saved" 0
expect_grep "baseline: which run it is" err "baseline 'main' is $old\$"
bench compare --baseline main --fail-on regressed
expect_status "baseline: against the latest run, by name" 3
expect_grep "baseline: OLD is that run" out "^A: main \\($old\\)\$"
expect_grep "baseline: NEW is the latest" out "^B: latest \\($new\\)\$"
bench compare --baseline main "$again"
check "baseline: against another" of plain same
bench compare --baseline main --save-baseline main
expect_status "baseline: compared and then moved" 0
expect_grep "baseline: compared with the old one" out "^A: main \\($old\\)\$"
bench compare --baseline main "$old"
expect_grep "baseline: it is the latest now" out "^A: main \\($new\\)\$"
bench compare --baseline mian "$old"
complains "baseline: an unknown one: those there are" 1 'Baselines saved there: main'
bench compare --baseline main "$old" "$new"
complains "baseline: and two runs are too many" 1 'with --baseline only one run is named'
bench compare --save-baseline ../evil
complains "baseline: a name that leads out of the folder is refused" 1 'evil'

# --- runs of another machine, damaged and foreign files ---
sed -E 's/^(  "cpu_model": )"[^"]*"/\1"Fake CPU 9000"/' "$new_path" >"$WORK/elsewhere.json"
bench compare "$old" "$WORK/elsewhere.json" --fail-on regressed
expect_status "another machine: not judged" 0
check "another machine: inconclusive" of plain inconclusive
expect_grep "another machine: what differs is named" out "differ in cpu_model: .*'.*Fake CPU 9000'"
bench compare "$old" "$WORK/elsewhere.json" --fail-on regressed --force
expect_status "another machine: judged with --force" 3
expect_grep "another machine: and still warned of" out 'differ in cpu_model'
head -c 3000 "$new_path" >"$WORK/cut.json"
bench compare "$old" "$WORK/cut.json"
complains "cut: a truncated run is refused with its place" 1 'cut\.json: not a bpfbench run: line [0-9]+, column [0-9]+'
echo '{"context": {"library": "google benchmark"}, "benchmarks": []}' >"$WORK/foreign.json"
bench compare "$WORK/foreign.json" "$new"
complains "foreign: another tool's results are refused" 1 'foreign\.json: not a bpfbench run: format: '
live slower
sed -E '0,/"matched": (true|false)/s//"matched": "yes"/' "$(stored)" >"$WORK/odd.json"
bench show "$WORK/odd.json"
complains "odd: a pair that is none is named" 1 'odd\.json: not a bpfbench run: comparisons\[0\]\.pairs\[0\]\.matched: expected true'

# --- the resolution ---
mkdir "$WORK/floor" "$WORK/floor/selftest"
chmod 777 "$WORK/floor" "$WORK/floor/selftest"
fingerprint=$(sed -n '/^ "fingerprint": {/,/^ },/p' "$new_path")
# self_test NAME FLOOR FINGERPRINT: writes the file of a self-test that found the resolution FLOOR
self_test() {
	printf '{"format": "bpfbench-selftest", "version": 1, "noise_floor": %s,\n%s\n"rows": []}\n' "$2" "$3" \
		>"$WORK/floor/selftest/$1.json"
}
floored() { run "${user[@]}" "$BPFBENCH" compare "$@" --results "$WORK/floor"; }
below="a threshold of 1 % is below the resolution of this machine, 3 % by self-test 20260101T000000Z-selftest-1"
self_test 20260101T000000Z-selftest-1 0.03 "$fingerprint"
floored -s "$WORK/ab.yml" --base plain --head again
complains "resolution: a threshold below it is refused, with the reason" 1 "$below"
check "resolution: before anything is measured" test "$(find "$WORK/floor" -type f | wc -l)" = 1
floored -s "$WORK/ab.yml" --base plain --head again --threshold 4
expect_status "resolution: one above it is not" 0
floored "$old_path" "$new_path"
complains "resolution: of stored runs, too" 1 'a threshold of 1 % is below the resolution of this machine'
self_test 20260102T000000Z-selftest-2 0.001 "$fingerprint"
floored -s "$WORK/ab.yml" --base plain --head again
expect_status "resolution: the newest self-test counts" 0
self_test 20260103T000000Z-selftest-3 0.5 "$(sed -E 's/^(  "cpu_model": )"[^"]*"/\1"Fake CPU 9000"/' <<<"$fingerprint")"
self_test 20260104T000000Z-selftest-4 0.5 ''
echo '{' >"$WORK/floor/selftest/20260105T000000Z-selftest-5.json"
floored -s "$WORK/ab.yml" --base plain --head again
expect_status "resolution: of another machine, of none, or damaged: does not count" 0

# --- functions of user space ---
# One of the functions sleeps for a random time, half a second or more. A verdict takes seven pairs, for which the default budget is not
# always enough.
bench compare --scenario process_sample --base oops --head fixed --budget 300
expect_status "functions that sleep: succeeds" 0
expect_grep "functions that sleep: improved" out '^process_sample/call +latency, ns .* improved +([0-9]+ of [0-9]+ pairs are void; )?[0-9]+ pairs, without JIT addresses to match'
expect_grep "functions that sleep: one in all" out '^0 regressed, 1 improved, 0 same, 0 inconclusive, '

plan_done
