/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_SCENARIO_H
#define BB_PLAN_SCENARIO_H

#include "base/err.h"
#include "base/std.h"
#include "core/drive_kind.h"

/*
 * A scenario: the programs to load and the drives that make them run, read from YAML (libyaml). It
 * is data: a new scenario needs no C. Every complaint names file:line:col. All strings are owned by
 * the scenario; bb_scenario_free() takes NULL.
 */

struct bb_where { /* where in the file an item stands, 1-based, for messages */
	uint32_t line, col;
};

/*
 * `{pid: self}` in the place of a number: a value that is known only when the program is about to
 * be loaded, as it is of the process that will fire it. Filters of tracers (`targ_pid`, a map of
 * cgroups) then let that process through.
 */
enum bb_self { BB_SELF_NONE, BB_SELF_PID, BB_SELF_COMM, BB_SELF_CGROUP };

struct bb_self_values {
	uint32_t pid;       /* 0: there is none to be known */
	char comm[16];      /* "": likewise */
	uint64_t cgroup_id; /* 0: likewise */
	int cgroup_fd;      /* its folder, borrowed; -1: likewise */
};

/* Why there is no value. */
#define BB_SELF_UNKNOWN                                                                            \
	"only programs that are fired where they are attached have a process that fires; it is "   \
	"not known which here"

/* The value of pid or cgroup; false: it is not known, or no number. */
static inline bool bb_self__number(enum bb_self self, const struct bb_self_values *v,
				   int64_t *ret_number)
{
	uint64_t n = self == BB_SELF_PID ? v->pid : self == BB_SELF_CGROUP ? v->cgroup_id : 0;

	*ret_number = (int64_t)n;
	return n != 0;
}

/* Owned bytes. */
struct bb_bytes {
	uint8_t *data;
	size_t len;
};

/* The contents that a scenario gives to a map. Sizes are the map's own: they are checked when the
 * program is loaded. */

/* A key or a value: a whole number, as wide as the map has them, or exactly these bytes. */
struct bb_map_datum {
	bool is_number;
	int64_t number;
	enum bb_self self; /* instead of both; BB_SELF_NONE: neither */
	struct bb_bytes bytes;
};

struct bb_map_entry {
	struct bb_map_datum key, value;
	char *program; /* of a prog array, instead of a value; NULL elsewhere */
	struct bb_where where;
};

struct bb_map_spec {
	char *name;
	/* n_entries of them; none: the map is empty, an array all zeros */
	struct bb_map_entry *entries;
	size_t n_entries;
	/* `reset: run`: so before every run, not only before the series of a load */
	bool each_run;
	struct bb_where where; /* two with the same name and place mean the same map */
};

/* The contents of one variant's maps, by distinct names. */
struct bb_map_specs {
	struct bb_map_spec *v;
	size_t n;
};

/* Copies of those of `from` whose names are not in `list`. 0 or -ENOMEM. */
int bb_map_specs__inherit(struct bb_map_specs *list, const struct bb_map_specs *from);

/* The spec of that map, or NULL. `list` may be NULL. */
const struct bb_map_spec *bb_map_specs__find(const struct bb_map_specs *list, const char *name);

/* Is that program in a prog array of them? `list` may be NULL. */
bool bb_map_specs__call(const struct bb_map_specs *list, const char *program);

/*
 * `fired_by` of a variant: what makes its program run where it is attached. One of three: the name
 * of a trigger (`open`), a function of a shared library that is called, or a command that is run.
 */
enum bb_argument_kind {
	BB_ARGUMENT_NUMBER,
	BB_ARGUMENT_REAL,
	BB_ARGUMENT_TEXT,
	BB_ARGUMENT_BUFFER
};

struct bb_argument {
	enum bb_argument_kind kind;
	int64_t number; /* of a buffer: its size in bytes */
	double real;
	char *text;
};

#define BB_ARGUMENTS_MOST 12u

