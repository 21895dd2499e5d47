/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/arena.h"
#include "core/drive_kind.h"

/* A scenario: programs to load and drives that make them run, read from YAML. A message about a
 * fault in the file begins with its position, file:line:col. The scenario's arena owns all texts
 * and lists in it. Copies of variants and drives share them, so a list is changed or extended in a
 * copy of its own (bb_arena__extend()). */

/* Position of an item in the file, for messages. Lines and columns are counted from 1. */
struct bb_where {
	uint32_t line, col;
};

/* A key or value of a map, or the value of a global, may be `{pid: self}`, `{pid_tgid: self}`,
 * `{comm: self}` or `{cgroup: self}`. Each stands for a value of the process that fires the program
 * (makes the program run). This value is known only when the program is loaded. Tracers filter by
 * such values (`targ_pid`, a map of cgroups). */
enum bb_self { BB_SELF_NONE, BB_SELF_PID, BB_SELF_PID_TGID, BB_SELF_COMM, BB_SELF_CGROUP };

/* Returns "pid", "pid_tgid", "comm" or "cgroup", or NULL for any other value. */
const char *bb_self_name(enum bb_self self);

/* values of the process that fires a program; they replace `{pid: self}` and the like */
struct bb_self_values {
	uint32_t pid;       /* 0 if unknown */
	char comm[16];      /* "" if unknown */
	uint64_t cgroup_id; /* 0 if unknown */
	int cgroup_fd;      /* descriptor of the cgroup's folder, borrowed; -1 if unknown */
};

/* message: why a value of struct bb_self_values is unknown */
#define BB_SELF_UNKNOWN                                                                            \
	"only programs that are fired where they are attached have a process that fires; it is "   \
	"not known which here"

/* Stores the number that `self` stands for. Returns false if it is unknown or does not exist. */
static inline bool bb_self__number(enum bb_self self, const struct bb_self_values *v,
				   int64_t *ret_number)
{
	uint64_t n = self == BB_SELF_PID        ? v->pid
		     : self == BB_SELF_PID_TGID ? (uint64_t)v->pid << 32 | v->pid
		     : self == BB_SELF_CGROUP   ? v->cgroup_id
						: 0;

	*ret_number = (int64_t)n;
	return n != 0;
}

struct bb_bytes {
	uint8_t *data;
	size_t len;
};

struct bb_u32_list {
	uint32_t *v;
	size_t n;
};

enum bb_ctx_kind {
	BB_CTX_NONE,
	BB_CTX_BYTES, /* raw bytes of the context struct of the program's type */
	BB_CTX_SKB,   /* a struct __sk_buff, made from the key `skb` */
	BB_CTX_XDP,   /* a struct xdp_md, made from the key `xdp` */
};

/* An input for BPF_PROG_TEST_RUN, a packet or a context, and its expected result. It makes a case
 * of its own, unless the drive has an order (enum bb_order). */
struct bb_input {
	char *name;    /* "17", "syn", ...: [A-Za-z0-9_][A-Za-z0-9_.-]*, unique in its list */
	uint8_t *data; /* the packet, or the context if `is_context` */
	size_t len;
	bool is_context;
	uint8_t *ctx; /* context of the packet, such as a struct __sk_buff, or NULL */
	size_t ctx_len;
	enum bb_ctx_kind ctx_kind;
	double weight;   /* relative frequency of the input in a mix of inputs; 0 if not given */
	bool has_retval; /* the program must return `retval` */
	uint32_t retval;
	uint8_t *out; /* packet that the program must leave behind; NULL to leave it unchecked */
	size_t out_len;
	struct bb_where where; /* position of its name or, without one, of its item in the list */
};

struct bb_inputs {
	struct bb_input *v;
	size_t n;
};

/* A key or value of a map entry. A number takes the size of the map's keys or values. `bytes` must
 * have exactly this size. */
struct bb_map_datum {
	bool is_number;
	int64_t number;
	/* value of the process that fires, in place of `number` and `bytes`, or BB_SELF_NONE */
	enum bb_self self;
	struct bb_bytes bytes;
};

struct bb_map_entry {
	struct bb_map_datum key, value;
	char *program; /* name of the program if this is an entry of a prog array, else NULL */
	struct bb_where where;
};

struct bb_map_table;

