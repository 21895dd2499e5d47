#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that are loaded already, without root: which values the options take, and the message if we may not look at programs.
# turn: it turns bpf_stats on for moments
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

# bpfbench ARGS: runs bpfbench without root, by `run`.
bpfbench() { run "${user[@]}" "$BPFBENCH" "$@"; }

# --- bpfbench live ---
bpfbench live --help
expect_grep "live --help: says what it costs" out 'Overhead: bpf_stats is on meanwhile'
expect_grep "live --help: documents --sort" out '--sort=COLUMN'
bpfbench --help
expect_grep "--help lists live" out '^  live '
bpfbench live --format tabel
complains "live: unknown format" 2 "no format 'tabel'; did you mean 'table'\?"
bpfbench live --sort colour
complains "live: unknown column" 2 "no sort 'colour'; there are: cpu, runs, ns, name"
bpfbench live xdp
complains "live: takes no argument" 2 "'xdp' is no option"
bpfbench live -o "$WORK/none/live.prom"
complains "live: a file that cannot be written: before anything is watched" 1 'none/live.prom: cannot be written'
for bad in 0 -1 1s nan 1e9; do
	bpfbench live "--seconds=$bad"
	complains "live: a bad period: $bad" 2 "--seconds takes a number from 0.1 to 86400, not '$bad'"
done

# --- run ---
for bad in 0 -1 12abc 4294967296 0x; do
	bpfbench "--prog-id=$bad"
	complains "a bad id: $bad" 2 "--prog-id takes a whole number from 1 to 4294967295, not '$bad'"
done
bpfbench --prog-id 1 --trigger page-fault
complains "a trigger that would attach it" 2 "loaded programs take --trigger test-run, not 'page-fault'"
bpfbench --prog-id 1 --trigger test-run --seconds 1
complains "test runs by time" 2 'test runs go by --samples, not by --seconds'
bpfbench -s perf_profiler --seconds 1
complains "--seconds of a scenario" 2 '--seconds is for loaded programs'
bpfbench --prog-id 1 --seconds 0
complains "no time at all" 2 "--seconds takes a number from 0.01 to 86400, not '0'"

# --- scenarios: mistakes are reported before any program is opened ---
printf 'name: n\nvariants:\n  - {name: a, id: 1, object: b.o}\ndrive: [{with: live}]\n' >"$WORK/both.yml"
bpfbench -s "$WORK/both.yml" --dry-run
complains "a loaded program with an object" 1 "both.yml:3:30: key 'object' is for programs that bpfbench loads"
printf 'name: n\nvariants:\n  - {name: a, id: 7}\n  - {name: b, pinned: /sys/fs/bpf/b}\ndrive: [{with: live, seconds: 2}]\n' >"$WORK/live.yml"
bpfbench -s "$WORK/live.yml" --dry-run
expect_grep "--dry-run: by id" out '^  n/a/live +2 s, the loaded program with id 7$'
expect_grep "--dry-run: by pin" out '^  n/b/live +2 s, the program pinned at /sys/fs/bpf/b$'

# --- without privileges ---
if need_user "no privileges"; then
	bpfbench live --once
	complains "live without privileges: what is needed" 1 'CAP_SYS_ADMIN.*run as root, with sudo'
	bpfbench --prog-id 1
	complains "--prog-id without privileges: what is needed" 1 'the program with id 1: .*run as root, with sudo'
	bpfbench --prog-name 'x*'
	complains "--prog-name without privileges: what is needed" 1 'run as root, with sudo'
fi
plan_done
