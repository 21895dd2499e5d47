#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The exact drive from the command line, as root: counts, ranges, refusals, one instruction more found with its line, the
# annotated source, a tracefile that genhtml takes, and nothing left behind.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("exact" "compare --exact" "annotate" "lcov" "nothing is left behind")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"
objects=$O/tests/bpf

scenario() {
	cat <<-YAML
	name: exact
	object: $objects/exact_pair.bpf.o
	floor: old
	variants:
	  - {name: old}
	  - {name: new}
	  - {name: varies}
	  - {name: calls}
	  - {name: no_room, object: $objects/exact_truth.bpf.o}
	  - {name: nested, object: $objects/exact_truth.bpf.o}
	drive:
	  - with: exact
	    trigger: test-run
	    inputs:
	      - {name: a, hex: "000102030405 060708090a0b 0c0d 0e"}
	      - {name: b, hex: "010102030405 060708090a0b 0c0d 0e"}
	YAML
}
scenario >"$TMP/exact.yml"

# --- counts ---
real --scenario "$TMP/exact.yml"
expect_status "exact: succeeds" 0
check "exact: stdout is strictly valid BMF" valid_bmf "$TMP/out"
cp "$TMP/out" "$TMP/exact.bmf"
cp "$TMP/err" "$TMP/exact.table"
of() { bmf "$TMP/exact.bmf" "exact/$1/exact/input=$2" instructions; }
expect_eq "exact: a program counted by hand" "$(of nested a) $(of nested b)" "433 433"
expect_eq "exact: one instruction more is one instruction more" "$(of new a)" "$(($(of old a) + 1))"
expect_grep "exact: a count that varies is a range" out '"value": [0-9]+\.5.*"lower_value": [0-9]+.*"upper_value": [0-9]+'
expect_grep "exact: and is said not to be exact" err '^ *exact/varies/exact .* 2 +in 2 of 2 cases$'
expect_grep "exact: what always takes one way for an input is exact" err '^ *exact/calls/exact .* 2$'
expect_grep "exact: what cannot be counted is skipped by name, with the reason" err \
	'skipped: exact/no_room/exact: .no_room. leaves no room to save a register'
real --scenario "$TMP/exact.yml" --drive exact -n 5 --format table
expect_status "exact: is a drive like others" 0
expect_grep "exact: -n is the runs of a case" out '^ *exact/old/exact +2 +10 '

# --- compare --exact ---
cp -r "$results" "$TMP/stored"
run "$BPFBENCH" compare --exact --scenario "$TMP/exact.yml" --base old --head new --results "$results"
expect_status "compare --exact: one instruction more fails" 3
expect_grep "compare --exact: says by how much" out 'exact/new/exact/input=a +[0-9]+ +[0-9]+ +\+1 +regressed'
expect_grep "compare --exact: names the line" out '^ +\+1 +exact_pair\.bpf\.c:[0-9]+ +ONE_INSTRUCTION\(sum\);.*one more'
run "$BPFBENCH" compare --exact --scenario "$TMP/exact.yml" --base new --head old --results "$results"
expect_status "compare --exact: one instruction less does not" 0
expect_grep "compare --exact: and is improved" out '-1 +improved'
run "$BPFBENCH" compare --exact --scenario "$TMP/exact.yml" --base varies --head varies --results "$results"
expect_status "compare --exact: ranges that overlap are no failure" 0
expect_grep "compare --exact: but inconclusive" out 'inconclusive'
first=$(find "$TMP/stored" -name '*.json' | sort | head -n 1)
run "$BPFBENCH" compare --exact "$first" "$first" --results "$results"
expect_status "compare --exact: a stored run is the same as itself" 0
expect_grep "compare --exact: of stored runs, too, counts every case" out '^0 regressed, 0 improved, 8 same, 2 inconclusive'
run "$BPFBENCH" compare --exact --base-object "$objects/exact_truth.bpf.o" --head-object "$objects/exact_truth.bpf.o" \
	--program event --results "$results"
expect_status "compare --exact: two builds of a program that page faults fire" 0
expect_grep "compare --exact: which are the same" out '^0 regressed, 0 improved, 1 same, 0 inconclusive'

# --- kfuncs ---
sed "s,OBJECT,$objects/kfunc.bpf.o," >"$TMP/kfunc.yml" <<-'YAML'
	name: kfunc
	object: OBJECT
	variants: [{name: iterates}]
	drive: [{with: exact, trigger: test-run}]
YAML
run "$BPFBENCH" --scenario "$TMP/kfunc.yml" --results "$TMP/kfunc"
if ((status == 0)); then
	run "$BPFBENCH" annotate --results "$TMP/kfunc"
	expect_grep "annotate: kfuncs by name, and how often" out \
		'^calls per run: .*1 bpf_iter_num_new.*11 bpf_iter_num_next|11 bpf_iter_num_next.*1 bpf_iter_num_new'
else
	skip "annotate: kfuncs by name, and how often" "$(grep -m 1 -o 'kfunc/.*' "$TMP/err" || echo 'the kernel refuses kfuncs')"
fi

# --- the source ---
run "$BPFBENCH" annotate "$first" --variant old
expect_status "annotate: succeeds" 0
expect_grep "annotate: a line that is never executed" out '##### +[0-9]+ +ONE_INSTRUCTION.*no such packet'
expect_grep "annotate: a line that is executed once a run" out ' 1 +[0-9]+ +ONE_INSTRUCTION\(sum\);'
run "$BPFBENCH" annotate "$first" --variant calls
expect_grep "annotate: helpers by name, and how often" out '^calls per run: 0\.50 map_update_elem, 1 get_smp_processor_id$'
run "$BPFBENCH" annotate "$first"
rows=$(grep -cE '^ +[0-9.]+ +[0-9.]+ .* [0-9]+  ' "$TMP/out") programs=$(grep -c 'instructions per run, over' "$TMP/out")
check "annotate: of four programs and more, five lines each" test "$programs" -ge 4 -a "$rows" -le $((5 * programs))
expect_grep "annotate: and how to see all of them" out '^shown: the 5 lines .*--variant'
run "$BPFBENCH" annotate "$first" --all
expect_no_grep "annotate: --all has all lines" out '^shown: '
run "$BPFBENCH" annotate "$first" --variant nosuch
expect_status "annotate: an unknown program is an error" 1
sed 's,/exact_pair\.bpf\.c",/gone.bpf.c",' "$first" >"$TMP/gone.json"
run "$BPFBENCH" annotate "$TMP/gone.json" --variant old
expect_grep "annotate: a source that is gone is named" out 'gone\.bpf\.c$'
expect_grep "annotate: a source that is gone is said to be" out '^  \(not there any more'
expect_grep "annotate: and the BTF's text is shown" out 'ONE_INSTRUCTION\(sum\);'
run "$BPFBENCH" show "$first" --format lcov
expect_status "lcov: succeeds" 0
expect_grep "lcov: names the source" out '^SF:.*/exact_pair\.bpf\.c$'
cp "$TMP/out" "$TMP/exact.info"
if need_command genhtml "lcov: genhtml takes it"; then
	check "lcov: genhtml takes it" genhtml -q -o "$TMP/html" "$TMP/exact.info"
fi
nothing_left "exact" "$(find "$results" -name '*.json' | wc -l)"
plan_done
