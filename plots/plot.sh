#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Draws stored runs; see --help. `bpfbench show --format plot` gives the data, figures.awk cuts them into figures, and
# KIND.gp draws each in the look of style.gp.
set -euo pipefail
export LC_ALL=C

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*}
bpfbench=${BPFBENCH:-$root/bpfbench}
results=${RESULTS:-$root/results}
plots=${PLOTS:-$here}

usage() {
	cat <<-'EOF'
	Usage: plots/plot.sh [RUN]...

	Draws stored runs, the latest if none is named: the distribution of every variant (ecdf-*) and cost against stack
	depth (depth-*), as SVG and PNG. Reads stored results only, never measures. With several runs, the names of the
	pictures end with the run's id.

	RUN is a file, an id in the results folder or the beginning of one. `make plot RUN=ID` does the same.
	Environment: RUN, RESULTS (results: where runs are stored), PLOTS (plots: where the pictures go).
	Exit codes: 0 ok, 1 failure, 2 usage.
	EOF
}

die() { printf 'plot.sh: %s\n' "$1" >&2; exit 1; }
say() { printf 'plot.sh: %s\n' "$1" >&2; }

# The PNG terminal of this gnuplot, the better one first; nothing if it has none.
png_terminal() {
	local name known

	known=$(gnuplot -d -e 'print GPVAL_TERMINALS' 2>&1)
	for name in pngcairo png; do
		if [[ " $known " == *" $name "* ]]; then
			printf '%s\n' "$name"
			return
		fi
	done
}

# draw KIND NAME TERMINAL EXTENSION: one picture, whole or not at all.
draw() {
	local kind=$1 name=$2 terminal=$3 out=$2.$4

	# The scripts write to a relative name, so that no path of the user's becomes a word of gnuplot's.
	if ! (cd -- "$tmp" && gnuplot -d -e "terminal = '$terminal'; set output 'picture'" "$name.vars" \
		"style.gp" "$kind.gp") >"$tmp/log" 2>&1 || [[ ! -s $tmp/picture ]]; then
		sed 's/^/  /' "$tmp/log" >&2
		die "gnuplot could not draw $out; what it said is above"
	fi
	mv -f -- "$tmp/picture" "$plots/$out"
	printf '%s\n' "$plots/$out"
}

# plot_run RUN SUFFIX
plot_run() {
	local run=$1 suffix=$2 kind name title kinds=' '

	"$bpfbench" show --results "$results" --format plot -- "$run" >"$tmp/data" || exit 1
	awk -v suffix="$suffix" -f "$here/figures.awk" "$tmp/data" "$tmp/data"
}

case ${1:-} in
--help | -h) usage; exit 0 ;;
-*) printf 'plot.sh: unknown option %s; see --help\n' "$1" >&2; exit 2 ;;
esac
