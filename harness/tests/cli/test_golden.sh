#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The output of all commands about stored runs, compared byte by byte with harness/tests/golden/printed. `make golden` writes the files
# anew; `git diff` then shows the changes. Of a command that fails, the exit code and the message are kept.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

golden=$ROOT/harness/tests/golden
runs=$golden/runs printed=$golden/printed
export LC_ALL=C TZ=UTC COLUMNS=80
unset NO_COLOR
# A copy, because `history` writes a database beside the runs.
cp -r "$golden/history" "$TMP/results"

if [[ ${GOLDEN:-} == renew ]]; then
	rm -rf "$printed"
	mkdir "$printed"
fi

# same NAME FILE: FILE is equal to printed/NAME.
same() {
	if [[ ${GOLDEN:-} == renew ]]; then cp "$2" "$printed/$1"; fi
	check "$1" diff -u "$printed/$1" "$2"
}

# golden NAME CMD...: the output of CMD, started in the folder $dir, is equal to printed/NAME.
golden() {
	local name=$1

	shift
	(cd "${dir:-$runs}" && "$BPFBENCH" "$@") >"$TMP/out" 2>"$TMP/err" </dev/null || printf 'exit code %d\n' $? >>"$TMP/out"
	cat "$TMP/err" >>"$TMP/out"
	same "$name" "$TMP/out"
}

# formats RUN FORMAT...: checks `show` of that run in these formats.
formats() {
	local run=$1 format

	shift
	for format; do golden "$run.$format" show --format "$format" "$run.json"; done
}

# json RUN: `show --format json` prints nearly the stored run itself, so only the difference is kept.
json() {
	"$BPFBENCH" show --format json "$runs/$1.json" >"$TMP/again" 2>&1 || true
	diff "$runs/$1.json" "$TMP/again" >"$TMP/out" || true
	same "$1.json.diff" "$TMP/out"
}

# --- formats: small ones of every run, large ones of some runs ---
for path in "$runs"/*.json; do
	run=${path##*/}
	run=${run%.json}
	formats "$run" table bmf html csv markdown benchfmt github-action
	json "$run"
done
for run in step hook lines live ab; do formats "$run" openmetrics; done
for run in hook call live lines-old ab; do formats "$run" plot; done
for run in step lines packets packets-old call; do formats "$run" lcov veristat; done
for run in step pipeline slowdown; do formats "$run" github-action-bigger; done

# --- annotate ---
for run in step lines packets-old call; do
	golden "$run.annotate" annotate "$run.json"
	golden "$run.annotate-hottest" annotate --hottest "$run.json"
done
golden step.annotate-variant annotate --variant stackid --colour always step.json
for run in lines lines-new ab-time step; do golden "$run.annotate-time" annotate --time "$run.json"; done
golden lines.annotate-time-all annotate --time --all --cases lines.json
golden lines.annotate-colour annotate --time --colour always lines.json
golden lines.annotate-flame annotate --time --flame "$TMP/flame.svg" lines-new.json
same lines-new.flame.svg "$TMP/flame.svg"

# --- two stored runs ---
golden packets.compare compare packets-old.json packets-new.json
golden packets.compare-fail compare --fail-on regressed --threshold 0.5 packets-new.json packets-old.json
golden packets.compare-sort compare --sort percent:desc --filter 'name~*slope*' packets-old.json packets-new.json
golden packets.compare-exact compare --exact packets-old.json packets-new.json
golden packets.compare-exact-back compare --exact packets-new.json packets-old.json
golden lines.compare compare lines-old.json lines-new.json
golden lines.compare-time compare --time lines-old.json lines-new.json
golden lines.compare-time-fail compare --time --fail-on regressed lines-new.json lines-old.json
golden step.compare-other compare step.json packets.json

# --- many stored runs ---
for format in table tsv; do dir=$TMP golden "history.$format" history --format "$format"; done
dir=$TMP golden history.variant history --variant plain --threshold 10

# page RUN: prints its page without the figures, because these depend on the version of gnuplot.
page() { "$BPFBENCH" report --results "$TMP/results" -o - "$1" 2>&1 | sed '/<svg .*gnuplot_canvas/,/<\/svg>/d'; }

if need_command gnuplot history.report report.sums; then
	page latest >"$TMP/out"
	same history.report "$TMP/out"

	# The pages of the other runs are large, so only their checksums are kept. To see a difference, run `report -o FILE` of both versions.
	for path in "$runs"/*.json; do
		printf '%s  %s\n' "$(cd "$runs" && page "${path##*/}" | sha256sum)" "${path##*/}"
	done >"$TMP/out"
	same report.sums "$TMP/out"
fi

# Each output is one check, also if it was skipped.
expect_eq "as many files as outputs" "$(find "$printed" -type f | wc -l)" "$tap_n"
plan_done
