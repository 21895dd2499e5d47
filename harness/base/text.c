/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text.h"

size_t bb_utf8_len(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len = s[0] < 0x80   ? 1
		     : s[0] < 0xc2 ? 0
		     : s[0] < 0xe0 ? 2
		     : s[0] < 0xf0 ? 3
		     : s[0] < 0xf5 ? 4
				   : 0;

	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates and values above U+10FFFF are no UTF-8. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

size_t bb_shown_len(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	bool is_control = s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
	bool turns = s[0] == 0xe2 && ((s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae) ||
				      (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9));

	return is_control || turns ? 0 : bb_utf8_len(text);
}

/* Returns 0 if the character is not UTF-8 or not one of XML 1.0 (production 2, Char). */
static size_t xml_char_len(const char *text)
{
	bool is_control = (unsigned char)*text < 0x20 && *text != '\t' && *text != '\n' &&
			  *text != '\r';
	bool is_no_character = !strncmp(text, "\xef\xbf\xbe", 3) ||
			       !strncmp(text, "\xef\xbf\xbf", 3);

	return is_control || is_no_character ? 0 : bb_utf8_len(text);
}

void bb_xml_text_cut(FILE *out, const char *text, size_t max_chars)
{
	static const char *const escaped[128] = {['&'] = "&amp;",
						 ['<'] = "&lt;",
						 ['>'] = "&gt;",
						 ['"'] = "&quot;",
						 ['\''] = "&#39;"};

	for (; text && *text && max_chars; max_chars--) {
		size_t n = xml_char_len(text);

		if (!n)
			fputs("\xef\xbf\xbd", out);
		else if (n == 1 && escaped[(int)*text])
			fputs(escaped[(int)*text], out);
		else
			fwrite(text, 1, n, out);
		text += n ? n : 1;
	}
}

void bb_xml_text(FILE *out, const char *text)
{
	bb_xml_text_cut(out, text, SIZE_MAX);
}

size_t bb_xml_length(const char *text)
{
	size_t length = 0;

	for (; *text; length++) {
		size_t n = xml_char_len(text);

		text += n ? n : 1;
	}
	return length;
}

/* characters without a special meaning to a shell */
static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
			    "%+,-./:=@_";

void bb_put_shell_word(FILE *out, const char *word)
{
	if (*word && !word[strspn(word, plain)]) {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			putc(*word, out);
	putc('\'', out);
}

char *bb_command_line(char *const *argv)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = bb_open_memstream(&text, &size);

	/* argv[0] is a command such as "bpfbench run", and needs no quotes */
	fputs(argv[0], out);
	while (*++argv) {
		size_t len = strspn(*argv, plain);
		const char *equals = memchr(*argv, '=', len);
		bool has_quoted_value = equals && (*argv)[len] && !strncmp(*argv, "--", 2);
		int name_len = has_quoted_value ? (int)(equals + 1 - *argv) : 0; /* with the '=' */

		/* only the value is in quotes, so that bb_command_value() finds the option */
		fprintf(out, " %.*s", name_len, *argv);
		bb_put_shell_word(out, *argv + name_len);
	}
	bb_close_memstream(out);
	return text;
}

/* Returns the length of the word at the beginning of `text`. Sets `*ret_is_other` if a shell might
 * expand or execute a part of the word. */
static size_t word_len(const char *text, bool *ret_is_other)
{
	bool is_quoted = false;
	size_t at = 0;

	for (; text[at] && (is_quoted || text[at] != ' '); at++)
		if (text[at] == '\'')
			is_quoted = !is_quoted;
		else if (!is_quoted && text[at] == '\\' && text[at + 1] == '\'')
			at++;
		else if (!is_quoted && !strchr(plain, text[at]))
			*ret_is_other = true;
	*ret_is_other |= is_quoted;
	return at;
}

bool bb_is_plain_command(const char *text)
{
	bool is_other = false;

	while (*text) {
		text += word_len(text, &is_other);
		text += *text == ' ';
	}
	return !is_other;
}

/* Returns a copy of `command` without `option` and its value. `added`, unless NULL, is put after
 * the name of the command. */
static char *edit_command(const char *command, const char *option, const char *added)
{
	size_t name = strcspn(option, " "), size = 0, n = 0, len;
	bool is_option = true, is_other = strncmp(command, "bpfbench ", 9) != 0;
	char *text = NULL;
	FILE *out = bb_open_memstream(&text, &size);

	for (const char *at = command; *at; at += len + (at[len] == ' '), n++) {
		len = word_len(at, &is_other);
		if (n == 2 && added)
			fprintf(out, " %s", added);
		is_option &= n < 2 || len != 2 || strncmp(at, "--", 2);
		if (n < 2 || !is_option || len < name || strncmp(at, option, name) ||
		    (len > name && at[name] != '=')) {
			fprintf(out, "%s%.*s", n ? " " : "", (int)len, at);
			continue;
		}
		if (len == name && option[name] && at[len]) /* leave out the value, too */
			len += 1 + word_len(at + len + 1, &is_other);
	}
	if (n == 2 && added)
		fprintf(out, " %s", added);
	bb_close_memstream(out);
	if (is_other || n < 2) {
		free(text);
		return NULL;
	}
	return text;
}

char *bb_command_with(const char *command, const char *option)
{
	return edit_command(command, option, option);
}

char *bb_command_without(const char *command, const char *option)
{
	return edit_command(command, option, NULL);
}

char *bb_command_without_all(const char *command, const char *const *options, size_t n)
{
	char *left = command ? bb_strdup(command) : NULL;

	for (size_t i = 0; left && i < n; i++) {
		char *without = bb_command_without(left, options[i]);

		free(left);
		left = without;
	}
	return left;
}

char *bb_command_value(const char *command, const char *option)
{
	size_t name = strlen(option), n = 0, len = 0;
	bool is_other = strncmp(command, "bpfbench ", 9) != 0;
	char *value = NULL;

	for (const char *at = command, *word; *at; at += len + (at[len] == ' ')) {
		len = word_len(at, &is_other);
		if (len == 2 && !strncmp(at, "--", 2))
			break;
		word = at + name + 1;
		if (n++ < 2 || len < name || strncmp(at, option, name) ||
		    (len == name ? !at[len] : at[name] != '='))
			continue;
		free(value); /* the last value of an option counts */
		value = bb_strndup(word, len > name ? len - name - 1 : word_len(word, &is_other));
	}
	if (!is_other)
		return value;
	free(value);
	return NULL;
}

char *bb_command_option(const char *command, const char *option)
{
	char *value = command ? bb_command_value(command, option) : NULL, *text;

	text = value ? bb_asprintf(" %s %s", option, value) : bb_strdup("");
	free(value);
	return text;
}

void bb_add_text(char **text, const char *between, const char *fmt, va_list ap)
{
	char *before = *text, *more = bb_vasprintf(fmt, ap);

	*text = before ? bb_asprintf("%s%s%s", before, between, more) : more;
	if (before)
		free(more);
	free(before);
}

void bb_add_words(char **text, const char *between, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	bb_add_text(text, between, fmt, ap);
	va_end(ap);
}

bool bb_ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len > end_len && !strcmp(text + len - end_len, end);
}

bool bb_has_word(const char *words, char between, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = strstr(words, word); at; at = strstr(at + len, word)) {
		if ((at == words || at[-1] == between) && (at[len] == between || !at[len]))
			return true;
	}
	return false;
}

void bb_list_words(char *list, size_t size, const char *between, const char *fmt, ...)
{
	size_t used = strlen(list);
	va_list ap;

	if (used)
		used += (size_t)snprintf(list + used, size - used, "%s", between);
	va_start(ap, fmt);
	if (used < size)
		vsnprintf(list + used, size - used, fmt, ap);
	va_end(ap);
}

void bb_make_clean(char *text)
{
	while (*text) {
		size_t len = bb_shown_len(text);

		if (!len)
			*text = '?';
		text += len ? len : 1;
	}
}
