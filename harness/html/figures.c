/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/html.h"

#include "base/io.h"
#include "base/parse.h"

/* The colours of plots/style.gp, and the variables of page.css that replace them. */
static const struct {
	uint32_t rgb;
	const char *css;
} colours[] = {
	{0x0072b2, "var(--c0)"},    {0xd55e00, "var(--c1)"},    {0x009e73, "var(--c2)"},
	{0xcc79a7, "var(--c3)"},    {0xe69f00, "var(--c4)"},    {0x56b4e9, "var(--c5)"},
	{0x000000, "var(--c6)"},    {0x808080, "var(--c7)"},    {0x333333, "var(--ink)"},
	{0x666666, "var(--faint)"}, {0xb0b0b0, "var(--dim)"},   {0xdddddd, "var(--line)"},
	{0xe8e8e8, "var(--band)"},  {0xffffff, "var(--panel)"},
};

/* lists of words, each with a blank before and behind it */
static const char elements[] = " svg title g defs path rect text polygon use circle ";
static const char plain_attributes[] = " viewBox d x y width height r cx cy points transform "
				       "font-size font-weight text-anchor "
				       "fill-opacity stroke-width stroke-dasharray stroke-linecap "
				       "stroke-linejoin ";
static const char colour_attributes[] = " fill stroke color ";

struct embedding {
	FILE *out;
	const char *prefix;
	/* number of open elements that are left out, each inside the one before */
	unsigned int hidden;
};

static bool is(const char *at, size_t len, const char *word)
{
	return strlen(word) == len && !strncmp(at, word, len);
}

static bool is_among(const char *name, size_t len, const char *words)
{
	for (const char *at = words; at[1]; at += 1 + strcspn(at + 1, " "))
		if (!strncmp(at + 1, name, len) && at[1 + len] == ' ')
			return true;
	return false;
}

/* Reads "rgb( 0, 114, 178)", "#0072b2" or "black". Returns false for anything else. */
static bool parse_colour(const char *value, size_t len, uint32_t *ret_rgb)
{
	const char *at = value, *end = value + len;
	uint64_t part;

	*ret_rgb = 0;
	if (is(value, len, "black"))
		return true;
	if (len == 7 && *value == '#') {
		at++;
		if (bb_parse_hex_digits(&at, &part) || at != end)
			return false;
		*ret_rgb = (uint32_t)part;
		return true;
	}
	if (len < 4 || strncmp(at, "rgb(", 4))
		return false;
	for (int i = 0; i < 3; i++) {
		at += i ? 1 : 4;
		at += strspn(at, " ");
		if (at >= end || bb_parse_digits(&at, &part) || part > 255)
			return false;
		*ret_rgb = *ret_rgb << 8 | (uint32_t)part;
	}
	return is(at, (size_t)(end - at), ")");
}

static void put_colour(struct embedding *e, const char *value, size_t len)
{
	uint32_t rgb;

	if (!parse_colour(value, len, &rgb)) {
		fputs(is(value, len, "currentColor") ? "currentColor" : "none", e->out);
		return;
	}
	for (size_t i = 0; i < BB_LEN(colours); i++) {
		if (colours[i].rgb == rgb) {
			fputs(colours[i].css, e->out);
			return;
		}
	}
	fprintf(e->out, "#%06x", rgb);
}

static void put_attribute(struct embedding *e, const char *name, size_t name_len, const char *value,
			  size_t len)
{
	bool is_id = is(name, name_len, "id"),
	     is_colour = is_among(name, name_len, colour_attributes);
	bool is_reference = is(name, name_len, "xlink:href") && *value == '#';

	if (!is_id && !is_colour && !is_reference && !is_among(name, name_len, plain_attributes))
		return;
	if (is_reference)
		fprintf(e->out, " href='#%s", e->prefix);
	else
		fprintf(e->out, " %.*s='%s", (int)name_len, name, is_id ? e->prefix : "");
	if (is_colour)
		put_colour(e, value, len);
	for (size_t i = is_reference; !is_colour && i < len; i++)
		if (!strchr("'\"<>", value[i]))
			putc(value[i], e->out);
	putc('\'', e->out);
}

/* Writes the attributes of a tag, unless `hidden`. Returns the address of its '>', or of the '/'
 * before the '>'; NULL if the tag is not well-formed. */
static const char *put_attributes(struct embedding *e, const char *at, bool hidden)
{
	for (;;) {
		const char *name = at += strspn(at, " \t\r\n"), *value;
		size_t name_len = strcspn(name, "= \t\r\n/><"), len;

		if (*at == '>' || *at == '/')
			return at;
		value = name + name_len;
		value += strspn(value, " ");
		if (!name_len || *value != '=')
			return NULL;
		value += 1 + strspn(value + 1, " ");
		if (*value != '\'' && *value != '"')
			return NULL;
		at = strchr(value + 1, *value);
		value++;
		if (!at)
			return NULL;
		len = (size_t)(at++ - value);
		if (!hidden)
			put_attribute(e, name, name_len, value, len);
	}
}

