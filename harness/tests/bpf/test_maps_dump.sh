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
run "$BPFBENCH" maps dump looks_up --json -o "$TMP/flows.json"
expect_status "maps dump: as JSON" 0
check "maps dump: as JSON, an entry" grep -q '"02000000": "0600000000000000"' "$TMP/flows.json"
run "$BPFBENCH" maps dump firewall --json -o "$TMP/prefixes.json"
sed 's/"0500/"0900/; s/"02000000"/"07000000"/' "$TMP/flows.json" >"$TMP/other.json"
run "$BPFBENCH" maps diff looks_up "$TMP/other.json"
expect_status "maps diff: a program and a file" 0
expect_eq "maps diff: counts and keys" "$(cat "$TMP/out")" 'flows: 1 only in A, 1 only in B, 1 differ, 0 alike
  ~ 01 00 00 00: 05 00 00 00 00 00 00 00 -> 09 00 00 00 00 00 00 00
  - 02 00 00 00: 06 00 00 00 00 00 00 00
  + 07 00 00 00: 06 00 00 00 00 00 00 00'
run "$BPFBENCH" maps diff "$TMP/flows.json" looks_up
expect_grep "maps diff: a file and a program that are alike" out '^flows: 0 only in A, 0 only in B, 0 differ, 2 alike$'
run "$BPFBENCH" maps diff "$TMP/flows.json" "$TMP/prefixes.json"
expect_grep "maps diff: a map that A lacks" out '^blocked_prefixe: 0 only in A, 1 only in B, 0 differ, 0 alike$'
run "$BPFBENCH" maps diff "$TMP/flows.json"
expect_status "maps diff: with one side" 2
kill "$loader"
wait "$loader" 2>/dev/null

{
	printf '%s\n' 'name: dumped' "object: $object" 'variants: [{name: looks_up}]' 'drive: [{with: step, trigger: test-run}]'
	cat "$TMP/flows.yml"
} >"$WORK/dumped.yml"
run "$BPFBENCH" -s "$WORK/dumped.yml" --loads 2 -n 200 --no-store --format table
expect_status "a scenario: takes it" 0
expect_no_grep "a scenario: the lookups find the entries" out 'failed lookup'

# --- --maps: the same file for an object ---
object() {
	run "$BPFBENCH" --object "$object" --loads 2 -n 200 --no-store --format table -d step "$@"
}
object --program looks_up --maps "$TMP/flows.json"
expect_status "--maps: succeeds" 0
expect_no_grep "--maps: the lookups find the entries" out 'failed lookup'
object --program firewall --maps "$TMP/prefixes.json"
expect_status "--maps: the kernel's short name of a map" 0
object --program looks_up --maps "$TMP/flows.json" --fill flows=63
expect_grep "--maps: more entries than the map has room for" err "map 'flows' .*flows.json has 2 entries, and the map has room for 1"
sed 's/"0[12]000000"/"&/; s/""\(..\)000000"/"\1"/' "$TMP/flows.json" >"$TMP/short.json"
object --program looks_up --maps "$TMP/short.json"
expect_grep "--maps: keys that do not fit" err 'short.json has keys of 1 bytes and values of 8, the map'
sed 's/"flows"/"floes"/' "$TMP/flows.json" >"$TMP/unknown.json"
object --program looks_up --maps "$TMP/unknown.json"
expect_status "--maps: an unknown map" 1
expect_grep "--maps: an unknown map is named" err "unknown.json: no object has the map 'floes'; there are: .*flows"
printf '{"maps": [\n{"name": "flows"]}' >"$TMP/damaged.json"
object --program looks_up --maps "$TMP/damaged.json"
expect_grep "--maps: a bad line" err 'damaged.json:2:[0-9]+: '

plan_done
