# SPDX-License-Identifier: GPL-2.0-or-later
# What a figure shows and how to read it: reads the texts `what` and `how`. Above and below it or, on a page, in the file
# `caption`, a line each, for the page to say it in its own type.
if (page) {
	set print "caption"
	print what
	print how
	unset print
} else {
	set label 2 what at screen 16 / width,screen 1 - 50 / height font font(14) textcolor rgb faint
	set label 3 how at screen 16 / width,screen 36 / height font font(11) textcolor rgb faint
}
