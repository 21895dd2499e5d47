#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole profiler, as root: consumers that keep up and consumers that do not, the slowdown of the
# sampled command, and that no process, program or map is left behind, however it ends.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("pipeline" "slowdown" "nothing is left behind")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

scenario() {	# scenario DRIVE: the pipeline's variants and nobody, over a workload that can be told from others
	sed -e '/^drive:/,$d' "$ROOT/scenarios/$1.yml"
	printf 'drive:\n  - {with: %s, freq_hz: %s, workload: amicable_pairs, args: ["%s"], seconds: %s}\n' "$1" "$2" "$3" "$4"
}

# --- pipeline ---
# 10 kHz for 1.2 s are more samples than the 4064 that the ring holds. Where others keep both CPUs
# busy, it takes longer.
for seconds in 1.2 5 20; do
	scenario pipeline 10000 65534 "$seconds" >"$WORK/pipeline.yml"
	rm -rf "$results"
	real --scenario "$WORK/pipeline.yml" --loads 2 --budget 0
	! more "$(bmf "$TMP/out" pipeline/none/pipeline/freq_hz=10000 drops)" 0 >"$TMP/more" || break
done
if ((status == 4)); then
	skip_each "$(head -n 1 "$TMP/err")" "${names[@]}" || plan_done
fi
expect_status "pipeline: succeeds" 0
check "pipeline: stdout is strictly valid BMF" valid_bmf "$TMP/out"
cp "$TMP/out" "$TMP/pipeline.bmf"
of() { bmf "$TMP/pipeline.bmf" "pipeline/$1/pipeline/freq_hz=10000" "$2"; }
expect_eq "pipeline: nobody consumes nothing" "$(of none samples-consumed)" 0
check "pipeline: with nobody the ring fills up and samples are dropped" more "$(of none drops)" 0
check "pipeline: with nobody the ring is as full as it gets" near "$(of none ring-peak)" 1 1
check "pipeline: the ring holds 4064 samples a load" near "$(of none samples-produced)" 8128 1
check "pipeline: the fixed consumer is done with more than one that sleeps" more "$(of fixed samples-consumed)" \
	"$(awk -v n="$(of oops samples-consumed)" 'BEGIN { print 100 * (n + 1) }')"
check "pipeline: lags with the bug are far larger" more "$(of oops lag-p50)" "$(of fixed lag-p50)"
check "pipeline: its backlog is stored" grep -qE '"backlog": "[0-9]+:0 ' "$results"/*.json
run "$BPFBENCH" show latest --results "$results" --format plot
expect_grep "pipeline: and given to plots" out $'^# backlog\tpipeline/oops/pipeline/freq_hz=10000\t'
nothing_left "pipeline" 1

# Signals in the midst of the run, while the consumer sleeps.
scenario pipeline 10000 65534 600 >"$WORK/long.yml"
consumers() { pgrep -P "$child" bpfbench; }
for signal in INT KILL; do
	start "$BPFBENCH" --scenario "$WORK/long.yml" --loads 2 --variant oops --budget 0 --results "$results"
	check "pipeline, SIG$signal: the consumer is a process of its own" wait_until 10 consumers
	pids=$(consumers || true)
	stop_child "$signal"
	# shellcheck disable=SC2086 # a word a process
	gone() { ! ps -o pid= -p ${pids//$'\n'/,} | grep -q .; }
	check "pipeline, SIG$signal: it goes with us" wait_until 2 gone
	runs=0
	[[ ! -d $results ]] || runs=$(find "$results" -name '*.json' | wc -l)
	nothing_left "pipeline, SIG$signal" "$runs"
done

# A program without a ring has no consumer: said by name.
sed 's/program: ringbuf/program: stackid/' "$WORK/pipeline.yml" >"$WORK/noring.yml"
real --scenario "$WORK/noring.yml" --loads 1 --no-store
expect_status "pipeline: a program without a ring is not supported" 4
expect_grep "pipeline: and said" err "program 'stackid' has no ring buffer map for a consumer to read"

# --- slowdown ---
# The scenario says `with: slowdown`, as old ones do; scenarios/slowdown.yml says `with: overhead`.
scenario slowdown 1000 5000 0.02 >"$WORK/slowdown.yml"
real --scenario "$WORK/slowdown.yml" --loads 1 --variant ringbuf --variant profile --variant perf_record --budget 0
expect_status "slowdown: succeeds" 0
check "slowdown: stdout is strictly valid BMF" valid_bmf "$TMP/out"
for variant in ringbuf profile; do
	check "slowdown: by $variant, it is a ratio to the command alone" more \
		"$(bmf "$TMP/out" "slowdown/$variant/slowdown/freq_hz=1000" slowdown)" 0.1
done
expect_grep "slowdown: the command is shown" err 'timed: amicable_pairs 5000$'
if need_command perf "slowdown: perf record"; then
	check "slowdown: perf record beside it" more \
		"$(bmf "$TMP/out" slowdown/perf_record/slowdown/freq_hz=1000 slowdown)" 0.1
fi
nothing_left "slowdown" 1
sed 's/amicable_pairs, args: ."[0-9]*"./false, args: [x]/' "$WORK/slowdown.yml" >"$WORK/false.yml"
real --scenario "$WORK/false.yml" --loads 1 --no-store --variant empty
expect_status "slowdown: a command that fails is an error" 1
expect_grep "slowdown: and said" err "the workload 'false' ended with exit code 1 midway"
plan_done
