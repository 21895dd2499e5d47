#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# plots/plot.sh on stored runs: golden/run-depths.json (part of a real run: three variants at three depths, in-situ at one frequency),
# golden/run.json (one depth), and runs of the fake drive. Measures nothing; needs no root.
# shellcheck source=harness/tests/lib.sh
. "$(dirname "$0")/../lib.sh"

unset RUN RESULTS PLOTS
fixture=$ROOT/harness/tests/golden/run-depths.json
run_id=20261121T135532Z-perf_profiler-5a3b1e00
bin=$TMP/bin
out=$TMP/plots
mkdir -p "$bin" "$TMP/results" "$TMP/empty"
cp "$fixture" "$TMP/results/$run_id.json"

# fake_tool NAME: makes a program of this name from the script on stdin; `plot` finds it first.
fake_tool() { cat >"$bin/$1"; chmod +x "$bin/$1"; }
plot() { run env PATH="$bin:$PATH" BPFBENCH="${sut:-$BPFBENCH}" RESULTS="$TMP/results" PLOTS="$out" "$@"; }
pictures() { find "$out" -mindepth 1 ! -name .drawn -printf '%f\n' | LC_ALL=C sort; }

# --- without gnuplot ---
run plots/plot.sh --help
expect_status "--help succeeds" 0
expect_grep "--help says that it never measures" out 'never measures'
run plots/plot.sh --frobnicate
expect_status "an unknown option: exit code 2" 2
expect_grep "an unknown option: is named" err "unknown option --frobnicate"

mkdir "$TMP/few"
for tool in bash dirname; do ln -s "$(type -P "$tool")" "$TMP/few/$tool"; done
run env PATH="$TMP/few" BPFBENCH="$BPFBENCH" RESULTS="$TMP/results" PLOTS="$out" bash plots/plot.sh
expect_status "no gnuplot: exit code 1" 1
expect_eq "no gnuplot: says what to install" "$(cat "$TMP/err")" \
	"plot.sh: gnuplot is missing; install the package gnuplot-nox: sudo apt-get install gnuplot-nox"
check "no gnuplot: nothing is made" test ! -e "$out"

need_command gnuplot "no run to draw, the plots, their texts, slopes and names, other gnuplots" || plan_done

# --- runs to draw ---
echo '{}' >"$TMP/empty/schema.json"
run env BPFBENCH="$BPFBENCH" RESULTS="$TMP/empty" PLOTS="$out" plots/plot.sh
expect_status "no stored run: exit code 1" 1
expect_eq "no stored run: says which command makes one" "$(cat "$TMP/err")" \
	"plot.sh: no run is stored in $TMP/empty; make one: sudo ./bpfbench --scenario perf_profiler"
plot plots/plot.sh nowhere
expect_status "an unknown run: exit code 1" 1
expect_grep "an unknown run: is named" err "no run 'nowhere'"
run env BPFBENCH="$TMP/none" RESULTS="$TMP/results" PLOTS="$out" plots/plot.sh
expect_grep "no bpfbench: says what to do" err "^plot.sh: $TMP/none is missing; build it: make$"
: >"$TMP/file"
run env BPFBENCH="$BPFBENCH" RESULTS="$TMP/results" PLOTS="$TMP/file" plots/plot.sh
expect_eq "nowhere to draw: exit code 1, says where" "$status $(cat "$TMP/err")" \
	"1 plot.sh: $TMP/file: cannot write there; PLOTS=DIR draws elsewhere"

# --- the pictures, of the latest run ---
cat >"$bin/watched" <<EOF
#!/usr/bin/env bash
printf '%s\n' "\$1" >>"$TMP/calls"
exec "$BPFBENCH" "\$@"
EOF
chmod +x "$bin/watched"
rm -rf "$out"
sut=$bin/watched plot plots/plot.sh
expect_status "plot succeeds" 0
expect_empty "plot: no complaints" err
names="depth-perf_profiler-step ecdf-perf_profiler-in-situ-freq_hz-1000 ecdf-perf_profiler-step-stack_depth-127"
names+=" ecdf-perf_profiler-step-stack_depth-32 ecdf-perf_profiler-step-stack_depth-8"
for kind in layout net quantiles; do names+=" $kind-perf_profiler-in-situ $kind-perf_profiler-step"; done
expect_eq "plot: one picture a figure, SVG and PNG, nothing else left" "$(pictures | tr '\n' ' ')" \
	"$(for name in $names; do printf '%s.png %s.svg ' "$name" "$name"; done)"
