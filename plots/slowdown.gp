# SPDX-License-Identifier: GPL-2.0-or-later
# What being sampled costs the target, against the rate: a line a sampler, overhead in percent. The rate's axis is log; the
# other one is too, unless noise makes an overhead negative.
# Data: Hz, time of the command in percent above its time unsampled, lower and upper end of the interval.
what = "Slowdown of the sampled command against the sampling rate"
how = "Points: median over loads of time sampled / time alone; bars: its 95 % interval."

least = 0.1
array cell1[n_curves]
array cell2[n_curves]
x_min = 1e9
x_max = 0
y_min = 0
y_max = 1
do for [k = 1:n_curves] {
	stats file[k] using 2 nooutput
	cell1[k] = signed("%+.1f %%", STATS_min)
	cell2[k] = signed("%+.1f %%", STATS_max)
	if (STATS_min < y_min) { y_min = STATS_min }
	stats file[k] using 1 nooutput
	if (STATS_min < x_min) { x_min = STATS_min }
	if (STATS_max > x_max) { x_max = STATS_max }
	stats file[k] using 4 nooutput
	if (STATS_max > y_max) { y_max = STATS_max }
}
is_log = y_min == 0
do for [k = 1:n_curves] {
	stats file[k] using 3 nooutput
	if (STATS_min < y_min) { y_min = STATS_min }
}
if (is_log) { how = how . " Open triangles: below 0.1 %." }
head1 = "least"
head2 = "most"
key_points = 1
load "caption.gp"
load "key.gp"

set logscale x
apart(k) = 1.015 ** (k - 0.5 * (n_curves + 1))
set xrange [0.75 * x_min : 1.35 * x_max]
if (is_log) {
	set logscale y
	set yrange [least : 1.3 * y_max]
} else {
	least = -1e9	# nothing is below the axis
	set yrange [y_min - 0.06 * (y_max - y_min) : y_max + 0.06 * (y_max - y_min)]
	set arrow 1 from graph 0,first 0 to graph 1,first 0 nohead back linecolor rgb faint linewidth 0.8
}
set format x "%.0f"
set format y "%g %%"
set label 5 "slowdown" . (is_log ? " (log scale)" : "") at screen y_title_x,screen 0.5 * (top + bottom) center rotate by 90 \
	textcolor rgb ink
set label 6 "sampling rate, Hz (log scale)" at screen 0.5 * (left + right),screen x_title_y center textcolor rgb ink
from(percent) = percent > least ? percent : least
plot for [k = 1:n_curves] file[k] using ($1 * apart(k)):($2 > least ? $2 : NaN) with linespoints \
		linetype type_of(colour[k]) title variant[k] noenhanced, \
	for [k = 1:n_curves] file[k] using ($1 * apart(k)):(from($3)):(0):($4 > least ? $4 - from($3) : NaN) with vectors \
		heads size screen 3.5 / width,90 linetype type_of(colour[k]) linewidth 1.2 dashtype 1 title "", \
	for [k = 1:n_curves] file[k] using ($1 * apart(k)):($2 > least ? NaN : least) with points \
		linetype type_of(colour[k]) pointtype 10 pointsize 1.4 * mark_size title ""
