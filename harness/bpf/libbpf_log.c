/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/libbpf_log.h"

#include <bpf/libbpf.h>

#include "base/parse.h"

#define LOG_BEGINS "-- BEGIN PROG LOAD LOG --"
#define LOG_ENDS "-- END PROG LOAD LOG --"
/* We keep at most this many bytes of warnings, from their end. An error message has room for
 * 4096. */
#define KEEP 3000

#define MOST_STATS 65536u /* most bytes of the logs of successful loads */

static __thread char log_text[KEEP + 1];
static __thread size_t log_len;
/* logs of this thread's successful loads; NULL if there are none */
static __thread char *stats_text;
static __thread size_t stats_len;

static __thread char tried_relo[400]; /* the CO-RE relocation that was tried last */
static __thread struct bb_missing_name missing[BB_MOST_MISSING];
static __thread size_t n_missing;

/* Remembers CO-RE relocations that fail. libbpf first prints that it tries one: "prog 'x': relo #0:
 * <byte_off> [19] struct task_struct.member (0:0 @ offset 0)". If the kernel has no such member, it
 * then prints "prog 'x': relo #0: substituting insn #7 w/ invalid insn". */
static void note_relo(const char *text)
{
	const char *name = strstr(tried_relo, "] "), *of = strchr(text, '\''), *at;
	struct bb_missing_name m = {0};
	uint64_t insn = 0;
	size_t n;

	at = strstr(text, "substituting insn #");
	if (!at) {
		if (strstr(text, ": <") && strstr(text, "> [") && !strstr(text, " candidate "))
			snprintf(tried_relo, sizeof(tried_relo), "%s", text);
		return;
	}
	at += strlen("substituting insn #");
	if (!name || !of || n_missing == BB_MOST_MISSING || bb_parse_digits(&at, &insn))
		return;
	n = strcspn(name + 2, "(=\n");
	while (n && name[n + 1] == ' ')
		n--;
	snprintf(m.name, sizeof(m.name), "%.*s", (int)n, name + 2);
	snprintf(m.function, sizeof(m.function), "%.*s", (int)strcspn(of + 1, "'"), of + 1);
	m.insn = (uint32_t)insn;
	missing[n_missing++] = m;
}

static int on_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	/* libbpf reports the log of a successful load at debug level only */
	bool is_stats = level == LIBBPF_DEBUG && strstr(fmt, LOG_BEGINS),
	     is_relo = level == LIBBPF_DEBUG && strstr(fmt, "relo #");
	char *text = NULL;
	size_t len, kept;

	if (level != LIBBPF_WARN && !is_stats && !is_relo)
		return 0;
	int n = vasprintf(&text, fmt, ap);
	if (n < 0)
		return n;
	len = (size_t)n;
	if (is_stats && stats_len + len < MOST_STATS) {
		bb_resize(&stats_text, stats_len + len + 1, 1);
		memcpy(stats_text + stats_len, text, len + 1);
		stats_len += len;
	} else if (is_relo) {
		note_relo(text);
	} else if (!is_stats) {
		len = len < KEEP ? len : KEEP;
		kept = log_len < KEEP - len ? log_len : KEEP - len;
		memmove(log_text, log_text + log_len - kept, kept);
		memcpy(log_text + kept, text + (size_t)n - len, len);
		log_len = kept + len;
		log_text[log_len] = '\0';
	}
	free(text);
	return n;
}

void bb_libbpf_log__begin(void)
{
	log_len = 0;
	log_text[0] = tried_relo[0] = '\0';
	n_missing = 0;
	free(stats_text);
	stats_text = NULL;
	stats_len = 0;
	libbpf_set_print(on_print);
}

const char *bb_libbpf_log__text(void)
{
	return log_text;
}

size_t bb_libbpf_log__missing(const struct bb_missing_name **ret_missing)
{
	*ret_missing = missing;
	return n_missing;
}

bool bb_libbpf_log__of_loaded(const char *program, char *ret_log, size_t size)
{
	const char *begins, *ends;
	char head[200];

	snprintf(head, sizeof(head), "prog '%s': " LOG_BEGINS, program);
	begins = stats_text ? strstr(stats_text, head) : NULL;
	begins = begins ? begins + strlen(head) : NULL;
	ends = begins ? strstr(begins, LOG_ENDS) : NULL;
	if (!ends || (size_t)(ends - begins) >= size)
		return false;
	memcpy(ret_log, begins, (size_t)(ends - begins));
	ret_log[ends - begins] = '\0';
	return true;
}

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

/* True for a line with an instruction or with states of registers, such as "12: (85) call bpf_x#1",
 * "12: R0=0 R10=fp0", "R0_w=0 R10=fp0" and "from 3 to 5: ...". */
static bool is_state(const struct line *l)
{
	size_t at = strspn(l->text, "0123456789");

	if (l->text[0] == 'R' && isdigit((unsigned char)l->text[1])) {
		for (at = 2; isalnum((unsigned char)l->text[at]) || l->text[at] == '_';)
			at++;
		return l->text[at] == '=';
	}
	return (at && l->text[at] == ':' && l->text[at + 1] == ' ') || begins(l, "from ");
}

static bool is_of_verifier(const struct line *l)
{
	static const char *const others[] = {
		"processed ",   "verification time ", "stack depth ", "peak_states ",   "; ",
		"cur state:",   "old state:",         "-- END PROG ", "-- BEGIN PROG ", "func#",
		"mark_precise", "Live regs",          "libbpf: ",     "last_idx ",      "regs=",
	};

	return l->len && !is_state(l) && !BB_ANY(others, BB_LEN(others), begins(l, *it));
}

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

	return begins(l, LIBBPF) &&
	       !BB_ANY(general, BB_LEN(general), memmem(l->text, l->len, *it, strlen(*it)));
}

static void find_last(const char *log, bool (*fits)(const struct line *l), size_t skipped,
		      char *ret_reason, size_t size)
{
	const char *end = log + strlen(log);

	ret_reason[0] = '\0';
	while (end > log) {
		const char *before = memrchr(log, '\n', (size_t)(end - log));
		const char *begin = before ? before + 1 : log;
		struct line l = {begin, (size_t)(end - begin)};

		if (fits(&l)) {
			snprintf(ret_reason, size, "%.*s", (int)(l.len - skipped),
				 l.text + skipped);
			return;
		}
		end = before ? before : log;
	}
}

/* such as "; return *p; @ prog.bpf.c:7" */
static bool is_source(const struct line *l)
{
	return begins(l, "; ") && l->len > 3;
}

void bb_refusal_of_verifier(const char *log, char *ret_reason, size_t size)
{
	char source[160];

	find_last(log, is_of_verifier, 0, ret_reason, size);
	find_last(log, is_source, 2, source, sizeof(source));
	size_t len = strlen(ret_reason);
	if (len && source[0] && len < size)
		snprintf(ret_reason + len, size - len, ", at: %s", source);
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

		if (!begins(&l, LIBBPF) && !begins(&l, "-- ")) {
			len += (size_t)snprintf(ret_log + len, size - len, "%.*s\n", (int)l.len,
						l.text);
		}
		log += l.len + (l.text[l.len] == '\n');
	}
}
