# SPDX-License-Identifier: GPL-2.0-or-later
# Stored runs over time: the figure that each program is judged by, in percent above the baseline that the newest run is judged
# by. Variables and data from history.awk.
what = "Change of cost over stored runs"
of_what = "Ratio to the anchor" . (has_floor ? " (grey)" : "") . ", or to the reference, or ns"
how = "0: " . zero . ". Large: regressed (up) or improved (down); circled: suspect; crossed: other machine, or incomplete. Dotted: a change point."

array cell1[n_curves]
array cell2[n_curves]
y_min = -1.0
y_max = 1.0
do for [k = 1:n_curves] {
	cell1[k] = signed("%+.1f %%", newest[k])
	cell2[k] = mark[k]
	# The anchor's own time, which a busy machine moves at will, must not press the others flat.
	if (colour[k] != 0 || n_curves == 1) {
		stats file[k] using 2 nooutput
		if (STATS_max > y_max) { y_max = STATS_max }
		if (STATS_min < y_min) { y_min = STATS_min }
	}
}
head1 = "newest"
head2 = "mark"
key_points = 0
load "caption.gp"
load "key.gp"

only(is, y) = is ? y : NaN
y_room = 0.06 * (y_max - y_min)
set xrange [0.5 : n_runs + 0.5 + 0.02 * n_runs]
set yrange [y_min - y_room : y_max + y_room]
set xtics ()
do for [t = 1:n_tics] { set xtics add (tic_name[t] tic_at[t]) }
# The run that a page is about.
if (this_run) {
	set arrow 1 from first this_run,graph 0 to first this_run,graph 1 nohead back linecolor rgb faint linewidth 0.8 dashtype 2
}
set mytics 2
set clip two
set format y "%+.0f"
if (y_max - y_min < 8) { set format y "%+.1f" }
set ytics add ("0" 0)
set label 5 "change, %" at screen y_title_x,screen 0.5 * (top + bottom) center rotate by 90 textcolor rgb ink
set label 6 "stored run (its date, or its time on the same day, UTC)" at screen 0.5 * (left + right),screen x_title_y center textcolor rgb ink
# The title of a curve shows in an SVG when it is pointed at.
plot 0 with lines linecolor rgb faint linewidth 0.8 dashtype 1 title "", \
	for [k = 1:n_curves] file[k] using 1:2 with lines linetype type_of(colour[k]) title variant[k] noenhanced, \
	for [k = 1:n_curves] file[k] using 1:2 with points linetype type_of(colour[k]) pointtype 7 pointsize 0.35 \
		title variant[k] noenhanced, \
	for [k = 1:n_curves] file[k] using 1:(only($3 == 1, $2)) with points linetype type_of(colour[k]) pointtype 6 \
		pointsize 1.1 title variant[k] noenhanced, \
	for [k = 1:n_curves] file[k] using 1:(only($3 == 2, $2)) with points linetype type_of(colour[k]) pointtype 9 \
		pointsize 1.1 title variant[k] noenhanced, \
	for [k = 1:n_curves] file[k] using 1:(only($3 == 3, $2)) with points linetype type_of(colour[k]) pointtype 11 \
		pointsize 1.1 title variant[k] noenhanced, \
	for [k = 1:n_curves] file[k] using 1:(only($3 == 4, $2)) with points linetype type_of(colour[k]) pointtype 2 \
		pointsize 0.8 title variant[k] noenhanced, \
	for [k = 1:n_curves] file[k] using ($4 != 0 ? $1 - 0.5 : NaN):(y_min - y_room):(0):(y_max - y_min + 2 * y_room) \
		with vectors nohead linetype type_of(colour[k]) linewidth 1.2 dashtype 3 title variant[k] noenhanced, \
	for [k = 1:n_curves] file[k] using ($4 < 0 ? $1 - 0.5 : NaN):(y_min - 0.5 * y_room):(variant[k]) with labels \
		rotate by 90 left offset character -0.9,0 font font(12) textcolor rgb palette[(colour[k] + 6) % 7 + 1] title "", \
	for [k = 1:n_curves] file[k] using ($4 > 0 ? $1 - 0.5 : NaN):(y_max + 0.5 * y_room):(variant[k]) with labels \
		rotate by 90 right offset character -0.9,0 font font(12) textcolor rgb palette[(colour[k] + 6) % 7 + 1] title ""
