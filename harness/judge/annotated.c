/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/annotated.h"

#include <linux/openat2.h>

#include "base/io.h"

#define MAX_BYTES (16u << 20)

static bool is_source_name(const char *path)
{
	static const char *const suffixes[] = {".c",  ".h",   ".cc",  ".cpp", ".cxx",
					       ".hh", ".hpp", ".inc", ".rs"};
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

	return dot && BB_ANY(suffixes, BB_LEN(suffixes), !strcmp(dot, *it));
}

/* True if a part of the path begins with a dot and is neither "." nor "..". */
static bool has_hidden_part(const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (*path == '.' && len != 1 && !(len == 2 && path[1] == '.'))
			return true;
		path += len + strspn(path + len, "/");
	}
	return false;
}

/* Reads a source file that an object's BTF or a stored run names. free() `*ret_text`. The author of
 * the object or stored run can write any path there, and can perhaps read our output. So only
 * regular files with the name of source code (".c", ".h", ".rs", ...) are read. They must lie in
 * the git work tree of the current folder or, without a work tree, below the current folder. No
 * symbolic links are followed and no hidden folders (.git, .ssh) are entered. Relative paths begin
 * at the current folder. Returns 0, -EXDEV for a file that must not be read, or -errno. */
static int read_source_file(const char *path, char **ret_text)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	char here[PATH_MAX], git[PATH_MAX + 8], relative[2 * PATH_MAX];
	size_t tree_len, len;
	int tree_fd, fd, n;

	if (!getcwd(here, sizeof(here)) || *here != '/')
		return -ENOENT;
	/* without a work tree, `tree_len` is the length of the current folder's path */
	tree_len = strlen(here);
	for (len = tree_len; len; len = (size_t)((char *)memrchr(here, '/', len) - here)) {
		snprintf(git, sizeof(git), "%.*s/.git", (int)len, here);
		if (!faccessat(AT_FDCWD, git, F_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW)) {
			tree_len = len;
			break;
		}
	}
	if (*path != '/')
		n = snprintf(relative, sizeof(relative), ".%s/%s", here + tree_len, path);
	else if (!strncmp(path, here, tree_len) && path[tree_len] == '/')
		n = snprintf(relative, sizeof(relative), ".%s", path + tree_len);
	else
		return -EXDEV;
	if (n < 0 || (size_t)n >= sizeof(relative))
		return -ENAMETOOLONG;
	if (!is_source_name(relative) || has_hidden_part(relative))
		return -EXDEV;
	here[tree_len] = '\0';
	tree_fd = open(*here ? here : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (tree_fd < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, tree_fd, relative, &how, sizeof(how));
	fd = fd < 0 ? -errno : fd;
	close(tree_fd);
	if (fd < 0)
		return fd == -ELOOP ? -EXDEV : fd;
	return bb_read_and_close(fd, MAX_BYTES, ret_text, &len);
}

/* If there are more lines without code between two lines with code, none of them is shown. */
#define CONTEXT 4u

struct source {
	char *text; /* NULL if the file could not be read */
	size_t n;
	char **lines; /* lines[i] is the text of line number i, i from 1 to n */
};

/* True if the texts differ only in white space, which compilers may drop. */
static bool same_words(const char *a, const char *b)
{
	for (;;) {
		while (isspace((unsigned char)*a))
			a++;
		while (isspace((unsigned char)*b))
			b++;
		if (!*a || *a != *b)
			return *a == *b;
		a++;
		b++;
	}
}

/* Two equal blank lines are no sign that the file is unchanged. */
static bool says_something(const char *text)
{
	return text[strspn(text, " \t\r\n\v\f")];
}

const char *bb_counted_text(const struct bb_counted_line *l)
{
	return l->line ? l->text : "(no source line)";
}

/* Adds rows for the lines without code between `a` and `b`: one each if there are at most CONTEXT
 * of them and the BTF has the texts of `a` and `b`, because then these have been compared with the
 * file. Otherwise adds one row without a text for all of them. */
