#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Bad input and failures: each gets its exit code and one line with what failed, where and what to do; stdout stays empty and no files
# are left behind. Tests of failures that need BPF need root; without root they are skipped by name.
# turn: it turns bpf_stats on for moments
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

results=$WORK/results

# bpfbench ARGS: runs bpfbench without root, by `run`.
bpfbench() { run "${user[@]}" "$BPFBENCH" "$@"; }

# --- usage: exit code 2 ---
bpfbench
expect_eq "no arguments: usage, exit code 2, on stderr" "$status $(wc -c <"$TMP/out") $(grep -c '^Usage: ' "$TMP/err")" "2 0 1"
bpfbench --help
expect_eq "--help: on stdout, exit code 0" "$status $(wc -c <"$TMP/err") $(grep -c '^Usage: ' "$TMP/out")" "0 0 1"
bpfbench run --help
expect_grep "run --help: documents --seed" out '--seed=N'
bpfbench --version
expect_grep "--version" out '^bpfbench [0-9]+\.[0-9]+'
bpfbench rnu
complains "unknown command: the nearest is named" 2 "no command 'rnu'; did you mean 'run'\?"
bpfbench frobnicate
complains "unknown command, far from all: where to look" 2 "no command 'frobnicate'; there are: run, compare, .*; see .bpfbench --help."
bpfbench run --frobnicate
complains "unknown option" 2 'frobnicate'
bpfbench --frobnicate
complains "unknown option of the default command" 2 'frobnicate'
bpfbench run
complains "no scenario: how to name one" 2 'which scenario\? --scenario NAME'
bpfbench run perf_profiler
complains "a scenario without --scenario: what to write" 2 "--scenario perf_profiler"
bpfbench -s perf_profiler --format tabel
complains "unknown format: the nearest is named" 2 "no format 'tabel'; did you mean 'table'\?"
bpfbench show --format zzz
complains "unknown format, far from all: the list" 2 "no format 'zzz'; there are: bmf, table"
bpfbench show one two
complains "show: two runs" 2 'one run at a time'
bpfbench list frobnicate
complains "list: takes no argument" 2 "'frobnicate' is no option"
bpfbench selftest --format json
expect_status "selftest: has no formats" 2
bpfbench list
expect_no_grep "list: no line ends with a blank" out ' $'
bpfbench -s
complains "an option without its value" 2 "requires an argument"
for words in "run --varient x:--variant" "compare --treshold=3:--threshold" "capture --outptu x -- true:--output" "--scenaro x:--scenario"; do
	# shellcheck disable=SC2086 # words
	run "$BPFBENCH" ${words%:*}
	complains "a mistyped option: ${words%:*}" 2 "unrecognized option .*; did you mean '${words#*:}'\?"
done
run "$BPFBENCH" history --variant --treshold=3 --results "$WORK"
complains "a value that looks like an option is none" 1 'no runs are stored there'
for bad in 'samples 12abc' 'samples 0' 'samples -5' 'samples 1e3' 'loads 12abc' 'loads 99999999999999999999' 'cpu 1x' 'cpu -1' \
	'budget 5s' 'budget nan' 'budget -1' 'seed 0x' 'seed -1' 'seed 18446744073709551616' 'seed 1.5'; do
	bpfbench -s perf_profiler "--${bad% *}=${bad#* }"
	complains "a number with junk or out of range: --$bad" 2 "--${bad% *} takes a (whole )?number.*, not '${bad#* }'"
done