struct bb_fired_by {
	char *trigger; /* all three NULL: it is looked for */
	char *call;
	struct bb_argument *arguments; /* of the call */
	size_t n_arguments;
	char **run; /* the command and its arguments, n_run of them and a NULL */
	size_t n_run;
};

static inline bool bb_fired_by__is_given(const struct bb_fired_by *f)
{
	return f->trigger || f->call || f->run;
}

/*
 * An input for BPF_PROG_TEST_RUN: packet bytes, or a context for types without a packet, and the
 * expected result. A scenario's `inputs:` gives one or many; each is a case of its own,
 * "…/input=NAME".
 */
enum bb_ctx_kind {
	BB_CTX_NONE,
	BB_CTX_BYTES, /* whatever structure the type takes */
	BB_CTX_SKB,   /* a struct __sk_buff */
	BB_CTX_XDP,   /* a struct xdp_md */
};

struct bb_input {
	char *name;    /* "17", "syn", ...: [A-Za-z0-9][A-Za-z0-9_.-]*, unique in its list */
	uint8_t *data; /* packet, or context where `is_context` */
	size_t len;
	bool is_context;
	uint8_t *ctx; /* the packet's context, such as its mark; NULL: none */
	size_t ctx_len;
	enum bb_ctx_kind ctx_kind;
	bool has_retval; /* is a return value expected? */
	uint32_t retval;
	uint8_t *out; /* expected packet after the run; NULL: not checked */
	size_t out_len;
};

struct bb_inputs {
	struct bb_input *v;
	size_t n;
};

struct bb_u32_list {
	uint32_t *v;
	size_t n;
};

/* `globals: {name: 5}`: a global variable of the program set before it is loaded. */
struct bb_global_spec {
	char *name;
	int64_t value;
	enum bb_self self; /* instead of the value */
	struct bb_where where;
};

struct bb_variant_spec {
	char *name;
	char *program;     /* function name in the object; the variant's name when not given */
	char *object;      /* NULL: the scenario's */
	char *type;        /* the section that it is taken for; NULL: its own */
	uint32_t id;       /* of a program that is loaded already; 0: not given */
	char *pinned;      /* path of such a program's pin; NULL: not given */
	char *description; /* NULL when not given */
	/* the consumer of its ring in a pipeline: "fixed" (default), "oops" or "none" */
	char *consumer;
	/* the profiler in a slowdown: "program" (default), "none", "perf-record" or "profile" */
	char *sampler;
	/* where a program of functions is attached, instead of at the place in its section: a
	 * file and a function in it, both or neither; NULL: not given */
	char *binary, *function;
	uint32_t pid; /* attached in that process only, which makes it run itself; 0: not given */
	struct bb_fired_by fired_by; /* what makes it run where it is attached */
	/* "FILE:LINE:COLUMN" of 'binary', and of 'fired_by' or 'pid'; NULL: not given */
	char *binary_at, *fired_at;
	struct bb_global_spec *globals;
	size_t n_globals;
	struct bb_map_specs maps; /* its own, and the scenario's of other names */
	struct bb_where where;
};

enum bb_drain {
	/* default: rings are emptied after every run, as by a fast reader */
	BB_DRAIN_EACH_RUN,
	BB_DRAIN_HALF_FULL, /* rings are emptied only when half full: no wakeups are due */
};

enum bb_caches {
	BB_CACHES_HOT,  /* default: as the run before left them */
	BB_CACHES_COLD, /* emptied before every run, see drivers/cold.h */
};

/* One entry of `drive:`. Its kind says which keys it has; members of other keys stay zero. */
struct bb_drive_spec {
	const struct bb_drive_kind *kind;
	char *event; /* the clock, or the value that chose the kind; NULL: no such key */
	struct bb_u32_list values; /* of the parameter kind->param, n >= 1 where there is one */
	struct bb_inputs inputs;   /* n == 0: the default of the program's type */
	enum bb_caches caches;
	double seconds;   /* per variant and value, all loads together; 0: the kind's */
	uint32_t samples; /* likewise */
	char **variants;  /* names of those that it drives, n_variants of them; NULL: all */
	size_t n_variants;
	char *floor; /* name of the variant that is the floor here: its own or the scenario's; NULL
		      */
	struct {
		char *inside; /* the function on whose stack the trigger fires */
		enum bb_drain consumer;
	} step; /* by page faults */
	struct {
		uint32_t repeat; /* runs in the longest call; 0: calibrated */
	} slope;
	struct {
		char *workload; /* the program to run as the target */
		char **args;    /* its arguments, n_args of them */
		size_t n_args;
	} target; /* over a workload */
	struct {
		char *function;
	} call;
	struct bb_where where;
};

