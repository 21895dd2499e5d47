/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/record.h"

void bb_numbers__append(struct bb_numbers *list, const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		BB_PUSH(list->x, list->n, x[i]);
}

void bb_numbers__copy(const struct bb_numbers *list, double *ret_x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ret_x[i] = i < list->n ? list->x[i] : NAN;
}

void bb_record__init(const struct bb_record *record, void *item)
{
	memset(item, 0, record->size);
	for (size_t i = 0; i < record->n_members; i++) {
		const struct bb_member *m = &record->members[i];
		void *at = (char *)item + m->offset;

		switch (m->type) {
		case BB_U32_NOT_0: *(uint32_t *)at = 1; break;
		case BB_MOD64:
		case BB_INDEX: *(int32_t *)at = -1; break;
		case BB_REAL:
		case BB_POSITIVE:
		case BB_SHARE: *(double *)at = NAN; break;
		case BB_STRUCT: bb_record__init(m->of, at); break;
		default: break;
		}
	}
	if (record->init)
		record->init(item);
}

void bb_record__done(const struct bb_record *record, void *item)
{
	for (size_t i = 0; i < record->n_members; i++) {
		const struct bb_member *m = &record->members[i];
		void *at = (char *)item + m->offset;
		char *items;
		size_t n;

		switch (m->type) {
		case BB_NAME:
		case BB_TEXT:
		case BB_TEXT_OR_NULL: free(*(char **)at); break;
		case BB_NUMBERS: free(((struct bb_numbers *)at)->x); break;
		case BB_RECORDS:
			items = *(char **)at;
			n = *(size_t *)((char *)item + m->n_offset);
			for (size_t k = 0; k < n; k++)
				bb_record__done(m->of, items + k * m->of->size);
			free(items);
			break;
		case BB_STRUCT: bb_record__done(m->of, at); break;
		case BB_STRUCT_OR_NULL:
			if (*(void **)at)
				bb_record__done(m->of, *(void **)at);
			free(*(void **)at);
			break;
		default: break;
		}
	}
	if (record->done)
		record->done(item);
	memset(item, 0, record->size);
}

void *bb_record__append(const struct bb_record *record, void *items, size_t *n)
{
	void *item = bb_append(items, n, record->size);

	bb_record__init(record, item);
	return item;
}
