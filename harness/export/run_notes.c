/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/text.h"
#include "core/drive_kind.h"
#include "export/documents.h"

/* a note names programs that execute less than this share of their instructions */
#define LITTLE_SHARE 0.25
/* A case gets a note if it reached less than this share of its requested rate. Even a busy machine
 * reaches 0.98. */
#define REACHED 0.9
#define NAMED_LOADS 8 /* a note about void series names at most this many loads */

/* Notes are first collected as pairs of blocks. The first block names the case, the second the
 * cause. Then bb_doc_notes() joins notes with the same cause. */

/* Adds one note about series `i` and all other series that are void for the same reason. Does
 * nothing if the note of an earlier series has this reason. */
static void note_void(struct bb_doc *notes, const struct bb_case *c, size_t i)
{
	const char *why = bb_series_why_void(&c->series[i]);
	char loads[NAMED_LOADS * 12 + 8] = "";
	size_t n = 0;

	for (size_t k = 0; k < c->n_series; k++) {
		if (!bb_same_text(bb_series_why_void(&c->series[k]), why))
			continue;
		if (k < i)
			return;
		if (n++ < NAMED_LOADS)
			bb_list_words(loads, sizeof(loads), ", ", "%" PRIu32, c->series[k].load);
	}
	bb_doc__add(notes, BB_DOC_ITEM, "void", "%s: %zu of %zu series (load %s%s): ", c->name, n,
		    c->n_series, loads, n > NAMED_LOADS ? ", ..." : "");
	bb_doc__add(notes, BB_DOC_SUBITEM, NULL, "%s%s%s", why,
		    c->returned_at ? "; it returned at " : "",
		    c->returned_at ? c->returned_at : "");
}

static void note_sum(struct bb_doc *notes, const struct bb_case *c, const char *label, uint64_t n,
		     const char *what_they_are)
{
	if (!n)
		return;
	bb_doc__add(notes, BB_DOC_ITEM, label, "%s: ", c->name);
	bb_doc__add(notes, BB_DOC_SUBITEM, NULL, "%" PRIu64 " %s", n, what_they_are);
}

static void note_case(struct bb_doc *notes, const struct bb_case *c, bool voids)
{
	double achieved = c->summary.rate_achieved.value;
	double requested = c->summary.rate_requested.value;
	uint64_t misses = 0, retries = 0;

	for (size_t k = 0; k < c->n_series; k++) {
		if (voids && bb_series_why_void(&c->series[k]))
			note_void(notes, c, k);
		misses += c->series[k].misses;
		retries += c->series[k].retries;
	}
	if (achieved < REACHED * requested) {
		bb_doc__add(notes, BB_DOC_ITEM, "below the rate", "%s: ", c->name);
		bb_doc__add(notes, BB_DOC_SUBITEM, NULL,
			    "%s of %.0f Hz: the CPU was busy otherwise, or can do no more; caches "
			    "are as cold as at the lower rate",
			    bb_table_cell_number(achieved, requested).text, requested);
	}
	if (bb_is_behind(c)) {
		bb_doc__add(notes, BB_DOC_ITEM, "behind", "%s: ", c->name);
		bb_doc__add(notes, BB_DOC_SUBITEM, NULL,
			    "the consumer finished %.0f of %.0f samples: it takes them %s, so the "
			    "lag grows until the ring is full and samples are dropped",
			    c->summary.pipeline.consumed.value, c->summary.pipeline.produced.value,
			    c->summary.pipeline.consumed.value > 0 ? "more slowly than they come"
								   : "never");
	}
	note_sum(notes, c, "misses", misses, "runs that the kernel refused (recursion)");
	note_sum(notes, c, "retries", retries, "calls were broken off by signals and made again");
}

/* True if the notes `a` and `b` have the same label, and their causes differ only in numbers. */
static bool is_same_cause(const struct bb_doc_block *a, const struct bb_doc_block *b)
{
	const char *x = a[1].text, *y = b[1].text;

	if (strcmp(a->label, b->label))
		return false;
	while (*x && *y) {
		size_t nx = strspn(x, "0123456789."), ny = strspn(y, "0123456789.");

		if (!nx != !ny || (!nx && *x != *y))
			return false;
		x += nx ? nx : 1;
		y += ny ? ny : 1;
	}
	return *x == *y;
}

