/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_FLAME_SCRIPT_H
#define BB_PROFILE_FLAME_SCRIPT_H

/*
 * The script of a flame graph: a click zooms to a frame, "Search" (or Ctrl-F) marks the functions that match a regular
 * expression and says their share, the pointer shows a frame in full. What is shown is in the address, as
 * #zoom=N&search=WORD, to be passed on as a link. Without "]]>" in it.
 */
extern const char bb_flame_script[];

#endif
