# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For tests that load BPF programs: finds what a test left behind, by comparing with what there was
# when this file was sourced. Source tool.sh first.
# shellcheck disable=SC2317 # functions that check and wait_until call
# shellcheck disable=SC2154 # child is tool.sh's

results=$WORK/results
token="bpfbench-test-$$"	# on the workload's command line, and on nobody else's
bpftool=$(find_bpftool) || bpftool=''
stats_before=$(cat /proc/sys/kernel/bpf_stats_enabled)

# real ARG...: bpfbench, storing in $results. Of a disturbed run that is repeated, no file stays.
real_once() {
	[[ ! -e $TMP/began ]] || find "$results" -type f -newer "$TMP/began" -delete 2>"$TMP/find" || true
	touch "$TMP/began"
	"$BPFBENCH" "$@" --results "$results"
}
real() {
	rm -f "$TMP/began"
	run_undisturbed real_once "$@"
}
workload_pids() { pgrep -f "^amicable_pairs $token"; }

# find_workload: sets $pid to the workload of $child. False while there is none: the workload ends
# and is started again about once a second. On a busy machine, pgrep takes longer than that.
find_workload() {
	local -a children=()
	local name=''

	{ read -ra children <"/proc/$child/task/$child/children"; } 2>/dev/null || true
	for pid in "${children[@]}"; do
		{ IFS= read -rd '' name <"/proc/$pid/cmdline"; } 2>/dev/null || true
		[[ $name != amicable_pairs* ]] || return 0
	done
	return 1
}

# beside_workload NICE: gives this shell that nice value. The workload has -20 while it is measured
# in situ: with -20 this shell has its share of the CPU, with 0 it may wait for minutes.
beside_workload() { renice -n "$1" -p $$ >/dev/null 2>&1 || true; }

# look_at_workload: its status to $TMP/proc.status, its open files to $TMP/proc.fds.
look_at_workload() {
	local pid

	find_workload && cat "/proc/$pid/status" >"$TMP/proc.status" && find "/proc/$pid/fd" -printf '%l\n' >"$TMP/proc.fds"
}

# --- what is left behind ---
# "KIND ID" of every program, map and link that could be ours by its type or name, sorted. Prog
# arrays are left out: one stays behind if any process on this machine lists all maps at a bad
# moment (see bpf/kept_maps.h).
bpf_objects() {
	local kind text

	[[ -n $bpftool ]] || return 0
	for kind in prog map link; do
		# bpftool gives up if an object disappears while it lists them
		for _ in 1 2 3 4 5; do
			text=$("$bpftool" "$kind" show 2>/dev/null) && break
			sleep 0.1
		done
		awk -v kind="$kind" '
			!/^[0-9]+:/ { next }
			kind == "prog" && $2 !~ /^(perf_event|tracing|tracepoint|kprobe|xdp|sched_cls|socket_filter|raw_tracepoint|syscall)$/ { next }
			kind == "map" && ($2 == "prog_array" || !/  name (samples|events|scratch|stacks|counts|targets|overflow|sleeping|bpfbench|frames|queue|trie|lru_hash|percpu_|addr_log|SOURCE_ADDR|live_runs|seen)/) { next }
			{ print kind, $1 + 0 }' <<<"$text"
	done | sort
}

# held_by_others: likewise, the objects that processes other than ours have open.
held_by_others() {
	printf '%s\0' /proc/[0-9]*/fdinfo/* | xargs -0 grep -sHE '^(prog|map|link)_id:' | while IFS=$'/:\t' read -r _ _ pid _ _ key id; do
		[[ $pid == "$child" ]] || { tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q "$token"; } 2>/dev/null ||
			printf '%s %s\n' "${key%_id}" "$id"
	done | sort -u
}

bpf_objects >"$TMP/objects.before"

# new_objects: objects that are new since then, that nobody else has open, and that are still there
# a moment later: others may load and unload programs all the time.
new_objects() {
	bpf_objects >"$TMP/objects.now"
	held_by_others >"$TMP/objects.others"
	sort -u "$TMP/objects.before" "$TMP/objects.others" | comm -13 - "$TMP/objects.now" | comm -12 - <(sleep 0.1; bpf_objects)
}

no_objects() { [[ -z $(new_objects) ]]; }

no_process() { ! workload_pids && [[ $(cat /proc/sys/kernel/bpf_stats_enabled) == "$stats_before" ]]; }

# While others load programs, too, our new objects cannot be told from theirs: the kernel frees all
# of them in one long queue.
others_are_busy() { [[ -n $(comm -13 "$TMP/objects.before" "$TMP/objects.others") ]]; }

# Others may be busy for as long as we wait. After 2 s, which the kernel needs at most on a machine
# that is not slow, we no longer wait for them.
nothing_or_others() { no_objects || { ((SECONDS > others_since + 2)) && others_are_busy; }; }

# nothing_left NAME RUNS: nothing of ours is left after the moment (RCU) that the kernel may need to
# free it. $results holds RUNS whole runs, and is removed.
nothing_left() {
	local name="$1: no program, map or link is left" others_since

	# Not at once: listing all maps now could make a prog array stay (see bpf/kept_maps.h).
	sleep 0.3
	check "$1: no process or setting is left" wait_until 2 no_process
	check "$1: results/ holds only whole files" only_whole "$results" "$2"
	rm -rf "$results"
	if [[ -z $bpftool ]]; then
		skip "$name" "no bpftool that works on this kernel"
		return 0
	fi
	others_since=$SECONDS
	wait_until 2 nothing_or_others || true
	if no_objects; then
		ok "$name"
	elif others_are_busy; then
		skip "$name" "other processes load BPF programs here"
	else
		not_ok "$name" "$(new_objects)"
	fi
}
