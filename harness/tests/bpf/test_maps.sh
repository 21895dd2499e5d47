#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Maps that a scenario fills, from the command line: a run returns what it finds, and `retval`
# expects that. unit/bpf/test_bpf_maps.c tests the rest.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

need_root "maps that a scenario fills" || plan_done
objects=$O/tests/bpf
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# scenario MAPS RETVAL [PROGRAM]: to $WORK/maps.yml
scenario() {
	printf '%s\n' "name: maps" "object: $objects/maps.bpf.o" "maps: [$1]" \
		"variants: [{name: a, program: ${3:-finds_in_hash}}, {name: b, program: ${3:-finds_in_hash}}]" 'drive:' \
		'  - with: step' '    trigger: test-run' '    samples: 60' "    inputs: [{name: p, packet: {}, retval: $2}]" >"$WORK/maps.yml"
}
three='{key: 0, value: 1}, {key: "02 00 00 00", value: "05 00"}, {key: 1, value: 3}'

scenario "{name: hash, reset: run, entries: [$three]}" 35
real -s "$WORK/maps.yml" --loads 2
expect_status "reset: run: succeeds" 0
expect_no_grep "reset: run: no series is void" err ' void: '
real compare -s "$WORK/maps.yml" --base a --head b --loads 2
expect_status "reset: run: compare succeeds" 0
expect_no_grep "reset: run: no pair of a comparison is void" out 'void'
expect_grep "reset: run: and there is a comparison" out 'maps/step.* latency'
nothing_left "reset: run" 2

scenario "{name: hash, entries: [$three]}" 35
real -s "$WORK/maps.yml" --loads 2
expect_grep "reset: load: later runs find what the first left" err 'void: .*returned [0-9]+( \(.*\))?, 35 expected'
real compare -s "$WORK/maps.yml" --base a --head b --loads 2
expect_grep "reset: load: the pairs of a comparison are void" out 'void'

scenario '{name: jumps, entries: [{key: 3, program: tail_b}]}' 200 jumps_to_slot
real -s "$WORK/maps.yml" --loads 3
expect_status "a prog array: succeeds" 0
expect_no_grep "a prog array: every load calls its own" err ' void: '
nothing_left "a prog array" "$(find "$results" -name '*.json' | wc -l)"

# events RESET: a scenario with page faults. Their runs have no return value that is checked, so a
# run that finds another value than 0 counts a drop.
events() {
	printf '%s\n' "name: events" "object: $objects/maps.bpf.o" "maps: [{name: array, reset: $1}]" \
		'variants: [{name: a, program: expects_zero}]' 'drive: [{with: step, samples: 600}]' 'expect: {drops: 0}' >"$WORK/events.yml"
}
if need_exact_faults "page faults"; then
	events run
	real -s "$WORK/events.yml" --loads 2
	expect_status "page faults, reset: run: succeeds" 0
	expect_no_grep "page faults, reset: run: every run finds 0, and no event is added" err ' void: '
	events load
	real -s "$WORK/events.yml" --loads 2
	expect_grep "page faults, reset: load: all but the first find something else" err 'void: .* drops, 0 expected'
fi

# The kernel's reserve of memory for such values is soon empty, and is refilled only later.
scenario "{name: hash, reset: run, entries: [$three]}, {name: big_hash, per_cpu: yes, value_size: 2048, fill: {count: 8000}}" 35
real -s "$WORK/maps.yml" --loads 1
expect_status "8000 large values of each CPU without preallocation: all are written" 0
rm -rf "$results"