static void say_little_executed(const struct bb_report *r, struct bb_doc *d)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		/* other notes tell of failed lookups and early returns */
		if (!c->n_insns || c->executed_insns >= LITTLE_SHARE * c->n_insns || c->n_in_vain ||
		    c->turned_file)
			continue;
		/* an earlier table shows the program with the same number */
		if (BB_ANY(r->cases, i,
			   bb_same_program(it, c) && !bb_same_table(it, c) &&
				   it->executed_insns == c->executed_insns))
			continue;
		if (!n++)
			bb_doc__add(d, BB_DOC_ITEM, "little executed", "%s", "");
		bb_doc__append(d, "%s%s/%s (%" PRIu32 " of %" PRIu32 " instructions)",
			       n > 1 ? ", " : "", c->scenario, c->variant, c->executed_insns,
			       c->n_insns);
	}
	if (n)
		bb_doc__append(d, ": a filter ends the run early, or the input takes a short path; "
				  "`bpfbench init OBJECT` lists globals that filter, `annotate` "
				  "the lines");
}

/* Adds remarks about the run as a whole, each at most once. */
static void say_once(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d)
{
	bool is_near_0 = false, is_live = false, lacks_pmu = false, lacks_half = false;

	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		is_near_0 |= bb_net_is_near_0(c) && (detail != BB_SHORT || !r->n_comparisons);
		lacks_half |= isfinite(c->summary.net.value) && isnan(c->summary.net.lo);
		is_live |= c->is_live && isfinite(c->summary.latency.lo);
		lacks_pmu |= (bb_drive_kind_named(c->drive)->fills & BB_FILLS_PMU) &&
			     !isnan(c->summary.latency.value) &&
			     !isfinite(c->summary.slope.cycles.value);
	}
	if (is_near_0)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    BB_NEAR_0_MARK " net not larger than its +-, or below 0: it may be 0; "
					   "a longer --budget or more --loads may tell");
	if (lacks_half && !bb_counts_instructions(r) && (detail != BB_SHORT || !r->n_comparisons))
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "a net without +-: too few loads count for an interval; more --loads "
			    "give one");
	if (lacks_pmu && detail == BB_DETAILS)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "no cycles, instructions or cache misses a run: this machine shows no "
			    "PMU (bpfbench check)");
	if (is_live)
		bb_doc__add(d, BB_DOC_ITEM, NULL,
			    "live: programs of others are not loaded anew: their intervals are "
			    "over slices of time, not over loads");
}

size_t bb_doc_notes(const struct bb_report *r, enum bb_detail detail, struct bb_doc *d)
{
	/* the rows of the comparisons already show skips and void series */
	bool in_rows = detail == BB_SHORT && r->n_comparisons;
	struct bb_doc notes = {0};
	size_t before = d->n;

	for (size_t i = 0; i < r->n_skips && !in_rows; i++) {
		/* the reason already says which loads were skipped */
		bool is_of_loads = strstr(r->skips[i].what, "/loads ");

		bb_doc__add(&notes, BB_DOC_ITEM, "skipped", "%s%s",
			    is_of_loads ? "" : r->skips[i].what, is_of_loads ? "" : ": ");
		bb_doc__add(&notes, BB_DOC_SUBITEM, NULL, "%s", r->skips[i].why);
	}
	for (size_t i = 0; i < r->n_cases; i++)
		note_case(&notes, &r->cases[i], !in_rows);
	for (size_t i = 0; i < notes.n; i += 2) {
		const struct bb_doc_block *note = &notes.blocks[i];
		/* with BB_DETAILS, only notes that name no case are joined */
		bool is_joined = detail != BB_DETAILS || !note->text[0];
		size_t n_before = 0, more = 0;

		for (size_t k = 0; k < notes.n && is_joined; k += 2)
			if (k != i && is_same_cause(note, &notes.blocks[k]))
				*(k < i ? &n_before : &more) += 1;
		if (n_before)
			continue;
		bb_doc__add(d, BB_DOC_ITEM, note->label, "%s%s", note->text, note[1].text);
		if (more)
			bb_doc__append(d, " (and %zu more like it)", more);
	}
	bb_doc__done(&notes);
	say_little_executed(r, d);
	say_once(r, detail, d);
	return d->n - before;
}

/* Kinds of input that may make a program return early. turned_remedies[] has advice on each. */
enum turned_input { OF_PACKETS, OF_CONTEXTS, OF_EVENTS, OF_PAGE_FAULTS, N_INPUTS };

static const char *const turned_remedies[] = {
	[OF_PACKETS] = "another packet (`--packet FILE`)",
	[OF_CONTEXTS] = "another context (`--ctx FILE`)",
	[OF_EVENTS] = "another event (`bpfbench triggers` lists them)",
	[OF_PAGE_FAULTS] = "a real workload (`with: in-situ`)",
};

