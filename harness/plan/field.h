/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_FIELD_H
#define BB_PLAN_FIELD_H

#include "base/err.h"
#include "base/std.h"
#include "plan/scenario.h"
#include "plan/yaml.h"

/*
 * A key of a scenario is a row of a table (struct bb_field): its name, its type, the member that it
 * sets. Reading, copying and freeing follow from the row. Rows without a name are of members that
 * no key sets alone.
 */
#define BB_NAME_MAX_BYTES 128 /* names become part of benchmark names and of file names */

/* A name from any text: characters that a name may not have become '_'. ret_name[BB_NAME_MAX_BYTES
 * + 1]. */
void bb_name_from(const char *text, size_t len, char *ret_name);

struct bb_kind; /* below */
struct bb_field;

typedef int bb_read_value(const struct bb_reader *r, const struct bb_field *f,
			  const struct bb_yaml *node, void *base);

struct bb_type {
	/* Check the value, and store it in the member of the struct at `base`. 0, or -errno with
	 * "path:line:col: " and the fault. NULL: nothing is read. */
	bb_read_value *read;
	size_t owned_bytes; /* of the member that point to memory of its own; 0: none */
	/* Memory of its own for a member whose owned bytes are zero. 0 or -ENOMEM. */
	int (*copy)(const struct bb_field *f, const void *from, void *to);
	void (*done)(const struct bb_field *f, void *base); /* free it, and zero those bytes */
};

