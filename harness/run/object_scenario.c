/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/object_scenario.h"

#include <linux/bpf.h>

#include <bpf/libbpf.h>

#include "base/io.h"
#include "base/parse.h"
#include "base/text.h"
#include "bpf/kept_maps.h"
#include "bpf/object_info.h"
#include "bpf/prog_type.h"
#include "capture/capture.h"
#include "drivers/test_run_types.h"
#include "plan/field.h"
#include "plan/maps_file.h"
#include "plan/packet.h"
#include "plan/yaml.h"

/* room for floors (empty programs) among the variants, one for each type and trigger */
#define MOST_FLOORS 24u
#define MAX_NAMES 64
#define MAX_RUNS 16 /* most inputs that a drive takes from a capture */
#define MAX_BYTES ((size_t)64 << 20)

/* The drives for each enum bb_object_do. The drive `needed` must have the trigger "fire". */
static const struct {
	const char *needed;
	bool step, exact, lines;
} drives[] = {
	[BB_OBJECT_TIME] = {"step", .step = true},
	[BB_OBJECT_COUNT] = {"exact", .exact = true},
	[BB_OBJECT_TIME_AND_COUNT] = {"step", .step = true, .exact = true},
	[BB_OBJECT_LINES] = {"lines", .exact = true, .lines = true},
};

struct part {
	char path[PATH_MAX];
	/* one byte longer than allowed, so that a too long name is noticed */
	char name[BB_NAME_MAX_BYTES + 2];
	struct bb_object_info info;
	size_t n_wanted;
};

/* Programs of one type and trigger, with the same drives and the same floor. A program with
 * packets or a context of its own gets its own group, because its drives have other inputs.
 * Exceptions: programs that are compared share a group, and once there are most_groups groups, all
 * further such programs share one. */
struct group {
	uint32_t type;
	const struct bb_test_run_type *run_type;
	const char *trigger;
	size_t lead;
	bool has_packets;
	/* name of the floor; empty if bpf/floors.bpf.c has none for the type */
	char floor[64];
};

struct variant {
	size_t group;
	/* may be too long, which the scenario's reader reports */
	char name[2 * BB_NAME_MAX_BYTES + 4];
	const struct part *part;
	const struct bb_object_program *program;
	/* map that has a value for each CPU in this variant (--per-cpu), or NULL */
	const char *per_cpu;
	const struct bb_found_input *found;
};

struct maker {
	const struct bb_object_opts *opts;
	char name[BB_NAME_MAX_BYTES + 1];
	struct part *parts;
	struct bb_maps_file **files;
	struct variant *variants;
	size_t n_variants;
	struct group *groups;
	size_t n_groups;
	size_t most_groups; /* with this many groups, programs with packets begin to share one */
	struct bb_object_scenario out;
};

void bb_object_name_from(const char *path, char *ret_name)
{
	static const char *const ends[] = {".o", ".bpf", ".capture"};
	size_t len = strlen(path);

	for (size_t i = 0; i < BB_LEN(ends); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && !memcmp(path + len - n, ends[i], n))
			len -= n;
	}
	bb_name_from(path, len, ret_name);
}

static int check_distinct(const struct maker *m, struct bb_err *err)
{
	for (size_t i = 0; i < m->n_variants; i++) {
		const struct variant *v = &m->variants[i];

		if (BB_ANY(m->groups, m->n_groups, !strcmp(v->name, it->floor)))
			return bb_fail(err, -EEXIST,
				       "'%s' is the name of the empty program; give %s "
				       "another name: --object NAME=FILE",
				       v->name, v->part->path);
		for (const struct variant *o = m->variants; o < v; o++)
			if (!strcmp(o->name, v->name))
				return bb_fail(err, -EEXIST,
					       "'%s' of %s and '%s' of %s would both be called "
					       "'%s'; give the objects names of their own: "
					       "--object NAME=FILE",
					       o->program->name, o->part->path, v->program->name,
					       v->part->path, v->name);
	}
	return 0;
}

static const struct bb_test_run_type *run_type_of(uint32_t type)
{
	const struct bb_test_run_type *t;

	return bb_test_run_type__find(type, &t, NULL) ? NULL : t;
}

/* Returns true if the capture has packets or tracing contexts that came to the program. */
static bool has_packets(const struct bb_object_program *p)
{
	return BB_ANY(p->runs, p->n_runs, it->path);
}

static const char *trigger_of(const struct bb_object_opts *o, const struct bb_object_program *p)
{
	struct bb_attach_point point, own;

	if (o->trigger)
		return o->trigger;
	if (p->type == BPF_PROG_TYPE_PERF_EVENT)
		return "page-fault";
	bb_attach_point__from_section(p->section, p->type, p->attach_type, &point);
	/* raw tracepoints need a given or captured context: zeros would be like no real event */
	if (run_type_of(p->type) && (point.kind != BB_AT_RAW_TP || o->contexts.n || has_packets(p)))
		return "test-run";
	/* Without an attach point, a kprobe program can run at a function of bpfbench, and a
	 * tracepoint program's name may tell its event. Others cannot be fired. */
	if (point.kind == BB_AT_NOWHERE && p->type != BPF_PROG_TYPE_TRACEPOINT &&
	    !bb_attach_point__on_own_function(&point, &own))
		return NULL;
	return bb_drive_kind_find(drives[o->what].needed, "fire") ? "fire" : NULL;
}

bool bb_object_opts__wants(const struct bb_object_opts *o, const char *program)
{
	return !o->programs.n || BB_ANY(o->programs.v, o->programs.n, !strcmp(*it, program));
}

static bool is_wanted(const struct bb_object_opts *o, const struct bb_object_ref *ref,
		      const char *program)
{
	return ref->program ? !strcmp(ref->program, program) : bb_object_opts__wants(o, program);
}

static int open_part(const struct bb_object_opts *o, const struct bb_object_ref *ref,
		     struct part *part, struct bb_err *err)
{
	int rc = bb_object_info__read(ref->path, &part->info, err);

