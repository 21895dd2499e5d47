#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The test runner. Called by `make test` (with --fast --together) and `make test-all`; see --help.
#
# Comment lines of a test's source that this runner reads:
# - "slow: REASON": `make test` leaves the test out.
# - "turn: REASON": the test takes turns with those of other runners on this machine. All tests that load BPF programs do so without it
#   (unit/test_bpf_*, bpf/*, docs/*).
# - "no turn: REASON": such a test takes no turns, because it times nothing and does not have bpf_stats on.
#
# All programs print TAP on stdout: a plan "1..N" and N lines "ok N - name" or "not ok N - name". Either with "# SKIP reason" is a skip.
# cmocka 1.1.5 prints "not ok N # SKIP name" without a reason; a line "# skip: REASON" before it gives the reason. A program counts as one
# more failure if it crashes, times out, exits non-zero without a failure in its lines, or if its lines do not match its plan.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
ROOT=${BB_TEST_ROOT:-$PWD}	# another tree, for the runner's own tests
cd -- "$ROOT"
O=$(realpath -m -- "${O:-build}")
export ROOT O
log=$(mktemp -d "${TMPDIR:-/tmp}/bpfbench-tests.XXXXXX")
child='' beside=''
# For users other than root: bpftool and the like are in these folders.
export PATH=$PATH:/usr/sbin:/sbin
trap 'rm -rf -- "$log"' EXIT
# `timeout` has a process group of its own, so the terminal's Ctrl-C does not reach it; this script ends it.
trap 'kill $child $beside 2>/dev/null; wait $beside; exit 130' INT TERM

usage() {
	cat <<-'EOF'
	Usage: harness/tests/run.sh [--fast] [--together] [--second-try] [--without NAME]... [NAME]...

	Runs every cmocka program of harness/tests/unit (built by make tests) and every harness/tests/*/test_*.sh, or those
	whose "folder/name" contains one of NAME, and ends with the line 'N passed, N failed, N skipped'. Unit tests are named
	unit/test_NAME, whatever their folder is; unit/FOLDER/ names all of a folder.

	  --fast          leave out the slow ones, whose source has a comment "slow: REASON"; they are listed at the end
	  --together      run the tests that load BPF programs and the others at the same time
	  --second-try    at the end, run once more what failed, with nothing beside, where that is no more than 3 programs: a
	                  neighbour on a shared machine voids one test, not many. The second result counts, the first is listed
	  --without NAME  leave out those whose "folder/name" contains NAME
	  --help          print this

	As root, tests that load BPF programs or have bpf_stats on take turns with those of other runners on this machine.

	Environment: O, the build folder (build); BB_TEST_TIMEOUT, seconds a program (900: only what hangs takes that long).
	Exit codes: 0 all passed, 1 something failed or nothing passed, 2 usage.
	EOF
}

fast='' together='' second_try=''
declare -a without=() slow=() with_bpf=() others=()	# tests: "NAME PROGRAM"

if [[ -t 1 ]]; then red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'; else red='' green='' plain=''; fi

# Reads TAP. Prints a line "P F S" (passed, failed, skipped), then a line "not NAME" for every failure, "skip NAME<TAB>REASON" for every
# skip, and "bad WHY" if the lines do not match the plan.
parse_tap() {
	awk '
	function name_of(line) {
		sub(/^(not )?ok *[0-9]* *(- *)?/, "", line)
		return line
	}
	/^1\.\.[0-9]+/ { plan += substr($0, 4) + 0; plans++; next }
	/^# *skip: / { said = $0; sub(/^# *skip: */, "", said); next }
	/^(not )?ok([ \t]|$)/ {
		seen++
		line = $0
		at = match(toupper(line), /# *SKIP/)
		if (at) {
			reason = substr(line, at + RLENGTH)
			name = name_of(substr(line, 1, at - 1))
			sub(/^[ \t]+/, "", reason); sub(/[ \t]+$/, "", name)
			# cmocka prints no reasons, and 1.1.5 prints the name in their place.
			if (name == "") { name = reason; reason = "" }
			if (reason == "") reason = said == "" ? "no reason given" : said
			said = ""
			s++
			out[++n] = "skip " name "\t" reason
		} else if (line ~ /^not/) {
			f++
			out[++n] = "not " name_of(line)
		} else {
			p++
		}
		next
	}
	/^Bail out!/ { out[++n] = "bad " $0 }
	END {
		if (!plans)
			out[++n] = "bad no plan \"1..N\" after " seen + 0 " results"
		else if (plan != seen)
			out[++n] = "bad planned " plan + 0 " tests, saw " seen + 0
		print p + 0, f + 0, s + 0
		for (i = 1; i <= n; i++)
			print out[i]
	}' "$1"
}

