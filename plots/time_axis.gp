# SPDX-License-Identifier: GPL-2.0-or-later
# A log x axis of times from x_min to x_max, ns. Its tics have units, and there are some even if the axis spans less than a decade.
# with_labels = 0 leaves the text away.
if (!exists("with_labels")) { with_labels = 1 }
tic_label(ns) = with_labels ? tic_text(ns) : ""
set logscale x
set xrange [x_min : x_max]
set xtics ()
unset mxtics
n_decades = log10(x_max / x_min)
crowding = 600 / ((right - left) * width)	# a narrow axis has room for fewer labels
if (n_decades < 0.6) {
	step = (crowding > 1.3 ? 2 : 1) * nice_step(x_max - x_min)
	do for [i = ceil(x_min / step):floor(x_max / step)] { set xtics add (tic_label(i * step) i * step) }
} else {
	do for [e = floor(log10(x_min)):ceil(log10(x_max))] {
		do for [m in crowding * n_decades > 3 ? "1" : crowding * n_decades > 1.3 ? "1 2 5" : "1 1.5 2 3 5 7"] {
			tic = m * 10.0 ** e
			if (tic >= x_min && tic <= x_max) { set xtics add (tic_label(tic) tic) }
		}
		if (n_decades > 1.3) { do for [m = 2:9] { set xtics add ("" m * 10.0 ** e 1) } }
	}
}
