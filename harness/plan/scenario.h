/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/drive_kind.h"

/* A scenario: programs to load and drives that make them run, read from YAML (libyaml). A message
 * about a fault in the file begins with its position, file:line:col. The scenario owns all texts
 * and lists in it. */

/* position of an item in the file, for messages; lines and columns are counted from 1 */
struct bb_where {
	uint32_t line, col;
};

/*
 * `{pid: self}`, `{pid_tgid: self}`, `{comm: self}` or `{cgroup: self}` as a key or value of a map
 * or as the value of a global. Such a mapping stands for a value of the process that fires the
 * program. This value is known only when the program is loaded. Tracers filter by such values
 * (`targ_pid`, a map of cgroups).
 */
enum bb_self { BB_SELF_NONE, BB_SELF_PID, BB_SELF_PID_TGID, BB_SELF_COMM, BB_SELF_CGROUP };

/* Returns "pid", "pid_tgid", "comm" or "cgroup"; NULL for any other value. */
const char *bb_self_name(enum bb_self self);

/* Values of the process that fires a program, which replace `{pid: self}` etc. (enum bb_self). */
struct bb_self_values {
	uint32_t pid;       /* process id; 0: unknown */
	char comm[16];      /* name (comm); "": unknown */
	uint64_t cgroup_id; /* id of the cgroup; 0: unknown */
	int cgroup_fd;      /* descriptor of the cgroup's folder, borrowed; -1: unknown */
};

/* Message that says why a value of struct bb_self_values is unknown. */
#define BB_SELF_UNKNOWN                                                                            \
	"only programs that are fired where they are attached have a process that fires; it is "   \
	"not known which here"

/* Stores the number for which `self` stands: the process id; the value that
 * bpf_get_current_pid_tgid() returns in the main thread of the process; or the cgroup id.
 * Returns false if this number is unknown, or if `self` stands for no number. */
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

/* An array of bytes, which the struct owns. */
struct bb_bytes {
	uint8_t *data;
	size_t len;
};

struct bb_u32_list {
	uint32_t *v;
	size_t n;
};

/* Kinds of the context of an input (struct bb_input). */
enum bb_ctx_kind {
	BB_CTX_NONE,
	BB_CTX_BYTES, /* raw bytes of the context struct of the program's type */
	BB_CTX_SKB,   /* a struct __sk_buff, made from the key `skb` */
	BB_CTX_XDP,   /* a struct xdp_md, made from the key `xdp` */
};

/* An input for BPF_PROG_TEST_RUN and its expected result: a packet or, for program types without
 * packets, a context. Each input makes a case of its own, "…/input=NAME", unless the drive has an
 * order (enum bb_order). */
struct bb_input {
	char *name;    /* "17", "syn", ...: [A-Za-z0-9_][A-Za-z0-9_.-]*, unique in its list */
	uint8_t *data; /* the packet, or the context if `is_context` */
	size_t len;
	bool is_context;
	/* context of the packet, such as a struct __sk_buff; NULL: the packet has no context */
	uint8_t *ctx;
	size_t ctx_len;
	enum bb_ctx_kind ctx_kind;
	double weight;   /* relative frequency of the input in a mix; 0: not given */
	bool has_retval; /* true: the program must return `retval` */
	uint32_t retval;
	/* packet that the program must leave behind; NULL: the packet is not checked */
	uint8_t *out;
	size_t out_len;
	struct bb_where where; /* of its name or, without one, of its item in the list */
};

struct bb_inputs {
	struct bb_input *v;
	size_t n;
};

/* Contents of a map, as the scenario gives them. The loader checks later whether the sizes of keys
 * and values fit the map. */

/* A key or a value of a map. A number takes as many bytes as the map's keys or values have; `bytes`
 * must have exactly that many. */
struct bb_map_datum {
	bool is_number;
	int64_t number;
	/* value of the process that fires, in place of `number` and `bytes`; BB_SELF_NONE: none */
	enum bb_self self;
	struct bb_bytes bytes;
};

struct bb_map_entry {
	struct bb_map_datum key, value;
	/* name of the program, if this is an entry of a prog array; NULL: `value` is used */
	char *program;
	struct bb_where where;
};

struct bb_map_table;

/* The keys of the entries of `fill`, if they are from a file or from packets (plan/keys_file.h). */
struct bb_fill_keys {
	char *file;
	/* inputs of the key `from`; empty once `table` has been made from them */
	struct bb_inputs inputs;
	char *bytes;                /* key `bytes`: which bytes of each input are a key */
	struct bb_map_table *table; /* the keys; NULL: `fill` generates the keys */
};

