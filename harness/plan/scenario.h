/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/drive_kind.h"

/*
 * A scenario: programs to load and drives that make them run, read from YAML (libyaml). A new
 * scenario needs no C. Every error names file:line:col. The scenario owns all strings;
 * bb_scenario__free() takes NULL.
 */

struct bb_where { /* position of an item in the file, from 1, for messages */
	uint32_t line, col;
};

/*
 * `{pid: self}`, `{comm: self}` or `{cgroup: self}` as a key or value of a map or as the value of a
 * global. It stands for a value of the process that fires the program. This value is known only
 * when the program is loaded. Tracers filter by such values (`targ_pid`, a map of cgroups).
 */
enum bb_self { BB_SELF_NONE, BB_SELF_PID, BB_SELF_COMM, BB_SELF_CGROUP };

struct bb_self_values {
	uint32_t pid;       /* 0: unknown */
	char comm[16];      /* "": unknown */
	uint64_t cgroup_id; /* 0: unknown */
	int cgroup_fd;      /* descriptor of the cgroup's folder, borrowed; -1: unknown */
};

/* For messages: why a value of struct bb_self_values is unknown. */
#define BB_SELF_UNKNOWN                                                                            \
	"only programs that are fired where they are attached have a process that fires; it is "   \
	"not known which here"

/* Stores the process id (BB_SELF_PID) or the cgroup id (BB_SELF_CGROUP). Returns false if the id is
 * unknown, or if `self` is any other value. */
static inline bool bb_self__number(enum bb_self self, const struct bb_self_values *v,
				   int64_t *ret_number)
{
	uint64_t n = self == BB_SELF_PID ? v->pid : self == BB_SELF_CGROUP ? v->cgroup_id : 0;

	*ret_number = (int64_t)n;
	return n != 0;
}

/* Bytes that the struct owns. */
struct bb_bytes {
	uint8_t *data;
	size_t len;
};

struct bb_u32_list {
	uint32_t *v;
	size_t n;
};

/* An input for BPF_PROG_TEST_RUN and its expected result. The input is a packet or, for program
 * types without packets, a context. Unless the drive has an order, each input of `inputs:` makes a
 * case of its own, "…/input=NAME". */
enum bb_ctx_kind {
	BB_CTX_NONE,
	BB_CTX_BYTES, /* the raw context struct of the program's type */
	BB_CTX_SKB,   /* struct __sk_buff */
	BB_CTX_XDP,   /* struct xdp_md */
};

struct bb_input {
	char *name;    /* "17", "syn", ...: [A-Za-z0-9][A-Za-z0-9_.-]*, unique in its list */
	uint8_t *data; /* the packet, or the context if `is_context` */
	size_t len;
	bool is_context;
	uint8_t *ctx; /* context of the packet, for example a struct __sk_buff with a mark; NULL:
			 none */
	size_t ctx_len;
	enum bb_ctx_kind ctx_kind;
	double weight; /* how often it comes in a mix, relative to the other inputs; 0: not given */
	bool has_retval; /* a return value is expected */
	uint32_t retval;
	uint8_t *out; /* expected packet after the run; NULL: any */
	size_t out_len;
};

struct bb_inputs {
	struct bb_input *v;
	size_t n;
};

/* Contents of a map, as the scenario gives them. Whether the sizes of keys and values fit the map
 * is checked when the program is loaded. */

/* A key or a value of a map. A number is stored with the width that the map has for it; `bytes`
 * must have exactly that width. */
struct bb_map_datum {
	bool is_number;
	int64_t number;
	enum bb_self self; /* value of the process that fires, in place of `number` and `bytes`;
			      BB_SELF_NONE: not used */
	struct bb_bytes bytes;
};

struct bb_map_entry {
	struct bb_map_datum key, value;
	/* prog array: name of the program that is the value; NULL: `value` is used */
	char *program;
	struct bb_where where;
};

struct bb_map_table;

/* The keys of the entries that `fill` puts into a map: read from a file, or cut out of packets
 * (plan/keys_file.h). */
struct bb_fill_keys {
	char *file;
	struct bb_inputs inputs;    /* key `from`; empty once the table has been made from them */
	char *bytes;                /* key `bytes`: which bytes of each input are a key */
	struct bb_map_table *table; /* NULL: the keys are generated */
};

