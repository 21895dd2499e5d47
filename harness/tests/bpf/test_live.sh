#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that somebody else has loaded: measured in place, left as they were, also when either side ends midway; and all
# of them watched by `bpfbench live`. As root.
# slow: agents are watched for seconds each
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("in place" "by name" "by pin" "test runs" "the owner ends" "live: JSON" "live: OpenMetrics"
	"live: of a command" "live: a look" "live: the screen")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"
object=$O/tests/bpf/live.bpf.o

declare -A owner=()	# pids, by the name of their output in $TMP
trap '[[ -z ${owner[*]}$child ]] || kill "${owner[@]}" $child 2>/dev/null || true; rm -rf -- "$TMP"' EXIT

# own NAME GAP_US|- [PIN [RUNS]]: somebody loads the program and runs it every GAP_US (-: never).
# Its id is then in $id.
own() {
	local name=$1

	shift
	: >"$TMP/$name"
	"$O/tests/tools/live_prog" "$object" "$@" >"$TMP/$name" 2>"$TMP/$name.err" </dev/null &
	owner[$name]=$!
	wait_until 5 test -s "$TMP/$name" || { cat "$TMP/$name.err"; return 1; }
	id=$(head -n 1 "$TMP/$name")
}

# disown_it NAME: ends that owner. Its last line is then in $result: how often it ran the program,
# and how many runs the program counted.
disown_it() {
	end_processes "${owner[$1]}"
	unset "owner[$1]"
	result=$(tail -n 1 "$TMP/$1")
}

# no_new_link: no link has come that nobody else has open: it would be ours.
no_new_link() { ! new_objects | grep '^link '; }
same_runs() { [[ $1 =~ ^ran\ ([0-9]+),\ counted\ ([0-9]+)$ ]] && ((BASH_REMATCH[1] == BASH_REMATCH[2] && BASH_REMATCH[1] > 0)); }
more_runs() { [[ $1 =~ ^ran\ ([0-9]+),\ counted\ ([0-9]+)$ ]] && ((BASH_REMATCH[1] < BASH_REMATCH[2])); }
valid_openmetrics() { "$O/tests/tools/openmetrics_check" <"$1"; }
stats_off() { [[ $(cat /proc/sys/kernel/bpf_stats_enabled) == "$stats_before" ]]; }

# --- in place ---
own first 300
first=$id
real --prog-id "$first" --seconds 1.2 --seed 1
expect_status "in place: succeeds" 0
check "in place: stdout is strictly valid BMF" valid_bmf "$TMP/out"
expect_grep "in place: the case is called by the program's whole name" out '"live/live_counts_its_runs/live"'
check "in place: runs cost something" more "$(bmf "$TMP/out" live/live_counts_its_runs/live latency)" 0
check "in place: runs per second" more "$(bmf "$TMP/out" live/live_counts_its_runs/live run-rate)" 0
expect_grep "in place: the table says what the interval is over" err 'over slices of time, not over loads'
expect_no_grep "in place: no layout spread, no drops" err 'layout:|drops'
run "$BPFBENCH" show latest --results "$results"
expect_grep "in place: a stored run says so too" out 'over slices of time, not over loads'
if [[ -n $bpftool ]]; then
	check "in place: the program is still there" "$bpftool" prog show id "$first"
	check "in place: no link of ours came" no_new_link
else
	skip "in place: the program is still there" "no bpftool that works on this kernel"
fi
rm -rf "$results"

# --- by name ---
own idle -
idle=$id
real --prog-name 'live_counts*' --dry-run
expect_grep "by name: two of one name are told apart by their ids" out "live/live_counts_its_runs-$first/live .*id $first\$"
expect_grep "by name: both" out "live/live_counts_its_runs-$idle/live .*id $idle\$"
real --prog-name 'live_counts*' --prog-id "$idle" --dry-run
complains "by name: one program twice" 1 "\(id $idle\) is named twice"
real --prog-name live_count_its_runs
complains "by name: the nearest" 1 "no loaded program is called 'live_count_its_runs'; did you mean 'live_counts_its_runs'\?"
real --prog-name 'quux*'
complains "by name: how to list" 1 "bpfbench live --once. lists"
real --prog-id "$idle" --seconds 0.6 --loads 2
expect_status "a program that does not run: exit code 1" 1
expect_grep "a program that does not run: void, and how long we waited" err 'void: live/live_counts_its_runs/live: .*no run in [0-9.]+ s'
expect_grep "a program that does not run: both slices" err '^  live_counts_its_runs +(0 +0/2 +)?void'
rm -rf "$results"
real --prog-id 4294967295
complains "an id that is not there: how to list" 1 'no program with id 4294967295 is loaded; .bpfbench live --once. lists'

