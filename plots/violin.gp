# SPDX-License-Identifier: GPL-2.0-or-later
# The distribution of each case as a violin with a box in it, a row each, on one log axis.
# Data: index 0: the outline, ns and height; 1: the quantiles 5, 25, 50, 75, 95 %; 2: points, ns.
what = "Shape of the distribution of the " . sampled . (sample eq "run" ? ", " . timed : "")
how = "Outline: density of log time, 1 to 99 % of the samples, all of one height. " . \
	"Box: middle half (IQR). Line: 5 to 95 %. Dot: median. Points: samples, if fewer than 50."

array cell1[n_curves]
array cell2[n_curves]
x_min = 1e300
x_max = 0
do for [k = 1:n_curves] {
	stats file[k] index 1 using ($4 - $2) nooutput
	cell1[k] = time_text(p50[k])
	cell2[k] = time_text(STATS_min)
	do for [b = 0:3] {
		stats file[k] index (b > 2 ? 1 : b) using (b > 2 ? $5 : $1) nooutput
		if (STATS_min < x_min) { x_min = STATS_min }
		if (STATS_max > x_max) { x_max = STATS_max }
	}
}
head1 = "median"
head2 = "IQR"
load "caption.gp"
load "rows.gp"

set logscale x
x_min = 0.95 * x_min
x_max = 1.05 * x_max
load "time_axis.gp"
eval x_axis(sampled . " (log scale)")
half = 0.45 * row_px
set style fill transparent solid 0.35 noborder
plot for [k = 1:n_curves] file[k] index 0 using 1:(at[k] - half * $2):(at[k] + half * $2) with filledcurves \
		linetype type_of(colour[k]) title variant[k] noenhanced, \
	for [k = 1:n_curves] for [s = -1:1:2] file[k] index 0 using 1:(at[k] + s * half * $2) with lines \
		linetype type_of(colour[k]) linewidth 0.8 dashtype 1 title "", \
	for [k = 1:n_curves] file[k] index 1 using 1:(at[k]):($5 - $1):(0) with vectors nohead linecolor rgb ink \
		linewidth 1 dashtype 1 title "", \
	for [k = 1:n_curves] file[k] index 1 using 2:(at[k]):($4 - $2):(0) with vectors nohead linecolor rgb ink \
		linewidth 5 dashtype 1 title "", \
	for [k = 1:n_curves] file[k] index 2 using 1:(at[k]) with points linetype type_of(colour[k]) pointtype 7 title "", \
	for [k = 1:n_curves] file[k] index 1 using 3:(at[k]) with points linecolor rgb ink pointtype 7 \
		pointsize mark_size title "", \
	for [k = 1:n_curves] file[k] index 1 using 3:(at[k]) with points linecolor rgb "#ffffff" pointtype 7 \
		pointsize 0.55 * mark_size title ""