	if (!rc && o->type)
		rc = bb_object_info__take_for(&part->info, o->type, err);
	if (!rc && !realpath(ref->path, part->path))
		rc = bb_fail(err, -errno, "%s: %m", ref->path);
	for (size_t i = 0; !rc && !ref->program && i < o->programs.n; i++)
		rc = bb_object_info__need_program(&part->info, ref->path, o->programs.v[i], err);
	/* the scenario's reader reports an invalid name */
	if (ref->name)
		snprintf(part->name, sizeof(part->name), "%s", ref->name);
	else
		bb_object_name_from(basename(ref->path), part->name);
	for (size_t i = 0; !rc && i < part->info.n_programs; i++)
		part->n_wanted += is_wanted(o, ref, part->info.programs[i].name);
	if (!rc && o->one_each && part->n_wanted != 1)
		rc = bb_fail(err, -EINVAL,
			     "%s has several programs, and compare takes one: add --program "
			     "NAME; it has: %s",
			     ref->path, bb_object_info__list(&part->info).text);
	return rc;
}

/* If bpfbench cannot make the program run, writes the reason and returns true. */
static bool why_not(const struct bb_object_opts *o, const struct bb_object_program *p,
		    char *ret_why, size_t size)
{
	const char *kind = p->attach_type == BPF_XDP_DEVMAP ? "devmap" : "cpumap";

	if (p->why_not)
		snprintf(ret_why, size, "%s", p->why_not);
	else if (p->type == BPF_PROG_TYPE_UNSPEC)
		snprintf(ret_why, size,
			 "libbpf cannot tell its type from its section \"%s\"; --type, or the "
			 "key 'type' of a variant, says it",
			 p->section);
	else if (p->type == BPF_PROG_TYPE_XDP &&
		 (p->attach_type == BPF_XDP_DEVMAP || p->attach_type == BPF_XDP_CPUMAP))
		snprintf(ret_why, size,
			 "the kernel runs a program of section xdp/%s only on frames redirected to "
			 "a %s, and refuses to test-run it; built in section xdp it can be "
			 "measured",
			 kind, kind);
	else if (trigger_of(o, p))
		return false;
	else if (!strcmp(p->section, BB_NOT_ATTACHED))
		snprintf(ret_why, size,
			 "the command attached it nowhere, so nothing tells which event of type "
			 "%s makes it run",
			 bb_prog_type_name(p->type).text);
	else
		snprintf(ret_why, size, "no trigger here makes a program of type %s run; %s",
			 bb_prog_type_name(p->type).text,
			 p->type == BPF_PROG_TYPE_EXT ? "it runs as part of the program that it "
							"replaces"
						      : "only its own event makes it run");
	return true;
}

/* Types whose empty program in bpf/floors.bpf.c can be fired. Types with a test run have one,
 * too. */
static const uint32_t fired_floors[] = {
	BPF_PROG_TYPE_TRACEPOINT,     BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_PROG_TYPE_TRACING,
	BPF_PROG_TYPE_KPROBE,         BPF_PROG_TYPE_CGROUP_SOCK,    BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_PROG_TYPE_CGROUP_SYSCTL,  BPF_PROG_TYPE_CGROUP_DEVICE,
	BPF_PROG_TYPE_SOCK_OPS,       BPF_PROG_TYPE_PERF_EVENT,
};

/* Returns the found packet or context, or NULL if the search kept the default one. */
static const struct bb_try_part *found_bytes(const struct bb_found_input *f)
{
	return BB_FIND(f->state.v, f ? f->state.n : 0, it->kind == BB_TRY_INPUT && it->is_set);
}

/* Returns the program whose captured packets `p` gets. If programs are compared (one_each), all of
 * them get the packets of the first one of this type that has some. Otherwise it is `p`. */
static const struct bb_object_program *source_of_inputs(const struct maker *m,
							const struct bb_object_program *p)
{
	const struct bb_object_opts *o = m->opts;

	for (size_t i = 0; o->one_each && i < o->n_objects; i++) {
		const struct bb_object_info *info = &m->parts[i].info;

		for (size_t j = 0; j < info->n_programs; j++)
			if (info->programs[j].type == p->type && has_packets(&info->programs[j]) &&
			    is_wanted(o, &o->objects[i], info->programs[j].name))
				return &info->programs[j];
	}
	return p;
}

/* Returns the index of the program's group. Adds the group if there is none. */
static size_t find_group(struct maker *m, const struct bb_object_program *p,
			 const struct bb_found_input *found)
{
	const char *trigger = trigger_of(m->opts, source_of_inputs(m, p));
	/* compared programs share a group, so that they get the same packets */
	bool alone = !m->opts->one_each && (has_packets(p) || found_bytes(found)) &&
		     m->n_groups < m->most_groups;
	bool is_second = false, has_floor;
	size_t n_alike = 0;
	struct group *g;

	for (size_t i = 0; i < m->n_groups; i++) {
		g = &m->groups[i];
		if (g->type != p->type)
			continue;
		if (strcmp(g->trigger, trigger)) {
			is_second = true;
			continue;
		}
		if (!alone && !g->has_packets)
			return i;
		n_alike++;
	}
	g = bb_append(&m->groups, &m->n_groups, sizeof(*g));
	*g = (struct group){.type = p->type,
			    .run_type = run_type_of(p->type),
			    .trigger = trigger,
			    .lead = m->n_variants,
			    .has_packets = alone};
	has_floor = g->run_type || BB_ANY(fired_floors, BB_LEN(fired_floors), *it == p->type);
	/* Names the floor "empty-xdp". Appends the trigger if an earlier group of this type has
	 * another trigger: "empty-raw_tracepoint-test-run". Appends a number if an earlier group
	 * has the same type and trigger: "empty-xdp-2". No function can have this name, because it
	 * has a '-'. An object can, which check_distinct() refuses. */
	if (has_floor)
		snprintf(g->floor, sizeof(g->floor), "empty-%s%s%s",
			 bb_prog_type_name(p->type).text, is_second ? "-" : "",
			 is_second ? trigger : "");
	if (has_floor && n_alike)
		snprintf(g->floor + strlen(g->floor), sizeof(g->floor) - strlen(g->floor), "-%zu",
			 n_alike + 1);
	return m->n_groups - 1;
}