expect_eq "plot: their names are on stdout" "$(LC_ALL=C sort "$TMP/out")" "$(pictures | sed "s|^|$out/|")"
expect_eq "plot: read the stored run, and that is all" "$(cat "$TMP/calls")" show

# well_made NAME: the SVG names the run and every variant (for net: all but the floor), and the PNG has twice its size.
# shellcheck disable=SC2317 # called by check
well_made() {
	local text size

	[[ $(head -c 5 "$out/$1.svg") == '<?xml' && $(tail -n 2 "$out/$1.svg") == '</svg>' ]] ||
		{ echo "$1.svg is no whole SVG"; return 1; }
	for text in empty ringbuf_nowakeup stackid; do
		[[ $1 != net-* || $text != empty ]] || continue
		grep -q ">$text<" "$out/$1.svg" || { echo "no $text in $1.svg"; return 1; }
	done
	grep -qF "bpfbench 0.1.0, run $run_id, Linux 6.18.44-fc-v669, Intel(R) Xeon(R) Processor, clock tsc, 2026-11-21 13:55 UTC" \
		"$out/$1.svg" || { echo "no source in $1.svg"; return 1; }
	grep -q "<title>${1%%-*}: perf_profiler, " "$out/$1.svg" || { echo "no title in $1.svg"; return 1; }
	size=$(sed -n 's/.*viewBox="0 0 \([0-9]*\) \([0-9]*\)".*/\1 * 2, \2 * 2/p' "$out/$1.svg")
	size=$(printf '%08x%08x' $((${size%,*})) $((${size#*,})))
	[[ $(od -An -tx1 -N24 "$out/$1.png" | tr -d ' \n') == 89504e470d0a1a0a0000000d49484452$size ]] ||
		{ echo "$1.png is no PNG of twice the size of the SVG: $size"; return 1; }
	(($(wc -c <"$out/$1.png") > 30000)) || { echo "$1.png is all but empty"; return 1; }
}
for name in $names; do check "$name: SVG and PNG are well made" well_made "$name"; done
if need_command xmllint "the SVGs are well-formed"; then
	check "the SVGs are well-formed" xmllint --noout "$out"/*.svg
fi

# Colours as gnuplot writes them: the floor's grey and the first two of the palette.
ecdf=$out/ecdf-perf_profiler-step-stack_depth-32.svg
for rgb in '128, 128, 128' '  0, 114, 178' '213,  94,   0'; do
	check "ecdf: colour $rgb: in the key and both panels" \
		test "$(grep -c "stroke=[\"']rgb($rgb)" "$ecdf")" -ge 3
done
check "ecdf: the floor is dashed" grep -qE "stroke='rgb\(128, ?128, ?128\)'.*stroke-dasharray" "$ecdf"
for text in 'share of runs ≤ x' 'share of runs > x' 'time of one run (log scale)' '1 µs' '10 µs' '1 %' p50 p90; do
	check "ecdf: has the text $text" grep -qF ">$text<" "$ecdf"
done

expect_eq "ecdf: each curve tells its name, in both panels" "$(grep -c '<title>stackid</title>' "$ecdf")" 2

# The slopes, computed here again by least squares.
depth=$out/depth-perf_profiler-step.svg
slopes() {
	"$BPFBENCH" show --results "$TMP/results" --format plot | LC_ALL=C awk -F '\t' '
	NF == 10 && $3 == "step" && $4 == "stack_depth" {
		n[$2]++; x[$2] += $5; y[$2] += $6; xx[$2] += $5 * $5; xy[$2] += $5 * $6
	}
	END {
		for (v in n) {
			s = (n[v] * xy[v] - x[v] * y[v]) / (n[v] * xx[v] - x[v] * x[v])
			printf("%.1f ns\n", s < 0.05 && s > -0.05 ? 0 : s)
		}
	}'
}
expect_eq "depth: there are three slopes to find" "$(slopes | wc -l)" 3
while read -r slope; do
	check "depth: the slope $slope a frame is in the key" grep -qF ">$slope<" "$depth"
done < <(slopes)
for text in 'stack depth, frames' 'time of one run, ns' 'per frame'; do
	check "depth: has the text $text" grep -qF ">$text<" "$depth"
done

# --- other runs ---
rm -rf "$out"
plot plots/plot.sh harness/tests/golden/run.json
expect_status "one depth only: succeeds" 0
expect_grep "one depth only: says that there is no depth plot" err 'no depth plot: .*two values of stack_depth'
expect_eq "one depth only: the others are drawn" "$(pictures | tr '\n' ' ')" \
	"$(for name in ecdf-perf_profiler-{in-situ-freq_hz-100,step-stack_depth-8} {layout,net,quantiles}-perf_profiler-{in-situ,step}; do
		printf '%s.png %s.svg ' "$name" "$name"
	done)"
rm -rf "$out"
RUN="20261121T135532Z $ROOT/harness/tests/golden/run.json" plot plots/plot.sh
expect_status "RUN: two runs" 0
expect_eq "RUN: two runs: each has pictures of its own" "$(pictures | grep -c 'ecdf-.*step-stack_depth-8-')" 4

# A drive that perf_profiler does not use, without a parameter, and a variant's name that shell, gnuplot and XML would interpret if it
# were not quoted.
# shellcheck disable=SC2016 # it is the text itself
odd='i'\''t "is" `touch bad` $(touch bad) <b> & {/=20 a_b} %d é'
sed -e 's|"drive": "in-situ", "param": "freq_hz", "param_value": 1000|"drive": "slope", "param": null, "param_value": 0|' \
	-e "s|\"variant\": \"stackid\"|\"variant\": $(sed 's/"/\\\\"/g; s/&/\\&/g' <<<"\"$odd\"" | sed 's/^\\\\"/"/; s/\\\\"$/"/')|" \
	"$fixture" >"$TMP/odd.json"
rm -rf "$out"
plot plots/plot.sh "$TMP/odd.json"
expect_eq "an odd name and a drive without parameter: drawn in silence" "$status $(cat "$TMP/err")" "0 "
expect_grep "a drive without parameter: the name of its picture" out '/ecdf-perf_profiler-slope\.svg$'
# shellcheck disable=SC2016 # likewise
check "an odd name: stands there as it is" grep -qF '`touch bad` $(touch bad) &lt;b> &amp; {/=20 a_b} %d é</' "$out/ecdf-perf_profiler-slope.svg"
expect_eq "an odd name: is not a command" "$(find "$TMP" "$ROOT/plots" -name bad)" ""
if need_command xmllint "an odd name: the SVGs are well-formed"; then
	check "an odd name: the SVGs are well-formed" xmllint --noout "$out"/*.svg
fi

# Stored runs whose time of start is a command of gnuplot or of the shell.
mkdir "$TMP/hostile"
n=0
# shellcheck disable=SC2016 # it is the text itself
for started in '`touch a`' '"; !touch ' "'; !touch " '$(touch a)' "x' 1);!ls"; do
	n=$((n + 1))
	id=2026010${n}T120000Z-perf_profiler-0000000$n
	started=${started//\"/\\\"}
	awk -v id="$id" -v started="${started//\\/\\\\}" '/^ *"id": "/ { sub(/": ".*"/, "\": \"" id "\"") }
		/^ *"started": "/ { sub(/": ".*"/, "\": \"" started "\"") }
		{ print }' "$fixture" >"$TMP/hostile/$id.json"
done
rm -rf "$out"
run env BPFBENCH="$BPFBENCH" RESULTS="$TMP/hostile" PLOTS="$out" plots/plot.sh
expect_eq "a hostile time of start: drawn" "$status $(grep -c . <<<"$(ls "$out"/history-*.svg)")" "0 4"
expect_eq "a hostile time of start: is not a command" "$(find "$TMP" "$ROOT/plots" "$ROOT" -maxdepth 2 -name a)" ""

# --- earlier pictures of plot.sh are removed, other files stay ---
rm -rf "$out"
plot plots/plot.sh harness/tests/golden/run.json
echo mine >"$out/ecdf-mine.svg"
plot plots/plot.sh
check "stale: pictures of the run before are gone" test ! -e "$out/ecdf-perf_profiler-in-situ-freq_hz-100.svg"
expect_eq "stale: those of this one are there, and what somebody else has put there" "$(pictures | wc -l)" \
	$(($(wc -w <<<"$names") * 2 + 1))

# --- every kind of picture: the newest run of each scenario, the newest comparison, a history with a change ---
# scenario NAME NS: prints a scenario of the fake drive with a floor, two programs, and a third one that loses all of its samples.
scenario() {
	printf 'name: %s\nfloor: empty\nvariants:\n  - {name: empty, globals: {location_ns: 30, spread_ns: 2}}\n' "$1"
	printf '  - {name: plain, globals: {location_ns: %s, layout_permille: 50}}\n' "$2"
	printf '  - {name: steady, globals: {location_ns: 500}}\n'
	printf '  - {name: lost, globals: {lose_after: 1}}\n'
	printf 'drive:\n  - {with: fake}\n'
}
# dated DAY NAME FOLDER: copies the run in FOLDER, dated as if made on that day of the year.
dated() {
	local date id

	date=$(date -u -d "2025-12-31 + $1 days" +%Y-%m-%d)
	id=${date//-/}T120000Z-$2-$(printf %08d "$1")
	sed -E -e "s/^( *\"id\": )\"[^\"]*\"/\1\"$id\"/" -e "s/^( *\"started\": )\"[^\"]*\"/\1\"${date}T12:00:00Z\"/" \
		"$TMP/$3"/*.json >"$TMP/fakes/$id.json"
}
mkdir "$TMP/fakes"
scenario fake 1000 >"$TMP/usual.yml"
scenario fake 1100 >"$TMP/slower.yml"
scenario other 1000 | grep -v plain >"$TMP/other.yml"	# steady is not at the same place there
for name in usual slower other; do
	"$BPFBENCH" run --scenario "$TMP/$name.yml" --results "$TMP/$name" --seed 1 -n 2400 --quiet >/dev/null 2>&1 || true
done
for day in {1..22}; do dated "$day" fake usual; done
for day in 23 24; do dated "$day" fake slower; done
for day in 5 6; do dated "$day" other other; done
"$BPFBENCH" compare --scenario "$TMP/usual.yml" --base plain --head steady --results "$TMP/fakes" --seed 1 >/dev/null 2>&1 || true
all() { run env BPFBENCH="$BPFBENCH" RESULTS="$TMP/fakes" PLOTS="$out" "$@"; }
rm -rf "$out"
all plots/plot.sh
expect_eq "every kind: drawn in silence" "$status $(cat "$TMP/err")" "0 "
expect_eq "every kind: the newest run's, the comparison and history" "$(pictures | tr '\n' ' ')" \
	"$(for name in ab-fake {ecdf,history,layout,net,quantiles}-{fake,other-fake}; do printf '%s.png %s.svg ' "$name" "$name"; done)"
# shellcheck disable=SC2317 # called by check
has() { grep -qF "<text>$2<" "$out/$1.svg" || { echo "no '$2' in $1.svg"; return 1; }; }
check "every kind: the newest run" grep -q 'run 20260124T120000Z-fake-00000024,' "$out/quantiles-fake.svg"
check "ab: its title says what is compared" has ab-fake 'fake, A: plain, B: steady. The grey band is the threshold of ±1 %'
check "ab: the verdict" has ab-fake improved
check "ab: the verdict's colour" grep -q 'fill="rgb(0,158,115)"' <(grep -B1 '>improved<' "$out/ab-fake.svg")
check "ab: its title" has ab-fake 'Difference of B from A in the time of one run'
for text in 'JIT address mod 64, bytes' 'above the median, %' steady; do
	check "layout: has the text $text" has layout-fake "$text"
done
for text in net plain 'net, above the floor'; do
	check "net: has the text $text" has net-fake "$text"
done
for text in median IQR plain steady 'time of one run (log scale)'; do
	check "quantiles: has the text $text" has quantiles-fake "$text"
done
# bars FIGURE RGB: prints the lengths of the bars of that colour.
bars() {
	awk -F"'" -v fill="$2" '/<polygon/ && $2 == fill {
		split($(NF - 1), at, "[ ,]")
		print at[3] - at[1]
	}' "$out/$1.svg"
}
plain='rgb(  0, 114, 178)' steady='rgb(213,  94,   0)'
# near A B PERCENT: true if A differs from B by at most so much.
near() { awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { exit !(a >= b * (1 - p / 100) && a <= b * (1 + p / 100)) }' || { echo "$1, not $2"; return 1; }; }
# of_case BLOCK COLUMN VARIANT: prints that column of the variant's first row in a block of `show --format plot` of the newest run.
of_case() {
	"$BPFBENCH" show --results "$TMP/fakes" --format plot 20260124 | awk -F'\t' -v block="# $1" -v column="$2" -v variant="$3" '
		/^# / { wanted = $1 == block && $4 == variant; next }
		wanted && NF { print $column; exit }'
}
check "net: a bar is as long as its figure" near "$(awk "BEGIN { print $(bars net-fake "$plain") / $(bars net-fake "$steady") }")" \
	"$(awk "BEGIN { print $(of_case net 6 plain) / $(of_case net 6 steady) }")" 0.5
for variant in plain steady; do
	check "net: the figure of $variant" has net-fake "$(of_case net 6 $variant | awk '{ printf($1 < 999.5 ? "%.0f ns" : "%.2f µs", $1 < 999.5 ? $1 : $1 / 1e3) }')"
done
# quantile SHARE: prints that quantile of steady's samples, by the shares in `show --format plot`.
quantile() {
	"$BPFBENCH" show --results "$TMP/fakes" --format plot 20260124 | awk -F'\t' -v share="$1" '
		/^# / { wanted = $1 == "# ecdf" && $4 == "steady"; next }
		wanted && NF && $3 >= share { print $2; exit }'
}
check "quantiles: the middle half has its figure" has quantiles-fake "$(awk "BEGIN { printf(\"%.2f ns\", $(quantile 0.75) - $(quantile 0.25)) }")"
# On a log axis, the length between two values is proportional to the logarithm of their ratio.
mapfile -t strip < <(bars quantiles-fake "$steady")
check "quantiles: the strip is as long as 1 to 99 % of the samples are apart" near "${strip[0]}" \
	"$(awk "BEGIN { print ${strip[1]} * log($(quantile 0.99) / $(quantile 0.01)) / log($(quantile 0.95) / $(quantile 0.05)) }")" 1
expect_eq "ecdf: the axis has tics only where the data are" "$("$BPFBENCH" show --results "$TMP/fakes" --format plot 20260124 | awk -F'\t' '
		/^#/ { wanted = $1 == "# ecdf"; next }
		wanted && NF { least = !least || $2 < least ? $2 : least; most = $2 > most ? $2 : most }
		END { print least, most }' | {
	read -r least most
	grep -oE '<text>[0-9.]+ (ns|µs)<' "$out/ecdf-fake.svg" | sed 's/<text>//; s/<//' | awk -v least="$least" -v most="$most" '
		{ ns = $2 == "ns" ? $1 : 1e3 * $1 } ns < 0.97 * least || ns > 1.03 * most'
})" ""
check "history: the title" grep -q '<title>history: fake</title>' "$out/history-fake.svg"
check "history: what changed is marked so" has history-fake regressed
expect_eq "history: the change point has a line and a name, besides the key" \
	"$(grep -c '<text>plain<' "$out/history-fake.svg")" 2
check "history: runs of other scenarios are not counted" grep -q ', 2 stored runs, ' "$out/history-other-fake.svg"
check "history: its source" grep -q 'bpfbench [0-9.]*, 24 stored runs, Linux ' "$out/history-fake.svg"
check "a program that lost all of its samples: is in no picture but stays out of the way" \
	test "$(grep -l '>lost<' "$out"/*.svg | wc -l)" = 0
expect_eq "a variant has one colour in all of them, those of another scenario too" \
	"$(for name in {ecdf,quantiles,history}-{fake,other-fake}; do
		grep -A30 '<title>steady</title>' "$out/$name.svg" | grep -oE 'rgb\([ 0-9,]*\)' | sed -n 1p
	done | sort -u)" 'rgb(213,  94,   0)'

# newest FIGURE VARIANT: prints the change in the variant's newest run, as the picture's key shows it.
newest() { sed -n "/<text>$2</,/ %</p" "$out/history-$1.svg" | sed -n 's/^.*<text>\(.*\) %<.*$/\1/p' | sed 's/−/-/' | head -n 1; }

# --- two runs: the second is compared with the first ---
rm -rf "$TMP/fakes"
mkdir "$TMP/fakes"
dated 1 fake usual
dated 2 fake slower
rm -rf "$out"
all plots/plot.sh
check "history of two runs: says what 0 is" grep -q '>0: the first run\. ' "$out/history-fake.svg"
check "history of two runs: the slower program is 10 % above the first run" awk -v x="$(newest fake plain)" 'BEGIN { exit !(x > 8 && x < 12) }'

# --- history in pieces of the reference: the machine's clock changes over 42 runs; in the last two, plain is 5 % slower ---
# swinging NAME PERMILLE PLAIN_NS EMPTY_NS: a run in $TMP/NAME; its variant `even` and its reference take PERMILLE of the usual time.
swinging() {
	printf 'name: swing\nfloor: empty\nvariants:\n  - {name: empty, globals: {location_ns: %s, spread_ns: 2}}\n' "$4" >"$TMP/$1.yml"
	printf '  - {name: %s, globals: {location_ns: %s}}\n' plain "$3" even $((5 * $2 / 10)) >>"$TMP/$1.yml"
	printf 'drive:\n  - {with: fake}\n' >>"$TMP/$1.yml"
	"$BPFBENCH" run --scenario "$TMP/$1.yml" --results "$TMP/$1" --seed "$2" -n 2400 --quiet >/dev/null 2>&1
	sed -i -E "s/(\"instructions_ns\": )null/\1$((2 * $2 / 10))/" "$TMP/$1"/*.json
}
rm -rf "$TMP/fakes"
mkdir "$TMP/fakes"
swinging swing0 800 800 330
swinging swing1 900 900 280
swinging swing2 1000 1000 360
swinging swing3 1100 1100 300
swinging swing4 1200 1200 310
swinging late0 1000 1050 330
swinging late1 1200 1260 290
for n in {1..40}; do dated "$n" swing "swing$((n % 5))"; done
for n in 41 42; do dated "$n" swing "late$((n % 2))"; done
rm -rf "$out"
all plots/plot.sh
"$BPFBENCH" history --results "$TMP/fakes" --format tsv >"$TMP/swing.tsv"
expect_eq "by the reference: both programs are judged so" \
	"$(awk -F'\t' '/^# history\tswing/ { print $4, $9 }' "$TMP/swing.tsv" | grep -v empty | tr '\n' ' ')" "plain relative even relative "
check "by the reference: +5 % in the picture" awk -v x="$(newest swing-fake plain)" 'BEGIN { exit !(x > 4 && x < 6) }'
check "by the reference: the steady program is at 0" awk -v x="$(newest swing-fake even)" 'BEGIN { exit !(x > -1 && x < 1) }'
expect_eq "by the reference: the axis ends below 8 %" \
	"$(grep -oE '<text>[+−]?[0-9.]+<' "$out/history-swing-fake.svg" | grep -oE '[0-9.]+' | awk '$1 >= 8')" ""
expect_eq "by the reference: figure and baseline are in one unit" \
	"$(awk -F'\t' '!/^#/ && NF && $13 != "NaN" && ($22 < $13 / 2 || $22 > $13 * 2)' "$TMP/swing.tsv")" ""

# Plot data that the fake drive cannot produce: a ring, a rate, a hundred rows, thirty variants, and cases without any figure.
cat >"$bin/canned" <<EOF
#!/usr/bin/env bash
[[ \$1 == show ]] && cat "$TMP/canned"
EOF
chmod +x "$bin/canned"
LC_ALL=C awk 'BEGIN {
	OFS = "\t"
	print "# run", "x", "2026-11-21T13:55:32Z", "6.18", "A CPU", "NaN", "-", "0.1.0", "tsc"
	split("fixed none void", name, " ")
	for (v = 1; v <= 3; v++) {
		head = "s/" name[v] "/pipeline" OFS "s" OFS name[v] OFS "pipeline" OFS "freq_hz" OFS 100 OFS "-" OFS "lag"
		if (v < 3) {
			print "\n\n# ecdf", head, 60, 1e6 * v, "NaN", "NaN"
			for (i = 1; i <= 60; i++)
				print "x", 1e6 * v + i ^ 3, i / 60
			print "\n\n# backlog", head
			for (i = 0; i < 20; i++)
				print "x", i == 10 ? "NaN" : i % 10, i == 10 ? "NaN" : v < 2 ? 0 : i * 1e5
		}
		print "\n\n# net", head "\nx", "NaN", "NaN", "NaN", "NaN", "NaN", "NaN", "NaN"
		print "\n\n# slowdown", "s", name[v], "slowdown", "freq_hz", "-"
		for (i = 2; i <= 4; i++)
			print "s", name[v], "slowdown", "freq_hz", 10 ^ i, v < 3 ? i - 2.5 : "NaN", "NaN", v < 2 ? 10 : "NaN"
	}
	for (i = 0; i < 100; i++) {
		print "\n\n# ab", "sweep/step/input=" i, "old", "new", 1, 95, i == 51 ? "regressed" : i % 7 ? "inconclusive" : "same"
		print "x", "matched", i % 5 ? i / 10 : "NaN", i % 3 ? i / 10 - 1 : "NaN", i % 3 ? i / 10 + 1 : "NaN"
		print "x", "pair", i / 10, "NaN", "NaN"
	}
	print "\n\n# ab", "far/step", "old", "new", 1, 95, "regressed\nx", "matched", 30000, 29000, 31000
	for (v = 1; v <= 30; v++) {
		head = "many/v/step" OFS "many" OFS "a_variant_with_a_very_long_name_that_nobody_can_read_number_" v OFS "step" OFS "-" OFS 0 OFS "-" OFS "run"
		print "\n\n# ecdf", head, 1000, 40, 50, 60 "\nx", 40, "0.5\nx", 41, "0.9\nx", v < 30 ? 60 : 37000, 1
		print "\n\n# net", head "\nx", 40, "NaN", "NaN", 45, -5, v == 1 ? "NaN" : -6, v == 1 ? "NaN" : -4
		print "\n\n# loads", head "\nx", 0, 8, "40\nx", 1, v < 3 ? "NaN" : 12, "41\nx", 2, 60, 40
	}
	for (i = 1; i <= 2; i++)
		print "\n\n# lines", "x", "s/v", "7" i " bpf_call", "lines", "-", 0, "-", "run\nx", 400 / i, 390 / i, 410 / i, "NaN"
	for (i = 0; i < 20; i++) {
		head = "packets/v/step/input=packet_" i OFS "packets" OFS "v" OFS "step" OFS "input" OFS i OFS "-" OFS "run"
		if (i < 3)
			print "\n\n# ecdf", head, 19 + (i < 2), 40, "NaN", "NaN\nx", 40, "0.5\nx", 41, 1
		rows = rows "\npackets" OFS "v" OFS "step" OFS "input" OFS i OFS 40 + i OFS "NaN" OFS "NaN" OFS "packet_" i
	}
	print "\n\n# cost", "packets", "v", "step", "input", "-" rows
}' >"$TMP/canned"
rm -rf "$out"
sut=$bin/canned plot plots/plot.sh any
expect_eq "other kinds: drawn in silence, but for what there is not" "$status $(cat "$TMP/err")" \
	"0 plot.sh: run any: no depth plot: no program was measured at two values of stack_depth"
expect_eq "other kinds: all are there" "$(pictures | grep -c png; pictures | sed -n 's/\.svg$//p' | tr '\n' ' ')" \
	"$(printf '15\nab-far ab-sweep backlog-s-pipeline-freq_hz-100 ecdf-many-step ecdf-packets-step-input-0 ecdf-packets-step-input-1 ')$(
	printf 'ecdf-s-pipeline-freq_hz-100 input-packets-step layout-many-step lines-s_v-lines net-many-step ')$(
	printf 'quantiles-many-step quantiles-packets-step quantiles-s-pipeline slowdown-s-slowdown ')"
check "lines: bars on a linear axis from 0" near "$(bars lines-s_v-lines 'rgb(  0, 114, 178)' | awk '{ n[NR] = $1 } END { print n[1] / n[2] }')" 2 0.1
check "lines: without cold caches, no column for them" test "$(grep -cE '>(cold|hot)<' "$out/lines-s_v-lines.svg")" = 0
check "input: a named input keeps its name" has input-packets-step packet_19
check "ecdf: a named input keeps its name" grep -q 'packets, step, input packet_1\.' "$out/ecdf-packets-step-input-1.svg"
check "quantiles: a named input keeps its name" has quantiles-packets-step 'input packet_1'
check "quantiles: 19 samples are no distribution" test "$(grep -c 'packet_2' "$out/quantiles-packets-step.svg")" = 0
# texts FIGURE Y: prints where each text at height Y begins and ends, from left to right.
texts() {
	awk -v y="$2" 'match($0, /<g transform="translate\([0-9.,]*/) { split(substr($0, RSTART + 24, RLENGTH - 24), at, ","); here = at[2] == y }
		here && /<text>/ { gsub(/.*<text>|<.text>/, ""); print at[1] - 3.5 * length($0), at[1] + 3.5 * length($0); here = 0 }' \
		"$out/$1.svg" | sort -n
}
check "ecdf: beside a wide key its axis has fewer labels, none on another" awk '
	$1 < end { n++ } { end = $2 } END { exit n || NR < 2 }' <(texts ecdf-many-step 517.40)
check "backlog: the units" has backlog-s-pipeline-freq_hz-100 'in the ring, MiB'
check "backlog: the time" has backlog-s-pipeline-freq_hz-100 'time since events were enabled, ms'
check "lag: says what it is of" has quantiles-s-pipeline 'lag (log scale)'
check "slowdown: the units" has slowdown-s-slowdown 'sampling rate, Hz (log scale)'
check "slowdown: one below the floor is on a linear axis" has slowdown-s-slowdown '0 %'
check "slowdown: what is above the floor, by its sign" has slowdown-s-slowdown '−0.5 %'
check "ab: of rows too low for text, those that differ have it" has ab-sweep 'step, input 51'
check "ab: the level of the intervals" grep -q 'Bars: 95 % intervals' "$out/ab-sweep.svg"
check "ab: a multiple is a ratio" has ab-far 'cost of B / cost of A (log scale)'
check "ab: the axis of the ratio has figures" has ab-far 100×
check "net: a program that is cheaper than its floor" has net-many-step '−5.00 ns'
check "a case without a valid sample is in none" test "$(grep -l '>void<' "$out"/*.svg | wc -l)" = 0
if need_command xmllint "every kind: the SVGs are well-formed"; then
	check "every kind: the SVGs are well-formed" xmllint --noout "$out"/*.svg
fi

# --- gnuplot without PNG, or one that fails ---
rm -rf "$out"
real=$(type -P gnuplot)
fake_tool gnuplot <<EOF
#!/usr/bin/env bash
[[ "\$*" != *GPVAL_TERMINALS* ]] || { echo ' dumb svg unknown ' >&2; exit 0; }
exec "$real" "\$@"
EOF
plot plots/plot.sh
expect_grep "a gnuplot without PNG: says so" err 'draws no PNG'
expect_eq "a gnuplot without PNG: SVG it is" "$status $(pictures | sed 's/.*\.//' | sort -u)" "0 svg"

echo old >"$depth"
fake_tool gnuplot <<'EOF'
#!/usr/bin/env bash
[[ "$*" != *GPVAL_TERMINALS* ]] || { echo ' svg pngcairo ' >&2; exit 0; }
echo half >picture
echo "line 7: this gnuplot is too old" >&2
exit 1
EOF
before=$(pictures)
plot plots/plot.sh
expect_status "a gnuplot that fails: exit code 1" 1
expect_grep "a gnuplot that fails: says which picture" err 'could not draw ecdf-perf_profiler-step-stack_depth-8\.svg'
expect_grep "a gnuplot that fails: what it said" err 'this gnuplot is too old'
expect_eq "a gnuplot that fails: what was there stays, nothing else is left" "$(cat "$depth") $(pictures)" "old $before"

plan_done