/* `fill`: entries with generated keys, or with the keys of a file or of packets. */
struct bb_map_fill {
	struct bb_u32_list
		counts; /* key `count`: numbers of entries to measure with; n == 0: no `fill` */
	uint32_t count; /* number of entries: the last of `counts`, or the one that
			   bb_scenario__spread_fills() chose; 0: none */
	bool random;    /* keys in a fixed random order; false: 0, 1, 2, ... */
	struct bb_fill_keys from; /* keys of a file or of packets, in their order */
	/* LPM trie: prefix lengths in bits, used in turn. A length may occur several times. n == 0:
	 * all prefixes are as long as a key */
	struct bb_u32_list prefixes;
	struct bb_map_datum value; /* value of every generated entry; not given: zeros */
};

/* Sizes and flags of a map, as a loader would set them; 0: the object's value is kept. */
struct bb_map_shape {
	uint32_t max_entries, value_size; /* value_size in bytes */
	uint32_t flags;                   /* BPF_F_*; used only if has_flags */
	bool has_flags;
	bool per_cpu; /* the map has one value per CPU, in place of one value for all CPUs */
};

struct bb_map_spec {
	char *name;
	struct bb_map_table *table; /* key `file`: entries from a file (plan/maps_file.h); NULL:
				       none */
	struct bb_map_fill fill;
	/* entries[n_entries]; with neither entries nor `fill` the map is empty, or an array of
	 * zeros */
	struct bb_map_entry *entries;
	size_t n_entries;
	struct bb_map_shape shape, inner; /* inner: shape of the maps in a map of maps */
	/* `reset: run`: the map is restored before every run, not just once per load */
	bool each_run;
	struct bb_where where; /* position in the file; specs with the same name and position
				  describe one map */
};

/* Contents of a variant's maps, with distinct names. */
struct bb_map_specs {
	struct bb_map_spec *v;
	size_t n;
};

/* Adds copies of the specs in `from` whose names are not in `list`. */
void bb_map_specs__inherit(struct bb_map_specs *list, const struct bb_map_specs *from);

/* Adds a copy of the entry to the spec of the map called `name`. Does nothing if `list` has no such
 * spec. */
void bb_map_specs__add_entry(struct bb_map_specs *list, const char *name,
			     const struct bb_map_entry *entry);

/* True if the spec gives the map entries. */
bool bb_map_spec__has_contents(const struct bb_map_spec *spec);
/* True if the spec sets sizes or flags of the map or of the maps in it. */
bool bb_map_spec__has_shape(const struct bb_map_spec *spec);

/* Returns the spec of the map called `name`, or NULL. `list` may be NULL. */
const struct bb_map_spec *bb_map_specs__find(const struct bb_map_specs *list, const char *name);

/* True if a prog array in `list` contains this program. `list` may be NULL. */
bool bb_map_specs__call(const struct bb_map_specs *list, const char *program);

/* `fired_by` of a variant: what makes its program run at its hook. One of three: a trigger's
 * name (`open`), a function of a shared library to call, or a command to run. */
enum bb_argument_kind {
	BB_ARGUMENT_NUMBER,
	BB_ARGUMENT_REAL,
	BB_ARGUMENT_TEXT,
	BB_ARGUMENT_BUFFER
};

struct bb_argument {
	enum bb_argument_kind kind;
	int64_t number; /* value of a whole number; of a buffer: its size in bytes */
	double real;
	char *text;
};

#define BB_ARGUMENTS_MOST 12u

struct bb_fired_by {
	char *trigger; /* name of a trigger; if trigger, call and run are NULL, bpfbench looks for a
			  trigger */
	char *call;
	struct bb_argument *arguments; /* arguments of the call */
	size_t n_arguments;
	char **run; /* the command and its arguments, run[n_run], then NULL */
	size_t n_run;
};

static inline bool bb_fired_by__is_given(const struct bb_fired_by *f)
{
	return f->trigger || f->call || f->run;
}

/* `order` of a drive. A drive with an order makes one case of all its inputs, a mix. Each run takes
 * the next input in this order (plan/mix.h). */
enum bb_order {
	BB_ORDER_NONE, /* not given: each input is a case */
	BB_ORDER_RECORDED,
	BB_ORDER_RANDOM,
	BB_ORDER_ZIPF,
};

/* `prepare`: runs of another program of the same object before each series. They change the maps
 * that the variant's program uses. */
