#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measures with bpfbench and sends the result to Bencher (bencher.dev or a server of your own); made for a CI job.
# The flags are those of bencher 0.6.
set -euo pipefail

usage() {
	cat <<-'EOF'
	Usage: ci/bencher.sh main [OPTION]...        track the default branch: Student's t over its last 64 results
	       ci/bencher.sh setup [OPTION]...       once for a project: tell Bencher the units of our measures
	       ci/bencher.sh candidate [OPTION]...   judge this tree against its base, both built and measured in turns now

	  --main-branch NAME   the default branch (BENCHER_MAIN_BRANCH, main)
	  --branch NAME        candidate: its name at Bencher (BENCHER_BRANCH, GITHUB_HEAD_REF,
	                       CI_MERGE_REQUEST_SOURCE_BRANCH_NAME, the git branch)
	  --base-branch NAME   candidate: where Bencher keeps the base's result (BENCHER_BASE_BRANCH,
	                       <branch>-base-<testbed>: jobs on several kernels must not share it). It is reset by every
	                       run; giving the default branch here wipes the history that `main` needs.
	  --base-rev REV       candidate: the git revision to measure as the base (BENCHER_BASE_REV, the merge base with
	                       origin/<main-branch> or <main-branch>)
	  --boundary FRACTION  candidate: how much slower is an alert at Bencher (BENCHER_BOUNDARY, 0.25); whether the job
	                       fails is for `bpfbench gate` to say, which finds 1 %
	  --project SLUG       (BENCHER_PROJECT, bpfbench)
	  --testbed NAME       name of the machine (BENCHER_TESTBED, made of its fingerprint by `bpfbench check --testbed`)
	  --host URL           API of your own server, port 6610 (BENCHER_HOST, bencher.dev)
	  --scenario NAME      repeatable for main (BENCHER_SCENARIO, perf_profiler); a path works, too
	  --budget SECONDS     main: time for the run, 0 for all it takes (BENCHER_BUDGET, bpfbench's own); some 0.4 s a program
	  --github-actions     let bencher comment on the pull request, with the token in GITHUB_TOKEN
	  --dry-run            print the command lines, one a line, ready for a shell, and run nothing
	  --help               print this

	What is exact (instructions, bytes) has a threshold of its own: any more of it is an alert, which fails main at once. An
	alert of nanoseconds fails main only if a second measurement, BENCHER_PAUSE seconds later (20), raises one for the same
	benchmark and measure. The boundary of main follows from the number of
	series: 5 % of the runs of an unchanged tree have an alert at all. The first 10 results of a series raise none; in-situ
	series and empty programs (the floor of others) raise none at any time. A candidate that `bpfbench gate` finds slower, and confirms, is not measured again.

	Environment: BENCHER_API_KEY, the key; it is never printed or put on a command line. An unclaimed project of a server of
	your own (--host) needs none for its results; setup needs one everywhere.
	Exit codes: 0 ok, 1 failure or a confirmed alert or regression, 2 usage.
	EOF
}

