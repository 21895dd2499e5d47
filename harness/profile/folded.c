/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/folded.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/parse.h"

#define MAX_FILE (64u << 20)
#define MAX_WEIGHT (1ULL << 53)

struct reading {
	struct bb_stacks stacks;
	struct bb_idmap frames; /* (name, kind) -> number */
	uint64_t weight;
};

static enum bb_frame_kind kind_of(const char *frame, size_t *len, bool is_first)
{
	if (is_first)
		return BB_FRAME_COMM;
	for (int kind = 0; kind < BB_N_FRAME_KINDS; kind++) {
		const char *suffix = bb_frame_suffixes[kind];
		size_t n = suffix ? strlen(suffix) : 0;

		if (n && *len > n && !memcmp(frame + *len - n, suffix, n)) {
			*len -= n;
			return (enum bb_frame_kind)kind;
		}
	}
	if (*len == strlen(BB_NOTE_OFF_CPU) && !memcmp(frame, BB_NOTE_OFF_CPU, *len))
		return BB_FRAME_OFF_CPU;
	if ((*len == strlen(BB_NOTE_CUT) && !memcmp(frame, BB_NOTE_CUT, *len)) ||
	    (*len == strlen(BB_NOTE_LOST) && !memcmp(frame, BB_NOTE_LOST, *len)))
		return BB_FRAME_NOTE;
	return BB_FRAME_USER;
}

/* The number of the frame, which is new when it was not there. */
static int find_frame(struct reading *r, const char *text, size_t len, bool is_first,
		      uint32_t *ret_number)
{
	struct bb_frame frame = {.kind = kind_of(text, &len, is_first), .file = BB_NO_ID};

	if (bb_names__add(&r->stacks.names, text, len, &frame.name))
		return -ENOMEM;
	*ret_number = bb_idmap__get(&r->frames, frame.name, frame.kind);
	if (*ret_number != BB_NO_ID)
		return 0;
	*ret_number = (uint32_t)r->stacks.n_frames;
	if (bb_stacks__add_frame(&r->stacks, &frame))
		return -ENOMEM;
	return bb_idmap__put(&r->frames, frame.name, frame.kind, *ret_number);
}

static int add_stack(struct reading *r, const char *text, uint64_t weight, const char **ret_wrong)
{
	uint32_t frames[BB_FOLDED_FRAMES], n = 0;

	for (const char *at = text, *end; at; at = *end ? end + 1 : NULL) {
		end = strchrnul(at, ';');
		if (n == BB_FOLDED_FRAMES) {
			*ret_wrong = "a stack of too many frames";
			return 0;
		}
		if (find_frame(r, at, (size_t)(end - at), at == text, &frames[n++]))
			return -ENOMEM;
	}
	return bb_stacks__add(&r->stacks, frames, n, (double)weight);
}

static int add_line(struct reading *r, char *text, const char *path, size_t number,
		    struct bb_err *err)
{
	char *space = strrchr(text, ' ');
	const char *wrong = NULL;
	uint64_t weight;

	if (!*text)
		return 0;
	if (!space || space == text) {
		wrong = "not 'frame;frame;... weight'";
	} else if (bb_parse_u64(space + 1, &weight)) {
		wrong = "the weight at its end is no whole number";
	} else if (weight > MAX_WEIGHT || r->weight + weight > MAX_WEIGHT) {
		return bb_fail(err, -EFBIG, "%s:%zu: the weights add up to more than 2^53", path,
			       number);
	} else {
		*space = '\0';
		r->weight += weight;
		if (add_stack(r, text, weight, &wrong))
			return bb_fail_nomem(err);
	}
	return wrong ? bb_fail(err, -EINVAL, "%s:%zu: not folded stacks: %s", path, number, wrong)
		     : 0;
}

/* The lines of text[len], which is written to. */
static int add_lines(char *text, size_t len, const char *path, struct reading *r,
		     struct bb_err *err)
{
	char *end = text + len;
	size_t number = 1;
	int rc = 0;

	if (strlen(text) != len)
		return bb_fail(err, -EINVAL, "%s: not folded stacks: there is a NUL byte in it",
			       path);
	for (char *next; !rc && text < end; text = next, number++) {
		char *newline = strchr(text, '\n');

		next = newline ? newline + 1 : end;
		if (newline)
			*newline = '\0';
		if (newline && newline > text && newline[-1] == '\r')
			newline[-1] = '\0';
		rc = add_line(r, text, path, number, err);
	}
	return rc;
}

int bb_folded__read(const char *path, struct bb_stacks *ret_stacks, struct bb_err *err)
{
	struct reading r = {0};
	char *text;
	size_t len;
	int rc = bb_read_file(path, MAX_FILE, &text, &len, err);

	if (rc)
		return rc;
	rc = add_lines(text, len, path, &r, err);
	if (!rc && bb_stacks__sort_frames(&r.stacks))
		rc = bb_fail_nomem(err);
	if (rc) {
		bb_stacks__done(&r.stacks);
	} else {
		bb_stacks__sort(&r.stacks);
		*ret_stacks = r.stacks;
	}
	bb_idmap__done(&r.frames);
	free(text);
	return rc;
}
