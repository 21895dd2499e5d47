# SPDX-License-Identifier: GPL-2.0-or-later
# Cost against the input: a point for every input of every variant, log axis, so that programs of all prices are seen.
# Data: input (its number), ns, lower and upper end of the interval.
what = "Cost of one run against the input, " . timed
how = "Points: mean over the places of the code (median over loads where these are not known), joined. Grey, dashed: the floor, an empty program."

array cell1[n_curves]
array cell2[n_curves]
x_min = 1e9
x_max = 0
y_min = 1e12
y_max = 1
do for [k = 1:n_curves] {
	stats file[k] using 1:2 nooutput
	cell1[k] = time_text(STATS_min_y)
	cell2[k] = time_text(STATS_max_y)
	if (STATS_min_x < x_min) { x_min = STATS_min_x }
	if (STATS_max_x > x_max) { x_max = STATS_max_x }
	if (STATS_min_y < y_min) { y_min = STATS_min_y }
	if (STATS_max_y > y_max) { y_max = STATS_max_y }
}
head1 = "least"
head2 = "most"
key_points = 0
load "caption.gp"
load "key.gp"

set xrange [x_min - 0.01 * (x_max - x_min) : x_max + 0.01 * (x_max - x_min)]
set logscale y
set yrange [0.8 * (y_min < 1 ? 1 : y_min) : 1.25 * y_max]
set mytics 10
set format y "%.0f"
set label 5 "time of one run, ns (log scale)" at screen y_title_x,screen 0.5 * (top + bottom) center rotate by 90 textcolor rgb ink
set label 6 "input" at screen 0.5 * (left + right),screen x_title_y center textcolor rgb ink
plot for [k = 1:n_curves] file[k] using 1:2 with lines linetype type_of(colour[k]) linewidth 1.1 title variant[k] noenhanced