# --- runs that come three at a time: their means are the samples ---
own threes 300 "" 3
rm -rf "$results"
real --prog-id "$id" --seconds 1.2 --loads 4
expect_status "three at a time: exit code 0" 0
run "$BPFBENCH" show latest --results "$results" --format table --details
expect_grep "three at a time: the means are the samples, and that is said" out 'the load that it has \(samples are means of [2-9] runs\)'
run "$BPFBENCH" show latest --results "$results" --format csv
check "three at a time: most runs are in them" more "$(awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "samples") c = i}
	NR == 2 {print $c}' "$TMP/out")" 100
rm -rf "$results"
disown_it threes
check "three at a time: none is bpfbench's" same_runs "$result"

# --- by pin ---
pin=/sys/fs/bpf/bpfbench-test-$$
if [[ $(stat -f -c %T /sys/fs/bpf 2>/dev/null) == bpf_fs ]] && own pinned 300 "$pin"; then
	real --pinned "$pin" --seconds 1.2 --no-store --quiet
	expect_status "by pin: succeeds" 0
	expect_grep "by pin: called by the pin" out "\"live/bpfbench-test-$$/live\""
	check "by pin: the pin is as it was" test -e "$pin"
	real --pinned "$pin-not"
	complains "by pin: nothing there" 1 "$pin-not: nothing is pinned there"
	disown_it pinned
	check "by pin: nobody else ran the program: $result" same_runs "$result"
else
	skip "by pin" "no BPF file system at /sys/fs/bpf"
fi

# --- drives and commands that refuse a live program ---
printf 'name: l\nvariants: [{name: a, id: %s}, {name: b, id: %s}]\ndrive: [{with: step}, {with: in-situ, workload: amicable_pairs}]\n' \
	"$first" "$idle" >"$WORK/attach.yml"
real -s "$WORK/attach.yml" --no-store
expect_status "drives that attach programs: refused" 4
expect_grep "drives that attach programs: why" err 'would attach the program to events of bpfbench'
sed -i 's/^drive.*/drive: [{with: live}]/' "$WORK/attach.yml"
real compare -s "$WORK/attach.yml" --base a --head b
complains "compare: refused" 1 "is a live program, and compare loads both programs again"
printf 'name: l\nobject: %s\nvariants: [{name: live_counts_its_runs}]\ndrive: [{with: live}]\n' "$object" >"$WORK/ours.yml"
real -s "$WORK/ours.yml" --no-store
expect_grep "a program of ours with: live: refused" err 'is loaded by bpfbench and attached to nothing'

disown_it first
check "after all that, nobody else ran the first program: $result" same_runs "$result"

# --- test runs ---
own tested 2000
real --prog-id "$id" --trigger test-run -n 600 --loads 6 --no-store
if disturbed; then
	skip_each "another process has bpf_stats on" "test runs: succeeds, although its owner runs it, too" "test runs: slope" || true
else
	expect_status "test runs: succeeds, although its owner runs it, too" 0
	expect_grep "test runs: slope" out '"live/live_counts_its_runs/slope"'
fi
expect_grep "test runs: warns" err 'test runs of loaded programs change the contents of their maps'
expect_grep "test runs: step" out '"live/live_counts_its_runs/step"'
disown_it tested
check "test runs: they are in its map: $result" more_runs "$result"

# --- somebody ends midway ---
# measures: $child measures, as it has bpf_stats on. For wait_until.
measures() { [[ -n $(find "/proc/$child/fd" -lname '*bpf-stats*' 2>/dev/null) ]]; }