struct bb_field {
	const char *name;
	const struct bb_type *type;
	size_t offset;       /* of the member in the struct at `base` */
	size_t n_offset;     /* lists, bytes: of their number */
	bb_read_value *read; /* where the type's own reader does not do; NULL: it does */
	unsigned int with;   /* drive: a bit for each driver that knows the key; 0: all */
	bool required;
	double min, max;            /* numbers: the range, both ends included */
	const char *const *choices; /* texts out of a fixed set */
	size_t n_choices;
	const struct bb_kind *of; /* a mapping, or a list of them: their kind */
	const char *item;         /* for messages: one of a list of texts; those of another list */
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

/*
 * Types, by the member. The items of a list are read by the reader of their kind. Where that kind
 * has a noun, no two items may have the same name.
 */
extern const struct bb_type bb_type_text, bb_type_name, /* char * */
	bb_type_choice,                                 /* likewise, one of `choices` */
	bb_type_index,                                  /* unsigned int: which of `choices` */
	bb_type_flag,                                   /* bool: the second of two `choices` */
	bb_type_texts,                                  /* char **, ended by NULL */
	bb_type_u32,                                    /* uint32_t, int */
	bb_type_double,                                 /* double */
	bb_type_u32_list, /* struct bb_u32_list from 100 or [100, 1000], no value twice */
	bb_type_bytes,    /* uint8_t * and its number; it has no reader */
	bb_type_keys,     /* none: a mapping whose keys, those of `of`, set members of the struct */
	bb_type_part,     /* a struct that `of` describes */
	bb_type_list;     /* an array of such structs, and its number */

bb_read_value bb_field__text, bb_field__choice, bb_field__u32;

/* To build more readers from: the index in f->choices; a list (of `of`) with something in it. */
int bb_field__choose(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, size_t *ret_index);
int bb_field__check_list(const struct bb_reader *r, const struct bb_field *f,
			 const struct bb_yaml *node, const char *of);

/* Replace the text by a copy. 0 or -ENOMEM. */
int bb_field__set_text(const struct bb_reader *r, char **dest, const char *text);

struct bb_phrase {
	char text[256];
};
/* Parts of messages: "a, b, c"; " (did you mean 'a'?)" or, when none is near, "". */
struct bb_phrase bb_phrase__join(const char *const *names, size_t n);
struct bb_phrase bb_phrase__suggest(const char *word, const char *const *names, size_t n);

/*
 * A kind of mapping in a scenario: the keys that it takes, one row of a table each. Some kinds have
 * modes (a drive's driver, the form of an input), and then a row's `with` says in which of them its
 * key may stand.
 */
#define BB_KIND_MAX_KEYS 24
#define BB_BIT(n) (1U << (n))

struct bb_mode {
	const char *label; /* as it is written: "with: step" */
	const char *name;  /* as it is called: "step" */
};

struct bb_kind {
	const char *what;    /* "a drive" */
	const char *example; /* "{with: step}" */
	const struct bb_field *fields;
	size_t n_fields; /* <= BB_KIND_MAX_KEYS */
	size_t size;     /* of the struct; 0: it is neither copied nor in a list */
	/* modes[i] is what BB_BIT(i) in bb_field.with stands for */
	const struct bb_mode *modes;
	size_t n_modes; /* <= BB_KIND_MAX_KEYS; 0: every key may always stand */
	/* In a list: reads one item; NULL: bb_kind__read() does. Its place, a struct bb_where, is
	 * set before; 0: it has none. The noun is for names, which are the first member. */
	int (*read)(const struct bb_reader *r, const struct bb_yaml *node, void *item);
	size_t where_offset;
	const char *noun;
};

#define BB_ROWS(type_, fields_)                                                                    \
	.size = sizeof(struct type_), .fields = (fields_),                                         \
	.n_fields = sizeof(fields_) / sizeof((fields_)[0])
#define BB_ITEM(type_) .size = sizeof(struct type_), .where_offset = offsetof(struct type_, where)
#define BB_AT(type_, m_) .offset = offsetof(struct type_, m_)
#define BB_LIST_AT(type_, m_, n_) BB_AT(type_, m_), .n_offset = offsetof(struct type_, n_)
#define BB_KIND(what_, example_, fields_)                                                          \
	.what = (what_), .example = (example_), .fields = (fields_),                               \
	.n_fields = sizeof(fields_) / sizeof((fields_)[0])
#define BB_MODES(modes_) .modes = (modes_), .n_modes = sizeof(modes_) / sizeof((modes_)[0])

/*
 * Read the mapping into the struct at `base`, its keys in the order in which they are written;
 * `mode` is one bit, or 0 for a kind without modes. 0, -ENOMEM, or -EINVAL with a message: no
 * mapping, a key that is unknown or belongs to another mode, a required one that is missing, or the
 * error of the key's reader.
 */
int bb_kind__read(const struct bb_reader *r, const struct bb_kind *kind, const struct bb_yaml *node,
		  unsigned int mode, void *base);

/* A copy of an item with all that its rows own, to be given to bb_kind__done() in any case. 0 or
 * -ENOMEM. */
int bb_kind__copy(const struct bb_kind *kind, const void *from, void *ret_to);
/* Free all that the rows own. */
void bb_kind__done(const struct bb_kind *kind, void *item);

/*
 * Readers of struct bb_bytes, at least f->min and at most f->max of them: hexadecimal digits ("08
 * 00 4500"), quoted or not; a file, which is looked for beside the scenario; a generated frame
 * (plan/packet.h) from {ipv4: {src: 10.0.0.1, dst: 10.0.0.2}, tcp: {src: 1234, dst: 80}, size: 64}.
 * `eth`, `ipv4` or `ipv6`, `tcp` or `udp`, and `size`, the frame's length, may all be left out.
 */
bb_read_value bb_field__hex, bb_field__file, bb_field__packet;
#define BB_BYTES_AT(type_, m_) BB_LIST_AT(type_, m_.data, m_.len)

/* {pid: self}, {comm: self} or {cgroup: self}; `what` it stands for is for messages. */
int bb_field__self(const struct bb_reader *r, const struct bb_yaml *node, const char *what,
		   enum bb_self *ret_self);

/* A list of struct bb_map_spec, in the forms that docs/scenario.md lists. */
#define BB_MAPS(type_)                                                                             \
	&bb_type_list, BB_LIST_AT(type_, maps.v, maps.n),                                          \
		.of = &bb_map_kind,                                                                \
		.item = "mappings such as {name: allow, entries: [{key: 1, value: 2}]}"
extern const struct bb_kind bb_map_kind;

/*
 * Reader of struct bb_inputs from a list of mappings, in the forms that docs/scenario.md lists. One
 * may stand for many: each packet of a capture, or of a sweep over a byte of a frame, is an input
 * NAME-0, NAME-1, ... File names are relative to the scenario's folder.
 */
#define BB_INPUTS_MAX 4096u
#define BB_INPUTS_MAX_BYTES ((size_t)64 << 20) /* all together */
extern const struct bb_kind bb_input_kind;
bb_read_value bb_field__inputs;

/* Many packets on their way from a scenario into its inputs. */
struct bb_bytes_list {
	struct bb_bytes *v;
	size_t n;
};

/* A copy of `data` at the end. 0 or -ENOMEM. */
int bb_bytes_list__add(struct bb_bytes_list *list, const uint8_t *data, size_t len);
void bb_bytes_list__done(struct bb_bytes_list *list);

/*
 * The packets of a capture file (pcap or pcapng, by libpcap), in order. Errors: -EINVAL for
 * anything but 1 to `max_packets` whole Ethernet frames of 14 to 65535 bytes, -errno for a file
 * that cannot be read. The message does not name the file.
 */
int bb_pcap__read(const char *path, size_t max_packets, struct bb_bytes_list *ret_list,
		  struct bb_err *err);

struct __sk_buff;

/* The members of a context that may be set by name, for messages; "" where there are none. */
struct bb_phrase bb_ctx__members(enum bb_ctx_kind kind);

/*
 * To learn which member a kernel refuses: the name of the input's next skb member from *at on that
 * is set, and that member alone, with a value that is right wherever the member is known. NULL:
 * there is no more.
 */
const char *bb_ctx__next_skb_member(const struct bb_input *in, size_t *at,
				    struct __sk_buff *ret_alone);

#endif