/* Writes one tag. `at` is behind its '<'. Returns the address behind its '>'; NULL if the tag is
 * not well-formed. */
static const char *put_tag(struct embedding *e, const char *at)
{
	bool closing = *at == '/', hidden, empty;
	const char *name = at + closing;
	size_t len = strcspn(name, " \t\r\n/><");

	hidden = e->hidden || !is_among(name, len, elements);
	if (closing) {
		if (!hidden)
			fprintf(e->out, "</%.*s>", (int)len, name);
		e->hidden -= e->hidden > 0;
		return name[len] == '>' ? name + len + 1 : NULL;
	}
	if (!hidden)
		fprintf(e->out, "<%.*s", (int)len, name);
	at = put_attributes(e, name + len, hidden);
	if (!at)
		return NULL;
	empty = *at == '/';
	if (at[empty] != '>')
		return NULL;
	if (!hidden)
		fputs(empty ? "/>" : ">", e->out);
	else if (!empty)
		e->hidden++;
	return at + empty + 1;
}

int bb_svg__embed(FILE *out, const char *svg, const char *prefix)
{
	char *text = NULL;
	size_t len;
	struct embedding e = {.out = bb_open_memstream(&text, &len), .prefix = prefix};
	const char *at = strstr(svg, "<svg");

	while (at && *at) {
		size_t before = strcspn(at, "<");

		if (!e.hidden && strspn(at, " \t\r\n") < before)
			fwrite(at, 1, before, e.out);
		at += before;
		if (!*at)
			break;
		/* A picture by gnuplot has no comments, declarations or processing instructions. */
		if (!strncmp(at, "<!", 2) || !strncmp(at, "<?", 2))
			at = NULL;
		else
			at = put_tag(&e, at + 1);
	}
	int rc = at && !e.hidden ? 0 : -EINVAL;
	bb_close_memstream(e.out);
	if (!rc)
		fwrite(text, 1, len, out);
	free(text);
	return rc;
}

#define MAX_LIST_BYTES (1u << 20)
#define MAX_CAPTION_BYTES 4096u
#define MAX_SVG_BYTES (4u << 20)

void bb_figures__done(struct bb_figures *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].what);
		free(f->v[i].svg);
	}
	free(f->v);
	free(f->list);
	free(f->why);
	*f = (struct bb_figures){0};
}

static int read_picture(const char *dir, const char *name, const char *ext, size_t max,
			char **ret_text, struct bb_err *err)
{
	char *path = bb_asprintf("%s/pictures/%s.%s", dir, name, ext);
	size_t len;
	int rc = bb_read_file(path, max, ret_text, &len, err);

	free(path);
	return rc;
}

/* Adds the figure of a row with the columns kind, name, title, scenario, drive and param. The name
 * "-" means that there is no figure. */
static int add_figure(struct bb_figures *f, const char *dir, char *row, struct bb_err *err)
{
	struct bb_figure v = {0};
	const char *name, *title;
	const char **const cells[] = {&v.kind, &name, &title, &v.scenario, &v.drive, &v.param};

	for (size_t i = 0; i < BB_LEN(cells); i++) {
		*cells[i] = strsep(&row, "\t");
		if (!*cells[i])
			return 0;
	}
	if (!strcmp(name, "-"))
		return 0;
	int rc = read_picture(dir, name, "svg", MAX_SVG_BYTES, &v.svg, err);
	if (!rc)
		rc = read_picture(dir, name, "caption", MAX_CAPTION_BYTES, &v.what, err);
	char *how = rc ? NULL : strchr(v.what, '\n');
	if (how) {
		*how++ = '\0';
		how[strcspn(how, "\n")] = '\0';
		v.how = how;
	}
	BB_PUSH(f->v, f->n, v);
	return rc;
}

int bb_figures__read(const char *dir, struct bb_figures *ret_figures, struct bb_err *err)
{
	struct bb_figures f = {0};
	char *path = bb_asprintf("%s/figures", dir), *at, *row;
	size_t len;
	int rc = bb_read_file(path, MAX_LIST_BYTES, &f.list, &len, err);

	free(path);
	at = f.list;
	while (!rc && (row = strsep(&at, "\n")))
		rc = add_figure(&f, dir, row, err);
	if (rc)
		bb_figures__done(&f);
	else
		*ret_figures = f;
	return rc;
}