bpf_objects >"$TMP/objects.before"	# the other owners are still there
# How soon there are samples depends on the machine.
for pause in 3 6 12; do
	own leaving 300
	start "$BPFBENCH" --prog-id "$id" --seconds 24 --results "$results"
	check "the owner ends: while it is measured" wait_until 10 measures
	sleep "$pause"
	disown_it leaving
	finish
	! grep -qE '^  live_counts_its_runs +[1-9]' "$TMP/err" || break
done
expect_status "the owner ends: exit code 1" 1
expect_empty "the owner ends: no BMF" out
expect_grep "the owner ends: said so" err "^bpfbench: program 'live_counts_its_runs' \(id $id\) is gone: its owner unloaded it or ended"
expect_grep "the owner ends: what was sampled is shown" err '^  live_counts_its_runs +[1-9]'
expect_grep "the owner ends: and is stored as incomplete" err 'incomplete run stored'
nothing_left "the owner ends" 1
# The owner ends in the last slice, here the only one: what was measured until then counts, and that
# is said. Before the slice, bpfbench looks for half a second how many runs come at a time.
for pause in 1 2.5 4; do
	own leaving_last 300
	start "$BPFBENCH" --prog-id "$id" --seconds 5 --loads 1 --no-store
	check "the owner ends in the last slice: while it is measured" wait_until 10 measures
	sleep "$pause"
	disown_it leaving_last
	finish
	! grep -q 'the end of its last slice' "$TMP/err" || break
done
expect_grep "the owner ends in the last slice: said so" err \
	"skipped: live/live_counts_its_runs: the end of its last slice: program 'live_counts_its_runs' \(id $id\) is gone: its owner unloaded it or ended"
for signal in INT KILL; do
	own staying 300
	start "$BPFBENCH" --prog-id "$id" --seconds 600 --no-store
	check "SIG$signal: while it measures" wait_until 10 measures
	stop_child "$signal"
	check "SIG$signal: it ends" test "$status" -ne 0
	check "SIG$signal: bpf_stats is off" wait_until 2 stats_off
	disown_it staying
	check "SIG$signal: the program ran on: $result" same_runs "$result"
done

# --- bpfbench live ---
# program ID KEY: from the JSON of the last run, which has a line for each program.
program() { sed -nE "s/^ *\{\"id\": $1, .*\"$2\": ([^,}]+).*/\1/p" "$TMP/out"; }
own busy 300
busy=$id
run "$BPFBENCH" live --for 1
expect_status "live: succeeds" 0
expect_eq "live: the busy one by its whole name" "$(program "$busy" name)" '"live_counts_its_runs"'
check "live: it runs" more "$(program "$busy" runs_per_s)" 0
check "live: it costs something" more "$(program "$busy" ns_per_run)" 0
check "live: runs were seen alone" more "$(program "$busy" windows)" 0
expect_eq "live: the idle one does not run, and costs nothing that we know" "$(program "$idle" runs) $(program "$idle" ns_per_run)" '0 null'
# How soon a new program runs depends on the machine.
for seconds in 2 8 32; do
	[[ -n ${owner[busy]:-} ]] || { own busy 300; busy=$id; }
	[[ -z ${owner[newcomer]:-} ]] || disown_it newcomer
	start "$BPFBENCH" live --seconds "$seconds"
	check "live: it watches" wait_until 10 measures
	own newcomer 300
	disown_it busy
	finish
	[[ $(program "$busy" gone) != true ]] || ! more "$(program "$id" runs)" 0 || break
done
expect_eq "live: one that goes is seen to" "$(program "$busy" gone)" true
check "live: one that comes is seen to run" more "$(program "$id" runs)" 0
check "live: nobody else ran the one that went: $result" same_runs "$result"
run "$BPFBENCH" live --format openmetrics --output "$TMP/live.om"
expect_status "live: OpenMetrics, into a file, succeeds" 0
expect_empty "live: with --output, stdout stays empty" out
check "live: OpenMetrics is strictly valid" valid_openmetrics "$TMP/live.om"
check "live: bpf_stats is off" stats_off
start "$BPFBENCH" live --seconds 600 -o "$TMP/live.om"
check "live: it watches once more" wait_until 10 measures
# `bpfbench live` keeps bpf_stats on meanwhile.
run "$BPFBENCH" --object "$O/bpf/fun_xdp.bpf.o" --drive slope --loads 2 --budget 10 --no-store
expect_status "slope beside a process that keeps bpf_stats on: given up at once" 4
expect_grep "slope beside a process that keeps bpf_stats on: and who does so" err \
	'/slope: bpfbench \([0-9]+\) has bpf_stats on'
