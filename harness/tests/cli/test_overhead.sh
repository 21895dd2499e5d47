#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bpfbench overhead` without root: which values its options take, and the messages about bad ones, before anything runs.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

bpfbench() { run "${user[@]}" "$BPFBENCH" overhead "$@"; }

bpfbench --help
expect_status "--help" 0
expect_grep "--help: says whose rights" out 'The agent runs with the rights of bpfbench'
bpfbench -- true
complains "no agent" 2 "which agent\? bpfbench overhead --agent 'CMD' -- WORKLOAD"
bpfbench --agent a
complains "no workload" 2 "which workload\?"
bpfbench --agent a --load b -- true
complains "two workloads" 2 '--load and a workload after .--.: one of them'
bpfbench --agent a --server b
complains "a server without a load" 2 "which workload\?"
bpfbench --agent a true
complains "a workload without --" 2 "'true' is no option; the workload stands after .--."
bpfbench --agent a --agent b -- true
complains "two agents under one name" 2 'one agent at a time'
bpfbench --agent a --fail-on inconclusive -- true
complains "inconclusive never fails" 2 "--fail-on takes above or never, not 'inconclusive'"
for bad in 0 -1 nan 5%x; do
	bpfbench --agent a "--max=$bad" -- true
	complains "a bad limit: $bad" 2 "--max takes a number from 0.001 to 1000"
	bpfbench --agent a "--budget=$bad" -- true
	complains "a bad budget: $bad" 2 "--budget takes a number from 1 to 86400"
done
bpfbench --agent a --requests 0 -- true
complains "no requests" 2 "--requests takes a whole number from 1"
bpfbench --agent a --format xml -- true
complains "a format that is not there" 2 "no format 'xml'; there are: table, markdown, json, bmf"
bpfbench --agent a -o "$WORK/none/o.json" -- true
complains "a file that cannot be written: before anything runs" 1 'none/o.json: cannot be written'
if need_user "without privileges"; then
	bpfbench --agent a --budget 1 -- true
	complains "without privileges: what is needed" 1 'CAP_SYS_ADMIN.*run as root, with sudo'
fi
plan_done