/* Returns the name of map or program `i`, or NULL after the last one. */
static const char *name_at(const struct bb_object_info *info, bool of_map, size_t i)
{
	if (of_map)
		return i < info->n_maps ? info->maps[i].name : NULL;
	return i < info->n_programs ? info->programs[i].name : NULL;
}

/* Returns the object's map or program named by "NAME=N" or "NAME", or NULL. */
static const char *find_name(const struct bb_object_info *info, bool of_map, const char *text)
{
	size_t len = strcspn(text, "=");
	const char *name;

	for (size_t i = 0; (name = name_at(info, of_map, i)); i++)
		if (strlen(name) == len && !memcmp(name, text, len))
			break;
	return name;
}

static void add_program(struct maker *m, const struct part *part, const struct bb_object_program *p)
{
	struct variant v = {.part = part, .program = p};
	bool is_only = part->n_wanted == 1 && !m->opts->full_names;
	const struct bb_found_inputs *found = m->opts->found_inputs;
	const struct bb_strings *maps = &m->opts->per_cpu;
	struct bb_object_skip *skip;
	char own[BB_NAME_MAX_BYTES + 1], why[400];

	/* With one object, a variant is named after its program. With several, it is named after
	 * its object, or "object.program" if several programs of the object are wanted. */
	bb_name_from(p->name, strlen(p->name), own);
	if (m->opts->n_objects == 1)
		snprintf(v.name, sizeof(v.name), "%s", own);
	else
		snprintf(v.name, sizeof(v.name), "%s%s%s", part->name, is_only ? "" : ".",
			 is_only ? "" : own);
	if (why_not(m->opts, p, why, sizeof(why))) {
		skip = bb_append(&m->out.skips, &m->out.n_skips, sizeof(*skip));
		skip->what = bb_asprintf("%s/%s", m->name, v.name);
		skip->why = bb_strdup(why);
		return;
	}
	v.found = BB_FIND(found->v, found ? found->n : 0,
			  !strcmp(it->variant, v.name) && bb_found_input__is_any(it));
	v.group = find_group(m, p, v.found);
	BB_PUSH(m->variants, m->n_variants, v);
	if (p->guess)
		bb_add_words(&m->out.guesses, "",
			     "bpfbench: %s: its section \"%s\" is taken for \"%s\"; --type says "
			     "otherwise\n",
			     v.name, p->section, p->guess);
	size_t len = strlen(v.name);
	for (size_t i = 0; i < maps->n; i++) {
		v.per_cpu = maps->v[i];
		if (!find_name(&part->info, true, v.per_cpu) ||
		    BB_ANY(maps->v, i, !strcmp(*it, v.per_cpu)))
			continue;
		bb_name_from(v.per_cpu, strlen(v.per_cpu), own);
		snprintf(v.name + len, sizeof(v.name) - len, ".%s", own);
		BB_PUSH(m->variants, m->n_variants, v);
	}
}

static int say_nothing_driven(const struct maker *m, struct bb_err *err)
{
	const struct bb_object_skip *s = m->out.skips;
	char *list = NULL;
	size_t size = 0;
	FILE *out = bb_open_memstream(&list, &size);

	for (size_t i = 0; i < m->out.n_skips; i++) {
		/* the first skip with a reason has listed all others with it */
		if (BB_ANY(s, i, !strcmp(it->why, s[i].why)))
			continue;
		for (size_t k = i; k < m->out.n_skips; k++)
			if (!strcmp(s[k].why, s[i].why))
				fprintf(out, "%s%s", k == i ? "\n  " : ", ", s[k].what);
		fprintf(out, ": %s", s[i].why);
	}
	bb_close_memstream(out);
	int rc = bb_fail(err, -ENOTSUP, "%s: none of its programs can be driven:%s",
			 m->parts[0].path, list);
	free(list);
	return rc;
}

static int find_programs(struct maker *m, struct bb_err *err)
{
	/* a YAML list has at most BB_YAML_MAX_ENTRIES items, floors included */
	const size_t most = BB_YAML_MAX_ENTRIES - MOST_FLOORS;
	const struct bb_object_opts *o = m->opts;
	const struct part *last = &m->parts[o->n_objects - 1];
	const char *name;
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < o->n_objects; i++) {
		rc = open_part(o, &o->objects[i], &m->parts[i], err);
		n += m->parts[i].n_wanted * (1 + o->per_cpu.n);
	}
	if (!rc && n > most)
		rc = bb_fail(err, -E2BIG,
			     "%s: %zu programs%s are too many for one run, which measures %zu at "
			     "the most; --program NAME (repeatable) chooses some of them",
			     o->objects[0].path, n,
			     o->per_cpu.n ? " and variants of --per-cpu" : "", most);
	m->most_groups = BB_YAML_MAX_ENTRIES - MOST_FLOORS / 2 - n;
	name = o->name ? o->name : o->n_objects == 1 ? last->name : "objects";
	/* with one_each, all comparisons of the last program are in one history, named after it */
	for (size_t i = 0; !o->name && o->one_each && i < last->info.n_programs; i++)
		if (is_wanted(o, &o->objects[o->n_objects - 1], last->info.programs[i].name))
			name = last->info.programs[i].name;
	bb_name_from(name, strlen(name), m->name);
	for (size_t i = 0; !rc && i < o->n_objects; i++)
		for (size_t j = 0; !rc && j < m->parts[i].info.n_programs; j++)
			if (is_wanted(o, &o->objects[i], m->parts[i].info.programs[j].name))
				add_program(m, &m->parts[i], &m->parts[i].info.programs[j]);
	if (!rc && (!m->n_variants || (o->one_each && m->out.n_skips)))
		rc = say_nothing_driven(m, err);
	return rc ? rc : check_distinct(m, err);
}

static void write_value(const char *before, const char *value, FILE *out)
{
	fputs(before, out);
	bb_yaml__write(out, value);
}

/* Returns true if the data is pcapng, or pcap of either byte order with times in µs or ns. */
static bool is_capture(const char *data, size_t len)
{
	static const uint32_t magics[] = {0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d, 0x4d3cb2a1,
					  0x0a0d0d0a};
	uint32_t magic = 0;

	if (len < sizeof(magic))
		return false;
	memcpy(&magic, data, sizeof(magic));
	return BB_ANY(magics, BB_LEN(magics), magic == *it);
}