struct bb_scenario {
	char *path; /* file it was read from */
	char *name;
	char *description; /* NULL when not given */
	/* BPF object; NULL allowed when every drive is "call" or "fake", or every variant is live
	 */
	char *object;
	char *floor;    /* name of the variant that is the floor, or NULL */
	char *anchor;   /* variant that history divides by; NULL: the floor */
	uint32_t loads; /* program loads per run; 0 = default */
	/* `refused: skip`: a program that cannot be loaded or run is skipped by name; default: it
	 * is an error */
	bool skips_refused;
	struct bb_variant_spec *variants;
	size_t n_variants;
	struct bb_drive_spec *drives;
	size_t n_drives;
	struct bb_map_specs maps; /* for all variants; each has them in its own list */
	int expect_drops;         /* `expect: {drops: 0}` -> 0; -1 when not stated */
};

/* Read and validate the file at `path`. 0, or -errno with a message that begins "path:line:col: ".
 */
int bb_scenario__read(const char *path, struct bb_scenario **ret_scenario, struct bb_err *err);

/* The same from text in memory; `path` is only for messages. Used by the tests and the fuzzer. */
int bb_scenario__parse(const char *text, size_t len, const char *path,
		       struct bb_scenario **ret_scenario, struct bb_err *err);

void bb_scenario__free(struct bb_scenario *s);

/*
 * One more variant: a copy of `like` under another name and, unless NULL, of another object, driven
 * by the drives of `like`. The variants move in memory; plans made before are stale. -EEXIST when
 * the name is taken, -ENOMEM.
 */
int bb_scenario__add_variant(struct bb_scenario *s, const char *name, const char *like,
			     const char *object, struct bb_err *err);

/* Does the variant name a live program? */
static inline bool bb_variant_is_live(const struct bb_variant_spec *v)
{
	return v->id || v->pinned;
}

/* The object that the variant's program is in; NULL: it has none. */
static inline const char *bb_variant_object(const struct bb_scenario *s,
					    const struct bb_variant_spec *v)
{
	return v->object ? v->object : s->object;
}

/*
 * A cold twin of every hot step drive, with the default number of samples; a scenario that has a
 * cold drive already stays as it is. The drives move in memory; plans made before are stale.
 * -EINVAL when there is no step drive, -ENOMEM.
 */
int bb_scenario__add_cold(struct bb_scenario *s, struct bb_err *err);

/*
 * A twin of every hot step drive that times the lines of a run (drives/lines.c); a scenario that
 * has such a drive already stays as it is. Errors and stale plans as above.
 */
int bb_scenario__add_lines(struct bb_scenario *s, struct bb_err *err);

/* How many samples it takes, and how many in a row. */
static inline const struct bb_pace *bb_drive_pace(const struct bb_drive_spec *d)
{
	return d->caches == BB_CACHES_COLD ? &d->kind->cold : &d->kind->pace;
}

/* The name of a drive in cases, tables and options: `with`, or "step-cold" where caches are
 * emptied, or "in-situ-http". */
const char *bb_drive_name(const struct bb_drive_spec *d);

/* The variant of that name, or NULL. */
static inline const struct bb_variant_spec *bb_scenario__variant(const struct bb_scenario *s,
								 const char *name)
{
	for (size_t i = 0; i < s->n_variants; i++)
		if (s->variants[i].name && !strcmp(s->variants[i].name, name))
			return &s->variants[i];
	return NULL;
}

#endif
