#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A plain run covers the places that the JIT has for a program evenly, and says so; where it cannot,
# it says that.
# slow: it measures whether loads cover the places, a quarter of a minute
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

names=("every place is measured as often as the others" "the table names the places" "the estimate lies between the best and the worst place"
"a run of few loads does not claim to cover the places" "loads asked for are loads measured" "loads that are nowhere"
"10 000 loads end with the budget" "a program that takes long to load")
need_root "${names[@]}" || plan_done
object=$O/tests/bpf/loop.bpf.o

# places FILE: "MOD64 LOADS" of the case loop/loop/step in a run's JSON, a line each.
places() {
	sed -n '/"name": "loop\/loop\/step"/,/\]}/p' "$1" | grep -o '"jit_mod64": [-0-9]*' | sort | uniq -c | awk '{print $3, $1}'
}

run "$BPFBENCH" --object "$object" --drive step -n 560 --seed 1 --quiet --results "$WORK/results" --format json
expect_status "it runs" 0
cp "$TMP/out" "$TMP/run.json"
if places "$TMP/run.json" | grep -q '^-1 '; then
	skip_each "this kernel does not say where a program is (no JIT)" "${names[@]}" || plan_done
fi
check "every place is measured as often as the others, by two loads at the most" \
	awk '{ if (!n++ || $2 < least) least = $2; if ($2 > most) most = $2 } END { exit !(n && most - least <= 2) }' <(places "$TMP/run.json")
run "$BPFBENCH" show "$TMP/run.json" --format details
if grep -qE 'loop( +[-+*0-9.]+| +[0-9]+ of [0-9]+)* to [0-9. ]* in [0-9]+ place' "$TMP/out"; then
	ok "the table names the places"
	run "$BPFBENCH" show "$TMP/run.json" --format csv
	check "the estimate lies between the best and the worst place" awk -F, '
		$1 == "loop/loop/step" && $7 == "latency" { x = $9 }
		$1 == "loop/loop/step" && $7 == "layout_best" { lo = $9 }
		$1 == "loop/loop/step" && $7 == "layout_worst" { hi = $9 }
		END { exit !(lo && lo <= x && x <= hi) }' "$TMP/out"
else
	# an emulated machine is too slow to find the places within the time for that
	expect_grep "the table says that they are not known" out 'loop( +[-+*0-9.]+| +[0-9]+ of [0-9]+)* \(at random\)'
	skip "the estimate lies between the best and the worst place" "the places were not found in the time for it"
fi
run "$BPFBENCH" --object "$object" --drive step -n 60 --loads 3 --quiet --no-store --format details
expect_grep "a run of few loads does not claim to cover the places" out 'loop( +[-+*0-9.]+| +[0-9]+ of [0-9]+)* \(at random\)|in [12] place'
run "$BPFBENCH" --object "$object" --drive step -n 60 --loads 7 --quiet --no-store --format csv
check "loads asked for are loads measured, but for those set aside" \
	awk -F, '$1 == "loop/loop/step" && $7 == "latency" { exit !($13 >= 4 && $13 <= 7) }' "$TMP/out"

# The run, edited as if the kernel's JIT were off: the latency is the median over loads, and the
# table says that there are no places. (unit/run/test_bpf_placement runs in such a kernel.)
sed -E 's/("jit_mod64": )[0-9]+/\1-1/; s/("jit_share": )[0-9.e-]+/\1null/' "$TMP/run.json" >"$TMP/nowhere.json"
run "$BPFBENCH" show "$TMP/nowhere.json" --format details
expect_grep "loads that are nowhere: the table says so" out 'loop( +[-+*0-9.]+| +[0-9]+ of [0-9]+)* \(no place: JIT off, or hidden\)'
run "$BPFBENCH" show "$TMP/nowhere.json" --format csv
check "loads that are nowhere: the latency has an interval" \
	awk -F, '$1 == "loop/loop/step" && $7 == "latency" { exit !($9 && $10 && $10 <= $9 && $9 <= $11) }' "$TMP/out"

run "$BPFBENCH" --object "$object" --drive step -n 10000 --loads 10000 --budget 3 --quiet --no-store --format details
expect_status "10 000 loads end with the budget" 0
expect_grep "10 000 loads: it says how many were not measured" out 'skipped: [0-9]+ of 10000 loads did not fit the budget of 3 s'
expect_grep "10 000 loads: those that were have a latency" out '^  loop +[0-9. ]+ +[0-9.]+ '

# A program that the verifier takes most of a second for: its loads are few, and at random places.
# The table says so from three loads on.
run "$BPFBENCH" --object "$O/tests/bpf/slow_rejected.bpf.o" --program slow_accepted --drive step -n 280 --budget 4 --quiet --no-store --format json
cp "$TMP/out" "$TMP/slow.json"
if ((status == 0)); then
	run "$BPFBENCH" show "$TMP/slow.json" --format csv
	loads=$(awk -F, '$1 ~ "/slow_accepted/step$" && $7 == "latency" { print $13 }' "$TMP/out")
	run "$BPFBENCH" show "$TMP/slow.json" --format details
	if ((loads >= 3)); then
		expect_grep "a program that takes long to load: the table says that its places are not known" out 'slow_accepted( +[-+*0-9.]+| +[0-9]+ of [0-9]+)* \(at random\)'
	else
		expect_no_grep "a program that takes long to load: the table does not claim places" out 'slow_accepted .* in [0-9]+ place'
	fi
else
	expect_grep "a program that takes long to load: the budget was too short for one, and it says so" err 'the budget of 4 s was used up'
fi
plan_done
