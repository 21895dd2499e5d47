#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measure with bpfbench and hand the result to Bencher (bencher.dev or a server of your own), as one CI job does it.
# The flags are those of bencher 0.6.
set -euo pipefail

usage() {
	cat <<-'EOF'
	Usage: ci/bencher.sh main [OPTION]...        track the default branch: Student's t over its last 64 results
	       ci/bencher.sh candidate [OPTION]...   judge this tree against its base, both measured now on this machine

	  --main-branch NAME   the default branch (BENCHER_MAIN_BRANCH, main)
	  --branch NAME        candidate: its name at Bencher (BENCHER_BRANCH, GITHUB_HEAD_REF, the git branch)
	  --base-branch NAME   candidate: where Bencher keeps the base's result (BENCHER_BASE_BRANCH, <branch>-base).
	                       It is reset by every run; giving the default branch here wipes the history that `main` needs.
	  --base-rev REV       candidate: the git revision to measure as the base (BENCHER_BASE_REV, the merge base with
	                       origin/<main-branch> or <main-branch>)
	  --boundary FRACTION  candidate: how much slower is an alert (BENCHER_BOUNDARY, 0.25)
	  --project SLUG       (BENCHER_PROJECT, bpfbench)
	  --testbed NAME       name of the machine (BENCHER_TESTBED, the host name)
	  --host URL           API of your own server, port 6610 (BENCHER_HOST, bencher.dev)
	  --scenario NAME      repeatable (BENCHER_SCENARIO, perf_profiler)
	  --github-actions     let bencher comment on the pull request, with the token in GITHUB_TOKEN
	  --dry-run            print the command lines, one a line, ready for a shell, and run nothing
	  --help               print this

	Environment: BENCHER_API_KEY, the key; it is never printed or put on a command line.
	Exit codes: 0 ok, 1 failure or a regression that bencher reports, 2 usage.
	EOF
}

