/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"
#include "plan/yaml.h"

/*
 * A key of a scenario is a row of a table (struct bb_field): its name, its type, and the member it
 * sets. Reading, copying and freeing follow from the row. A row without a name describes a member
 * that no single key sets.
 */
#define BB_NAME_MAX_BYTES 128 /* names become part of benchmark names and of file names */

/* Makes a name from any text: characters not allowed in a name become '_'.
 * ret_name[BB_NAME_MAX_BYTES + 1]. */
void bb_name_from(const char *text, size_t len, char *ret_name);

struct bb_kind; /* defined below */
struct json_t;
struct bb_field;

typedef int bb_read_value(const struct bb_reader *r, const struct bb_field *f,
			  const struct bb_yaml *node, void *base);

struct bb_type {
	/* Checks the value and stores it in the member of the struct at `base`. Returns 0, or
	 * -errno with a message that begins with "path:line:col: ". NULL: the value is ignored. */
	bb_read_value *read;
	size_t owned_bytes; /* size of the member's pointer to memory that it owns; 0: the member
			       owns no memory */
	/* Copies owned memory into a member whose pointer is NULL. */
	void (*copy)(const struct bb_field *f, const void *from, void *to);
	void (*done)(const struct bb_field *f,
		     void *base); /* frees the member's memory, and sets its pointer to NULL */
	const char *schema;       /* as bb_field.schema */
};

/* JSON schemas of values. A text may look like a number to other readers of YAML. */
#define BB_SCHEMA_TEXT "{\"type\": [\"string\", \"number\", \"boolean\"]}"
#define BB_SCHEMA_SELF                                                                             \
	"{\"type\": \"object\", \"minProperties\": 1, \"maxProperties\": 1, "                      \
	"\"propertyNames\": {\"enum\": [\"pid\", \"comm\", \"cgroup\"]}, "                         \
	"\"additionalProperties\": {\"const\": \"self\"}}"

struct bb_field {
	const char *name;
	const struct bb_type *type;
	size_t offset;       /* offset of the member in the struct at `base` */
	size_t n_offset;     /* lists and bytes: offset of the member that holds the count */
	bb_read_value *read; /* reader of this key's value; NULL: type->read */
	unsigned int
		with; /* the modes that allow the key, as bits (struct bb_kind); 0: all modes */
	bool required;
	bool may_repeat;            /* in a list of numbers, one may stand several times */
	double min, max;            /* range of a number, both ends included */
	const char *const *choices; /* allowed texts */
	size_t n_choices;
	const char *(*choice)(size_t i); /* in place of `choices`: returns allowed text i, or NULL
					    after the last */
	const struct bb_kind *of;        /* kind of a mapping, or of the items of a list */
	const char *item; /* in messages: one item of a list of texts ("an argument"), or the items
			     of a list of mappings ("mappings such as ...") */
	/* For plan/schema.h. schema: JSON schema of a value that is not a mapping; NULL: that of
	 * the field's type, if it has one. mapping: kind of the mapping that `read` accepts; NULL:
	 * `of`. */
	const char *schema;
	const struct bb_kind *mapping;
};

static inline void *bb_field__member(const struct bb_field *f, void *base)
{
	return (char *)base + f->offset;
}

static inline const void *bb_field__const_member(const struct bb_field *f, const void *base)
{
	return (const char *)base + f->offset;
}

static inline void *bb_field__number(const struct bb_field *f, void *base)
{
	return (char *)base + f->n_offset;
}

/* Types of members. bb_type_list reads its items by their kind (bb_field.of). If that kind has a
 * noun, two items must not have the same name. */
extern const struct bb_type bb_type_text, bb_type_name, /* char * */
	bb_type_choice,                                 /* char *, one of `choices` */
	bb_type_index,                                  /* unsigned int, the index in `choices` */
	bb_type_flag,     /* bool: false for the first of two `choices`, true for the second */
	bb_type_names,    /* uint32_t, from a list of `choices`: choice i sets bit i */
	bb_type_texts,    /* char **, ended by NULL */
	bb_type_u32,      /* uint32_t, int */
	bb_type_double,   /* double */
	bb_type_u32_list, /* struct bb_u32_list, from a number or a list of distinct numbers */
	bb_type_bytes,    /* uint8_t * and its length; has no reader */
	bb_type_keys, /* no member: a mapping whose keys (`of`) set members of the same struct */
	bb_type_part, /* a struct described by `of` */
	bb_type_list; /* an array of structs described by `of`, and its length */

