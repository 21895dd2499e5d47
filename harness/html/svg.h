/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_HTML_SVG_H
#define BB_HTML_SVG_H

#include <stdio.h>

/*
 * A picture by gnuplot (plots/) as part of an HTML page: its colours become those of the page
 * (page.css), so that it follows light and dark, and its ids begin with `prefix`. Only elements and
 * attributes that gnuplot is known to draw with get through; everything else in a picture, such as
 * a script or a link, is left out. 0; -EINVAL for anything but such a picture, and then nothing is
 * written.
 */
int bb_svg__embed(FILE *out, const char *svg, const char *prefix);

#endif
