# SPDX-License-Identifier: GPL-2.0-or-later
# Time of each load against the address at which the JIT put the program, a panel a variant: does the offset in a 64-byte
# line matter?
# Data: address mod 64, percent above the median over the loads of the case.
what = of_run . " against the JIT address of the program"
of_what = timed
how = "A point a load: the mean of its runs without outliers, in percent " . \
	"above the median of all loads of that case. All panels have the same axes."

# Panels by variant, marks by the value of the parameter; cases stand by value, and then as in the run.
array panel[n_curves]
array mark[n_curves]
array case_of[n_curves]
array value_at[n_curves]
n_seen = 0
n_marks = 0
y_min = -1.0
y_max = 1.0
do for [k = 1:n_curves] {
	panel[k] = 0
	do for [p = 1:n_seen] { if (variant[case_of[p]] eq variant[k]) { panel[k] = p } }
	if (!panel[k]) {
		n_seen = n_seen + 1
		panel[k] = n_seen
		case_of[n_seen] = k
	}
	mark[k] = 0
	do for [m = 1:n_marks] { if (value_at[m] eq value[k]) { mark[k] = m } }
	if (!mark[k]) {
		n_marks = n_marks + 1
		mark[k] = n_marks
		value_at[n_marks] = value[k]
	}
	stats file[k] using 2 nooutput
	if (STATS_max > y_max) { y_max = STATS_max }
	if (STATS_min < y_min) { y_min = STATS_min }
}

# Filled and open forms in turns: which value a point is of.
array form[7] = [7, 4, 9, 6, 11, 12, 13]
form_of(m) = form[(m - 1) % 7 + 1]
x = left
mark_y = page ? 1 - 14 / height : top - 2 / height	# on a page, one below another
do for [m = 1:n_marks] {
	if (strlen(value_at[m])) {
		set label 200 + m value_at[m] at screen x + 8 / width,screen mark_y left font font(12) textcolor rgb ink \
			point linecolor rgb ink pointtype form_of(m) pointsize 1.3 * mark_size offset character 1,0
		if (page) { mark_y = mark_y - key_row_px / height } else { x = x + (text_width(strlen(value_at[m]), 12) + 44) / width }
	}
}

right = 1 - 20 / width
panels_top = top - 12 / height
panel_w = (right - left) / panel_cols
panel_h = (panels_top - bottom) / panel_rows
y_room = 0.08 * (y_max - y_min)
set xrange [-2 : 66]
set xtics 16
set yrange [y_min - y_room : y_max + y_room]
step = nice_step(y_max - y_min)
set ytics step
title_fits = floor(panel_w * width / text_width(1, 12)) - 1
set label 5 "above the median, %" at screen y_title_x,screen 0.5 * (panels_top + bottom) center rotate by 90 textcolor rgb ink
set label 6 "JIT address mod 64, bytes" at screen 0.5 * (left + right),screen x_title_y center textcolor rgb ink
load "caption.gp"
set multiplot
do for [p = 1:n_panels] {
	col = (p - 1) % panel_cols
	row = (p - 1) / panel_cols
	set lmargin at screen left + col * panel_w
	set rmargin at screen left + (col + 1) * panel_w - 14 / width
	set tmargin at screen panels_top - row * panel_h - 24 / height
	set bmargin at screen panels_top - (row + 1) * panel_h + 6 / height
	set format x (p + panel_cols > n_panels ? "%.0f" : "")
	set ytics add ((col ? "" : "0") 0)
	set format y (col ? "" : step < 1 ? "%+.1f" : "%+.0f")
	set label 300 shortened(variant[case_of[p]], title_fits) at graph 0.5,graph 1 center offset 0,0.6 font font(12) textcolor rgb ink
	plot 0 with lines linecolor rgb faint linewidth 0.8 dashtype 1 title "", \
		for [k = 1:n_curves] (panel[k] == p ? file[k] : file[case_of[p]]) using 1:(panel[k] == p ? $2 : 1 / 0) with points \
			linetype type_of(colour[case_of[p]]) pointtype form_of(mark[k]) pointsize mark_size * 1.3 title variant[k] noenhanced
	unset label
}
unset multiplot
