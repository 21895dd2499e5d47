#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Sends signals at random times to all commands; see --help.
case ${1:-} in
'') ;;
-h | --help)
	cat <<-'EOH'
	Usage: SEED=1 COUNT=1000 harness/tests/stress/signals.sh

	Starts a command COUNT times, sends it INT, TERM, HUP or KILL, or closes its stdout, at a random time within its usual
	time, and looks at what it does then: it ends within a run of its slowest program and 0.5 s (beside the time that the
	kernel kept it waiting for a CPU or a disk), no process, program, map, link, folder, mount, cgroup or network namespace is left, and each file
	that it writes is whole or not there. KILL may leave hidden temporary files: they are counted apart. Needs root.

	Environment: SEED, of all that is random (1); COUNT (1000); FIRST, the number of the first try (0): FIRST=N COUNT=1 does
	try N again; ONLY, the names of the commands to try (all); JOBS, how many at once (2); SECONDS_MOST, begin no try after so long; USUAL, a file that keeps the usual times
	from one call to the next; O, the build folder (build).
	Exit codes: 0 nothing found, 1 violations, which are listed, 2 usage.
	EOH
	exit 0
	;;
*) printf 'signals.sh: no argument %s; see --help\n' "$1" >&2; exit 2 ;;
esac
# shellcheck source=harness/tests/stress/stress.sh disable=SC2317 # functions that in_jobs calls
. "$(dirname "$0")/stress.sh"
# shellcheck source=harness/tests/gate_repo.sh
. "$ROOT/harness/tests/gate_repo.sh"
COUNT=${COUNT:-1000}
numbers SEED COUNT FIRST JOBS
ready

# --- inputs of the commands ---
cat >"$TMP/fake.yml" <<'YML'
name: fake
floor: empty
variants:
  - {name: empty, globals: {location_ns: 100, spread_ns: 2}}
  - {name: plain, globals: {location_ns: 1000}}
  - {name: other, globals: {location_ns: 1010}}
drive:
  - {with: fake}
YML
sed "s|OBJECT|$O/tests/bpf/slow.bpf.o|" >"$TMP/slow.yml" <<'YML'
name: slow
object: OBJECT
variants:
  - {name: slow, program: slow_xdp, globals: {turns: 500}}
  - {name: fast, program: fast_xdp}
drive:
  - {with: step, trigger: test-run}
YML
stored=$TMP/stored
for i in 1 2 3; do "$BPFBENCH" run -s "$TMP/fake.yml" --results "$stored" -q -n 600 --seed "$i" >/dev/null; done
"$BPFBENCH" init "$O/bpf/loops.bpf.o" | sed 's/with: step$/with: exact/' >"$TMP/counted.yml"
"$BPFBENCH" run -s "$TMP/counted.yml" -d exact -n 12 --loads 1 --results "$TMP/counted" -q >/dev/null
counted=$(find "$TMP/counted" -name '*.json' | head -n 1)
run_id=$(find "$stored" -name '*.json' | sort | head -n 1)
second_id=$(find "$stored" -name '*.json' | sort | tail -n 1)
printf '%s' '{"dhatFileVersion":2,"mode":"heap","verb":"Allocated","bklt":true,"bkacc":true,"tu":"instrs","Mtu":"Minstr",' \
	'"tuth":500,"cmd":"x","pid":1,"te":1,"tg":1,"pps":[],"ftbl":["[root]"]}' >"$TMP/dhat.json"
make_repo "$TMP/repo" 4
(cd "$TMP/repo" && git commit -q --allow-empty -m 'another' && set_steps 8)
tests=$O/tests/bpf loader=$O/tests/tools/load_all
"$BPFBENCH" run --object "$O/bpf/loops.bpf.o" --program straight --lines -n 600 --budget 5 --results "$TMP/lined" -q >/dev/null
lined=$(find "$TMP/lined" -name '*.json' | head -n 1)
"$BPFBENCH" capture -o "$TMP/some.capture" -- "$loader" "$tests/sections.bpf.o" >/dev/null
printf '#!/bin/sh\nexec %s prog.bpf.o\n' "$loader" >"$TMP/load"
chmod 755 "$TMP/load"
"$O/tests/tools/live_prog" "$tests/live.bpf.o" 200 >"$TMP/live_id" &
until [[ -s $TMP/live_id ]]; do sleep 0.05; done
live_id=$(head -n 1 "$TMP/live_id")

