#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Interrupts every drive at random times and checks the runs that it stores; see --help.
case ${1:-} in
'') ;;
-h | --help)
	cat <<-'EOH'
	Usage: SEED=1 EACH=50 harness/tests/stress/interrupted.sh

	Interrupts a run of each drive EACH times, at a random time within its usual time, and has `show` read each run that
	was stored. A drive that this machine does not have is listed with its reason. Needs root; takes EACH half minutes.

	Environment: SEED, of the times (1); EACH (50); ONLY, the names of the drives to try (all); O, the build folder (build).
	Exit codes: 0 all stored runs can be read, 1 some cannot, or none was stored of a drive; 2 usage.
	EOH
	exit 0
	;;
*) printf 'interrupted.sh: no argument %s; see --help\n' "$1" >&2; exit 2 ;;
esac
# The figures do not matter here, so this test need not wait for other bpfbench processes. Those wait for each other only within one
# network namespace, so it runs in a namespace of its own if it can.
if [[ -z ${BB_OWN_NET:-} ]] && unshare -n true 2>/dev/null; then BB_OWN_NET=1 exec unshare -n "$0"; fi
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that wait_until calls
. "$(dirname "$0")/../tool.sh"
EACH=${EACH:-50} SEED=${SEED:-1} tests=$O/tests/bpf
RANDOM=$SEED

cat >"$TMP/fake.yml" <<'YML'
name: fake
variants:
  - {name: plain, globals: {location_ns: 1000}}
drive:
  - {with: fake}
YML
# scenario NAME OBJECT VARIANT DRIVE: writes $TMP/NAME.yml.
scenario() {
	printf 'name: %s\nobject: %s\nvariants: [%s]\ndrive: [%s]\n' "$1" "$2" "$3" "$4" >"$TMP/$1.yml"
}
scenario packets "$tests/packets.bpf.o" '{name: xdp_sees}' '{with: in-situ, event: packets, seconds: 1}'
scenario http "$tests/packets.bpf.o" '{name: xdp_sees}' '{with: in-situ, event: http, seconds: 1}'
# shellcheck disable=SC2016 # the workload's
scenario attach "$tests/attach.bpf.o" '{name: on_uprobe}' \
	'{with: in-situ, event: attach, workload: /bin/sh, args: [-c, "while :; do echo; done"], seconds: 1}'
scenario exact_fire "$tests/fire.bpf.o" '{name: on_openat}' '{with: exact, trigger: fire}'
scenario lines_fire "$tests/fire.bpf.o" '{name: on_openat}' '{with: lines, trigger: fire}'
scenario lines_page "$O/bpf/loops.bpf.o" '{name: straight}' '{with: lines, trigger: page-fault}'
"$O/tests/tools/live_prog" "$tests/live.bpf.o" 200 >"$TMP/live_id" 2>"$TMP/live_err" &
child=$!
wait_until 5 test -s "$TMP/live_id" || cat "$TMP/live_err"
live=$child live_id=$(head -n 1 "$TMP/live_id")
child=''
trap 'kill $child $live 2>/dev/null || true; rm -rf -- "$TMP"' EXIT

# A line for each drive: a name, and the arguments of bpfbench.
drives="step-page-fault -s perf_profiler -d step -V stackid --budget 1
step-test-run -s fun_xdp -d step --budget 1
step-fire --object $tests/fire.bpf.o --program on_openat -d step --budget 1
step-cold -s perf_profiler --cold -d step-cold -V stackid --budget 2
slope -s fun_xdp -d slope --budget 1
hook --object $tests/fire.bpf.o --program on_openat -d hook --budget 2
in-situ -s perf_profiler -d in-situ --budget 2
in-situ-packets -s $TMP/packets.yml --budget 2
in-situ-http -s $TMP/http.yml --budget 2
in-situ-attach -s $TMP/attach.yml --budget 2
live --prog-id $live_id -d live --budget 1
exact-page-fault -s perf_profiler -d exact -V stackid --budget 1
exact-test-run -s fun_xdp -d exact --budget 1
exact-fire -s $TMP/exact_fire.yml -d exact --budget 1
lines-page-fault -s $TMP/lines_page.yml -n 600 --budget 2
lines-test-run --object $tests/lines.bpf.o --program known --lines -n 600 --budget 2
lines-fire -s $TMP/lines_fire.yml -n 600 --budget 2
pipeline -s pipeline -V fixed --budget 2
slowdown -s slowdown -V ringbuf --budget 2
call -s source_addr --budget 1
fake -s $TMP/fake.yml -n 60000 --budget 1
compare-step compare -s perf_profiler -d step --base stackid --head ringbuf --budget 1
compare-pipeline compare -s pipeline --base fixed --head none --budget 2
compare-slowdown compare -s slowdown --base ringbuf --head profile --budget 3"

begin() { start "$BPFBENCH" "$@" --results "$TMP/results" -q; }

# usual ARG...: sets $usual_ms, the time of an undisturbed run. Prints the reason and returns false if this machine cannot make the run.
# On a busy machine a case may have no valid sample (exit code 1); a stored run with the other cases is enough here. If no run is stored,
# it tries twice more.
usual() {
	local began

	for _ in 1 2 3; do
		rm -rf "$TMP/results"
		began=${EPOCHREALTIME/[.,]/}
		begin "$@"
		finish
		usual_ms=$(((${EPOCHREALTIME/[.,]/} - began) / 1000))
		((status != 2)) && [[ -d $TMP/results ]] && return 0
		((status == 1)) || break
	done
	printf '%-17s not here: %s\n' "$name" "$(grep -m 1 -E 'skipped|bpfbench' "$TMP/err")"
	((status == 4)) || bad=1
	return 1
}

# unreadable: prints "FILE: REASON" for each stored run that `show` refuses
unreadable() {
	find "$TMP/results" -name '*.json' | while IFS= read -r path; do
		"$BPFBENCH" show "$path" 2>&1 >/dev/null | grep '^bpfbench' || true
	done
}

bad=0
while read -r name words; do
	[[ " ${ONLY:-$name} " == *" $name "* ]] || continue
	# shellcheck disable=SC2086 # words; no path here has blanks
	usual $words || continue
	rm -rf "$TMP/results"
	mkdir "$TMP/results"
	for ((i = 0; i < EACH; i++)); do
		# shellcheck disable=SC2086 # likewise
		begin $words
		delay_ms=$((RANDOM % (usual_ms + 1)))
		sleep "$((delay_ms / 1000)).$(printf '%03d' $((delay_ms % 1000)))"
		case $((RANDOM % 3)) in 0) signal=INT ;; 1) signal=TERM ;; *) signal=HUP ;; esac
		stop_child "$signal"
	done
	unreadable >"$TMP/unreadable"
	stored=$(find "$TMP/results" -name '*.json' | wc -l)
	printf '%-17s %d tries, %d runs stored, %d cannot be read\n' "$name" "$EACH" "$stored" "$(wc -l <"$TMP/unreadable")"
	sort "$TMP/unreadable" | sed 's/^/    /'
	[[ ! -s $TMP/unreadable ]] || bad=1
done <<<"$drives"
exit "$bad"
