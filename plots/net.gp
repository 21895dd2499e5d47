# SPDX-License-Identifier: GPL-2.0-or-later
# What each program costs by itself: a bar a case, the floor's part in grey, the net cost in the variant's colour, and the
# interval of the net cost. A second panel has the near end of the axis, where some bars would be too short to be seen.
# Data: floor, net, lower and upper end of the net cost's interval, ns.
what = "Floor and net of the " . sampled
array cell1[n_curves]
array cell2[n_curves]
array ends[n_curves]
x_max = 0
do for [k = 1:n_curves] {
	stats file[k] using 1 nooutput
	cell1[k] = time_text(STATS_min)
	stats file[k] using 2 nooutput
	cell2[k] = abs(STATS_min) < 0.005 ? "0 ns" : (STATS_min < 0 ? "−" : "") . time_text(abs(STATS_min))
	stats file[k] using ($1 + ($4 > $2 && $4 > 0 ? $4 : $2 > 0 ? $2 : 0)) nooutput
	ends[k] = STATS_max
	if (ends[k] > x_max) { x_max = ends[k] }
}
head1 = "floor"
head2 = "net"
load "rows.gp"

# The near end: up to the widest gap between the lengths of bars (as a ratio), if most of the picture is beyond it.
x_near = 0
widest = 1.5
do for [k = 1:n_curves] {
	longer = x_max
	do for [i = 1:n_curves] { if (ends[i] > ends[k] && ends[i] < longer) { longer = ends[i] } }
	if (longer > widest * ends[k] && x_max > 5 * ends[k]) {
		widest = longer / ends[k]
		x_near = ends[k]
	}
}
array panel_end[2] = [x_near > 0 ? 1.15 * x_near : 1.05 * x_max, 1.05 * x_max]
n_panels = x_near > 0 ? 2 : 1
how = "Grey: the floor, " . floor_is . ". Colour: net of it. Whiskers: 95 % interval of net, over loads." . \
	(n_panels > 1 ? " The left panel ends early; longer bars run out of it." : "")
load "caption.gp"
eval x_axis(sampled . (n_panels > 1 ? ": left near zero, right all of it" : ""))

# Each axis begins at 0 and has few tics, with units.
half = 0.29 * row_px
set style fill solid noborder
if (n_panels > 1) { set multiplot }
do for [p = 1:n_panels] {
	if (p == 2) {
		unset label
		unset arrow
	}
	x_end = panel_end[p]
	set lmargin at screen left + (p - 1) * 0.5 * (right - left) + (p > 1 ? 12 / width : 0)
	set rmargin at screen n_panels > 1 && p == 1 ? 0.5 * (left + right) - 12 / width : right
	set xrange [0 : x_end]
	step = (page && n_panels > 1 ? 2 : 1) * nice_step(x_end)
	set xtics ()
	do for [t = 0:floor(x_end / step)] { set xtics add ((t ? tic_text(t * step) : "0") t * step) }
	cut(x) = x < x_end ? x : x_end
	# The interval's whiskers have a rim, to be seen on a black bar.
	plot for [k = 1:n_curves] file[k] using (0):(at[k]):(0):(cut($1)):(at[k] - half):(at[k] + half) \
			with boxxyerror linecolor rgb "#b0b0b0" title "", \
		for [k = 1:n_curves] file[k] using 1:(at[k]):(cut($1)):(cut($1 + $2)):(at[k] - half):(at[k] + half) \
			with boxxyerror linetype type_of(colour[k]) title variant[k] noenhanced, \
		for [w = 0:1] for [k = 1:n_curves] file[k] using (cut($1 + $3)):(at[k]):($1 + $4 < x_end ? $4 - $3 : 0):(0) \
			with vectors heads size screen (w ? 3.5 : 4.5) / width,90 linecolor rgb (w ? ink : "#ffffff") \
			linewidth (w ? 1 : 2.6) dashtype 1 title ""
}
if (n_panels > 1) { unset multiplot }
