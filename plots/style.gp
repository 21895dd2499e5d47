# SPDX-License-Identifier: GPL-2.0-or-later
# The look of every plot: size, type, colours, lines, edges. Read after a figure's variables (figures.awk) and `terminal`
# (svg, pngcairo or png), before the script that draws. gnuplot 5.4.
set encoding utf8
set minussign

# page = 1: for a column of a page that may be as narrow as a phone's. The page has the title and all that is said around
# the picture, names stand above their rows, and the key below the plot.
if (!exists("page")) { page = 0 }
has_rows = exists("row_px") && row_px > 0
has_panels = exists("n_panels")
has_names = exists("names_px") && names_px > 0	# the tics of the x axis are names, upright, of this height

# Lengths are in pixels of the SVG; a PNG has twice as many and the same layout. Type is given in pixels, too, which
# the SVG takes as they are, while the others count points.
width = page ? 440.0 : 960.0
height = page ? 330.0 : 600.0
# What stands above the plot and below it; on a page the key is part of that.
key_row_px = 19
key_below_px = page && !has_rows && !has_panels ? (n_curves + 1.2) * key_row_px : 0
above_px = page ? (has_rows ? 24.0 : 12.0) : 76.0
below_px = page ? 54.0 + key_below_px : 106.0
height = height + key_below_px
if (has_names) {
	below_px = below_px + names_px
	height = height + names_px
}
# A figure of rows (rows.gp) is as high as these are, with a heading before each value of the parameter.
heading_px = 24
is_heading(k) = strlen(value[k]) && (k == 1 ? 1 : value[k] ne value[k - 1])
name_px = page && has_rows && row_px >= 20 ? 20 : 0	# of the line with the name above a row
if (name_px && row_px < 30) { row_px = 14 }
if (has_rows) {
	rows_px = n_curves * (row_px + name_px)
	do for [k = 1:n_curves] { if (is_heading(k)) { rows_px = rows_px + heading_px } }
	height = rows_px + above_px + below_px + (page ? 0 : 14.0)
}
# A figure of panels (layout.gp) has up to five panels in a row; on a page two, or three if there are more than ten.
if (has_panels) {
	panel_cols = page ? (n_panels > 10 ? 3 : n_panels > 1 ? 2 : 1) : \
		n_panels > 9 ? 5 : n_panels > 6 ? 4 : n_panels > 4 ? 3 : n_panels > 1 ? 2 : 1
	panel_rows = (n_panels + panel_cols - 1) / panel_cols
}
if (has_panels && page) {
	do for [k = 1:n_curves] { if (is_heading(k)) { above_px = above_px + key_row_px } }
	height = above_px + below_px + (panel_rows > 1 ? 115 * panel_rows : 160)
}
if (has_panels && !page && n_panels > 15) { height = 220.0 + 130 * ((n_panels + 4) / 5) }
typeface = "DejaVu Sans"
font(px) = sprintf("%s,%g", typeface, terminal eq "svg" ? px : 0.75 * px)
bold(px) = sprintf("%s Bold,%g", typeface, terminal eq "svg" ? px : 0.75 * px)
text_width(n, px) = 0.6 * n * px	# of n characters, about
# At most n characters of a name: names differ at either end.
shortened(name, n) = strlen(name) <= n ? name : substr(name, 1, n / 2 - 2) . "..." . substr(name, strlen(name) - n + n / 2 + 2, strlen(name))

# The png terminal takes no expressions.
if (terminal eq "svg") {
	options = sprintf("size %g,%g dynamic", width, height)
} else {
	options = sprintf("size %g,%g fontscale 2 linewidth 2 dashlength 2", 2 * width, 2 * height)
	if (terminal eq "pngcairo") { options = options . " pointscale 2" } else { options = options . " truecolor" }
}
eval sprintf("set terminal %s noenhanced %s font '%s' background '#ffffff'", terminal, options, font(13))

