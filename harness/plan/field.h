/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"
#include "plan/yaml.h"

/* Each key of a scenario is a row of a table (struct bb_field), by which common code reads the
 * key. */
#define BB_NAME_MAX_BYTES 128 /* names become part of benchmark names and of file names */

/* Makes a name from text[len]: replaces bad characters by '_', puts 'x' before a leading '-' or
 * '.', and cuts the name off after BB_NAME_MAX_BYTES. An empty text gives "x". `ret_name` has room
 * for BB_NAME_MAX_BYTES + 1 bytes. */
void bb_name_from(const char *text, size_t len, char *ret_name);

struct bb_kind;
struct json_t;
struct bb_field;

/* Reads and checks the value `node` of the key `f`, and stores it in a member of the struct at
 * `base`. Returns 0, or -errno with a message that begins with "path:line:col: ". */
typedef int bb_read_value(const struct bb_reader *r, const struct bb_field *f,
			  const struct bb_yaml *node, void *base);

struct bb_type {
	bb_read_value *read; /* NULL if something else reads the value */
	/* JSON schema of the values, for rows without a `schema`; may be NULL */
	const char *schema;
};

/* Other YAML readers take texts such as `5` and `yes` for numbers and booleans, so these are
 * allowed. */
#define BB_SCHEMA_TEXT "{\"type\": [\"string\", \"number\", \"boolean\"]}"
#define BB_SCHEMA_SELF                                                                             \
	"{\"type\": \"object\", \"minProperties\": 1, \"maxProperties\": 1, "                      \
	"\"propertyNames\": {\"enum\": [\"pid\", \"pid_tgid\", \"comm\", \"cgroup\"]}, "           \
	"\"additionalProperties\": {\"const\": \"self\"}}"

struct bb_field {
	const char *name;
	const struct bb_type *type;
	size_t offset;
	size_t n_offset;     /* offset of the member that holds the number of items */
	bb_read_value *read; /* NULL to use type->read */
	/* bits of the modes (struct bb_kind) that allow the key; 0 for all modes */
	unsigned int with;
	bool required;
	bool may_repeat;
	double min, max; /* range of a number, or of a number of bytes; inclusive */
	const char *const *choices;
	size_t n_choices;
	/* in place of `choices`: returns allowed text i, or NULL after the last */
	const char *(*choice)(size_t i);
	/* kind of the mapping that the key takes, or of the items of its list */
	const struct bb_kind *of;
	/* for messages: names one item of a list of texts, or all items of a list of mappings */
	const char *item;
	/* JSON schema of a value that is not a mapping; NULL to use type->schema */
	const char *schema;
	/* for the JSON schema: kind of the mapping that `read` accepts; NULL to use `of` */
	const struct bb_kind *mapping;
};

static inline void *bb_field__member(const struct bb_field *f, void *base)
{
	return (char *)base + f->offset;
}

static inline void *bb_field__number(const struct bb_field *f, void *base)
{
	return (char *)base + f->n_offset;
}

/* Types of members. A comment gives the C type of the member. */
extern const struct bb_type bb_type_text, bb_type_name; /* char * */
extern const struct bb_type bb_type_choice;             /* char *, one of bb_field.choices */
extern const struct bb_type bb_type_index; /* unsigned int, an index of bb_field.choices */
/* bool; true if the key has the second of the two texts in bb_field.choices */
extern const struct bb_type bb_type_flag;
/* uint32_t, from a list of texts; the text choices[i] sets bit i */
extern const struct bb_type bb_type_names;
extern const struct bb_type bb_type_texts; /* char **, ended by NULL, and their number */
extern const struct bb_type bb_type_u32;   /* uint32_t or int */
extern const struct bb_type bb_type_double;
extern const struct bb_type bb_type_u32_list; /* struct bb_u32_list, from one number or a list */
/* struct bb_bytes; each row gives its own `read` */
extern const struct bb_type bb_type_bytes;
/* A struct of the kind bb_field.of. With `offset` 0, the keys set members of the same struct. */
extern const struct bb_type bb_type_part;
extern const struct bb_type bb_type_list; /* an array of structs of the kind bb_field.of */

bb_read_value bb_field__text, bb_field__choice, bb_field__u32;

/* bb_field__choose() finds the node's text among the allowed texts. bb_field__check_list() refuses
 * an empty list, and `of` names its items in messages. Both return 0, or -EINVAL with a message. */
int bb_field__choose(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, size_t *ret_index);
int bb_field__check_list(const struct bb_reader *r, const struct bb_field *f,
			 const struct bb_yaml *node, const char *of);

struct bb_phrase {
	char text[256];
};
/* bb_phrase__join() returns "a, b, c". bb_phrase__suggest() returns " (did you mean 'a'?)" with the
 * name most like `word`, or "". */
struct bb_phrase bb_phrase__join(const char *const *names, size_t n);
struct bb_phrase bb_phrase__suggest(const char *word, const char *const *names, size_t n);

/* A kind of mapping in a scenario: a table with one row per key. Each mapping of a kind can have
 * one of several modes, which allow different keys. The mode of a drive is its struct
 * bb_drive_kind. The mode of an input is the key that gives its bytes, such as `hex` or `file`. */
#define BB_KIND_MAX_KEYS 24
#define BB_BIT(n) (1U << (n))

struct bb_mode {
	const char *label; /* text in a scenario that chooses the mode: "with: step" */
	const char *name;  /* name of the mode in messages: "step" */
};

