#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Maps that nobody has filled: the lookups that found nothing and the tail calls that did not happen
# are named under the figure, and no others.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"
# shellcheck source=harness/tests/gate_repo.sh
. "$(dirname "$0")/../gate_repo.sh"

names=("an object" "other formats" "compare" "gate" "a loader" "maps:" "a tail call that happens")
need_root "${names[@]}" || plan_done
objects=$O/tests/bpf object=$O/tests/bpf/in_vain.bpf.o load=$O/tests/tools/load_all
few=(--drive step --loads 2 -n 200)

# --- the bare object ---
run "$BPFBENCH" --object "$object" "${few[@]}" --results "$TMP/results" --format table
expect_status "an object: succeeds" 0
cp "$TMP/out" "$TMP/object"
expect_grep "an object: an empty trie" out "^  failed lookup: firewall: map 'blocked_prefixes' \(lpm_trie\) is empty, and its lookups \(in_vain\.bpf\.c:[0-9]+\) found nothing$"
expect_grep "an object: an empty prog array" out "^  failed lookup: dispatch: the tail call into map 'jump_table' \(prog_array\) at index 3 \(in_vain\.bpf\.c:[0-9]+\) did not happen: the map is empty$"
expect_grep "an object: two lookups of one map are one note" out "^  failed lookup: looks_up: map 'flows' \(hash\) is empty, and its lookups \(in_vain\.bpf\.c:[0-9]+ and 1 more\) found nothing$"
expect_grep "an object: a map in a map" out "^  failed lookup: looks_inside: an inner map of 'outer' \(array_of_maps\): its lookups .* found nothing$"
expect_grep "an object: what to do" out '^    .*bpfbench -- LOADER'
expect_eq "an object: no others, neither arrays nor what the first run stores" "$(grep -c '^  failed lookup: ' "$TMP/object")" 4
expect_eq "an object: the first line under the figures" "$(grep -B1 -m1 '^  failed lookup: ' "$TMP/object" | grep -cE '^  [a-z_]+ +[0-9.]+ ')" 1
run "$BPFBENCH" show latest --results "$TMP/results" --format table
expect_eq "an object: a stored run says the same" "$(grep 'failed lookup: ' "$TMP/out")" "$(grep 'failed lookup: ' "$TMP/object")"
run "$BPFBENCH" show latest --results "$TMP/results" --details
cp "$TMP/out" "$TMP/details"
expect_grep "an object: all of the instructions but no tail call is no whole run" out 'dispatch( +[-+*0-9.]+)* +[0-9]+ of [0-9]+ without its tail call'
run "$BPFBENCH" compare latest latest --results "$TMP/results"
expect_status "an object: compared as a stored run" 0
expect_grep "an object: a comparison of stored runs says it, too" out "^  failed lookup: in_vain/firewall: map 'blocked_prefixes'"

run "$BPFBENCH" show latest --results "$TMP/results" --format markdown
expect_grep "other formats: Markdown" out '^- \*\*failed lookup\*\*: firewall: map .blocked\\_prefixes. \(lpm\\_trie\) is empty'
expect_no_grep "other formats: Markdown has one reason, not two" out 'little executed'
run "$BPFBENCH" show latest --results "$TMP/results" --format bmf
expect_status "other formats: BMF" 0
expect_grep "other formats: beside BMF, on stderr" err "^  failed lookup: in_vain/dispatch: the tail call into map 'jump_table'"
run "$BPFBENCH" report --results "$TMP/results" -o "$TMP/page.html"
expect_status "other formats: the page" 0
check "other formats: the page has it, too" grep -q '<b>failed lookup</b>: firewall: map' "$TMP/page.html"

# --- lookups that cannot be counted ---
run "$BPFBENCH" --object "$objects/in_vain_unwatched.bpf.o" "${few[@]}" --budget 120 --results "$TMP/unwatched" --format table
expect_status "lookups that cannot be counted: succeeds" 0
expect_grep "lookups that cannot be counted: said so" out "^  failed lookup: looks_often: not known for 24 of its lookups and tail calls: the verifier refuses the program with a counter at each$"
expect_grep "lookups that cannot be counted: its tail call is" out "^  failed lookup: looks_often: the tail call into map 'jump_table' .* did not happen"
expect_no_grep "lookups that cannot be counted: no guess about them" out "map 'flows'"
run "$BPFBENCH" show latest --results "$TMP/unwatched" --format markdown
expect_grep "lookups that cannot be counted: Markdown" out '^- \*\*failed lookup\*\*: .*: not known for 24 of its lookups'

# --- compared ---
run "$BPFBENCH" compare --base-object "$object" --head-object "$object" --program firewall --drive step --loads 2 --results "$TMP/results"
expect_status "compare: succeeds" 0
expect_grep "compare: base and head" out "^  failed lookup: both: map 'blocked_prefixes'"
expect_grep "compare: more, from the same folder" out "^more: .bpfbench show --details --results $TMP/results. "
expect_grep "compare: a whole command fills the map" out '^or: .sudo bpfbench compare --fill blocked_prefixes=1000 '
run "$BPFBENCH" show latest --results "$TMP/results" --format markdown
expect_eq "compare: Markdown has one note for both" "$(grep -cE '^- \*\*failed lookup\*\*: both: .*blocked' "$TMP/out")" 1
run "$BPFBENCH" compare --time --base-object "$object" --head-object "$object" --program firewall --loads 2 --results "$TMP/results"
expect_status "compare --time: succeeds" 0
expect_grep "compare --time: the same of base and head" out "^  failed lookup: both: map 'blocked_prefixes'"

