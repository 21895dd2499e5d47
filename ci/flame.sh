#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Draws flame graphs of perf_profiler's consumer, with and without its planted bug. Called by `make flame`.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
O=${O:-build}
PLOTS=${PLOTS:-plots}
SECONDS_EACH=${SECONDS_EACH:-5}

usage() {
	cat <<-'EOT'
	Usage: ci/flame.sh

	Samples workloads/process_sample with the consumers `oops` and `fixed` by `bpfbench profile --off-cpu`, on the CPU and off
	it, and writes $PLOTS/flame-oops.svg and $PLOTS/flame-fixed.svg, to be opened in a browser. Needs root.

	Environment: O, the build folder (build); PLOTS, where the pictures go (plots); SECONDS_EACH, how long each (5).
	Exit codes: 0 ok, 1 failure, 2 usage.
	EOT
}

case ${1:-} in
'') ;;
--help | -h) usage; exit 0 ;;
*) printf 'flame.sh: unknown argument %s; see --help\n' "$1" >&2; exit 2 ;;
esac
if ((EUID != 0)); then
	printf 'flame.sh: sampling needs root: sudo make flame\n' >&2
	exit 1
fi
mkdir -p -- "$PLOTS"
for consumer in oops fixed; do
	file=$PLOTS/flame-$consumer.svg
	# The number of samples is too large to be reached, so that SECONDS_EACH ends the consumer.
	./bpfbench profile --off-cpu -F 999 --seconds "$SECONDS_EACH" -f flame -o "$file" -- \
		"$O/workloads/process_sample" "$consumer" 100000000000 /dev/null
	chown --reference="$PLOTS" -- "$file"
	printf 'flame graph of process_sample %s: open %s\n' "$consumer" "$file" >&2
done
