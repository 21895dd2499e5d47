#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The drive step by test runs, from the command line, as root: every input of the published scenario
# fun_xdp is measured, its planted regression shows, and no program, link, device or network
# namespace is left behind, however the run ends.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("fun_xdp" "the planted regression" "nothing is left behind" "what is expected of a run" "types without a test run")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"
objects=$O/tests/bpf

# network: devices and named namespaces. A namespace without a name ends with the last process or
# link that holds it; nothing_left looks for those.
network() { cut -d: -f1 /proc/net/dev | sort; ls /run/netns 2>/dev/null || true; }
network_before=$(network)
no_network() { [[ $(network) == "$network_before" ]]; }

# --- the scenario ---
real --scenario fun_xdp -d step -n 60 --loads 2 --seed 1 --no-store
if grep -q 'network namespace\|veth' "$TMP/err" && ((status == 4)); then
	skip_each "$(grep -m 1 'XDP is measured attached' "$TMP/err")" "${names[@]}" || plan_done
fi
expect_status "fun_xdp: succeeds" 0
check "fun_xdp: stdout is strictly valid BMF" valid_bmf "$TMP/out"
expect_no_grep "fun_xdp: no series is void, so every run returned what is expected and no push failed" err 'void|drops [1-9]'
variants='empty v0 v1 v2 v3 v4'
counts=''
for variant in $variants; do counts+="$variant $(grep -cE "^  \"fun_xdp/$variant/step/input=[0-9]+\": " "$TMP/out") "; done
expect_eq "fun_xdp: every variant has its 256 inputs" "$counts" "empty 256 v0 256 v1 256 v2 256 v3 256 v4 256 "
cp "$TMP/out" "$TMP/fun.bmf"

# The loop of v3 turns 12 times for 233 and 381 times for 255; the table of v4 has 13 entries for
# either. The time of the empty program, which is half of v4's, is subtracted: a CPU that is fast at
# loops need not be fast at calling a program.
cost() { bmf "$TMP/fun.bmf" "fun_xdp/$1/step/input=$2" latency; }
net() { awk -v x="$(cost "$1" "$2")" -v empty="$(cost empty "$2")" 'BEGIN { print x - empty }'; }
twice() { awk -v x="$1" 'BEGIN { print 2 * x }'; }
check "fun_xdp: the loop of v3 costs far more at 255 than at 233" more "$(net v3 255)" "$(twice "$(net v3 233)")"
check "fun_xdp: the table of v4 does not" more "$(twice "$(net v4 233)")" "$(net v4 255)"
check "fun_xdp: at 255, v3 costs far more than v4" more "$(net v3 255)" "$(twice "$(net v4 255)")"
check "fun_xdp: no device or namespace is left" wait_until 2 no_network
nothing_left "fun_xdp" 0

# --- two versions against each other ---
real compare --scenario fun_xdp --base v4 --head v3 --loads 1 --no-store --seed 1
expect_status "compare: succeeds" 0
# The verifier works longer on a loop than on straight code, whatever the compiler and the kernel.
expect_grep "compare: exact counts that differ are rows that say more" out '^fun_xdp +verified-instructions .* \+[0-9 ]+ +\+[0-9.e+]+ +more$'
nothing_left "compare" 0

# --- however it ends ---
has_namespace() { readlink "/proc/$child/fd/"* 2>/dev/null | grep '^net:' | grep -qvF "$(readlink /proc/self/ns/net)"; }

# ends SIGNAL: it ends a run, which leaves nothing behind.
ends() {
	local name="SIG$1" expected=1 at

	start "$BPFBENCH" --scenario fun_xdp -V v3 -d step -n 1000000 --loads 1 --budget 0 --results "$results" --verbose
	check "$name: before it, there is a namespace to be left" wait_until 5 has_namespace
	check "$name: before it, a case is measured" wait_until 30 grep -q 'measuring fun_xdp/' "$TMP/err"
	# Signals come in the midst of samples: the preparations end soon after the case is named.
	at=$(ticks)
	wait_until 10 used $((at + $(getconf CLK_TCK))) || true
	[[ $1 != KILL ]] || expected=137
	stop_child "$1"
	expect_status "$name: exit code $expected" "$expected"
	expect_empty "$name: no BMF" out
	check "$name: no device or namespace is left" wait_until 2 no_network
	nothing_left "$name" "$((expected == 1))"
}
for signal in INT KILL; do ends "$signal"; done

