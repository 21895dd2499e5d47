#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Does `gate` fail if and only if it should, while every CPU is busy with other work? Called by `make bench-gate`.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
bpfbench=$(realpath -- "${BPFBENCH:-./bpfbench}")
same=${SAME:-50} slower=${SLOWER:-20}
repo=''
# shellcheck source=harness/tests/bench/busy_cpus.sh
. harness/tests/bench/busy_cpus.sh

usage() {
	cat <<-EOF
	Usage: harness/tests/bench/gate.sh

	Runs \`bpfbench gate\` in a scratch repository with a busy loop on every CPU: $same times on an unchanged revision, built
	and measured all the same (--force), and $slower times on one whose program has 3 % more instructions in a straight
	line. Each run builds both revisions anew. Takes about 15 minutes. Needs root, git and clang.

	Environment: SAME and SLOWER, the numbers of runs (50, 20).
	Exit codes: 0 both bounds held (no failure; 19 of 20 fail), 1 one was missed, 2 usage.
	EOF
}

case ${1:-} in
'') ;;
--help | -h) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac

trap 'leave_cpus; rm -rf -- "$repo"' EXIT
repo=$(mktemp -d "${TMPDIR:-/tmp}/bpfbench-gate-bench.XXXXXX")
# shellcheck source=harness/tests/gate_repo.sh
. harness/tests/gate_repo.sh
make_repo "$repo" 1000
cd "$repo"
git tag same
set_steps 1030
git commit -qam slower
git tag slower

keep_cpus_busy

missed=0
# try NAME HEAD RUNS LEAST MOST [OPTION...]: gates HEAD so often; LEAST to MOST of the runs must exit with 3, all others with 0.
try() {
	local name=$1 head=$2 runs=$3 least=$4 most=$5 failed=0 errors=0 rc verdict=ok began=$SECONDS

	shift 5
	for ((i = 0; i < runs; i++)); do
		rc=0
		"$bpfbench" gate --base same --head "$head" --program work --quiet "$@" >"$repo/.git/report" || rc=$?
		case $rc in
		0) ;;
		3) failed=$((failed + 1)) ;;
		*) errors=$((errors + 1)) ;;
		esac
		[[ ($most == 0 && $rc == 0) || ($most != 0 && $rc == 3) ]] || cat "$repo/.git/report"
	done
	((errors == 0 && failed >= least && failed <= most)) || { verdict=MISS missed=1; }
	printf '%s: %d of %d runs failed (bound: %d to %d), %d errors, %d s each: %s\n' "$name" "$failed" "$runs" "$least" \
		"$most" "$errors" $(((SECONDS - began) / (runs ? runs : 1))) "$verdict"
}

try 'an unchanged revision' same "$same" 0 0 --unchanged
try 'a program 3 % slower' slower "$slower" $(((slower * 19 + 19) / 20)) "$slower"
exit "$missed"
