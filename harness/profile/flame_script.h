/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_FLAME_SCRIPT_H
#define BB_PROFILE_FLAME_SCRIPT_H

/*
 * The script of a flame graph: a click zooms to a frame, "Search" (or Ctrl-F) marks the functions
 * that match a regular expression and says their share, the pointer shows a frame in full. What is
 * shown is in the address, as #zoom=N&search=WORD, to be passed on as a link. In an SVG file its
 * picture is the document, in a page the <figure> in which it stands: there it keeps to the width
 * of the page, and only the first figure has the address. Without "]]>" and "</" in it.
 */
extern const char bb_flame_script[];

#endif
