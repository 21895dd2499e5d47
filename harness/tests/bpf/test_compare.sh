#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bpfbench compare` and `selftest` with real programs. As root.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check and wait_until call
. "$(dirname "$0")/../tool.sh"

names=("two equal builds" "a real regression" "the self-test")
need_root "${names[@]}" && need_exact_faults "${names[@]}" || plan_done

# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# Two files, as of two builds. Their names are relative paths, as people write them.
cp "$O/bpf/perf_profiler.bpf.o" "$WORK/old.bpf.o"
cp "$O/bpf/perf_profiler.bpf.o" "$WORK/new.bpf.o"
# About once in a thousand times equal programs get a verdict by chance, and a slow machine takes
# longer for a pair: then once more, with a larger budget.
for budget in 5 15 45; do
	rm -rf "$results"
	run env -C "$WORK" "$BPFBENCH" compare --base-object old.bpf.o --head-object ./new.bpf.o --program ringbuf_nowakeup \
		--budget "$budget" --fail-on regressed --results "$results"
	! grep -qE '^ringbuf_nowakeup/step/.* (same|inconclusive) ' "$TMP/out" || break
done
expect_status "two equal builds: exit code 0" 0
expect_grep "two equal builds: a verdict, and not that one" out '^ringbuf_nowakeup/step/stack_depth=32 +latency, ns .* (same|inconclusive)( |$)'
nothing_left "two equal builds" 1
# OLD.o and NEW.o without an option before them
real compare "$WORK/old.bpf.o" "$WORK/none.bpf.o" --program ringbuf
complains "two builds: a file that is not there" 1 'none\.bpf\.o: there is no such BPF object'
real compare --base-object "$WORK/old.bpf.o" --head-object "$WORK/new.bpf.o" --program no_such --budget 1
expect_status "two builds: a program that is not there" 1
expect_grep "two builds: it is named" err "no_such"
real compare --base-object "$WORK/old.bpf.o" --head-object "$WORK/new.bpf.o" --program ringbuf --program stackid --loads 1 --budget 60
expect_status "two builds, two programs: exit code 0" 0
expect_eq "two builds, two programs: both are compared" "$(grep -oE '^[a-z]+/step/stack_depth=32' "$TMP/out" | sort -u | tr '\n' ' ')" \
	"ringbuf/step/stack_depth=32 stackid/step/stack_depth=32 "
expect_grep "two builds, two programs: the old file" out '^A: base: [^,]*/old\.bpf\.o$'
expect_grep "two builds, two programs: so many" out '; [0-9]+ comparisons of 2 programs$'
real compare "$O/bpf/fun_xdp.bpf.o" "$O/bpf/lpm_firewall.bpf.o" --exact
expect_grep "two objects: the program that both have" out '^0 regressed, 0 improved, 1 same, 0 inconclusive'
real compare "$O/bpf/fun_xdp.bpf.o" "$O/bpf/lpm_firewall.bpf.o" --loads 1 --budget 30
expect_grep "two objects: what only one has" out '^ *not measured: v0, v1, v2, v3, v4: only in OLD'
real compare --base-object "$WORK/old.bpf.o" --head-object "$WORK/new.bpf.o" -s perf_profiler --base ringbuf --drive step --loads 2 \
	--budget 60
expect_status "two builds in a scenario: exit code 0" 0
expect_grep "two builds in a scenario: named by it" out '^perf_profiler/step/'

cat >"$WORK/slower.yml" <<-END
	name: slower
	object: perf_profiler.bpf.o
	floor: empty
	variants:
	  - {name: empty}
	  - {name: ringbuf}
	  - {name: regressed, globals: {extra_rounds: 1000}}
	drive:
	  - {with: step, stack_depth: 32}
END
real compare -s "$WORK/slower.yml" --base ringbuf --head regressed --budget 120 --fail-on regressed
expect_status "a real regression: found, exit code 3" 3
expect_grep "a real regression: gross, with an interval above the threshold" out \
	'^slower/step/stack_depth=32 +latency, ns .* \[\+[0-9.]+, \+[0-9.]+\] +regressed'
real compare -s "$WORK/slower.yml" --base regressed --head ringbuf --budget 120 --fail-on regressed
expect_status "a real improvement: exit code 0" 0
expect_grep "a real improvement: said" out '^slower/step/stack_depth=32 +latency, ns .* improved'

rm -rf "$results"
real selftest --experiments 1 --each 2 --seed 1
expect_status "selftest: exit code 0" 0
for program in loop straight ringbuf; do
	expect_eq "selftest: three modes of $program" "$(grep -cE "^$program +(same-load|reloads|injected) +[0-9]+/1 " "$TMP/out")" 3
done
expect_grep "selftest: the resolution" out '^Resolution of this machine: [0-9.]+ %'
check "selftest: stored in its own folder" test "$(find "$results/selftest" -name '2*-selftest-*.json' | wc -l)" = 1
real list --runs
expect_no_grep "selftest: it is not taken for a run" out 'selftest'
# Two earlier self-tests of this machine, each with five plain runs: their spreads are taken
# together (4 + 4 degrees of freedom), and later runs have that spread in their intervals.
stored=$(find "$results/selftest" -name '2*-selftest-*.json')
for day in 1 2; do
	jq '.plain_runs.programs = [{program: "loop", class: "calm", ln_latency: [6, 6.001, 6.002, 6.003, 6.004],
		ln_relative: [1, 1.001, 1.002, 1.003, 1.004]}]' "$stored" >"$results/selftest/2020010${day}T000000Z-selftest-0.json"
done
real selftest --experiments 1 --seed 1 --program loop --mode same-load
expect_grep "selftest: how plain runs repeat, by those before it too" out '^A plain run repeats within 0\.38 % on this machine \(programs that wake nobody;'
expect_grep "selftest: by how many" out 'by 2 self-tests of this machine'
real --object "$O/tests/bpf/loop.bpf.o" --drive step -n 60 --loads 3 --format json
expect_grep "a plain run: has it from them" out '"between_runs": 9'
real selftest --program nonesuch
complains "selftest: an unknown program" 1 'nonesuch'

plan_done
