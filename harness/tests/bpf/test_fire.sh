#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that are fired where they are attached, as root: the trigger is found and named; for a
# hook that does not exist, the nearest name is given; programs that deny or kill do no harm;
# nothing is left.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("hooks of all kinds" "hooks that there are not" "a program that kills" "compare" "nothing is left")
need_root "${names[@]}" || plan_done

object=$O/tests/bpf/fire.bpf.o
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"
# fired NAME TRIGGER: the program has a figure above 0, and the table says that TRIGGER fired it.
fired() {
	more "$(bmf "$TMP/out" "fire/$1/step" latency)" 0 || { printf '%s\n' "$1: no figure"; return 1; }
	"$BPFBENCH" show latest --results "$results" --format table --details | grep -E "^    $1: $2 \(" || {
		"$BPFBENCH" show latest --results "$results" --format table --details | grep -E "^    $1: "
		return 1
	}
}

real --object "$object" --loads 2 -n 40
"$BPFBENCH" show latest --results "$results" --format table --details >>"$TMP/err"
expect_status "hooks of all kinds: exit code 0" 0
check "hooks of all kinds: stdout is strictly valid BMF" valid_bmf "$TMP/out"
check "a system call" fired on_openat open
check "a program that writes to a perf buffer" fired writes open
check "a system call's return" fired on_exit_read read
check "a process that runs a program" fired on_exec exec
check "a wakeup" fired on_wakeup '(nanosleep|wakeup|timerfd)'
check "all system calls: reading the counters is one" fired on_any_call counters
check "a switch of threads" fired on_switch '(nanosleep|wakeup|timerfd|sched-yield)'
check "a return that looks for its entry" fired on_exit call-umask
# all_of NAME: the program executed all of its instructions
all_of() {
	"$BPFBENCH" show latest --results "$results" --format table --details | tr -d '\n' | grep -oE "[ ,]$1( +[-+*0-9.]+)* +[0-9]+ of [0-9]+" |
		awk '{n++; ok = $(NF - 2) == $NF} END {exit !(n && ok)}'
}
check "a return that looks for its entry finds it: the other program is attached beside" all_of on_exit
expect_grep "the others that are attached are said" err '^    on_exit: call-umask \(.*; with 1 other attached\)$'
check "an iterator" fired on_tasks iterator
check "a message of a socket in a sockmap" fired on_message sockmap-send
check "sockets that share a port" fired on_port reuseport
check "a datagram for which there is no room" fired on_lost_datagram udp-full
check "an event that bpfbench does not cause: a test run" fired on_reclaim own-run
expect_grep "an event that bpfbench does not cause: arguments are made" err \
	'^    on_reclaim: own-run \(a test run for mm_vmscan_direct_reclaim_begin; arguments made: integer'
check "a function of the C library" fired on_malloc malloc
check "its return" fired on_malloc_return malloc
check "a function of the kernel, for real or by a call of ours" fired on_kernel_function '(own-call|tcp)'
if grep -q ' cgroup2 ' /proc/self/mounts; then
	check "a socket's address" fired on_connect udp-connect
	check "a socket" fired on_socket '[a-z0-9-]+'
	check "a sysctl" fired on_sysctl sysctl
	check "a cgroup" fired on_cgroup cgroup
	check "a program that denies its event is measured" fired denies '[a-z0-9-]+'
	expect_grep "a program that kills who fires it is named" err 'skipped: fire/kills/step: .*trigger setsockopt: .*was killed by signal 9 \(Killed\)'
else
	skip "cgroups" "no cgroup2 file system is mounted"
fi
# Of the sets of arguments that bpfbench makes, it takes the one that leads the program furthest.
cp "$TMP/err" "$TMP/err.all"
real --object "$O/tests/bpf/own_arguments.bpf.o" --loads 1 --samples 20
run "$BPFBENCH" show latest --results "$results" --format table --details
for want in 'wants_zero all 0' 'wants_chain all page of pointers' 'wants_path all text'; do
	expect_grep "made for ${want%% *}" out "^    ${want%% *}: own-call \\(a call of ours; arguments made: ${want#* }\\)\$"
done
for name in wants_zero wants_positive wants_chain wants_path; do
	expect_grep "made for $name: all of it is executed" out "[ ,]$name( +[-+*0-9.]+)* +([0-9]+) of \\2\\b"
done
cp "$TMP/err.all" "$TMP/err"
expect_grep "a hook that there is not: the nearest" err \
	"skipped: fire/no_tracepoint/step: this kernel has no tracepoint .*did you mean 'syscalls/sys_enter_openat'"
expect_grep "a program that could kill any process is skipped" err 'skipped: fire/could_kill/step: .*--allow-system-wide'
nothing_left "hooks of all kinds" 2
rm -rf "$results"
real --object "$object" --program could_kill --allow-system-wide --loads 2 -n 40
run "$BPFBENCH" show latest --results "$results" --format table --details
expect_grep "a program that could kill, allowed" out ', by open \('

