#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# plots/plot.sh on stored runs: golden/run-depths.json, a real run thinned out (three variants at three depths, in-situ at
# one frequency), and golden/run.json, which has one depth. Measures nothing; needs no root.
# shellcheck source=harness/tests/lib.sh
. "$(dirname "$0")/../lib.sh"

unset RUN RESULTS PLOTS
fixture=$ROOT/harness/tests/golden/run-depths.json
run_id=20261121T135532Z-perf_profiler-5a3b1e00
bin=$TMP/bin
out=$TMP/plots
mkdir -p "$bin" "$TMP/results" "$TMP/empty"
cp "$fixture" "$TMP/results/$run_id.json"

# fake_tool NAME: stdin is its script.
fake_tool() { cat >"$bin/$1"; chmod +x "$bin/$1"; }
plot() { run env PATH="$bin:$PATH" BPFBENCH="${sut:-$BPFBENCH}" RESULTS="$TMP/results" PLOTS="$out" "$@"; }
pictures() { find "$out" -mindepth 1 -printf '%f\n' | sort; }

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

# --- what there is to draw ---
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
expect_eq "plot: one picture a figure, SVG and PNG, nothing else left" "$(pictures | tr '\n' ' ')" \
	"$(for name in $names; do printf '%s.png %s.svg ' "$name" "$name"; done)"
expect_eq "plot: their names are on stdout" "$(sort "$TMP/out")" "$(pictures | sed "s|^|$out/|")"
expect_eq "plot: read the stored run, and that is all" "$(cat "$TMP/calls")" show

# well_made NAME: an SVG with every variant in its key and what it is of, and a PNG of twice its size.
# shellcheck disable=SC2317 # called by check
well_made() {
	local text

	[[ $(head -c 5 "$out/$1.svg") == '<?xml' && $(tail -n 2 "$out/$1.svg") == '</svg>' ]] ||
		{ echo "$1.svg is no whole SVG"; return 1; }
	for text in empty ringbuf_nowakeup stackid variant; do
		grep -q ">$text<" "$out/$1.svg" || { echo "no $text in $1.svg"; return 1; }
	done
	grep -q "bpfbench run $run_id, Linux 6.18.44-fc-v669, Intel(R) Xeon(R) Processor, 2026-11-21 13:55 UTC" \
		"$out/$1.svg" || { echo "no source in $1.svg"; return 1; }
	grep -q "<title>${1%%-*}: perf_profiler, " "$out/$1.svg" || { echo "no title in $1.svg"; return 1; }
	[[ $(od -An -tx1 -N24 "$out/$1.png" | tr -d ' \n') == 89504e470d0a1a0a0000000d4948445200000780000004b0 ]] ||
		{ echo "$1.png is no PNG of 1920 x 1200"; return 1; }
	(($(wc -c <"$out/$1.png") > 30000)) || { echo "$1.png is all but empty"; return 1; }
}
for name in $names; do check "$name: SVG and PNG are well made" well_made "$name"; done
if need_command xmllint "the SVGs are well-formed"; then
	check "the SVGs are well-formed" xmllint --noout "$out"/*.svg
fi

# Colours as gnuplot writes them: the floor's grey, the palette's first two.
ecdf=$out/ecdf-perf_profiler-step-stack_depth-32.svg
for rgb in '128, 128, 128' '  0, 114, 178' '213,  94,   0'; do
	check "ecdf: colour $rgb: in the key and both panels" \
		test "$(grep -c "stroke=[\"']rgb($rgb)" "$ecdf")" -ge 3
done
check "ecdf: the floor is dashed" grep -qE "stroke='rgb\(128, ?128, ?128\)'.*stroke-dasharray" "$ecdf"
for text in 'share of runs ≤ x' 'share of runs > x' 'time of one run, ns (log scale)' 1k 10k '1 %' p50 p90; do
	check "ecdf: has the text $text" grep -qF ">$text<" "$ecdf"
done

expect_eq "ecdf: each curve tells its name, in both panels" "$(grep -c '<title>stackid</title>' "$ecdf")" 2

# The slopes, once more by the formula of the least squares.
depth=$out/depth-perf_profiler-step.svg
slopes() {
	"$BPFBENCH" show --results "$TMP/results" --format plot | LC_ALL=C awk -F '\t' '
	NF == 8 && $3 == "step" && $4 == "stack_depth" {
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
	"ecdf-perf_profiler-in-situ-freq_hz-100.png ecdf-perf_profiler-in-situ-freq_hz-100.svg ecdf-perf_profiler-step-stack_depth-8.png ecdf-perf_profiler-step-stack_depth-8.svg "
rm -rf "$out"
RUN="20261121T135532Z $ROOT/harness/tests/golden/run.json" plot plots/plot.sh
expect_status "RUN: two runs" 0
expect_eq "RUN: two runs: each has pictures of its own" "$(pictures | grep -c 'step-stack_depth-8-')" 4

# A drive to come, without a parameter, and a name that no shell, no gnuplot and no XML may take for a command.
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

# --- other gnuplots ---
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