# --- programs that run first ---
prepare() {
	printf '%s\n' "name: prepare" "object: $objects/prepare.bpf.o" \
		"variants: [{name: find, maps: [{name: learnt}, {name: table}], prepare: [$1]}]" 'drive:' \
		"  - {with: step, trigger: test-run, samples: 60, inputs: [{name: p, packet: {}, retval: $2}]}" >"$WORK/prepare.yml"
}
prepare '{program: learn, times: 7}' 2
real -s "$WORK/prepare.yml" --loads 3
expect_status "prepare: 7 runs do not add the 8th key, at any load: succeeds" 0
expect_no_grep "prepare: 7 runs do not add the 8th key, at any load" err ' void: '
prepare '{program: learn, times: 2, inputs: [{name: a, packet: {}}, {name: b, packet: {}}]}, {program: learn, times: 4}' 3
real -s "$WORK/prepare.yml" --loads 3
expect_status "prepare: 2 runs on each of 2 inputs, and 4 more: succeeds" 0
expect_no_grep "prepare: 2 runs on each of 2 inputs, and 4 more, add it" err ' void: '
nothing_left "prepare" "$(find "$results" -name '*.json' | wc -l)"
prepare '{program: alone}' 3
real -s "$WORK/prepare.yml" --loads 2
expect_grep "prepare: a program without these maps is an error" err "prepare: 'alone': it shares no map with 'find'"
prepare '{program: lern}' 3
real -s "$WORK/prepare.yml" --loads 2
expect_grep "prepare: a program that is not there is an error" err "prepare: 'lern': .*learn"
real --object "$objects/prepare.bpf.o" --program find --prepare lern
expect_grep "--prepare: a program that is not there is an error" err "prepare=lern: there is no such program; there are: learn, find"
real --object "$objects/prepare.bpf.o" --program find --prepare learn=0
expect_grep "--prepare: no run is an error" err 'prepare=learn=0 is not PROGRAM'
real --object "$objects/prepare.bpf.o" --program find --prepare learn=8 --loads 6 --samples 60
expect_status "--prepare: succeeds" 0
expect_no_grep "--prepare: the lookup finds what it put there" out 'failed lookup'

# --- cost against the size of a table ---
scenario '{name: big_hash, fill: {count: [8, 100000]}}' 0 finds_in_big_hash
real -s "$WORK/maps.yml" --loads 2
expect_no_grep "several sizes: every copy finds its entries" err ' void: '
small=$(bmf "$TMP/out" maps/a/step/entries=8 filled-map-bytes) large=$(bmf "$TMP/out" maps/a/step/entries=100000 filled-map-bytes)
check "several sizes: the larger table takes more memory" more "$large" "$((small + 3000000))"
if need_command gnuplot "several sizes: the picture"; then
	cp -r "$results" "$TMP/drawn" # the history of what is drawn is a file, too
	run env BPFBENCH="$BPFBENCH" RESULTS="$TMP/drawn" PLOTS="$TMP/plots" plots/plot.sh
	expect_status "several sizes: the picture" 0
	"$BPFBENCH" show --results "$TMP/drawn" --format plot | awk -F '\t' \
		'NF == 10 && $2 == "a" && $4 == "entries" { printf($6 < 99.95 ? "%.1f\n" : "%.0f\n", $6) }' >"$TMP/times"
	expect_eq "several sizes: the picture's figures" "$(wc -l <"$TMP/times")" 2
	while read -r time; do
		((${time%.*} < 999)) || continue # in µs
		expect_grep "several sizes: the picture has $time" plots/entries-maps-step.svg ">$time ns<"
	done <"$TMP/times"
	for bytes in "$small" "$large"; do
		expect_grep "several sizes: the picture has $bytes bytes" plots/entries-maps-step.svg \
			">$(awk -v b="$bytes" 'BEGIN { m = b / 1e6; printf(m < 9.995 ? "%.2f" : m < 99.95 ? "%.1f" : "%.0f", m) }') MB<"
	done
	expect_grep "several sizes: the picture's axis" plots/entries-maps-step.svg '>entries \(log scale\)<'
fi
nothing_left "several sizes" "$(find "$results" -name '*.json' | wc -l)"

