# SPDX-License-Identifier: GPL-2.0-or-later
# Time against the input: a point for every input of every variant, log axis, so that programs of all prices are seen.
# Data: input (its number), ns, lower and upper end of the interval, name of the input.
what = of_run . " against the input"
of_what = timed
how = "A point an input: latency." . (has_floor ? " Grey: the floor, " . floor_is . "." : "")

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
key_points = 1
load "caption.gp"
load "key.gp"

set xrange [x_min - 0.01 * (x_max - x_min) : x_max + 0.01 * (x_max - x_min)]
set logscale y
set yrange [0.8 * (y_min < 1 ? 1 : y_min) : 1.25 * y_max]
set mytics 10
set format y "%.0f"
set label 5 run_axis . " (log scale)" at screen y_title_x,screen 0.5 * (top + bottom) center rotate by 90 textcolor rgb ink
set label 6 "input" at screen 0.5 * (left + right),screen x_title_y center textcolor rgb ink
names_of_tics = ""
if (has_names) {
	set datafile separator tab
	set xtics rotate by 90 right ()
	names_of_tics = ":xtic(5)"
}
dot = mark_size * (points[1] > 100 ? 0.5 : 1)
plot for [k = 1:n_curves] file[k] using 1:2 with points linetype type_of(colour[k]) pointsize dot title variant[k] noenhanced, \
	file[1] using 1:2@names_of_tics with points linetype type_of(colour[1]) pointtype 0 title ""