# --- names: exit code 1 ---
bpfbench -s perf_profilr
complains "unknown scenario: the nearest is named" 1 "no scenario 'perf_profilr' in .*/scenarios; did you mean 'perf_profiler'\?"
bpfbench -s quux
complains "unknown scenario, far from all: where to look" 1 "no scenario 'quux'.*bpfbench list"
bpfbench -s "$WORK/nosuch.yml"
complains "a scenario file that is not there: its path" 1 "$WORK/nosuch\.yml: .*No such file"
bpfbench -s "$WORK"/
complains "a folder as scenario" 1 "$WORK/: .*directory"
bpfbench -s perf_profiler -V ringbfu
complains "unknown variant: the nearest is named" 1 "no variant 'ringbfu'; did you mean 'ringbuf'\?"
bpfbench -s perf_profiler -V quux
complains "unknown variant, far from all: the list" 1 "no variant 'quux'; it has: empty, ringbuf, "
bpfbench -s perf_profiler -d in-stu
complains "unknown drive: the nearest is named" 1 "no drive 'in-stu'; did you mean 'in-situ'\?"
bpfbench -s perf_profiler -d quux
complains "unknown drive, far from all: the list" 1 "no drive 'quux'; it has: step, in-situ"
bpfbench -s perf_profiler -d step-cold
complains "a cold drive that was not asked for" 1 "no drive 'step-cold'; it has: step, in-situ"
bpfbench compare --cold -s fun_xdp --base v3 --head v4 --results "$results"
complains "compare: too many cold cases for the budget" 1 "256 cases with emptied caches take about .* --budget 431 allows it"
bpfbench -s perf_profiler --dry-run -V ringbfu
complains "--dry-run sees it too" 1 "no variant 'ringbfu'"

