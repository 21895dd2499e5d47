#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Are the figures and verdicts of `bpfbench overhead` right for agents of known cost? Called by `make bench-overhead`.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
O=$(realpath -m -- "${O:-build}")
cost=${COST:-3} max=${MAX:-1} budget=${BUDGET:-60} costly=${COSTLY:-20} free=${FREE:-50}
attributed=${ATTRIBUTED:-5}

usage() {
	cat <<-EOF
	Usage: harness/tests/bench/overhead.sh

	A workload keeps every CPU busy with a loop and getpgid(). An agent's program on that call takes $cost % of its CPU
	time: what it adds to a call is measured first, by turns of a millisecond in one process, and the loop is as long as it must
	be. In $costly measurements with that agent the cost must be found above $max % (bound: 95 %), in $free with
	an agent that attaches nothing it must not be found (bound: 0). Each has $budget s. In $attributed more, an agent's program costs
	30 %: what \`overhead\` attributes to it must be within 20 % of that. Needs root.

	Environment: COST and MAX, percent ($cost, $max); BUDGET, s ($budget); COSTLY, FREE and ATTRIBUTED,
	numbers of measurements ($costly, $free, $attributed); O, the build folder (build).
	Exit codes: 0 all bounds held, 1 one was missed, 2 usage.
	EOF
}

case ${1:-} in
'') ;;
--help | -h) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac

tool=$O/tests/tools/known_cost object=$O/tests/bpf/overhead.bpf.o
scratch=$(mktemp -d "${TMPDIR:-/tmp}/bpfbench-overhead.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT

# fit ROUNDS PERCENT: sets the workload's $calls and $work so that a program of ROUNDS rounds adds PERCENT to it.
fit() { read -r calls work < <("$tool" fit "$object" "$1" "$2"); }

fit 20 "$cost"
printf 'a run: %d calls with %d rounds of the loop each, on %d CPUs; %s\n\n' "$calls" "$work" "$(nproc)" \
	"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
workload='for i in $(seq "$(nproc)"); do "$0" work "$1" "$2" & done; wait'

# measure AGENT: measures this agent by `bpfbench overhead`, sets $status, and prints a row.
measure() {
	status=0
	./bpfbench overhead --agent "$1" --max "$max" --budget "$budget" --format json -o "$scratch/out" -- \
		sh -c "$workload" "$tool" "$calls" "$work" || status=$?
	((status == 0 || status == 3)) || exit 1
	sed -nE '/^ "blocks"/s/.*: ([0-9]+),/blocks \1/p
		s/.*"(cpu|machine-cpu)": .*"value": ([^,]*), "lower_value": ([^,]*), "upper_value": ([^}]*)[}], "verdict": "(.*)"[}].*/\1 \2 [\3, \4] \5/p' \
		"$scratch/out" | paste -sd ' '
}

missed=0 found=0 wrong=0 undecided=0
for ((i = 0; i < costly; i++)); do
	measure "$tool agent $object 20"
	((status != 3)) || found=$((found + 1))
done
printf 'an agent that costs %s %%: found in %d of %d (bound 95 %%)\n\n' "$cost" "$found" "$costly"
((100 * found >= 95 * costly)) || missed=1
for ((i = 0; i < free; i++)); do
	measure "$tool agent $object 20 idle"
	((status != 3)) || wrong=$((wrong + 1))
	grep -q '"cpu": .*"verdict": "inconclusive"' "$scratch/out" && undecided=$((undecided + 1))
done
printf 'an agent that costs nothing: found in %d of %d (bound 0), inconclusive %d\n' "$wrong" "$free" "$undecided"
((wrong == 0)) || missed=1

fit 1000 30
right=0
for ((i = 0; i < attributed; i++)); do
	measure "$tool agent $object 1000"
	awk '/^ *"cpu": / { sub(/.*"base_s": /, ""); base = $0 + 0 }
		/"costs_rounds"/ { sub(/.*"cpu_s": /, ""); part = $0 + 0 }
		END { part /= base; printf "attributed to the program: %.1f %%\n", 100 * part; exit !(part > 0.24 && part < 0.36) }' \
		"$scratch/out" && right=$((right + 1))
done
printf 'a program that costs 30 %%: attributed within 20 %% in %d of %d (bound: all)\n' "$right" "$attributed"
((right == attributed)) || missed=1
exit "$missed"
