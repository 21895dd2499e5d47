#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# As root: programs are fired on machines without tracefs or cgroup2, and bpfbench is killed while
# it fires.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

need_root "no tracefs" "no cgroup2" "cgroups of version 1" "killed" || plan_done
object=$O/tests/bpf/fire.bpf.o
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# without TYPE COMMAND...: in a mount namespace of its own, where no file system of that type is mounted.
without() {
	unshare --mount --propagation private bash -c '
		awk -v type="$1" "\$3 == type { print \$2 }" /proc/self/mounts | sort -r | while read -r at; do umount -l "$at"; done
		! grep -q "^[^ ]* [^ ]* $1 " /proc/self/mounts || exit 77
		shift
		exec "$@"' _ "$@"
}

if ! unshare --mount true 2>/dev/null; then
	skip "no tracefs, no cgroup2" "no mount namespace for us"
else
	# Other processes may start programs all the time. So this tests only that the hook is
	# found, not how many runs a firing brings.
	run without tracefs "$BPFBENCH" triggers "$object" --program on_exec --program no_tracepoint
	if [[ $status == 77 ]]; then
		skip "no tracefs" "it cannot be unmounted here"
	else
		expect_grep "no tracefs: it is mounted for bpfbench alone" out '^  (. [a-z-]+ +[0-9]+ runs? per firing|none of )'
		expect_grep "no tracefs: the nearest name" out "did you mean 'syscalls/sys_enter_openat'"
	fi
	run without cgroup2 "$BPFBENCH" --object "$object" --program on_connect --program on_malloc --drive step --loads 1 -n 20 --no-store
	if [[ $status == 77 ]]; then
		skip "no cgroup2" "it cannot be unmounted here"
	else
		expect_grep "no cgroup2: what needs it is skipped by name, with the remedy" err \
			'skipped: fire/(empty-cgroup_sock_addr|on_connect)/step: there is no cgroup2 folder .*sudo mount -t cgroup2 none'
		check "no cgroup2: the others are measured" more "$(bmf "$TMP/out" fire/on_malloc/step latency)" 0
	fi
	# A hierarchy of cgroups of version 1 with a name and no controller, which disappears when
	# it is unmounted.
	run without cgroup2 bash -c 'mount -t cgroup -o "none,name=bpfbench-test-$$" none "$1" || exit 77; shift; "$@"; rc=$?
		umount "$0"; exit $rc' "$WORK" "$WORK" "$BPFBENCH" --object "$object" --program on_connect --program on_malloc \
		--drive step --loads 1 -n 20 --no-store
	if [[ $status == 77 ]]; then
		skip "cgroups of version 1" "none can be mounted here"
	else
		expect_grep "cgroups of version 1: what needs version 2 is skipped by name" err 'skipped: fire/(empty-cgroup_sock_addr|on_connect)/step: there is no cgroup2 folder'
		check "cgroups of version 1: the others are measured" more "$(bmf "$TMP/out" fire/on_malloc/step latency)" 0
	fi
fi

# --- killed in the midst ---
# children: the children of $child, among them the one that fires and the keeper of the cgroup.
children() { cat "/proc/$child/task/"*/children 2>/dev/null || true; }
fires() { [[ -n $(children) ]]; }
gone() {
	local pid

	for pid in $born; do [[ ! -e /proc/$pid ]] || [[ $(awk '{print $3}' "/proc/$pid/stat" 2>/dev/null) == Z ]] || return 1; done
}
no_cgroup() { [[ -z $(find /sys/fs/cgroup -maxdepth 2 -name "bpfbench-$killed-*" 2>/dev/null) ]]; }

start "$BPFBENCH" --object "$object" --program on_malloc --drive step --loads 2000 -n 400000 --budget 0 --results "$results"
if wait_until 5 fires; then
	sleep 0.5
	born=$(children) killed=$child
	stop_child KILL
	check "killed: no process is left" wait_until 5 gone
	check "killed: no cgroup is left" wait_until 5 no_cgroup
else
	stop_child TERM
	not_ok "killed: it fires" "$(tap_shown)"
fi
nothing_left "killed" 0
plan_done
