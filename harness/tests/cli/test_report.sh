#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bpfbench report` over runs of the fake drive: the contents of the page, quoting of all texts in it, and bad input. In headless
# Chromium: the width of a phone, dark and light, zoom and search of the flame graph.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"
# shellcheck source=harness/tests/browser.sh
. "$(dirname "$0")/../browser.sh"

results=$WORK/results
mkdir -p "$results"

# scenario NAME PLAIN_NS: writes $WORK/NAME.yml.
scenario() {
	cat >"$WORK/$1.yml" <<-YML
	name: hist
	floor: empty
	variants:
	  - {name: empty, globals: {location_ns: 100, spread_ns: 2}}
	  - {name: plain, globals: {location_ns: $2}}
	  - {name: a_variant_whose_name_is_longer_than_any_label, globals: {location_ns: 30000}}
	drive:
	  - {with: fake}
	YML
}

# stored N SCENARIO: makes a run of day N as $results/ID.json, and sets $id.
stored() {
	local date

	date=$(date -u -d "2026-01-01 + $1 days" +%Y-%m-%d)
	id=${date//-/}T120000Z-hist-$(printf '%08x' "$1")
	rm -rf "$WORK/new"
	"${user[@]}" "$BPFBENCH" run --scenario "$WORK/$2.yml" --results "$WORK/new" --seed "$1" -n 1200 --quiet \
		>/dev/null 2>"$TMP/err" </dev/null
	sed -E -e "s/^( *\"id\": )\"[^\"]*\"/\1\"$id\"/" -e "s/^( *\"started\": )\"[^\"]*\"/\1\"${date}T12:00:00Z\"/" \
		"$WORK"/new/*.json >"$results/$id.json"
}

report() { run "$BPFBENCH" report --results "$results" "$@"; }

# A result as the exact drive stores it, for a source file that does not exist.
cat >"$WORK/counted.json" <<'JSON'
 "counted": [{"name": "hist/plain/exact", "scenario": "hist", "variant": "plain", "n_insns": 9, "n_blocks": 2,
 "clone_insns": 20, "runs": 10, "instructions": 80, "paths": 1, "tail_calls": 0,
 "cases": [{"name": "hist/plain/exact", "param": null, "param_value": 0, "runs": 10, "least": 8, "most": 8,
  "instructions": 80, "paths": 1, "void": null}],
 "lines": [{"file": "/nowhere/a.bpf.c", "line": 5, "text": "\treturn \"<script>alert(1)</script>\";", "n_insns": 8, "executions": 10,
  "instructions": 80}, {"file": "/nowhere/a.bpf.c", "line": 9, "text": "\treturn never;", "n_insns": 1, "executions": 0,
  "instructions": 0}],
 "calls": [{"name": "map_lookup_elem", "calls": 10}]}],
JSON

report
complains "no runs: fails" 1 'results: no runs are stored there yet'

scenario usual 1000
scenario slower 1050
for n in {1..22}; do stored "$n" usual; done
report -o "$WORK/one.html" 20260102
expect_status "a stored run: succeeds" 0
expect_empty "a stored run: nothing on stdout" out
expect_grep "a stored run: says where the page is" err '^bpfbench: the page is .*/one\.html \([0-9]+ kB\)$'
check "a stored run: nothing has regressed" grep -q '3 cases over 22 runs: 0 regressed, 0 improved, 3 steady' "$WORK/one.html"

for n in 23 24; do stored "$n" slower; done
awk 'FNR == NR { counted = counted $0 "\n"; next } /^ *"cases": \[$/ { printf "%s", counted } { print }' \
	"$WORK/counted.json" "$results/$id.json" >"$WORK/with.json"
mv "$WORK/with.json" "$results/$id.json"
cat >"$results/$id.folded" <<'FOLDED'
spin;main;hot 60
spin;main;hot;inner_[i] 30
spin;main;"><script>alert(2)</script> 5
spin;main;read;do_read_[k] 5
FOLDED

# --- contents of the page ---
run "${user[@]}" env -C "$WORK" "$BPFBENCH" report --results results
expect_status "without arguments: succeeds" 0
check "without arguments: report.html of the latest run" grep -q "run</th><td class=text>$id<" "$WORK/report.html"
expect_eq "the title: what was measured, and what made it run" "$(sed -n 's/^<title>//p; s/^<h1>//p' "$WORK/report.html")" \
	"bpfbench: hist: plain, a_variant_whose_name_is_longer_than_any_label, by fake</title>
hist: plain, a_variant_whose_name_is_longer_than_any_label, by fake</h1>"
report -o -
expect_status "-o -: succeeds" 0
expect_empty "-o -: nothing on stderr" err
check "-o -: the same page" cmp "$TMP/out" "$WORK/report.html"
expect_grep "history: what regressed, and since when" out \
	'<b>regressed</b>: hist/plain/fake, \+[45]\.[0-9]+ % in the newest run, first seen in the run of 2026-01-24T'
expect_eq "history: a row a case" \
	"$(sed -n '/<section id=history>/,/<.section>/p' "$TMP/out" | grep -c '^<tr><td class=text>hist/.*/fake</td>')" 3
expect_grep "source: executed lines" out '<td>8\.00<td class=share style=.--share:100%.>100\.0<td>1\.00<td>5<td'
expect_grep "source: a line that never was" out '<tr id=l0-0-1 class=never><td>0<td class=share>0<td>#####<td>9<td'
expect_grep "source: calls" out 'Calls per run: 1 <code>map_lookup_elem<'
expect_grep "flame graph: from the stacks beside the run" out '<title>hot$'
expect_grep "machine: its fingerprint" out "kernel_release</th><td class=text>$(uname -r)<"
expect_no_grep "nothing of a name is markup" out '<script>alert'
expect_no_grep "nothing is loaded" out 'src=|url\(|@import|<link|https?://[^w]'
if need_command xmllint "well-formed"; then
	# xmllint calls every element that is newer than HTML 4 invalid.
	xmllint --html --noout "$WORK/report.html" 2>"$TMP/lint" || true
	expect_eq "well-formed" "$(grep ' error : ' "$TMP/lint" | grep -v ' Tag [a-z]* invalid$')" ""
fi
check "small" test "$(stat -c %s "$WORK/report.html")" -lt 400000
if need_command gnuplot "pictures: as plots/ draws them, their colours, nothing of them runs or is loaded"; then
	expect_eq "pictures: net, quantiles, layout, distribution, history" "$(grep -c '^<figure class=plot>$' "$TMP/out")" 5
	for what in 'Net cost: time of one run above the floor' 'Quantiles of the time of one run' 'Distribution of the time of one run' \
		'Time of one run against the JIT address of the program' 'Change of cost over stored runs'; do
		expect_grep "pictures: what one shows: $what" out "^<figcaption><b>$what</b>"
	done
	expect_eq "pictures: those of a case above its table" \
		"$(sed -n '/<section id=cost>/,/<.section>/p' "$TMP/out" | grep -oE '^<(figure|h3)|<table' | uniq | tr -d '\n')" '<h3<figure<table'
	expect_grep "pictures: the page's colours" out "stroke='var\(--c0\)'"
	expect_no_grep "pictures: no colour that is not the page's" out "(fill|stroke|color)='#"
	expect_no_grep "pictures: no script in them" out '<svg[^>]* on[a-z]+='
	expect_no_grep "pictures: no word about any that lack" out 'No pictures'
fi
mkdir "$TMP/few"
for tool in bash timeout dirname; do ln -s "$(type -P "$tool")" "$TMP/few/$tool"; done
run env PATH="$TMP/few" "$BPFBENCH" report --results "$results" -o -
expect_eq "no gnuplot: succeeds, in silence" "$status $(cat "$TMP/err")" "0 "
expect_grep "no gnuplot: tables, and what to install" out \
	'No pictures: gnuplot is missing; install the package gnuplot-nox: sudo apt-get install gnuplot-nox\.<'
expect_eq "no gnuplot: a row a case" "$(grep -c '^<tr><td class=text>hist/.*/fake</td>' "$TMP/out")" 3
cat >"$TMP/few/gnuplot" <<'EOS'
#!/bin/sh
echo "it has a bad day" >&2
exit 1
EOS
chmod +x "$TMP/few/gnuplot"
run env PATH="$TMP/few:$PATH" "$BPFBENCH" report --results "$results" -o -
expect_status "gnuplot fails: succeeds" 0
expect_grep "gnuplot fails: says so on the page" out 'No pictures: gnuplot could not draw ecdf-hist-fake\.svg; '

report -o - "$id" 20260102
expect_eq "two runs: on one page" "$(grep -c '^<h1>' "$TMP/out")" 2
expect_eq "two runs: every name is of one element" "$(grep -oE '[ <]id=[^ >]+' "$TMP/out" | sort | uniq -d)" ""
expect_grep "flame graph: in samples" out '^90 samples, 90\.00 %<'
sed '$a spin;main;read;[off-CPU] 100' "$results/$id.folded" >"$WORK/other.folded"
report -o - --folded "$WORK/other.folded" 20260102
expect_grep "--folded: a flame graph of other stacks" out '<figcaption>other\.folded<br>'
expect_grep "--folded: time off the CPU is in microseconds" out '^100 us, 50\.00 %<'
report -o - "$results/$id.json"
expect_grep "a file: the stacks beside it" out '<title>hot$'
run "$BPFBENCH" show --results "$results" --format html "$id"
expect_grep "show --format html: the same source" out '<tr id=l0-0-0 '
expect_no_grep "show --format html: without history" out 'id=history'

# --- bad input ---
report nosuch
complains "no such run" 1 'nosuch'
printf 'a;b 1\na;b\n' >"$WORK/bad.folded"
report --folded "$WORK/bad.folded" -o "$WORK/bad.html"
complains "no folded stacks: where" 1 "bad\.folded:2: not folded stacks: "
check "no folded stacks: no page" test ! -e "$WORK/bad.html"
report --folded "$WORK/nosuch.folded"
complains "no such stacks" 1 'nosuch\.folded: No such file'
report -o "$WORK/nosuch/a.html"
complains "no such folder" 1 'nosuch/a\.html: cannot be written'
report -o /dev/full
complains "no space" 1 '/dev/full: No space left'
report --nosuch
expect_status "usage" 2

# --- in a browser ---
# Finds texts of one chart that overlap: tick labels, words of the key.
# shellcheck disable=SC2016
look='
	var root = page.documentElement, texts = [], overlaps = [], cut = [], smallest = 99;
	say("overflow", root.scrollWidth - root.clientWidth);
	say("background", view.getComputedStyle(page.body).backgroundColor);
	say("sections", Array.from(page.querySelectorAll("section"), function (s) { return s.id; }).join(" "));
	page.querySelectorAll(".plot svg").forEach(function (chart) {
		var box = chart.getBoundingClientRect();
		var places = Array.from(chart.querySelectorAll("text"), function (text) {
			var place = text.getBoundingClientRect();
			smallest = Math.min(smallest, parseFloat(view.getComputedStyle(text).fontSize) * chart.getScreenCTM().a);
			if (place.left < box.left - 1 || place.right > box.right + 1 || place.bottom > box.bottom + 1)
				cut.push(text.textContent);
			return {text: text.textContent, place: place};
		});
		places.forEach(function (a, i) {
			places.slice(i + 1).forEach(function (b) {
				if (a.place.left < b.place.right - 1 && b.place.left < a.place.right - 1 &&
				    a.place.top < b.place.bottom - 3 && b.place.top < a.place.bottom - 3)
					overlaps.push(a.text + " and " + b.text);
			});
		});
		texts = texts.concat(places);
	});
	page.querySelectorAll("table, figure, pre").forEach(function (e) {
		if (!e.closest(".scroll") && e.getBoundingClientRect().right > view.innerWidth + 1)
			cut.push(e.tagName);
	});
	say("texts", texts.length > 30 ? "many" : texts.length);
	say("overlaps", overlaps.join(", "));
	say("cut", cut.join(", "));
	say("smallest", smallest.toFixed(1));
	var frame = Array.from(page.querySelectorAll(".frames rect")).find(function (r) { return /^hot\n/.test(r.textContent); });
	frame.dispatchEvent(new view.MouseEvent("click", {bubbles: true}));
	say("zoomed", page.querySelector(".frames").getAttribute("viewBox").split(" ")[2]);
	say("label", page.querySelector(".labels").lastChild.textContent);
	view.prompt = function () { return "read"; };
	page.querySelector(".search").click();
	say("found", page.querySelector(".found").textContent);
	page.querySelector(".reset").click();
	say("reset", page.querySelector(".frames").getAttribute("viewBox").split(" ")[2]);
	say("flame", Math.round(page.querySelector(".flame .box>svg").getBoundingClientRect().width) ===
	    page.querySelector(".flame .box>svg").viewBox.baseVal.width ? "as wide as its box" : "scaled");
'
# seen WHAT WIDTH BACKGROUND [FLAG]...: opens the page in Chromium at that width, with these flags; no text overlaps or is cut off, and
# the background has that colour.
seen() {
	local what=$1 width=$2 background=$3

	shift 3
	probe "$WORK/report.html" "$width" "$look" "$@"
	expect_grep "$what: not wider than the window" out '^overflow: 0$'
	expect_grep "$what: its colours" out "^background: $background\$"
	expect_grep "$what: all sections" out '^sections: cost history source flame machine$'
	expect_grep "$what: labels of charts" out '^texts: many$'
	expect_grep "$what: none on another" out '^overlaps: $'
	expect_grep "$what: nothing is cut off" out '^cut: $'
	check "$what: no text is tiny" more "$(sed -n 's/^smallest: //p' "$TMP/out")" 9
	expect_grep "$what: the flame graph zooms" out '^zoomed: 90$'
	expect_grep "$what: and labels what it shows" out '^label: inner$'
	expect_grep "$what: it searches" out '^found: found: 5\.00 %$'
	expect_grep "$what: and goes back" out '^reset: 100$'
	expect_grep "$what: it has the width of the page" out '^flame: as wide as its box$'
	expect_no_grep "$what: no errors of scripts" err 'CONSOLE.*(Error|rror:)'
}
# --- a run of November 2026, stored by a version whose rows had no calls and always all cuts: it is still readable ---
run "$BPFBENCH" annotate --time harness/tests/golden/older-lines.json
expect_status "an older run with times by line: is read" 0
expect_grep "an older run with times by line: and shown" out '[0-9]+ % line 83 .bpf_ringbuf_submit., [0-9]+ % line 77 .bpf_get_stack.'

if [[ -z $browser ]]; then
	for what in "on a desk" "on a phone" "in the dark" "a screenshot"; do skip "$what" "no chromium here"; done
else
	seen "on a desk" 1280 'rgb\(255, 255, 255\)'
	seen "on a phone" 390 'rgb\(255, 255, 255\)' --blink-settings=preferredColorScheme=1
	seen "in the dark" 390 'rgb\(23, 25, 27\)' --blink-settings=preferredColorScheme=0
	run timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$WORK/browser" \
		--no-pdf-header-footer --print-to-pdf="$WORK/report.pdf" "file://$WORK/report.html"
	check "it prints" grep -qa '^%PDF' "$WORK/report.pdf"
fi
plan_done