static enum turned_input input_of(const struct bb_report *r, const struct bb_case *c)
{
	static const struct {
		const char *type;
		enum turned_input input;
	} types[] = {
		{"socket_filter", OF_PACKETS},  {"sched_cls", OF_PACKETS},
		{"sched_act", OF_PACKETS},      {"cgroup_skb", OF_PACKETS},
		{"lwt_in", OF_PACKETS},         {"lwt_out", OF_PACKETS},
		{"lwt_xmit", OF_PACKETS},       {"xdp", OF_PACKETS},
		{"flow_dissector", OF_PACKETS}, {"netfilter", OF_PACKETS},
		{"perf_event", OF_PAGE_FAULTS}, {"syscall", OF_CONTEXTS},
		{"sk_lookup", OF_CONTEXTS},
	};
	const struct bb_program *p = bb_report__program_of(r, c);

	for (size_t k = 0; p && k < BB_LEN(types); k++)
		if (bb_same_text(p->type, types[k].type))
			return types[k].input;
	return OF_EVENTS;
}

struct noting {
	const struct bb_report *r;
	/* one case of the table that the notes are about; NULL if they are about all cases */
	const struct bb_case *table;
	bool is_compared; /* the cases are those of base and head */
	/* index of a block of `d`; a note in this block or a later one is not added again */
	size_t from;
	struct bb_doc *d;
};

/* True if `places` contains `place`, which ends in a line number: "a.c:2" is not in "a.c:20". */
static bool names_place(const char *places, const char *place)
{
	const char *at = places;

	while ((at = strstr(at, place)) && isdigit((unsigned char)at[strlen(place)]))
		at++;
	return at != NULL;
}

/* Joins two texts that differ only in a place of the code, "(prog.bpf.c:20)". Returns `a` with both
 * places, or NULL if the texts differ in something else. The caller frees the text. */
static char *join_places(const char *a, const char *b)
{
	size_t at = 0, end_a, len_b;
	char *place_a, *place_b, *text;

	while (a[at] && a[at] == b[at])
		at++;
	while (at && a[at] != '(')
		at--;
	end_a = at + strcspn(a + at, ")");
	len_b = strcspn(b + at, ")");
	if (a[at] != '(' || b[at] != '(' || !memchr(b + at, ':', len_b) ||
	    strcmp(a + end_a, b + at + len_b))
		return NULL;
	place_a = bb_strndup(a + at + 1, end_a - at - 1);
	place_b = bb_strndup(b + at + 1, len_b - 1);
	text = names_place(place_a, place_b) ? bb_strdup(a)
	       : names_place(place_b, place_a)
		       ? bb_strdup(b)
		       : bb_asprintf("%.*s, %s%s", (int)end_a, a, place_b, a + end_a);
	free(place_a);
	free(place_b);
	return text;
}

/* Adds a note "NAME: WORDS" about the case `c`, unless block k->from or a later one has the same
 * note. In a comparison, a note with the same words about the other program becomes a note about
 * both. */
static void add_once(const struct noting *k, const struct bb_case *c, const char *label,
		     const char *words)
{
	char *name = k->table ? bb_strdup(c->variant)
			      : bb_asprintf("%s%s%s", c->scenario, k->is_compared ? ", " : "/",
					    c->variant);
	char *text = bb_asprintf("%s: %s", name, words);
	/* length of the scenario's name, which base and head share */
	size_t of_both = k->table ? 0 : strlen(c->scenario);
	struct bb_doc *d = k->d;
	bool is_said = false;
	char *joined;

	for (size_t i = k->from; i < d->n && !is_said; i++) {
		char **said = &d->blocks[i].text;
		const char *after = *said ? strstr(*said, ": ") : NULL;

		is_said = *said && !strcmp(*said, text);
		/* skip blocks that are not about the other program of the comparison */
		if (is_said || !k->is_compared || !after ||
		    (!k->table &&
		     (strncmp(*said, name, of_both) || !strchr(",:", (*said)[of_both]))))
			continue;
		joined = strcmp(after + 2, words) ? join_places(after + 2, words)
						  : bb_strdup(words);
		if (!joined)
			continue;
		is_said = true;
		free(*said);
		*said = bb_asprintf("%.*s: %s", k->table ? 4 : (int)of_both,
				    k->table ? "both" : name, joined);
		free(joined);
	}
	if (!is_said)
		bb_doc__add(d, BB_DOC_BAD_ITEM, label, "%s", text);
	free(text);
	free(name);
}

/* True if the notes are about the case `c`: they are about all cases (k->table is NULL), or `c` is
 * in the same table as the case k->table. A sweep has one table for all values of its parameter. */
