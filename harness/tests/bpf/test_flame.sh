#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slow: it samples for half a minute
# Flame graphs, as root: of a workload beside a run in situ, and of the pipeline's consumer with the
# time that it sleeps; nothing is left behind.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("beside a run" "the program's own frames" "signals" "the consumer")
need_root "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# scenario OBJECT VARIANTS DRIVE
scenario() { printf 'name: fl\nobject: %s\nvariants: [%s]\ndrive:\n  - {with: in-situ, %s}\n' "$1" "$2" "$3"; }

# samples FILE REGEX: the samples of the stacks that match, in a folded file.
samples() { awk -v re="$2" '$0 ~ re { n += $NF } END { print n + 0 }' "$1"; }

# --- beside a run ---
scenario perf_profiler.bpf.o '{name: ringbuf}, {name: stackid}' \
	"freq_hz: [100, 1000], workload: amicable_pairs, args: [$token], seconds: 0.1" >"$WORK/fl.yml"
real -s "$WORK/fl.yml" --loads 2 --flame
if ((status == 4)); then
	skip_each "$(head -n 1 "$TMP/err")" "${names[@]}" || plan_done
fi
expect_status "beside a run: succeeds" 0
check "beside a run: stdout is strictly valid BMF" valid_bmf "$TMP/out"
run_file=$(find "$results" -name '*.json')
svg=${run_file%.json}.svg folded=${run_file%.json}.folded
expect_grep "beside a run: said where" err "flame graph stored as $svg$"
if need_command xmllint "beside a run: well-formed"; then check "beside a run: well-formed" xmllint --noout "$svg"; fi
for function in bb_amicable_search sum_of_proper_divisors; do
	check "beside a run: $function is in the picture" grep -q "<title>$function$" "$svg"
done
all=$(samples "$folded" .)
check "beside a run: nearly all of the time is the search's" near \
	"$(samples "$folded" '^amicable_pairs;.*;bb_amicable_search;')" "$all" 20
check "beside a run: it is seconds of samples" more "$all" 1000
expect_eq "beside a run: we ourselves are not in it" "$(grep -c '^bpfbench' "$folded" || true)" 0
rm -f "$svg" "$folded"
nothing_left "beside a run" 1
real -s "$WORK/fl.yml" --loads 2 --variant ringbuf --no-store --flame="$WORK/a.svg" --quiet
expect_status "a file of its own: succeeds" 0
check "a file of its own: there it is" grep -q '<title>sum_of_proper_divisors$' "$WORK/a.svg"
nothing_left "a file of its own" 0

# --- the BPF program's own frames: seen unless the interrupt that samples runs it ---
# shellcheck disable=SC2016 # the workload's
scenario "$O/tests/bpf/attach.bpf.o" '{name: on_uprobe_long}' \
	'event: attach, workload: /bin/sh, args: [-c, "while :; do echo; done"], seconds: 0.5' >"$WORK/attach.yml"
real -s "$WORK/attach.yml" --loads 2 --flame
expect_status "the program's own frames: succeeds" 0
folded=$(find "$results" -name '*.folded')
name="the program's own frames: it is called by its name, in the kernel, under write()"
if [[ $(cat /proc/sys/net/core/bpf_jit_harden) != 0 ]]; then
	skip "$name" "with net.core.bpf_jit_harden set the kernel does not tell where programs are"
else
	check "$name" grep -qE '^[a-z]+;write;.*;bpf_prog_[0-9a-f]{16}_on_uprobe_long_\[k\]' "${folded:-/dev/null}"
fi
rm -f "$folded" "${folded%.folded}.svg"
nothing_left "the program's own frames" 1

# --- nothing to sample: the only drive in situ cannot be done here ---
printf '%s\n' 'name: fl' "object: $O/tests/bpf/attach.bpf.o" 'variants: [{name: nowhere}, {name: no_place}]' 'drive:' \
	'  - {with: step, trigger: test-run, variants: [nowhere], samples: 100}' \
	'  - {with: in-situ, event: attach, variants: [no_place], workload: amicable_pairs, seconds: 0.1}' >"$WORK/none.yml"
real -s "$WORK/none.yml" --loads 2 --flame="$WORK/none.svg"
expect_status "nothing to sample: fails" 4
expect_grep "nothing to sample: says so" err "scenario 'fl': nothing of it can be measured here"
check "nothing to sample: the run itself is whole" valid_bmf "$TMP/out"
check "nothing to sample: there is no picture" test ! -e "$WORK/none.svg"
nothing_left "nothing to sample" 1

# --- signals, while it is sampled ---
sampling() { grep -q 'sampling the workload' "$TMP/err" && find_workload; }
sampling_or_over() { sampling || ! kill -0 "$child"; }
beside_workload -20
for signal in INT KILL; do
	# It samples for three seconds; on a busy machine the signal may come too late.
	for _ in 1 2 3 4 5; do
		rm -rf "$results"
		start "$BPFBENCH" -s "$WORK/fl.yml" --loads 2 --variant ringbuf --flame --results "$results"
		wait_until 20 sampling_or_over || printf '# it does not sample\n'
		stop_child "$signal"
		((status == 0)) || break
	done
	expect_eq "SIG$signal: failure" "$((status != 0))" 1
	nothing_left "SIG$signal" 1
done
beside_workload 0

# --- the consumer ---
# percent CONSUMER REGEX: the largest share of a function that matches, in the consumer's picture.
percent() {
	awk -v re="$2" '/<title>/ { name = $0; sub(/.*<title>/, "", name); next }
		name ~ re && / %<.title>/ { p = $(NF - 1); sum[name] += p; name = "" }
		END { for (n in sum) if (sum[n] > most) most = sum[n]; print most + 0 }' "$WORK/plots/flame-$1.svg"
}
chmod 755 "$WORK"
run env O="$O" PLOTS="$WORK/plots" SECONDS_EACH=2 ci/flame.sh
expect_status "the consumer: succeeds" 0
expect_grep "the consumer: said where" err 'open .*plots/flame-oops.svg$'
# The function between these two depends on the C library: clock_nanosleep, or __syscall_cancel_arch
# from 2.41 on.
for function in process_oops do_nanosleep; do
	check "the consumer with the bug: under $function for more than half of the time" more "$(percent oops "^$function$")" 50
done
check "the consumer with the bug: it waits" more "$(percent oops '^.off-CPU.$')" 50
expect_eq "the consumer without: it does not sleep" "$(percent fixed nanosleep)" 0
check "the consumer without: it works" more "$(percent fixed '^process_fixed$')" "$(percent fixed '^.off-CPU.$')"
nothing_left "the consumer" 0

plan_done
