#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs that execute little of their program: the check that turned them away is named, with what to change.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

names=("an object" "other formats" "another input" "several inputs")
need_root "${names[@]}" || plan_done
object=$O/tests/bpf/turned_away.bpf.o
few=(--object "$object" --drive step --loads 2 -n 200)
line() { grep -nm1 "$1" "$ROOT/harness/tests/bpf/turned_away.bpf.c" | cut -d: -f1; }

run "$BPFBENCH" "${few[@]}" --results "$TMP/results" --format table
expect_status "an object: succeeds" 0
expect_grep "an object: the packet's check" out "^  early return: only_tcp: all runs leave at turned_away\.bpf\.c:$(line 'protocol !=') \"if \(ip->protocol != IPPROTO_TCP\)\"; [0-9]+ of [0-9]+ instructions are behind it$"
expect_grep "an object: another packet" out '^    to get further: another packet \(.--packet FILE.\)'
expect_grep "an object: the tracer's filter" out "^  early return: only_one_pid: all runs leave at turned_away\.bpf\.c:$(line 'targ_pid !=\|!= targ_pid') "
expect_grep "an object: another event, or the filter" out '^    to get further: another event .*globals '
expect_grep "an object: an empty map is a failed lookup" out "^  failed lookup: only_services: map 'services' \(hash\) is empty"
expect_grep "an object: which option fills it" out '^    the cost of a miss; fill it: `--fill services=N` or `bpfbench -- LOADER`'
expect_eq "an object: no other notes" "$(grep -c '^  early return: ' "$TMP/out")" 2

run "$BPFBENCH" show latest --results "$TMP/results" --format markdown
expect_grep "other formats: Markdown, from the stored run" out '^- \*\*early return\*\*: only\\_tcp: '
expect_no_grep "other formats: Markdown has one reason, not two" out 'little executed'
run "$BPFBENCH" report --results "$TMP/results" -o "$TMP/page.html"
check "other formats: the page" grep -q '<b>early return</b>: only_tcp: .*if (ip-&gt;protocol' "$TMP/page.html"
run "$BPFBENCH" show latest --results "$TMP/results" --format bmf
expect_grep "other formats: beside BMF, on stderr" err '^  early return: turned_away/only_tcp: '

printf '%s\n' 'name: tcp' "object: $object" 'variants: [{name: only_tcp}, {name: only_one_pid, globals: {targ_pid: {pid: self}}}]' \
	'drive: [{with: step, trigger: test-run, variants: [only_tcp], inputs: [{name: syn, packet: {ipv4: {src: 10.0.0.1, dst: 10.0.0.2}, tcp: {src: 1000, dst: 80}}}]},' \
	'  {with: step, trigger: fire, variants: [only_one_pid]}]' >"$WORK/tcp.yml"
run "$BPFBENCH" -s "$WORK/tcp.yml" --loads 2 -n 200 --no-store --format table
expect_status "another input: succeeds" 0
expect_grep "another input: executes most" out 'only_tcp'
expect_no_grep "another input: nothing turns it away" out 'early return'

# --- several inputs ---
ipv4='ipv4: {src: 10.0.0.1, dst: 10.0.0.2}'
printf '%s\n' 'name: mix' "object: $object" 'variants: [{name: only_tcp}]' 'drive: [{with: step, trigger: test-run, inputs: [' \
	"  {name: syn, weight: 0.75, packet: {$ipv4, tcp: {src: 1000, dst: 80}}}, {name: dns, weight: 0.25, packet: {$ipv4, udp: {src: 1000, dst: 53}}}]}]" >"$WORK/mix.yml"
run "$BPFBENCH" -s "$WORK/mix.yml" --loads 2 -n 200 --results "$TMP/mix" --format table
expect_status "several inputs: succeeds" 0
expect_grep "several inputs: a table by return value" out '^mix, only_tcp, step, by return value'
expect_grep "several inputs: with the share of each" out '^  1 \(XDP_DROP\) +1 +75 '
expect_grep "several inputs: and of all" out '^  all +2 +100 '
run "$BPFBENCH" show latest --results "$TMP/mix" --format markdown
expect_grep "several inputs: Markdown, from the stored run" out '^\| 2 \(XDP\\_PASS\) +\|'
sed 's/dns/syn2/; s/udp: {src: 1000, dst: 53}/tcp: {src: 1001, dst: 80}/' "$WORK/mix.yml" >"$WORK/same.yml"
run "$BPFBENCH" -s "$WORK/same.yml" --loads 2 -n 200 --no-store --format table
expect_no_grep "several inputs: one return value is no table" out 'by return value'

# --- another return value than expected ---
printf '%s\n' 'name: wrong' "object: $object" 'variants: [{name: only_tcp}]' 'drive:' '  - {with: step, trigger: test-run, inputs: [' \
	"{name: udp, retval: XDP_DROP, packet: {$ipv4, udp: {src: 1, dst: 2}, size: 80}}, {name: short, retval: XDP_DROP, packet: {$ipv4, size: 40}}]}" >"$WORK/wrong.yml"
run "$BPFBENCH" -s "$WORK/wrong.yml" --loads 2 -n 40 --no-store --format table
for input in udp:'protocol !=' short:'tcp + 1'; do
	expect_grep "a wrong return value: the line where it returned, ${input%:*}" out \
		"input=${input%:*}: .* expected; it returned at turned_away\.bpf\.c:$(line "${input#*:}") \"if "
done
plan_done