static void add_between(struct bb_annotated *file, const struct bb_counted_line *a,
			const struct bb_counted_line *b, const struct source *s)
{
	uint32_t from = a->line, to = b->line;

	if (!from || to <= from + 1)
		return;
	if (!s->text || to - from - 1 > CONTEXT || !says_something(a->text) ||
	    !says_something(b->text))
		file->rows[file->n++] = (struct bb_annotated_row){.line = from + 1};
	else
		for (uint32_t line = from + 1; line < to && line <= s->n; line++)
			file->rows[file->n++] = (struct bb_annotated_row){.line = line,
									  .text = s->lines[line]};
}

struct bb_annotated bb_annotated__make(const struct bb_counted_line *lines, size_t n)
{
	struct bb_annotated file = {.path = lines[0].file, .state = BB_SOURCE_AS_BUILT};
	struct source s = {0};
	size_t n_source = 2;
	int rc = read_source_file(file.path, &s.text);

	for (const char *at = s.text; at && *at; at++)
		n_source += *at == '\n';
	s.lines = bb_calloc(n_source, sizeof(*s.lines));
	for (char *at = s.text; at && *at;) {
		s.lines[++s.n] = at;
		at = strchr(at, '\n');
		if (at)
			*at++ = '\0';
	}
	if (!s.text) {
		file.state = rc == -EXDEV ? BB_SOURCE_ELSEWHERE : BB_SOURCE_GONE;
	} else if (BB_ANY(lines, n,
			  it->line && it->text[0] &&
				  (it->line > s.n || !same_words(s.lines[it->line], it->text)))) {
		file.state = BB_SOURCE_CHANGED;
		free(s.text);
		free(s.lines);
		s = (struct source){0};
	}
	file.rows = bb_calloc(n * (1 + CONTEXT), sizeof(*file.rows));
	for (size_t i = 0; i < n; i++) {
		if (i)
			add_between(&file, &lines[i - 1], &lines[i], &s);
		file.rows[file.n++] = (struct bb_annotated_row){&lines[i], lines[i].line,
								bb_counted_text(&lines[i])};
	}
	free(s.lines);
	file.source = s.text;
	return file;
}

void bb_annotated__done(struct bb_annotated *file)
{
	free(file->rows);
	free(file->source);
	*file = (struct bb_annotated){0};
}

const char *bb_source_note(enum bb_source_state state)
{
	static const char *const notes[] = {
		[BB_SOURCE_AS_BUILT] = "",
		[BB_SOURCE_GONE] = " (not there any more: the lines that the BTF keeps)",
		[BB_SOURCE_ELSEWHERE] = " (not in this tree: the lines that the BTF keeps)",
		[BB_SOURCE_CHANGED] = " (changed since the build: the lines that the BTF keeps)",
	};

	return notes[state];
}

size_t bb_counted__lines_of_file(const struct bb_counted *c, size_t first)
{
	size_t n = 1;

	while (first + n < c->n_lines && !strcmp(c->lines[first].file, c->lines[first + n].file))
		n++;
	return n;
}

static int by_instructions(const void *a, const void *b)
{
	const struct bb_counted_line *const *x = a, *const *y = b;

	/* c->lines is sorted by file and line */
	return BB_ORDER((*y)->instructions, (*x)->instructions) ?: BB_ORDER(*x, *y);
}

const struct bb_counted_line **bb_counted__hottest(const struct bb_counted *c)
{
	const struct bb_counted_line **order = bb_calloc(c->n_lines, sizeof(*order));

	for (size_t i = 0; i < c->n_lines; i++)
		order[i] = &c->lines[i];
	qsort(order, c->n_lines, sizeof(*order), by_instructions);
	return order;
}

bool bb_counted__is_once(const struct bb_counted *c)
{
	return !BB_ANY(c->lines, c->n_lines, it->executions != c->runs);
}
