# SPDX-License-Identifier: GPL-2.0-or-later
# Cost against the number of entries in the filled maps: a line a variant, with the interval of each point; log axis of entries.
# Below the axis stands the memory of these maps: size[n_sizes] are all numbers of entries, bytes[] has n_bytes rows of n_sizes
# values, and row r is of curve bytes_of[r] and of those whose maps take the same.
# Data: entries, ns, lower and upper end of the interval (the value itself where there is none).
what = of_run . " against the entries of its maps"
of_what = timed
how = "Points: latency; bars: its 95 % interval." . floor_note . (n_bytes ? " Below: memory of the maps" . \
	(n_bytes > 1 ? ", by colour." : ".") : "")

array from[n_curves]
array to[n_curves]
array cell1[n_curves]
array cell2[n_curves]
x_min = 1e12
x_max = 1
y_max = 1
do for [k = 1:n_curves] {
	stats file[k] using 1:2 nooutput
	from[k] = STATS_min_x
	to[k] = STATS_max_x
	if (STATS_min_x < x_min) { x_min = STATS_min_x }
	if (STATS_max_x > x_max) { x_max = STATS_max_x }
	stats file[k] using 4 nooutput
	if (STATS_max > y_max) { y_max = STATS_max }
}
# The key has the time at both ends of the axis.
do for [k = 1:n_curves] {
	cell1[k] = "-"
	cell2[k] = "-"
	if (from[k] == x_min) {
		stats file[k] using ($1 == x_min ? $2 : NaN) nooutput
		cell1[k] = time_text(STATS_min)
	}
	if (to[k] == x_max) {
		stats file[k] using ($1 == x_max ? $2 : NaN) nooutput
		cell2[k] = time_text(STATS_min)
	}
}
head1 = sprintf("at %.0f", x_min)
head2 = sprintf("at %.0f", x_max)
key_points = 1
load "caption.gp"
load "key.gp"

set logscale x
apart(k) = 1.015 ** (k - 0.5 * (n_curves + 1))
set xrange [0.75 * x_min : 1.35 * x_max]
set yrange [-0.03 * y_max : 1.05 * y_max]
set mytics 2
set xtics ()
set mxtics 1
# A tic for each size that has room for its text.
px_of(x) = (right - left) * width * log(x) / log(1.8 * x_max / x_min)
byte_text(b) = b < 999.5 ? sprintf("%.0f B", b) : b < 999.5e3 ? scaled(b / 1e3, "kB") : b < 999.5e6 ? scaled(b / 1e6, "MB") : scaled(b / 1e9, "GB")
last_px = -1e9
do for [s = 1:n_sizes] {
	if (px_of(size[s]) - last_px >= 58) {
		last_px = px_of(size[s])
		set xtics add (sprintf("%.0f", size[s]) size[s])
		do for [r = 1:n_bytes] {
			b = bytes[(r - 1) * n_sizes + s]
			words = b == b ? byte_text(b) : ""
			nth = 3000 + 100 * r + s
			hue = n_bytes > 1 && colour[bytes_of[r]] ? palette[(colour[bytes_of[r]] - 1) % 7 + 1] : ink
			label_y = bottom - (22 + 15.0 * r) / height
			set label nth words at first size[s],screen label_y center font font(11)
			set label nth textcolor rgb hue
		}
	} else {
		set xtics add ("" size[s])
	}
}
set format y "%.0f"
set label 5 run_axis at screen y_title_x,screen 0.5 * (top + bottom) center rotate by 90 textcolor rgb ink
set label 6 "entries (log scale)" at screen 0.5 * (left + right),screen x_title_y center textcolor rgb ink
plot for [k = 1:n_curves] file[k] using ($1 * apart(k)):2 with linespoints linetype type_of(colour[k]) \
		title variant[k] noenhanced, \
	for [k = 1:n_curves] file[k] using ($1 * apart(k)):3:(0):($4 - $3) with vectors heads size screen 3.5 / width,90 \
		linetype type_of(colour[k]) linewidth 1.2 dashtype 1 title ""
