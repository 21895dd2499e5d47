# SPDX-License-Identifier: GPL-2.0-or-later
# What the ring held over time: a line a load, all loads of a variant in its colour.
# Data: ms since the start, bytes; NaN between two loads.
what = "Backlog over time: bytes in the ring that its consumer has not yet taken"
how = "A line for every load of the program. A line that rises is a consumer that does not keep up; where it stays level, the ring is full."

mib(x) = x / 1048576.0
size_text(x) = x < 1024 ? sprintf("%.0f B", x) : x < 1048576 ? sprintf("%.0f KiB", x / 1024) : sprintf("%.1f MiB", mib(x))
array cell1[n_curves]
array cell2[n_curves]
x_max = 0
y_max = 0
do for [k = 1:n_curves] {
	stats file[k] using 1:2 nooutput
	cell1[k] = size_text(STATS_mean_y)
	cell2[k] = size_text(STATS_max_y)
	if (STATS_max_x > x_max) { x_max = STATS_max_x }
	if (STATS_max_y > y_max) { y_max = STATS_max_y }
}
head1 = "mean"
head2 = "most"
key_points = 0
load "caption.gp"
load "key.gp"

set xrange [0 : x_max]
set yrange [0 : y_max > 0 ? 1.08 * mib(y_max) : 1]
set label 5 "in the ring, MiB" at screen y_title_x,screen 0.5 * (top + bottom) center rotate by 90 textcolor rgb ink
set label 6 "time since events were enabled, ms" at screen 0.5 * (left + right),screen x_title_y center textcolor rgb ink
plot for [k = 1:n_curves] file[k] using 1:(mib($2)) with lines linetype type_of(colour[k]) linewidth 1.1 \
	title variant[k] noenhanced
