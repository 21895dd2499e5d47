#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kills `bpfbench inside`, or the command under it, at random times; see --help.
case ${1:-} in
'') ;;
-h | --help)
	cat <<-'EOH'
	Usage: SEED=1 COUNT=200 harness/tests/stress/inside.sh

	Runs a command that loads and runs BPF programs under `bpfbench inside -o FILE` 2 * COUNT times, and sends SIGKILL at a
	random time: to bpfbench, and to the command. When bpfbench was killed, no load of the command fails. When the
	command was killed, bpfbench ends by itself and says what it saw. No process, program, map, link, folder, mount or cgroup
	is left, and the files that were written are whole. Needs root; about a second a try.

	Environment: SEED, of the times (1); COUNT (200); FIRST, the number of the first try (0); JOBS, how many at once (2);
	O, the build folder (build).
	Exit codes: 0 nothing found, 1 violations, which are listed, 2 usage.
	EOH
	exit 0
	;;
*) printf 'inside.sh: no argument %s; see --help\n' "$1" >&2; exit 2 ;;
esac
# shellcheck source=harness/tests/stress/stress.sh disable=SC2317 # functions that in_jobs calls
. "$(dirname "$0")/stress.sh"
COUNT=${COUNT:-200}
numbers SEED COUNT FIRST JOBS
ready
live=$O/tests/tools/live_prog

# The command: three loads one after the other, each ended by `timeout` after 50 ms (exit code 124). A busy machine may need longer than
# that for a load, which is no failure: a load that fails would end before its timeout.
cat >"$TMP/agent" <<'SH'
#!/bin/sh
echo $$ >agent.pid
for i in 1 2 3; do
	timeout -s INT 0.05 "$1" "$2" 200 >>loads.out 2>>loads.err
	[ $? = 124 ] || echo "load $i failed" >failed
done
: >done
SH
chmod 755 "$TMP/agent"

ended() { [[ ! -d /proc/$pid ]]; }
one() {
	local side dir delay early agent path

	dir=$TMP/$(printf 'try-%09d' "$1") # no name begins another
	seeded "$1"
	side=$((($1 - FIRST) % 2 ? 1 : 0))
	# four of five tries kill while the command is at work; the others at any time, perhaps before the command has started
	early=$(($1 % 10 < 2))
	random $((early ? 700 : 250))
	delay=$drawn name=$([[ $side == 0 ]] && echo bpfbench || echo command)
	try="try $1: $name killed after $delay ms"
	mkdir -p "$dir/tmp"
	chmod 755 "$dir" "$dir/tmp"
	begin "$dir" env -C "$dir" "$BPFBENCH" inside --save-every 0.2 --results "$dir/results" -o "$dir/out.capture" -- "$TMP/agent" "$live" "$O/tests/bpf/live.bpf.o"
	executed
	if ((side || !early)); then
		# wait until the command has started, because it must exist to be killed
		for ((i = 0; i < 2000; i++)); do
			if [[ -s $dir/agent.pid ]] || ended; then break; fi
			sleep 0.01
		done
	fi
	sleep "0.$(printf '%03d' "$delay")"
	[[ ! -e $dir/agent.pid || -e $dir/done ]] || echo "$name" >>"$TMP/midway"
	if ((side)); then
		agent=$(cat "$dir/agent.pid" 2>/dev/null || true)
		[[ -z $agent ]] || kill -KILL "$agent" 2>/dev/null || true
	else
		kill -KILL "$pid" 2>/dev/null || true
	fi
	finished 60000 2>/dev/null
	printf '%s\t%d\t%d\t%d\n' "$name" "$took_ms" "$delay_ms" 60000 >>"$log"
	((!hung)) || violation 'did not end within 60 s'
	case $status in
	132 | 134 | 135 | 136 | 139) violation "crashed: exit code $status" ;;
	esac
	# if bpfbench was killed, the command must go on to its end; without agent.pid it had not started yet
	if ((!side)) && [[ -e $dir/agent.pid ]]; then
		for ((i = 0; i < 3000; i++)); do
			[[ ! -e $dir/done ]] || break
			sleep 0.01
		done
		[[ -e $dir/done ]] || violation 'the command did not end within 30 s'
	fi
	[[ ! -e $dir/failed ]] || violation "$(<"$dir/failed"): $(tail -n 1 "$dir/loads.err")"
	wait_until 3 no_processes "$dir" || true # the keeper ends when the command has ended
	nobody_left "$dir"
	while IFS= read -r path; do "$BPFBENCH" show "$path" >/dev/null 2>&1 || violation "half a run: $path"; done < <(find "$dir/results" -name '*.json' 2>/dev/null)
	[[ ! -e $dir/out.capture ]] || tar tf "$dir/out.capture" bpfbench-capture.json >/dev/null 2>&1 || violation 'half a capture'
	find "$dir" \( -name '.*' -o -path "$dir/tmp/*" \) -type f >>"$TMP/hidden"
	note_suspects "$dir"
	rm -rf -- "$dir"
}

make_cgroups
touch "$TMP/hidden" "$TMP/midway"
in_jobs $((2 * COUNT)) one
settle
sort "$TMP/midway" | uniq -c | awk '{ print $2, "was killed", $1, "times while the command was at work" }'
printf '%d temporary files left by SIGKILL\n' "$(wc -l <"$TMP/hidden")"
summary killed
