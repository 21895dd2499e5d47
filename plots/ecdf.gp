# SPDX-License-Identifier: GPL-2.0-or-later
# The distribution of the time of one run, a curve a variant. Above: the share of the runs that took at most so long
# (ECDF). Below: the share that took longer, on a log axis, because the tail is where that says something.
# Data: ns, share of the samples that took at most that long; the first point has the share 0.
most = samples[1]
fewest = samples[1]
all_p99 = 1
any_p90 = 0
do for [k = 1:n_curves] {
	if (samples[k] > most) { most = samples[k] }
	if (samples[k] < fewest) { fewest = samples[k] }
	if (!(p99[k] == p99[k])) { all_p99 = 0 }
	if (p90[k] == p90[k]) { any_p90 = 1 }
}
one = sample eq "lag" ? "sample" : sample eq "call" ? "call" : "run"
what = "Distribution of the " . (sample eq "lag" ? "lag of a sample" : sampled)
of_what = (sample eq "run" ? timed . "; " : sample eq "lag" ? "From the event until the consumer is done with it; " : "") . \
	(fewest < most ? sprintf("%d to %d ", fewest, most) : sprintf("%d ", most)) . one . "s a variant"
how = "Above: ECDF. Below: its tail, 1 - ECDF, down to one " . one . "." . \
	(sample eq "lag" ? " A sample that was still waiting at the end counts with its age by then." : floor_note)

array cell1[n_curves]
array cell2[n_curves]
do for [k = 1:n_curves] {
	cell1[k] = time_text(p50[k])
	cell2[k] = all_p99 ? time_text(p99[k]) : any_p90 ? time_text(p90[k]) : ""
}
head1 = "p50"
# Few samples give no p99, very few no p90 either.
head2 = all_p99 ? "p99" : any_p90 ? "p90" : ""
key_points = 0
least = 1.0 / (most > 10 ? most : 10)	# one run of the longest sample
share_of = (page ? "" : "share of ") . one . "s "
if (least < 1e-3) { # "0.01 %" is as wide as reaches the title of its axis
	left = left + 14.0 / width
	set lmargin at screen left
}
load "caption.gp"
load "key.gp"

x_min = 0.97 * ns_min
x_max = 1.03 * ns_max
middle = bottom + 0.38 * (top - bottom)
gap = 9 / height

set multiplot
set bmargin at screen middle + gap
with_labels = 0
load "time_axis.gp"
set yrange [0:1]
set ytics ("0 %%" 0, "25 %%" 0.25, "50 %%" 0.5, "75 %%" 0.75, "100 %%" 1)
set label 5 share_of . "≤ x" at screen y_title_x,screen 0.5 * (top + middle) center rotate by 90 textcolor rgb ink
plot for [k = 1:n_curves] file[k] using 1:2 with steps linetype type_of(colour[k]) \
	title variant[k] noenhanced

unset label
unset arrow
set tmargin at screen middle - gap
with_labels = 1
load "time_axis.gp"
set bmargin at screen bottom
set label 5 share_of . "> x" at screen y_title_x,screen 0.5 * (middle + bottom) center rotate by 90 textcolor rgb ink
set label 6 sampled . " (log scale)" at screen 0.5 * (left + right),screen x_title_y center textcolor rgb ink
set logscale y
set yrange [0.6 * least : 1]
set ytics ("100 %%" 1, "10 %%" 0.1, "1 %%" 0.01, "0.1 %%" 1e-3, "0.01 %%" 1e-4, "0.001 %%" 1e-5, "0.0001 %%" 1e-6)
do for [e = 1:6] { do for [m = 2:9] { set ytics add ("" m * 10.0 ** -e 1) } }
plot for [k = 1:n_curves] file[k] using 1:($2 < 1 ? 1 - $2 : least / 10) with steps linetype type_of(colour[k]) \
	title variant[k] noenhanced
unset multiplot