expect_eq "slope beside a process that keeps bpf_stats on: one line" "$(grep -c bpf_stats "$TMP/err")" 1
stop_child INT
check "live: one snapshot that is interrupted fails" test "$status" = 1
check "live: and leaves the one before as it was" valid_openmetrics "$TMP/live.om"
expect_eq "live: and nothing beside it" "$(compgen -G "$TMP/live.om.*" || true)" ""
# --- the programs of a command ---
own namesake 300
if need_command script "live --for: ends on a terminal, too"; then
	run timeout 60 script -qec "'$BPFBENCH' live --for 0.5" /dev/null
	expect_status "live --for: ends on a terminal, too" 0
fi
run "$BPFBENCH" live --seconds 1 --format json -- "$O/tests/tools/live_prog" "$object" 301
expect_status "live: of a command: succeeds" 0
expect_eq "live: of a command: its program, and not that of the same name that runs beside it" "$(grep -c '"id":' "$TMP/out")" 1
expect_eq "live: of a command: it is not the other one" "$(program "$id" id)" ""
check "live: of a command: it runs" more "$(sed -nE 's/.*"runs_per_s": ([^,]+),.*/\1/p' "$TMP/out")" 0
none_runs() { ! pgrep -f "^$O/tests/tools/live_prog $object 301$"; }
check "live: of a command: the command is ended" wait_until 2 none_runs
# as timeout(1) does, which signals the process and then its group
for signal in INT TERM; do
	start "$BPFBENCH" live --seconds 30 --format json -- "$O/tests/tools/live_prog" "$object" 301
	wait_until 10 eval '! none_runs' || true
	kill -s "$signal" "$child"
	stop_child "$signal"
	check "live: of a command: two signals $signal at once end it" wait_until 2 none_runs
done
disown_it namesake
run "$BPFBENCH" live --seconds 30 -- "$O/tests/tools/load_all" -1 "$object"
# Whether its program was there when bpfbench looked at the list of programs is chance.
if ((status == 0)); then
	expect_grep "live: of a command that ends at once: said" err 'the command ended with exit code 0'
	expect_grep "live: of a command that ends at once: what was seen is listed" out '"id":'
else
	expect_grep "live: of a command that ends at once: said" err "load_all' ended with exit code 0 before any of its BPF programs was seen"
	expect_empty "live: of a command that ends at once: nothing is listed" out
fi
mkfifo "$TMP/loaded"
for how in 'exit 7:ended with exit code 7' 'kill -9 $$:was killed by signal 9 \(Killed\)'; do
	run "$BPFBENCH" live --seconds 30 --format json -- sh -c \
		"'$O/tests/tools/load_all' '$object' >'$TMP/loaded' & read -r line <'$TMP/loaded'; sleep 1; ${how%%:*}"
	expect_status "live: of a command that fails, ${how%%:*}: so does bpfbench" 1
	expect_grep "live: of a command that fails, ${how%%:*}: said" err "^bpfbench: the command 'sh' ${how#*:}\$"
	expect_grep "live: of a command that fails, ${how%%:*}: its programs have been listed" out '"name": "live_counts_its_runs"'
done
run "$BPFBENCH" live --seconds 1 -- true
complains "live: of a command that loads nothing" 4 "'true', which ended with exit code 0, loaded no BPF program"
run "$BPFBENCH" live --seconds 1 --format table -- "$O/tests/tools/load_all" "$O/tests/bpf/tailcall.bpf.o"
expect_grep "live: those that do not run are named in one line" out '[0-9]+ programs did not run: .*\(--all lists them\)$'
run "$BPFBENCH" live --seconds 1 --format table --all -- "$O/tests/tools/load_all" "$O/tests/bpf/tailcall.bpf.o"
expect_no_grep "live: --all: each has a row" out 'did not run'

