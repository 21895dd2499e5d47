#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The maps of a loaded program as text that a scenario takes.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

need_root "maps dump" "a scenario" || plan_done
object=$O/tests/bpf/in_vain.bpf.o

"$O/tests/tools/load_all" -m flows 01000000 0500000000000000 -m flows 02000000 0600000000000000 -m blocked_prefixes 000000000a000001 07 \
	"$object" >"$TMP/loaded" &
loader=$!
wait_until 10 test -s "$TMP/loaded"

run "$BPFBENCH" maps dump looks_up -o "$TMP/flows.yml"
expect_status "maps dump: by name" 0
check "maps dump: an entry" grep -qx '      - {key: "02 00 00 00", value: "06 00 00 00 00 00 00 00"}' "$TMP/flows.yml"
expect_eq "maps dump: both entries" "$(grep -c '{key:' "$TMP/flows.yml")" 2
run "$BPFBENCH" maps dump firewall
expect_grep "maps dump: a long name is said" out '^  - name: blocked_prefixe +# lpm_trie; the name may be longer$'
run "$BPFBENCH" maps dump counts_in_array
expect_grep "maps dump: an array" out '^  - name: counters +# array$'
expect_no_grep "maps dump: zeros of an array are left out" out 'key:'
run "$BPFBENCH" maps dump dispatch
expect_grep "maps dump: what a scenario cannot give" out '^  # left out: jump_table \(prog_array\)$'
run "$BPFBENCH" maps dump nobody_has_this_name
expect_status "maps dump: no such program" 1
expect_grep "maps dump: no such program is said" err "no loaded program is named 'nobody_has_this_name'"
run "$BPFBENCH" maps dump 4294967295
expect_status "maps dump: no such id" 1
run "$BPFBENCH" maps looks_up
expect_status "maps dump: without the word dump" 2
kill "$loader"
wait "$loader" 2>/dev/null

{
	printf '%s\n' 'name: dumped' "object: $object" 'variants: [{name: looks_up}]' 'drive: [{with: step, trigger: test-run}]'
	cat "$TMP/flows.yml"
} >"$WORK/dumped.yml"
run "$BPFBENCH" -s "$WORK/dumped.yml" --loads 2 -n 200 --no-store --format table
expect_status "a scenario: takes it" 0
expect_no_grep "a scenario: the lookups find the entries" out 'in vain'

plan_done