# --- the triggers ---
run "$BPFBENCH" triggers
expect_grep "triggers: the catalogue" out '^udp-connect +tell a UDP socket its peer$'
run "$BPFBENCH" triggers "$object" --program on_malloc --program no_tracepoint
expect_status "triggers: of an object, exit code 0" 0
expect_grep "triggers: the chosen one, and what it brings" out '^  \* malloc +1 run per firing; a firing takes [0-9.]+ us'
expect_grep "triggers: what is next, of the same programs" out '--program on_malloc --program no_tracepoint. \('
expect_grep "triggers: a hook that there is not" out "did you mean 'syscalls/sys_enter_openat'"
if [[ -w /dev/loop-control ]]; then
	run "$BPFBENCH" triggers "$O/tests/bpf/cached.bpf.o"
	expect_grep "triggers: pages that get into the cache" out '^  \* block-cache +[1-9][0-9.]* runs? per firing'
else
	skip "triggers: pages that get into the cache" "no loop devices here"
fi

# --- init ---
run "$BPFBENCH" init "$object" --program on_openat --program on_exit --program on_malloc --find-triggers -o "$WORK/found.yml"
expect_status "init --find-triggers: exit code 0" 0
check "init --find-triggers: the trigger of each program" grep -E '^  - \{name: on_openat, fired_by: open\} ' "$WORK/found.yml"
check "init --find-triggers: that of the floor" grep -E '^  - \{name: empty-tracepoint, .*, fired_by: task-rename\} ' "$WORK/found.yml"
rm -rf "$results"
real -s "$WORK/found.yml" --loads 2 -n 40
fired_by_file() { "$BPFBENCH" show latest --results "$results" --format table --details | grep -E "^    $1: $2 \(" >/dev/null; }
check "init --find-triggers: its file is fired by them" fired_by_file on_openat open
check "init --find-triggers: by a function, too" fired_by_file on_malloc malloc
check "init --find-triggers: the other program is attached beside" all_of on_exit

# --- a program that is cold, counted, and compared ---
rm -rf "$results"
# on_malloc runs in the process that fires, where nobody else calls it. A load is void, rightly, if
# its caches were warmer or colder than those of the others, as may happen where other guests use
# the caches: then once more.
for _ in 1 2 3 4 5; do
	real --object "$object" --program on_malloc --cold --drive step-cold --loads 4 -n 20 --budget 60
	! more "$(bmf "$TMP/out" fire/on_malloc/step-cold latency)" 0 >"$TMP/more" || break
	sed -n 's/^.* void: /# void: /p' "$TMP/err"
done
check "cold: a figure" more "$(bmf "$TMP/out" fire/on_malloc/step-cold latency)" 0
rm -rf "$results"
real compare --exact --base-object "$object" --head-object "$object" --program on_openat
expect_status "exact: a program against itself" 0
rm -rf "$results"
# Counting uses up its share within a batch.
real run --object "$object" --program on_openat --program on_exec --drive step --drive exact --budget 2 -n 200000 --loads 1 --format table
for program in on_openat on_exec; do
	expect_grep "exact, out of time: a time for $program, or the reason" out "$program/step|^ +$program +(net )?[0-9]"
	expect_no_grep "exact, out of time: $program is measured" out "^ +$program +none"
done
rm -rf "$results"
# Other processes that open files all the time may leave no window with one run. Then there is no
# row, and it is tried again with a larger budget.
for budget in 2 15 45; do
	rm -rf "$results"
	real compare --base-object "$object" --head-object "$object" --program on_openat --budget "$budget"
	! grep -qE '^on_openat/step .* (same|inconclusive)' "$TMP/out" || break
	sed 's/^/# /' "$TMP/out" "$TMP/err"
done
expect_grep "compare: a program against itself" out '^on_openat/step .* (same|inconclusive)'
nothing_left "compare" 1
real compare --base-object "$object" --head-object "$object" --program on_exit --budget 5
run "$BPFBENCH" show latest --results "$results" --format table --details
expect_grep "compare: base and head have the other program attached beside" out '^on_exit, step .* by .*; with 1 other attached\)'
rm -rf "$results"
real --object "$object" --program on_exit --loads 2 -n 40
check "one program of an object: the other is attached beside" all_of on_exit
# no_cgroup: no cgroup of a bpfbench that has ended is left. Its keeper removes it a moment later.
no_cgroup() {
	local folder pid

	while read -r folder; do
		pid=${folder##*/bpfbench-}
		[[ -d /proc/${pid%%-*} ]] || return 1
	done < <(find /sys/fs/cgroup -maxdepth 2 -name 'bpfbench-*' -newer "$object" 2>/dev/null)
}
check "nothing is left: no cgroup" wait_until 2 no_cgroup
plan_done
