# SPDX-License-Identifier: GPL-2.0-or-later
# The key: a table to the right of the plot (below it on a page), a row a curve in the order in which they stand in the picture, and two
# columns of figures. Reads head1 and head2 (their headings), cell1[] and cell2[] (texts), key_points (1: with the
# curve's mark); sets the right margin. A key of gnuplot's own has no columns.
key_px = 12
key_step = 1.0 * key_row_px
key_room = (top - bottom) * height
if (!page && (n_curves + 1) * key_step > key_room) {
	key_step = key_room / (n_curves + 1)
	key_px = key_step * 0.63 < 5 ? 5 : key_step * 0.63
}
n_name = strlen("variant")
n_cell1 = strlen(head1)
n_cell2 = strlen(head2)
do for [k = 1:n_curves] {
	if (strlen(variant[k]) > n_name) { n_name = strlen(variant[k]) }
	if (strlen(cell1[k]) > n_cell1) { n_cell1 = strlen(cell1[k]) }
	if (strlen(cell2[k]) > n_cell2) { n_cell2 = strlen(cell2[k]) }
}
# At most half of the picture, or all of a page's: a name that needs more is cut.
key_fixed = 34 + text_width(n_cell1 + n_cell2, key_px) + 14 + 14 + 16
n_fit = floor(((page ? 1 : 0.5) * width - key_fixed) / text_width(1, key_px))
if (n_name > n_fit) { n_name = n_fit }
key_left = page ? 12 : width - key_fixed - text_width(n_name, key_px)
right = (page ? width - 14 : key_left - 22) / width
set rmargin at screen right

key_x0 = key_left / width
key_x1 = (key_left + 26) / width
key_x2 = (key_left + 34) / width
key_x4 = (width - 16) / width
key_x3 = key_x4 - (text_width(n_cell2, key_px) + 14) / width
key_y(k) = (page ? key_below_px / height : top) - (k + (page ? 0.7 : 0.3)) * key_step / height
set label 100 "variant" at screen key_x2,screen key_y(0) left font font(key_px) textcolor rgb faint
set label 101 head1 at screen key_x3,screen key_y(0) right font font(key_px) textcolor rgb faint
set label 102 head2 at screen key_x4,screen key_y(0) right font font(key_px) textcolor rgb faint
do for [k = 1:n_curves] {
	set arrow 100 + k from screen key_x0,screen key_y(k) to screen key_x1,screen key_y(k) nohead \
		linetype type_of(colour[k])
	set label 100 + 4 * k shortened(variant[k], n_name) at screen key_x2,screen key_y(k) left font font(key_px) textcolor rgb ink
	set label 101 + 4 * k cell1[k] at screen key_x3,screen key_y(k) right font font(key_px) textcolor rgb ink
	set label 102 + 4 * k cell2[k] at screen key_x4,screen key_y(k) right font font(key_px) textcolor rgb ink
	if (key_points) {
		set label 103 + 4 * k "" at screen 0.5 * (key_x0 + key_x1),screen key_y(k) point linetype type_of(colour[k])
	}
}