/* Returns 0 for hexadecimal text, 1 for binary data, or -EINVAL for other or too short text. */
static int look_for_hex(const char *path, const char *data, size_t len, size_t least,
			struct bb_err *err)
{
	uint8_t *bytes = bb_calloc(len / 2 + 1, 1);
	size_t n = 0, at = 0;
	int rc = bb_parse_hex(data, bytes, len / 2 + 1, &n, &at);

	free(bytes);
	if (BB_ANY(data, len, *it < ' ' && !strchr("\t\r\n", *it ? *it : '?')))
		return 1;
	if (rc)
		return bb_fail(err, -EINVAL,
			       "%s: a text that is not hexadecimal: character %zu is wrong; bytes "
			       "of two hexadecimal digits each are expected",
			       path, at + 1);
	return n >= least ? 0
			  : bb_fail(err, -EINVAL,
				    "%s has %zu bytes%s; a packet or context has at "
				    "least %zu",
				    path, n, len ? " of hexadecimal text" : "", least);
}

/* Writes an item of the key `inputs` (plan/input_field.c) for a file, named after the file. The
 * contents tell whether it is a packet capture, hexadecimal text, or plain bytes. `flows` is the
 * text of further keys for a packet, or "". */
static int write_input(const char *path, bool is_context, const char *flows, FILE *out,
		       struct bb_err *err)
{
	const char *base = basename(path), *prefix = is_context ? "context_" : "";
	char name[BB_NAME_MAX_BYTES + 1], whole[PATH_MAX], *data = NULL;
	size_t len = 0;
	int rc = bb_read_file(path, MAX_BYTES, &data, &len, err), no_hex;

	if (rc)
		return rc;
	bool capture = is_capture(data, len);
	no_hex = capture ? 1
			 : look_for_hex(path, data, len, is_context ? 1 : BB_FRAME_MIN_BYTES, err);
	if (no_hex < 0) {
		rc = no_hex;
	} else if (!realpath(path, whole)) {
		rc = bb_fail(err, -errno, "%s: %m", path);
	} else if (is_context && capture) {
		rc = bb_fail(err, -EINVAL,
			     "%s: a capture file holds packets, not a context; a context is the "
			     "bytes of the program's argument, or their hexadecimal text",
			     path);
	} else {
		bb_name_from(base, strcspn(base, "."), name);
		write_value("      - {name: ", name, out);
		fprintf(out, ", %s%s: ", prefix, capture ? "pcap" : no_hex ? "file" : "hex");
		bb_yaml__write(out, no_hex ? whole : data);
		fprintf(out, "%s}\n", capture ? "" : flows);
	}
	free(data);
	return rc;
}

static const char *bytes_of(const struct bb_object_run *run, bool contexts)
{
	return contexts ? run->context : run->packet;
}

/* Finds a group's inputs in the capture: the packets on which its programs ran or, without them,
 * the inputs of the captured command's own test runs, each once. */
static size_t find_runs(const struct maker *m, size_t group, bool contexts,
			const struct bb_object_run *ret_runs[MAX_RUNS])
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_variants; i++) {
		const struct bb_object_program *p = m->variants[i].program;
		bool came = has_packets(p) && (m->opts->one_each || m->groups[group].has_packets);

		for (size_t k = 0; m->variants[i].group == group && k < p->n_runs; k++) {
			const char *text = bytes_of(&p->runs[k], contexts);

			if (text && n < MAX_RUNS && came == (p->runs[k].path != NULL) &&
			    (came || !BB_ANY(ret_runs, n, !strcmp(bytes_of(*it, contexts), text))))
				ret_runs[n++] = &p->runs[k];
		}
	}
	return n;
}

/* Writes an input from a capture. `nth`, from 1, is its number among the inputs with the same path
 * through the program, or among those without a path. */
static void write_run(const struct bb_object_run *run, bool is_context, size_t nth, FILE *out)
{
	char name[BB_NAME_MAX_BYTES + 1];

	if (run->path) {
		bb_name_from(run->path, strlen(run->path), name);
		fprintf(out, "      - {name: path-%s", name);
		if (nth > 1)
			fprintf(out, "-%zu", nth);
	} else {
		fprintf(out, "      - {name: run-%zu", nth);
	}
	if (run->share > 0)
		fprintf(out, ", weight: %.9g", run->share);
	fprintf(out, ", %shex: \"%s\"}\n", is_context ? "context_" : "", bytes_of(run, is_context));
}

static void write_hex(const void *data, size_t len, FILE *out)
{
	const uint8_t *bytes = data;

	fputc('"', out);
	for (size_t i = 0; i < len; i++)
		fprintf(out, "%02x", bytes[i]);
	fputc('"', out);
}

static void write_bytes(const char *name, const char *form, const void *data, size_t len,
			const char *flows, FILE *out)
{
	fprintf(out, "      - {name: %s, %s: ", name, form);
	write_hex(data, len, out);
	fprintf(out, "%s}\n", flows);
}

/* Writes the inputs of a drive. `flows` is "" or ", flows: N", which makes N flows of a packet. It
 * is written only if the drive has a single packet. If there are no inputs and `hint` is true,
 * writes a comment that tells which inputs the programs take. */
