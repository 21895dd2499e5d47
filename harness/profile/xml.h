/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_XML_H
#define BB_PROFILE_XML_H

#include <stddef.h>
#include <stdio.h>

/*
 * Any bytes as XML 1.0 text or attribute value: markup is escaped, and what is no UTF-8 or no character that XML takes becomes
 * U+FFFD. `max_chars` characters at the most.
 */
void bb_xml_write(const char *text, size_t max_chars, FILE *out);

/* In characters, as bb_xml_write() counts them. */
size_t bb_xml_length(const char *text);

#endif
