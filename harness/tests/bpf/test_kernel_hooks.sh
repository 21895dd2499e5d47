#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Hooks that many kernels lack, as root: kprobes, trampolines, LSM, links to many functions,
# sleepable programs. Each program has a figure by --object alone, or is skipped in the kernel's
# words. Programs that could forbid something to others are measured only where BB_ALONE says that
# there are no others: in the virtual machines of `make vm-test`.
# slow: every hook of other kernels is tried
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

users=(users_multi users_return_multi users_session users_sleepable users_sleepable_multi tasks_sleepable files)
kernels=(kernel kernel_return kernel_call kernel_multi kernel_return_multi kernel_session)
trampolines=(on_entry on_exit entry_sleepable allows_cgroup)
ops=(on_avoid on_acked on_init on_undo)
acting=(allows allows_sleepable allows_return denies denies_return)
missing=(no_entry no_lsm no_event no_raw no_function)
slow=(on_ssthresh on_undo)
need_root "${users[@]}" "${kernels[@]}" "${trampolines[@]}" "${ops[@]}" "${acting[@]}" "${missing[@]}" kills "${slow[@]/%/: samples}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# measure OPTION...: without a scenario. It fills $latency and $why for all programs at once: on an
# emulated machine each awk takes long.
declare -A latency why
measure() {
	local name words

	real "$@" --drive step --loads 1 -n 10 --budget 150
	[[ $status == 4 ]] || "$BPFBENCH" show latest --results "$results" --format details >"$TMP/err"	# 4: there is no run
	latency=() why=()
	while read -r name words; do latency[$name]=$words; done < <(awk '
		/^  "/ { n = split($0, part, "\""); n = split(part[2], path, /[\/.]/); name = path[n] == "step" ? path[n - 1] : "" }
		name != "" && $1 == "\"latency\":" { gsub(/[{},]/, " "); print name, $3 }' "$TMP/out")
	while read -r name words; do why[$name]=$words; done < <(
		sed -nE 's,/step: ,: ,; s,^.*skipped:? ([^ ]*[/.])?([a-z_]+): (/[^ ]*\.o: )?,\2 ,p' "$TMP/err")
}

# The words of a kernel that does not have the hook, or does not let the program there.
of_kernel='this kernel|the kernel (refuses|does not let)|the verifier rejects|not supported|no cgroup2|not among the active'

# has_figure_or_reason PROGRAM...: a figure above 0, or why not.
has_figure_or_reason() {
	local p

	for p; do
		if [[ ${latency[$p]:-0} != 0 ]]; then
			ok "$p: a figure"
		elif [[ ${why[$p]:-} =~ $of_kernel ]]; then
			skip "$p: a figure" "${why[$p]}"
		else
			not_ok "$p: a figure" "${why[$p]:-}"$'\n'"$(tap_shown)"
		fi
	done
}

# is_said NAME PROGRAM REGEX: it was skipped in such words.
is_said() {
	if [[ ${why[$2]:-} =~ $3 ]]; then ok "$1"; else not_ok "$1" "'${why[$2]:-}' does not match: $3"$'\n'"$(tap_shown)"; fi
}

# named PROGRAM NAME: it was skipped, and NAME is given as the nearest to that of its hook.
named() {
	if [[ ${why[$1]:-} =~ 'not permitted'|'does not have' ]]; then
		skip "$1: the nearest name" "${why[$1]}"
	else
		is_said "$1: the nearest name" "$1" "did you mean '$2'\?"
	fi
}

# Programs that are members of a struct of functions, which must not stay registered.
printf -v own_name 'bb_test_%06d' $(($$ % 1000000))
LC_ALL=C sed "s/bb_test_000000/$own_name/" "$O/tests/bpf/struct_ops.bpf.o" >"$WORK/struct_ops.bpf.o"
unregistered() { ! grep -qw "$own_name" /proc/sys/net/ipv4/tcp_available_congestion_control; }
measure --object "$WORK/struct_ops.bpf.o" --program on_avoid --program on_acked --program on_init --program on_undo
has_figure_or_reason "${ops[@]}"
check "a congestion control is not left registered" wait_until 2 unregistered
rm -rf "$results"

# A firing takes a tenth of a second or more: by default there are few loads, and several samples in each. In a guest, whose clock
# counts instructions, it takes a second.
real --object "$WORK/struct_ops.bpf.o" "${slow[@]/#/--program=}" --format csv ${BB_ALONE:+--budget 60}
for p in "${slow[@]}"; do
	IFS=, read -r samples loads < <(awk -F , -v p="$p" '$3 == p && $7 == "latency" { print $12 "," $13; exit }' "$TMP/out") || true
	if [[ -n ${samples:-} ]] && ((samples >= 2 * loads && loads >= 5)); then
		ok "$p: samples"
	elif grep -qE "$p.*($of_kernel)" "$TMP/err"; then
		skip "$p: samples" "$(grep -m 1 -E "$p.*($of_kernel)" "$TMP/err")"
	else
		not_ok "$p: samples" "${samples:-none} in ${loads:-no} loads"$'\n'"$(tap_shown)"
	fi
done
rm -rf "$results"

objects=(--object "$O/tests/bpf/kernel_hooks.bpf.o")
[[ -z ${BB_ALONE:-} ]] || objects+=(--object "$O/tests/bpf/acting_hooks.bpf.o" --allow-system-wide)
measure "${objects[@]}"
expect_status "by --object alone: exit code" 0
has_figure_or_reason "${users[@]}" "${kernels[@]}" "${trampolines[@]}"
for p in kernel files; do
	if [[ ${latency[$p]:-0} != 0 ]]; then ok "$p: on every kernel"; else not_ok "$p: on every kernel" "${why[$p]:-}"; fi
done
named no_entry vfs_mkdir
named no_lsm inode_mkdir
named no_event sched_switch
named no_raw sched_switch
named no_function malloc

if [[ -z ${BB_ALONE:-} ]]; then
	for p in "${acting[@]}" kills; do skip "$p" "others use this machine: see make vm-test"; done
else
	has_figure_or_reason "${acting[@]}"
	is_said "kills: it ends who fires it, and not bpfbench" kills "trigger [a-z-]+: the process that fires was killed by signal 9 \(Killed\)"
	measure --object "$O/tests/bpf/acting_hooks.bpf.o" --program allows
	is_said "what could forbid others something is not attached unasked" allows "--allow-system-wide|$of_kernel"
fi
nothing_left "by --object alone" 1
plan_done
