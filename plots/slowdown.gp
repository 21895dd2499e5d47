# SPDX-License-Identifier: GPL-2.0-or-later
# What being sampled costs the target, against the rate: a line a sampler, both axes log, overhead in percent.
# Data: Hz, time of the command as a ratio to its time unsampled, lower and upper end of the interval.
set label 2 "Slowdown of the sampled command against the sampling rate"
set label 3 "Median over loads of time sampled / time alone, with its 95 % interval. Below 0.01 % is drawn at 0.01 %."

overhead(r) = r - 1 > 1e-4 ? 100 * (r - 1) : 0.01
array cell1[n_curves]
array cell2[n_curves]
x_min = 1e9
x_max = 0
y_max = 1
do for [k = 1:n_curves] {
	stats file[k] using 1:(overhead($2)) nooutput
	cell1[k] = sprintf("%.2f %%", STATS_min_y)
	cell2[k] = sprintf("%.1f %%", STATS_max_y)
	if (STATS_min_x < x_min) { x_min = STATS_min_x }
	if (STATS_max_x > x_max) { x_max = STATS_max_x }
	if (STATS_max_y > y_max) { y_max = STATS_max_y }
}
head1 = "least"
head2 = "most"
key_points = 1
load "key.gp"

set logscale xy
set xrange [0.8 * x_min : 1.25 * x_max]
set yrange [0.01 : 2 * y_max]
set format x "%.0f"
set format y "%g %%"
set label 5 "slowdown (log scale)" at screen y_title_x,screen 0.5 * (top + bottom) center rotate by 90 textcolor rgb ink
set label 6 "sampling rate, Hz (log scale)" at screen 0.5 * (left + right),screen x_title_y center textcolor rgb ink
plot for [k = 1:n_curves] file[k] using 1:(overhead($2)):(overhead($3)):(overhead($4)) with yerrorlines \
	linetype type_of(colour[k]) title variant[k] noenhanced
