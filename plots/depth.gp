# SPDX-License-Identifier: GPL-2.0-or-later
# Cost against stack depth: a point and its interval for every depth, and the line through them, intercept + slope x depth
# by least squares; the slope is what one more frame costs.
# Data: depth, ns, lower and upper end of the interval (the value itself where there is none).
what = of_run . " against stack depth"
of_what = timed
how = "Points: latency; bars: its 95 % interval. Lines: least squares." . floor_note

# Less than a twentieth of a ns is nothing, and not "-0.0". A line needs two depths.
slope_text(s) = abs(s) < 0.05 ? "0.0 ns" : sprintf("%.1f ns", s)
array slope[n_curves]
array intercept[n_curves]
array cell1[n_curves]
array cell2[n_curves]
x_max = 1
y_max = 1
do for [k = 1:n_curves] {
	slope[k] = NaN
	intercept[k] = NaN
	cell1[k] = "-"
	cell2[k] = "-"
	if (points[k] > 1) {
		stats file[k] using 1:2 nooutput
		slope[k] = STATS_slope
		intercept[k] = STATS_intercept
		cell1[k] = slope_text(STATS_slope)
		cell2[k] = time_text(STATS_intercept)
	}
	stats file[k] using 1:4 nooutput
	if (STATS_max_x > x_max) { x_max = STATS_max_x }
	if (STATS_max_y > y_max) { y_max = STATS_max_y }
}
head1 = "per frame"
head2 = "intercept"
key_points = 1
load "caption.gp"
load "key.gp"

# Points that would lie upon one another are set apart: neighbours in the key by three pixels, in turns of four.
x_end = 1.06 * x_max
n_turns = n_curves < 4 ? n_curves : 4
apart(k) = ((k - 1) % 4 - 0.5 * (n_turns - 1)) * 3 * x_end / ((right - left) * width)

set xrange [0 : x_end]
set yrange [-0.03 * y_max : 1.05 * y_max]
set mxtics 2
set mytics 2
set format y "%.0f"
set label 5 run_axis at screen y_title_x,screen 0.5 * (top + bottom) center rotate by 90 textcolor rgb ink
set label 6 "stack depth, frames" at screen 0.5 * (left + right),screen x_title_y center textcolor rgb ink
set samples 2
# Vectors with flat heads, as error bars wipe out what is around their marks.
plot for [k = 1:n_curves] intercept[k] + slope[k] * x with lines linetype type_of(colour[k]) \
		title variant[k] noenhanced, \
	for [k = 1:n_curves] file[k] using ($1 + apart(k)):3:(0):($4 - $3) with vectors heads size screen 3.5 / width,90 \
		linetype type_of(colour[k]) linewidth 1.2 dashtype 1 title variant[k] noenhanced, \
	for [k = 1:n_curves] file[k] using ($1 + apart(k)):2 with points linetype type_of(colour[k]) title variant[k] noenhanced