say() { printf 'bencher.sh: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }
bad_usage() { say "$*; see ci/bencher.sh --help"; exit 2; }

# --- options ---
mode='' dry_run=0 comment=0
main_branch=${BENCHER_MAIN_BRANCH:-main}
branch=${BENCHER_BRANCH:-${GITHUB_HEAD_REF:-}}
base_branch=${BENCHER_BASE_BRANCH:-}
base_rev=${BENCHER_BASE_REV:-}
boundary=${BENCHER_BOUNDARY:-0.25}
project=${BENCHER_PROJECT:-bpfbench}
testbed=${BENCHER_TESTBED:-$(uname -n)}
host=${BENCHER_HOST:-}
declare -a scenarios=()

parse_options() {
	local option value

	while (($#)); do
		option=$1
		shift
		case $option in
		main | candidate)
			[[ -z $mode ]] || bad_usage "both '$mode' and '$option'"
			mode=$option
			continue ;;
		--dry-run) dry_run=1; continue ;;
		--github-actions) comment=1; continue ;;
		--help | -h) usage; exit 0 ;;
		--*=*) value=${option#*=} option=${option%%=*} ;;
		--main-branch | --branch | --base-branch | --base-rev | --boundary | --project | --testbed | --host | --scenario)
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
		--project) project=$value ;;
		--testbed) testbed=$value ;;
		--host) host=$value ;;
		--scenario) scenarios+=("$value") ;;
		*) bad_usage "unknown option '$option'" ;;
		esac
	done
	[[ -n $mode ]] || bad_usage "say which: main or candidate"
	[[ $boundary =~ ^[0-9]*\.?[0-9]+$ ]] || bad_usage "--boundary takes a fraction such as 0.25, not '$boundary'"
	((${#scenarios[@]})) || scenarios=("${BENCHER_SCENARIO:-perf_profiler}")
}

# --- running and printing ---

# A word as one would type it: plain where that is safe, in single quotes elsewhere.
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

# What bencher measures: one argument, which it runs with /bin/sh -c, stdout being BMF.
bench_command() {
	local word line='./bpfbench'

	for word in "${scenarios[@]}"; do
		line+=" --scenario $(quoted "$word")"
	done
	[[ $EUID == 0 ]] && ! command -v sudo >/dev/null || line="sudo $line"
	printf '%s' "$line"
}

# bencher_run DIR HASH FLAG...: measure the tree in DIR (empty: here) and report it as commit HASH.
bencher_run() {
	local dir=$1 hash=$2
	local -a words=()

	shift 2
	[[ -z $dir ]] || words+=(env -C "$dir")
	words+=(bencher run --project "$project" --adapter json --testbed "$testbed")
	[[ -z $host ]] || words+=(--host "$host")
	[[ -z $hash ]] || words+=(--hash "$hash")
	run "${words[@]}" "$@" "$(bench_command)"
}

# --- what must be there ---
check_tools() {
	((!dry_run)) || return 0
	command -v bencher >/dev/null ||
		die "no 'bencher' in PATH: install its CLI (https://bencher.dev/docs/how-to/install-cli/; in GitHub Actions" \
			"'uses: bencherdev/bencher@main'), or see with --dry-run what would run"
	[[ -n ${BENCHER_API_KEY:-} ]] ||
		die "BENCHER_API_KEY is not set: make a key at Bencher and pass it in the environment. Pull requests from forks" \
			"get no secrets: there only 'sudo make bench' is possible"
}

git_here() {
	command -v git >/dev/null && git rev-parse --is-inside-work-tree >/dev/null 2>&1
}

# The comments go with the run that is gated, not with the base's.
declare -a comment_flags=()
check_comment() {
	((comment)) || return 0
	[[ -n ${GITHUB_TOKEN:-} ]] || ((dry_run)) || die "--github-actions needs GITHUB_TOKEN in the environment"
	comment_flags=(--github-actions "${GITHUB_TOKEN:-GITHUB_TOKEN}")
}

# --- main ---
run_main() {
	local hash=''

	! git_here || hash=$(git rev-parse --verify -q 'HEAD^{commit}' || true)
	run make all >&"$build_out"
	bencher_run '' "$hash" --branch "$main_branch" --threshold-measure latency --threshold-test t_test \
		--threshold-max-sample-size 64 --threshold-upper-boundary 0.99 --thresholds-reset --err \
		"${comment_flags[@]}"
}

# --- candidate ---
base_dir=''
# The benchmark ran as root, so what it stored may be root's and in our way.
remove_base() {
	[[ -n $base_dir && -e $base_dir ]] || return 0
	git worktree remove --force "$base_dir/tree" 2>/dev/null || true
	rm -rf -- "$base_dir" 2>/dev/null || sudo -n rm -rf -- "$base_dir" || say "could not remove $base_dir"
	git worktree prune
}

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

run_candidate() {
	local hash

	git_here || die "not a git tree: the base has to be checked out from it; run this in a clone"
	hash=$(git rev-parse --verify -q 'HEAD^{commit}') || die "this git tree has no commit yet"
	[[ -n $branch ]] || branch=$(git symbolic-ref -q --short HEAD) ||
		die "HEAD is on no branch: name the candidate with --branch"
	[[ $branch != "$main_branch" ]] || bad_usage "the candidate is '$branch' itself; use 'main' or another --branch"
	[[ -n $base_branch ]] || base_branch=$branch-base
	[[ $branch != "$base_branch" ]] || bad_usage "--base-branch and --branch are both '$branch'"
	find_base
	[[ $base_rev != "$hash" ]] || say "the base is this very commit: any difference is noise (or uncommitted work)"

	if ((dry_run)); then
		base_dir=${TMPDIR:-/tmp}/bpfbench-base.XXXXXX
	else
		trap remove_base EXIT
		trap 'exit 130' INT
		trap 'exit 143' TERM
		base_dir=$(mktemp -d "${TMPDIR:-/tmp}/bpfbench-base.XXXXXX")
	fi
	run git worktree add --detach "$base_dir/tree" "$base_rev" >&"$build_out"
	run make -C "$base_dir/tree" all >&"$build_out" || die "the base, $base_rev, does not build"
	run make all >&"$build_out"
	bencher_run "$base_dir/tree" "$base_rev" --branch "$base_branch" --start-point-reset ||
		die "the base, $base_rev, could not be measured or reported; nothing to compare with"
	bencher_run '' "$hash" --branch "$branch" --start-point "$base_branch" --start-point-reset \
		--threshold-measure latency --threshold-test percentage --threshold-upper-boundary "$boundary" \
		--thresholds-reset --err "${comment_flags[@]}"
	run git worktree remove --force "$base_dir/tree"
}

parse_options "$@"
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
# The build's messages are for people; a dry run's lines are the output.
build_out=2
((!dry_run)) || build_out=1
check_tools
check_comment
case $mode in
main) run_main ;;
candidate) run_candidate ;;
esac