/* The keys of the entries of `fill`, if they are from a file or from packets (plan/keys_file.h). */
struct bb_fill_keys {
	char *file;
	/* inputs of the key `from`; empty once `table` has been made from them */
	struct bb_inputs inputs;
	char *bytes;                /* says which bytes of each input are a key */
	struct bb_map_table *table; /* the keys; NULL if `fill` generates them */
};

/* `fill`: entries with generated keys, or with the keys of a file or of packets. */
struct bb_map_fill {
	/* numbers of entries that the key `count` gives; n is 0 if the map has no `fill` */
	struct bb_u32_list counts;
	uint32_t count; /* number of entries to make, one of `counts`; 0 if the map has no `fill` */
	bool random;    /* the generated keys are in a fixed random order instead of 0, 1, 2, ... */
	struct bb_fill_keys from;
	/* prefix lengths in bits of an LPM trie, taken in turn; n is 0 to use whole keys */
	struct bb_u32_list prefixes;
	struct bb_map_datum value; /* value of every entry; all bytes are 0 if it is not given */
};

/* Sizes and flags of a map that replace the object's. A member that is 0 keeps the object's. */
struct bb_map_shape {
	uint32_t max_entries, value_size;
	uint32_t flags; /* BPF_F_*; used only if has_flags */
	bool has_flags;
	bool per_cpu; /* the map becomes the per-CPU kind of its type */
};

struct bb_map_spec {
	char *name;
	struct bb_map_table *table; /* entries from the file that the key `file` names, or NULL */
	struct bb_map_fill fill;
	/* Without entries, `fill` or `file`, the map is empty or all zeros. */
	struct bb_map_entry *entries;
	size_t n_entries;
	struct bb_map_shape shape, inner; /* `inner` is for the maps in a map of maps */
	/* the map is restored before each run (`reset: run`), not only at each load */
	bool each_run;
	/* specs of two variants describe the same map if their names and positions are the same */
	struct bb_where where;
};

/* Contents of the maps of one variant, or of all variants. The names are distinct. */
struct bb_map_specs {
	struct bb_map_spec *v;
	size_t n;
};

/* Adds the specs in `from` whose names are not in `list`. The arena holds the list, but not what is
 * in the specs. */
void bb_map_specs__inherit(struct bb_map_specs *list, const struct bb_map_specs *from,
			   struct bb_arena *arena);

/* Does nothing if `list` has no map called `name`. The arena holds the list of entries, but not
 * what is in them. */
void bb_map_specs__add_entry(struct bb_map_specs *list, const char *name,
			     const struct bb_map_entry *entry, struct bb_arena *arena);

bool bb_map_spec__has_contents(const struct bb_map_spec *spec);
/* True if the spec sets sizes or flags of the map or of the maps in it. */
bool bb_map_spec__has_shape(const struct bb_map_spec *spec);

/* `list` may be NULL. */
const struct bb_map_spec *bb_map_specs__find(const struct bb_map_specs *list, const char *name);

/* True if a prog array in `list` contains this program. `list` may be NULL. */
bool bb_map_specs__call(const struct bb_map_specs *list, const char *program);

#define BB_ARGUMENTS_MOST 12u

/* What makes a variant's program run at its hook: a trigger such as `open`, a library function that
 * bpfbench calls, or a command that it runs. If none is given, bpfbench tries its triggers. */
struct bb_fired_by {
	char *trigger;
	char *call; /* name of the function to call */
	/* "n5" is a whole number, "r0.5" a double, "tTEXT" a text, "b4096" a buffer; ended by
	 * NULL */
	char **arguments;
	size_t n_arguments;
	char **run; /* command and its arguments, ended by NULL */
	size_t n_run;
};

static inline bool bb_fired_by__is_given(const struct bb_fired_by *f)
{
	return f->trigger || f->call || f->run;
}

/* A drive with an order makes one case of all its inputs, a mix. Each run takes the next input. */
enum bb_order {
	BB_ORDER_NONE, /* no order is given, so each input is a case */
	BB_ORDER_RECORDED,
	BB_ORDER_RANDOM,
	BB_ORDER_ZIPF,
};

/* Runs of another program of the object before each series, which fill or change its maps. */
struct bb_prepare_spec {
	char *program;
	uint32_t times;          /* number of runs on each input; 0 means one run */
	struct bb_inputs inputs; /* n is 0 for the default input of the program's type */
	struct bb_where where;
};

