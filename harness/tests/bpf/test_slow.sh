#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs whose run takes a good part of a second: every command ends at most one run after its
# budget or after a signal, and says what the budget left out. Without a look at the clock in every
# loop, each of these would take minutes.
#
# slow: some forty budgets and signals, a second and a run each
#
# No time is absolute: the test chooses how long a run takes, and measures that and the rest of a
# command on this machine.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
# shellcheck disable=SC2034 # variables of the expressions that in_time takes
. "$(dirname "$0")/../tool.sh"
# shellcheck source=harness/tests/gate_repo.sh
. "$(dirname "$0")/../gate_repo.sh"

names=("budgets and signals of slow programs")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# scenario NAME TURNS DRIVE...
scenario() {
	local name=$1 turns=$2

	shift 2
	{
		printf 'name: %s\nobject: %s/tests/bpf/slow.bpf.o\nvariants:\n' "$name" "$O"
		printf '  - {name: %s, program: %s, globals: {turns: %d}}\n' \
			xdp slow_xdp "$turns" event slow_perf_event "$turns" syscall slow_syscall "$turns"
		printf '  - {name: fast, program: fast_xdp}\n'
		printf 'drive:\n'
		printf '  - {%s}\n' "$@"
	} >"$TMP/$name.yml"
}

# timed CMD...: as `run`; $took_ms is its time, without waits for another bpfbench.
timed() {
	local before

	while :; do
		before=$(now_ms)
		run "$@" --no-wait
		took_ms=$(($(now_ms) - before))
		grep -q ' measures on CPU ' "$TMP/err" || break
		sleep 0.2
	done
}

# in_time NAME MS CMD...: as `timed`; the command takes at most MS, an arithmetic expression, and
# does not crash. The machine's speed changes with its other work: if the command took too long,
# first the speed and then the command are measured again, twice at most. A command that does not
# look at the clock takes minutes each time.
in_time() {
	local name=$1 most=$2 try

	shift 2
	for try in 1 2 3; do
		((try == 1)) || measure_machine
		timed "$@"
		((status <= 128 && took_ms > most)) || break
	done
	is_in_time "$name" "$most"
}

# is_in_time NAME MS: the last `timed` took at most MS, and the command did not crash.
is_in_time() {
	if ((status > 128)); then
		not_ok "$1" "it crashed"$'\n'"$(tap_shown)"
	elif ((took_ms <= $2)); then
		ok "$1"
	else
		not_ok "$1" "took $took_ms ms, at most $(($2)) were expected (a run takes $run_ms)"$'\n'"$(tap_shown)"
	fi
}

step='with: step, trigger: test-run'
all=("$step, variants: [xdp, syscall, fast]" 'with: slope, variants: [xdp, fast]'
	'with: exact, trigger: test-run, variants: [xdp, syscall, fast]'
	'with: step, trigger: page-fault, stack_depth: 32, variants: [event]'
	'with: exact, trigger: page-fault, stack_depth: 32, variants: [event]')

# --- how long a run takes: a guess sets `turns` for runs of 0.2 s, which are then timed ---
scenario guess 20 "$step, variants: [xdp]"
run "$BPFBENCH" --scenario "$TMP/guess.yml" -n 3 --loads 1 --budget 0 --no-store -q
if grep -qE 'unknown func bpf_loop|invalid func|which this kernel' "$TMP/err"; then
	skip "${names[0]}" "this kernel has no bpf_loop (Linux 5.17)"
	plan_done
fi
turns=$(bmf "$TMP/out" guess/xdp/step latency-p50 | awk '{ printf "%d", 20 * 2e8 / $1 }')
scenario slow "$turns" "${all[@]}"
scenario fast "$turns" "$step, variants: [fast]"

# measure_machine: run_ms is the time of a command with one sample: a run to try the program, one
# for the sample, and the rest. It is more than one run takes, and grows when others use the CPUs.
measure_machine() {
	scenario one "$turns" "$step, variants: [xdp]"
	timed "$BPFBENCH" --scenario "$TMP/one.yml" -n 1 --loads 1 --budget 0 --no-store -q
	run_ms=$took_ms
	timed "$BPFBENCH" --scenario "$TMP/fast.yml" -n 1 --loads 1 --budget 0 --no-store -q
	fast_ms=$took_ms slack_ms=$((1000 + 2 * took_ms + run_ms))
	most_ms=$((1000 + run_ms + slack_ms))
	scenario one "$turns" "$step, variants: [xdp, fast]"
	printf '# turns: %s, one run and what is around it: %d ms, slack: %d ms\n' "$turns" "$run_ms" "$slack_ms"
}
measure_machine
expect_status "a run's time can be told" 0

# --- budgets: 1 s ---
budget_s=$(((1999 + 3 * run_ms) / 1000))
in_time "step: within its budget" 'budget_s * 1000 + run_ms + slack_ms' \
	"$BPFBENCH" --scenario "$TMP/one.yml" --budget "$budget_s" --no-store -f table -q
expect_status "step: succeeds" 0
expect_grep "step: a result with fewer samples" out '^  xdp +[1-9][0-9.]* ms '
expect_grep "step: says that they are fewer" out 'skipped: one/xdp/step: [0-9]+ of [0-9]+ samples: the budget of '
expect_grep "step: says which loads are left out" out 'skipped: [0-9]+ of 28 loads did not fit the budget of '

