#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole tool end to end, without root, BPF or noise: scenarios with the `fake` drive. Its samples are scripted in `globals`; see
# drivers/fake.c. BB_UPDATE_GOLDEN=1 rewrites the golden files.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

golden=$ROOT/harness/tests/golden
results=$WORK/results

# scenario NAME VARIANT...: writes $WORK/NAME.yml with these variants under the fake drive; the first is the floor.
scenario() {
	local name=$1 file=$WORK/$1.yml variant floor

	shift
	floor=${1#'{name: '}
	floor=${floor%%[,\}]*}
	{
		printf 'name: %s\nfloor: %s\nvariants:\n' "$name" "$floor"
		for variant in "$@"; do printf '  - %s\n' "$variant"; done
		printf 'drive:\n  - {with: fake}\n'
	} >"$file"
}

# fake NAME OPTION...: runs that scenario without root and stores the run in $results.
fake() {
	local name=$1

	shift
	run "${user[@]}" "$BPFBENCH" run --scenario "$WORK/$name.yml" --results "$results" "$@"
}

show() { run "${user[@]}" "$BPFBENCH" show --results "$results" "$@"; }

empty='{name: empty, globals: {location_ns: 30, spread_ns: 2}}'
scenario quiet "$empty" '{name: plain, globals: {location_ns: 1000}}'
scenario noisy "$empty" '{name: plain, globals: {location_ns: 1000}}' \
	'{name: tail, globals: {location_ns: 1000, tail_permille: 30, tail_ns: 200000}}' \
	'{name: layout, globals: {location_ns: 1000, layout_permille: 200}}'

