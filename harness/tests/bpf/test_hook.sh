#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slow: it waits for the kernel to take breakpoints out again.
# The drive hook, as root: in the time of the whole event, a breakpoint costs more than the program
# that it runs.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("hook: hooks of all kinds" "hook: compare" "nothing is left")
need_root "${names[@]}" || plan_done

object=$O/tests/bpf/fire.bpf.o
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# Another process that has bpf_stats on voids loads. If it voided all loads of a program: once more.
programs=(on_openat on_any_call on_malloc on_malloc_return on_kernel_function)
cgroups=(on_connect)
grep -q ' cgroup2 ' /proc/self/mounts || cgroups=()
hooked() {
	local p

	for p in "${programs[@]}" "${cgroups[@]}"; do
		[[ -n $(bmf "$TMP/out" "fire/$p/hook" latency) ]] || return 1
	done
}
mapfile -t chosen < <(printf -- '--program\n%s\n' "${programs[@]}" "${cgroups[@]}")
for ((i = 0; i < 2; i++)); do
	rm -rf "$results"
	real --object "$object" "${chosen[@]}" --drive hook --drive step --loads 3 --budget 30
	! hooked || break
done
expect_status "hook: exit code 0" 0
check "hook: stdout is strictly valid BMF" valid_bmf "$TMP/out"
check "hook: every program has a figure" hooked
for p in on_malloc on_malloc_return on_kernel_function; do
	check "hook: $p: the breakpoint costs more than the program" \
		more "$(bmf "$TMP/out" "fire/$p/hook" latency)" "$(bmf "$TMP/out" "fire/$p/step" latency)"
done
run "$BPFBENCH" show latest --results "$results" --format table --details
expect_grep "hook: the unit" out 'fire, hook \(ns per event\)'
expect_grep "hook: what fired it" out '^    on_openat: open \(tracepoint syscalls/sys_enter_openat\)'
expect_grep "hook: beside step" out '^hook - empty = step - empty step\?'
expect_grep "hook: each program" out '^  on_malloc +[0-9. ]+'
nothing_left "hook" 1

# The reader has caught up, by hook as by step, so each record wakes it. A record that wakes nobody
# costs some hundred ns.
real --object "$O/tests/bpf/ring.bpf.o" --drive hook --drive step --loads 3 --budget 15
check "hook: of a program with a ring, the reader is woken each time" more \
	"$(bmf "$TMP/out" ring/on_malloc/hook latency-net)" "$(bmf "$TMP/out" ring/on_malloc/step latency-net)"
run "$BPFBENCH" show latest --results "$results" --format table --details
expect_grep "hook: of a program with a ring: said" out '^  on_malloc .* (agree|and its reader is woken)$'

run "$BPFBENCH" --object "$O/bpf/fun_xdp.bpf.o" --drive hook --no-store
expect_status "hook: a program that is fired by test runs has no hook here" 1
expect_grep "hook: and that is said" err "no drive 'hook'"

for budget in 4 15 45; do
	rm -rf "$results"
	real compare --base-object "$object" --head-object "$object" --program on_malloc --drive hook --budget "$budget"
	! grep -qE '^on_malloc/hook .* (same|inconclusive)' "$TMP/out" || break
	sed 's/^/# /' "$TMP/out" "$TMP/err"
done
expect_grep "hook: compare: a program against itself" out '^on_malloc/hook .* (same|inconclusive)'
nothing_left "hook: compare" 1
plan_done
