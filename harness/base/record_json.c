/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/record_json.h"

#include "base/parse.h"

static const struct bb_record_part *find_part(const struct bb_record_format *format,
					      const struct bb_record *record, const char *key)
{
	return BB_FIND(format->parts, format->n_parts,
		       it->record == record && (key ? it->key && !strcmp(it->key, key) : !it->key));
}

static bool is_default(const struct bb_member *m, const void *item)
{
	const void *at = (const char *)item + m->offset;

	switch (m->type) {
	case BB_NAME:
	case BB_TEXT:
	case BB_TEXT_OR_NULL:
	case BB_STRUCT_OR_NULL: return !*(char *const *)at;
	case BB_CHARS: return !*(const char *)at;
	case BB_COUNT:
	case BB_SEED: return !*(const uint64_t *)at;
	case BB_U32: return !*(const uint32_t *)at;
	case BB_U32_NOT_0: return *(const uint32_t *)at == 1;
	case BB_MOD64:
	case BB_INDEX: return *(const int32_t *)at == -1;
	case BB_REAL:
	case BB_POSITIVE:
	case BB_SHARE: return isnan(*(const double *)at);
	case BB_BOOL: return !*(const bool *)at;
	case BB_NUMBERS: return !((const struct bb_numbers *)at)->n;
	case BB_RECORDS: return !*(const size_t *)((const char *)item + m->n_offset);
	case BB_STRUCT:
	case BB_OTHER: break;
	}
	return false;
}

static void write_member(const struct bb_record_format *format, const struct bb_record *record,
			 const struct bb_member *m, const void *whole, const void *item,
			 struct bb_json *w)
{
	const void *at = (const char *)item + m->offset;
	const struct bb_numbers *list = at;
	size_t n;

	switch (m->type) {
	case BB_NAME:
	case BB_TEXT:
	case BB_TEXT_OR_NULL:
		assert(m->type == BB_TEXT_OR_NULL || *(char *const *)at);
		bb_json__add_text(w, m->key, *(char *const *)at);
		break;
	case BB_CHARS: bb_json__add_text(w, m->key, at); break;
	case BB_COUNT: bb_json__add_u64(w, m->key, *(const uint64_t *)at); break;
	case BB_SEED:
		fprintf(bb_json__add(w, m->key), "\"0x%" PRIx64 "\"", *(const uint64_t *)at);
		break;
	case BB_U32:
	case BB_U32_NOT_0: bb_json__add_u64(w, m->key, *(const uint32_t *)at); break;
	case BB_MOD64: fprintf(bb_json__add(w, m->key), "%d", *(const int *)at); break;
	case BB_INDEX: bb_json__add_u64(w, m->key, (uint64_t) * (const int32_t *)at); break;
	case BB_REAL:
	case BB_POSITIVE:
	case BB_SHARE: bb_json__add_double(w, m->key, *(const double *)at); break;
	case BB_BOOL: bb_json__add_bool(w, m->key, *(const bool *)at); break;
	case BB_NUMBERS:
		bb_json__open(w, m->key, "[");
		for (size_t i = 0; i < list->n; i++)
			bb_json__add_double(w, NULL, list->x[i]);
		bb_json__close(w);
		break;
	case BB_RECORDS:
		n = *(const size_t *)((const char *)item + m->n_offset);
		bb_json__break(w);
		bb_json__open(w, m->key, "[\n");
		for (size_t i = 0; i < n; i++) {
			bb_json__open(w, NULL, "{");
			bb_record__write(format, m->of, whole, *(char *const *)at + i * m->of->size,
					 w);
			bb_json__close(w);
		}
		bb_json__close(w);
		break;
	case BB_STRUCT:
	case BB_STRUCT_OR_NULL:
		bb_json__open(w, m->key, "{");
		bb_record__write(format, m->of, whole,
				 m->type == BB_STRUCT ? at : *(void *const *)at, w);
		bb_json__close(w);
		break;
	case BB_OTHER: find_part(format, record, m->key)->write(whole, at, w); break;
	}
}

void bb_record__write(const struct bb_record_format *format, const struct bb_record *record,
		      const void *whole, const void *item, struct bb_json *w)
{
	for (size_t i = 0; i < record->n_members; i++) {
		const struct bb_member *m = &record->members[i];

		if (m->presence != BB_IF_SET || !is_default(m, item))
			write_member(format, record, m, whole, item, w);
	}
}

