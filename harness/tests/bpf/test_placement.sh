#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A plain run covers the places that the JIT has for a program evenly, and says so; where it cannot, it says that.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

names=("every place is measured as often as the others" "the table names the places" "the estimate lies between the best and the
worst place" "a run of few loads does not claim to cover the places" "loads asked for are loads measured")
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
	for name in "${names[@]}"; do skip "$name" "this kernel does not say where a program is (no JIT)"; done
	plan_done
fi
check "every place is measured as often as the others, by two loads at the most" \
	awk '{ if (!n++ || $2 < least) least = $2; if ($2 > most) most = $2 } END { exit !(n && most - least <= 2) }' <(places "$TMP/run.json")
run "$BPFBENCH" show "$TMP/run.json" --format table
if grep -q 'loop [0-9. ]* to [0-9. ]* in [0-9]* place' "$TMP/out"; then
	ok "the table names the places"
	run "$BPFBENCH" show "$TMP/run.json" --format csv
	check "the estimate lies between the best and the worst place" awk -F, '
		$1 == "loop/loop/step" && $7 == "latency" { x = $9 }
		$1 == "loop/loop/step" && $7 == "layout_best" { lo = $9 }
		$1 == "loop/loop/step" && $7 == "layout_worst" { hi = $9 }
		END { exit !(lo && lo <= x && x <= hi) }' "$TMP/out"
else
	# an emulated machine is too slow to find them within its time
	expect_grep "the table says that they are not known" out 'loop [0-9.]* \(at random\)'
	skip "the estimate lies between the best and the worst place" "the places were not found in the time for it"
fi
run "$BPFBENCH" --object "$object" --drive step -n 60 --loads 3 --quiet --no-store --format table
expect_grep "a run of few loads does not claim to cover the places" out 'loop [0-9.]* \(at random\)|in [12] place'
run "$BPFBENCH" --object "$object" --drive step -n 60 --loads 7 --quiet --no-store --format csv
check "loads asked for are loads measured, but for those set aside" \
	awk -F, '$1 == "loop/loop/step" && $7 == "latency" { exit !($13 >= 4 && $13 <= 7) }' "$TMP/out"
plan_done
