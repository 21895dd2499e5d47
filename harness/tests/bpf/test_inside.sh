#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bpfbench inside`: clones in place of a command's programs, with known paths and tail calls; loads
# that it leaves alone; the command goes on when bpfbench is killed. As root.
# slow: bpfbench is killed 50 times while a command loads programs
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("known paths" "stored" "kept" "formats" "tail calls" "packets" "contexts" "nested" "sampling" "instruments" "deep stack" "full stack" "loaded again" "reloads" "stays" "saved meanwhile" "indexed" "left alone" "killed" "complaints")
need_root "${names[@]}" || plan_done
objects=$O/tests/bpf live=$O/tests/tools/live_prog

# inside NAME [OPTION...]: a clone of the first program of inside_NAME.bpf.o runs for a second; JSON
# to $TMP/out. If the signal breaks off a test run, the runs are not known: then once more.
inside() {
	local name=$1 try

	shift
	for try in 1 2 3 4 5; do
		rm -rf "$WORK/results"
		run "$BPFBENCH" inside --format json --results "$WORK/results" "$@" -- timeout -s INT 1 "$live" "$objects/inside_$name.bpf.o" 2000 "" 50
		ran=$(sed -nE 's/^ran ([0-9]+), counted ([0-9]+)$/\1 \2/p' "$TMP/err")
		[[ -z $ran ]] || return 0
	done
}

# of PROGRAM FILTER: what jq's FILTER gives for the program of that name that ran.
of() { jq -r ".programs[] | select(.name == \"$1\" and .runs > 0) | $2" "$TMP/out"; }
is() { jq -e "$@" "$TMP/out"; }
true_of() { of "$1" "$2" | grep -qx true; }

need_command jq "${names[@]}" || plan_done

inside paths --time-at-most 1e9
expect_status "known paths: succeeds" 0
expect_eq "known paths: its owner sees all of its runs" "${ran% *}" "${ran#* }"
expect_eq "known paths: all of them were counted" "$(of inside_paths .runs)" "${ran% *}"
expect_eq "known paths: all of them were timed" "$(of inside_paths .timed)" "${ran% *}"
expect_eq "known paths: two" "$(of inside_paths '.paths | length')" 2
expect_eq "known paths: each 50th run takes the rare one" "$(of inside_paths '.paths[1].runs')" $((${ran% *} / 50))
expect_eq "known paths: what they return" "$(of inside_paths '[.paths[] | .retval, .varies] | join(" ")')" "2 false 1 false"
check "known paths: the rare one takes longer" true_of inside_paths '.paths[1].p50 > 5 * .paths[0].p50'
check "known paths: the whole's p99 is on the rare one" true_of inside_paths '.p99 > 5 * .p50'
check "known paths: percentiles rise" true_of inside_paths '.p50 <= .p90 and .p90 <= .p99 and .p99 <= (.p99_9 // .worst) and (.p99_9 // .p99) <= .worst'

# --- stored ---
rare=$(of inside_paths '.paths[1].path') mean=$(of inside_paths .mean) p99=$(of inside_paths .p99) worst=$(of inside_paths .worst)
first=$(find "$WORK/results" -name '*.json')
run "$BPFBENCH" show --format json "$first"
expect_eq "stored: a case for the program and for each of its paths" "$(jq '.cases | length' "$TMP/out")" 3
# figure CASE METRIC: of the stored run.
figure() { jq -r ".cases[] | select(.name | endswith(\"$1/inside\")) | .summary.$2.value" "$TMP/out"; }
expect_eq "stored: the share of the rare path" "$(figure ".$rare" path_share)" 0.02
# near A B: within 3 % and 1 ns. The stored figures may be off by half a bucket of the histogram.
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(d * d <= (1 + 3 * b / 100) ^ 2) }'; }
check "stored: the mean" near "$(figure /inside_paths latency)" "$mean"
check "stored: the p99" near "$(figure /inside_paths p99)" "$p99"
check "stored: the longest run" near "$(figure /inside_paths worst)" "$worst"
tree=$(<"${first%.json}.folded")
expect_eq "stored: the tree has all runs" "$(awk '{ n += $NF } END { print n }' <<<"$tree")" "${ran% *}"
expect_eq "stored: the tree's side of the rare path" "$(sed -n 's/^inside_paths;inside_paths\.bpf\.c:20 .* //p' <<<"$tree")" $((${ran% *} / 50))
run "$BPFBENCH" report -o - "$first"
expect_eq "stored: the page draws the tree" "$(grep -A 1 'title>inside_paths\.bpf\.c:20 ' "$TMP/out" | sed -n 's/.* runs, \(.*\)<.title>.*/\1/p')" "2.00 %"
run "$BPFBENCH" show "$first"
expect_grep "stored: shown as a run" out "inside_paths\.$rare .* 2\.0 "
run "$BPFBENCH" compare "$first" "$first"
expect_status "stored: compared" 0
expect_grep "stored: shares are compared" out "inside_paths\.$rare/inside +runs, % +2\.00 +2\.00"
expect_grep "stored: nothing is judged" out '^no verdict: '