bb_read_value bb_field__text, bb_field__choice, bb_field__u32;

/*
 * Parts that readers share. __choose finds the index of the node's text in f->choices. __check_list
 * checks that the node is a list with items; `of` names the items in messages. Both return 0, or
 * -EINVAL with a message.
 */
int bb_field__choose(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, size_t *ret_index);
int bb_field__check_list(const struct bb_reader *r, const struct bb_field *f,
			 const struct bb_yaml *node, const char *of);

/* Frees `*dest` and sets it to a copy of `text`. */
void bb_field__set_text(char **dest, const char *text);

struct bb_phrase {
	char text[256];
};
/* Parts of messages. __join gives "a, b, c". __suggest gives " (did you mean 'a'?)", or "" if no
 * name is near. */
struct bb_phrase bb_phrase__join(const char *const *names, size_t n);
struct bb_phrase bb_phrase__suggest(const char *word, const char *const *names, size_t n);

/*
 * A kind of mapping in a scenario, with one row per key. Some mappings have modes: the mode of a
 * drive is its kind, the mode of an input is its form. A row's `with` then has a bit for each mode
 * that allows its key.
 */
#define BB_KIND_MAX_KEYS 24
#define BB_BIT(n) (1U << (n))

struct bb_mode {
	const char *label; /* as in the file: "with: step" */
	const char *name;  /* in messages: "step" */
};

struct bb_kind {
	const char *what;    /* name in messages: "a drive" */
	const char *example; /* text in messages: "{with: step}" */
	const struct bb_field *fields;
	size_t n_fields; /* <= BB_KIND_MAX_KEYS */
	size_t size;     /* size of the struct; 0: the struct is never copied, and is in no list */
	/* modes[i] belongs to BB_BIT(i) of bb_field.with */
	const struct bb_mode *modes;
	size_t n_modes; /* <= BB_KIND_MAX_KEYS; 0: every key is always allowed */
	/*
	 * For items of a list. `read` reads one item; NULL: bb_kind__read() reads it.
	 * `where_offset` is the offset of the item's struct bb_where; 0: the item has no position.
	 * The position is set before `read` is called. `noun` names an item in messages. The first
	 * member of an item with a noun is its name (char *).
	 */
	int (*read)(const struct bb_reader *r, const struct bb_yaml *node, void *item);
	size_t where_offset;
	const char *noun;
	/* Sets `*ret_n` to the number of items that the node is read as; NULL: 1. The item's
	 * uint32_t at `copy_offset` says which of them it is, before `read` is called. Returns 0,
	 * or -EINVAL with a message. */
	int (*copies)(const struct bb_reader *r, const struct bb_yaml *node, uint32_t *ret_n);
	size_t copy_offset;
	/* For the JSON schema. in_file: the kind of the item in the file, if this kind describes
	 * only the struct that is made from the item; NULL: this kind describes both. rules:
	 * returns rules beyond those of the rows, as a list for "allOf"; NULL: no rules. */
	const struct bb_kind *in_file;
	struct json_t *(*rules)(void);
};

#define BB_ROWS(type_, fields_)                                                                    \
	.size = sizeof(struct type_), .fields = (fields_), .n_fields = BB_LEN(fields_)
#define BB_ITEM(type_) .size = sizeof(struct type_), .where_offset = offsetof(struct type_, where)
#define BB_AT(type_, m_) .offset = offsetof(struct type_, m_)
#define BB_LIST_AT(type_, m_, n_) BB_AT(type_, m_), .n_offset = offsetof(struct type_, n_)
#define BB_KIND(what_, example_, fields_)                                                          \
	.what = (what_), .example = (example_), .fields = (fields_), .n_fields = BB_LEN(fields_)
#define BB_MODES(modes_) .modes = (modes_), .n_modes = BB_LEN(modes_)

