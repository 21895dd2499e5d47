#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two runs of bpfbench on one CPU: the second waits for the first and says for which process; a
# signal ends the wait; --no-wait fails. A run with the fake driver does not wait.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

need_root "two at once" || plan_done
cpu=$(taskset -pc $$ | grep -oE '[0-9]+$')
cat >"$WORK/fake.yml" <<'EOT'
name: fake
variants: [{name: plain}]
drive: [{with: fake}]
EOT
one=("$BPFBENCH" --scenario perf_profiler -V empty -d step --cpu "$cpu" --no-store -q)

start "${one[@]}" -n 100000000 --budget 900
holder=$child
has_it() {
	"$BPFBENCH" --scenario perf_profiler -V empty -d step --cpu "$cpu" --no-wait --no-store -n 10 --loads 1 >"$TMP/has" 2>&1 || true
	grep -q "process $holder " "$TMP/has"
}
if ! wait_until 60 has_it; then
	skip "two at once" "another bpfbench has CPU $cpu for more than a minute"
	plan_done
fi
run "${one[@]}" --no-wait
complains "--no-wait fails, and says who measures there" 1 "process $holder \\(.*bpfbench.*\\) measures on CPU $cpu"
run "$BPFBENCH" --scenario "$WORK/fake.yml" --cpu "$cpu" --no-wait --no-store -q
expect_status "the fake driver needs no CPU to itself" 0

"${one[@]}" -n 10 --loads 1 >"$TMP/second.out" 2>"$TMP/second.err" &
second=$!
waits() { grep -qE "^bpfbench: waiting: process $holder \\(.*\\) measures on CPU $cpu; --no-wait" "$TMP/$1.err"; }
check "the second waits, and says for whom" wait_until 20 waits second
kill -TERM "$second"
rc=0
wait "$second" || rc=$?
expect_eq "a signal ends the wait" "$rc" 1
check "and it says so" grep -q 'stopped by signal 15 .* while waiting for CPU' "$TMP/second.err"

"${one[@]}" -n 10 --loads 1 --budget 3 >"$TMP/third.out" 2>"$TMP/third.err" &
third=$!
check "the third waits, too" wait_until 20 waits third
sleep 4
stop_child KILL
rc=0
wait "$third" || rc=$?
expect_eq "and goes on when the first has ended, the wait being no part of its budget" "$rc" 0
check "with a result" valid_bmf "$TMP/third.out"
plan_done
