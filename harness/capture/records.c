/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The members of a capture's manifest (docs/capture-format.md), and how a capture is freed. */

#include "base/parse.h"
#include "capture/file.h"

#define MAX_TEXT 4096 /* limit: bytes of a string in the manifest */

static void done_btf(void *btf)
{
	bb_blob__done(&((struct bb_captured_btf *)btf)->raw);
}

static const struct bb_member btf_members[] = {
	BB_ROW(bb_captured_btf, "module", BB_CHARS, BB_IF_SET, module, ""),
};
BB_RECORD(bb_captured_btf, btf_members, NULL, done_btf, "");

static void done_map(void *map)
{
	bb_blob__done(&((struct bb_captured_map *)map)->entries);
}

static const struct bb_member map_members[] = {
	BB_ROW(bb_captured_map, "name", BB_NAME, BB_ALWAYS, name, ""),
	BB_ROW(bb_captured_map, "kernel_name", BB_CHARS, BB_NEWER, kernel_name, ""),
	BB_ROW(bb_captured_map, "type", BB_U32, BB_NEWER, type, ""),
	BB_ROW(bb_captured_map, "key_size", BB_U32, BB_NEWER, key_size, ""),
	BB_ROW(bb_captured_map, "value_size", BB_U32, BB_NEWER, value_size, ""),
	BB_ROW(bb_captured_map, "max_entries", BB_U32, BB_NEWER, max_entries, ""),
	BB_ROW(bb_captured_map, "flags", BB_U32, BB_NEWER, flags, ""),
	BB_ROW(bb_captured_map, "extra", BB_COUNT, BB_NEWER, extra, ""),
	BB_ROW(bb_captured_map, "btf", BB_INDEX, BB_IF_SET, btf, ""),
	BB_ROW(bb_captured_map, "key_type_id", BB_U32, BB_NEWER, key_type_id, ""),
	BB_ROW(bb_captured_map, "value_type_id", BB_U32, BB_NEWER, value_type_id, ""),
	BB_ROW(bb_captured_map, "inner", BB_INDEX, BB_IF_SET, inner, ""),
	BB_ROW(bb_captured_map, "frozen", BB_BOOL, BB_NEWER, frozen, ""),
	BB_ROW(bb_captured_map, "entries", BB_U32, BB_NEWER, n_entries, ""),
	BB_ROW(bb_captured_map, "left_out", BB_TEXT_OR_NULL, BB_IF_SET, left_out, ""),
};
BB_RECORD(bb_captured_map, map_members, NULL, done_map, "");

static const struct bb_member ref_members[] = {
	BB_ROW(bb_captured_ref, "map", BB_INDEX, BB_IF_SET, map, ""),
	BB_ROW(bb_captured_ref, "btf", BB_INDEX, BB_IF_SET, btf, ""),
};
static BB_RECORD(bb_captured_ref, ref_members, NULL, NULL, "");

static void done_prog(void *prog)
{
	struct bb_captured_prog *p = prog;

	free(p->insns);
	free(p->funcs);
	free(p->lines);
}

static const struct bb_member prog_members[] = {
	BB_ROW(bb_captured_prog, "name", BB_NAME, BB_ALWAYS, name, ""),
	BB_ROW(bb_captured_prog, "kernel_name", BB_CHARS, BB_NEWER, kernel_name, ""),
	BB_ROW(bb_captured_prog, "license", BB_CHARS, BB_NEWER, license, ""),
	BB_ROW(bb_captured_prog, "type", BB_U32, BB_NEWER, type, ""),
	BB_ROW(bb_captured_prog, "expected_attach_type", BB_U32, BB_NEWER, expected_attach_type,
	       ""),
	BB_ROW(bb_captured_prog, "flags", BB_U32, BB_NEWER, flags, ""),
	BB_ROW(bb_captured_prog, "kern_version", BB_U32, BB_NEWER, kern_version, ""),
	BB_ROW(bb_captured_prog, "btf", BB_INDEX, BB_IF_SET, btf, ""),
	BB_ROW(bb_captured_prog, "attach_btf_id", BB_U32, BB_NEWER, attach_btf_id, ""),
	BB_ROW(bb_captured_prog, "attach_name", BB_CHARS, BB_IF_SET, attach_name, ""),
	BB_ROW(bb_captured_prog, "attach_btf", BB_INDEX, BB_IF_SET, attach_btf, ""),
	BB_ROW(bb_captured_prog, "attach_prog", BB_INDEX, BB_IF_SET, attach_prog, ""),
	BB_LIST(bb_captured_prog, "fd_array", BB_IF_SET, fds, bb_captured_ref_record, ""),
	{.key = "tag", .type = BB_OTHER},
	BB_ROW(bb_captured_prog, "xlated_bytes", BB_U32, BB_NEWER, xlated_bytes, ""),
	BB_ROW(bb_captured_prog, "jited_bytes", BB_U32, BB_NEWER, jited_bytes, ""),
	BB_ROW(bb_captured_prog, "refused", BB_TEXT_OR_NULL, BB_IF_SET, refused, ""),
	BB_ROW(bb_captured_prog, "missing", BB_TEXT_OR_NULL, BB_IF_SET, missing, ""),
	BB_ROW(bb_captured_prog, "probe", BB_TEXT_OR_NULL, BB_IF_SET, probe, ""),
};
BB_RECORD(bb_captured_prog, prog_members, NULL, done_prog, "");