# --- keys of a file ---
{ echo u64 && seq 0 7; } >"$WORK/keys.csv"
scenario '{name: big_hash, fill: {count: 8, key: {file: keys.csv}, value: 9}}' 9 finds_in_big_hash
real -s "$WORK/maps.yml" --loads 2
expect_status "keys of a file: the run succeeds" 0
expect_no_grep "keys of a file: every run finds its entry" err ' void: '
head -c 64 /dev/zero >"$WORK/keys.bin"
# refused WHY FILE [MAP PROGRAM]: a fill of 8 entries with the keys of FILE.
refused() {
	scenario "{name: ${3:-big_hash}, fill: {count: 8, key: {file: $2}, value: 9}}" 9 "${4:-finds_in_big_hash}"
	real -s "$WORK/maps.yml" --loads 1
	complains "keys of a file: ${1%% *} $2" 1 "$1"
}
refused 'the keys 1 and [2-8] are the same' keys.bin
echo >>"$WORK/keys.csv"
refused 'keys.csv:10: field 1' keys.csv
head -n 8 "$WORK/keys.csv" >"$WORK/few.csv"
refused 'a fill of 8 entries, but .*few.csv has 7 keys' few.csv
refused 'has keys of 8 bytes, the map.s have 4' few.csv hash finds_in_hash
refused "the keys of an array are its indexes: leave out 'key'" few.csv array finds_in_array
echo 1 >>"$WORK/keys.bin"
refused 'has 66 bytes, no multiple of the 8 of a key' keys.bin

# --- the sizes that a loader would give ---
scenario '{name: big_hash, max_entries: 150000, flags: [], fill: {count: 150000}}' 0 finds_in_big_hash
real -s "$WORK/maps.yml" --loads 2
expect_status "max_entries: the map has more room than in the object" 0
expect_no_grep "max_entries: and every run finds its entry" err ' void: '
real --object "$objects/maps.bpf.o" --program finds_in_big_hash --fill big_hash=100001 --drive step --loads 1
complains "--fill: more than the map holds" 1 "a fill of 100001 entries, but the map has room for 100000; 'max_entries' makes"
rm -rf "$results"
real --object "$objects/maps.bpf.o" --program finds_in_big_hash --fill big_hash=100001 --max-entries big_hash=100001 --drive step --loads 1
expect_status "--max-entries: makes room" 0
scenario '{name: ring, max_entries: 8192}' 0 fills
real -s "$WORK/maps.yml" --loads 2
expect_status "max_entries: a map whose contents cannot be given" 0
scenario '{name: percpu_array, value_size: 40000}' 0 finds_in_percpu_array
real -s "$WORK/maps.yml" --loads 1
complains "value_size: the kernel's refusal" 1 "map 'percpu_array'.*40000"
scenario '{name: hash, max_entries: 4294967295, flags: []}' 35
real -s "$WORK/maps.yml" --loads 1
complains "max_entries: more memory than there is" 1 "map 'hash' \(scenario 3:8\): it needs about [0-9.]+ GB of memory"
printf '%s\n' 'name: inner' "object: $objects/loader_maps.bpf.o" 'maps: [{name: rings, inner: {max_entries: 5000}}]' \
	'variants: [{name: looks_for_ring}]' 'drive: [{with: step, trigger: test-run, samples: 60, inputs: [{name: p, packet: {}}]}]' >"$WORK/maps.yml"
real -s "$WORK/maps.yml" --loads 1
check "inner: the kernel refuses a size that is said" test "$status" -ne 0
sed -i 's/5000/8192/' "$WORK/maps.yml"
real -s "$WORK/maps.yml" --loads 2
expect_status "inner: another size is taken" 0
rm -rf "$results"

scenario '{name: hsah}' 0
real -s "$WORK/maps.yml" --loads 1
complains "an unknown map" 1 "map 'hsah' \(scenario 3:8\): .*did you mean 'hash'\?"
rm -rf "$results"

# --- a map that holds objects of the program's own type ---
stash=$O/tests/bpf/kptr_stash.bpf.o
names=("own objects: each load has its map" "own objects: captured")
if ! "$O/tests/tools/load_all" -1 "$stash" >"$TMP/loaded" 2>&1 || ! grep -qx '1 programs' "$TMP/loaded"; then
	skip_each "this kernel or libbpf does not load it" "${names[@]}" || true
else
	real --object "$stash" --loads 3 -n 60 --budget 60
	check "${names[0]}" more "$(bmf "$TMP/out" kptr_stash/swaps/step latency)" 0
	rm -rf "$results"
	real --loads 3 -n 60 --budget 60 -- "$O/tests/tools/load_all" -1 "$stash"
	check "${names[1]}" grep -qE '"[^"]*swaps/step"' "$TMP/out"
	rm -rf "$results"
fi

plan_done