/* `globals: {name: 5}`: sets a global variable before the program is loaded. */
struct bb_global_spec {
	char *name;
	int64_t value;
	/* value of the process that fires, in place of `value`, or BB_SELF_NONE */
	enum bb_self self;
	struct bb_where where;
};

struct bb_variant_spec {
	char *name;
	char *program; /* function in the object; by default the variant's name */
	char *object;  /* path of the BPF object; NULL for the scenario's object */
	/* section such as "xdp" in which the program is loaded; NULL for its own section */
	char *type;
	uint32_t id;       /* id of a live program (loaded by somebody else), or 0 */
	char *pinned;      /* path of a live program's pin, or NULL */
	char *description; /* for readers; may be NULL */
	/* true to choose the process that fires before the program is loaded, if possible; only
	 * --try-inputs sets this */
	bool knows_pid;
	bool found; /* --try-inputs found the variant's input, globals and entries of maps */
	/* consumer of the ring, for the drive `pipeline`: "fixed" (default), "oops" or "none" */
	char *consumer;
	/* profiler in the drive `overhead`: "program" (default), "none", "perf-record" or
	 * "profile" */
	char *sampler;
	/* executable or library, and its function, that replace those of the section; or NULL */
	char *binary, *function;
	/* id of the process in which the program is attached and which calls the function, or 0 */
	uint32_t pid;
	struct bb_fired_by fired_by;
	/* "FILE:LINE:COLUMN" of the key `binary`, and of `fired_by` or `pid`; NULL if not given */
	char *binary_at, *fired_at;
	struct bb_global_spec *globals;
	size_t n_globals;
	/* end of the variant's name, with the values chosen from lists; NULL if there are none */
	char *suffix;
	/* index of the variant among the combinations of values of its globals */
	uint32_t combination;
	struct bb_prepare_spec *prepare; /* in the order in which they run */
	size_t n_prepare;
	/* the maps that the variant lists, and those of the scenario's that it does not list */
	struct bb_map_specs maps;
	/* number of entries in the maps of this copy of a variant (bb_scenario__spread_fills()); 0
	 * if the variant is no copy */
	uint32_t fill_count;
	struct bb_where where;
};

enum bb_drain {
	BB_DRAIN_EACH_RUN, /* default: we empty rings after every run, as a fast reader would */
	/* we empty rings when they are half full, so that no run wakes a reader */
	BB_DRAIN_HALF_FULL,
};

enum bb_caches {
	BB_CACHES_HOT,  /* default: caches stay as the previous run left them */
	BB_CACHES_COLD, /* we empty caches before every run (drivers/cold.h) */
};

/* One item of the key `drive`. Members of keys that are not given are zero or the default. */
struct bb_drive_spec {
	const struct bb_drive_kind *kind;
	char *event; /* a clock or another source of runs, or NULL */
	/* values of the parameter kind->param; n is 0 if the kind has no parameter */
	struct bb_u32_list values;
	struct bb_inputs inputs; /* n is 0 for the default input of the program's type */
	enum bb_order order;
	/* in the drive `parallel`: all CPUs run the first input, instead of CPU i input i */
	bool same_input;
	enum bb_caches caches;
	double seconds; /* time to measure each case over all loads, s; 0 for the kind's default */
	/* number of samples of each case over all loads; 0 for the kind's default */
	uint32_t samples;
	char **variants; /* names of the variants to measure; NULL for all variants */
	size_t n_variants;
	char *floor; /* name of the floor, the variant with the empty program, or NULL */
	struct {
		/* name of the function of bpfbench (in user space) whose page faults fire the
		 * program */
		char *inside;
		enum bb_drain consumer;
	} step; /* keys of drives with the trigger page-fault */
	struct {
		uint32_t repeat; /* runs in the longest test call; 0 if bpfbench calibrates it */
	} slope;
	struct {
		char *workload; /* workload program to run */
		char **args;
		size_t n_args;
	} target; /* keys of drives with a workload */
	struct {
		char *function;
	} call;
	struct bb_where where;
};

