# SPDX-License-Identifier: GPL-2.0-or-later
# A row a case: its name to the left (above it on a page), one or two columns of figures to the right, and under a heading
# those of one value of the parameter. Reads cell1[] and cell2[] (texts), head1 and head2 (an empty head2: one column);
# sets the margins, the y axis, which counts pixels downwards, at[], the middle of each row, and has_text[], whether it
# has text.
array at[n_curves]
n_name = 8
n_cell1 = strlen(head1)
n_cell2 = strlen(head2)
y = 0
do for [k = 1:n_curves] {
	if (strlen(variant[k]) > n_name) { n_name = strlen(variant[k]) }
	if (strlen(cell1[k]) > n_cell1) { n_cell1 = strlen(cell1[k]) }
	if (strlen(cell2[k]) > n_cell2) { n_cell2 = strlen(cell2[k]) }
	if (is_heading(k)) {
		set label 1000 + k value[k] at screen 16 / width,first y + 0.6 * heading_px left font bold(12) textcolor rgb ink
		y = y + heading_px
	}
	at[k] = y + name_px + 0.5 * row_px
	y = y + name_px + row_px
}
# At most a third of the picture: a name that needs more is cut.
n_fit = floor(width / 3 / text_width(1, 12))
if (n_name > n_fit) { n_name = n_fit }
left = (28 + text_width(n_name, 12)) / width
x_cell2 = (width - 16) / width
x_cell1 = strlen(head2) ? x_cell2 - (text_width(n_cell2, 12) + 14) / width : x_cell2
right = x_cell1 - (text_width(n_cell1, 12) + 22) / width
if (name_px) {
	left = 20 / width
	n_name = floor((width - 32) / text_width(1, 12))
}
set lmargin at screen left
set rmargin at screen right

set yrange [rows_px + 4 : -4]
unset ytics
set border 1
set grid noytics
set label 100 head1 at screen x_cell1,screen top + 10 / height right font font(12) textcolor rgb faint
set label 101 head2 at screen x_cell2,screen top + 10 / height right font font(12) textcolor rgb faint
# If rows are lower than their text, only some have text: those whose verdict is regressed or improved, and others where
# there is room between these.
text_px = 15
array has_text[n_curves]
array text_below[n_curves]
y = -text_px
do for [k = 1:n_curves] {
	has_text[k] = (verdict[k] eq "regressed" || verdict[k] eq "improved") && at[k] - y >= text_px
	if (has_text[k]) { y = at[k] }
}
y = rows_px + text_px
do for [k = n_curves:1:-1] {
	text_below[k] = y
	if (has_text[k]) { y = at[k] }
}
y = -text_px
do for [k = 1:n_curves] {
	if (at[k] - y >= text_px && text_below[k] - at[k] >= text_px) { has_text[k] = 1 }
	if (has_text[k]) {
		y = at[k]
		if (name_px) {
			set label 2000 + k shortened(variant[k], n_name) at screen 16 / width,first at[k] - 0.5 * (row_px + name_px) + 2 left
		} else {
			set label 2000 + k shortened(variant[k], n_name) at screen left - 8 / width,first at[k] right
		}
		set label 2000 + k font font(12) textcolor rgb ink
		set label 3000 + k cell1[k] at screen x_cell1,first at[k] right font font(12) textcolor rgb ink
		set label 4000 + k cell2[k] at screen x_cell2,first at[k] right font font(12) textcolor rgb ink
	}
}
x_axis(text) = sprintf("set label 6 \"%s\" at screen %g,screen %g center textcolor rgb ink", text, \
	0.5 * (left + right), x_title_y)