struct bb_prepare_spec {
	char *program;
	uint32_t times;          /* runs on each input; 0: one */
	struct bb_inputs inputs; /* n == 0: the default input of the program's type */
	struct bb_where where;
};

/* `globals: {name: 5}`: sets a global variable before the program is loaded. Of a list of values,
 * each makes a variant. */
struct bb_global_spec {
	char *name;
	int64_t value;
	enum bb_self self; /* value of the process that fires, in place of `value`; BB_SELF_NONE:
			      not used */
	struct bb_where where;
};

struct bb_variant_spec {
	char *name;
	char *program; /* function in the object; by default the variant's name */
	char *object;  /* BPF object; NULL: the scenario's object */
	char *type; /* name of a section; the program is loaded as if it were in this section. NULL:
		       its own section */
	uint32_t id;       /* id of a live program; 0: not given */
	char *pinned;      /* pin of a live program; NULL: not given */
	char *description; /* NULL: not given */
	bool found;        /* --try-inputs found its input, globals and entries of maps */
	/* consumer of the program's ring, for the drive `pipeline`: "fixed" (default), "oops" or
	 * "none" */
	char *consumer;
	/* profiler, for the drive `overhead`: "program" (default), "none", "perf-record" or
	 * "profile" */
	char *sampler;
	/* file and function to attach the program to, in place of those in its section; both or
	 * neither are NULL */
	char *binary, *function;
	uint32_t pid; /* process to attach the program in; it calls the function by itself. 0: not
			 given */
	struct bb_fired_by fired_by; /* what makes the program run at its hook */
	/* positions "FILE:LINE:COLUMN" of the keys `binary`, and `fired_by` or `pid`; NULL: key
	 * not given */
	char *binary_at, *fired_at;
	struct bb_global_spec *globals;
	size_t n_globals;
	/* while the file is read: part of the name that says the values of globals; else NULL */
	char *suffix;
	uint32_t combination; /* of the values of globals with several; 0: the first of each */
	struct bb_prepare_spec *prepare; /* in the order in which they run */
	size_t n_prepare;
	struct bb_map_specs maps; /* the variant's own maps, and the scenario's maps except those
				     that the variant names itself */
	uint32_t fill_count; /* number of entries that this copy of the variant is measured with
				(bb_scenario__spread_fills()); 0: the variant is not a copy */
	struct bb_where where;
};

enum bb_drain {
	/* default: rings are emptied after every run, as by a fast reader */
	BB_DRAIN_EACH_RUN,
	BB_DRAIN_HALF_FULL, /* rings are emptied when half full, so runs cause no wakeups */
};

enum bb_caches {
	BB_CACHES_HOT,  /* default: caches stay as the run before left them */
	BB_CACHES_COLD, /* caches are emptied before every run (drivers/cold.h) */
};

/* One entry of `drive:`. Its kind decides which keys it has; members of other keys are zero. */
struct bb_drive_spec {
	const struct bb_drive_kind *kind;
	char *event; /* key `event`: a clock or another source of runs; NULL: the kind has no such
			key */
	struct bb_u32_list values; /* values of the parameter kind->param; n >= 1 if it has one */
	struct bb_inputs inputs;   /* n == 0: the default input of the program's type */
	enum bb_order order;
	enum bb_caches caches;
	double seconds;   /* for each variant and value, in all loads; 0: the kind's default */
	uint32_t samples; /* of each variant and value, in all loads; 0: the kind's default */
	char **variants;  /* names of its variants, variants[n_variants]; NULL: all */
	size_t n_variants;
	char *floor; /* name of the floor variant: the drive's, else the scenario's; NULL: there is
			no floor */
	struct {
		char *inside; /* name of the function on whose stack the trigger fires */
		enum bb_drain consumer;
	} step; /* keys of the trigger page-fault */
	struct {
		uint32_t repeat; /* runs in the longest call; 0: calibrated */
	} slope;
	struct {
		char *workload; /* workload program to run */
		char **args;    /* its arguments, args[n_args] */
		size_t n_args;
	} target; /* drives with a workload */
	struct {
		char *function;
	} call;
	struct bb_where where;
};