static int write_inputs(const struct maker *m, size_t group, bool hint, const char *flows,
			FILE *out, struct bb_err *err)
{
	const struct bb_test_run_type *type = m->groups[group].run_type;
	const struct bb_object_opts *o = m->opts;
	const char *const *files = type->takes_context ? o->contexts.v : o->packets.v;
	size_t n = type->takes_context ? o->contexts.n : o->packets.n;
	const struct bb_object_run *runs[MAX_RUNS];
	const struct group *g = &m->groups[group];
	const struct bb_try_part *found = g->has_packets ? found_bytes(m->variants[g->lead].found)
							 : NULL;
	size_t n_runs = n ? 0 : find_runs(m, group, type->takes_context, runs), nth = 0;
	int rc = 0;

	if (found) {
		fputs("    inputs:    # a " BB_FOUND_INPUT "\n", out);
		write_bytes("found", type->takes_context ? "context_hex" : "hex", found->bytes,
			    found->len, flows, out);
		return 0;
	}
	if (n_runs && runs[0]->path)
		fprintf(out, "    inputs:    # %s that came to the program, by their runs' paths\n",
			type->takes_context ? "contexts" : "packets");
	else if (n_runs)
		fputs("    inputs:    # those of the command's own test runs\n", out);
	else if (n || flows[0])
		fputs("    inputs:\n", out);
	else if (hint)
		fprintf(out,
			"    # It takes %s.\n    # inputs: [{name: mine, %s: FILE}]    # default: "
			"one called %s\n",
			type->wants, type->takes_context ? "context_file" : "file",
			type->otherwise->name);
	for (size_t i = 0; i < n_runs; i++) {
		const char *path = i ? runs[i - 1]->path : NULL;

		/* numbers the test runs, and the packets of each path, from 1 */
		nth = !path != !runs[i]->path || (path && strcmp(path, runs[i]->path)) ? 1
										       : nth + 1;
		write_run(runs[i], type->takes_context, nth, out);
	}
	if (flows[0] && !n && !n_runs)
		write_bytes(type->otherwise->name, "hex", type->otherwise->data,
			    type->otherwise->len, flows, out);
	for (size_t i = 0; !rc && i < n; i++)
		rc = write_input(files[i], type->takes_context, n == 1 ? flows : "", out, err);
	return rc;
}

/* Values that a scenario can give to a global whose name has `word` and whose size is `size_bytes`.
 * `self` stands for the pid, name or cgroup of the process that fires the program. */
static const struct {
	const char *word, *self;
	bool is_text;
	uint32_t size_bytes;
} selves[] = {
	{"pid", "{pid: self}", false, 4},       {"tgid", "{pid: self}", false, 4},
	{"tid", "{pid: self}", false, 4},       {"comm", "{comm: self}", true, 16},
	{"cgroup", "{cgroup: self}", false, 8}, {"cgid", "{cgroup: self}", false, 8},
};

static void write_filters(const struct bb_object_info *info, FILE *out)
{
	const char *before = "# Globals that a variant can set (key `globals`): ";

	for (size_t i = 0; i < info->n_globals; i++) {
		const struct bb_object_global *g = &info->globals[i];
		const char *self = NULL;

		for (size_t k = 0; !self && k < BB_LEN(selves); k++)
			if (strstr(g->name, selves[k].word) && g->is_text == selves[k].is_text &&
			    g->size_bytes == selves[k].size_bytes)
				self = selves[k].self;
		if (g->is_state || (g->is_text && !self))
			continue;
		fprintf(out, "%s%s%s%s", before, g->name, self ? ", also to " : "",
			self ? self : "");
		before = "; ";
	}
	if (*before == ';')
		fputc('\n', out);
	for (size_t i = 0; i < info->n_maps; i++)
		if (info->maps[i].type == BPF_MAP_TYPE_CGROUP_ARRAY)
			fprintf(out,
				"# A variant's maps: [{name: %s, entries: [{key: 0, value: "
				"{cgroup: self}}]}] has the cgroup of the process that fires.\n",
				info->maps[i].name);
}

static void write_head(const struct maker *m, FILE *out)
{
	const struct bb_object_opts *o = m->opts;

	fputs("# A scenario to start from, by `bpfbench init`. To measure it: bpfbench --scenario "
	      "FILE. All keys: docs/scenario.md.\n",
	      out);
	for (size_t i = 0; i < o->n_objects; i++) {
		const struct bb_object_info *info = &m->parts[i].info;

		write_value("# ", m->parts[i].path, out);
		fprintf(out, ": programs %zu, maps %zu, %s, ", info->n_programs, info->n_maps,
			info->has_btf ? "with BTF" : "no BTF (so no globals can be set)");
		if (info->licence)
			write_value("licence ", info->licence, out);
		else
			fputs("no licence (GPL-only helpers are refused)", out);
		fputc('\n', out);
		write_filters(info, out);
	}
	write_value("name: ", m->name, out);
	write_value("\nobject: ", m->parts[0].path, out);
	fputc('\n', out);
	/* the floor of the only group is the floor of the whole scenario */
	if (m->n_groups == 1 && m->groups->floor[0])
		fprintf(out, "floor: %s\n", m->groups->floor);
	if (!o->programs.n && !o->one_each)
		fputs("refused: skip    # a program that the kernel refuses is skipped by name; "
		      "default: error, which ends the run\n",
		      out);
}

static void write_fired_by(const struct maker *m, const char *variant, FILE *out)
{
	const struct bb_scenario *s = m->opts->found_in;

	for (size_t i = 0; s && i < s->n_variants; i++)
		if (!strcmp(s->variants[i].name, variant) && m->opts->found[i])
			fprintf(out, ", fired_by: %s", m->opts->found[i]);
}

/* Returns the N of the last "MAP=N" in `given` for this map, or NULL. */
static const char *number_of(const struct bb_strings *given, const char *map)
{
	const char *found = NULL;

	for (size_t i = 0; i < given->n; i++)
		if (!strncmp(given->v[i], map, strlen(map)) && given->v[i][strlen(map)] == '=')
			found = given->v[i] + strlen(map) + 1;
	return found;
}

static void write_found_globals(const struct bb_found_input *f, FILE *out)
{
	size_t n = 0;

	for (size_t i = 0; f && i < f->state.n; i++) {
		const struct bb_try_part *p = &f->state.v[i];

		if (p->kind != BB_TRY_GLOBAL || !p->is_set)
			continue;
		write_value(n++ ? ", " : ", globals: {", p->name, out);
		fprintf(out, ": %lld", (long long)bb_try_part__number(p));
	}
	fputs(n ? "}" : "", out);
}

static bool is_entry_of(const struct bb_try_part *p, const char *map)
{
	return p->is_set && (p->kind == BB_TRY_VALUE || p->kind == BB_TRY_PROGRAM) &&
	       !strcmp(p->name, map);
}