# --- `live` against a stored run of it, which is edited so that the difference is known ---
look() { run "$BPFBENCH" live --results "$results" --seconds "$seconds" "$@" -- "$O/tests/tools/live_prog" "$object" 302; }
rm -rf "$results"
seconds=2
look --compare before
complains "live: a look: nothing to compare with" 1 'before'
look --save before
expect_status "live: a look is stored" 0
expect_grep "live: a look: its name is said" err "baseline 'before' is .*; to compare with it: bpfbench live --compare before"
stored=$(compgen -G "$results/2*.json")
cp "$stored" "$TMP/look"
expect_eq "live: a look: as many series as slices" "$(grep -c '^ *{"load": ' "$stored")" 20
check "live: a look: the process that has the program open" grep -q '"object": "live_prog"' "$stored"
# change SED...: edits the stored run, and compares a new one with it.
change() {
	sed -E "$@" "$TMP/look" >"$stored"
	look --compare before --fail-on regressed
}
change -e 's/("run_time_ns": [0-9]+),/\10,/'
expect_status "live: a look after one with ten times the time: exit code 0" 0
expect_grep "live: a look after one with ten times the time: improved" out '^live/live_counts_its_runs/watch .* improved'
change -e 's/("run_cnt": [0-9]+),/\10,/'
expect_status "live: a look after one with a tenth of the time: exit code 3" 3
expect_grep "live: a look after one with a tenth of the time: regressed" out '^live/live_counts_its_runs/watch .* regressed'
seconds=1	# whatever the verdict
change -e 's/live_counts_its_runs/formerly/g'
expect_grep "live: a look: a program of another name is found by its tag" out '^live/formerly/watch .* (same|improved|regressed|inconclusive)'
change -e 's/("tag": ")[0-9a-f]+/\1ff/'
expect_grep "live: a look: a program with another tag is found by its name" out '^live/live_counts_its_runs/watch .* (same|improved|regressed|inconclusive)'
expect_eq "live: a look to compare is not stored" "$(compgen -G "$results/2*.json")" "$stored"
rm -rf "$results"
run "$BPFBENCH" live --save before --serve 9999
complains "live: a look contradicts --serve" 2 'they contradict --serve'
run "$BPFBENCH" live --threshold 5
complains "live: --threshold without --compare" 2 'are for --compare'

# keys: types each key when the screen is there that it is for.
keys() {
	wait_until 10 grep -q live_counts_its_runs "$TMP/out" || true
	printf n
	wait_until 10 grep -q 'by name (' "$TMP/out" || true
	printf q
}
if need_command script "live: the screen"; then
	: >"$TMP/out"
	keys |
		script -qec "stty rows 12 cols 100; $BPFBENCH live --seconds 0.5; echo code=\$?; stty -a" /dev/null >"$TMP/out" 2>&1
	expect_grep "live: the screen has the program" out 'live_counts_its_runs'
	expect_grep "live: n sorts by name" out 'by name \('
	expect_grep "live: q ends it" out 'code=0'
	expect_grep "live: the terminal is as before" out '[^-]icanon'
	expect_grep "live: and so is what it showed" out $'\033\\[\\?1049l'
	: >"$TMP/out"
	printf '#!/bin/sh\necho noise\necho noise >&2\nexec %s\n' "$O/tests/tools/live_prog $object 301" >"$TMP/noisy"
	chmod +x "$TMP/noisy"
	keys |
		script -qec "stty rows 12 cols 100; $BPFBENCH live --seconds 0.5 -- $TMP/noisy; echo code=\$?" /dev/null >"$TMP/out" 2>&1
	expect_grep "live: of a command: the screen has its program" out 'live_counts_its_runs'
	expect_no_grep "live: of a command: it does not write on the screen" out 'noise'
	expect_grep "live: of a command: q ends the screen" out 'code=0'
	check "live: of a command: q ends the command" wait_until 2 none_runs
fi
for name in "${!owner[@]}"; do disown_it "$name"; done
nothing_left "at the end" 0
plan_done
