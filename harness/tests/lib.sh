# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Helpers for the shell tests, harness/tests/*/test_*.sh. Source it first:
#
#	#!/usr/bin/env bash
#	. "$(dirname "$0")/../lib.sh"
#	run ./bpfbench list
#	expect_status "list succeeds" 0
#	expect_grep "list names the scenario" out '^perf_profiler'
#	plan_done
#
# Every helper below that takes a NAME prints exactly one TAP line. Tests run in the top folder of the tree ($ROOT) with
# O (absolute), TMP (a scratch folder that is removed at the end) and BPFBENCH set; stdout is for TAP alone.
set -euo pipefail

ROOT=${ROOT:-$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)}
cd -- "$ROOT"
O=$(realpath -m -- "${O:-build}")
BPFBENCH=$ROOT/bpfbench
TMP=$(mktemp -d "${TMPDIR:-/tmp}/bpfbench-test.XXXXXX")
# COLUMNS: bpfbench breaks no line of text, so that a pattern finds all of its words in one line.
export ROOT O BPFBENCH TMP PATH=$PATH:/usr/sbin:/sbin COLUMNS=10000
trap 'rm -rf -- "$TMP"' EXIT

# With SUDO_UID set, bpfbench would open our files as the user who called sudo. So these variables are unset; tests that want them set
# them. make_built in tool.sh passes the caller's on.
declare -a sudo_caller=()
# shellcheck disable=SC2034 # tool.sh uses it
[[ -z ${SUDO_UID:-} ]] || sudo_caller=("SUDO_UID=$SUDO_UID" "SUDO_GID=${SUDO_GID:-}")
unset "${!SUDO_@}"

tap_n=0 tap_failed=0
status=0	# of the last `run`

# Prints "FILE:LINE" of the test's line that called a helper here.
tap_where() {
	local i=1

	while [[ ${BASH_SOURCE[$i]:-} == "${BASH_SOURCE[0]}" ]]; do i=$((i + 1)); done
	printf '%s:%s' "${BASH_SOURCE[$i]:-?}" "${BASH_LINENO[$((i - 1))]:-?}"
}

ok() { tap_n=$((tap_n + 1)); printf 'ok %d - %s\n' "$tap_n" "$1"; }

# not_ok NAME [DETAIL]: a failure; DETAIL may have many lines.
not_ok() {
	tap_n=$((tap_n + 1)) tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n# at %s\n' "$tap_n" "$1" "$(tap_where)"
	[[ -z ${2:-} ]] || printf '%s\n' "$2" | sed 's/^/# /'
}

# skip NAME REASON: a check that cannot be made here.
skip() { tap_n=$((tap_n + 1)); printf 'ok %d - %s # SKIP %s\n' "$tap_n" "$1" "$2"; }

# check NAME CMD...: ok if CMD succeeds; otherwise CMD's output is the detail of the failure.
check() {
	local name=$1 rc=0

	shift
	"$@" >"$TMP/.check" 2>&1 </dev/null || rc=$?
	if ((rc == 0)); then
		ok "$name"
	else
		not_ok "$name" "exit code $rc: $*"$'\n'"$(tail -n 40 "$TMP/.check")"
	fi
}

# run CMD...: its stdout goes to $TMP/out, its stderr to $TMP/err, its exit code to $status. Never fails itself.
run() {
	status=0
	tap_command="$*"
	"$@" >"$TMP/out" 2>"$TMP/err" </dev/null || status=$?
}

tap_shown() {
	printf 'command: %s (exit code %s)\n--- stdout\n%s\n--- stderr\n%s' "${tap_command:-}" "$status" \
		"$(tail -n 20 "$TMP/out")" "$(tail -n 20 "$TMP/err")"
}

# expect_status NAME CODE: the last `run` had this exit code.
expect_status() {
	if [[ $status == "$2" ]]; then ok "$1"; else not_ok "$1" "expected exit code $2"$'\n'"$(tap_shown)"; fi
}

# expect_grep NAME out|err REGEX: some line of the last `run` matches the extended regex; expect_no_grep: none does.
expect_grep() {
	if grep -qE -- "$3" "$TMP/$2"; then ok "$1"; else not_ok "$1" "no line of $2 matches: $3"$'\n'"$(tap_shown)"; fi
}

expect_no_grep() {
	if ! grep -qE -- "$3" "$TMP/$2"; then ok "$1"; else not_ok "$1" "a line of $2 matches: $3"$'\n'"$(tap_shown)"; fi
}

# expect_empty NAME out|err: the last `run` printed nothing there.
expect_empty() {
	if [[ ! -s $TMP/$2 ]]; then ok "$1"; else not_ok "$1" "$2 should be empty"$'\n'"$(tap_shown)"; fi
}

# expect_eq NAME ACTUAL EXPECTED: both are equal.
expect_eq() {
	if [[ $2 == "$3" ]]; then ok "$1"; else not_ok "$1" "got:      $2"$'\n'"expected: $3"; fi
}

# skip_each REASON NAME...: skips each NAME, and returns false.
skip_each() {
	local reason=$1 name

	shift
	for name in "$@"; do skip "$name" "$reason"; done
	return 1
}

# need_root NAME...: true if we are root. Otherwise skips each NAME with the reason, and returns false:
#	if need_root "a" "b"; then check "a" ...; check "b" ...; fi
need_root() {
	[[ $EUID != 0 ]] || return 0
	skip_each "needs root" "$@"
}

# need_exact_faults NAME...: likewise, for tests whose event is a page fault, which must have no other cause.
need_exact_faults() {
	grep -qs -- -fsanitize=address "$O/flags" || return 0
	skip_each "AddressSanitizer takes page faults of its own, which are the event" "$@"
}

# need_command CMD NAME...: likewise, for a program that may be missing.
need_command() {
	local command=$1

	shift
	command -v "$command" >/dev/null && return 0
	skip_each "no $command here" "$@"
}

# need_uprobes NAME...: likewise, for a kernel without uprobes.
need_uprobes() {
	[[ ! -e /sys/bus/event_source/devices/uprobe/type ]] || return 0
	skip_each "this kernel has no uprobes" "$@"
}

# Prints the path of a bpftool that works; fails if there is none. Ubuntu's /usr/sbin/bpftool is a wrapper that refuses to run on any
# kernel but its own; the real ones are in other folders.
find_bpftool() {
	local path

	for path in "${BPFTOOL:-}" bpftool /usr/lib/linux-tools/*/bpftool /usr/lib/linux-tools-*/bpftool; do
		if [[ -n $path ]] && "$path" version >/dev/null 2>&1; then
			printf '%s\n' "$path"
			return 0
		fi
	done
	return 1
}

# Ends every test: prints the plan. Exits with 1 if a check failed, for those who run the script by hand.
plan_done() {
	printf '1..%d\n' "$tap_n"
	((tap_failed == 0)) || exit 1
	exit 0
}