static void write_found_entries(const struct bb_found_input *f, const char *map, FILE *out)
{
	const char *before = ", entries: [{key: ";

	for (size_t i = 0; i < f->state.n; i++) {
		const struct bb_try_part *p = &f->state.v[i];

		if (!is_entry_of(p, map))
			continue;
		fputs(before, out);
		before = ", {key: ";
		if (p->self)
			fprintf(out, "{%s: self}", bb_self_name(p->self));
		else
			write_hex(p->key, p->key_len, out);
		if (p->kind == BB_TRY_PROGRAM) {
			write_value(", program: ", f->programs[p->bytes[0] - 1], out);
		} else {
			fputs(", value: ", out);
			write_hex(p->bytes, p->len, out);
		}
		fputc('}', out);
	}
	fputc(']', out);
}

static void write_maps(const struct maker *m, const struct variant *v, FILE *out)
{
	const struct bb_found_input *found = v->found;
	const struct part *part = v->part;
	size_t n = 0;

	for (size_t i = 0; i < part->info.n_maps; i++) {
		const char *map = part->info.maps[i].name, *fill = number_of(&m->opts->fills, map),
			   *room = number_of(&m->opts->max_entries, map), *file = NULL;
		bool per_cpu = v->per_cpu && !strcmp(v->per_cpu, map),
		     has_entries = BB_ANY(found->state.v, found ? found->state.n : 0,
					  is_entry_of(it, map));

		for (size_t k = 0; k < m->opts->maps.n; k++)
			if (bb_maps_file__find(m->files[k], map))
				file = m->files[k]->path;
		if (!fill && !room && !file && !per_cpu && !has_entries)
			continue;
		write_value(n++ ? ", {name: " : ", maps: [{name: ", map, out);
		if (per_cpu)
			fputs(", per_cpu: yes", out);
		if (room)
			fprintf(out, ", max_entries: %s", room);
		if (file)
			write_value(", file: ", file, out);
		if (fill)
			fprintf(out,
				strchr(fill, ',') ? ", fill: {count: [%s], key: random}"
						  : ", fill: {count: %s, key: random}",
				fill);
		if (has_entries)
			write_found_entries(found, map, out);
		fputc('}', out);
	}
	if (n)
		fputc(']', out);
}

static void write_prepare(const struct maker *m, const struct part *part, FILE *out)
{
	const char *before = ", prepare: [{program: ";

	for (size_t i = 0; i < m->opts->prepare.n; i++) {
		const char *text = m->opts->prepare.v[i], *times = strchr(text, '=');
		const char *program = find_name(&part->info, false, text);

		if (!program)
			continue;
		write_value(before, program, out);
		fprintf(out, times ? ", times: %s}" : "}", times ? times + 1 : "");
		before = ", {program: ";
	}
	if (before[2] == '{')
		fputc(']', out);
}

static void write_variants(const struct maker *m, FILE *out)
{
	fputs("variants:\n", out);
	for (size_t i = 0; i < m->n_variants; i++) {
		const struct variant *v = &m->variants[i];
		const struct group *g = &m->groups[v->group];
		const struct bb_object_program *p = v->program;

		if (g->lead == i && g->floor[0]) {
			fprintf(out, "  - {name: %s, program: empty_%s, object: " BB_FLOORS_OBJECT,
				g->floor, bb_prog_type_name(p->type).text);
			write_fired_by(m, g->floor, out);
			fputs("}    # the floor: returns at once\n", out);
		}
		write_value("  - {name: ", v->name, out);
		if (strcmp(v->name, p->name))
			write_value(", program: ", p->name, out);
		if (m->opts->type || p->guess)
			write_value(", type: ", m->opts->type ? m->opts->type : p->guess, out);
		if (v->part != m->parts)
			write_value(", object: ", v->part->path, out);
		write_maps(m, v, out);
		write_prepare(m, v->part, out);
		write_found_globals(v->found, out);
		if (v->found)
			fputs(", found: yes, description: \"" BB_FOUND_INPUT "\"", out);
		write_fired_by(m, v->name, out);
		fprintf(out, "}    # %s", bb_prog_type_name(p->type).text);
		write_value(", section ", p->section, out);
		fputc('\n', out);
	}
}

/* Writes a drive of a group. `comment` is written after its name, or the group's trigger if it is
 * NULL. Writes nothing if that trigger is "fire" and the drive cannot fire. */
static int write_drive(const struct maker *m, size_t group, const char *with, const char *comment,
		       bool hint, FILE *out, struct bb_err *err)
{
	const struct group *g = &m->groups[group];
	const char *between = "    variants: [";
	char flows[32] = "";

	if (!comment && !strcmp(g->trigger, "fire") && !bb_drive_kind_find(with, g->trigger))
		return 0;
	fprintf(out, "  - with: %s%s\n", with, comment ? comment : "");
	if (!comment) {
		write_value("    trigger: ", g->trigger, out);
		fputc('\n', out);
	}
	if (!strcmp(with, "parallel"))
		fprintf(out, "    cpus: [%s]\n", m->opts->cpus);
	if (!strcmp(g->trigger, "page-fault"))
		fputs("    stack_depth: 32    # user frames that the program sees\n", out);
	/* with one group, the drive takes the scenario's floor and all variants */
	if (m->n_groups > 1) {
		if (g->floor[0])
			fprintf(out, "    floor: %s\n", g->floor);
		for (size_t i = 0; i < m->n_variants; i++) {
			if (m->variants[i].group != group)
				continue;
			write_value(between, m->variants[i].name, out);
			between = ", ";
		}
		fputs("]\n", out);
	}
	if (strcmp(g->trigger, "test-run") || !g->run_type)
		return 0;
	if (m->opts->order && !g->run_type->takes_context && !comment)
		fprintf(out, "    order: %s\n", m->opts->order);
	if (m->opts->same_input && !strcmp(with, "parallel") && !g->run_type->takes_context)
		snprintf(flows, sizeof(flows), ", flows: %d", libbpf_num_possible_cpus());
	return write_inputs(m, group, hint, flows, out, err);
}

static bool can_repeat(const struct group *g)
{
	return !strcmp(g->trigger, "test-run") && g->run_type && g->run_type->takes_repeat;
}

