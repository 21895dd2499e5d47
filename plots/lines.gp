# SPDX-License-Identifier: GPL-2.0-or-later
# Where one run spends its time: a bar a line or call, the longest on top, with its interval; behind it in grey with cold
# caches, where those were measured. The axis is linear, so that lengths can be compared.
# Data: ns, lower and upper end of its interval, ns with cold caches (0: not measured).
what = "Time of each line and call in one run"
array cell1[n_curves]
array cell2[n_curves]
array cold[n_curves]
x_max = 0
any_cold = 0
do for [k = 1:n_curves] {
	stats file[k] using 1 nooutput
	cell1[k] = time_text(STATS_min)
	if (STATS_max > x_max) { x_max = STATS_max }
	stats file[k] using 4 nooutput
	cold[k] = STATS_max
	cell2[k] = cold[k] > 0 ? time_text(cold[k]) : "-"
	if (cold[k] > 0) { any_cold = 1 }
	if (cold[k] > x_max) { x_max = cold[k] }
}
if (!any_cold) { do for [k = 1:n_curves] { cell2[k] = "" } }
head1 = any_cold ? "hot" : "time"
head2 = any_cold ? "cold" : ""
load "rows.gp"
how = "Whiskers: 95 % interval over loads. " . (any_cold ? "Grey: with caches emptied before each run. " : "") . \
	"Lines of less than 3 ns are left out."
load "caption.gp"
eval x_axis("time in one run")
half = 0.29 * row_px
set style fill solid noborder
set xrange [0 : 1.05 * x_max]
step = (page ? 2 : 1) * nice_step(x_max)
set xtics ()
do for [t = 0:floor(1.05 * x_max / step)] { set xtics add ((t ? tic_text(t * step) : "0") t * step) }
plot for [k = 1:n_curves] file[k] using (0):(at[k]):(0):(cold[k]):(at[k] - half):(at[k] + half) \
		with boxxyerror linecolor rgb "#b0b0b0" title "", \
	for [k = 1:n_curves] file[k] using (0):(at[k]):(0):1:(at[k] - 0.6 * half):(at[k] + 0.6 * half) \
		with boxxyerror linetype type_of(1) title "", \
	for [k = 1:n_curves] file[k] using 2:(at[k]):($3 - $2):(0) \
		with vectors heads size screen 3.5 / width,90 linecolor rgb ink linewidth 1 dashtype 1 title ""
