#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Flame graphs without root: mistakes are reported before anything is measured.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

bpfbench() { run "${user[@]}" "$BPFBENCH" "$@" --results "$WORK/results"; }

bpfbench --scenario process_sample --flame
complains "no workload: said, and what samples instead" 1 "drive in situ, and no such drive of 'process_sample' is measured.*bpfbench profile"
bpfbench --scenario perf_profiler --drive step --flame
complains "the drive over the workload is not among those chosen" 1 "no such drive of 'perf_profiler' is measured"
bpfbench --scenario perf_profiler --flame="$WORK/nosuch/a.svg"
complains "a folder that is not there" 1 'nosuch/a.svg: cannot be written'
bpfbench --scenario perf_profiler --scenario fun_xdp --flame
complains "two scenarios" 2 'takes one --scenario'
bpfbench --object "$O/bpf/perf_profiler.bpf.o" --flame
complains "an object without a scenario" 2 'takes one --scenario'
bpfbench --scenario perf_profiler --flame --no-store
complains "no place for it" 2 '--flame=FILE.svg'
check "nothing is stored" test ! -e "$WORK/results"
bpfbench --scenario perf_profiler --flame --dry-run
expect_status "a plan with a workload: fine" 0

run ci/flame.sh --help
expect_status "ci/flame.sh --help: succeeds" 0
run ci/flame.sh oops
expect_status "ci/flame.sh, an argument: usage" 2
if need_user "ci/flame.sh without root"; then
	run "${user[@]}" ci/flame.sh
	expect_status "ci/flame.sh without root: failure" 1
	expect_grep "ci/flame.sh without root: what to write" err 'needs root: sudo make flame'
fi

plan_done
