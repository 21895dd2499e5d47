/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/refusal.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LIBBPF "libbpf: "

struct line {
	const char *text;
	size_t len;
};

static bool begins(const struct line *l, const char *with)
{
	size_t len = strlen(with);

	return l->len >= len && !memcmp(l->text, with, len);
}

static bool holds(const struct line *l, const char *what)
{
	return memmem(l->text, l->len, what, strlen(what)) != NULL;
}

/* "12: (85) call bpf_x#1", "12: R0=0 R10=fp0", "R0_w=0 R10=fp0", "from 3 to 5: ..." */
static bool is_state(const struct line *l)
{
	size_t at = 0;

	if (l->len > 1 && l->text[0] == 'R' && isdigit((unsigned char)l->text[1])) {
		for (at = 2;
		     at < l->len && (isalnum((unsigned char)l->text[at]) || l->text[at] == '_');)
			at++;
		return at < l->len && l->text[at] == '=';
	}
	while (at < l->len && isdigit((unsigned char)l->text[at]))
		at++;
	return (at && at + 1 < l->len && l->text[at] == ':' && l->text[at + 1] == ' ') ||
	       begins(l, "from ");
}

static bool is_of_verifier(const struct line *l)
{
	static const char *const others[] = {
		"processed ",   "verification time ", "stack depth ", "peak_states ",   "; ",
		"cur state:",   "old state:",         "-- END PROG ", "-- BEGIN PROG ", "func#",
		"mark_precise", "Live regs",          "libbpf: ",     "last_idx ",      "regs=",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (begins(l, others[i]))
			return false;
	return l->len && !is_state(l);
}

/* A verifier's log among libbpf's warnings is not theirs. */
static bool is_of_libbpf(const struct line *l)
{
	static const char *const general[] = {
		"failed to load object",
		"Retrying without BTF",
		"failed to load: -",
		"PROG LOAD LOG",
		"BPF program load failed",
		"failed to prepare load attributes",
		"permission error while running as root",
		"Couldn't load trivial BPF program",
	};

	for (size_t i = 0; i < sizeof(general) / sizeof(general[0]); i++)
		if (holds(l, general[i]))
			return false;
	return begins(l, LIBBPF);
}

static void find_last(const char *log, bool (*fits)(const struct line *l), size_t skipped,
		      char *ret_reason, size_t size)
{
	const char *end = log + strlen(log);

	ret_reason[0] = '\0';
	while (end > log) {
		const char *begin = end;
		struct line l;

		while (begin > log && begin[-1] != '\n')
			begin--;
		l = (struct line){begin, (size_t)(end - begin)};
		if (fits(&l)) {
			snprintf(ret_reason, size, "%.*s", (int)(l.len - skipped),
				 l.text + skipped);
			return;
		}
		end = begin > log ? begin - 1 : log;
	}
}

void bb_refusal_of_verifier(const char *log, char *ret_reason, size_t size)
{
	find_last(log, is_of_verifier, 0, ret_reason, size);
}

void bb_refusal_of_libbpf(const char *log, char *ret_reason, size_t size)
{
	find_last(log, is_of_libbpf, strlen(LIBBPF), ret_reason, size);
}

void bb_refusal_log_of_verifier(const char *log, char *ret_log, size_t size)
{
	size_t len = 0;

	ret_log[0] = '\0';
	while (*log && len + 1 < size) {
		struct line l = {log, strcspn(log, "\n")};
		bool is_last = !l.text[l.len];

		if (!begins(&l, LIBBPF) && !begins(&l, "-- ")) {
			len += (size_t)snprintf(ret_log + len, size - len, "%.*s\n", (int)l.len,
						l.text);
		}
		log += l.len + !is_last;
	}
}
