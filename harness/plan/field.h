/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"
#include "plan/yaml.h"

/* Each key of a scenario is one row of a table (struct bb_field), which gives the key's name, its
 * type, and the struct member that it sets. Common code reads the key, and copies and frees the
 * member, as the row says. A row without a name describes a member that is copied and freed but set
 * by no key of its own. */
/* limit: bytes of a name; names become part of benchmark names and of file names */
#define BB_NAME_MAX_BYTES 128

/* Makes a name from text[len]: replaces characters that a name must not have by '_', puts 'x'
 * before a leading '-' or '.', and cuts the name off after BB_NAME_MAX_BYTES. An empty text gives
 * "x". `ret_name` has room for BB_NAME_MAX_BYTES + 1 bytes. */
void bb_name_from(const char *text, size_t len, char *ret_name);

struct bb_kind;
struct json_t;
struct bb_field;

/* Reads the value `node` of the key `f`: checks the value, and stores it in the member that `f`
 * describes. `base` is the struct of this member. Returns 0, or -errno with a message that begins
 * with "path:line:col: ". */
typedef int bb_read_value(const struct bb_reader *r, const struct bb_field *f,
			  const struct bb_yaml *node, void *base);

struct bb_type {
	bb_read_value *read; /* reads a value; NULL: the value is ignored */
	size_t owned_bytes;  /* size of the member itself if it owns memory; else 0 */
	/* copies the member of the struct `from` into the same member of `to`, which must be zero;
	 * NULL: the member owns no memory */
	void (*copy)(const struct bb_field *f, const void *from, void *to);
	/* frees the memory of the member, and zeroes it; NULL: the member owns no memory */
	void (*done)(const struct bb_field *f, void *base);
	/* JSON schema of the values, for rows without a `schema`; NULL: there is none */
	const char *schema;
};

/* JSON schemas of values. BB_SCHEMA_TEXT allows numbers and booleans, too: where bpfbench reads the
 * texts `5` and `yes`, other YAML readers read a number and a boolean. */
#define BB_SCHEMA_TEXT "{\"type\": [\"string\", \"number\", \"boolean\"]}"
#define BB_SCHEMA_SELF                                                                             \
	"{\"type\": \"object\", \"minProperties\": 1, \"maxProperties\": 1, "                      \
	"\"propertyNames\": {\"enum\": [\"pid\", \"pid_tgid\", \"comm\", \"cgroup\"]}, "           \
	"\"additionalProperties\": {\"const\": \"self\"}}"

