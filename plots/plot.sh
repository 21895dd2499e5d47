#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Draws stored runs; see --help. `bpfbench show --format plot` gives the data, figures.awk cuts them into figures, and
# KIND.gp draws each in the look of style.gp.
set -euo pipefail
export LC_ALL=C

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*}
if [[ -d $root/harness ]]; then	# in the tree
	bpfbench=$root/bpfbench results=$root/results plots=$here
else	# installed: PREFIX/share/bpfbench/plots
	bpfbench=${root%/share/*}/bin/bpfbench results=results plots=plots
fi
bpfbench=${BPFBENCH:-$bpfbench}
results=${RESULTS:-$results}
plots=${PLOTS:-$plots}

usage() {
	cat <<-'EOF'
	Usage: plots/plot.sh [RUN]...

	Draws stored runs, the latest if none is named: the distribution of every variant (ecdf-*), cost against stack
	depth (depth-*), a ring's backlog over time (backlog-*), slowdown against the rate (slowdown-*), as SVG and PNG. Reads stored results only, never measures. Prints the names of the pictures; with
	several runs they end with the run's id.

	RUN is a file, an id in the results folder or the beginning of one. `make plot RUN=ID` does the same.
	Environment: RUN, RESULTS (where runs are stored, results), PLOTS (where the pictures go, plots), BPFBENCH.
	Exit codes: 0 ok, 1 failure, 2 usage.
	EOF
}

say() { printf 'plot.sh: %s\n' "$1" >&2; }
die() { say "$1"; exit 1; }

# The better PNG terminal of this gnuplot; nothing if it has none.
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

# draw KIND NAME TITLE TERMINAL EXTENSION: one picture, whole or not at all.
draw() {
	local kind=$1 name=$2 title=$3 terminal=$4 file=$2.$5

	if ! (cd -- "$tmp" && gnuplot -d -e "terminal = '$terminal'; set output 'picture'" \
		"$name.vars" style.gp "$kind.gp") >"$tmp/log" 2>&1 || [[ ! -s $tmp/picture ]]; then
		sed 's/^/  /' "$tmp/log" >&2
		die "gnuplot could not draw $file; what it said is above"
	fi
	# A title for those who hear the picture, and fonts for those who have no DejaVu.
	if [[ $terminal == svg ]]; then
		title=$(printf '%s' "$kind: $title" | sed -e 's/&/\&amp;/g; s/</\&lt;/g; s/[\\&|]/\\&/g')
		sed -e "s|<title>Gnuplot</title>|<title>$title</title>|" \
			-e 's/font-family="DejaVu Sans"/font-family="DejaVu Sans, Verdana, sans-serif"/' \
			"$tmp/picture" >"$tmp/titled"
		mv -f -- "$tmp/titled" "$tmp/picture"
	fi
	mv -f -- "$tmp/picture" "$plots/$file"
	printf '%s\n' "$plots/$file"
}

# draw_list WHAT: the figures that $tmp/list names; fails if there are none.
draw_list() {
	local what=$1 kind name title drawn=0

	while IFS=$'\t' read -r kind name title; do
		if [[ $name == - ]]; then
			say "$what: no $kind plot: $title"
			continue
		fi
		draw "$kind" "$name" "$title" svg svg
		[[ -z $png ]] || draw "$kind" "$name" "$title" "$png" png
		drawn=1
	done <"$tmp/list"
	((drawn))
}

# plot_run RUN SUFFIX
plot_run() {
	local run=$1 suffix=$2

	"$bpfbench" show --results="$results" --format=plot -- "$run" >"$tmp/data" || exit 1
	(cd -- "$tmp" && awk -v dir=. -v suffix="$suffix" -f figures.awk data data >list)
	draw_list "run $run" || die "run $run: nothing to draw"
}

# Every variant over all stored runs, once there are two.
plot_history() {
	(($(compgen -G "$results/*.json" | grep -cv '/schema\.json$') > 1)) || return 0
	"$bpfbench" history --results="$results" --format=tsv >"$tmp/history" || return 0
	(cd -- "$tmp" && awk -v dir=. -f history.awk history >list)
	draw_list history || true
}

case ${1:-} in
--help | -h) usage; exit 0 ;;
-*) printf 'plot.sh: unknown option %s; see --help\n' "$1" >&2; exit 2 ;;
esac
command -v gnuplot >/dev/null ||
	die "gnuplot is missing; install the package gnuplot-nox: sudo apt-get install gnuplot-nox"
[[ -x $bpfbench ]] || die "$bpfbench is missing; build it: make"
read -ra runs <<<"${RUN:-}"
(($# == 0)) || runs=("$@")
if ((${#runs[@]} == 0)); then
	# schema.json is there in any case.
	compgen -G "$results/*.json" | grep -qv '/schema\.json$' ||
		die "no run is stored in $results; make one: sudo ./bpfbench --scenario perf_profiler"
	runs=(latest)
fi
# In the same file system as the pictures, so that they are renamed, not copied.
if ! mkdir -p -- "$plots" 2>/dev/null || ! tmp=$(mktemp -d -- "$plots/.plot.XXXXXX" 2>/dev/null); then
	die "$plots: cannot write there; PLOTS=DIR draws elsewhere"
fi
trap 'rm -rf -- "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cp -- "$here"/*.gp "$here"/*.awk "$tmp"
png=$(png_terminal)
[[ -n $png ]] || say "this gnuplot draws no PNG, only SVG; the package gnuplot-nox has both"
for run in "${runs[@]}"; do
	suffix=''
	if ((${#runs[@]} > 1)); then
		suffix=${run##*/}
		suffix=-${suffix%.json}
	fi
	plot_run "$run" "$suffix"
done
plot_history
