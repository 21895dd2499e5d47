/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/libbpf_log.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP 3000 /* bytes of the end that are kept; an error message holds 4096 */

static __thread char log_text[KEEP + 1];
static __thread size_t log_len;

static void append(const char *text, size_t len)
{
	if (len > KEEP) {
		text += len - KEEP;
		len = KEEP;
	}
	if (log_len + len > KEEP) {
		size_t drop = log_len + len - KEEP;

		memmove(log_text, log_text + drop, log_len - drop);
		log_len -= drop;
	}
	memcpy(log_text + log_len, text, len);
	log_len += len;
	log_text[log_len] = '\0';
}

static int on_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *text = NULL;
	int n;

	if (level != LIBBPF_WARN)
		return 0;
	n = vasprintf(&text, fmt, ap);
	if (n > 0)
		append(text, (size_t)n);
	if (n >= 0)
		free(text);
	return n;
}

void bb_libbpf_log__begin(void)
{
	log_len = 0;
	log_text[0] = '\0';
	libbpf_set_print(on_print);
}

const char *bb_libbpf_log__text(void)
{
	return log_text;
}