# --- stdout, stderr and the stored run ---
fake noisy --seed 7 -n 2400
cp "$TMP/out" "$TMP/first.bmf"
cp "$TMP/err" "$TMP/first.err"
expect_status "run: succeeds" 0
check "run: stdout is strictly valid BMF and nothing else" valid_bmf "$TMP/out"
expect_eq "run: every variant is in the BMF" "$(grep -oE '^  "[^"]+"' "$TMP/out" | tr -d ' "' | tr '\n' ' ')" \
	"noisy/empty/fake noisy/plain/fake noisy/tail/fake noisy/layout/fake "
expect_no_grep "run: no progress bar where stderr is no terminal" err $'[\r\e]'
expect_grep "run: the table is on stderr" err '^ *tail +970 +[+]-1 +1000 '
expect_grep "run: stderr says where the run is stored" err "^bpfbench: run stored as $results/[0-9TZ]+-noisy-[0-9a-f]+\.json\$"
check "run: it is stored, whole" only_whole "$results" 1

fake noisy --seed 7 -n 2400
check "seed: the same one gives the same BMF, byte for byte" cmp "$TMP/out" "$TMP/first.bmf"
fake noisy --seed 8 -n 2400
check "seed: another one gives another" differ "$TMP/out" "$TMP/first.bmf"
fake noisy -n 2400 --quiet
expect_empty "quiet: nothing on stderr" err
cp "$TMP/out" "$TMP/unseeded.bmf"
fake noisy -n 2400 --quiet
check "seed: without the option every run has its own" differ "$TMP/out" "$TMP/unseeded.bmf"

# --- golden files, of a fixed seed; mask() replaces all that depends on time and machine ---
mask() {
	sed -E -e 's/^run [0-9TZ]+-noisy-[0-9a-f]+/run ID/' -e 's/started [0-9TZ:-]+/started TIME/' \
		-e 's/took [0-9.]+ s/took S s/' -e 's/, steal [0-9]+ %//' -e 's/^kernel .*/kernel KERNEL, CPU, S s/' -e 's/--results [^ `]+/--results DIR/g'
}
fake noisy --seed 7 -n 2400 --format table
mask <"$TMP/out" >"$TMP/table"
if [[ -n ${BB_UPDATE_GOLDEN:-} ]]; then
	cp "$TMP/first.bmf" "$golden/fake.bmf.json"
	cp "$TMP/table" "$golden/fake.table.txt"
fi
check "golden: BMF is $golden/fake.bmf.json" diff -u "$golden/fake.bmf.json" "$TMP/first.bmf"
check "golden: the table is $golden/fake.table.txt" diff -u "$golden/fake.table.txt" "$TMP/table"
check "golden: stderr had the same table" diff -u "$golden/fake.table.txt" \
	<(grep -v '^bpfbench: run stored as' "$TMP/first.err" | mask)

# --- figures ---
check "numbers: the location is the scripted one" near "$(bmf "$TMP/first.bmf" noisy/plain/fake latency)" 1000 5
check "numbers: so it is under a tail of preemptions" near "$(bmf "$TMP/first.bmf" noisy/tail/fake latency)" 1000 5
check "numbers: net is less the floor" near "$(bmf "$TMP/first.bmf" noisy/tail/fake latency-net)" 970 5
# 3 % of the runs take 100 us more on average, so the naive mean is about 4000 ns.
naive=$("$BPFBENCH" show --results "$results" --details | awk '/^Details/ { details = 1 } details && $1 == "tail" { print $NF; exit }')
check "numbers: the naive mean beside it is pulled up by the tail" more "$naive" 2000
check "numbers: the tail is seen in p99" more "$(bmf "$TMP/first.bmf" noisy/tail/fake latency-p99)" 20000
width() {
	awk -v lo="$(bmf "$TMP/first.bmf" "$1" latency lower_value)" -v hi="$(bmf "$TMP/first.bmf" "$1" latency upper_value)" \
		'BEGIN { print hi - lo }'
}
check "numbers: the layout effect widens the interval over loads" more "$(width noisy/layout/fake)" 50
check "numbers: without one it is narrow" more 20 "$(width noisy/plain/fake)"
expect_eq "numbers: the floor has no net" "$(bmf "$TMP/first.bmf" noisy/empty/fake latency-net)" ""

# --- formats, files ---
fake quiet --seed 3 -n 600 --format table
expect_grep "format: table on stdout" out '^quiet, fake \(ns per run\)$'
expect_no_grep "format: table is then not on stderr too" err '^quiet, fake'
fake quiet --seed 3 -n 600 --format json
cp "$TMP/out" "$TMP/run.json"
chmod 644 "$TMP/run.json"
fake quiet --seed 3 -n 600 --format bmf
cp "$TMP/out" "$TMP/run.bmf"
run "${user[@]}" "$BPFBENCH" show "$TMP/run.json" --format bmf
check "format: json is a run that show reads, with the same numbers" cmp "$TMP/out" "$TMP/run.bmf"
run "${user[@]}" "$BPFBENCH" --scenario "$WORK/quiet.yml" --results "$results" --seed 3 -n 600
check "run is the default command, and BMF the default format" cmp "$TMP/out" "$TMP/run.bmf"

fake quiet --seed 3 -n 600 --output "$WORK/out.bmf"
expect_status "output: succeeds" 0
expect_empty "output: stdout stays empty" out
check "output: the file is what stdout would have been" cmp "$WORK/out.bmf" "$TMP/run.bmf"
fake quiet --seed 3 -n 600 --output "$WORK/out.bmf" --format table
check "output: an older file is replaced" grep -q '^quiet, fake' "$WORK/out.bmf"
expect_eq "output: no temporary file is left beside it" "$(find "$WORK" -name '*out.bmf*' | wc -l)" 1

rm -rf "$results"
fake noisy --dry-run -n 2400 --loads 5
expect_status "dry-run: succeeds" 0
expect_grep "dry-run: says how much" out '^noisy: 4 cases, 5 loads each$'
expect_grep "dry-run: prints the cases" out 'noisy/tail/fake +2400 samples'
check "dry-run: nothing is written" test ! -e "$results"
fake quiet --no-store -n 600
expect_status "no-store: succeeds" 0
check "no-store: nothing is written" test ! -e "$results"
run "${user[@]}" env -C "$WORK" "$BPFBENCH" --scenario ./quiet.yml -n 600 --quiet
check "results: the default is results/ of the current folder" only_whole "$WORK/results" 1
rm -rf "$results"

fake noisy -n 600 --variant tail
expect_eq "variant: that one and the floor" "$(grep -oE '^  "[^"]+"' "$TMP/out" | tr -d ' "' | tr '\n' ' ')" \
	"noisy/empty/fake noisy/tail/fake "
run "${user[@]}" "$BPFBENCH" -s "$WORK/quiet.yml" -s "$WORK/noisy.yml" --results "$results" -n 600
expect_eq "scenario: several in one BMF" "$(grep -cE '^  "(quiet|noisy)/' "$TMP/out")" 6
check "scenario: several in one stored run" only_whole "$results" 2
rm -rf "$results"

# --- several jobs at once ---
jobs_at_once() {
	local -a pids=()
	local i pid

	for i in 1 2 3 4 5 6; do
		"${user[@]}" "$BPFBENCH" -s "$WORK/quiet.yml" --results "$results" -n 600 >/dev/null 2>&1 &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid" || return 1; done
}
check "at once: six jobs store into one folder" jobs_at_once
check "at once: each run is there, whole, and nothing else" only_whole "$results" 6
rm -rf "$results"

# No machine does 12 rounds of eight million samples in 0.5 s. One that does not even finish the first round in 0.5 s does not do all 12
# in 3 s, so the second budget is still too small for a whole run.
for budget in 0.5 3; do
	fake quiet -n 100000000 --budget "$budget"
	((status)) || break
done
expect_status "budget: what was measured by then is a result" 0
expect_grep "budget: what was left out is said by name" err "skipped: [0-9]+ of 12 loads did not fit the budget of ${budget/./\\.} s"
check "budget: the BMF is valid" valid_bmf "$TMP/out"

# --- the progress bar, on a terminal ---
scenario slow "$empty" '{name: plain}'
if need_command script "bar: drawn on a terminal" "bar: says how much is left" "bar: not with --quiet"; then
	# With --loads 4 a round takes about a second, in which the bar is drawn ten times.
	on_terminal() {
		run script -qec "${user[*]} '$BPFBENCH' run -s '$WORK/slow.yml' --no-store -n 8000000 --budget 0 $* >'$TMP/bar.bmf'" \
			/dev/null
	}
	on_terminal
	expect_grep "bar: drawn on a terminal" out $'\r\\[[#-]+\\] +[0-9]+ %.*slow/(plain|empty)/fake'
	expect_grep "bar: says how much is left" out '[0-9]+ s left'
	check "bar: BMF stays clean" valid_bmf "$TMP/bar.bmf"
	on_terminal --quiet
	expect_no_grep "bar: not with --quiet" out '[[#]'
fi

# --- stored runs ---
rm -rf "$results"
fake noisy --seed 7 -n 2400
id=$(basename "$(echo "$results"/*.json)" .json)
show latest --format bmf
check "show latest: the BMF that the run printed" cmp "$TMP/out" "$TMP/first.bmf"
show "$id" --format bmf
check "show ID: likewise" cmp "$TMP/out" "$TMP/first.bmf"
show "$id"
check "show: a table by default, the one of the run" diff -u "$golden/fake.table.txt" <(sed '/^run /,$d' "$TMP/out" | mask)
expect_grep "show: says which run it is" out "^run $id, started 20"
fake quiet --seed 7 -n 600
show "${id%??}" --format bmf
check "show: a beginning that fits one run" cmp "$TMP/out" "$TMP/first.bmf"
show 2
complains "show: a beginning that fits two is refused" 1 "fits 2 runs in $results"
show "${id%?}x"
complains "show: an unknown run: the nearest is named" 1 "did you mean '$id'"
show latest --format bmf --output "$WORK/shown.bmf"
check "show --output: a file" valid_bmf "$WORK/shown.bmf"
run "${user[@]}" "$BPFBENCH" list --runs --results "$results"
expect_grep "list --runs: the id" out "^$id\$"
head -c 1000 "$results/$id.json" >"$TMP/cut.json"
chmod 644 "$TMP/cut.json"
run "${user[@]}" "$BPFBENCH" show "$TMP/cut.json"
complains "show: a truncated file is refused with its place" 1 'cut\.json:([0-9]+:[0-9]+:|.* line [0-9]+, column [0-9]+)'
run "${user[@]}" "$BPFBENCH" show --results "$WORK/nowhere"
complains "show: no runs yet: says so" 1 'nowhere: no runs are stored there yet'
rm -rf "$results"

# Two runs at the same time: both are stored, under different names.
"${user[@]}" "$BPFBENCH" -s "$WORK/quiet.yml" --results "$results" -n 400000 --quiet >"$TMP/one.bmf" 2>&1 </dev/null &
one=$!
fake quiet -n 400000 --quiet
one_status=0
wait "$one" || one_status=$?
expect_eq "two at a time: both succeed" "$one_status $status" "0 0"
check "two at a time: both are stored, whole" only_whole "$results" 2
rm -rf "$results"

# --- lost events, cases without a sample, signals ---
# One event is lost in each batch from the tenth on. A load is one batch here, so three loads of twelve are void.
scenario lossy '{name: plain, globals: {lose_after: 10}}'
fake lossy -n 1200
expect_status "lost events: some series void: the others count" 0
expect_grep "lost events: they are void by name, with the reason" err \
	'void: lossy/plain/fake: 3 of 12 series \(load 9, 10, 11\): run_cnt is 99, 100 events were fired'
run "$BPFBENCH" show --results "$results" --details
expect_grep "lost events: the details count what is left" out '^ *plain .* 900 +9/12 '
scenario lost "$empty" '{name: plain, globals: {lose_after: 1}}'
fake lost -n 1200
expect_status "all series of a case void: exit code 1" 1
check "all series of a case void: BMF of the others" valid_bmf "$TMP/out"
expect_eq "all series of a case void: the others, and it is not among them" "$(grep -oE '^  "[^"]+"' "$TMP/out" | tr -d ' "')" lost/empty/fake
expect_grep "all series of a case void: which and why" err \
	'^bpfbench: lost/plain/fake: no valid sample \(run_cnt is 99, 100 events were fired\): it is left out'
expect_grep "all series of a case void: never 0.0" err '^ *plain .*void'
fake lost -n 1200 --output "$WORK/lost.bmf" --quiet
complains "all series of a case void: --quiet still says why" 1 '^bpfbench: lost/plain/fake: no valid sample'
check "all series of a case void: --output has the others" valid_bmf "$WORK/lost.bmf"
# With `refused: skip`, a case without a sample is skipped like a program that the kernel refuses.
sed -i 's/^name: lost$/&\nrefused: skip/' "$WORK/lost.yml"
fake lost -n 1200
expect_status "refused: skip: a case without a sample is no failure" 0
expect_grep "refused: skip: it is skipped by name, with the reason" err 'skipped: lost/plain/fake: run_cnt is 99, 100 events were fired'
check "refused: skip: BMF of the others" valid_bmf "$TMP/out"
expect_grep "refused: skip: which are there" out '"lost/empty/fake"'
rm -f "$WORK/lost.bmf"

scenario silent '{name: plain, globals: {silent: 1}}'
rm -rf "$results"
fake silent -n 1200 --quiet
expect_status "zero runs: exit code 1" 1
expect_empty "zero runs: no BMF, never 0.0" out
# The drive fired events and none was counted. The message is "zero runs counted" only if no event was fired.
expect_grep "zero runs: says so" err '^bpfbench: .*(zero runs|run_cnt is 0, 100 events were fired)'
check "zero runs: the run is stored for inspection" only_whole "$results" 1
show latest --format bmf
complains "zero runs: show refuses BMF too" 1 'no BMF is written'
rm -rf "$results"

scenario dies "$empty" '{name: plain, globals: {fail_after: 6}}'
fake dies -n 1200 --quiet --output "$WORK/dies.bmf"
complains "dies midway: one line, exit code 1" 1 "^bpfbench: fake workload of 'plain' died midway"
check "dies midway: what was measured is stored" only_whole "$results" 1
check "dies midway: --output makes no file" test ! -e "$WORK/dies.bmf"
show latest
expect_grep "dies midway: show marks it" out "^INCOMPLETE: fake workload of 'plain' died midway"
show latest --format bmf
complains "dies midway: show refuses BMF" 1 'run is incomplete \(fake workload .*no BMF is written'
rm -rf "$results"

# interrupted SIGNAL: a run gets the signal midway.
interrupted() {
	start "${user[@]}" "$BPFBENCH" -s "$WORK/slow.yml" --results "$results" -n 100000000 --budget 0 --verbose
	check "SIG$1: before it, a case is measured" wait_until 20 grep -q 'measuring ' "$TMP/err"
	wait_until 20 used $(($(ticks) + $(getconf CLK_TCK) / 3)) || true # samples by then
	stop_child "$1"
	expect_status "SIG$1: exit code 1, not killed" 1
	expect_empty "SIG$1: no BMF" out
	expect_grep "SIG$1: says so" err "^bpfbench: stopped by signal $(kill -l "$1") "
	expect_grep "SIG$1: says where the rest is" err '^bpfbench: incomplete run stored as '
	check "SIG$1: what was measured is stored, whole" only_whole "$results" 1
	show latest
	expect_grep "SIG$1: show marks it" out "^INCOMPLETE: stopped by signal $(kill -l "$1") "
	expect_grep "SIG$1: show has its samples" out '^ *plain +net [1-9]'
	show latest --format bmf
	complains "SIG$1: show refuses BMF" 1 'run is incomplete \(stopped by signal .*no BMF is written'
	rm -rf "$results"
}
interrupted INT
interrupted TERM

# nohup: if the caller ignores SIGHUP, the signal must not stop a run: it still uses CPU time afterwards.
start "${user[@]}" bash -c 'trap "" HUP; exec "$@"' _ "$BPFBENCH" -s "$WORK/slow.yml" --no-store -n 100000000 --budget 0
wait_until 20 used $(($(getconf CLK_TCK) / 5)) || true
kill -HUP "$child" || true
check "nohup: an ignored SIGHUP stays ignored" wait_until 20 used $(($(ticks) + $(getconf CLK_TCK) / 5))
stop_child TERM
expect_grep "nohup: and SIGTERM is none" err '^bpfbench: stopped by signal 15 '

# SIGKILL leaves no half-written file.
start "${user[@]}" "$BPFBENCH" -s "$WORK/slow.yml" --results "$results" -n 100000000 --budget 0 --verbose
wait_until 5 grep -q 'cases on CPU' "$TMP/err" || true
stop_child KILL
check "SIGKILL: nothing is half written" only_whole "$results" 0

# shellcheck disable=SC2016 # the inner shell's
run "${user[@]}" bash -c 'exec 3> >(exec true); wait $!; exec "$@" >&3 3>&-' _ \
	"$BPFBENCH" -s "$WORK/quiet.yml" --no-store -n 600 --quiet
complains "a reader that went away is an error, not a signal" 1 'Broken pipe'

# On a terminal the result is a table and not JSON, unless --format or -o is given.
terminal_run() { run script -qec "${user[*]} '$BPFBENCH' run -s '$WORK/quiet.yml' --no-store -n 200 $*" /dev/null; }
if need_command script "terminal: succeeds" "terminal: a table" "terminal: no JSON" "terminal: --format bmf" "terminal: a file has BMF"; then
	terminal_run
	expect_status "terminal: succeeds" 0
	expect_grep "terminal: a table" out '^  plain +net [0-9]'
	expect_no_grep "terminal: no JSON" out '^[{]|"latency"'
	terminal_run --format bmf
	expect_grep "terminal: --format bmf" out '^ +"latency"'
	terminal_run -o "$WORK/terminal.json"
	check "terminal: a file has BMF" grep -q '"latency"' "$WORK/terminal.json"
fi

plan_done
