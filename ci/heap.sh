#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measures the heap use of perf_profiler's consumer, with and without its planted bug. Called by `make heap`.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
O=${O:-build}
HEAP=${HEAP:-$O/heap}
SAMPLES=${SAMPLES:-20}

usage() {
	cat <<-'EOT'
	Usage: ci/heap.sh

	Runs workloads/process_sample under valgrind --tool=dhat with the consumers `oops` and `fixed`, keeps DHAT's files in
	$HEAP, and prints their totals: BMF on stdout, a table and what to open in DHAT's viewer on stderr.

	Environment: O, the build folder (build); HEAP, where the files go ($O/heap); SAMPLES, how many samples (20; with oops
	each takes half a second).
	Exit codes: 0 ok, 1 failure, 2 usage.
	EOT
}

case ${1:-} in
'') ;;
--help | -h) usage; exit 0 ;;
*) printf 'heap.sh: unknown argument %s; see --help\n' "$1" >&2; exit 2 ;;
esac
if ! command -v valgrind >/dev/null; then
	printf 'heap.sh: valgrind is missing; install it: sudo apt-get install valgrind\n' >&2
	exit 1
fi
mkdir -p -- "$HEAP"
files=()
for consumer in oops fixed; do
	file=$HEAP/process_sample-$consumer.dhat.json
	if ! valgrind --tool=dhat --dhat-out-file="$file.tmp" "$O/workloads/process_sample" "$consumer" "$SAMPLES" \
		>/dev/null 2>"$HEAP/valgrind.log"; then
		cat -- "$HEAP/valgrind.log" >&2
		printf 'heap.sh: valgrind failed; what it said is above\n' >&2
		exit 1
	fi
	mv -f -- "$file.tmp" "$file"
	files+=("process_sample/$consumer/heap=$file")
done
./bpfbench heap --bmf -- "${files[@]}"
viewer=$(sed -nE 's|.*(file:///.*dh_view.html).*|\1|p' "$HEAP/valgrind.log")
printf 'every allocation: open %s and load %s/process_sample-oops.dhat.json\n' "${viewer:-DHAT\'s dh_view.html}" "$HEAP" >&2