# A line for each command: a NAME, and its arguments, in which DIR stands for the folder of the try. A command starts in that folder, but
# gate in the repository.
commands="list list
check check
show show $run_id -f table
show-bmf show $run_id -f bmf -o DIR/out
show-json show $run_id -f json -o DIR/out
show-csv show $run_id -f csv -o DIR/out
show-html show $run_id -f html -o DIR/out
report report $run_id $second_id -o DIR/out
history history --results DIR/stored
annotate annotate $counted
init init $O/bpf/perf_profiler.bpf.o -o DIR/out
fake run -s $TMP/fake.yml -n 60000 --results DIR/results -o DIR/out -f bmf -q
profiler run -s perf_profiler -d step -n 600 --budget 6 --results DIR/results -o DIR/out -f bmf -q
in-situ run -s perf_profiler -d in-situ --budget 4 --results DIR/results -q
flame run -s perf_profiler -d in-situ --budget 3 --flame --results DIR/results -q
object run --object $O/bpf/loops.bpf.o -n 600 --budget 5 -f table --results DIR/results -q
slow run -s $TMP/slow.yml -n 60 --budget 4 --results DIR/results -q
compare-runs compare $run_id $second_id
compare-fake compare -s $TMP/fake.yml --base plain --head other --loads 12 --results DIR/results
compare compare -s $TMP/slow.yml --base fast --head fast --budget 3 --results DIR/results
compare-exact compare --exact -s $TMP/counted.yml --base loop --head straight --budget 3 --results DIR/results
gate gate --base HEAD --each 2 --budget 8 --markdown DIR/out --results DIR/results
selftest selftest --budget 3 --results DIR/results
live live --seconds 0.5 --once -f json -o DIR/out
profile profile --seconds 1 -f folded -o DIR/out
profile-flame profile --seconds 1 -f flame -o DIR/out -- sleep 5
heap heap a=$TMP/dhat.json b=$TMP/dhat.json
triggers triggers
triggers-object triggers $tests/fire.bpf.o
fire run --object $tests/fire.bpf.o -n 60 --budget 5 --results DIR/results -q
capture capture -o DIR/out --for 0.5 -- $loader $tests/sections.bpf.o
captured run --object $TMP/some.capture -n 600 --budget 4 --results DIR/results -q
of-command run -n 600 --budget 4 --results DIR/results -q -- $loader $tests/sections.bpf.o
gate-capture gate --base HEAD --capture $TMP/load --each 2 --budget 8 --markdown DIR/out --results DIR/results
lines run --object $O/bpf/loops.bpf.o --lines -n 600 --budget 4 --results DIR/results -q
annotate-time annotate --time $lined
annotate-flame annotate --time --flame DIR/out $lined
compare-time compare --time --base-object $O/bpf/loops.bpf.o --head-object $O/bpf/loops.bpf.o --program straight --budget 4 --results DIR/results
live-drive run --prog-id $live_id -d live --budget 2 --results DIR/results -q
call run -s source_addr --budget 3 --results DIR/results -q
pipeline run -s pipeline --budget 3 --results DIR/results -q
slowdown run -s slowdown -V ringbuf --budget 4 --results DIR/results -q"
mapfile -t lines < <(awk -v only=" ${ONLY:-} " 'only ~ /^ +$/ || index(only, " " $1 " ")' <<<"$commands")
((${#lines[@]})) || usage_error "ONLY=$ONLY: no such command"
signals=(INT TERM HUP PIPE INT TERM HUP PIPE INT KILL)

# chosen N DIR: sets $name and @cmd from line N of $commands, and makes DIR.
chosen() {
	local words

	read -r name words <<<"${lines[$1]}"
	# shellcheck disable=SC2206 # words; no path here has blanks
	cmd=(env -C "$2" "$BPFBENCH" ${words//DIR/$2})
	[[ $name != gate* ]] || cmd[2]=$TMP/repo
	rm -rf -- "$2"
	mkdir -p "$2/tmp"
	chmod 755 "$2" "$2/tmp"
	[[ $name != history ]] || cp -r "$stored" "$2/stored"
}

# budget: prints the budget of @cmd, ms; 0 without one.
budget() { sed -nE 's/.* --budget ([0-9]+).*/\1000/p; t; s/.*/0/p' <<<"${cmd[*]}"; }

# Runs each command without a signal and sets usual[], its time, ms. It must work here, and end within its budget, the time of a run of
# the slowest program and 1 s.
usual_times() {
	local i broken=0 budget_ms

	if [[ -s ${USUAL:-} ]]; then
		mapfile -t usual <"$USUAL"
		((${#usual[@]} == ${#lines[@]})) || usage_error "$USUAL is of other commands: remove it"
		return 0
	fi
	for ((i = 0; i < ${#lines[@]}; i++)); do
		try=usual
		chosen "$i" "$TMP/usual"
		begin "$TMP/usual" "${cmd[@]}"
		budget_ms=$(budget)
		finished 120000
		usual[i]=$took_ms
		if ((budget_ms)) && ! waited "$TMP/usual"; then answered_by $((budget_ms + slow_run_ms + 1000)); fi
		drop_cgroup
		# Other processes may disturb a command so that it has no result, but a usage error is a mistake of this script.
		if ((hung || status == 2 || status > 3)); then
			printf 'signals.sh: %s fails undisturbed (exit code %d): %s\n' "$name" "$status" "$(tail -n 3 "$TMP/usual/stderr")" >&2
			broken=1
		fi
		printf '# %-14s %6d ms undisturbed, exit code %d\n' "$name" "${usual[i]}" "$status"
	done
	((!broken)) || exit 1
	[[ -z ${USUAL:-} ]] || printf '%d\n' "${usual[@]}" >"$USUAL"
}

# whole FILE: true if FILE is complete in the format that $name writes.
whole() {
	case $name in
	show-bmf | fake | profiler) "$O/tests/tools/bmf_check" <"$1" >/dev/null 2>&1 ;;
	show-json | live) jq empty <"$1" 2>/dev/null ;;
	show-html | report) tail -c 20 "$1" | grep -q '</html>' ;;
	profile-flame | annotate-flame) tail -c 20 "$1" | grep -q '</svg>' ;;
	show-csv) cmp -s "$1" "$TMP/reference.csv" ;;
	capture) tar tf "$1" bpfbench-capture.json >/dev/null 2>&1 ;;
	init) cmp -s "$1" "$TMP/reference.yml" ;;
	profile) [[ ! -s $1 ]] || whole_lines "$1" ;; # there may be no samples yet
	*) whole_lines "$1" ;;
	esac
}

# files_whole DIR SIGNAL: checks the files that a command left in DIR after SIGNAL.
files_whole() {
	local path file

	while IFS= read -r path; do
		file=$1/$path
		case $path in
		tmp/* | .* | */.*)
			if [[ $2 == KILL ]]; then
				printf '%s\n' "$path" >>"$TMP/hidden"
			else
				violation "temporary file: $path"
			fi
			;;
		results/selftest/*.json) jq empty <"$file" 2>/dev/null || violation "half a file: $path" ;;
		results/*.json) "$BPFBENCH" show "$file" >/dev/null 2>&1 || violation "half a run: $path" ;;
		results/*.folded | results/*.svg) whole_lines "$file" || violation "half a file: $path" ;;
		out) whole "$file" || violation "half a file: $path ($(stat -c %s "$file") bytes)" ;;
		results | results/selftest | results/history.db) ;;
		*) violation "unexpected file: $path" ;;
		esac
	done < <(find "$1" -mindepth 1 -not -path "$1/tmp" -not -path "$1/std*" -not -path "$1/outlive*" -not -path "$1/stored*" -printf '%P\n')
}
# True if the last line ends in a newline; false for an empty file.
whole_lines() { [[ -s $1 && -z $(tail -c 1 "$1" | tr -d '\n') ]]; }

# end_captured DIR: ends the command under `capture`. If bpfbench is killed, the command goes on, and so does its guard process until the
# command ends (docs/any-loader.md).
end_captured() {
	local p

	for p in $(left_processes "$1"); do
		[[ $(ps -o args= -p "$p") != "$loader "* ]] || kill "$p" 2>/dev/null || true
	done
}

one() {
	local dir which signal delay bound reader budget_ms

	dir=$TMP/$(printf 'try-%09d' "$1") # no name begins another
	seeded "$1"
	random ${#lines[@]}
	which=$drawn
	random ${#signals[@]}
	signal=${signals[$drawn]}
	random $((usual[which] + 1))
	delay=$drawn
	chosen "$which" "$dir"
	try="try $1: SIG$signal after $delay ms: ${cmd[*]:3}"
	[[ $signal != PIPE ]] || mkfifo "$dir/stdout"
	begin "$dir" "${cmd[@]}"
	[[ $signal != PIPE ]] || exec {reader}<"$dir/stdout"
	executed
	sleep "$((delay / 1000)).$(printf '%03d' $((delay % 1000)))"
	bound=$((slow_run_ms + 500))
	if [[ $signal == PIPE ]]; then
		exec {reader}<&-
		# A command that writes nothing to stdout gets no SIGPIPE and ends as usual, at the latest by its budget.
		budget_ms=$(budget)
		bound=$((bound + (usual[which] > budget_ms ? usual[which] : budget_ms)))
		finished 60000
	else
		# The braces redirect stderr: bash reports there which of its children a signal has ended.
		{
			kill -s "$signal" "$pid" || true
			finished 60000 "$bound"
		} 2>/dev/null
	fi
	if [[ $signal == PIPE ]] && waited "$dir"; then bound=60000; fi
	# After SIGPIPE a command goes on, and after any signal `profile` computes its result so far. Its CPU time is allowed for that, but
	# not any waiting.
	[[ $signal != PIPE && $name != profile* ]] || bound=$((bound + cpu_ms))
	answered_by "$bound"
	printf 'SIG%s\n' "$signal" >>"$TMP/sent"
	# A command that waited for another bpfbench may still be there after SIGPIPE.
	if ((hung)) && ! { [[ $signal == PIPE ]] && waited "$dir"; }; then violation "did not end within 60 s"; fi
	case $status in
	132 | 134 | 135 | 136 | 139) violation "crashed: exit code $status" ;;
	esac
	[[ $signal != KILL ]] || end_captured "$dir"
	nobody_left "$dir"
	files_whole "$dir" "$signal"
	note_suspects "$dir"
	rm -rf -- "$dir"
}

make_cgroups
# The time of one run of the slowest program, by its samples.
declare -a usual
slow_run_ms=$("$BPFBENCH" run -s "$TMP/slow.yml" -V slow -n 3 --loads 1 --budget 0 --no-store -q |
	jq '[.[] | .["latency-p50"].value // .latency.value] | max / 1e6 | ceil')
"$BPFBENCH" show "$run_id" -f csv >"$TMP/reference.csv"
"$BPFBENCH" init "$O/bpf/perf_profiler.bpf.o" >"$TMP/reference.yml"
touch "$TMP/hidden" "$TMP/sent"
printf '# a run of the slowest program: %s ms\n' "$slow_run_ms"
usual_times
[[ -z ${SECONDS_MOST:-} ]] || UNTIL=$(($(date +%s) + SECONDS_MOST))
in_jobs "$COUNT" one
settle
sort "$TMP/sent" | uniq -c | awk '{ printf "%s%s %s", (NR > 1 ? ", " : ""), $1, $2 } END { print "" }'
printf '%d temporary files left by SIGKILL\n' "$(wc -l <"$TMP/hidden")"
summary command
