#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the benches of bpfbench itself. Called by `make bench-self`; see --help.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
O=${O:-build}
export O
all=(step test_run fire hook slope consumer fdinfo memory list history bmf default aa stats compare exact profile lines)
# These benches take minutes, so they run only if named.
long=(repeat tracked inside inputs map_memory)
# These benches load BPF programs.
needs_root=' step test_run fire hook slope consumer fdinfo default aa compare exact profile lines repeat tracked inside inputs map_memory '
child=''

usage() {
	cat <<-EOF
	Usage: harness/tests/bench/run.sh [NAME]...

	Measures how fast and how small bpfbench itself is, ratios side by side in one run, and prints a table: what, the
	bound it is held to, the figure, ok or MISS. All of it, or those that are named: ${all[*]};
	and only by name: ${long[*]} (harness/tests/bench/bench_NAME.c says which environment variables they read).

	Environment: O, the build folder (build). Needs root for:$needs_root
	Exit codes: 0 every bound held, 1 one was missed or could not be measured, 2 usage.
	EOF
}

case ${1:-} in
--help | -h) usage; exit 0 ;;
-*) printf 'run.sh: unknown option %s; see --help\n' "$1" >&2; exit 2 ;;
esac
for name in "$@"; do
	if [[ " ${all[*]} ${long[*]} " != *" $name "* ]]; then
		printf 'run.sh: no such bench: %s; there are: %s\n' "$name" "${all[*]} ${long[*]}" >&2
		exit 2
	fi
done

scratch=$(mktemp -d "${TMPDIR:-/tmp}/bpfbench-self.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT
# A bpfbench that is stopped midway still stores its results, so the scratch folder is removed a second later.
trap '[[ -z $child ]] || kill "$child" 2>/dev/null || true; sleep 1; exit 130' INT TERM

if [[ -t 1 ]]; then red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'; else red='' green='' plain=''; fi
held=0 missed=0 skipped=0

row() {
	local colour=''

	case $4 in
	ok) held=$((held + 1)) colour=$green ;;
	MISS | FAIL) missed=$((missed + 1)) colour=$red ;;
	skip) skipped=$((skipped + 1)) ;;
	esac
	printf '%-61s  %-15s  %-39s  %s\n' "$1" "$2" "$3" "$colour$4${4:+$plain}"
}

# run_one NAME: runs a bench and prints its rows as they come, and one more if it fails.
run_one() {
	local name=$1 program=$O/bench/bench_$1 line what bound measured verdict status=0

	if [[ $needs_root == *" $name "* && $EUID != 0 ]]; then
		row "$name" '' 'needs root: sudo make bench-self' skip
		return
	fi
	if [[ ! -x $program ]]; then
		row "$name" '' "$program is not built: make bench-self" FAIL
		return
	fi
	exec {rows}< <(exec "$program" "$scratch")
	child=$!
	while IFS= read -r line <&"$rows"; do
		# Not split by IFS, which takes several tabs as one.
		what=${line%%$'\t'*} line=${line#*$'\t'}
		bound=${line%%$'\t'*} line=${line#*$'\t'}
		measured=${line%%$'\t'*} verdict=${line#*$'\t'}
		row "$what" "$bound" "$measured" "$verdict"
	done
	exec {rows}<&-
	wait "$child" || status=$?
	child=''
	((status == 0)) || row "$name" '' "it failed, see above: exit code $status" FAIL
}

started=$SECONDS
printf '%-61s  %-15s  %-39s  %s\n' what bound measured ''
for name in "${@:-"${all[@]}"}"; do
	run_one "$name"
done
printf '\n%d held, %d missed, %d skipped, in %d s on %s\n' "$held" "$missed" "$skipped" $((SECONDS - started)) \
	"$(nproc) CPUs, kernel $(uname -r)"
((missed == 0 && held > 0))
