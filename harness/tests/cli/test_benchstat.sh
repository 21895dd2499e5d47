#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# benchstat (golang.org/x/perf/cmd/benchstat) reads --format benchfmt without complaint, and computes the same figures as we do.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

need_command benchstat "benchstat: reads a run" || plan_done
"$BPFBENCH" show harness/tests/golden/run.json --format benchfmt >"$TMP/old.txt"
# the same run with each time doubled
awk '/ ns\/op$/ { $3 *= 2 } { print }' "$TMP/old.txt" >"$TMP/new.txt"
run benchstat -format csv "$TMP/old.txt" "$TMP/new.txt"
expect_status "benchstat: reads two runs" 0
expect_no_grep "benchstat: no line is refused" err 'syntax|parse|missing|unknown'
expect_eq "benchstat: every benchmark is in its tables" \
	"$(sed -nE 's/^((P|p)erf_profiler[^,]*),.*/\1/p' "$TMP/out" | sort -u)" \
	"$(sed -nE 's/^Benchmark([^ ]+) .* .*/\1/p' "$TMP/old.txt" | sort -u)"
expect_grep "benchstat: nanoseconds are its seconds" out '^,sec/op,CI,sec/op,CI,vs base,P$'
# the median; of an even number of lines, the mean of the two in the middle
median=$(sed -n 's,^BenchmarkPerf_profiler/empty/step/stack_depth=8 [0-9]* \(.*\) ns/op$,\1,p' "$TMP/old.txt" | sort -g |
	awk '{ v[NR] = $1 } END { printf "%.4g", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }')
expect_eq "benchstat: its centre is the median over our loads" \
	"$(awk -F, '$1 == "Perf_profiler/empty/step/stack_depth=8" { printf "%.4g", $2 * 1e9; exit }' "$TMP/out")" "$median"
expect_grep "benchstat: a time that doubled" out '^Perf_profiler/empty/step/stack_depth=8,.*,\+100\.00%,p=0\.000'
expect_grep "benchstat: exact metrics are the same" out '^Perf_profiler/empty,2,0%,2,0%,0\.00%,n=1$'
plan_done
