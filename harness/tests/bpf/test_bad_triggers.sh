#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slow: a trigger that does not come back is given 5 s
# As root: triggers that fail in the midst of a measurement (one that stops firing, a process that
# ends, one that blocks, a program that holds up its own trigger), and bpfbench killed while a
# struct of functions is registered.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
# shellcheck disable=SC2154 # child is tool.sh's
. "$(dirname "$0")/../tool.sh"

names=("a trigger that stops" "a process that ends" "a trigger that blocks" "a program that holds up its trigger" "killed while registered")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# scenario SAMPLES OBJECT VARIANT...
scenario() {
	printf '%s\n' 'name: f' "object: $O/tests/bpf/$2" 'loads: 1' 'refused: skip' 'variants:' >"$WORK/f.yml"
	printf '  - {%s}\n' "${@:3}" >>"$WORK/f.yml"
	printf '%s\n' 'drive:' "  - {with: step, trigger: fire, samples: $1}" >>"$WORK/f.yml"
	rm -rf "$results"
}
fires() { [[ -n $(cat "/proc/$child/task/"*/children 2>/dev/null) ]]; }
runs_loop() { [[ $(readlink "/proc/$looping/exe") == "$TMP/loop" ]]; }
may_end_so() { [[ $status == [014] ]]; }
none_runs() { ! pgrep -f "$1" >"$TMP/pids"; }

# --- functions of a command, and of a process ---
if need_user "${names[@]:0:3}" && need_command gcc "${names[@]:0:3}" && need_uprobes "${names[@]:0:3}"; then
	cat >"$TMP/prog.c" <<-'C'
	#include <unistd.h>
	__attribute__((noinline)) int work(int n)
	{
		volatile int x = n;

		return x + 1;
	}
	int main(int argc, char **argv)
	{
		(void)argv;
		do
			work(argc);
		while (argc > 1 && !usleep(2000));
		return 0;
	}
	C
	gcc -o "$TMP/prog" "$TMP/prog.c" && cp "$TMP/prog" "$TMP/loop" || { not_ok "gcc builds a program"; plan_done; }
	# The first 40 runs of this script call the function, later ones do not.
	cat >"$WORK/stops" <<-SH
	#!/bin/sh
	[ "\$(wc -c <"$WORK/count")" -lt 40 ] || exit 0
	printf x >>"$WORK/count"
	exec "$TMP/prog"
	SH
	: >"$WORK/count"
	chmod 755 "$WORK/stops"
	chown "$NOBODY:$NOGROUP" "$WORK"/*
	scenario 100 functions.bpf.o "name: stops, program: on_work, binary: $TMP/prog, function: work, fired_by: {run: [$WORK/stops]}"
	SUDO_UID=$NOBODY SUDO_GID=$NOGROUP real -s "$WORK/f.yml" --budget 60 --format table
	expect_eq "a trigger that stops: it has stopped" "$(wc -c <"$WORK/count")" 40
	expect_status "a trigger that stops: exit code" 0
	# Finding the trigger and counting instructions use up some of the 40 calls. There are
	# samples from the calls that are left, or none, and then the reason is said.
	"$BPFBENCH" show latest --results "$results" --format csv >"$TMP/csv" # the last but one column: samples
	few() { awk -F, '$3 == "stops" && $7 == "latency" && $12 > 0 && $12 < 40 { found = 1 } END { exit !found }' "$TMP/csv"; }
	few_or_none() { few || grep "void: f/stops/step: .*'run' was fired [0-9]* times*, and the program never ran exactly 1 time" "$TMP/out" || { cat "$TMP/out"; return 1; }; }
	check "a trigger that stops: the samples until then, or why there are none" few_or_none
	nothing_left "a trigger that stops" 1

	"${user[@]}" "$TMP/loop" loop &
	looping=$!
	wait_until 10 runs_loop || true
	scenario 4000 functions.bpf.o "name: ends, program: on_work, binary: $TMP/loop, function: work, pid: $looping"
	start "$BPFBENCH" -s "$WORK/f.yml" --budget 8 --results "$results" --format table
	wait_until 5 fires || printf '# it has not begun\n'
	sleep 0.5
	end_processes "$looping"
	finish
	# 4 if there was no sample before the process ended
	check "a process that ends in the midst: exit code 0, 1 or 4" may_end_so
	nothing_left "a process that ends" "$(find "$results" -name '*.json' 2>/dev/null | wc -l)"

	scenario 20 functions.bpf.o "name: blocks, program: on_work, binary: $TMP/prog, function: work, fired_by: {run: [sleep, '$((100000 + $$))']}"
	SUDO_UID=$NOBODY SUDO_GID=$NOGROUP real -s "$WORK/f.yml" --budget 60
	expect_grep "a trigger that blocks is named" err 'skipped:? f/blocks/step: .*trigger run did not come back within 5 s'
	check "a trigger that blocks has ended" wait_until 2 none_runs "^sleep $((100000 + $$))"
fi

# --- a program that drops what its trigger waits for ---
scenario 20 network_hooks.bpf.o "name: discards, program: discards, fired_by: udp" "name: on_lookup, program: on_lookup"
real -s "$WORK/f.yml" --budget 60
if grep -qE "f/discards.*(this kernel|the kernel (refuses|does not let)|the verifier rejects|not supported|no network namespace)" "$TMP/err"; then
	skip "a program that holds up its trigger" "$(grep -E "f/discards" "$TMP/err" | head -n 1)"
else
	expect_grep "a program that holds up its trigger is named" err 'f/discards/step: .*trigger udp did not come back within 5 s'
	check "a program that holds up its trigger: the others are measured" more "$(bmf "$TMP/out" f/on_lookup/step latency)" 0
fi
nothing_left "a program that holds up its trigger" 1

# --- killed while a congestion control is registered ---
printf -v own_name 'bb_test_%06d' $(($$ % 1000000))
LC_ALL=C sed "s/bb_test_000000/$own_name/" "$O/tests/bpf/struct_ops.bpf.o" >"$WORK/struct_ops.bpf.o"
registered() { grep -qw "$own_name" /proc/sys/net/ipv4/tcp_available_congestion_control; }
unregistered() { ! registered; }
gone() {
	local pid

	for pid in $born; do [[ ! -e /proc/$pid ]] || [[ $(awk '{print $3}' "/proc/$pid/stat" 2>/dev/null) == Z ]] || return 1; done
}
no_cgroup() { [[ -z $(find /sys/fs/cgroup -maxdepth 2 -name "bpfbench-$killed-*" 2>/dev/null) ]]; }
over() { registered || ! kill -0 "$child" 2>/dev/null; }
start "$BPFBENCH" --object "$WORK/struct_ops.bpf.o" --program on_undo --drive step --loads 2000 -n 100000 --budget 0 --results "$results"
wait_until 10 over || true
if registered; then
	born=$(cat "/proc/$child/task/"*/children 2>/dev/null || true) killed=$child
	stop_child KILL
	check "killed while registered: nothing is left registered" wait_until 5 unregistered
	check "killed while registered: no process is left" wait_until 5 gone
	check "killed while registered: no cgroup is left" wait_until 5 no_cgroup
	nothing_left "killed while registered" 0
else
	stop_child TERM
	skip "killed while registered" "this kernel has no links of struct_ops: $(grep -m 1 on_undo "$TMP/err" || true)"
fi
plan_done