# Okabe & Ito 2008, a palette that colour-blind people can tell apart, without its yellow, too faint for a line on white.
# Colours are for variants, by their position in the run; those after the seventh take the colours again, with dashes.
array palette[7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
array marks[7] = [7, 5, 9, 11, 13, 15, 4]
mark_size = terminal eq "svg" ? 0.45 : 0.65	# the SVG's are larger
# Short enough for the key.
set dashtype 2 (4, 2)
set dashtype 3 (1.5, 1.5)
set dashtype 4 (5, 2, 1.5, 2)
ink = "#333333"
faint = "#666666"
do for [i = 1:28] {
	set linetype i linecolor rgb palette[(i - 1) % 7 + 1] linewidth 1.6 dashtype 1 + (i - 1) / 7 \
		pointtype marks[(i - 1) % 7 + 1] pointsize mark_size
}
# The floor, colour 0, is what all others stand on: grey and dashed.
set linetype 29 linecolor rgb "#808080" linewidth 1.6 dashtype (6, 4) pointtype 6 pointsize mark_size
type_of(colour) = colour == 0 ? 29 : (colour - 1) % 28 + 1

set format "%g"
set border 3 linecolor rgb faint linewidth 0.8
tic_font = font(12)
set tics nomirror out scale 0.8,0.4 font tic_font textcolor rgb ink
set xtics offset 0,0.4
set grid xtics ytics back linetype -1 linecolor rgb "#dddddd" linewidth 0.6 dashtype 1
# key.gp draws the key. The titles of curves show in an SVG when pointed at; without `noenhanced` on each, 5.4 mixes them up.
unset key

# 1234 -> "1.23 µs", three digits. NaN -> "-".
scaled(x, unit) = sprintf(x < 9.995 ? "%.2f %s" : x < 99.95 ? "%.1f %s" : "%.0f %s", x, unit)
# Of a run in a guest of --vm, ns are machine instructions.
counts = exists("counted") && counted
count_text(n) = n < 99.95 ? sprintf("%g", floor(10 * n + 0.5) / 10.0) : sprintf("%.0f", n)
time_text(ns) = !(ns == ns) ? "-" : counts ? count_text(ns) : ns < 999.5 ? scaled(ns, "ns") : ns < 999.5e3 ? scaled(ns / 1e3, "µs") : ns < 999.5e6 ? scaled(ns / 1e6, "ms") : scaled(ns / 1e9, "s")

# What a sample is of: a run by the program's clock, a call by ours, a command, a lag.
sampled = !exists("sample") ? "" : sample eq "lag" ? "lag" : sample eq "call" ? "time of one call" : \
	sample eq "command" ? "time of one run of the command" : counts ? "machine instructions of one run" : "time of one run"
of_run = counts ? "Machine instructions of one run" : "Time of one run"
run_axis = counts ? "machine instructions of one run" : "time of one run, ns"
floor_is = exists("sample") && sample eq "command" ? "the command alone" : "an empty program of the same type"
has_floor = 0
do for [k = 1:n_curves] { if (colour[k] == 0) { has_floor = 1 } }
floor_note = has_floor ? " Grey, dashed: the floor, " . floor_is . "." : ""

# The same for a tic: as many digits as it has.
tic_text(ns) = counts ? sprintf("%g", ns) : ns < 1e3 ? sprintf("%g ns", ns) : ns < 1e6 ? sprintf("%g µs", ns / 1e3) : \
	ns < 1e9 ? sprintf("%g ms", ns / 1e6) : sprintf("%g s", ns / 1e9)

# The step of few tics over a range: 1, 2 or 5 times a power of ten.
nice_step(range) = (tenth = 10.0 ** floor(log10(range / 3)), \
	range / tenth > 15 ? 5 * tenth : range / tenth > 6 ? 2 * tenth : tenth)

# A difference, by a form like "%+.1f %%": "+1.2 %", "0.0 %", "−1.2 %".
signed(form, x) = sprintf(form, abs(x))[2:] eq sprintf(form, 0)[2:] ? sprintf(form, 0)[2:] : \
	x < 0 ? "−" . sprintf(form, -x)[2:] : sprintf(form, x)

# Where a figure comes from, the last line of a picture. caption.gp has what it says of itself.
source = source_run . ", " . source_machine
# A long source is set smaller, then cut.
source_px = 11 * (width - 32) / (0.54 * 11 * strlen(source))
source_px = source_px > 11 ? 11 : source_px < 8 ? 8 : source_px
source_fits = floor((width - 32) / (0.54 * source_px) + 0.5)
if (strlen(source) > source_fits) { source = substr(source, 1, source_fits - 3) . "..." }
if (!page) {
	set label 4 source at screen 16 / width,screen 16 / height font font(source_px) textcolor rgb faint
}

# The plot's edges, as parts of the picture. The key is to the right of it (key.gp sets `right`).
left = (page ? 80 : 96) / width
top = 1 - above_px / height
bottom = below_px / height
set lmargin at screen left
set tmargin at screen top
set bmargin at screen bottom

# The titles of the axes: labels, because these stand at the same position in every terminal.
x_title_y = (page ? key_below_px + 12 : 68) / height
y_title_x = (page ? 12 : 20) / width
