# SPDX-License-Identifier: GPL-2.0-or-later
# What a comparison found, a row a case: the difference of B from A with its interval against the threshold. Three lanes a
# row: matched pairs, which the verdict is on, with the verdict's colour; pairs at any JIT addresses; net of the floor.
# Data: lane (0 matched, 1 unmatched, 2 net, 3 one matched pair, 4 an unmatched one), percent, lower and upper end (the
# value itself where there is none).
lanes = row_px >= 30	# 0: rows are low, and only the difference that the verdict is on is drawn
what = "Difference of B from A in the time of one run"
of_what = sprintf("The grey band is the threshold of ±%g %%", threshold)
intervals = sprintf("Bars: %g %% intervals, valid at every look.", confidence)
how = lanes ? "Verdict's colour: pairs at equal JIT addresses. Grey: at any; open: net of the floor. " . intervals . \
	" Small: single pairs." : "In the verdict's colour: pairs at equal JIT addresses. " . intervals

array cell1[n_curves]
array cell2[n_curves]
drawn(lane, x) = lanes || lane == 0 ? x : NaN
low = -1.5 * threshold
high = 1.5 * threshold
do for [k = 1:n_curves] {
	do for [c = 3:4] {
		stats file[k] using (lanes || $1 == 0 ? column(c) : 0) nooutput
		if (STATS_min < low) { low = STATS_min }
		if (STATS_max > high) { high = STATS_max }
	}
}
# A program that costs a multiple of the other needs a log axis: of the ratio.
by_ratio = high > 300
do for [k = 1:n_curves] {
	cell1[k] = !(p50[k] == p50[k]) ? "-" : by_ratio ? sprintf("%.3g×", 1 + p50[k] / 100) : signed("%+.2f %%", p50[k])
	cell2[k] = verdict[k]
}
head1 = by_ratio ? "B / A" : "B − A"
head2 = "verdict"
load "caption.gp"
load "rows.gp"

x_of(percent) = by_ratio ? 1 + percent / 100 : percent
if (by_ratio) {
	set logscale x
	set xrange [x_of(low) / 1.1 : x_of(high) * 1.1]
	set xtics ()
	do for [e = floor(log10(x_of(low) / 1.1)):ceil(log10(x_of(high) * 1.1))] {
		do for [m in x_of(high) / x_of(low) > 30 ? "1" : "1 2 5"] {
			set xtics add (sprintf("%g×", m * 10.0 ** e) m * 10.0 ** e)
		}
	}
	eval x_axis("cost of B / cost of A (log scale)")
} else {
	set xrange [low - 0.04 * (high - low) : high + 0.04 * (high - low)]
	set format x (high - low < 8 ? "%+.1f %%" : "%+.0f %%")
	if (page) { set xtics 2 * nice_step(1.08 * (high - low)) }
	set xtics add ("0 %%" 0)
	eval x_axis("cost of B relative to A")
}
set object 1 rectangle from first x_of(-threshold),graph 0 to first x_of(threshold),graph 1 behind \
	fillcolor rgb "#e8e8e8" fillstyle solid noborder
set arrow 1 from first x_of(0),graph 0 to first x_of(0),graph 1 nohead back linecolor rgb faint linewidth 0.8

# By verdict: inconclusive, same, regressed, improved.
array hue[4] = ["#333333", "#0072b2", "#d55e00", "#009e73"]
hue_of(k, lane) = lane ? "#808080" : hue[colour[k] + 1]
do for [k = 1:n_curves] { if (has_text[k]) { set label 4000 + k textcolor rgb hue_of(k, 0) } }
y_of(k, lane) = at[k] + (!lanes ? 0 : lane == 0 || lane == 3 ? -0.2 : lane == 2 ? 0.3 : 0.1) * row_px
head_px = lanes ? 4.0 : 0.4 * row_px
plot for [k = 1:n_curves] file[k] using (x_of($2)):($1 >= 3 ? drawn($1, y_of(k, $1)) : NaN) with points \
		linecolor rgb "#b0b0b0" pointtype 7 pointsize 0.5 * mark_size title "", \
	for [lane = 0:2] for [k = 1:n_curves] file[k] using (x_of($3)):($1 == lane ? drawn(lane, y_of(k, lane)) : NaN): \
		(x_of($4) - x_of($3)):(0) with vectors heads size screen head_px / width,90 linecolor rgb hue_of(k, lane) \
		linewidth (lane || !lanes ? 1.2 : 2) dashtype 1 title "", \
	for [lane = 0:2] for [k = 1:n_curves] file[k] using (x_of($2)):($1 == lane ? drawn(lane, y_of(k, lane)) : NaN) \
		with points linecolor rgb hue_of(k, lane) pointtype (lane == 2 ? 6 : 7) \
		pointsize (lanes ? 1 : 0.7) * mark_size title (lane ? "" : variant[k]) noenhanced