struct bb_field {
	const char *name;
	const struct bb_type *type;
	size_t offset;       /* offset of the member in its struct */
	size_t n_offset;     /* offset of the member that holds the number of items or bytes */
	bb_read_value *read; /* reader of this key's value; NULL: type->read */
	unsigned int with; /* bits of the modes (struct bb_kind) that allow the key; 0: all modes */
	bool required;
	/* true: a list of numbers may have the same number several times */
	bool may_repeat;
	double min, max;            /* range of a number, or of a number of bytes; inclusive */
	const char *const *choices; /* choices[n_choices]: texts that the key allows */
	size_t n_choices;
	/* in place of `choices`: returns allowed text i, from 0; NULL after the last */
	const char *(*choice)(size_t i);
	/* kind of the mapping that the key takes, or of the items of its list */
	const struct bb_kind *of;
	/* text for messages. For a list of texts, it names one item ("an argument"). For a list of
	 * mappings, it names all items ("mappings such as ...") */
	const char *item;
	/* for the JSON schema: the schema of a value that is not a mapping; NULL: type->schema */
	const char *schema;
	/* For the JSON schema: the kind of the mapping that `read` accepts; NULL: `of`. */
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

/* Types of members. The comment on a type names the C type of the member. bb_type_list reads each
 * item by its kind (bb_field.of). If it has a noun (bb_kind.noun), no two items have one name. */
extern const struct bb_type bb_type_text, bb_type_name; /* char * */
extern const struct bb_type bb_type_choice;             /* char *, one of bb_field.choices */
extern const struct bb_type bb_type_index; /* unsigned int, an index of bb_field.choices */
/* bool; true if the key has the second of the two texts in bb_field.choices */
extern const struct bb_type bb_type_flag;
/* uint32_t, from a list of texts: the text choices[i] sets bit i */
extern const struct bb_type bb_type_names;
extern const struct bb_type bb_type_texts;    /* char **, ended by NULL, and their number */
extern const struct bb_type bb_type_u32;      /* uint32_t or int */
extern const struct bb_type bb_type_double;   /* double */
extern const struct bb_type bb_type_u32_list; /* struct bb_u32_list, from one number or a list */
/* uint8_t * and its length; each row gives its own `read` */
extern const struct bb_type bb_type_bytes;
/* a mapping of the kind `of`, whose keys set members of the same struct; `offset` is 0 */
extern const struct bb_type bb_type_keys;
extern const struct bb_type bb_type_part; /* a struct of the kind bb_field.of */
extern const struct bb_type bb_type_list; /* an array of structs of the kind bb_field.of */

bb_read_value bb_field__text, bb_field__choice, bb_field__u32;

/* Readers of values call these functions. bb_field__choose() finds the index of the node's text
 * among the texts that `f` allows. bb_field__check_list() checks that the node is a list with at
 * least one item; `of` names the items in messages. Both return 0, or -EINVAL with a message. */
int bb_field__choose(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, size_t *ret_index);
int bb_field__check_list(const struct bb_reader *r, const struct bb_field *f,
			 const struct bb_yaml *node, const char *of);

/* Frees `*dest` and sets it to a copy of `text`. */
void bb_field__set_text(char **dest, const char *text);

struct bb_phrase {
	char text[256];
};
/* These functions make parts of messages. bb_phrase__join() returns "a, b, c".
 * bb_phrase__suggest() returns " (did you mean 'a'?)" with the name that is spelled most like
 * `word`, or "" if no name is similar. */
struct bb_phrase bb_phrase__join(const char *const *names, size_t n);
struct bb_phrase bb_phrase__suggest(const char *word, const char *const *names, size_t n);

/* A kind of mapping in a scenario: a table with one row per key. A kind can have modes, and each
 * mapping of that kind has one of them. The mode of a drive is its struct bb_drive_kind; the mode
 * of an input is the key that gives its bytes, such as `hex` or `file`. A row's `with` has a bit
 * for each mode that allows its key. */
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
	size_t n_fields; /* at most BB_KIND_MAX_KEYS */
	size_t size;     /* size of the struct; 0: the struct is never copied, and is in no list */
	const struct bb_mode *modes; /* modes[i] belongs to BB_BIT(i) of bb_field.with */
	size_t n_modes;              /* at most BB_KIND_MAX_KEYS; 0: every key is always allowed */

	/* Only the kinds of list items use the members from here to `copy_offset`. */
	/* reads one item; NULL: bb_kind__read() reads it */
	int (*read)(const struct bb_reader *r, const struct bb_yaml *node, void *item);
	/* offset of the item's struct bb_where, set before `read` is called; 0: it has none */
	size_t where_offset;
	/* noun for the items in messages, such as "variant". If it is set, no two items may have
	 * the same name, and the struct of an item begins with `char *name`. */
	const char *noun;
	/* Sets `*ret_n` to the number of items that one node of the list gives. Returns 0, or
	 * -EINVAL with a message. NULL: each node gives one item. */
	int (*copies)(const struct bb_reader *r, const struct bb_yaml *node, uint32_t *ret_n);
	/* offset, in the item, of the uint32_t for the item's index among the items of the same
	 * node; this index is set before `read` is called; used only with `copies` */
	size_t copy_offset;