/* Returns true if each CPU can run the group's programs on an input of its own. */
static bool can_differ(const struct maker *m, const struct group *g)
{
	return can_repeat(g) && (!g->run_type->takes_context || m->opts->contexts.n > 1);
}

static int write_drives(const struct maker *m, size_t group, FILE *out, struct bb_err *err)
{
	const struct bb_object_opts *o = m->opts;
	const struct group *g = &m->groups[group];
	bool step = drives[o->what].step, repeats = step && can_repeat(g);
	const struct {
		bool is_wanted;
		const char *with, *comment, *end;
		bool hint;
	} all[] = {
		{step, "step", NULL, "", true},
		{repeats && !o->trigger && !o->order, "slope",
		 "    # without bpf_stats, whose own cost is in the figures of step", "", false},
		{repeats && o->cpus, "parallel", "    # the same program on several CPUs at once",
		 "", false},
		{step && o->same_input && can_differ(m, g), "parallel",
		 "    # the same again, with one input for all CPUs", "    same_input: yes\n",
		 false},
		{step && o->hook && !strcmp(g->trigger, "fire"), "hook",
		 "    # the whole cost of an event to whoever makes it happen", "", false},
		{drives[o->what].lines, "lines", NULL, "", true},
		{drives[o->what].exact, "exact", NULL, "", o->what == BB_OBJECT_COUNT},
	};
	int rc = 0;

	for (size_t i = 0; !rc && i < BB_LEN(all); i++)
		if (all[i].is_wanted) {
			rc = write_drive(m, group, all[i].with, all[i].comment, all[i].hint, out,
					 err);
			fputs(all[i].end, out);
		}
	return rc;
}

static int write_text(struct maker *m, struct bb_err *err)
{
	size_t size = 0;
	FILE *out = bb_open_memstream(&m->out.text, &size);
	int rc = 0;

	write_head(m, out);
	write_variants(m, out);
	fputs("drive:\n", out);
	for (size_t i = 0; !rc && i < m->n_groups; i++)
		rc = write_drives(m, i, out, err);
	/* writes '?' for control characters, so that each comment is one line */
	for (size_t i = 0; i < m->out.n_skips; i++) {
		fprintf(out, "# Not driven: %s: ", m->out.skips[i].what);
		for (const char *c = m->out.skips[i].why; *c; c++)
			fputc((unsigned char)*c < ' ' ? '?' : *c, out);
		fputc('\n', out);
	}
	bb_close_memstream(out);
	return rc;
}

/* Returns true for numbers above 0 with commas between them, such as "10,1000". */
static bool are_counts(const char *text)
{
	size_t len;

	do {
		uint64_t count = 0;

		len = strcspn(text, ",");
		char *one = bb_strndup(text, len);
		bb_parse_u64(one, &count);
		free(one);
		if (!count)
			return false;
		text += len + 1;
	} while (text[-1]);
	return true;
}

static struct bb_phrase list_names(const struct maker *m, bool of_map)
{
	const char *names[MAX_NAMES], *name;
	size_t n = 0;

	for (size_t k = 0; k < m->opts->n_objects; k++)
		for (size_t i = 0; n < MAX_NAMES && (name = name_at(&m->parts[k].info, of_map, i));
		     i++)
			names[n++] = name;
	return n ? bb_phrase__join(names, n) : (struct bb_phrase){"none"};
}

static int check_name(const struct maker *m, const char *option, const char *text, bool of_map,
		      struct bb_err *err)
{
	if (BB_ANY(m->parts, m->opts->n_objects, find_name(&it->info, of_map, text)))
		return 0;
	return bb_fail(err, -ENOENT, "--%s=%s: there is no such %s; there are: %s", option, text,
		       of_map ? "map" : "program", list_names(m, of_map).text);
}

static int check_numbers(struct maker *m, struct bb_err *err)
{
	const struct bb_strings *fills = &m->opts->fills, *rooms = &m->opts->max_entries;
	int rc = 0;

	for (size_t i = 0; !rc && i < fills->n + rooms->n; i++) {
		bool is_fill = i < fills->n;
		const char *text = is_fill ? fills->v[i] : rooms->v[i - fills->n],
			   *option = is_fill ? "fill" : "max-entries", *equals = strchr(text, '=');

		if (!equals || !are_counts(equals + 1) || (!is_fill && strchr(equals, ',')))
			return bb_fail(err, -EINVAL,
				       "--%s=%s is not MAP=N%s: a map and its number of entries",
				       option, text, is_fill ? " or MAP=N,N..." : "");
		rc = check_name(m, option, text, true, err);
	}
	return rc;
}

static int check_prepare(struct maker *m, struct bb_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < m->opts->prepare.n; i++) {
		const char *text = m->opts->prepare.v[i], *times = strchr(text, '=');
		uint64_t count = 1;

		if (times && (bb_parse_u64(times + 1, &count) || !count))
			return bb_fail(err, -EINVAL,
				       "--prepare=%s is not PROGRAM or PROGRAM=N: a program of the "
				       "object and how often it runs",
				       text);
		rc = check_name(m, "prepare", text, false, err);
	}
	return rc;
}

static bool has_map_of(const struct bb_object_info *info, const struct bb_map_table *table)
{
	return BB_ANY(info->maps, info->n_maps, bb_map_table__is_of(table, it->name));
}

static int read_files(struct maker *m, struct bb_err *err)
{
	int rc = 0;

	m->files = bb_calloc(m->opts->maps.n + 1, sizeof(*m->files));
	for (size_t i = 0; !rc && i < m->opts->maps.n; i++) {
		char path[PATH_MAX];

		if (!realpath(m->opts->maps.v[i], path))
			return bb_fail(err, -errno, "%s: %m", m->opts->maps.v[i]);
		rc = bb_maps_file__read(path, &m->files[i], err);
		for (size_t k = 0; !rc && k < m->files[i]->n; k++) {
			const struct bb_map_table *table = &m->files[i]->v[k];

			if (!BB_ANY(m->parts, m->opts->n_objects, has_map_of(&it->info, table)))
				rc = bb_fail(err, -ENOENT,
					     "%s: no object has the map '%s'; there are: %s",
					     m->files[i]->path, table->name,
					     list_names(m, true).text);
		}
	}
	return rc;
}