struct bb_kind {
	const char *what;    /* name of the kind in messages: "a drive" */
	const char *example; /* example of a mapping in messages: "{with: step}" */
	const struct bb_field *fields;
	size_t n_fields;             /* at most BB_KIND_MAX_KEYS */
	size_t size;                 /* size of the struct, if it is the item of a list */
	const struct bb_mode *modes; /* modes[i] belongs to BB_BIT(i) of bb_field.with */
	size_t n_modes; /* at most BB_KIND_MAX_KEYS; 0 if every key is always allowed */

	/* Only the kinds of list items use the members down to `copy_offset`. */
	/* reads one item; NULL to use bb_kind__read() */
	int (*read)(const struct bb_reader *r, const struct bb_yaml *node, void *item);
	/* offset of the item's struct bb_where, set before `read` is called; 0 if it has none */
	size_t where_offset;
	/* Noun for the items in messages, such as "variant". If it is set, the struct of an item
	 * begins with `char *name`, and no two items may have the same name. */
	const char *noun;
	/* sets *ret_n to the number of items that one node gives; NULL if each node gives one */
	int (*copies)(const struct bb_reader *r, const struct bb_yaml *node, uint32_t *ret_n);
	/* with `copies`: offset of a uint32_t for the item's index among those of its node */
	size_t copy_offset;

	/* for the JSON schema: returns rules beside those of the rows, as a list for "allOf"; may
	 * be NULL */
	struct json_t *(*rules)(void);
};

#define BB_ITEM(type_) .size = sizeof(struct type_), .where_offset = offsetof(struct type_, where)
#define BB_AT(type_, m_) .offset = offsetof(struct type_, m_)
#define BB_LIST_AT(type_, m_, n_) BB_AT(type_, m_), .n_offset = offsetof(struct type_, n_)
#define BB_KIND(what_, example_, fields_)                                                          \
	.what = (what_), .example = (example_), .fields = (fields_), .n_fields = BB_LEN(fields_)
#define BB_MODES(modes_) .modes = (modes_), .n_modes = BB_LEN(modes_)

/* Reads a mapping into the struct at `base`. `mode` has the bits of the modes that it may have, or
 * is 0 for a kind without modes. Returns 0, or -EINVAL with a message. */
int bb_kind__read(const struct bb_reader *r, const struct bb_kind *kind, const struct bb_yaml *node,
		  unsigned int mode, void *base);

/* Adds the JSON schemas of `kind`, and of all kinds that its keys use, to the object `defs`, named
 * by the last word of kind->what. Returns {"$ref": "#/$defs/NAME"} for `kind`. Release it with
 * json_decref(). */
struct json_t *bb_schema__of_kind(struct json_t *defs, const struct bb_kind *kind);

/* Readers that set a struct bb_bytes: __hex from hexadecimal digits, __file from a file named
 * relative to the scenario's folder, and __packet from the description of an Ethernet frame
 * (plan/packet.h), such as {ipv4: {src: 10.0.0.1, dst: 10.0.0.2}, tcp: {src: 1234, dst: 80}, size:
 * 64}. __hex and __file check that there are f->min to f->max bytes. */
bb_read_value bb_field__hex, bb_field__file, bb_field__packet;
/* Makes the path of a file that the scenario names relative to its own folder. Returns 0, or
 * -EINVAL with a message. */
int bb_field__path(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   char **ret_path);

/* Reads {pid: self} etc. (enum bb_self). `what` names the key in messages. */
int bb_field__self(const struct bb_reader *r, const struct bb_yaml *node, const char *what,
		   enum bb_self *ret_self);

/* Initializers of a struct bb_field that reads a list of struct bb_map_spec (docs/scenario.md). */
#define BB_MAPS(type_)                                                                             \
	&bb_type_list, BB_LIST_AT(type_, maps.v, maps.n),                                          \
		.of = &bb_map_kind,                                                                \
		.item = "mappings such as {name: allow, entries: [{key: 1, value: 2}]}"
extern const struct bb_kind bb_map_kind;

/* Reads a struct bb_inputs from a list of mappings (docs/scenario.md). One mapping may give many
 * inputs: the packets of a packet capture, of a sweep over a byte, or of many flows. */
#define BB_INPUTS_MAX 4096u /* most inputs of a drive that makes a case of each input */
/* most inputs of a mix, which together make one case (plan/mix.h) */
#define BB_MIX_MAX ((size_t)1 << 20)
#define BB_INPUTS_MAX_BYTES ((size_t)64 << 20)
extern const struct bb_kind bb_input_kind;
extern const struct bb_kind bb_packet_kind;
bb_read_value bb_field__inputs;

struct bb_bytes_list {
	struct bb_bytes *v;
	size_t n;
};

/* Reads the packets of a file (pcap or pcapng), in order. Returns -EINVAL unless it holds 1 to
 * `max_packets` whole Ethernet frames of 14 to 65535 bytes, or another -errno if it cannot be read.
 * The message does not name the file. The packets are in the arena; free() the list. */
int bb_pcap__read(const char *path, size_t max_packets, struct bb_arena *arena,
		  struct bb_bytes_list *ret_list, struct bb_err *err);

struct __sk_buff;

/* Lists, for messages, the members that a scenario can set in a context of this kind. */
struct bb_phrase bb_ctx__members(enum bb_ctx_kind kind);

/* Finds the next member of __sk_buff that the context sets, to find the one that a kernel refuses.
 * `*at` must be 0 at first. Returns its name, or NULL after the last one. Sets only this member in
 * `*ret_alone`, to a value that is valid in every kernel that has the member. */
const char *bb_ctx__next_skb_member(const struct bb_input *in, size_t *at,
				    struct __sk_buff *ret_alone);
