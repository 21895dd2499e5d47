#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the fuzzers, one after the other; see --help.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
O=${O:-build}
seconds=${FUZZ_SECONDS:-60} runs=${FUZZ_RUNS:--1}
((runs < 0)) || seconds=0

usage() {
	cat <<-'EOH'
	Usage: harness/tests/fuzz/run.sh [NAME]...

	Runs the fuzzers of harness/tests/fuzz (built by make fuzz), or those called fuzz_NAME, and ends with the line
	'N passed, N failed'. What makes one fail is kept in O/fuzz/failed, with the command that shows it.

	Environment: O, the build folder (build); FUZZ_SECONDS, for each (60); FUZZ_RUNS, so many inputs to each instead.
	Exit codes: 0 all passed, 1 some failed, 2 usage.
	EOH
}

# stat_of NAME: one of the statistics that libFuzzer prints at its end.
stat_of() { sed -n "s/^stat::$1: *//p" "$log" | tail -n 1; }

# Fuzzes one target. Inputs are at most a bit longer than the seeds; each has limits of memory and time.
fuzz() {
	local name=$1 corpus=$O/fuzz/corpus/$1 program=$O/fuzz/fuzz_$1 failed

	failed=$O/fuzz/failed/$name-
	mkdir -p "$corpus" "$O/fuzz/failed"
	harness/tests/fuzz/seeds.sh "$name" "$O/fuzz/seeds/$name"
	log=$O/fuzz/$name.log
	if "$program" -max_total_time="$seconds" -runs="$runs" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=1024 \
		-print_final_stats=1 -artifact_prefix="$failed" "$corpus" "$O/fuzz/seeds/$name" >"$log" 2>&1 </dev/null; then
		printf 'ok    %-12s %10s inputs, at most %s MB\n' "$name" "$(stat_of number_of_executed_units)" \
			"$(stat_of peak_rss_mb)"
		return 0
	fi
	printf 'FAIL  %s: the end of %s:\n' "$name" "$log"
	grep -vE '^#[0-9]+[[:space:]]' "$log" | tail -n 40
	printf 'To see it again: %s %s\n' "$program" "$(grep -oE "${failed}[a-z]+-[0-9a-f]+" "$log" | tail -n 1)"
	return 1
}

case ${1:-} in
-h | --help) usage; exit 0 ;;
-*) usage >&2; exit 2 ;;
esac
names=("$@")
if ((${#names[@]} == 0)); then
	for source in harness/tests/fuzz/fuzz_*.c; do
		source=${source##*/fuzz_}
		names+=("${source%.c}")
	done
fi
passed=0 failures=0
for name in "${names[@]}"; do
	[[ -x $O/fuzz/fuzz_$name ]] || { printf 'run.sh: %s is not there: make fuzz\n' "$O/fuzz/fuzz_$name" >&2; exit 2; }
	if fuzz "$name"; then passed=$((passed + 1)); else failures=$((failures + 1)); fi
done
printf '%d passed, %d failed\n' "$passed" "$failures"
((failures == 0))
