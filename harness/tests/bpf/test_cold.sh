#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --cold from the command line, as root: the p50 of 48 runs is higher with cold caches than with hot
# ones, and the table has both. unit/drivers/test_bpf_cold.c tests the same with statistics.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("both ends" "nothing is left behind" "compared")
need_root "${names[@]}" && need_exact_faults "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

p50() { bmf "$TMP/out" "perf_profiler/$1/$2/stack_depth=8" latency-p50; }
all_colder() { more "$(p50 empty step-cold)" "$(p50 empty step)" && more "$(p50 stackid step-cold)" "$(p50 stackid step)"; }

# A series is void, rightly, if this thread takes a page fault too many because the kernel reclaimed
# a page; and others may slow down the hot runs alone. Only what is wrong with every seed is a
# mistake of ours.
for seed in {1..8}; do
	real --scenario perf_profiler --cold -d step -d step-cold -V stackid -n 48 --loads 6 --seed "$seed"
	if ! grep -q ' void: ' "$TMP/err" && all_colder >"$TMP/colder"; then break; fi
	sed -n 's/^.* void: /# void: /p' "$TMP/err"
	((seed == 8)) || rm -rf -- "$results"
done
if grep -q 'skipped: perf_profiler/step-cold' "$TMP/err"; then
	skip_each "$(grep -m 1 'skipped: .*step-cold' "$TMP/err")" "${names[@]}" || plan_done
fi
# Where another guest of the host uses the caches all the time, a whole case may be void with every
# seed. No case may be void for another reason.
if [[ $status != 0 ]] && grep -q ' void: ' "$TMP/err" && ! grep ' void: ' "$TMP/err" | grep -qv 'caches were warmer or colder'; then
	skip_each "others use the caches of this machine: $(grep -m 1 -o 'caches were warmer or colder.*' "$TMP/err")" "${names[@]}" || plan_done
fi
expect_status "both ends: succeeds" 0
check "both ends: stdout is strictly valid BMF" valid_bmf "$TMP/out"
# Where others use the caches, too, a load may be void because its caches were warmer or colder than
# those of the rest.
check "both ends: no series is void but for its caches" eval "! grep ' void: ' '$TMP/err' | grep -v 'caches were warmer or colder'"
for variant in empty stackid; do
	check "both ends: $variant costs more cold" more "$(p50 "$variant" step-cold)" "$(p50 "$variant" step)"
done
expect_grep "both ends: the table has them side by side" err '^perf_profiler, step, from hot to cold caches \(ns per run\)$'
expect_eq "both ends: a row for each depth and variant" \
	"$(grep -cE '^ +(8|32|127) +(empty|stackid) +[0-9 .]+' "$TMP/err")" 6
nothing_left "both ends" 1

for _ in 1 2 3; do
	real compare --cold -d step-cold --scenario perf_profiler --base stackid --head empty --loads 2 --no-store
	! grep -q '^perf_profiler/step-cold/stack_depth=127 ' "$TMP/out" || break
	sed 's/^/# /' "$TMP/err"
done
expect_status "compared: succeeds" 0
expect_grep "compared: by the drive's name" out '^perf_profiler/step-cold/stack_depth=127 +latency, ns '
nothing_left "compared" 0

plan_done
