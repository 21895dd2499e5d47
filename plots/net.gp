# SPDX-License-Identifier: GPL-2.0-or-later
# What each program costs by itself: a bar a case, the net cost in the variant's colour with its interval; the floor, which
# is not the program's, is a figure beside it, or below if all have the same.
# Data: floor, net, lower and upper end of the net cost's interval, ns.
what = "Net cost: " . sampled . " above the floor"
array cell1[n_curves]
array cell2[n_curves]
x_min = 0
x_max = 0
one_floor = 1
do for [k = 1:n_curves] {
	stats file[k] using 1 nooutput
	cell1[k] = time_text(STATS_min)
	one_floor = one_floor && cell1[k] eq cell1[1]
	stats file[k] using 2 nooutput
	cell2[k] = abs(STATS_min) < 0.005 ? (counts ? "0" : "0 ns") : (STATS_min < 0 ? "−" : "") . time_text(abs(STATS_min))
	stats file[k] using ($4 > $2 ? $4 : $2) nooutput
	if (STATS_max > x_max) { x_max = STATS_max }
	stats file[k] using ($3 < $2 ? $3 : $2) nooutput
	if (STATS_min < x_min) { x_min = STATS_min }
}
if (x_max <= 0) { x_max = 1 }
# If all cases have the same floor, the text below the figure names it, and there is no column of floors.
head1 = one_floor ? "net" : "floor"
head2 = one_floor ? "" : "net"
floor_of_all = one_floor ? " (" . cell1[1] . ")" : ""
if (one_floor) {
	do for [k = 1:n_curves] { cell1[k] = cell2[k]; cell2[k] = "" }
}
load "rows.gp"
how = "Bars: net, the " . (counts ? "instructions above those" : "time above that") . " of the floor" . floor_of_all . ", " . floor_is . ". Whiskers: its 95 % interval."
load "caption.gp"
eval x_axis("net, above the floor")

half = 0.29 * row_px
set style fill solid noborder
set xrange [1.05 * x_min : 1.05 * x_max]
step = (page ? 2 : 1) * nice_step(x_max - x_min)
set xtics ()
do for [t = ceil(1.05 * x_min / step):floor(1.05 * x_max / step)] {
	set xtics add ((t < 0 ? "−" . tic_text(-t * step) : t ? tic_text(t * step) : "0") t * step)
}
# The interval's whiskers have a rim, to be seen on a black bar.
plot for [k = 1:n_curves] file[k] using (0):(at[k]):($2 < 0 ? $2 : 0):($2 > 0 ? $2 : 0):(at[k] - half):(at[k] + half) \
		with boxxyerror linetype type_of(colour[k]) title variant[k] noenhanced, \
	for [w = 0:1] for [k = 1:n_curves] file[k] using 3:(at[k]):($4 - $3):(0) \
		with vectors heads size screen (w ? 3.5 : 4.5) / width,90 linecolor rgb (w ? ink : "#ffffff") \
		linewidth (w ? 1 : 2.6) dashtype 1 title ""
