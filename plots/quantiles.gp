# SPDX-License-Identifier: GPL-2.0-or-later
# The distribution of each case as a strip of quantiles, a row each, on one log axis. A strip shows no modes where the
# clock ticks in steps of 10 ns.
# Data: the quantiles 1, 5, 25, 50, 75, 95, 99 %, ns.
what = "Quantiles of the " . sampled
of_what = sample eq "run" ? timed : ""
how = "Strip: 1 to 99 % of the samples. Darker: 5 to 95 %. Darkest: the middle half (IQR). Line: median."

array cell1[n_curves]
array cell2[n_curves]
x_min = 1e300
x_max = 0
do for [k = 1:n_curves] {
	stats file[k] using ($5 - $3) nooutput
	cell1[k] = time_text(p50[k])
	cell2[k] = time_text(STATS_min)
	stats file[k] using 1 nooutput
	if (STATS_min < x_min) { x_min = STATS_min }
	stats file[k] using 7 nooutput
	if (STATS_max > x_max) { x_max = STATS_max }
}
head1 = "median"
head2 = "IQR"
load "caption.gp"
load "rows.gp"

x_min = 0.95 * x_min
x_max = 1.05 * x_max
load "time_axis.gp"
eval x_axis(sampled . " (log scale)")
half = 0.36 * row_px
array low[3] = [1, 2, 3]
array high[3] = [7, 6, 5]
array density[3] = [0.25, 0.35, 0.75]
plot for [s = 1:3] for [k = 1:n_curves] file[k] using (column(low[s])):(at[k]):(column(low[s])):(column(high[s])): \
		(at[k] - half):(at[k] + half) with boxxyerror linetype type_of(colour[k]) \
		fillstyle transparent solid density[s] noborder title variant[k] noenhanced, \
	for [k = 1:n_curves] file[k] using 4:(at[k] - half):(0):(2 * half) with vectors nohead \
		linecolor rgb ink linewidth 1.6 dashtype 1 title ""