/* `fill`: entries with generated keys, or with the keys of a file or of packets. */
struct bb_map_fill {
	/* numbers of entries that the key `count` gives; n == 0: the map has no `fill` */
	struct bb_u32_list counts;
	/* number of entries to make: the last of `counts`, or the number that
	 * bb_scenario__spread_fills() chose; 0: the map has no `fill` */
	uint32_t count;
	/* true: the generated keys are in a fixed random order; false: they are 0, 1, 2, ... */
	bool random;
	/* the keys, if they are from a file or from packets, in the order that they have there */
	struct bb_fill_keys from;
	/* lengths in bits of the prefixes of an LPM trie. The entries take these lengths in turn,
	 * and a length may occur several times. n == 0: each prefix is as long as a whole key. */
	struct bb_u32_list prefixes;
	struct bb_map_datum value; /* value of every entry; all bytes are 0 if it is not given */
};

/* Sizes and flags of a map that replace those in the object, as a loader would set them. A
 * member that is 0 keeps what the object says. */
struct bb_map_shape {
	/* max_entries: number of entries; value_size: bytes of a value */
	uint32_t max_entries, value_size;
	uint32_t flags; /* flags BPF_F_* of the map; used only if has_flags */
	bool has_flags;
	/* true: the map becomes the per-CPU kind of its type, with a value for each CPU */
	bool per_cpu;
};

struct bb_map_spec {
	char *name;
	/* entries from the file that the key `file` names; NULL: the key is not given */
	struct bb_map_table *table;
	struct bb_map_fill fill;
	/* entries[n_entries]. With no entries, `fill` or `file`, the map is empty or all zeros. */
	struct bb_map_entry *entries;
	size_t n_entries;
	struct bb_map_shape shape, inner; /* inner: shape of the maps in a map of maps */
	/* true (`reset: run`): bpfbench restores the map before each run; false: only at each
	 * load */
	bool each_run;
	/* position of the spec in the file. Specs of two variants describe the same map if their
	 * names and positions are the same */
	struct bb_where where;
};

/* Contents of the maps of one variant, or of all variants. The names are distinct. */
struct bb_map_specs {
	struct bb_map_spec *v;
	size_t n;
};

/* Adds copies of the specs in `from` whose names are not in `list`. */
void bb_map_specs__inherit(struct bb_map_specs *list, const struct bb_map_specs *from);

/* Adds a copy of the entry to the spec of the map called `name`. Does nothing if there is none. */
void bb_map_specs__add_entry(struct bb_map_specs *list, const char *name,
			     const struct bb_map_entry *entry);

/* True if the spec puts entries into the map. */
bool bb_map_spec__has_contents(const struct bb_map_spec *spec);
/* True if the spec sets sizes or flags of the map or of the maps in it. */
bool bb_map_spec__has_shape(const struct bb_map_spec *spec);

/* Returns the spec of the map called `name`, or NULL. `list` may be NULL. */
const struct bb_map_spec *bb_map_specs__find(const struct bb_map_specs *list, const char *name);

/* True if a prog array in `list` contains this program. `list` may be NULL. */
bool bb_map_specs__call(const struct bb_map_specs *list, const char *program);

#define BB_ARGUMENTS_MOST 12u

/* `fired_by` of a variant: what makes its program run at its hook. It is the name of a trigger
 * (`open`), or a function of a shared library that bpfbench calls, or a command that bpfbench
 * runs. */
struct bb_fired_by {
	/* name of a trigger. If trigger, call and run are all NULL, bpfbench searches its
	 * triggers for one that makes the program run. */
	char *trigger;
	char *call; /* name of the function to call */
	/* arguments[n_arguments] of the call, then NULL: "n5" is a whole number, "r0.5" a double,
	 * "tTEXT" a text, "b4096" a buffer of so many bytes */
	char **arguments;
	size_t n_arguments;
	char **run; /* command to run and its arguments: run[n_run], then NULL */
	size_t n_run;
};

static inline bool bb_fired_by__is_given(const struct bb_fired_by *f)
{
	return f->trigger || f->call || f->run;
}

/* `order` of a drive. A drive with an order makes one case of all its inputs, a mix. Each run takes
 * the next input in this order (plan/mix.h). */
enum bb_order {
	BB_ORDER_NONE, /* no order is given: each input is a case */
	BB_ORDER_RECORDED,
	BB_ORDER_RANDOM,
	BB_ORDER_ZIPF,
};

/* `prepare`: runs of another program of the same object before each series. These runs fill or
 * change the maps that the variant's program uses. */
struct bb_prepare_spec {
	char *program;
	uint32_t times;          /* number of runs of the program on each input; 0: one run */
	struct bb_inputs inputs; /* n == 0: the default input of the program's type */
	struct bb_where where;
};

/* `globals: {name: 5}`: sets a global variable before the program is loaded. A list of values
 * gives one variant for each value. */
