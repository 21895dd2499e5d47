# SPDX-License-Identifier: GPL-2.0-or-later
# What a figure says of itself. Reads the texts `what` (its title: what it shows), `of_what` (more about that, as a sentence
# without its full stop; it may be absent) and `how` (how to read it). They stand above and below it or, on a page, in the
# file `caption`, a line for the title and one for the rest; the page itself says of which program the figure is.
of_what = exists("of_what") ? of_what : ""
if (page) {
	set print "caption"
	print what . (strlen(of_value) ? ", " . of_value : "")
	print how . (strlen(of_what) ? " " . of_what . "." : "")
	unset print
} else {
	set label 1 shortened(what, floor((width - 32) / (0.65 * 17))) \
		at screen 16 / width,screen 1 - 26 / height font bold(17) textcolor rgb "#000000"
	set label 2 shortened(title . (strlen(of_what) ? ". " . of_what : ""), floor((width - 32) / text_width(1, 14))) \
		at screen 16 / width,screen 1 - 50 / height font font(14) textcolor rgb faint
	set label 3 how at screen 16 / width,screen 36 / height font font(11) textcolor rgb faint
}