int bb_record__complain(const struct bb_record_reader *rd, const char *key, const char *fmt, ...)
{
	char what[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	for (char *p = what; *p; p++)
		if (iscntrl((unsigned char)*p))
			*p = ' ';
	return bb_fail(rd->err, -EINVAL, "%s: not %s: %s%s%s%s%s", rd->path, rd->format->name,
		       rd->where, *rd->where && *key ? "." : "", key,
		       *rd->where || *key ? ": " : "", what);
}

int bb_record__to_u64(const json_t *v, uint64_t *ret_value)
{
	if (json_is_string(v))
		return bb_parse_u64(json_string_value(v), ret_value);
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return -EINVAL;
	*ret_value = (uint64_t)json_integer_value(v);
	return 0;
}

static int read_text(const struct bb_record_reader *rd, const struct bb_member *m, const json_t *v,
		     void *at)
{
	size_t max = m->type == BB_CHARS ? m->size - 1 : rd->format->max_text;

	if (m->type == BB_TEXT_OR_NULL && json_is_null(v))
		return 0;
	if (!json_is_string(v))
		return bb_record__complain(rd, m->key, "expected a text%s",
					   m->type == BB_TEXT_OR_NULL ? " or null" : "");
	if (m->type == BB_NAME && !json_string_length(v))
		return bb_record__complain(rd, m->key, "is empty");
	if (max && json_string_length(v) > max)
		return bb_record__complain(rd, m->key, "is longer than %zu bytes", max);
	if (m->type == BB_CHARS)
		strcpy(at, json_string_value(v));
	else
		*(char **)at = bb_strdup(json_string_value(v));
	return 0;
}

static int read_real(const struct bb_record_reader *rd, const struct bb_member *m, const json_t *v,
		     double *at)
{
	double max = m->type == BB_SHARE ? 1 : INFINITY,
	       value = json_is_null(v) ? NAN : json_number_value(v);

	if (!json_is_null(v) && !json_is_number(v))
		return bb_record__complain(rd, m->key, "expected a number or null");
	if ((m->type != BB_REAL && value < 0) || value > max)
		return bb_record__complain(rd, m->key,
					   m->type == BB_SHARE ? "%g is not in 0..1"
							       : "%g is negative",
					   value);
	*at = value;
	return 0;
}

static int read_whole(const struct bb_record_reader *rd, const struct bb_member *m, const json_t *v,
		      void *at)
{
	static const struct {
		json_int_t least, most;
		const char *what;
	} of_32_bits[] = {
		[BB_U32] = {0, UINT32_MAX, "a whole number of 32 bits"},
		[BB_U32_NOT_0] = {1, UINT32_MAX, "a whole number of 32 bits, 1 or more"},
		[BB_MOD64] = {-1, 63, "a whole number from -1 to 63"},
		[BB_INDEX] = {0, INT32_MAX, "an index"},
	};
	json_int_t i = json_integer_value(v);

	if (m->type == BB_SEED && (!json_is_string(v) || bb_record__to_u64(v, at)))
		return bb_record__complain(rd, m->key, "expected a text \"0x...\"");
	if (m->type == BB_COUNT && bb_record__to_u64(v, at))
		return bb_record__complain(rd, m->key,
					   "expected a whole number that is not negative");
	if (m->type == BB_SEED || m->type == BB_COUNT)
		return 0;
	if (!json_is_integer(v) || i < of_32_bits[m->type].least || i > of_32_bits[m->type].most)
		return bb_record__complain(rd, m->key, "expected %s", of_32_bits[m->type].what);
	*(uint32_t *)at = (uint32_t)i;
	return 0;
}

/* In older files the list is a text such as "47.62 48.10 -". */
static int read_numbers(const struct bb_record_reader *rd, const struct bb_member *m,
			const json_t *v, struct bb_numbers *list)
{
	const char *text = json_string_value(v);

	if (json_is_null(v) && m->presence != BB_ALWAYS)
		return 0;
	if (!json_is_array(v) && !text)
		return bb_record__complain(rd, m->key, "expected a list of numbers");
	for (size_t i = 0; i < json_array_size(v); i++) {
		const json_t *item = json_array_get(v, i);
		double x = json_is_null(item) ? NAN : json_number_value(item);

		if (!json_is_null(item) && !json_is_number(item))
			return bb_record__complain(rd, m->key, "[%zu]: expected a number or null",
						   i);
		bb_numbers__append(list, &x, 1);
	}
	while (text && *text) {
		size_t len = strcspn(text, " ");
		char number[64] = "";
		double x = NAN;

		if (len < sizeof(number))
			memcpy(number, text, len);
		if (bb_parse_double(number, &x))
			x = NAN;
		bb_numbers__append(list, &x, 1);
		text += len + (text[len] == ' ');
	}
	return 0;
}

static int read_records(struct bb_record_reader *rd, const struct bb_member *m, const json_t *v,
			void *item)
{
	size_t *n = (size_t *)((char *)item + m->n_offset), len = strlen(rd->where);
	/* In older files it may be a text, which a bb_record_part with key NULL reads. */
	int rc = json_is_array(v) || (json_is_string(v) && m->presence == BB_IF_SET)
			 ? 0
			 : bb_record__complain(rd, m->key, "expected a list");

	if (!rc && rd->format->max_items && json_array_size(v) > rd->format->max_items)
		rc = bb_record__complain(rd, m->key, "more than %zu items", rd->format->max_items);
	for (size_t i = 0; !rc && i < json_array_size(v); i++) {
		void *added = bb_record__append(m->of, (char *)item + m->offset, n);

		snprintf(rd->where + len, sizeof(rd->where) - len, "%s%s[%zu]", len ? "." : "",
			 m->key, i);
		rc = bb_record__read(rd, m->of, json_array_get(v, i), added);
	}
	if (!rc)
		rd->where[len] = '\0';
	return rc;
}

static int read_struct(struct bb_record_reader *rd, const struct bb_member *m, const json_t *v,
		       void *at)
{
	size_t len = strlen(rd->where);

	if (m->type == BB_STRUCT_OR_NULL) {
		void **owned = at;

		at = *owned = bb_calloc(1, m->of->size);
		bb_record__init(m->of, at);
	}
	snprintf(rd->where + len, sizeof(rd->where) - len, "%s%s", len ? "." : "", m->key);
	int rc = bb_record__read(rd, m->of, v, at);
	if (!rc)
		rd->where[len] = '\0';
	return rc;
}

int bb_record__read_value(struct bb_record_reader *rd, const struct bb_member *m, const json_t *v,
			  void *item)
{
	void *at = (char *)item + m->offset;

	switch (m->type) {
	case BB_NAME:
	case BB_TEXT:
	case BB_TEXT_OR_NULL:
	case BB_CHARS: return read_text(rd, m, v, at);
	case BB_REAL:
	case BB_POSITIVE:
	case BB_SHARE: return read_real(rd, m, v, at);
	case BB_BOOL:
		if (!json_is_boolean(v))
			return bb_record__complain(rd, m->key, "expected true or false");
		*(bool *)at = json_is_true(v);
		return 0;
	case BB_NUMBERS: return read_numbers(rd, m, v, at);
	case BB_RECORDS: return read_records(rd, m, v, item);
	case BB_STRUCT:
	case BB_STRUCT_OR_NULL: return read_struct(rd, m, v, at);
	default: return read_whole(rd, m, v, at);
	}
}

int bb_record__read(struct bb_record_reader *rd, const struct bb_record *record,
		    const json_t *object, void *item)
{
	const struct bb_record_part *check = find_part(rd->format, record, NULL);
	int rc = json_is_object(object) ? 0 : bb_record__complain(rd, "", "expected an object");

	for (size_t i = 0; !rc && i < record->n_members; i++) {
		const struct bb_member *m = &record->members[i];
		const json_t *v = json_object_get(object, m->key);
		void *at = (char *)item + m->offset;

		if (m->type == BB_OTHER) {
			const struct bb_record_part *part = find_part(rd->format, record, m->key);

			rc = part->read ? part->read(rd, object, at) : 0;
		} else if (v) {
			rc = bb_record__read_value(rd, m, v, item);
		} else if (m->presence == BB_ALWAYS) {
			rc = bb_record__complain(rd, m->key, "is missing");
		} else if (m->type == BB_TEXT) { /* a BB_TEXT is never NULL */
			*(char **)at = bb_strdup("");
		}
	}
	return rc || !check ? rc : check->read(rd, object, item);
}