# --- expected return values and outputs ---
# scenario VARIANTS INPUTS: variants are programs of test_run.bpf.o.
scenario() {
	printf 'name: t\nobject: %s\nvariants: [%s]\ndrive:\n' "$objects/test_run.bpf.o" "$1"
	printf '  - {with: step, trigger: test-run, samples: 40, inputs: [%s]}\n' "$2"
}
frame='02000000000102000000000288b5'
says() { printf '{name: %s, hex: "%s%s", retval: %s}' "$1" "$frame" "$2" "$3"; }

scenario '{name: xdp_says}' "$(says pass 02 XDP_PASS), $(says drop 01 XDP_PASS)" >"$WORK/says.yml"
real -s "$WORK/says.yml" --loads 2
expect_status "a wrong return value: exit code 1" 1
expect_no_grep "a wrong return value: not in the BMF" out 'input=drop'
expect_grep "a wrong return value: the other input is" out '"t/xdp_says/step/input=pass"'
expect_grep "a wrong return value: void by name, with the reason" err \
	'void: t/xdp_says/step/input=drop: 2 of 2 series .*: returned 1 \(XDP_DROP\), 2 \(XDP_PASS\) expected'
expect_grep "a wrong return value: and the line where it returned" err \
	"expected; it returned at test_run\.bpf\.c:$(grep -n -A9 'int xdp_says' "$ROOT/harness/tests/bpf/test_run.bpf.c" | grep -m1 return | cut -d- -f1) \"return "
expect_no_grep "a wrong return value: the other input counts" err 'void: t/xdp_says/step/input=pass'
rm -rf "$results"
scenario '{name: xdp_says}, {name: again, program: xdp_says}' "$(says drop 01 XDP_PASS)" >"$WORK/both.yml"
real compare -s "$WORK/both.yml" --base xdp_says --head again --loads 2
expect_no_grep "a wrong return value in compare: no verdict" out '^t/step .*(regressed|improved|same)'
expect_grep "a wrong return value in compare: says why" out 'returned 1 \(XDP_DROP\), 2 \(XDP_PASS\) expected'
rm -rf "$results"

scenario '{name: xdp_writes}' "{name: a, hex: \"${frame}07\", out_hex: \"${frame}09\"}" >"$WORK/writes.yml"
real -s "$WORK/writes.yml" --loads 2
expect_grep "a wrong output: void by name, with the reason" err 'void: t/xdp_writes/step.*: byte 14 of the output is 0x08, 0x09 expected'
rm -rf "$results"
scenario '{name: xdp_writes}' "{name: a, hex: \"${frame}07\", out_hex: \"${frame}08\", retval: XDP_TX}" >"$WORK/writes.yml"
real -s "$WORK/writes.yml" --loads 2 --quiet
expect_status "the right output: succeeds" 0
check "the right output: BMF" valid_bmf "$TMP/out"
rm -rf "$results"

scenario '{name: tc_shot}' '{name: short, hex: "00 01 02"}' >"$WORK/short.yml"
real -s "$WORK/short.yml" --loads 2
check "a packet that is too short: fails" test "$status" = 1 -o "$status" = 2
expect_grep "a packet that is too short: says so" err 'short.*(14 bytes|from 14)'

# --- return values are expected of the variants, not of the floor ---
{ scenario '{name: empty, program: empty_xdp, object: floors.bpf.o}, {name: xdp_says}' \
	"$(says drop 01 XDP_DROP), $(says tx 03 XDP_TX)" && printf 'floor: empty\n'; } >"$WORK/floor.yml"
real -s "$WORK/floor.yml" --loads 2
expect_status "the floor under DROP and TX: exit code 0" 0
expect_no_grep "the floor under DROP and TX: nothing is void" err 'void'
expect_eq "the floor under DROP and TX: both have a net cost" "$(grep -c '"latency-net"' "$TMP/out")" 2
expect_grep "the floor under DROP and TX: the row has the input's name" err '^  xdp_says +tx +[*]?-?[0-9]'
rm -rf "$results"

# --- types without a test run ---
scenario '{name: perf_event_program}, {name: xdp_pass}' "$(says pass 02 XDP_PASS)" >"$WORK/some.yml"
real -s "$WORK/some.yml" --loads 2
expect_status "a type without a test run beside one that has it: succeeds" 0
expect_grep "a type without a test run: skipped by name" err "skipped: t/perf_event_program/step: .*'trigger: page-fault' makes them run"
expect_grep "a type without a test run: the other is measured" out '"t/xdp_pass/step"'
rm -rf "$results"
scenario '{name: perf_event_program}' "$(says pass 02 0)" >"$WORK/none.yml"
real -s "$WORK/none.yml" --loads 2
expect_status "a type without a test run alone: exit code 4" 4
expect_grep "a type without a test run alone: skipped by name" err 'skipped t/perf_event_program/step: '
nothing_left "at the end" 0

plan_done
