#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How often `compare` gives a false verdict, and how often it finds a slowdown, for programs that are fired where they are attached,
# while every CPU is busy with other work. Called by `make bench-fire`.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
O=${O:-build}
tries=${TRIES:-100} budget=${BUDGET:-10} limit_s=${LIMIT:-0} kept=${KEEP:-}
programs=(on_tracepoint on_function on_cgroup on_raw_tp)
# shellcheck source=harness/tests/bench/busy_cpus.sh
. harness/tests/bench/busy_cpus.sh

usage() {
	cat <<-EOF
	Usage: harness/tests/bench/fire.sh

	For one program on a tracepoint, a uprobe, a cgroup and a raw tracepoint, with a busy loop on every CPU: $tries comparisons
	with itself over reloads (bound: 0 false verdicts), and $tries with one that does 3 % more (bound: 95 % found within
	$budget s). Needs root and jq.

	Environment: TRIES, the number of comparisons (100); BUDGET, seconds for each (10); O, the build folder (build). In pieces:
	KEEP, a file to which each comparison adds a line, and which counts those of earlier calls; LIMIT, seconds until this call ends.
	Exit codes: 0 all bounds held, 1 one was missed, 2 usage, 5 the time is over before all were made: call again.
	EOF
}

case ${1:-} in
'') ;;
--help | -h) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac

scratch=$(mktemp -d)
trap 'leave_cpus; rm -rf "$scratch"' EXIT
kept=${kept:-$scratch/kept}
touch "$kept"
keep_cpus_busy

# Head makes 311 turns of a loop, base 300. A turn takes 1.07 ns and the program 394 ns, so head is 3 % slower (AMD EPYC).
for program in "${programs[@]}"; do
	cat >"$scratch/$program.yaml" <<-EOF
	name: $program
	object: $PWD/$O/tests/bpf/turns.bpf.o
	variants:
	  - {name: base, program: $program, globals: {turns: 300}}
	  - {name: head, program: $program, globals: {turns: 311}}
	drive: [{with: step, trigger: fire}]
	EOF
done

# compare PROGRAM HEAD: adds a line "PROGRAM HEAD VERDICT DIFFERENCE% MILLISECONDS COMMIT" to $kept. VERDICT "none": no comparison was made.
compare() {
	local row began=${EPOCHREALTIME//[!0-9]/}

	./bpfbench compare --scenario "$scratch/$1.yaml" --base base --head "$2" --threshold 1 --budget "$budget" --no-store \
		--format json 2>"$scratch/err" >"$scratch/out" || (($? == 3)) || cat "$scratch/err" >&2
	row=$(jq -r '.comparisons[].summary | "\(.verdict)\t\((.ratio.value - 1) * 100)"' "$scratch/out" || true)
	printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "${row:-none	-}" \
		$(((${EPOCHREALTIME//[!0-9]/} - began) / 1000)) "$(git rev-parse --short HEAD 2>/dev/null || echo -)" >>"$kept"
}

# made PROGRAM HEAD [VERDICT]: prints how many such lines $kept has.
made() { awk -F '\t' -v p="$1" -v h="$2" -v v="${3:-}" '$1 == p && $2 == h && (v == "" || $3 == v)' "$kept" | wc -l; }

# Programs take turns, so that each has equally many comparisons whenever the time is over.
is_over=0
for ((i = 1; i <= tries && !is_over; i++)); do
	for program in "${programs[@]}"; do
		for head in base head; do
			((limit_s == 0 || SECONDS < limit_s)) || { is_over=5; break 3; }
			(($(made "$program" "$head") >= i)) || compare "$program" "$head"
		done
	done
done

missed=0
# say PROGRAM HEAD NAME BOUND IS_HELD: prints a row with the verdicts of these comparisons; IS_HELD 0 is a miss.
say() {
	local words

	words=$(awk -F '\t' -v p="$1" -v h="$2" '$1 == p && $2 == h { n[$3]++ }
		END { for (v in n) printf "%s%d %s", s++ ? ", " : "", n[v], v }' "$kept")
	printf '%-14s %s: %s: %s: %s\n' "$1" "$3" "${words:-none made}" "$4" "$( (($5)) && echo ok || echo MISS)"
	(($5)) || missed=1
}

for program in "${programs[@]}"; do
	# a comparison without a verdict counts as false, too
	false=$(($(made "$program" base regressed) + $(made "$program" base improved) + $(made "$program" base none)))
	say "$program" base itself "$false false in $(made "$program" base) (bound 0)" "$((false == 0))"
	n=$(made "$program" head) found=$(made "$program" head regressed)
	say "$program" head "+3 %" "$found of $n found (bound 95 %)" "$((100 * found >= 95 * n))"
done
exit "$((missed ? missed : is_over))"