static const struct bb_member attachment_members[] = {
	BB_ROW(bb_captured_attachment, "program", BB_INDEX, BB_IF_SET, prog, ""),
	BB_ROW(bb_captured_attachment, "kind", BB_CHARS, BB_NEWER, kind, ""),
	BB_ROW(bb_captured_attachment, "where", BB_CHARS, BB_NEWER, where, ""),
	BB_ROW(bb_captured_attachment, "attach_type", BB_U32, BB_NEWER, attach_type, ""),
	BB_ROW(bb_captured_attachment, "times", BB_U32, BB_NEWER, n, ""),
	BB_ROW(bb_captured_attachment, "refused", BB_BOOL, BB_IF_SET, refused, ""),
};
BB_RECORD(bb_captured_attachment, attachment_members, NULL, NULL, "");

static void done_input(void *input)
{
	struct bb_captured_input *in = input;

	bb_blob__done(&in->data);
	bb_blob__done(&in->ctx);
}

static const struct bb_member input_members[] = {
	BB_ROW(bb_captured_input, "program", BB_INDEX, BB_IF_SET, prog, ""),
	BB_ROW(bb_captured_input, "repeat", BB_U32, BB_NEWER, repeat, ""),
	BB_ROW(bb_captured_input, "path", BB_TEXT_OR_NULL, BB_IF_SET, path, ""),
	BB_ROW(bb_captured_input, "share", BB_SHARE, BB_IF_SET, share, ""),
};
BB_RECORD(bb_captured_input, input_members, NULL, done_input, "");

static const struct bb_member kernel_members[] = {
	BB_ROW(bb_captured_kernel, "release", BB_TEXT, BB_ALWAYS, release, ""),
	BB_ROW(bb_captured_kernel, "version", BB_TEXT, BB_ALWAYS, version, ""),
	BB_ROW(bb_captured_kernel, "machine", BB_TEXT, BB_ALWAYS, machine, ""),
};
static BB_RECORD(bb_captured_kernel, kernel_members, NULL, NULL, "");

static const struct bb_member capture_members[] = {
	{.key = "bpfbench_capture", .type = BB_OTHER},
	BB_ROW(bb_capture, "command", BB_TEXT, BB_ALWAYS, command, ""),
	BB_ROW_OF(bb_capture, "kernel", BB_STRUCT, BB_ALWAYS, kernel, &bb_captured_kernel_record,
		  ""),
	BB_ROW(bb_capture, "cpus", BB_U32, BB_NEWER, n_cpus, ""),
	BB_LIST(bb_capture, "btfs", BB_NEWER, btfs, bb_captured_btf_record, ""),
	BB_LIST(bb_capture, "maps", BB_NEWER, maps, bb_captured_map_record, ""),
	BB_LIST(bb_capture, "programs", BB_NEWER, progs, bb_captured_prog_record, ""),
	BB_LIST(bb_capture, "attachments", BB_NEWER, attachments, bb_captured_attachment_record,
		""),
	BB_LIST(bb_capture, "test_runs", BB_NEWER, inputs, bb_captured_input_record, ""),
};
BB_RECORD(bb_capture, capture_members, NULL, NULL, "");

static void write_tag(const void *, const void *prog, struct bb_json *w)
{
	const uint8_t *tag = ((const struct bb_captured_prog *)prog)->tag;
	char text[2 * BPF_TAG_SIZE + 1];

	for (size_t i = 0; i < BPF_TAG_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", tag[i]);
	bb_json__add_text(w, "tag", text);
}

static int read_tag(struct bb_record_reader *rd, const json_t *object, void *prog)
{
	struct bb_captured_prog *p = prog;
	const json_t *v = json_object_get(object, "tag");
	size_t len = 0, at;

	if (!v || (json_is_string(v) && !json_string_length(v)))
		return 0;
	if (json_is_string(v) &&
	    !bb_parse_hex(json_string_value(v), p->tag, BPF_TAG_SIZE, &len, &at) &&
	    len == BPF_TAG_SIZE)
		return 0;
	return bb_record__complain(rd, "tag", "expected %d bytes in hexadecimal", BPF_TAG_SIZE);
}

static void write_version(const void *, const void *, struct bb_json *w)
{
	bb_json__add_u64(w, "bpfbench_capture", BB_CAPTURE_VERSION);
}

static int read_version(struct bb_record_reader *rd, const json_t *object, void *capture)
{
	uint64_t version;

	(void)capture;
	if (bb_record__to_u64(json_object_get(object, "bpfbench_capture"), &version) || !version)
		return bb_record__complain(rd, "bpfbench_capture", "expected a version");
	if (version > BB_CAPTURE_VERSION)
		return bb_fail(rd->err, -EINVAL,
			       "%s: a capture of version %llu, and this bpfbench reads up to %d; "
			       "use a newer bpfbench",
			       rd->path, (unsigned long long)version, BB_CAPTURE_VERSION);
	return 0;
}

static const struct bb_record_part parts[] = {
	{&bb_captured_prog_record, "tag", write_tag, read_tag},
	{&bb_capture_record, "bpfbench_capture", write_version, read_version},
};

const struct bb_record_format bb_capture_format = {
	.name = "a capture that can be read",
	.parts = parts,
	.n_parts = BB_LEN(parts),
	.max_text = MAX_TEXT,
	.max_items = BB_CAPTURE_MAX_ITEMS,
};
