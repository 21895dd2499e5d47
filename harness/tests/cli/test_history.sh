#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bpfbench history` over runs of the fake drive, dated a day apart: levels, marks, change points, and files in the folder that are not
# runs of bpfbench.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

results=$WORK/results

# scenario NAME PLAIN_NS EMPTY_NS OTHER_NS: writes $WORK/NAME.yml. The scenario's own name is always "hist", so its runs are one history.
scenario() {
	cat >"$WORK/$1.yml" <<-YML
	name: hist
	floor: empty
	variants:
	  - {name: empty, globals: {location_ns: $3, spread_ns: 2}}
	  - {name: plain, globals: {location_ns: $2}}
	  - {name: other, globals: {location_ns: $4}}
	drive:
	  - {with: fake}
	YML
}

# day N: prints the date of day N.
day() { date -u -d "2026-01-01 + $1 days" +%Y-%m-%d; }

# stored N SCENARIO: makes a run of day N, with seed N, as results/ID.json, and sets $path to it.
stored() {
	local n=$1 date id file

	date=$(day "$n")
	id=${date//-/}T120000Z-hist-$(printf '%08x' "$n")
	rm -rf "$WORK/new"
	run "${user[@]}" "$BPFBENCH" run --scenario "$WORK/$2.yml" --results "$WORK/new" --seed "$n" -n 1200 --quiet
	file=$(echo "$WORK"/new/*.json)
	mkdir -p "$results"
	path=$results/$id.json
	sed -E -e "s/^( *\"id\": )\"[^\"]*\"/\1\"$id\"/" -e "s/^( *\"started\": )\"[^\"]*\"/\1\"${date}T12:00:00Z\"/" \
		"$file" >"$path"
}

history() { run "$BPFBENCH" history --results "$results" "$@"; }

# column CASE N: prints column N of the case's runs, a line each, from the TSV of the last `history`. marks CASE: counts its marks.
column() {
	awk -F'\t' -v case="$1" -v column="$2" '
		/^# history\t/ { mine = $2 == case; next }
		mine && !/^#/ && NF { print $column }' "$TMP/out"
}
marks() { column "$1" 16 | uniq -c | awk '{ printf "%s%s %s", sep, $1, $2; sep = ", " }'; }

scenario usual 1000 100 500
scenario slower 1050 100 500
scenario machine 2000 200 1000

history
expect_status "no runs: fails" 1
expect_grep "no runs: says so, in one line" err '^bpfbench: .*results: no runs are stored there yet'
expect_empty "no runs: nothing on stdout" out

for n in {1..3}; do stored "$n" usual; done
history --window 25
expect_grep "three runs: none is judged, said once" out \
	'^2 cases over 3 runs; none is judged yet: each needs 26 runs, and the most so far is 3$'
expect_no_grep "three runs: no row has a mark" out 'learning|Mark'
expect_grep "three runs: two of them can be compared" out '^next: .bpfbench compare previous latest --results '
for n in {4..24}; do stored "$n" usual; done
history --format tsv
expect_status "history succeeds" 0
expect_empty "nothing to complain of" err
expect_eq "the first 20 are learnt from, the others steady" "$(marks hist/plain/fake)" "20 learning, 4 steady"
expect_eq "so they are for the anchor, by its latency" "$(marks hist/empty/fake)" "20 learning, 4 steady"
expect_grep "the anchor is marked" out $'^# history\thist/empty/fake\thist\tempty\tfake\t-\t0\tanchor\tlatency$'
expect_grep "the others go by the ratio" out $'^# history\thist/plain/fake\thist\tplain\tfake\t-\t0\t-\tratio$'
expect_eq "the ratio is that of the two programs" \
	"$(column hist/plain/fake 9 | awk '$1 > 9.9 && $1 < 10.1 { n++ } END { print n }')" 24
expect_eq "runs are in the order of time" "$(column hist/plain/fake 2 | sort -c && echo sorted)" sorted
cp "$TMP/out" "$TMP/first.tsv"
history --format tsv
check "the same runs give the same history" cmp "$TMP/out" "$TMP/first.tsv"

# --- a machine that is slow for a day: all times double, and their ratio stays ---
stored 25 machine
history --format tsv
expect_eq "a slow machine: the ratio is steady" "$(marks hist/plain/fake)" "20 learning, 5 steady"
expect_eq "a slow machine: the anchor is suspect" "$(marks hist/empty/fake)" "20 learning, 4 steady, 1 suspect"

# --- 5 % slower, in one run and in two ---
stored 26 slower
history --format tsv
expect_eq "one slower run is only suspect" "$(marks hist/plain/fake)" "20 learning, 5 steady, 1 suspect"
history
expect_grep "one slower run: run again" out '^ *suspect: hist/plain/fake, \+[45]\.[0-9]+ % in the newest run, beyond its limit; one run proves nothing$'
expect_grep "one slower run: what to do" out '^next: the same measurement once more, then .bpfbench history --results'
stored 27 slower
history --format tsv
expect_eq "two slower runs are a regression" "$(marks hist/plain/fake)" "20 learning, 5 steady, 2 regressed"
expect_eq "the first of them is the change point" "$(column hist/plain/fake 17 | tr '\n' ' ')" \
	"$(for n in {1..27}; do ((n == 26)) && printf '1 ' || printf '0 '; done)"
expect_eq "the others are as they were" "$(marks hist/other/fake)" "20 learning, 7 steady"
history
expect_grep "the summary names it" out '^hist/plain/fake .* regressed$'
expect_eq "the summary has a row a case, but for the empty program" "$(grep -c '^hist/' "$TMP/out")" 2
expect_grep "the next step compares before and after" out "^next: .bpfbench compare .*. \(before and after the change\)\$"
history --all
expect_status "a regression is no failure of history" 0
expect_grep "the table marks it" out "^  $(day 26) 12:00 .* regressed +slower from here\$"
expect_grep "the head of the table names it" out \
	"^ *regressed: hist/plain/fake, \+[45]\.[0-9]+ % in the newest run, first seen in the run of $(day 26)T12:00:00Z"
expect_grep "the head of the table counts" out '^2 cases over 27 runs: 1 regressed, 0 improved, 1 steady$'
expect_no_grep "no line ends in blanks" out ' $'
history --threshold 10% --format tsv
expect_eq "not at a threshold of 10 %" "$(marks hist/plain/fake)" "20 learning, 7 steady"
history --window 25 --format tsv
expect_eq "a window of 25 learns for 25" "$(marks hist/plain/fake)" "25 learning, 2 regressed"

# --- selection and output ---
history hist --variant plain --format tsv
expect_eq "variant: only that one" "$(grep -c '^# history.hist' "$TMP/out")" 1
expect_eq "variant: the anchor is used all the same" "$(marks hist/plain/fake)" "20 learning, 5 steady, 2 regressed"
history hits
expect_status "an unknown scenario fails" 1
expect_grep "an unknown scenario: the nearest is named" err "no stored run of the scenario 'hits' .*did you mean 'hist'\?"
history --drive step
expect_grep "no such case: says how many runs there are" err 'none of the 27 runs'

# --- the index ---
history
cp "$TMP/out" "$TMP/indexed"
check "the index: it is kept beside the runs" test -s "$results/history.db"
rm "$results/history.db"
history
check "the index: a history without it says the same" cmp "$TMP/out" "$TMP/indexed"
run "$BPFBENCH" list --runs --results "$results"
expect_eq "the index: it is no run" "$(grep -c . "$TMP/out")" 27
echo 'not an index' >"$results/history.db"
history
check "the index: nor does one that is none matter" cmp "$TMP/out" "$TMP/indexed"
expect_empty "the index: of which nobody need hear" err

# --- files that are not runs of bpfbench ---
stored 27 slower
head -c 700 "$path" >"$results/20260201T120000Z-hist-truncated.json"
echo 'not JSON' >"$results/20260202T120000Z-hist-corrupt.json"
echo '{"format": "something else"}' >"$results/foreign.json"
cp "$path" "$results/kept.json"
history --format tsv
expect_status "bad files: the history is there all the same" 0
for name in truncated corrupt; do
	expect_grep "bad files: the $name one is named" err "^bpfbench: passed over: .*-hist-$name\.json: not a bpfbench run"
done
expect_grep "bad files: the foreign one is named" err '^bpfbench: passed over: .*/foreign\.json: not a bpfbench run'
expect_grep "a copy is counted once, and said to be one" err '^bpfbench: passed over: .*/kept\.json: a copy of the run '
expect_eq "bad files: four lines, no more" "$(wc -l <"$TMP/err")" 4
expect_eq "bad files: the marks are as before" "$(marks hist/plain/fake)" "20 learning, 5 steady, 2 regressed"

# --- runs that are shown and not judged ---
sed -i -E 's/("kernel_release": )"[^"]*"/\1"2.6.32"/' "$results"/*T120000Z-hist-00000003.json
sed -i -E 's/("incomplete": )null/\1"SIGINT"/' "$results"/*T120000Z-hist-00000004.json
history --format tsv
expect_eq "another kernel and an incomplete run are not judged" "$(marks hist/plain/fake)" \
	"2 learning, 2 -, 18 learning, 3 steady, 2 regressed"
expect_eq "why stands beside them" "$(column hist/plain/fake 18 | sed -n '3,4p' | tr '\n' ' ')" "kernel_release SIGINT "
history --all
expect_grep "the table says why, too" out 'not judged: another kernel_release than now$'

# --- a reader that closes the pipe ---
# shellcheck disable=SC2016 # the inner shell's
run bash -c 'exec 3> >(exec true); wait $!; exec "$@" >&3 3>&-' _ "$BPFBENCH" history --results "$results"
expect_status "a closed pipe ends it as it ends others: by SIGPIPE" 141
expect_no_grep "a closed pipe: in silence" err 'Broken pipe|bpfbench: stdout'

# --- usage ---
for option in --threshold=x --threshold=-1 --threshold=1%% --window=19 --window=31 --format=svg "a b"; do
	# shellcheck disable=SC2086
	history $option
	expect_status "usage: $option is refused" 2
done
history --help
expect_status "help" 0

plan_done
