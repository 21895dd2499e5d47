#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# As root: the published scenario perf_profiler, measured in this kernel; nothing of it is left
# behind, however it ends. unit/bpf/test_bpf_stats.c compares the kernel's counters with what
# bpftool says.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("the scenario" "who the workload runs as" "nothing is left behind" "void series" "the verifier's log" "what the kernel lacks")
need_root "${names[@]}" && need_exact_faults "${names[@]}" || plan_done

objects=$O/tests/bpf
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# --- the scenario ---
# until_valid ARG...: three times at most, until nothing is void. A page that the kernel takes back
# is one fault too many, which voids a series; where others keep both CPUs busy, a slice in situ may
# have no run. What is void three times is a mistake of ours.
until_valid() {
	for _ in 1 2 3; do
		rm -rf "$results"
		real --seed 1 "$@"
		grep -q ' void: ' "$TMP/err" || break
		sed -n 's/^.* void: /# void: /p' "$TMP/err"
	done
}
variants='empty ringbuf ringbuf_nowakeup scratch_output perfbuf stackid kernel_user pid_filter'
# has_all CASE...: $missing is then empty if every variant has a latency in each of these cases
has_all() {
	missing=''
	for variant in $variants; do
		for name in "$@"; do
			more "$(bmf "$TMP/out" "perf_profiler/$variant/$name" latency)" 0 >/dev/null || missing+="$variant/$name "
		done
	done
}
case_of() { bmf "$TMP/out" "perf_profiler/$1" "$2"; }
if (($(nproc) < 2)); then
	skip "perf_profiler: every variant was sampled in situ" "needs two CPUs"
	skip "perf_profiler: in situ at the rate that was asked for" "needs two CPUs"
else
	sed 's/\(freq_hz: .*\)}$/\1, seconds: 0.3}/' scenarios/perf_profiler.yml >"$WORK/perf_profiler.yml"
	until_valid -s "$WORK/perf_profiler.yml" -d in-situ --loads 1
	has_all in-situ/freq_hz=100 in-situ/freq_hz=1000
	expect_eq "perf_profiler: every variant was sampled in situ" "$missing" ""
	check "perf_profiler: in situ at the rate that was asked for" \
		near "$(case_of ringbuf/in-situ/freq_hz=1000 sample-rate)" 1000 20
	# A slice without a run may be due to a busy machine. Nothing else may void a series.
	grep ' void: ' "$TMP/err" | grep -v '/in-situ/.*: zero runs counted$' >"$TMP/voids" || true
	expect_eq "perf_profiler: no series in situ is void" "$(cat "$TMP/voids")" ""
fi
until_valid --scenario perf_profiler -d step -d exact -n 400 --loads 2
expect_status "perf_profiler: succeeds" 0
check "perf_profiler: stdout is strictly valid BMF" valid_bmf "$TMP/out"
has_all step/stack_depth=8 step/stack_depth=32 step/stack_depth=127
expect_eq "perf_profiler: every variant was stepped at every depth" "$missing" ""
expect_no_grep "perf_profiler: no series is void" err ' void: '
"$BPFBENCH" show latest --results "$results" --details >"$TMP/details"
expect_grep "perf_profiler: the naive mean stands in the table" details ' naive'
# A variant that does more than another must cost more, by however much.
check "perf_profiler: sampling costs more than the floor" \
	more "$(case_of ringbuf/step/stack_depth=8 latency-p50)" "$(case_of empty/step/stack_depth=8 latency-p50)"
check "perf_profiler: saying no costs less than sampling" \
	more "$(case_of ringbuf/step/stack_depth=8 latency-p50)" "$(case_of pid_filter/step/stack_depth=8 latency-p50)"
check "perf_profiler: 127 frames cost more than 8" \
	more "$(case_of stackid/step/stack_depth=127 latency-p50)" "$(case_of stackid/step/stack_depth=8 latency-p50)"
check "perf_profiler: two walks cost more than one" \
	more "$(case_of kernel_user/step/stack_depth=127 latency-p50)" "$(case_of ringbuf_nowakeup/step/stack_depth=32 latency-p50)"
missing=''
for variant in $variants; do
	for measure in verified-instructions xlated-bytes map-memory-bytes verification-time; do
		more "$(bmf "$TMP/out" "perf_profiler/$variant" "$measure")" 0 >/dev/null || missing+="$variant/$measure "
	done
	more "$(bmf "$TMP/out" "perf_profiler/$variant" stack-depth-bytes)" -1 >/dev/null || missing+="$variant/stack-depth-bytes "