/*
 * Reads a mapping into the struct at `base`, key by key in the order of the file. `mode` is one
 * bit, or 0 for a kind without modes. Returns 0, or -EINVAL with a message: not a mapping, an
 * unknown key, a key of another mode, a missing required key, or a bad value.
 */
int bb_kind__read(const struct bb_reader *r, const struct bb_kind *kind, const struct bb_yaml *node,
		  unsigned int mode, void *base);

/* Copies an item with all it owns. Give the copy to bb_kind__done(). */
void bb_kind__copy(const struct bb_kind *kind, const void *from, void *ret_to);
/* Frees all that the item owns. */
void bb_kind__done(const struct bb_kind *kind, void *item);

/*
 * Readers that set a struct bb_bytes: __hex from hexadecimal digits ("08 00 4500"), __file from a
 * file (its name is relative to the scenario's folder), __packet from the description of a frame
 * (plan/packet.h). The first two check that there are f->min to f->max bytes.
 *
 * A description is for example {ipv4: {src: 10.0.0.1, dst: 10.0.0.2}, tcp: {src: 1234, dst: 80},
 * size: 64}. Each of its keys may be left out: `eth`, `ipv4` or `ipv6`, `tcp` or `udp`, and `size`,
 * the length of the frame in bytes.
 */
bb_read_value bb_field__hex, bb_field__file, bb_field__packet;
/* Returns in `*ret_path` the path of a file that the scenario names relative to its own folder;
 * free() it. */
int bb_field__path(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   char **ret_path);
#define BB_BYTES_AT(type_, m_) BB_LIST_AT(type_, m_.data, m_.len)

/* Reads {pid: self}, {comm: self} or {cgroup: self}. `what` names the value in messages. */
int bb_field__self(const struct bb_reader *r, const struct bb_yaml *node, const char *what,
		   enum bb_self *ret_self);

/* Initializers of a struct bb_field that reads a list of struct bb_map_spec. docs/scenario.md
 * describes the forms that an item of the list may have. */
#define BB_MAPS(type_)                                                                             \
	&bb_type_list, BB_LIST_AT(type_, maps.v, maps.n),                                          \
		.of = &bb_map_kind,                                                                \
		.item = "mappings such as {name: allow, entries: [{key: 1, value: 2}]}"
extern const struct bb_kind bb_map_kind;

/*
 * Reads struct bb_inputs from a list of mappings; docs/scenario.md describes their forms. One
 * mapping may give many inputs: either the packets of a packet capture, named NAME-0, NAME-1, ...;
 * or the packets of a sweep over a byte, named by the value of the byte. File names are relative to
 * the scenario's folder.
 */
#define BB_INPUTS_MAX 4096u                    /* for a drive that makes a case of each input */
#define BB_MIX_MAX ((size_t)1 << 20)           /* for a mix, which is one case (plan/mix.h) */
#define BB_INPUTS_MAX_BYTES ((size_t)64 << 20) /* for all inputs together */
extern const struct bb_kind bb_input_kind;
/* Mapping from which bb_field__packet() reads a frame. */
extern const struct bb_kind bb_packet_kind;
bb_read_value bb_field__inputs;

/* A growing list of packets. */
struct bb_bytes_list {
	struct bb_bytes *v;
	size_t n;
};

void bb_bytes_list__done(struct bb_bytes_list *list);

/*
 * Reads the packets of a file (pcap or pcapng, by libpcap), in order. Returns -EINVAL unless it
 * holds 1 to `max_packets` whole Ethernet frames of 14 to 65535 bytes, or -errno if it cannot be
 * read. The message does not name the file.
 */
int bb_pcap__read(const char *path, size_t max_packets, struct bb_bytes_list *ret_list,
		  struct bb_err *err);

struct __sk_buff;

/* Lists, for messages, the members of a context that a scenario can set by name; "": none. */
struct bb_phrase bb_ctx__members(enum bb_ctx_kind kind);

/*
 * Steps through the members of __sk_buff that the input sets, to find out which one a kernel
 * refuses. `*at` is 0 before the first call. Returns the name of the next member, or NULL after the
 * last. Sets only that member in `*ret_alone`, to a value that every kernel with the member
 * accepts.
 */
const char *bb_ctx__next_skb_member(const struct bb_input *in, size_t *at,
				    struct __sk_buff *ret_alone);