# --- scenario files: file:line:col ---
# bad_yaml NAME LINE:COL REGEX: the scenario on stdin is refused at LINE:COL with that reason.
bad_yaml() {
	cat >"$WORK/bad.yml"
	bpfbench -s "$WORK/bad.yml" --results "$results"
	complains "scenario: $1" 1 "^bpfbench: $WORK/bad\.yml:$2: $3"
}
bad_yaml "malformed YAML" '4:6' "did not find expected ',' or '}'" <<'EOS'
name: bad
variants:
  - {name: a
drive: [
EOS
bad_yaml "a tab as indentation" '3:1' '' <<'EOS'
name: bad
variants:
	- {name: a}
EOS
bad_yaml "an empty file" '1:1' 'the file is empty' </dev/null
bad_yaml "an unknown key" '2:1' "unknown key 'flor' \(did you mean 'floor'\?\)" <<'EOS'
name: bad
flor: a
variants: [{name: a}]
drive: [{with: fake}]
EOS
bad_yaml "an unknown key of a variant" '3:15' "unknown key 'globls' \(did you mean 'globals'\?\)" <<'EOS'
name: bad
variants:
  - {name: a, globls: {x: 1}}
drive: [{with: fake}]
EOS
bad_yaml "a number that is none" '3:31' "samples must be a whole number, not '12abc'" <<'EOS'
name: bad
variants: [{name: a}]
drive: [{with: fake, samples: 12abc}]
EOS
bad_yaml "a list where a text belongs" '1:7' 'name must be a text, not a list' <<'EOS'
name: [bad]
variants: [{name: a}]
drive: [{with: fake}]
EOS
bad_yaml "a text where a list belongs" '2:11' "variants must be a list" <<'EOS'
name: bad
variants: a
drive: [{with: fake}]
EOS
bad_yaml "a floor that is no variant" '2:8' "floor 'b' is no variant" <<'EOS'
name: bad
floor: b
variants: [{name: a}]
drive: [{with: fake}]
EOS
bad_yaml "a missing key" '[0-9]+:[0-9]+' "a scenario needs the key 'drive'" <<'EOS'
name: bad
variants: [{name: a}]
EOS
bad_yaml "an unknown drive" '3:16' "unknown with 'stpe' \(did you mean 'step'\?\)" <<'EOS'
name: bad
variants: [{name: a}]
drive: [{with: stpe}]
EOS
bad_yaml "a stack depth that cannot be" '4:39' 'stack_depth must be from 1 to 127' <<'EOS'
name: bad
object: x.bpf.o
variants: [{name: a}]
drive: [{with: step, stack_depth: [8, 128]}]
EOS
bad_yaml "no object for a drive that needs one" '[0-9]+:[0-9]+' "a scenario needs the key 'object'" <<'EOS'
name: bad
variants: [{name: a}]
drive: [{with: step}]
EOS
bad_yaml "a variant twice" '2:[0-9]+' "" <<'EOS'
name: bad
variants: [{name: a}, {name: a}]
drive: [{with: fake}]
EOS
head -c 65536 /dev/urandom >"$WORK/noise.yml"
bpfbench -s "$WORK/noise.yml"
complains "scenario: noise" 1 "^bpfbench: $WORK/noise\.yml:"
check "scenario: nothing was stored for any of them" only_whole "$results" 0

# --- output ---
cat >"$WORK/fake.yml" <<'EOS'
name: fake
variants: [{name: plain}]
drive: [{with: fake, samples: 600}]
EOS
fake() { bpfbench -s "$WORK/fake.yml" --results "$results" --quiet "$@"; }
fake -o "$WORK/no/such/file"
complains "output: its folder is missing" 1 "$WORK/no/such/file: .*No such file"
bpfbench run --object "$O/bpf/fun_xdp.bpf.o" --only-load --results "$results" -o "$WORK/no/such/file"
complains "output of --only-load: its folder is missing" 1 "$WORK/no/such/file: .*No such file"
fake -o "$WORK"
complains "output: a folder" 1 "$WORK: is a folder"
check "output: that was seen before anything was measured" only_whole "$results" 0
fake -o /dev/full
complains "output: a full device" 1 'No space left on device'
check "output: the run is stored all the same" only_whole "$results" 1
rm -rf "$results"
status=0
tap_command='>/dev/full'
: >"$TMP/out"
"${user[@]}" "$BPFBENCH" -s "$WORK/fake.yml" --results "$results" --quiet >/dev/full 2>"$TMP/err" </dev/null || status=$?
complains "stdout: full" 1 'No space left on device'
check "stdout: the run is stored all the same" only_whole "$results" 1
rm -rf "$results"
status=0
tap_command='>&-'
"${user[@]}" "$BPFBENCH" -s "$WORK/fake.yml" --results "$results" --quiet >&- 2>"$TMP/err" </dev/null || status=$?
complains "stdout: closed" 1 '.'
check "stdout: what was closed got nothing into the stored run" only_whole "$results" 1
rm -rf "$results"
"${user[@]}" mkdir "$WORK/closed" "$WORK/closed/results"
echo kept >"$WORK/closed/file"
chmod 555 "$WORK/closed" "$WORK/closed/results"
if need_user "output: a folder that may not be written to" "results: a folder that may not be written to" \
	"results: no temporary file is left" "results: cannot be made"; then
	fake -o "$WORK/closed/new"
	complains "output: a folder that may not be written to" 1 "$WORK/closed/new: .*Permission denied"
	run "${user[@]}" "$BPFBENCH" -s "$WORK/fake.yml" --quiet --results "$WORK/closed/results" -o "$WORK/out.bmf"
	complains "results: a folder that may not be written to" 1 "$WORK/closed/results.*Permission denied.*--results"
	check "results: no temporary file is left" only_whole "$WORK/closed/results" 0
	run "${user[@]}" "$BPFBENCH" -s "$WORK/fake.yml" --quiet --results "$WORK/closed/new/results" -o "$WORK/out.bmf"
	complains "results: cannot be made" 1 "$WORK/closed/new.*--results"
fi
chmod 755 "$WORK/closed" "$WORK/closed/results"
run "${user[@]}" "$BPFBENCH" -s "$WORK/fake.yml" --quiet --results "$WORK/fake.yml/results" -o "$WORK/out.bmf"
complains "results: a file in the way" 1 "$WORK/fake\.yml.*--results"
check "results: that file is as it was" grep -q '^name: fake' "$WORK/fake.yml"

# full_disk CMD...: runs the command with a full tmpfs of one page on $WORK/full, in a mount namespace that ends with the command.
# shellcheck disable=SC2016 # the inner shell's
full_disk() {
	unshare --mount sh -c 'mount -t tmpfs -o size=4k none "$1" && dd if=/dev/zero of="$1/ballast" bs=4k count=1 2>/dev/null
		shift; "$@"; code=$?; ls -A "$WORK/full"; exit $code' _ "$WORK/full" "$@"
}
mkdir "$WORK/full"
if need_root "results: a full disk" "results: a full disk: no part of a run is left"; then
	if unshare --mount mount -t tmpfs -o size=4k none "$WORK/full" 2>/dev/null; then
		run full_disk "$BPFBENCH" -s "$WORK/fake.yml" --quiet --results "$WORK/full" -o "$WORK/out.bmf"
		expect_eq "results: a full disk: no part of a run is left" "$(cat "$TMP/out")" ballast
		: >"$TMP/out"
		complains "results: a full disk" 1 "$WORK/full.*No space left on device.*--results"
	else
		skip "results: a full disk" "no tmpfs may be mounted here"
		skip "results: a full disk: no part of a run is left" "no tmpfs may be mounted here"
	fi
fi

# --- no root ---
if need_user "no root: which capability is missing, and sudo" "no root: nothing is stored" "no root: check says so"; then
	bpfbench -s perf_profiler --results "$results"
	complains "no root: which capability is missing, and sudo" 1 'CAP_(SYS_ADMIN|BPF|PERFMON).*sudo'
	check "no root: nothing is stored" only_whole "$results" 0
	bpfbench check
	expect_grep "no root: check says so" out '^fail +capabilities '
fi

fake --cpu 1023
complains "a CPU that is not there" 1 '--cpu 1023: there is no such CPU'

# --- failures that need BPF ---
# broken NAME CODE REGEX [left]: runs the scenario on stdin as root. With `left` it fails midway, and the samples until then are stored
# in a run marked as incomplete. Without it, no run is stored.
broken() {
	cat >"$WORK/broken.yml"
	need_root "$1" "$1: what is stored" || return 0
	run env ${BB_TEST_AS:+SUDO_UID=$BB_TEST_AS SUDO_GID=$BB_TEST_AS} "$BPFBENCH" -s "$WORK/broken.yml" \
		--results "$results" -n 50 --loads 1 --quiet
	complains "$1" "$2" "$3"
	check "$1: what is stored" stored_of_failure "${4:-}"
	rm -rf "$results"
}
stored_of_failure() {
	if [[ -z $1 ]]; then
		only_whole "$results" 0
	else
		only_whole "$results" 1 && "$BPFBENCH" show --results "$results" latest | grep '^INCOMPLETE: '
	fi
}

# step_of OBJECT VARIANT, in_situ_over WORKLOAD [ARGS [HZ [SECONDS]]]: print scenarios. At 1 Hz, a workload that ends at once gets no
# sample.
step_of() { printf 'name: broken\nobject: %s\nvariants: [%s]\ndrive: [{with: step}]\n' "$1" "$2"; }
in_situ_over() {
	printf 'name: broken\nobject: %s\nvariants: [{name: empty}]\n' "$object"
	printf 'drive: [{with: in-situ, seconds: %s, freq_hz: %s, workload: %s%s}]\n' "${4:-0.5}" "${3:-1}" "$1" \
		"${2:+, args: $2}"
}
object=$O/bpf/perf_profiler.bpf.o

broken "object: missing" 1 "$O/bpf/nosuch\.bpf\.o: there is no such BPF object; build it, or correct its path" < <(step_of nosuch.bpf.o '{name: ringbuf}')
echo 'no ELF' >"$WORK/text.bpf.o"
broken "object: not ELF" 1 "$WORK/text\.bpf\.o: not a BPF object" < <(step_of "$WORK/text.bpf.o" '{name: ringbuf}')
head -c 3000 "$object" >"$WORK/cut.bpf.o"
broken "object: truncated" 1 "$WORK/cut\.bpf\.o: not a BPF object" < <(step_of "$WORK/cut.bpf.o" '{name: ringbuf}')
: >"$WORK/empty.bpf.o"
broken "object: empty" 1 "$WORK/empty\.bpf\.o: not a BPF object" < <(step_of "$WORK/empty.bpf.o" '{name: ringbuf}')
broken "object: a program of the host" 1 "$O/workloads/amicable_pairs: not a BPF object" \
	< <(step_of "$O/workloads/amicable_pairs" '{name: ringbuf}')
broken "object: a folder" 1 "$WORK: .*" < <(step_of "$WORK" '{name: ringbuf}')
broken "program: unknown, the nearest is named" 1 "no program 'ringbfu' \(did you mean 'ringbuf'\?\); it has: " \
	< <(step_of "$object" '{name: x, program: ringbfu}')
broken "program: unknown, far from all: the list" 1 "no program 'quux'; it has: .*ringbuf, " \
	< <(step_of "$object" '{name: quux}')
broken "global: unknown" 1 "no global variable 'target_pit'; did you mean 'target_pid'\\?" \
	< <(step_of "$object" '{name: pid_filter, globals: {target_pit: 1}}')
broken "global: too large" 1 "'target_pid' of .* is 4 bytes; 4294967296 does not fit" \
	< <(step_of "$object" '{name: pid_filter, globals: {target_pid: 4294967296}}')
broken "stack_depth: less than the search itself has" 1 'stack_depth: 1 is less than the [0-9]+ frames' < <(
	printf 'name: broken\nobject: %s\nvariants: [{name: empty}]\ndrive: [{with: step, stack_depth: 1}]\n' "$object")

broken "workload: not found by name" 1 "workload 'no_such_workload' not found" < <(in_situ_over no_such_workload)
broken "workload: not found by path" 1 "workload '$WORK/nosuch' not found" < <(in_situ_over "$WORK/nosuch")
printf '#!/bin/sh\nexit 0\n' >"$WORK/data"
broken "workload: not executable" 1 "workload '$WORK/data' cannot be started.*Permission denied" < <(in_situ_over "$WORK/data")
broken "workload: a folder" 1 "workload '$WORK' cannot be started" < <(in_situ_over "$WORK")
printf 'not a program\n' >"$WORK/noise"
chmod 755 "$WORK/noise"
broken "workload: not a program" 1 "workload '$WORK/noise' cannot be started.*Exec format error" < <(in_situ_over "$WORK/noise")
printf '#!/bin/sh\nexit 3\n' >"$WORK/fails"
chmod 755 "$WORK/fails"
broken "workload: fails at once" 1 "the workload '$WORK/fails' ended with exit code 3 midway" < <(in_situ_over "$WORK/fails")
cp "$WORK/fails" "$WORK/private"
chmod 700 "$WORK/private"
if ((EUID == 0)); then chown root "$WORK/private"; fi
name="workload: not for who called sudo"
if need_user "$name"; then
	BB_TEST_AS=$NOBODY broken "$name" 1 "workload '$WORK/private' cannot be started as uid $NOBODY: Permission denied" \
		< <(in_situ_over "$WORK/private")
fi
broken "workload: ends at once" 1 "workload '/bin/true' ends before it can be sampled" < <(in_situ_over /bin/true)
# The workload uses about 0.3 s of CPU time, so it is killed long after the first samples and long before the 30 s are over.
# shellcheck disable=SC2016 # the workload's
broken "workload: killed midway" 1 "the workload '/bin/sh' was killed by signal 9" left < <(
	in_situ_over /bin/sh '[-c, "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; kill -9 $$"]' 1000 30)

plan_done
