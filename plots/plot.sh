#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Draws stored runs; see --help. `bpfbench show --format plot` gives the data, figures.awk cuts them into figures, and
# KIND.gp draws each in the look of style.gp. README.md lists the kinds.
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
page=0 n_drawn=0

usage() {
	cat <<-'EOF'
	Usage: plots/plot.sh [RUN]...

	Draws stored runs as SVG and PNG, into plots/: RUN, or the newest of each scenario, the newest comparison, and
	the history of all. plots/README.md says what the figures show. Reads stored results only, never measures.
	Prints the names of the pictures; with several RUN they end with the run's id. What the call before has drawn
	is replaced: a picture of a run that is gone does not stay.

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

# draw KIND NAME TITLE TERMINAL EXTENSION: one picture into $tmp/pictures, whole or not at all.
draw() {
	local kind=$1 name=$2 title=$3 terminal=$4 file=$2.$5

	# In the C locale gnuplot warns of a degree sign that nobody has asked for.
	if ! (cd -- "$tmp" && LC_ALL=C.UTF-8 gnuplot -d -e "terminal = '$terminal'; page = $page; set output 'picture'" \
		"$name.vars" style.gp "$kind.gp") >"$tmp/log" 2>&1 || [[ ! -s $tmp/picture ]]; then
		sed 's/^/  /' "$tmp/log" >&2
		die "gnuplot could not draw $file; what it said is above"
	fi
	if [[ -s $tmp/log ]]; then
		sed 's/^/  /' "$tmp/log" >&2
		say "gnuplot drew $file, but what it said is above"
	fi
	# A title for those who hear the picture, none for curves without a name, and fonts for those who have no DejaVu.
	if [[ $terminal == svg ]]; then
		title=$(printf '%s' "$kind: $title" | sed -e 's/&/\&amp;/g; s/</\&lt;/g; s/[\\&|]/\\&/g')
		sed -e "s|<title>Gnuplot</title>|<title>$title</title>|" -e 's|<title>gnuplot_plot_[0-9]*</title>||' \
			-e 's/font-family="DejaVu Sans"/font-family="DejaVu Sans, Verdana, sans-serif"/' \
			"$tmp/picture" >"$tmp/titled"
		mv -f -- "$tmp/titled" "$tmp/picture"
	fi
	mv -f -- "$tmp/picture" "$tmp/pictures/$file"
	((!page)) || mv -f -- "$tmp/caption" "$tmp/pictures/$name.caption"
}

# draw_list WHAT: the figures that $tmp/list names, and that no newer run has. Why a kind is not drawn is said of a run
# that was asked for.
draw_list() {
	local what=$1 kind name title

	while IFS=$'\t' read -r kind name title _; do
		if [[ $name == - ]]; then
			((!named)) || say "$what: no $kind plot: $title"
			continue
		fi
		[[ ! -e $tmp/pictures/$name.svg ]] || continue
		draw "$kind" "$name" "$title" svg svg
		[[ -z $png ]] || draw "$kind" "$name" "$title" "$png" png
		n_drawn=$((n_drawn + 1))
	done <"$tmp/list"
}

# plot_run RUN SUFFIX
plot_run() {
	local run=$1 suffix=$2

	if ! "$bpfbench" show --results="$results" --format=plot -- "$run" >"$tmp/data"; then
		((!named)) || exit 1
		return 0	# others can be read; show has said what is wrong
	fi
	(cd -- "$tmp" && awk -v dir=. -v colours=colours -v suffix="$suffix" -v brief="$((!named))" \
		-f shared.awk -f figures.awk data data >list)
	draw_list "run $run"
}

# Every variant over all stored runs, once there are two.
plot_history() {
	(($(stored | wc -l) > 1)) || return 0
	"$bpfbench" history --results="$results" --format=tsv >"$tmp/history" || return 0
	(cd -- "$tmp" && awk -v dir=. -v colours=colours -f shared.awk -f history.awk history >list)
	draw_list history
}

# For `bpfbench report`, which has written into DIR what there is to draw of a run: `data` (show --format plot) and `history`
# (history --format tsv), with the run's id in `id`. Puts the pictures for a page into DIR/pictures, each with a file .caption
# of what it shows and how to read it, and their list into DIR/figures.
draw_page() {
	tmp=$1 page=1 png='' named=0
	mkdir -- "$tmp/pictures"
	cp -- "$here"/*.gp "$here"/*.awk "$tmp"
	: >"$tmp/figures"
	(cd -- "$tmp" && awk -v dir=. -v colours=colours -f shared.awk -f figures.awk data data >list)
	draw_list 'the run'
	cat -- "$tmp/list" >>"$tmp/figures"
	(cd -- "$tmp" && awk -v dir=. -v colours=colours -v this="$(<id)" -v most_tics=4 -f shared.awk -f history.awk history >list)
	draw_list history
	cat -- "$tmp/list" >>"$tmp/figures"
}

# The paths of the stored runs, the newest first. schema.json is there in any case.
stored() { compgen -G "$results/*.json" | grep -v '/schema\.json$' | sort -r; }

# Of each scenario (an id is TIME-SCENARIO-NUMBER) the newest.
newest() {
	local path name

	while IFS= read -r path; do
		name=${path##*/}
		name=${name#*-}
		name=${name%-*}
		[[ -n ${seen[$name]:-} ]] || printf '%s\n' "$path"
		seen[$name]=1
	done < <(stored)
}

# All pictures are there: what was drawn before goes, and they come.
publish() {
	local file

	(cd -- "$tmp/pictures" && printf '%s\n' *) >"$tmp/drawn"
	if [[ -f $plots/.drawn ]]; then
		while IFS= read -r file; do
			[[ ! $file =~ ^[A-Za-z0-9._=-]+\.(svg|png)$ || -e $tmp/pictures/$file ]] || rm -f -- "$plots/$file"
		done <"$plots/.drawn"
	fi
	mv -f -- "$tmp/pictures"/* "$plots"
	mv -f -- "$tmp/drawn" "$plots/.drawn"
	sed "s|^|$plots/|" "$plots/.drawn"
}

case ${1:-} in
--help | -h) usage; exit 0 ;;
--page) (($# == 2)) || die '--page takes a folder' ;;
-*) printf 'plot.sh: unknown option %s; see --help\n' "$1" >&2; exit 2 ;;
esac
command -v gnuplot >/dev/null ||
	die "gnuplot is missing; install the package gnuplot-nox: sudo apt-get install gnuplot-nox"
if [[ ${1:-} == --page ]]; then
	draw_page "$2"
	exit
fi
[[ -x $bpfbench ]] || die "$bpfbench is missing; build it: make"
declare -A seen
read -ra runs <<<"${RUN:-}"
(($# == 0)) || runs=("$@")
named=$((${#runs[@]} > 0))
if ((!named)); then
	mapfile -t runs < <(newest)
	((${#runs[@]})) || die "no run is stored in $results; make one: sudo ./bpfbench --scenario perf_profiler"
fi
# In the same file system as the pictures, so that they are renamed, not copied.
if ! mkdir -p -- "$plots" 2>/dev/null || ! tmp=$(mktemp -d -- "$plots/.plot.XXXXXX" 2>/dev/null); then
	die "$plots: cannot write there; PLOTS=DIR draws elsewhere"
fi
trap 'rm -rf -- "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$tmp/pictures"
cp -- "$here"/*.gp "$here"/*.awk "$tmp"
png=$(png_terminal)
[[ -n $png ]] || say "this gnuplot draws no PNG, only SVG; the package gnuplot-nox has both"
for run in "${runs[@]}"; do
	suffix=''
	if ((named && ${#runs[@]} > 1)); then
		suffix=${run##*/}
		suffix=-${suffix%.json}
	fi
	plot_run "$run" "$suffix"
done
((n_drawn)) || die "nothing to draw in ${runs[*]}"
plot_history
publish