for ((i = 0; i < ${#all[@]}; i++)); do
	drive=${all[$i]%%, variants*}
	scenario slow "$turns" "${all[$i]}"
	in_time "$drive: within its budget" most_ms \
		"$BPFBENCH" --scenario "$TMP/slow.yml" --budget 1 --no-store -f table -q
	check "$drive: says what is left out" grep -qE 'skipped .*budget|skipped: .*budget|budget of 1 s was used up' "$TMP/out" "$TMP/err"
	check "$drive: nothing is void, unless by others" eval "! grep ' void: ' '$TMP/out' | grep -v 'another process has'"
done

scenario slow "$turns" "${all[@]}"
in_time "all drives: within the budget" most_ms \
	"$BPFBENCH" --scenario "$TMP/slow.yml" --budget 1 --no-store -f table -q
in_time "two scenarios: within one budget" most_ms \
	"$BPFBENCH" --scenario "$TMP/slow.yml" --scenario "$TMP/one.yml" --budget 1 --no-store -f table -q
in_time "an object: within its budget" most_ms \
	"$BPFBENCH" --object "$O/tests/bpf/slow.bpf.o" --budget 1 --no-store -f table -q
in_time "compare: within its budget" most_ms \
	"$BPFBENCH" compare --scenario "$TMP/slow.yml" --base xdp --head fast --budget 1 --no-store
in_time "compare --exact: within its budget" most_ms \
	"$BPFBENCH" compare --exact --scenario "$TMP/slow.yml" --base xdp --head fast --budget 1 --no-store
in_time "selftest: within its budget" most_ms \
	"$BPFBENCH" selftest --budget 1 --no-store

# --- loading ---
in_time "1000 programs: within the budget" most_ms \
	"$BPFBENCH" --object "$O/tests/bpf/many.bpf.o" --budget 1 --no-store -f table -q
check "1000 programs: says how many are left out" grep -qE 'skipped:? many: [0-9]+ of (2002 cases|1001 programs): .*budget' "$TMP/out" "$TMP/err"

# When the verifier rejects a program, bpfbench must not ask for a log of all that it did until
# then: that took ten times as long.
object=("$BPFBENCH" --object "$O/tests/bpf/slow_rejected.bpf.o" --drive step -n 1 --loads 1 --budget 0 --no-store -q)
timed "${object[@]}" --program slow_accepted
expect_status "a long verification: succeeds" 0
verified_ms=$(bmf "$TMP/out" slow_rejected/slow_accepted verification-time | awk '{ printf "%d", $1 / 1e6 }')
# Loading has a quarter of the budget. The program's loading alone takes more, and gets all that is
# left.
timed "${object[@]}" --program slow_accepted --budget "$(awk -v ms="$verified_ms" 'BEGIN { print 3 * ms / 1000 }')"
expect_no_grep "a long verification: a short budget loads one program" err 'used up before any program was loaded'
in_time "a late rejection: no log of it all is asked for" '5 * verified_ms + fast_ms' "${object[@]}" --program slow_rejected
expect_grep "a late rejection: the verifier's reason" err "rejects program 'slow_rejected' .*: .*(outside of the packet|invalid access to packet)"

make_repo "$TMP/repo" 1
gated() { (cd "$TMP/repo" && "$BPFBENCH" gate "$@"); }
sed 's|^object: .*|object: slow.bpf.o|' "$TMP/slow.yml" >"$TMP/gate.yml"
build="cp $O/tests/bpf/slow.bpf.o ."
in_time "gate: both measurements within one budget" 'most_ms + slack_ms' \
	gated --base HEAD --force --scenario "$TMP/gate.yml" --build "$build" --budget 1
expect_no_grep "gate: out of time is no failure of head" out 'does not load'

# --- signals: answered after the run that is under way ---
answers() {
	local name=$1 signal=$2 before try

	shift 2
	for try in 1 2 3; do
		((try == 1)) || measure_machine
		start "$@"
		# after about two runs it is measuring, whatever it began with
		sleep "$(awk -v ms="$run_ms" 'BEGIN { print 1.2 * ms / 1000 }')"
		before=$(now_ms)
		stop_child "$signal" # it may have failed: then its exit code says so
		took_ms=$(($(now_ms) - before))
		((status <= 128 && took_ms > run_ms + slack_ms)) || break
	done
	is_in_time "$name: SIG$signal is answered within a run" 'run_ms + slack_ms'
	if ((status == 0)); then not_ok "$name: SIG$signal ends it" "exit code 0"; else ok "$name: SIG$signal ends it"; fi
}

for signal in INT TERM; do
	for ((i = 0; i < ${#all[@]}; i++)); do
		scenario slow "$turns" "${all[$i]}"
		answers "${all[$i]%%, variants*}" $signal env --default-signal=INT "$BPFBENCH" --scenario "$TMP/slow.yml" -n 100000 --budget 0 --no-store -q
	done
	scenario slow "$turns" "${all[@]}"
	answers "compare" $signal env --default-signal=INT "$BPFBENCH" compare --scenario "$TMP/slow.yml" --base xdp --head fast --budget 0 --no-store -q
	answers "selftest" $signal env --default-signal=INT "$BPFBENCH" selftest --budget 0 --no-store -q
done

nothing_left "slow programs" 0
plan_done
