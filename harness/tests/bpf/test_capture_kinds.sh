#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kinds of programs and maps in a capture: each is loaded again with the same tag and lengths; maps
# of maps keep their maps; large contents are left out, but for constants, and that is said.
# slow: a dozen commands are watched, and loaded again
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check and run call
. "$(dirname "$0")/../tool.sh"

names=("loaded again" "maps of maps" "large contents")
need_root "${names[@]}" || plan_done
objects=$O/tests/bpf load=$O/tests/tools/load_all file=$WORK/a.capture

# A program that returns what it finds in a map inside of a map, and one whose data are large.
cat >"$TMP/nested.bpf.c" <<'C'
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct inner {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} first SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, struct inner);
} outer SEC(".maps") = {.values = {[1] = &first}};

/* 7 where the second place of `outer` has a map, and the first has none. */
SEC("xdp")
int finds_inner(struct xdp_md *ctx)
{
	__u32 key = 0;
	void *none = bpf_map_lookup_elem(&outer, &key), *map;

	key = 1;
	map = bpf_map_lookup_elem(&outer, &key);
	key = 0;
	return map && bpf_map_lookup_elem(map, &key) ? 7 + (none != 0) : 0;
}

/* More than a MiB; and a MiB, but for a few bytes that are less than one entry more. */
char large[2 << 20] = {1};
char most[(1 << 20) - 8] SEC(".data.most") = {1};
const volatile __u32 constant = 5;

SEC("xdp")
int reads_large(struct xdp_md *ctx)
{
	return ((volatile char *)large)[0] + ((volatile char *)most)[0] + constant;
}

char LICENSE[] SEC("license") = "GPL";
C
clang -target bpf -g -O2 -idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$TMP/nested.bpf.c" -o "$TMP/nested.bpf.o"

# capture ARG...: until the command has loaded everything, which it says on our stderr.
capture() { run "$BPFBENCH" capture -o "$file" --until "until grep -q '^[0-9]* programs' '$TMP/err'; do sleep 0.05; done" "$@"; }

# --- loaded again: tail calls, maps of all types, constants, kfuncs, sleepable and cgroup programs, struct_ops, functions ---
for path in "$objects"/{tailcall,maps,variables,kfunc,kernel_hooks,syscalls,struct_ops,functions}.bpf.o "$TMP/nested.bpf.o"; do
	object=$(basename "$path" .bpf.o)
	rm -f "$file"
	capture -- "$load" "$path"
	if ((status == 4)); then
		skip "loaded again: $object" "this kernel takes none of its programs: $(tail -n 1 "$TMP/err")"
	else
		expect_status "loaded again: $object: captured" 0
		check "loaded again: $object: equal" "$O/tests/tools/recapture" "$file"
	fi
done

# --- a map of maps holds the same maps again ---
# returns NAME PROGRAM VALUE: every run of the captured PROGRAM returns VALUE.
returns() {
	cat >"$WORK/n.yml" <<Y
name: n
object: $file
variants: [{name: a, program: $2}]
drive: [{with: step, trigger: test-run, samples: 60, inputs: [{name: p, packet: {}, retval: $3}]}]
Y
	run "$BPFBENCH" -s "$WORK/n.yml" --loads 2 --no-store
	expect_status "$1: exit code 0" 0
	expect_no_grep "$1: every run returns $3" err ' void: '
}
capture -- "$load" "$TMP/nested.bpf.o"
returns "maps of maps" finds_inner 7
returns "large contents" reads_large 7

# --- contents beyond a size ---
whole=$(stat -c %s "$file")
capture --max-contents 1 -- "$load" "$TMP/nested.bpf.o"
expect_status "large contents: exit code 0" 0
check "large contents: are left out" more "$whole" "$((2 * $(stat -c %s "$file")))"
expect_grep "large contents: said" out ' 1 without all of their contents$'
tar xOf "$file" bpfbench-capture.json >"$TMP/manifest"
check "large contents: the manifest says why" grep -q '"left_out": "it holds more than the limit"' "$TMP/manifest"
returns "large contents: the constants stay" reads_large 6
plan_done