done
expect_eq "perf_profiler: what every program is without a run is a benchmark of its own" "$missing" ""
check "perf_profiler: sampling takes more instructions than returning" \
	more "$(bmf "$TMP/out" perf_profiler/ringbuf verified-instructions)" "$(bmf "$TMP/out" perf_profiler/empty verified-instructions)"
expect_grep "perf_profiler: the programs stand in the table" details '^perf_profiler, programs as the kernel loaded them$'
cp "$TMP/out" "$TMP/real.bmf"
run "$BPFBENCH" show latest --results "$results" --format bmf
check "perf_profiler: the stored run says the same" cmp "$TMP/out" "$TMP/real.bmf"
check "perf_profiler: the fingerprint names this kernel" grep -rqF "$(uname -r)" "$results"
nothing_left "after success" 1

# --- who the workload runs as, and whose the results are ---
# long DRIVE...: a scenario of two variants that takes minutes.
long() {
	printf 'name: long\nobject: perf_profiler.bpf.o\nfloor: empty\nvariants: [{name: empty}, {name: ringbuf}]\ndrive:\n'
	printf '  - %s\n' "$@"
}
in_situ="{with: in-situ, freq_hz: 100, seconds: 600, workload: amicable_pairs, args: [$token]}"
long '{with: step, samples: 100000000}' "$in_situ" >"$WORK/long.yml"
long "${in_situ/600/1.5}" >"$WORK/short.yml"	# at 100 Hz even a starved poller sees runs one by one
status_of() { awk -v key="$1:" '$1 == key { $1 = ""; print substr($0, 2) }' "$TMP/proc.status"; }
if (($(nproc) < 2)); then
	skip "who the workload runs as" "in-situ needs two CPUs"
elif need_user "who the workload runs as"; then
	beside_workload -20
	start "${sudo[@]}" "$BPFBENCH" -s "$WORK/long.yml" -d in-situ --loads 1 --budget 0 \
		--results "$results"
	check "the workload runs" wait_until 30 look_at_workload
	expect_eq "the workload runs as the user who called sudo" "$(status_of Uid)" "$NOBODY $NOBODY $NOBODY $NOBODY"
	expect_eq "and as their group" "$(status_of Gid)" "$NOGROUP $NOGROUP $NOGROUP $NOGROUP"
	expect_eq "in no group of root's" "$(status_of Groups | tr ' ' '\n' | grep -cx 0)" 0
	expect_eq "without capabilities" "$(status_of CapEff) $(status_of CapPrm)" "0000000000000000 0000000000000000"
	check "on one CPU" grep -qx '[0-9]*' <(status_of Cpus_allowed_list)
	expect_eq "and inherits nothing of BPF's or perf's" "$(grep -cE '^anon_inode:(bpf|.*perf)' "$TMP/proc.fds")" 0
	stop_child TERM
	beside_workload 0
	expect_eq "the stored run belongs to them" "$(stat -c '%u:%g' "$results" "$results"/*.json | sort -u)" "$NOBODY:$NOGROUP"
	nothing_left "after sudo" 1
	real -s "$WORK/short.yml" --loads 2 --quiet
	check "the workload's stdout does not reach ours" valid_bmf "$TMP/out"
	nothing_left "after in-situ" 1
	# A workload that leaves a child behind when it ends.
	# shellcheck disable=SC2016 # the workload's
	long "{with: in-situ, freq_hz: 100, seconds: 1, workload: /bin/bash, args: [-c,
      'exec -a \"amicable_pairs $token\" sleep 600 & i=0; while [ \$i -lt 20000 ]; do i=\$((i + 1)); done']}" >"$WORK/litter.yml"
	real -s "$WORK/litter.yml" --loads 1 --quiet
	expect_status "a workload that leaves children behind: succeeds" 0
	nothing_left "a workload that leaves children behind" 1
fi