struct bb_scenario {
	char *path; /* path of its file */
	char *name;
	char *description; /* NULL: not given */
	/* BPF object of variants that name none; NULL: no variant needs it, or no drive loads a
	 * program */
	char *object;
	char *floor;    /* name of the floor variant; may be NULL */
	char *anchor;   /* name of the variant whose latency divides all others in `history`; NULL:
			   the floor */
	uint32_t loads; /* loads of each program per run; 0: default */
	/* `refused: skip`: a program that cannot be loaded or run is skipped by name; by default
	 * it is an error */
	bool skips_refused;
	char **setup; /* setup[n_setup]: commands for sh -c that run first (drivers/setup.h) */
	size_t n_setup;
	struct bb_variant_spec *variants;
	size_t n_variants;
	struct bb_drive_spec *drives;
	size_t n_drives;
	struct bb_map_specs maps; /* for all variants; copied into the list of each */
	/* numbers of entries that the variants are measured with, borrowed from a map; n == 0:
	 * bb_scenario__spread_fills() was not called, or found no fill with several counts */
	struct bb_u32_list fill_counts;
	int expect_drops; /* expected number of drops, from `expect: {drops: N}`; -1: not given */
};

/* Reads and checks the file at `path`. Returns 0, or -errno with a message that begins
 * "path:line:col: ". */
int bb_scenario__read(const char *path, struct bb_scenario **ret_scenario, struct bb_err *err);

/* Writes the JSON schema of scenario files, without a newline at the end. The caller checks `out`
 * for errors. */
void bb_scenario__write_schema(FILE *out);

/* Reads a scenario from text in memory; `path` is only for messages. For tests and the fuzzer. */
int bb_scenario__parse(const char *text, size_t len, const char *path,
		       struct bb_scenario **ret_scenario, struct bb_err *err);

void bb_scenario__free(struct bb_scenario *s);

/*
 * Adds a copy of the variant `like` under the name `name`. If `object` is not NULL, the copy has
 * this object in place of that of `like`. The drives of `like` drive the copy too. Moves the
 * variants in memory: a plan made before this call must not be used after it. Returns 0, or -EEXIST
 * if the name is taken.
 */
int bb_scenario__add_variant(struct bb_scenario *s, const char *name, const char *like,
			     const char *object, struct bb_err *err);

/* True if the variant names a live program. */
static inline bool bb_variant_is_live(const struct bb_variant_spec *v)
{
	return v->id || v->pinned;
}

/* Returns the object of the variant's program; NULL if it has none. */
static inline const char *bb_variant_object(const struct bb_scenario *s,
					    const struct bb_variant_spec *v)
{
	return v->object ? v->object : s->object;
}

/*
 * Adds a cold twin of every drive whose kind can run cold (step, lines). The twin has the default
 * number of samples. Does nothing if the scenario has a cold drive already. Moves the drives in
 * memory: a plan made before this call must not be used after it. Returns 0, or -EINVAL if no
 * drive can run cold.
 */
int bb_scenario__add_cold(struct bb_scenario *s, struct bb_err *err);

/*
 * Adds a twin of every hot step drive. The twin times the lines of a run (drivers/lines.c) and has
 * the default number of samples. Does nothing if the scenario has a drive that times lines already.
 * Moves the drives in memory: a plan made before this call must not be used after it. Returns 0,
 * or -EINVAL if no drive can have such a twin.
 */
int bb_scenario__add_lines(struct bb_scenario *s, struct bb_err *err);

/*
 * If the fill of a variant's map has several counts, replaces the variant by one copy for each
 * count. The copies have the variant's name. Their cases have the parameter "entries". Without this
 * call, the last count of a list is measured. Moves the variants in memory: a plan made before this
 * call must not be used after it. Returns 0, or -EINVAL if two maps have different lists, or if a
 * drive cannot be combined with them (for example: its other parameter has several values).
 */
int bb_scenario__spread_fills(struct bb_scenario *s, struct bb_err *err);

/* Returns how many samples the drive takes, and how many in a row. */
static inline const struct bb_pace *bb_drive_pace(const struct bb_drive_spec *d)
{
	return d->caches == BB_CACHES_COLD ? &d->kind->cold : &d->kind->pace;
}

/* Returns the name of a drive in cases, tables and options: `with`, or for example "step-cold"
 * or "in-situ-http". */
const char *bb_drive_name(const struct bb_drive_spec *d);

/* Returns the variant of that name, or NULL. */
static inline const struct bb_variant_spec *bb_scenario__variant(const struct bb_scenario *s,
								 const char *name)
{
	return BB_FIND(s->variants, s->n_variants, it->name && !strcmp(it->name, name));
}