mkdir "$TMP/repo"
cp "$object" "$TMP/repo/"
printf 'all:\n\t@true\n' >"$TMP/repo/Makefile"
chmod -R a+rX "$TMP/repo"
(cd "$TMP/repo" && git init -q -b main && git add -A && git commit -qm 'an object')
run env -C "$TMP/repo" "$BPFBENCH" gate --markdown - --base main --unchanged --each 1 --program firewall
expect_status "gate: succeeds" 0
expect_no_grep "gate: a row says it only if it is so on one side" out '^\|.*lookups failed'
expect_grep "gate: which" out '^- \*\*failed lookup\*\*: in\\_vain\.firewall: map .blocked\\_prefixes'

# --- its loader ---
# measures PROGRAM ENTRY...: runs PROGRAM with entries that a loader puts into a map.
measures() { run "$BPFBENCH" "${few[@]}" --results "$TMP/results" --program "$1" --format table -- "$load" -1 -m "${@:2}" "$object"; }
measures firewall blocked_prefixes 000000000a000001 00
expect_status "a loader: succeeds" 0
expect_no_grep "a loader: what it filled in is found" out 'failed lookup'
measures dispatch jump_table 03000000 handler
expect_no_grep "a loader: the tail call happens" out 'failed lookup|without its tail call'
# How many instructions `dispatch` and `handler` have, from the measurement of the bare object.
handler=$(sed -nE 's/.*[ ,]handler( +[-+*0-9.]+)* +[0-9]+ of ([0-9]+).*/\2/p' "$TMP/details") dispatch=$(sed -nE 's/.* dispatch( +[-+*0-9.]+)* +[0-9]+ of ([0-9]+) without.*/\2/p' "$TMP/details")
expect_grep "a loader: all that the runs went on to counts" out "executed [0-9]+ of $((handler + dispatch)) instructions\$"
measures dispatch jump_table 03000000 dispatch
expect_grep "a loader: a program that calls itself is one program" out "executed $dispatch of $dispatch instructions\$"
measures dispatch jump_table 04000000 handler
expect_grep "a loader: into another slot it does not" out 'at index 3 .* did not happen: the map has 1 entry$'
expect_grep "a loader: and what a captured command has to do is something else" out 'let the command fill the map'

# --- a scenario ---
# scenario MAP PROGRAM...
scenario() {
	printf '%s\n' 'name: vain' "object: $object" "maps: [$1]" "variants: [$(printf '{name: %s}, ' "${@:2}")]" \
		'drive: [{with: step, trigger: test-run}]' >"$WORK/vain.yml"
	run "$BPFBENCH" -s "$WORK/vain.yml" "${few[@]}" --no-store --format details
}
scenario '{name: flows, entries: [{key: 1, value: 5}, {key: 2, value: 6}]}' looks_up counts_in_array
expect_status "maps: succeeds" 0
expect_no_grep "maps: what they hold is found" out 'failed lookup'
scenario '{name: flows, entries: [{key: 1, value: 5}]}' looks_up
expect_grep "maps: inputs are the remedy where a map has entries" out "this is the cost of not finding; give it keys"
expect_grep "maps: one lookup of two that finds nothing" out "map 'flows' \(hash\) has 1 entry, and its lookups \(in_vain\.bpf\.c:[0-9]+\) found nothing$"
object=$objects/exact_truth.bpf.o scenario '{name: programs, entries: [{key: 1, program: tail_target}]}' tail_call
expect_grep "maps: a program in a prog array counts" out 'tail_call( +[-+*0-9.]+)* +8 of 10\b'
object=$objects/exact_truth.bpf.o scenario '{name: programs, entries: [{key: 1, program: no_room}]}' tail_call
expect_grep "maps: one that cannot be counted is said" out 'tail_call( +[-+*0-9.]+)* +4 of 6, then more by a tail call\b'

run "$BPFBENCH" --object "$objects/tailcall.bpf.o" --program first "${few[@]}" --no-store --format table
expect_status "a tail call that happens: succeeds" 0
expect_no_grep "a tail call that happens: nothing is said" out 'failed lookup|without its tail call'
expect_grep "a tail call that happens: the programs behind it count" out 'executed [0-9]+ of [0-9]+ instructions$'
# --- two captures, filled differently: each is measured with its own contents ---
"$BPFBENCH" capture -o "$TMP/filled.capture" -- "$load" -1 -m blocked_prefixes 000000000a000001 00 "$object" >/dev/null 2>&1
"$BPFBENCH" capture -o "$TMP/empty.capture" -- "$load" -1 "$object" >/dev/null 2>&1
run "$BPFBENCH" compare --base-object "$TMP/filled.capture" --head-object "$TMP/empty.capture" --program firewall --drive step --budget 20 --no-store
expect_grep "two captures: the verdict says so" out ' lookups failed in B only \(see below\)$'
expect_grep "two captures: head has its own contents" out "failed lookup: head: map 'blocked_prefixe' \\(lpm_trie\\) is empty"
expect_no_grep "two captures: base, too" out "failed lookup: base: map 'blocked_prefixe' \\(lpm_trie\\) is empty"
run "$BPFBENCH" compare --time --base-object "$TMP/filled.capture" --head-object "$TMP/empty.capture" --program firewall --loads 2 --no-store
expect_grep "two captures, --time: the verdict says so" out '^firewall, time by line: .*; lookups failed in B only \(see below\)$'
expect_grep "two captures, --time: which" out "failed lookup: head: map 'blocked_prefixe' \\(lpm_trie\\) is empty"

plan_done