	/* Only the JSON schema uses the members below. */
	/* kind of the mapping in the file, if this kind describes only the struct made from that
	 * mapping; NULL: this kind describes the mapping and the struct */
	const struct bb_kind *in_file;
	/* returns rules beside those of the rows, as a list for "allOf"; NULL: none */
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

/* Reads a mapping into the struct at `base`, key by key in the order of the file. `mode` has the
 * bits of the modes that the mapping may have; it is 0 for a kind without modes. Returns 0, or
 * -EINVAL with a message. It is an error if the node is no mapping, a key is unknown or belongs to
 * another mode, a required key is missing, or a value is wrong. */
int bb_kind__read(const struct bb_reader *r, const struct bb_kind *kind, const struct bb_yaml *node,
		  unsigned int mode, void *base);

/* Adds the JSON schemas of `kind`, and of all kinds that its keys use, to the object `defs`: one
 * member for each kind, named by the last word of kind->what. Skips kinds that `defs` has already.
 * Returns {"$ref": "#/$defs/NAME"} for `kind`; release it with json_decref(). */
struct json_t *bb_schema__of_kind(struct json_t *defs, const struct bb_kind *kind);

/* Copies the struct `from`, of this kind, with all memory that it owns. Free the copy's memory with
 * bb_kind__done(). */
void bb_kind__copy(const struct bb_kind *kind, const void *from, void *ret_to);
/* Frees all memory that the struct `item` owns, but not the struct. */
void bb_kind__done(const struct bb_kind *kind, void *item);

/*
 * Readers that set a struct bb_bytes: __hex from hexadecimal digits ("08 00 4500"); __file from a
 * file, named relative to the scenario's folder; __packet from a description of an Ethernet frame
 * (plan/packet.h). __hex and __file check that there are f->min to f->max bytes.
 *
 * A description is for example {ipv4: {src: 10.0.0.1, dst: 10.0.0.2}, tcp: {src: 1234, dst: 80},
 * size: 64}. Its keys are `eth`, `ipv4` or `ipv6`, `tcp` or `udp`, `tcp_flags`, and `size`, the
 * length of the frame in bytes. Each key may be left out.
 */
bb_read_value bb_field__hex, bb_field__file, bb_field__packet;
/* Stores in `*ret_path` the path of a file that the scenario names relative to its own folder;
 * free() it. Returns 0, or -EINVAL with a message if the node names no file. */
int bb_field__path(const struct bb_reader *r, const struct bb_field *f, const struct bb_yaml *node,
		   char **ret_path);
#define BB_BYTES_AT(type_, m_) BB_LIST_AT(type_, m_.data, m_.len)

/* Reads the mapping {pid: self}, {pid_tgid: self}, {comm: self} or {cgroup: self}. `what` names
 * the key in messages. Returns 0, or -EINVAL with a message. */
int bb_field__self(const struct bb_reader *r, const struct bb_yaml *node, const char *what,
		   enum bb_self *ret_self);

/* Initializers of a struct bb_field that reads a list of struct bb_map_spec. docs/scenario.md
 * describes the forms that an item of the list may have. */
#define BB_MAPS(type_)                                                                             \
	&bb_type_list, BB_LIST_AT(type_, maps.v, maps.n),                                          \
		.of = &bb_map_kind,                                                                \
		.item = "mappings such as {name: allow, entries: [{key: 1, value: 2}]}"
extern const struct bb_kind bb_map_kind;

/* bb_field__inputs() reads a struct bb_inputs from a list of mappings; docs/scenario.md describes
 * their forms. One mapping may give many inputs: the packets of a packet capture, named NAME-0,
 * NAME-1, ...; the packets of a sweep over a byte, named by the value of the byte; or the flows of
 * one packet. File names are relative to the scenario's folder. */
/* limit: number of inputs of a drive that makes a case of each input */
#define BB_INPUTS_MAX 4096u
/* limit: number of inputs of a mix, which together make one case (plan/mix.h) */
#define BB_MIX_MAX ((size_t)1 << 20)
#define BB_INPUTS_MAX_BYTES ((size_t)64 << 20) /* limit: bytes of all inputs of a list together */
extern const struct bb_kind bb_input_kind;
/* The kind of mapping that bb_field__packet() reads. */
extern const struct bb_kind bb_packet_kind;
bb_read_value bb_field__inputs;

/* A list v[n] of packets. */
struct bb_bytes_list {
	struct bb_bytes *v;
	size_t n;
};

void bb_bytes_list__done(struct bb_bytes_list *list);

/* Reads the packets of a file (pcap or pcapng, by libpcap), in order. Returns 0; -EINVAL unless the
 * file holds 1 to `max_packets` whole Ethernet frames of 14 to 65535 bytes; or another -errno if it
 * cannot be read. The message does not name the file. Free the list with bb_bytes_list__done(). */
int bb_pcap__read(const char *path, size_t max_packets, struct bb_bytes_list *ret_list,
		  struct bb_err *err);

struct __sk_buff;

/* Lists, for messages, the members that a scenario can set in a context of this kind; "": none. */
struct bb_phrase bb_ctx__members(enum bb_ctx_kind kind);

/* Finds the next member of __sk_buff that is not zero in the context of the input. A caller uses it
 * to find the member that a kernel refuses. `*at` must be 0 at the first call. Returns the name of
 * the member; NULL after the last one. Sets only that member in `*ret_alone`, to a value that is
 * valid in every kernel that has the member. */
const char *bb_ctx__next_skb_member(const struct bb_input *in, size_t *at,
				    struct __sk_buff *ret_alone);