why_of() {
	case $1 in
	0) ;;
	124 | 137) printf 'exit %s: timed out after %s s or was killed' "$1" "$2" ;;
	12[89] | 1[3-9]? | 2??) printf 'killed by SIG%s' "$(kill -l "$(($1 - 128))" 2>/dev/null || echo "$1")" ;;
	*) printf 'exit code %s' "$1" ;;
	esac
}

# path_of NAME: prints the path of a test's TAP. Its other files begin with this path: .err: stderr; .counts: a line "P F S"; .skips and
# .failure: text for people; .first: the failure of a first try.
path_of() { printf '%s/%s' "$log" "${1//\//.}"; }

# report NAME FILE STATUS LIMIT STARTED: counts the results in FILE (TAP; the test's stderr is in FILE.err) and prints the test's line.
report() {
	local name=$1 file=$2 status=$3 limit=$4 started=$5
	local p f s line verdict why ms
	local -a details=()

	{
		read -r p f s
		while IFS= read -r line; do
			case $line in
			'not '*) details+=("failed: ${line#not }") ;;
			'bad '*) f=$((f + 1)); details+=("${line#bad }") ;;
			'skip '*) line=${line#skip }; printf '%s: %s\n' "$name" "${line/$'\t'/ - }" >>"$file.skips" ;;
			esac
		done
	} < <(parse_tap "$file")
	why=$(why_of "$status" "$limit")
	if [[ -n $why ]]; then
		details+=("$why")
		((f)) || f=1
	fi
	echo "$p $f $s" >"$file.counts"
	verdict="${green}ok  ${plain}"
	((f == 0)) || verdict="${red}FAIL${plain}"
	ms=$(((${EPOCHREALTIME//[!0-9]/} - started) / 1000))
	printf '%s  %-32s %4d passed %3d failed %3d skipped %4d.%02d s\n' "$verdict" "$name" "$p" "$f" "$s" \
		$((ms / 1000)) $((ms % 1000 / 10))
	((f == 0)) || {
		{ printf '%s\n' "$name"; print_failure "$file" "${details[@]}"; } >"$file.failure"
		tail -n +2 "$file.failure"
	}
}

print_failure() {
	local file=$1

	shift
	printf '      | %s\n' "$@"
	if [[ -s $file ]]; then
		printf '      --- output, without what passed\n'
		{ grep -vaE '^ok([ \t]|$)|^1\.\.[0-9]' "$file" || true; } | tail -n 60 | sed 's/^/      /'
	fi
	if [[ -s $file.err ]]; then
		printf '      --- stderr\n'
		tail -n 60 "$file.err" | sed 's/^/      /'
	fi
}

# marked WORD SOURCE: true if a comment of the source begins with "WORD: ".
marked() { grep -qE "^(#|//|/?\*| \*)[ *]*$1: " "$2"; }
# takes_turns NAME SOURCE: true if this test takes turns.
takes_turns() {
	! marked 'no turn' "$2" || return 1
	[[ $1 == unit/test_bpf_* || $1 == bpf/* || $1 == docs/* && $1 != docs/test_pages ]] || marked turn "$2"
}

# Privileged tests see and change state of the whole machine: bpf_stats, BPF objects, real-time priority. Tests of another tree or chroot
# on this machine would disturb them, so they take turns by a lock on a folder that all of them see. The runner's own tests use another
# folder.
# take_turn now|wait: takes the lock. `now`: false if another runner has it. `wait`: waits for it, and goes on without it after 600 s.
take_turn() {
	local all_see=${BB_TEST_ROOT:-/sys/kernel}

	[[ $EUID == 0 && -r $all_see ]] || return 0
	exec 9<"$all_see"
	if [[ $1 == now ]]; then
		flock -n 9
		return
	fi
	flock -w 600 9 &
	child=$!
	wait "$child" || true
}

# run_one NAME PROGRAM: runs a test and reports it; gives the turn back.
run_one() {
	local name=$1 limit=${BB_TEST_TIMEOUT:-900} program=$2 status=0 file started

	file=$(path_of "$name")
	started=${EPOCHREALTIME//[!0-9]/}
	CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 "$limit" "$program" >"$file" 2>"$file.err" </dev/null 9<&- &
	child=$!
	wait "$child" || status=$?
	child=''
	exec 9<&-	# the next runner's turn
	report "$name" "$file" "$status" "$limit" "$started"
}

# refuse NAME REASON: counts a test whose program cannot be run as a failure.
refuse() {
	local file

	file=$(path_of "$1")
	echo "0 1 0" >"$file.counts"
	printf '%sFAIL%s  %-32s %s\n' "$red" "$plain" "$1" "$2"
	printf '%s\n      | %s\n' "$1" "$2" >"$file.failure"
}

# matches NAME SOURCE PATTERN...: true if NAME contains one of the patterns, or the path of SOURCE begins with it.
matches() {
	local name=$1 source=$2 pattern

	shift 2
	for pattern in "$@"; do
		[[ $name == *"$pattern"* || $source == harness/tests/"$pattern"* ]] && return 0
	done
	return 1
}

# wanted NAME SOURCE PATTERN...: true if this test is to be run; notes it in slow[] if it is left out as slow.
wanted() {
	local name=$1 source=$2

	shift 2
	[[ -e $source ]] || return 1
	(($# == 0)) || matches "$name" "$source" "$@" || return 1
	! matches "$name" "$source" "${without[@]}" || return 1
	if [[ $fast ]] && marked slow "$source"; then
		slow+=("$name")
		return 1
	fi
}

# add NAME SOURCE PROGRAM: adds a test to those that take turns, or to the others.
add() { if takes_turns "$1" "$2"; then with_bpf+=("$1 $3"); else others+=("$1 $3"); fi; }

find_all() {
	local source name folder script

	for source in harness/tests/unit/*/test_*.c; do
		name=${source##*/} name=${name%.c}
		! wanted "unit/$name" "$source" "$@" || add "unit/$name" "$source" "$O/tests/$name"
	done
	for script in harness/tests/*/test_*.sh; do
		folder=${script%/*} name=${folder##*/}/${script##*/} name=${name%.sh}
		! wanted "$name" "$script" "$@" || add "$name" "$script" "./$script"
	done
}

# run_test "NAME PROGRAM": runs a test, or refuses it.
run_test() {
	local name=${1%% *} program=${1#* }

	if [[ -x $program ]]; then
		run_one "$name" "$program"
	elif [[ -e $program ]]; then
		refuse "$name" "$program is not executable: chmod +x it"
	else
		refuse "$name" "not built: $program; run make tests"
	fi
}

# Runs the tests that take turns, and the others whenever it is the turn of another runner.
run_in_turns() {
	local i=0 k=0

	while ((i < ${#with_bpf[@]} || k < ${#others[@]})); do
		if ((i < ${#with_bpf[@]})) && { take_turn now || { ((k == ${#others[@]})) && take_turn wait; }; }; then
			run_test "${with_bpf[i++]}"
		else
			exec 9<&-
			run_test "${others[k++]}"
		fi
	done
}

run_all() {
	if [[ $together ]]; then
		(
			trap 'kill $child 2>/dev/null; exit 130' INT TERM
			with_bpf=()
			run_in_turns
		) &
		beside=$!
		others=()
	fi
	run_in_turns
	[[ ! $together ]] || wait "$beside"
}

# try_again "NAME PROGRAM"...: runs the failed ones of these tests once more, if they are at most 3.
try_again() {
	local test path
	local -a failed=()

	for test in "$@"; do
		[[ ! -e $(path_of "${test%% *}").failure ]] || failed+=("$test")
	done
	((${#failed[@]} > 0 && ${#failed[@]} <= 3)) || return 0
	printf '\nonce more:\n'
	for test in "${failed[@]}"; do
		path=$(path_of "${test%% *}")
		mv "$path.failure" "$path.first"
		rm -f "$path.skips"
	done
	with_bpf=("${failed[@]}") others=()
	run_in_turns
}

# said_of KIND TITLE: prints all files of a kind (first, failure), below a title.
said_of() {
	local -a files=("$log"/*."$1")

	[[ ! -e ${files[0]} ]] || { printf '\n%s:\n' "$2"; sed 's/^/  /' "${files[@]}"; }
}

while [[ ${1:-} == -* ]]; do
	case $1 in
	--help | -h) usage; exit 0 ;;
	--fast) fast=1; shift ;;
	--together) together=1; shift ;;
	--second-try) second_try=1; shift ;;
	--without)
		(($# > 1)) || { printf 'run.sh: --without needs a NAME; see --help\n' >&2; exit 2; }
		without+=("$2")
		shift 2 ;;
	*) printf 'run.sh: unknown option %s; see --help\n' "$1" >&2; exit 2 ;;
	esac
done
find_all "$@"
if (($# && ${#with_bpf[@]} + ${#others[@]} + ${#slow[@]} == 0)); then
	printf 'run.sh: no test program matches: %s\n' "$*" >&2
	exit 2
fi
all=("${with_bpf[@]}" "${others[@]}")
run_all
[[ ! $second_try ]] || try_again "${all[@]}"
said_of skips skipped
((${#slow[@]} == 0)) || printf '\nleft out as slow, make test-all runs them: %s\n' "${slow[*]}"
# Failures are printed once more here, at the end of the output, where people look for them.
said_of first 'failed at the first try'
said_of failure failed
read -r passed failed skipped < <(cat /dev/null "$log"/*.counts | awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }')
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0 && passed > 0))