static bool is_beside(const struct noting *k, const struct bb_case *c)
{
	return !k->table || bb_same_table(c, k->table) ||
	       (bb_same_group(c, k->table) && bb_is_sweep(k->r, (size_t)(k->table - k->r->cases)));
}

/* Returns the index of the block with the scenario's first title, or 0 if there is none. Notes from
 * this block on are not repeated. */
static size_t beginning_of(const char *scenario, const struct bb_doc *d)
{
	size_t length = strlen(scenario), i = 0;

	while (i < d->n &&
	       (d->blocks[i].kind != BB_DOC_TITLE || strncmp(d->blocks[i].text, scenario, length) ||
		d->blocks[i].text[length] != ','))
		i++;
	return i < d->n ? i : 0;
}

bool bb_doc_is_searched(const struct bb_report *r)
{
	return (r->command && strstr(r->command, " --try-inputs")) ||
	       BB_ANY(r->cases, r->n_cases, it->found);
}

/* Adds advice about the failed lookup `v`. With `is_searched`, does not advise `--try-inputs`. */
static void add_remedy(const struct bb_report *r, const struct bb_in_vain *v, bool is_searched,
		       struct bb_doc *d)
{
	bool is_named = v->map && !v->is_tail_call && !v->is_inner;

	if (v->entries > 0 && !v->is_tail_call)
		bb_doc__add(d, BB_DOC_SUBITEM, NULL,
			    "so this is the cost of not finding; give it keys that are in the map "
			    "(`--packet FILE`, `--ctx FILE`)%s fill the map (`maps:` of a "
			    "scenario)%s",
			    is_searched ? " or" : ",",
			    is_searched ? "" : ", or let `--try-inputs` search for both");
	else if (v->is_captured)
		bb_doc__add(d, BB_DOC_SUBITEM, NULL,
			    "so this is the cost without these entries; let the command fill the "
			    "map before its capture ends (`--for`, `--until`), or fill it in a "
			    "scenario (`maps:`)");
	else if (is_named && bb_doc_advises_fill(r))
		bb_doc__add(d, BB_DOC_SUBITEM, NULL,
			    "so this is the cost of a miss; `bpfbench -- LOADER` measures with the "
			    "entries that a loader makes");
	else
		bb_doc__add(d, BB_DOC_SUBITEM, NULL,
			    "the cost of a miss; fill it: `--fill %s=N` or `bpfbench -- LOADER`",
			    is_named ? v->map : "MAP");
}

/* True if the same check of the program ends the runs of both cases early. */
static bool is_turned_alike(const struct bb_case *a, const struct bb_case *b)
{
	return a->turned_file && a->turned_line == b->turned_line &&
	       !strcmp(a->turned_file, b->turned_file);
}

/* Returns the values of the parameter at which the check that ends the runs of `c` early does so,
 * for example " with input=arp". Returns "" if these are all values. The caller frees the text. */
static char *name_turned_away(const struct bb_report *r, const struct bb_case *c)
{
	const struct bb_case *first = NULL;
	size_t n = 0, others = 0;

	for (size_t i = 0; i < r->n_cases && c->param; i++) {
		const struct bb_case *o = &r->cases[i];

		if (!bb_same_curve(o, c))
			continue;
		if (!is_turned_alike(o, c))
			others++;
		else if (!n++)
			first = o;
	}
	if (!first || !others)
		return bb_strdup("");
	return n > 1 ? bb_asprintf(" with %s=%s and %zu more", first->param, first->param_text,
				   n - 1)
		     : bb_asprintf(" with %s=%s", first->param, first->param_text);
}

/* Adds a note for each check that ends runs early, and advice on what to do about the check. */
static void add_turned_away(const struct noting *k)
{
	const struct bb_report *r = k->r;
	struct bb_doc *d = k->d;
	bool is_said[N_INPUTS] = {false};

	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];
		size_t before = d->n;
		char *words, *with;

		/* production sends this input (`path_share` > 0), so an early return is normal */
		if (!c->turned_file || c->path_share > 0 || !is_beside(k, c) ||
		    BB_ANY(r->cases, i,
			   is_turned_alike(it, c) && is_beside(k, it) && bb_same_program(it, c)))
			continue;
		with = name_turned_away(r, c);
		words = bb_asprintf("all runs%s leave at %s:%" PRIu32 "%s%.100s%s; %" PRIu32
				    " of %" PRIu32 " instructions are behind it",
				    with, basename(c->turned_file), c->turned_line,
				    c->turned_text ? " \"" : "",
				    c->turned_text ? c->turned_text : "",
				    c->turned_text ? "\"" : "", c->turned_insns, c->n_insns);
		add_once(k, c, "early return", words);
		free(words);
		free(with);
		is_said[input_of(r, c)] |= d->n > before;
	}
	for (size_t i = 0; i < N_INPUTS; i++) {
		bool is_tried = i == OF_PAGE_FAULTS && bb_has_drive(r, "in-situ");

		if (is_said[i])
			bb_doc__add(d, BB_DOC_SUBITEM, NULL,
				    "to get further: %s%sother globals or maps (a scenario)%s",
				    is_tried ? "" : turned_remedies[i], is_tried ? "" : ", ",
				    bb_doc_is_searched(r) ? "" : ", or `--try-inputs`");
	}
}

