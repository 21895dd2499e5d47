#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A full disk and limits of the process that are reached, as root: the message gives the true
# reason.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that run calls
. "$(dirname "$0")/../tool.sh"

need_root "a full disk" "small files" "few descriptors" "little memory" "a user namespace" "a command of which nothing can be copied" || plan_done
object=$O/tests/bpf/fire.bpf.o
measure=("$BPFBENCH" --object "$object" --program on_openat --drive step --loads 1 -n 20 --no-store)

# limited OPTION VALUE COMMAND...: under this limit, without the right to raise it. The output goes
# to pipes, to which ulimit -f does not apply.
limited() {
	setpriv --bounding-set -sys_resource bash -c 'set -o pipefail; ulimit "$1" "$2"; shift 2
		{ "$@" 2>&1 >&3 3>&- | cat >&2; } 3>&1 | cat' _ "$@"
}

# on_full_disk COMMAND...: in a folder with room for only a part of the output.
on_full_disk() {
	unshare --mount --propagation private bash -c 'mount -t tmpfs -o size=8k,nr_inodes=8 none "$1" || exit 77
		head -c 4096 /dev/zero >"$1/first" && cd "$1" || exit 77; shift; exec "$@"' _ "$WORK" "$@"
}
run on_full_disk "$BPFBENCH" init "$object" -o scenario.yml
if ! unshare --mount true 2>/dev/null || [[ $status == 77 ]]; then
	skip "a full disk" "no file system can be mounted here"
else
	expect_grep "a full disk: it is said" err '^bpfbench: scenario.yml: No space left on device$'
	expect_no_grep "a full disk: no other reason is said" err 'Input/output error'
fi

run limited -f 8 "${measure[@]}"
expect_status "small files: nothing is measured" 1
expect_grep "small files: the limit is named" err 'floors.bpf.o: .*File too large; .*\(ulimit -f\)$'
expect_no_grep "small files: no object is called damaged" err 'damaged|prctl'

# Whichever descriptor is one too many, the message names the limit and blames nothing else.
few_descriptors() {
	local n said=0

	for n in 6 8 10 12 14 16 20 24 28 30 32 33 34 35 36 38 40 44; do
		limited -n "$n" "${measure[@]}" --program on_malloc >"$TMP/few" 2>&1 || true
		! grep -E 'no tracepoint|no [ku]probes|verifier rejects|lockdown|/proc mounted' "$TMP/few" || { printf 'ulimit -n %d\n' "$n"; return 1; }
		! grep -q 'allow more open files (ulimit -n)' "$TMP/few" || said=$((said + 1))
	done
	((said > 5)) || { printf 'said %d times\n' "$said"; return 1; }
}
check "few descriptors: the limit is named, and no other reason" few_descriptors

# With less and less memory: no object is called unreadable.
little_memory() {
	local kib

	for ((kib = 120000; kib >= 60000; kib -= 5000)); do
		limited -v "$kib" "${measure[@]}" >"$TMP/little" 2>&1 || true
		! grep -E 'not a BPF object|build it with clang|damaged' "$TMP/little" || { printf 'ulimit -v %d\n' "$kib"; return 1; }
	done
}
check "little memory: no object is called unreadable" little_memory

# Root of a user namespace has no capabilities outside of it.
if ! unshare --user --map-root-user true 2>/dev/null; then
	skip "a user namespace" "there is none for us"
else
	run unshare --user --map-root-user "${measure[@]}"
	expect_grep "a user namespace: it is named" err 'on_openat.*this root is one of a user namespace'
	expect_no_grep "a user namespace: nothing is said of lockdown" err 'lockdown'
fi

# Without CAP_SYS_PTRACE the kernel refuses to copy from a process of another user. With
# ptrace_scope 3 it refuses that to all.
cp "$O/tests/tools/load_all" "$object" "$WORK"
chmod 755 "$WORK"/*
run setpriv --bounding-set -sys_ptrace "$BPFBENCH" capture -o "$TMP/none" -- \
	setpriv --reuid="$NOBODY" --clear-groups "$WORK/load_all" "$WORK/fire.bpf.o"
expect_grep "a command of which nothing can be copied: this is said" err 'could not be copied \(pidfd_getfd.*ptrace_scope.*seccomp'
expect_no_grep "a command of which nothing can be copied: nothing is said of its programs" err 'loaded no BPF program'

plan_done