struct bb_global_spec {
	char *name;
	int64_t value;
	/* value of the process that fires, in place of `value`; BB_SELF_NONE: none */
	enum bb_self self;
	struct bb_where where;
};

struct bb_variant_spec {
	char *name;
	char *program; /* function in the object; by default the variant's name */
	char *object;  /* path of the BPF object; NULL: the scenario's object */
	/* section such as "xdp" in which the program is loaded; NULL: its own section */
	char *type;
	uint32_t id;       /* id of a live program; 0: not given */
	char *pinned;      /* path of a live program's pin; NULL: not given */
	char *description; /* text for readers; NULL: the key is not given */
	/* true: bpfbench must choose the pid of the process that fires before it loads the program,
	 * where that is possible. It must do so even if no map or global has the value {pid: self}.
	 * --try-inputs sets this member; no key of a scenario does. */
	bool knows_pid;
	bool found; /* true: --try-inputs found the variant's input, globals and entries of maps */
	/* consumer of the ring, for the drive `pipeline`: "fixed" (default), "oops" or "none" */
	char *consumer;
	/* profiler that samples the workload in the drive `overhead`: "program" (the variant's own,
	 * default), "none", "perf-record" or "profile" */
	char *sampler;
	/* executable or library, and the function in it, to which the program is attached in
	 * place of those that its section names; both are NULL or neither is */
	char *binary, *function;
	/* id of the process in which the program is attached; this process calls the function; 0:
	 * not given */
	uint32_t pid;
	struct bb_fired_by fired_by; /* what makes the program run at its hook */
	/* "FILE:LINE:COLUMN" of the key `binary`, and of `fired_by` or `pid`; NULL: not given */
	char *binary_at, *fired_at;
	struct bb_global_spec *globals;
	size_t n_globals;
	/* end of the variant's name, with values of globals; NULL once the variant has been read */
	char *suffix;
	/* index of the variant among the combinations of values of its globals, from 0 */
	uint32_t combination;
	struct bb_prepare_spec *prepare; /* prepare[n_prepare], in the order in which they run */
	size_t n_prepare;
	/* the maps that the variant lists, and those of the scenario's that it does not list */
	struct bb_map_specs maps;
	/* number of entries in the maps of this copy (bb_scenario__spread_fills()); 0: no copy */
	uint32_t fill_count;
	struct bb_where where;
};

enum bb_drain {
	/* default: we empty rings after every run, as a fast reader would */
	BB_DRAIN_EACH_RUN,
	/* we empty rings when they are half full, so that no run wakes a reader */
	BB_DRAIN_HALF_FULL,
};

enum bb_caches {
	BB_CACHES_HOT,  /* default: caches stay as the previous run left them */
	BB_CACHES_COLD, /* we empty caches before every run (drivers/cold.h) */
};

/* One item of the key `drive`. Its kind decides which keys it may have. Members of keys that are
 * not given are zero or the default. */
struct bb_drive_spec {
	const struct bb_drive_kind *kind;
	/* value of the key `event`: a clock or another source of runs; NULL: no such key */
	char *event;
	/* values of the parameter kind->param; n >= 1 if the kind has a parameter, else 0 */
	struct bb_u32_list values;
	struct bb_inputs inputs; /* n == 0: the default input of the program's type */
	enum bb_order order;
	/* in the drive `parallel`: all CPUs run the first input; false: CPU i runs input i */
	bool same_input;
	enum bb_caches caches;
	double seconds; /* time to measure each case, s, over all loads; 0: the kind's default */
	/* number of samples of each case, over all loads; 0: the kind's default */
	uint32_t samples;
	/* names of the variants to measure, variants[n_variants]; NULL: all variants */
	char **variants;
	size_t n_variants;
	/* name of the floor variant, of the drive or of the scenario; NULL: there is none */
	char *floor;
	struct {
		char *inside; /* name of the function in which the trigger fires the program */
		enum bb_drain consumer;
	} step; /* keys of drives with the trigger page-fault */
	struct {
		uint32_t repeat; /* runs in the longest test call; 0: bpfbench calibrates it */
	} slope;
	struct {
		char *workload; /* workload program to run */
		char **args;    /* arguments of the workload, args[n_args] */
		size_t n_args;
	} target; /* keys of drives with a workload */
	struct {
		char *function;
	} call;
	struct bb_where where;
};