static bool is_same_map(const struct bb_in_vain *a, const struct bb_in_vain *b)
{
	return bb_same_text(a->map, b->map) && a->is_inner == b->is_inner &&
	       a->is_tail_call == b->is_tail_call && (a->entries > 0) == (b->entries > 0);
}

/* True if the same lookup failed at an earlier value of the parameter. */
static bool failed_before(const struct bb_report *r, const struct bb_case *c,
			  const struct bb_in_vain *v)
{
	for (const struct bb_case *o = r->cases; o < c; o++)
		if (bb_same_curve(o, c) && BB_ANY(o->in_vain, o->n_in_vain,
						  is_same_map(it, v) && it->line == v->line &&
							  bb_same_text(it->file, v->file)))
			return true;
	return false;
}

/* Returns the number of other programs whose lookups in the map of `v` failed, too. Returns
 * SIZE_MAX if one of these programs comes before `c`, because its note already counts the program
 * of `c`. Returns 0 in a comparison, in which add_once() joins the notes. */
static size_t count_alike(const struct noting *k, const struct bb_case *c,
			  const struct bb_in_vain *v)
{
	const char *last = c->variant;
	size_t n = 0;

	for (size_t i = 0; i < k->r->n_cases && !k->is_compared; i++) {
		const struct bb_case *o = &k->r->cases[i];

		if (strcmp(o->scenario, c->scenario) || !strcmp(o->variant, c->variant) ||
		    !is_beside(k, o) || !BB_ANY(o->in_vain, o->n_in_vain, is_same_map(it, v)))
			continue;
		if (o < c)
			return SIZE_MAX;
		n += strcmp(o->variant, last) != 0;
		last = o->variant;
	}
	return n;
}

static void add_notes(const struct noting *k)
{
	const struct bb_report *r = k->r;
	/* the lookup to give advice about, if possible one in a map that the user can fill */
	const struct bb_in_vain *last = NULL;
	size_t before = k->d->n;

	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (!is_beside(k, c))
			continue;
		if (c->found)
			add_once(k, c, BB_FOUND_TITLE, BB_FOUND_IS);
		for (size_t n = 0; n < c->n_in_vain; n++) {
			const struct bb_in_vain *v = &c->in_vain[n];
			size_t alike = count_alike(k, c, v);
			char *words, *text;

			if (!last || last->is_tail_call || last->is_inner)
				last = v;
			if (alike == SIZE_MAX || (c->param && failed_before(r, c, v)))
				continue;
			words = bb_in_vain__words(v);
			text = alike ? bb_asprintf("%s; likewise %zu more program%s", words, alike,
						   bb_plural(alike))
				     : bb_strdup(words);
			add_once(k, c, "failed lookup", text);
			free(text);
			free(words);
		}
	}
	if (last && k->d->n > before)
		add_remedy(r, last, k->is_compared || bb_doc_is_searched(r), k->d);
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];
		char words[160];

		if (!c->n_unwatched || !is_beside(k, c))
			continue;
		snprintf(words, sizeof(words),
			 "not known for %" PRIu32 " of its lookups and tail calls: the verifier "
			 "refuses the program with a counter at each",
			 c->n_unwatched);
		add_once(k, c, "failed lookup", words);
	}
	add_turned_away(k);
}

void bb_doc_in_vain(const struct bb_report *r, const struct bb_case *table, struct bb_doc *d)
{
	add_notes(&(struct noting){
		.r = r,
		.table = table,
		.is_compared = r->n_comparisons,
		.from = table ? beginning_of(table->scenario, d) : d->n,
		.d = d,
	});
}

void bb_doc_in_vain_of_both(const struct bb_report *r, struct bb_doc *d)
{
	for (size_t i = 0; i < r->n_cases; i++)
		add_notes(&(struct noting){
			.r = r,
			.table = &r->cases[i],
			.is_compared = true,
			.from = beginning_of(r->cases[i].scenario, d),
			.d = d,
		});
}