struct bb_scenario {
	struct bb_arena arena;
	char *path;
	char *name;
	char *description; /* for readers; may be NULL */
	char *object;      /* BPF object of all variants that name no object, or NULL */
	char *floor;       /* name of the variant with the empty program, or NULL */
	/* name of the anchor, whose latency divides all others in `history`; NULL for the floor */
	char *anchor;
	uint32_t loads; /* number of loads of each program per run; 0 for the default */
	/* leave out a variant whose program cannot be loaded or run (`refused: skip`) */
	bool skips_refused;
	/* commands that `sh -c` runs before anything else of the scenario (drivers/setup.h) */
	char **setup;
	size_t n_setup;
	struct bb_variant_spec *variants;
	size_t n_variants;
	struct bb_drive_spec *drives;
	size_t n_drives;
	struct bb_map_specs maps; /* maps of all variants; each variant has them in its own list */
	/* numbers of entries, one for each copy of a variant (bb_scenario__spread_fills()) */
	struct bb_u32_list fill_counts;
	int expect_drops; /* from `expect: {drops: N}`; -1 if not given */
};

/* Returns 0, or -errno with a message. If the fault is in the text of the file, the message begins
 * with "path:line:col: ". Free the scenario with bb_scenario__free(). With `is_outline`, an input
 * has at most two of its `flows`, so a list of scenarios is quick. Faults in the number and the
 * names of the others are not found then. */
int bb_scenario__read(const char *path, bool is_outline, struct bb_scenario **ret_scenario,
		      struct bb_err *err);

/* Writes the JSON schema of scenario files, without a newline. The caller checks `out`. */
void bb_scenario__write_schema(FILE *out);

/* Reads a scenario from text in memory, for tests and the fuzzer. `path` is only for messages. */
int bb_scenario__parse(const char *text, size_t len, const char *path,
		       struct bb_scenario **ret_scenario, struct bb_err *err);

void bb_scenario__free(struct bb_scenario *s); /* accepts NULL */

/* Adds a copy of the variant `like` under the name `name`, with a program from `object` unless that
 * is NULL. Drives that name `like` then name the copy, too. Moves the variants in memory, so a plan
 * made before must not be used any more. Returns 0, or -EEXIST if a variant has that name. */
int bb_scenario__add_variant(struct bb_scenario *s, const char *name, const char *like,
			     const char *object, struct bb_err *err);

/* True if the variant's program is live (loaded by somebody else). */
static inline bool bb_variant_is_live(const struct bb_variant_spec *v)
{
	return v->id || v->pinned;
}

static inline const char *bb_variant_object(const struct bb_scenario *s,
					    const struct bb_variant_spec *v)
{
	return v->object ? v->object : s->object;
}

enum bb_twin {
	/* A copy with `caches: cold`, of every drive whose kind can run cold (step, lines). */
	BB_TWIN_COLD,
	/* A copy that times the lines of a run (drivers/lines.c), of every hot step drive. */
	BB_TWIN_LINES,
};

/* Adds a twin of each drive that can have one, with default samples and time. Does nothing if the
 * scenario already has a drive of this kind. Moves the drives in memory, so a plan made before must
 * not be used any more. Returns 0, or -EINVAL if no drive can have such a twin. */
int bb_scenario__add_twins(struct bb_scenario *s, enum bb_twin twin, struct bb_err *err);

/* Replaces each variant with a map whose `fill` has several counts by one copy for each count. The
 * copies have the variant's name, and their cases have the parameter "entries". Moves the variants
 * in memory, so a plan made before must not be used any more. Returns 0, or -EINVAL if two maps
 * have different lists of counts, or if a drive cannot measure copies. */
int bb_scenario__spread_fills(struct bb_scenario *s, struct bb_err *err);

static inline const struct bb_pace *bb_drive_pace(const struct bb_drive_spec *d)
{
	return d->caches == BB_CACHES_COLD ? &d->kind->cold : &d->kind->pace;
}

/* Returns the name of a drive in cases, tables and options, such as "step" or "step-cold". */
const char *bb_drive_name(const struct bb_drive_spec *d);

/* `same` is a drive in which all CPUs run one input. Returns the drive of its kind that has the
 * same first input and gives each of n CPUs an input of its own, or NULL. */
const struct bb_drive_spec *bb_scenario__each_input(const struct bb_scenario *s,
						    const struct bb_drive_spec *same, size_t n);

static inline const struct bb_variant_spec *bb_scenario__variant(const struct bb_scenario *s,
								 const char *name)
{
	return BB_FIND(s->variants, s->n_variants, it->name && !strcmp(it->name, name));
}
