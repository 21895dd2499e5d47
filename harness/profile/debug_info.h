/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_DEBUG_INFO_H
#define BB_PROFILE_DEBUG_INFO_H

#include <stddef.h>
#include <stdint.h>

/*
 * In the symbolizer's child: ask for debug information that is in a file of its own, over `socket`
 * (debug_files.h), and check that it belongs to the file that names it: it has its build id, or the
 * check sum of its debug link. The descriptor; -1: there is none.
 */
int bb_debug_info__by_id(int socket, const unsigned char *id, size_t n);
int bb_debug_info__by_link(int socket, const char *link, uint32_t crc);

#endif