# --- however it ends ---
holds_two() { (($(cat "/proc/$child/fdinfo"/* | grep -c '^prog_id:') >= 2)); }
measures_twice() { (($(grep -c 'measuring long/' "$TMP/err") >= 2)); }
# ends SIGNAL DRIVE: sends it in the midst of that drive.
ends() {
	local name="SIG$1 during $2" expected=1

	start "$BPFBENCH" -s "$WORK/long.yml" -d "$2" --loads 1 --budget 0 --results "$results" --verbose
	# The first line of a case comes before its first sample, the second line comes after it.
	if [[ $2 == in-situ ]]; then
		check "$name: before it, a case is measured" wait_until 30 grep -q 'measuring long/' "$TMP/err"
		wait_until 30 look_at_workload || true
	else
		check "$name: before it, a case is measured" wait_until 30 measures_twice
	fi
	check "$name: before it, there are programs to be left" holds_two
	# and until there are samples
	wait_until 10 used $(($(ticks) + $(getconf CLK_TCK) / 4)) || true
	[[ $1 != KILL ]] || expected=137
	stop_child "$1"
	expect_status "$name: exit code $expected" "$expected"
	expect_empty "$name: no BMF" out
	[[ $1 == KILL ]] || expect_grep "$name: says so" err "^bpfbench: stopped by signal $(kill -l "$1") "
	nothing_left "$name" "$((expected == 1))"
}
for drive in step in-situ; do
	if [[ $drive == in-situ ]] && (($(nproc) < 2)); then
		skip "signals during in-situ" "needs two CPUs"
		continue
	fi
	beside_workload -20
	for signal in INT TERM KILL; do ends "$signal" "$drive"; done
	beside_workload 0
done

# --- programs that are wrong ---
# with PROGRAM...: a scenario of these programs of the test objects ("object program") and the step drive.
with() {
	printf 'name: wrong\nobject: %s\nexpect: {drops: 0}\nvariants:\n' "$objects/rejected.bpf.o"
	printf '  - {object: %s, name: %s}\n' "$@"
	printf 'drive:\n  - {with: step, samples: 600}\n'
}

with "$objects/rejected.bpf.o" accepted "$objects/rejected.bpf.o" rejected >"$WORK/wrong.yml"
real -s "$WORK/wrong.yml" --loads 3
expect_status "rejected by the verifier: exit code 1" 1
expect_empty "rejected by the verifier: no BMF" out
expect_grep "rejected by the verifier: which program of which object" err \
	"^bpfbench: $objects/rejected\.bpf\.o: the verifier rejects program 'rejected'"
expect_grep "rejected by the verifier: the end of its log" err "^R0 invalid mem access '(map_value_or_null|.*_or_null)'"
nothing_left "rejected by the verifier" 0
with "$objects/rejected.bpf.o" accepted >"$WORK/right.yml"
real -s "$WORK/right.yml" --loads 3 --quiet
check "a program beside a bad one can be measured" valid_bmf "$TMP/out"
rm -rf "$results"

with "$objects/drops.bpf.o" drops_some "$objects/rejected.bpf.o" accepted >"$WORK/drops.yml"
real -s "$WORK/drops.yml" --loads 3
expect_status "expect drops 0, and there are: exit code 1" 1
expect_no_grep "expect drops 0, and there are: not in the BMF" out '"wrong/drops_some/step'
expect_grep "expect drops 0, and there are: the other program is" out '"wrong/accepted/step/stack_depth=8"'
expect_grep "expect drops 0, and there are: void by name, with the reason" err \
	'void: wrong/drops_some/step/stack_depth=8: 3 of 3 series \(load 0, 1, 2\): [0-9]+ drops, 0 expected'
expect_grep "expect drops 0, and there are: the error names the case" err \
	'^bpfbench: wrong/drops_some/step/stack_depth=8: no valid sample \([0-9]+ drops, 0 expected\)'
nothing_left "drops" 1

# --- what the kernel lacks ---
with "$objects/fentry.bpf.o" fentry >"$WORK/fentry.yml"
with "$objects/fentry.bpf.o" fentry "$objects/rejected.bpf.o" accepted >"$WORK/some.yml"
run "$BPFBENCH" check
if grep -q '^skip *prog_fentry ' "$TMP/out"; then
	real -s "$WORK/fentry.yml" --loads 3
	expect_status "a type that the kernel lacks, and nothing else: exit code 4" 4
	expect_empty "a type that the kernel lacks: no BMF" out
	expect_grep "a type that the kernel lacks: skipped by name" err '^bpfbench: skipped wrong/fentry: .*fentry'
	nothing_left "a type that the kernel lacks" 0
	real -s "$WORK/some.yml" --loads 3
	expect_status "a type that the kernel lacks beside one that it has: exit code 0" 0
	check "a type that the kernel lacks beside one that it has: BMF of the rest" valid_bmf "$TMP/out"
	expect_no_grep "a type that the kernel lacks beside one that it has: is not in it" out fentry
	expect_grep "a type that the kernel lacks beside one that it has: skipped by name" err 'skipped: wrong/fentry: '
	nothing_left "a type that the kernel lacks beside one that it has" 1
else
	skip "a type that the kernel lacks" "this kernel loads fentry programs"
fi

plan_done