static int check_per_cpu(struct maker *m, struct bb_err *err)
{
	const struct bb_object_opts *o = m->opts;
	int rc = 0;

	if (o->per_cpu.n && (!o->cpus || o->one_each))
		return bb_fail(err, -EINVAL,
			       "--per-cpu=%s tells what several CPUs contend for; run the programs "
			       "on several, with `run --cpus 1,all`",
			       o->per_cpu.v[0]);
	for (size_t i = 0; !rc && i < o->per_cpu.n; i++) {
		const char *map = o->per_cpu.v[i];

		rc = strchr(map, '=')
			     ? bb_fail(err, -EINVAL, "--per-cpu=%s is not the name of a map", map)
			     : check_name(m, "per-cpu", map, true, err);
		for (size_t k = 0; !rc && k < o->n_objects; k++) {
			const struct bb_object_info *info = &m->parts[k].info;
			const struct bb_object_map *its = BB_FIND(info->maps, info->n_maps,
								  !strcmp(it->name, map));

			if (its && info->is_capture)
				rc = bb_fail(err, -EINVAL,
					     "--per-cpu=%s: %s is a capture, whose maps are as the "
					     "captured loader made them; give the object file",
					     map, m->parts[k].path);
			else if (its && bb_map_type__per_cpu(its->type) < 0)
				rc = bb_fail(err, -EINVAL,
					     "--per-cpu=%s: this map of type %s cannot have a "
					     "value for each CPU; a hash, an LRU hash or an "
					     "array can",
					     map,
					     libbpf_bpf_map_type_str((enum bpf_map_type)its->type));
		}
	}
	return rc;
}

static int check_cpus(struct maker *m, struct bb_err *err)
{
	const char *text = m->opts->cpus;
	char *copy = bb_strdup(text ? text : "1"), *rest = copy, *item;
	bool is_good = true;
	uint64_t n;

	while ((item = strsep(&rest, ",")))
		is_good &= !strcmp(item, "all") || (!bb_parse_u64(item, &n) && n);
	free(copy);
	if (!is_good)
		return bb_fail(err, -EINVAL,
			       "--cpus=%s is not N or N,N...: numbers of CPUs, or all", text);
	return !text || BB_ANY(m->groups, m->n_groups, can_repeat(it))
		       ? 0
		       : bb_fail(err, -EINVAL,
				 "--cpus=%s: BPF_PROG_TEST_RUN repeats none of these programs, and "
				 "nothing else runs them on several CPUs at once",
				 text);
}

static int check_same_input(struct maker *m, struct bb_err *err)
{
	const struct bb_object_opts *o = m->opts;

	if (o->same_input && (!o->cpus || o->one_each))
		return bb_fail(err, -EINVAL,
			       "--same-input tells what several CPUs contend for; run the programs "
			       "on several, with `run --cpus 1,all`");
	if (o->same_input && !BB_ANY(m->groups, m->n_groups, can_differ(m, it)))
		return bb_fail(err, -EINVAL,
			       "--same-input: none of the programs takes packets; give several "
			       "contexts, with --ctx");
	for (size_t i = 0; o->same_input && i < m->n_variants; i++) {
		const struct group *g = &m->groups[m->variants[i].group];

		if (can_repeat(g) && !can_differ(m, g))
			bb_add_words(&m->out.guesses, "",
				     "bpfbench: %s: --same-input is not for it: each CPU has the "
				     "same context; give several, with --ctx\n",
				     m->variants[i].name);
	}
	return 0;
}

static int check_inputs(struct maker *m, struct bb_err *err)
{
	const struct bb_object_opts *o = m->opts;
	bool packets = BB_ANY(m->groups, m->n_groups, it->run_type && !it->run_type->takes_context),
	     contexts = BB_ANY(m->groups, m->n_groups, it->run_type && it->run_type->takes_context);

	if (o->order && !o->packets.n)
		return bb_fail(err, -EINVAL,
			       "--order is that of the packets of --packet; give a pcap with it");
	if (o->order && strcmp(o->order, "recorded") && strcmp(o->order, "random") &&
	    strcmp(o->order, "zipf"))
		return bb_fail(err, -EINVAL, "--order=%s is not recorded, random or zipf",
			       o->order);
	if (o->packets.n && !packets)
		return bb_fail(err, -EINVAL, "%s: none of the programs takes a packet%s",
			       o->packets.v[0], contexts ? "; a context is given with --ctx" : "");
	if (o->contexts.n && !contexts)
		return bb_fail(err, -EINVAL, "%s: none of the programs takes a context%s",
			       o->contexts.v[0],
			       packets ? "; a packet is given with --packet" : "");
	return 0;
}

int bb_object_scenario__make(const struct bb_object_opts *opts,
			     struct bb_object_scenario *ret_scenario, struct bb_err *err)
{
	static int (*const steps[])(struct maker *, struct bb_err *) = {
		find_programs, check_inputs,  check_cpus, check_per_cpu, check_same_input,
		check_numbers, check_prepare, read_files, write_text,
	};
	struct maker m = {.opts = opts, .parts = bb_calloc(opts->n_objects, sizeof(*m.parts))};
	int rc = 0;

	for (size_t i = 0; !rc && i < BB_LEN(steps); i++)
		rc = steps[i](&m, err);
	for (size_t i = 0; i < opts->n_objects; i++)
		bb_object_info__done(&m.parts[i].info);
	for (size_t i = 0; m.files && i < opts->maps.n; i++)
		bb_maps_file__let_go(m.files[i]);
	free(m.files);
	free(m.parts);
	free(m.variants);
	free(m.groups);
	if (rc)
		bb_object_scenario__done(&m.out);
	else
		*ret_scenario = m.out;
	return rc;
}

void bb_object_scenario__done(struct bb_object_scenario *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_skips; i++) {
		free(s->skips[i].what);
		free(s->skips[i].why);
	}
	free(s->skips);
	free(s->guesses);
	free(s->text);
	*s = (struct bb_object_scenario){0};
}
