#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How often `compare` gives a false verdict, and how often it finds a slowdown, while every CPU is busy with other work. Called by
# `make bench-verdicts`.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
export O=${O:-build}
aa=${AA:-300} tries=${TRIES:-100}
# shellcheck source=harness/tests/bench/busy_cpus.sh
. harness/tests/bench/busy_cpus.sh

usage() {
	cat <<-EOF
	Usage: harness/tests/bench/verdicts.sh

	Runs the self-test with a busy loop on every CPU: $aa comparisons of a program with itself (reloads, threshold 1 %)
	for perf_profiler's ringbuf and a loopy program, then $tries with an injected slowdown of 2 % on ringbuf, and of
	1 % (threshold 0.5 %) on a straight-line program; and how often other methods say "different" on the same samples.
	Takes about 8 minutes. Needs root.

	Environment: AA and TRIES, the numbers of comparisons (300, 100); O, the build folder (build).
	Exit codes: 0 all bounds held, 1 one was missed, 2 usage.
	EOF
}

case ${1:-} in
'') ;;
--help | -h) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac

trap 'leave_cpus' EXIT
keep_cpus_busy

missed=0
# try PROGRAM MODE N INJECT% THRESHOLD%: runs one row of the self-test and checks its bounds: no false verdict, 95 % of the slowdowns
# found, 93 % of the intervals contain the true value.
try() {
	local program=$1 mode=$2 n=$3 out row k covered verdict=ok
	out=$("$O/bench/bench_verdicts" "$@")
	printf '%s\n\n' "$out"
	row=$(grep -m 1 "^$program " <<<"$out")
	k=$(sed -E 's,^[a-z]+ +[a-z-]+ +([0-9]+)/.*,\1,' <<<"$row")
	covered=$(sed -E 's,.* ([0-9]+)/[0-9]+ .*,\1,' <<<"$row")
	if [[ $mode == reloads ]]; then
		((k == 0)) || verdict=MISS
		printf '%s %s: %d false verdicts in %d (bound 0): %s\n\n' "$program" "$mode" "$k" "$n" "$verdict"
	else
		((100 * k >= 95 * n && 100 * covered >= 93 * n)) || verdict=MISS
		printf '%s %s by %s %%: %d of %d found (bound 95 %%), %d intervals hold the truth (bound 93 %%): %s\n\n' "$program" \
			"$mode" "$4" "$k" "$n" "$covered" "$verdict"
	fi
	[[ $verdict == ok ]] || missed=1
}

try ringbuf reloads "$aa" 0 1
try loop reloads "$aa" 0 1
try ringbuf injected "$tries" 2 1
try straight injected "$tries" 1 0.5
exit "$missed"