struct bb_scenario {
	char *path; /* path of the scenario's file */
	char *name;
	char *description; /* text for readers; NULL: the key is not given */
	/* BPF object of all variants that name no object; NULL: no variant needs it, or no drive
	 * loads a program */
	char *object;
	char *floor; /* name of the floor variant; NULL: there is none */
	/* name of the anchor, whose latency divides all others in `history`; NULL: the floor */
	char *anchor;
	uint32_t loads; /* number of loads of each program per run; 0: the default number */
	/* true (`refused: skip`): a variant whose program cannot be loaded or run is left out, with
	 * a message; false, the default: it is an error */
	bool skips_refused;
	/* setup[n_setup]: commands that `sh -c` runs before anything else of the scenario
	 * (drivers/setup.h) */
	char **setup;
	size_t n_setup;
	struct bb_variant_spec *variants;
	size_t n_variants;
	struct bb_drive_spec *drives;
	size_t n_drives;
	struct bb_map_specs maps; /* maps of all variants; each variant has copies of them */
	/* numbers of entries with which copies of the variants are measured; n == 0:
	 * bb_scenario__spread_fills() was not called, or no map has several counts */
	struct bb_u32_list fill_counts;
	int expect_drops; /* expected drops, from `expect: {drops: N}`; -1: not given */
};

/* Reads and checks the file at `path`. Returns 0, or -errno with a message. If the fault is in the
 * text of the file, the message begins with "path:line:col: ". Free the scenario with
 * bb_scenario__free(). */
int bb_scenario__read(const char *path, struct bb_scenario **ret_scenario, struct bb_err *err);

/* Writes the JSON schema of scenario files to `out`, without a newline. The caller checks `out`. */
void bb_scenario__write_schema(FILE *out);

/* Reads a scenario from text in memory; `path` is only for messages. For tests and the fuzzer. */
int bb_scenario__parse(const char *text, size_t len, const char *path,
		       struct bb_scenario **ret_scenario, struct bb_err *err);

void bb_scenario__free(struct bb_scenario *s); /* does nothing if `s` is NULL */

/* Adds a copy of the variant `like` under the name `name`. If `object` is not NULL, the copy's
 * program comes from this object. Drives that name `like` among their variants then name the
 * copy, too. Moves the variants in memory, so a plan made before this call must not be used
 * after it. Returns 0, or -EEXIST if a variant has that name. */
int bb_scenario__add_variant(struct bb_scenario *s, const char *name, const char *like,
			     const char *object, struct bb_err *err);

/* True if the variant names a live program. */
static inline bool bb_variant_is_live(const struct bb_variant_spec *v)
{
	return v->id || v->pinned;
}

/* Returns the BPF object of the variant's program: its own, else the scenario's, else NULL. */
static inline const char *bb_variant_object(const struct bb_scenario *s,
					    const struct bb_variant_spec *v)
{
	return v->object ? v->object : s->object;
}

enum bb_twin {
	BB_TWIN_COLD,  /* with `caches: cold`; of every drive whose kind can run cold (step, lines)
			*/
	BB_TWIN_LINES, /* times the lines of a run (drivers/lines.c); of every hot step drive */
};

/* Adds to the drives a twin of each of them that can have one: a copy with another kind or other
 * caches, and with the default number of samples and the default time. Does nothing if the scenario
 * has such a drive already. Moves the drives in memory, so a plan made before this call must not be
 * used after it. Returns 0, or -EINVAL if no drive can have such a twin. */
int bb_scenario__add_twins(struct bb_scenario *s, enum bb_twin twin, struct bb_err *err);

/* Replaces each variant with a map whose `fill` has several counts by one copy for each count. The
 * copies have the variant's name, and their cases have the parameter "entries". Without this call,
 * the last count of a list is measured. Moves the variants in memory, so a plan made before this
 * call must not be used after it. Returns 0, or -EINVAL if two maps have different lists of counts,
 * or if a drive cannot measure copies, for example if its own parameter has several values. */
int bb_scenario__spread_fills(struct bb_scenario *s, struct bb_err *err);

/* Returns how many samples the drive takes of a case in all, and how many before the next case
 * has its turn. Hot and cold drives have different numbers. */
static inline const struct bb_pace *bb_drive_pace(const struct bb_drive_spec *d)
{
	return d->caches == BB_CACHES_COLD ? &d->kind->cold : &d->kind->pace;
}

/* Returns the name of a drive in cases, tables and options: its `with`, or such as "step-cold". */
const char *bb_drive_name(const struct bb_drive_spec *d);

/* `same` is a drive in which all CPUs run one input. Returns the drive of this kind that has the
 * same first input and gives each of n CPUs an input of its own; NULL if there is none. */
const struct bb_drive_spec *bb_scenario__each_input(const struct bb_scenario *s,
						    const struct bb_drive_spec *same, size_t n);

/* Returns the variant of that name, or NULL. */
static inline const struct bb_variant_spec *bb_scenario__variant(const struct bb_scenario *s,
								 const char *name)
{
	return BB_FIND(s->variants, s->n_variants, it->name && !strcmp(it->name, name));
}