# With files of at most 1 KiB, the tree can be written, but not the run.
run bash -c 'ulimit -f 1; exec "$@" >/dev/null' - "$BPFBENCH" inside --format json --results "$WORK/small" -- \
	timeout -s INT 3 "$live" "$objects/inside_paths.bpf.o" 2000 "" 50
expect_status "stored: a run that cannot be written: fails" 1
expect_grep "stored: a run that cannot be written: says why" err 'json: File too large; nothing was stored'
expect_eq "stored: a run that cannot be written: no tree is left either" "$(find "$WORK/small" -type f)" ""

# --- kept ---
inside tailcall -o "$WORK/kept.capture"
expect_status "kept: programs and maps in a file" 0
run tar -xOf "$WORK/kept.capture" bpfbench-capture.json
check "kept: the programs as the command loads them" is '[.programs[] | select(.probe == null) | .name] | sort == ["inside_first", "inside_second", "inside_third"]'
check "kept: the clones in the array stand for them" is '[.maps[] | select(.type == 3)][0] | .entries > 0 and .left_out == null'
run "$BPFBENCH" --object "$WORK/kept.capture" --dry-run
expect_grep "kept: it goes wherever an object goes" out 'inside_first/step.* program inside_first'

run "$BPFBENCH" inside --no-store --for 1 -- "$live" "$objects/inside_paths.bpf.o" 300 "" 100
expect_status "formats: a table, and the time is over" 0
expect_grep "formats: the program" out '^inside_paths +xdp +[0-9]'
expect_grep "formats: its paths" out '^inside_paths: 2 paths'
expect_grep "formats: the lines that tell its paths apart" out '^  path [0-9a-f]*, compared with'
expect_grep "formats: and where they are" out '^ +[+-] inside_paths\.bpf\.c:[0-9]+ '
expect_grep "formats: what the clones cost" out '^price: the instrumented copies took'
expect_grep "formats: what to do next, as a whole command" out '^next: `sudo bpfbench inside -o live_prog.capture --no-store --for 1'
COLUMNS=56 run "$BPFBENCH" inside --no-store --for 1 -- "$live" "$objects/inside_paths.bpf.o" 300 "" 100
expect_eq "formats: a narrow table leaves columns out" "$(awk 'length > 56 && /[^ ]  /' "$TMP/out")" ""
expect_grep "formats: a narrow table has mean and p99" out ' mean +p50 +p99 +worst'
run "$BPFBENCH" inside --results "$WORK/named" --for 1 -- "$live" "$objects/live.bpf.o" 5000
expect_grep "formats: 200 runs have no p99" out ' p50 +p90 +worst'
expect_grep "formats: a name of more than 15 bytes is whole" out '^live_counts_its_runs'
run "$BPFBENCH" show "$WORK"/named/*.json
expect_grep "formats: and so it is in the stored run" out '^ *live_counts_its_runs'
run "$BPFBENCH" inside --no-store --for 1 --pid-file "$WORK/pid" -- sh -c 'echo "pid $$" >&2; exec "$@"' sh "$live" "$objects/live.bpf.o" 200
expect_grep "pid file: has the command's process id" err "^pid $(cat "$WORK/pid")\$"
inside tailcall --time-at-most 1e9
expect_eq "tail calls: the first one's runs" "$(of inside_first .runs)" "${ran% *}"
expect_eq "tail calls: of ten runs one calls in vain, and goes on" "$(of inside_first '[.paths[] | .runs] | add')" "${ran% *}"
expect_eq "tail calls: those that end in a call" "$(of inside_first '[.paths[] | select(.tail_call) | .runs] | add')" \
	"$((${ran% *} - ${ran% *} / 10))"
expect_eq "tail calls: what the others return" "$(of inside_first '[.paths[] | select(.tail_call | not) | .retval] | join(" ")')" 3
expect_eq "tail calls: the callee's runs" "$(of inside_second .runs)" "$((${ran% *} - ${ran% *} / 10))"
check "tail calls: own times" true_of inside_third '.p50 > 0'
expect_eq "tail calls: the chain that they make" "$(jq -r '.chains[] | [.programs, .runs, .timed] | join(" ")' "$TMP/out")" \
	"inside_first > inside_second > inside_third $(of inside_third .runs) $(of inside_third .runs)"
check "tail calls: its time is that of its programs" is '[.programs[] | select(.runs > 0) | if .name == "inside_first" then .paths[] | select(.tail_call) else . end
	| .mean] | add as $sum | $chain / $sum - 1 | fabs < 0.01' --argjson chain "$(jq '.chains[0].mean' "$TMP/out")"
first=$(of inside_first .p50) third=$(of inside_third .p50)
check "tail calls: a callee's time is not the caller's" awk -v a="$first" -v b="$third" 'BEGIN { exit !(a * 4 < b) }'

# --- packets ---
# Real traffic: multicast from one end of a veth pair arrives at the XDP program of the other. Each
# tenth packet goes to port 53, which takes the slow path.
cat >"$WORK/send.sh" <<'SH'
set -e
ip link set dev v0 xdp object "$1" section xdp
for i in {1..2000}; do port=9; ((i % 10)) || port=53; echo x >"/dev/udp/224.0.0.9/$port"; done
SH
cat >"$WORK/veth.sh" <<'SH'
set -e
ip link add v0 type veth peer name v1
ip link set v0 up
ip link set v1 up
ip addr add 10.9.8.1/24 dev v1
ip route add 224.0.0.0/4 dev v1
"$@"
SH
# traffic [OPTION...]
traffic() {
	run unshare -n bash "$WORK/veth.sh" "$BPFBENCH" inside --no-store --format json -o "$WORK/packets.capture" "$@" -- \
		bash "$WORK/send.sh" "$objects/inside_packets.bpf.o"
}
packets=("packets: the paths' shares" "packets: each path has its own" "packets: two of a path, each for half of its runs" \
	"packets: the bench takes the paths of production" "packets: the mean that their shares make" "packets: cut at --snap, and as long as they were" \
	"packets: left out" "packets: a path that ends early is no mistake")
traffic
if ((status == 0)) && [[ $(of inside_packets '.paths | length') -ge 2 ]]; then
	expect_eq "${packets[0]}" "$(of inside_packets '[.paths[] | .runs] | .[0:2] | join(" ")')" "1800 200"
	share=$(of inside_packets '.paths[1].runs / ([.paths[].runs] | add)')
	slow=$(of inside_packets '.paths[1].path') fast=$(of inside_packets '.paths[0].path')
	run "$BPFBENCH" init --object "$WORK/packets.capture"
	ports_of() { sed -nE "s/^ *- \{name: path-$1(-2)?, weight: .* hex: \"[0-9a-f]{72}([0-9a-f]{4}).*/\2/p" "$TMP/out" | sort -u; }
	expect_eq "${packets[1]}" "$(ports_of "$fast") $(ports_of "$slow")" "0009 0035"
	expect_eq "${packets[2]}" "$(sed -nE "s/^ *- \\{name: path-$slow(-2)?, weight: ([0-9.e-]+),.*/\\2/p" "$TMP/out" | sort -u)" \
		"$(awk -v n="$(grep -cE "name: path-$slow(-2)?, " "$TMP/out")" -v share="$share" 'BEGIN { printf "%.9g", share / (n / 2) }')"
	run "$BPFBENCH" --object "$WORK/packets.capture" --drive step --loads 4 --quiet --no-store --format json
	cp "$TMP/out" "$WORK/packets.json"
	check "${packets[3]}" jq -e --arg fast "path-$fast" --arg slow "path-$slow" '[.cases[] | select(.name | contains("/inside_packets/"))]
		| map({key: (.name | split("=")[1]), value: .summary.net.value}) | from_entries | .[$slow] > 3 * .[$fast]' "$TMP/out"
	run "$BPFBENCH" show "$WORK/packets.json" --format table
	weighted=$(sed -nE 's/.*inside_packets, step, inputs weighted: net ([0-9.]+) ns.*/\1/p' "$TMP/out")
	check "${packets[4]}" jq -e --arg said "${weighted:-0}" '[.cases[] | select(.name | contains("/inside_packets/"))]
		| (map(.path_share * .summary.net.value) | add) as $mean | ($said | tonumber) / $mean - 1 | fabs < 0.005' "$WORK/packets.json"
	jq '(.cases[] | select(.path_share != null)) += {turned_away_file: "a.c", turned_away_line: 7, turned_away_insns: 3, insns: 9, executed_insns: 6}' "$WORK/packets.json" >"$WORK/early.json"
	run "$BPFBENCH" show "$WORK/early.json" --format table
	expect_no_grep "${packets[7]}" out 'early return'
	traffic --snap 40
	run "$BPFBENCH" init --object "$WORK/packets.capture"
	expect_grep "${packets[5]}" out "path-$slow.* hex: \"[0-9a-f]{80}0{8}\""
	traffic --no-packets
	run "$BPFBENCH" init --object "$WORK/packets.capture"
	expect_no_grep "${packets[6]}" out 'weight:'
else
	skip_each "no XDP program on a veth pair here: $(tail -n 1 "$TMP/err")" \
		"${packets[@]}" || true
fi

# --- contexts of tracers ---
run "$BPFBENCH" inside --no-store --format json --for 2 -o "$WORK/tracers.capture" -- "$O/tests/tools/load_all" "$objects/inside_context.bpf.o"
expect_status "contexts: succeeds" 0
# the two paths, told apart by the time that they take
slow=$(of failed_calls '.paths | max_by(.mean) | .path') fast=$(of failed_calls '.paths | min_by(.mean) | .path')
run "$BPFBENCH" init --object "$WORK/tracers.capture"
# the sign of the second word, which is the only one that the program reads
signs_of() { sed -nE "s/^ *- \{name: path-$1(-2)?, weight: .* context_hex: \"0{16}[0-9a-f]{14}(..)\".*/\2/p" "$TMP/out" | sort -u; }
expect_eq "contexts: each path has its own" "$(signs_of "$fast") $(signs_of "$slow")" "00 ff"
expect_eq "contexts: only of the program whose code shows what it reads, and that reads no address" \
	"$(grep -c context_hex "$TMP/out")" "$(sed -n '/variants: \[failed_calls\]/,/with:/p' "$TMP/out" | grep -c context_hex)"
for objects_of in "base head" "head base"; do
	read -r one other <<<"$objects_of"
	run_undisturbed "$BPFBENCH" compare "--$one-object" "$WORK/tracers.capture" "--$other-object" "$objects/inside_context.bpf.o" --program failed_calls \
		--drive step --loads 4 --no-store
	expect_grep "contexts: compare takes those of $one for both" out "^failed_calls/step/input=path-$slow( |$)"
done

# --- a timer interrupts a program, and the timer's program runs in the midst of it ---
run "$BPFBENCH" inside --no-store --format json --time-at-most 1e9 -- "$O/tests/tools/nested_runs" "$objects/inside_nested.bpf.o" "${NESTED_SECONDS:-2}"
counted() { sed -nE "s/.*\\b$1 ([0-9]+).*/\1/p" "$TMP/err"; }
expect_eq "nested: each run is on its path: $(grep '^fast' "$TMP/err")" "$(of interrupted '[.paths[] | .runs] | join(" ")') $(of interrupts '[.paths[] | .runs] | sort | join(" ")')" \
	"$(counted fast) $(counted slow) $(printf '%s\n' "$(counted between)" "$(counted nested)" | sort -n | xargs)"
expect_eq "nested: each run is timed once" "$(of interrupted '.runs - .timed') $(of interrupts '.runs - .timed')" "0 0"
check "nested: there are some" more "$(counted nested)" 1000
check "nested: the time of a path is its own" true_of interrupted '.paths | .[1].p50 > 4 * .[0].p50'

inside paths --time-at-most 100
expect_eq "sampling: all runs are counted" "$(of inside_paths .runs)" "${ran% *}"
check "sampling: few are timed" true_of inside_paths '.timed > 0 and .timed * 2 < .runs'
inside paths --no-time
expect_eq "instruments: without the clock, all runs are counted" "$(of inside_paths '[.runs, .timed] | join(" ")')" "${ran% *} 0"
expect_eq "instruments: without the clock, paths are told apart" "$(of inside_paths '.paths[1].runs')" $((${ran% *} / 50))
inside paths --no-paths
expect_eq "instruments: without paths" "$(of inside_paths '[.runs, (.paths | length)] | join(" ")')" "${ran% *} 0"
check "instruments: without paths, times" true_of inside_paths '.p50 > 0'
inside deep --time-at-most 1e9
expect_eq "deep stack: all instruments" "$(of inside_deep '[.with_time, .with_paths] | join(" ")')" "true true"
expect_eq "deep stack: all runs are counted and timed" "$(of inside_deep '[.runs, .timed] | join(" ")')" "${ran% *} ${ran% *}"
expect_eq "deep stack: its 64 paths, in turn" "$(of inside_deep '[.paths[] | .runs] | [length, max - min <= 1] | join(" ")')" "64 true"
inside full
expect_eq "full stack: runs, and nothing else" "$(of inside_full '[.runs, .with_time, .with_paths, (.paths | length)] | join(" ")')" "${ran% *} false false 0"
check "full stack: says why" true_of inside_full '.why | startswith("its stack has no room: ")'
run "$BPFBENCH" show --format json "$(find "$WORK/results" -name '*.json')"
expect_eq "full stack: stored" "$(jq -r '[.cases[] | select(.name | endswith("/inside_full/inside")) | .series[0].run_cnt] | join(" ")' "$TMP/out")" "${ran% *}"

# --- loaded again ---
# Three loads of inside_paths, one after another, and one of another program.
# shellcheck disable=SC2016 # the shell's that runs it
again='for i in 1 2 3; do timeout -s INT 1 "$0" "$1/inside_paths.bpf.o" 2000 "" 50; done; timeout -s INT 1 "$0" "$1/inside_packets.bpf.o" 2000 "" 50'
run "$BPFBENCH" inside --no-store --format json --time-at-most 1e9 -o "$WORK/again.capture" -- sh -c "$again" "$live" "$objects"
expect_eq "loaded again: one program, with the figures of its loads" \
	"$(jq -r '[.programs[] | select(.name == "inside_paths") | .loads, .runs == .timed, (.paths | length)] | join(" ")' "$TMP/out")" "3 true 2"
check "loaded again: runs of all loads" true_of inside_paths '.runs == ([.paths[].runs] | add) and .paths[1].runs * 50 == .runs'
expect_eq "loaded again: all its runs" "$(of inside_paths .runs)" "$(sed -nE 's/^ran ([0-9]+), counted.*/\1/p' "$TMP/err" | head -n 3 | awk '{ n += $1 } END { print n }')"
expect_eq "loaded again: another program is not added" "$(of inside_packets .loads)" 1
# 60 loads, none of which stays loaded: the capture keeps only the newest, and these whole.
# shellcheck disable=SC2016 # the shell's that runs it
run "$BPFBENCH" inside --no-store --format json -o "$WORK/reloads.capture" -- \
	sh -c 'for i in $(seq 60); do "$0" -1 "$1"; done; exec timeout -s INT 1 "$2" "$1" 2000' "$O/tests/tools/load_all" "$objects/inside_tailcall.bpf.o" "$live"
loads=$(jq .loads "$TMP/out")
check "reloads: all are seen" is '[.programs[] | select(.name == "inside_second") | .loads] == [61]'
run tar -xOf "$WORK/reloads.capture" bpfbench-capture.json
check "reloads: the file has few of them" is '(.programs | length) < $loads / 2 and ([.programs[] | select(.name | startswith("inside_second"))] | length) >= 9' --argjson loads "$loads"
check "reloads: no map without its program" is '[.maps[] | select(.kernel_name == "jumps")] | length == ($second | length)' \
	--argjson second "$(jq '[.programs[] | select(.name | startswith("inside_second"))]' "$TMP/out")"
check "reloads: names of maps are unique" is '[.maps[].name] | length == (unique | length)'
run "$BPFBENCH" --object "$WORK/reloads.capture" --dry-run
expect_grep "reloads: what is kept can be measured" out 'inside_first(\.[0-9]+)?/step'

# 80 loads of one program, all of which stay loaded
run "$BPFBENCH" inside --no-store --format json -o "$WORK/stays.capture" -- timeout -s INT 3 "$O/tests/tools/load_all" -t 80 "$objects/inside_paths.bpf.o"
loads=$(jq '[.programs[] | select(.name | startswith("inside_paths")) | .loads] | add' "$TMP/out")
check "stays: all are seen" test "$loads" -ge 80
run tar -xOf "$WORK/stays.capture" bpfbench-capture.json
check "stays: the file has all of them" is '[.programs[] | select(.name | startswith("inside_paths"))] | length >= $loads' --argjson loads "$loads"

# --- saved meanwhile ---
rm -rf "$WORK/results"
setsid "$BPFBENCH" inside --results "$WORK/results" --save-every 0.2 -o "$WORK/meanwhile.capture" -- \
	"$live" "$objects/inside_paths.bpf.o" 2000 "" 50 >/dev/null 2>"$TMP/err" </dev/null &
child=$!
# stored_runs: how many runs of the program are stored; 0: there is no file yet.
stored_runs() { jq '[.cases[] | select(.name | endswith("/inside_paths/inside")) | .series[0].run_cnt] | add // 0' "$WORK"/results/*.json 2>/dev/null || echo 0; }
grows() { (($(stored_runs) > ${1:-0})); }
check "saved meanwhile: the run is stored" wait_until 20 grows
before=$(stored_runs)
check "saved meanwhile: and stored again" wait_until 20 grows "$before"
kill -KILL "$child"
wait "$child" 2>/dev/null || true
child=''
run "$BPFBENCH" show "$WORK"/results/*.json
expect_grep "saved meanwhile: killed, the stored run is whole" out '^ *inside_paths +[0-9]'
run "$BPFBENCH" --object "$WORK/meanwhile.capture" --dry-run
expect_grep "saved meanwhile: and so is the capture" out 'inside_paths/step'

# --- indexed ---
run "$BPFBENCH" inside --no-store --format json -- "$O/tests/tools/small_programs" indexed
expect_grep "indexed: the program writes to the map that its fd_array names" err '^left 42$'
expect_eq "indexed: its runs" "$(of indexed .runs)" 7

# --- left alone ---
run "$BPFBENCH" inside --no-store --format json -- "$O/tests/tools/load_all" "$objects/rejected.bpf.o"
check "left alone: a program that the kernel refuses" is '[.programs[] | select(.name == "rejected" and .id > 0)] | length == 0'
if [[ ${#user[@]} -gt 0 ]]; then
	run "$BPFBENCH" inside --no-store --format json -- "${user[@]}" "$live" "$objects/inside_paths.bpf.o" 300
	check "left alone: a command without rights gets no program" is '[.programs[] | select(.id > 0)] | length == 0'
else
	skip "left alone: a command without rights gets no program" "no other user here"
fi

# --- killed ---
# Loads a program 6 times for 50 ms each, and then once until its id is printed. $2 then says how
# many loads did not fail; $2.id exists when the first has begun. A busy machine may take longer
# than 50 ms to load: timeout ends that one, too (124), and it is no failure. A failure has another
# code.
# shellcheck disable=SC2016 # the shell's that runs it
loads='n=0
for i in 1 2 3 4 5 6; do timeout -s INT 0.05 "$0" "$1" - >"$2.id"; [ $? != 124 ] || n=$((n + 1)); done
timeout 20 "$0" "$1" - >"$2.last" &
for i in $(seq 200); do [ ! -s "$2.last" ] || break; sleep 0.1; done
[ ! -s "$2.last" ] || n=$((n + 1))
kill $!; wait; echo "$n" >"$2"'
kills=${KILLS:-50} failed=''
for ((i = 0; i < kills; i++)); do
	rm -f "$WORK/done" "$WORK/done.id" "$WORK/done.last"
	setsid "$BPFBENCH" inside -- sh -c "$loads" "$live" "$objects/live.bpf.o" "$WORK/done" >/dev/null 2>&1 </dev/null &
	child=$!
	# Four of five are killed while the command loads, the others at any time: even before the command is there.
	((i % 5 == 0)) || wait_until 3 test -e "$WORK/done.id"
	sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
	kill -KILL "$child" 2>/dev/null || true
	wait "$child" 2>/dev/null || true
	child=''
	sleep 0.1
	[[ -e $WORK/done.id ]] || continue
	if ! wait_until 3 test -s "$WORK/done"; then
		failed+=" $i:hangs"
	elif [[ $(<"$WORK/done") != 7 ]]; then
		failed+=" $i:$(<"$WORK/done")"
	fi
done
expect_eq "killed: $kills times, no load failed" "$failed" ''

run "$BPFBENCH" inside
expect_status "complaints: no command" 2
run "$BPFBENCH" inside --save-every 5 -- true
expect_status "complaints: nothing to save" 2
run "$BPFBENCH" inside --snap 64 -- true
expect_status "complaints: packets, and no file for them" 2
run "$BPFBENCH" inside -- true
expect_status "complaints: nothing was loaded" 4
expect_grep "complaints: nothing was loaded, said" err "'true', which ended with exit code 0, loaded no BPF program"
plan_done