say() { printf 'bencher.sh: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }
bad_usage() { say "$*; see ci/bencher.sh --help"; exit 2; }

# --- options ---
mode='' dry_run=0 comment=0
main_branch=${BENCHER_MAIN_BRANCH:-main}
branch=${BENCHER_BRANCH:-${GITHUB_HEAD_REF:-${CI_MERGE_REQUEST_SOURCE_BRANCH_NAME:-}}}
base_branch=${BENCHER_BASE_BRANCH:-}
base_rev=${BENCHER_BASE_REV:-}
boundary=${BENCHER_BOUNDARY:-0.25}
budget=${BENCHER_BUDGET:-}
project=${BENCHER_PROJECT:-bpfbench}
testbed=${BENCHER_TESTBED:-}
host=${BENCHER_HOST:-}
pause_s=${BENCHER_PAUSE:-20}
declare -a scenarios=()
# The measures that core/metric.c calls exact.
exact=(instructions verified-instructions xlated-bytes jited-bytes stack-depth-bytes map-memory-bytes verifier-states)

parse_options() {
	local option value

	while (($#)); do
		option=$1
		shift
		case $option in
		main | candidate | setup)
			[[ -z $mode ]] || bad_usage "both '$mode' and '$option'"
			mode=$option
			continue ;;
		--dry-run) dry_run=1; continue ;;
		--github-actions) comment=1; continue ;;
		--help | -h) usage; exit 0 ;;
		--*=*) value=${option#*=} option=${option%%=*} ;;
		--main-branch | --branch | --base-branch | --base-rev | --boundary | --budget | --project | \
		--testbed | --host | --scenario)
			(($#)) || bad_usage "$option needs a value"
			value=$1
			shift ;;
		*) bad_usage "unknown option or mode '$option'" ;;
		esac
		[[ -n $value ]] || bad_usage "$option needs a value"
		case $option in
		--main-branch) main_branch=$value ;;
		--branch) branch=$value ;;
		--base-branch) base_branch=$value ;;
		--base-rev) base_rev=$value ;;
		--boundary) boundary=$value ;;
		--budget) budget=$value ;;
		--project) project=$value ;;
		--testbed) testbed=$value ;;
		--host) host=$value ;;
		--scenario) scenarios+=("$value") ;;
		*) bad_usage "unknown option '$option'" ;;
		esac
	done
	[[ -n $mode ]] || bad_usage "say which: main, candidate or setup"
	[[ $boundary =~ ^[0-9]*\.?[0-9]+$ ]] || bad_usage "--boundary takes a fraction such as 0.25, not '$boundary'"
	((${#scenarios[@]})) || scenarios=("${BENCHER_SCENARIO:-perf_profiler}")
	[[ $pause_s =~ ^[0-9]+$ ]] || bad_usage "BENCHER_PAUSE takes whole seconds, not '$pause_s'"
	[[ $budget =~ ^[0-9]*$ ]] || bad_usage "--budget takes whole seconds, not '$budget'"
	[[ $mode != candidate ]] || ((${#scenarios[@]} == 1)) || bad_usage "a candidate is judged by one --scenario"
}

# --- running and printing ---

# quoted WORD: prints the word as one would type it in a shell: in single quotes if it needs them.
quoted() {
	if [[ $1 =~ ^[A-Za-z0-9_./:=@%+,-]+$ ]]; then
		printf '%s' "$1"
	else
		printf "'%s'" "${1//\'/\'\\\'\'}"
	fi
}

print_command() {
	local word line=''

	for word in "$@"; do
		# shellcheck disable=SC2016 # The token is a secret too: its name is printed.
		[[ -n ${GITHUB_TOKEN:-} && $word == "$GITHUB_TOKEN" ]] && { line+=' "$GITHUB_TOKEN"'; continue; }
		line+=" $(quoted "$word")"
	done
	printf '%s\n' "${line# }"
}

run() {
	if ((dry_run)); then
		print_command "$@"
	else
		print_command "$@" >&2
		"$@"
	fi
}

# sudo in front of commands that need root; nothing if we are root and there is no sudo.
declare -a as_root=()
[[ $EUID == 0 ]] && ! command -v sudo >/dev/null || as_root=(sudo)

# Sets $bench, the command that measures and prints BMF on stdout.
bench_command() {
	local word

	bench=("${as_root[@]}" ./bpfbench)
	for word in "${scenarios[@]}"; do
		bench+=(--scenario "$word")
	done
	[[ -z $budget ]] || bench+=(--budget "$budget")
}
declare -a bench=()

# Sets $testbed to the machine's name by `bpfbench check`, unless it is given; bpfbench must have been built.
name_testbed() {
	[[ -z $testbed ]] || return 0
	if ((dry_run)); then
		testbed='TESTBED'
	else
		testbed=$("${as_root[@]}" ./bpfbench check --testbed) || die "bpfbench cannot name this machine: give --testbed"
	fi
}

# bencher_run HASH WORD...: reports a result as that of commit HASH (empty: none). The WORDs are flags, among them the file with the result.
# If $report_to is a file name, bencher's own report goes there.
report_to=''
bencher_run() {
	local hash=$1 rc=0
	local -a words=(bencher run --project "$project" --adapter json --testbed "$testbed")

	shift
	[[ -z $host ]] || words+=(--host "$host")
	[[ -z $hash ]] || words+=(--hash "$hash")
	if [[ -n $report_to && $dry_run == 0 ]]; then
		run "${words[@]}" "$@" >"$report_to" || rc=$?
	else
		run "${words[@]}" "$@" || rc=$?
	fi
	((rc < 128)) || die "bencher was killed by SIG$(kill -l $((rc - 128)) 2>/dev/null || echo "$((rc - 128))"); nothing is known of the result"
	return "$rc"
}

# thresholds TEST LEAST SIZE BOUNDARY MEASURE...: sets $threshold_flags: these measures are judged by TEST over LEAST to SIZE results; the
# exact ones must not be larger than the last time.
declare -a threshold_flags=()
thresholds() {
	local measure

	threshold_flags=()
	for measure in "${@:5}"; do
		threshold_flags+=(--threshold-measure "$measure" --threshold-test "$1" --threshold-min-sample-size "$2"
			--threshold-max-sample-size "$3" --threshold-upper-boundary "$4")
	done
	for measure in "${exact[@]}"; do
		threshold_flags+=(--threshold-measure "$measure" --threshold-test percentage --threshold-max-sample-size 1
			--threshold-upper-boundary 0.0)
	done
	threshold_flags+=(--thresholds-reset --err)
}

# confirmed CMD...: runs CMD. If it fails, runs it a second time, and the result of the second run counts.
confirmed() {
	! "$@" || return 0
	say "an alert, or bencher failed (see above): measuring a second time, which decides"
	"$@" || die "so it did the second time: confirmed"
}

# --- requirements ---
check_tools() {
	((!dry_run)) || return 0
	command -v bencher >/dev/null ||
		die "no 'bencher' in PATH: install its CLI (https://bencher.dev/docs/how-to/install-cli/; in GitHub Actions" \
			"'uses: bencherdev/bencher@main'), or see with --dry-run what would run"
	command -v jq >/dev/null || die "no 'jq' in PATH, which reads Bencher's report: apt-get install jq"
	[[ $mode != setup || -n ${BENCHER_API_KEY:-} ]] ||
		die "BENCHER_API_KEY is not set: Bencher changes a measure only with a key, on a server of your own, too"
	[[ -n ${BENCHER_API_KEY:-} || -n $host ]] ||
		die "BENCHER_API_KEY is not set: make a key at Bencher and pass it in the environment. Pull requests from forks" \
			"get no secrets: there only 'sudo make bench' is possible"
}

git_here() {
	command -v git >/dev/null && git rev-parse --is-inside-work-tree >/dev/null 2>&1
}

# Sets $comment_flags, for the report of the run that is judged; the base's report gets no comment.
declare -a comment_flags=()
check_comment() {
	((comment)) || return 0
	[[ -n ${GITHUB_TOKEN:-} ]] || ((dry_run)) || die "--github-actions needs GITHUB_TOKEN in the environment"
	comment_flags=(--github-actions "${GITHUB_TOKEN:-GITHUB_TOKEN}")
}

# --- main ---
work=''
without_sample=0
min_results=10
family_rate=0.05

open_work() {
	if ((dry_run)); then
		work=${TMPDIR:-/tmp}/bpfbench-bencher.XXXXXX
		return
	fi
	trap '[[ -z $work ]] || rm -rf -- "$work"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	work=$(mktemp -d "${TMPDIR:-/tmp}/bpfbench-bencher.XXXXXX")
}

# Appends "-bencher-ignore" to the names of benchmarks whose changes do not come from changed code: those in situ, and the empty program
# (the one without a net in a scenario in which others have one).
# shellcheck disable=SC2016 # jq's variables
without_alerts='def scenario: .key | split("/")[0];
	([to_entries[] | select(.value["latency-net"]) | scenario] | unique) as $with_floor
	| with_entries(if (.key | test("/in-situ"))
		or (.value.latency and (.value["latency-net"] | not) and (scenario as $s | $with_floor | index([$s])))
	then .key += "-bencher-ignore" else . end)'

# measure_main FILE: measures and writes the result to FILE. For a benchmark whose name ends in "-bencher-ignore", Bencher raises no alert;
# it shows the name without that end.
measure_main() {
	if ((dry_run)); then
		printf '%s >%s\n' "$(print_command "${bench[@]}")" "$(quoted "$1")"
		return
	fi
	print_command "${bench[@]}" >&2
	# If bpfbench fails, but has written BMF, some cases had no valid sample; it has named them.
	"${bench[@]}" >"$1.all" || { [[ -s $1.all ]] && without_sample=1; } || die "the measurement failed: nothing to report"
	jq "$without_alerts" "$1.all" >"$1"
}

# boundary_of FILE: prints the one-sided boundary with which all series that have a threshold together raise a false alert in a share
# $family_rate of the runs (Bonferroni).
boundary_of() {
	if ((dry_run)); then
		printf 'BOUNDARY'
		return
	fi
	jq -r --argjson rate "$family_rate" '[to_entries[]
		| select(.value.latency and (.key | endswith("-bencher-ignore") | not))] | length
		| 1 - $rate / (if . > 0 then . else 1 end)' "$1"
}

# Selects the alerts of a report that count, a line "BENCHMARK MEASURE" each. A benchmark that has latency-relative is judged by it and not
# by its ns, which change with the machine, too (docs/methods/history.md).
# shellcheck disable=SC2016 # jq's variables
alerts_that_count='.alerts[] | .benchmark.name as $name | .threshold.measure.slug as $measure
	| select($measure != "latency" or $bmf[0][$name]["latency-relative"] == null)
	| "\($name) \($measure)"'

# report_main HASH N: makes and reports the N-th measurement, and writes the alerts that count to $work/alerts.N, or a line that says that
# bencher itself failed. Without --quiet, bencher's stdout would have more than the report.
report_main() {
	local rc=0

	measure_main "$work/main.$2.json"
	thresholds t_test "$min_results" 64 "$(boundary_of "$work/main.$2.json")" latency latency-relative
	report_to=$work/report.$2.json
	bencher_run "$1" --branch "$main_branch" "${threshold_flags[@]}" "${comment_flags[@]}" --quiet --format json \
		--file "$work/main.$2.json" || rc=$?
	((!dry_run)) || return 0
	: >"$work/alerts.$2"
	((rc)) || return 0
	jq -es '.[0].alerts | length > 0' "$report_to" >/dev/null 2>&1 || {
		echo 'bencher failed' >"$work/alerts.$2"
		return 1
	}
	jq -r --slurpfile bmf "$work/main.$2.json" "$alerts_that_count" "$report_to" | sort -u >"$work/alerts.$2"
	[[ ! -s $work/alerts.$2 ]] || return 1
	say "alerts of ns alone, which latency-relative does not confirm: none that counts"
}

# exact_alerts FILE: prints its alerts of exact measures, which need no confirmation. A second measurement would not repeat them, because
# Bencher would compare it with the first one, which is that of the changed program already.
exact_alerts() {
	local IFS='|'

	grep -E " (${exact[*]})\$" "$1" || true
}

run_main() {
	local hash='' both grown

	! git_here || hash=$(git rev-parse --verify -q 'HEAD^{commit}' || true)
	run make all >&"$build_out"
	name_testbed
	bench_command
	open_work
	if report_main "$hash" 1; then
		((!without_sample)) || die "a case has no valid sample, see above; the others are reported"
		return 0
	fi
	grown=$(exact_alerts "$work/alerts.1")
	[[ -z $grown ]] || die "exact measures grew, which no noise does: ${grown//$'\n'/, }"
	say "alerts, or bencher failed: measuring a second time, which decides"
	sed 's/^/  /' "$work/alerts.1" >&2
	((dry_run)) || sleep "$pause_s" # a machine that is slow for some seconds is no news either
	! report_main "$hash" 2 || return 0
	both=$(comm -12 "$work/alerts.1" "$work/alerts.2")
	[[ -z $both ]] || die "confirmed by the second measurement: ${both//$'\n'/, }"
	say "other series than before: not confirmed"
}

# --- setup ---
# Measures and their units, the same as in core/metric.c.
units=(latency:ns latency-relative:pieces latency-net:ns latency-p50:ns latency-p90:ns latency-p99:ns instructions:instructions verified-instructions:insns
	xlated-bytes:B jited-bytes:B stack-depth-bytes:B map-memory-bytes:B verifier-states:states)

run_setup() {
	local pair measure unit
	local -a at=()

	[[ -z $host ]] || at=(--host "$host")
	for pair in "${units[@]}"; do
		measure=${pair%%:*} unit=${pair#*:}
		# If the measure exists already, its unit is changed.
		run bencher measure create "${at[@]}" --name "$measure" --slug "$measure" --units "$unit" "$project" ||
			run bencher measure update "${at[@]}" --units "$unit" "$project" "$measure" || die "no unit for $measure, see above"
	done
}

# --- candidate ---
find_base() {
	local from rev

	if [[ -z $base_rev ]]; then
		for from in "origin/$main_branch" "$main_branch"; do
			git rev-parse --verify -q "$from^{commit}" >/dev/null || continue
			base_rev=$(git merge-base HEAD "$from") ||
				die "no common ancestor with $from in this clone: fetch the whole history (git fetch --unshallow;" \
					"fetch-depth: 0 in GitHub Actions) or give --base-rev"
			return 0
		done
		die "neither origin/$main_branch nor $main_branch is known here: git fetch origin $main_branch, or give" \
			"--base-rev"
	fi
	rev=$(git rev-parse --verify -q "$base_rev^{commit}") ||
		die "--base-rev: git knows no '$base_rev' here; fetch it first"
	base_rev=$rev
}

# Measures base and candidate in turns by `gate`, and reports both results to Bencher. The base's comes first, because the candidate's is
# compared with it. Sets $regressed if `gate` exits with 3: it found a regression and confirmed it.
regressed=0
report_candidate() {
	local rc=0

	run "${as_root[@]}" ./bpfbench gate --base "$base_rev" --scenario "${scenarios[0]}" --unchanged --markdown "$work/gate.md" \
		--bmf-base "$work/base.json" --bmf-head "$work/head.json" >&"$build_out" || rc=$?
	[[ -z ${GITHUB_STEP_SUMMARY:-} || ! -e $work/gate.md ]] || cat "$work/gate.md" >>"$GITHUB_STEP_SUMMARY"
	case $rc in
	0) ;;
	3) regressed=1 ;;
	*) die "the base, $base_rev, and this tree could not be measured (bpfbench gate ended with $rc); nothing to report" ;;
	esac
	bencher_run "$base_rev" --branch "$base_branch" --start-point-reset --file "$work/base.json" ||
		die "the base, $base_rev, could not be reported; nothing to compare with"
	bencher_run "$1" --branch "$branch" --start-point "$base_branch" --start-point-reset "${threshold_flags[@]}" \
		"${comment_flags[@]}" --file "$work/head.json" || ((regressed)) # confirmed already: not a third and fourth time
}

run_candidate() {
	local hash

	git_here || die "not a git tree: the base has to be built from it; run this in a clone"
	hash=$(git rev-parse --verify -q 'HEAD^{commit}') || die "this git tree has no commit yet"
	[[ -n $branch ]] || branch=$(git symbolic-ref -q --short HEAD) ||
		die "HEAD is on no branch: name the candidate with --branch"
	[[ $branch != "$main_branch" ]] || bad_usage "the candidate is '$branch' itself; use 'main' or another --branch"
	[[ $branch != "$base_branch" ]] || bad_usage "--base-branch and --branch are both '$branch'"
	find_base
	[[ $base_rev != "$hash" ]] || say "the base is this very commit: any difference is noise (or uncommitted work)"

	open_work
	run make all >&"$build_out"
	name_testbed
	[[ -n $base_branch ]] || base_branch=$branch-base-$testbed
	thresholds percentage 1 1 "$boundary" latency
	confirmed report_candidate "$hash"
	((!regressed)) || die "bpfbench gate found a regression, and confirmed it: see its report above"
}

parse_options "$@"
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
# The build's messages go to stderr. In a dry run, the commands that it would run are the output.
build_out=2
((!dry_run)) || build_out=1
check_tools
check_comment
case $mode in
main) run_main ;;
candidate) run_candidate ;;
setup) run_setup ;;
esac
