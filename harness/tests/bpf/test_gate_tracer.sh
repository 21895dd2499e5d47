#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slow: it measures two programs in two revisions, three times
# `bpfbench gate` of a tracer whose programs need each other, like those of opensnoop: the program
# at a call's return works on what the program at its entry stored. As root.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check call
. "$(dirname "$0")/../tool.sh"

names=("gate of a tracer: unchanged" "gate of a tracer: slower" "gate of a tracer: nothing is left")
need_root "${names[@]}" && need_command git "${names[@]}" && need_command clang "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"
# shellcheck source=harness/tests/gate_repo.sh
. "$(dirname "$0")/../gate_repo.sh"

repo=$TMP/repo
export TMPDIR=$WORK
make_repo "$repo" 0
here() { (cd "$repo" && "$@"); }
cat >"$repo/prog.bpf.c" <<'C'
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);
	__type(value, __u64);
} entered SEC(".maps");

__u64 spent;

SEC("tp/syscalls/sys_enter_umask")
int entry(void *ctx)
{
	__u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();

	bpf_map_update_elem(&entered, &id, &now, BPF_ANY);
	return 0;
}

SEC("tp/syscalls/sys_exit_umask")
int leave(void *ctx)
{
	__u64 id = bpf_get_current_pid_tgid(), *began = bpf_map_lookup_elem(&entered, &id);

	if (!began)
		return 0;
	/* more */
	__sync_fetch_and_add(&spent, bpf_ktime_get_ns() - *began);
	bpf_map_delete_elem(&entered, &id);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
C
here git commit -qam 'a tracer'
here make -s
run "$BPFBENCH" triggers "$repo/prog.bpf.o"
if [[ $(grep -cE '^  \* call-umask +1 run per firing' "$TMP/out") != 2 ]]; then
	skip_each "the tracepoints of umask: $(grep -m1 -E 'this kernel|no tracepoint' "$TMP/out" "$TMP/err" || echo "no run by them")" "${names[@]}" || plan_done
fi

# gate OPTION...: again if others have bpf_stats on, or leave too little time for a verdict.
gate() {
	for _ in 1 2 3; do
		run env -C "$repo" "$BPFBENCH" gate --quiet --base main --each 20 --markdown "$TMP/report.md" "$@"
		grep -qE 'another process has bpf_stats on|prog[.]leave/step .*inconclusive' "$TMP/err" "$TMP/out" || break
	done
}

gate --unchanged
expect_status "gate of a tracer: unchanged: it passes" 0
for program in entry leave; do
	expect_grep "gate of a tracer: unchanged: $program has a verdict" report.md "^\\| prog.$program/step \\|.*\\| (same|inconclusive)"
done

# The new code is executed only if the lookup finds what the other program stored: a program that is
# attached alone would not get there.
sed -i 's,/\* more \*/,spent += bpf_ktime_get_ns() > bpf_ktime_get_ns();,' "$repo/prog.bpf.c"
gate
expect_status "gate of a tracer: two more readings of the clock at the return: it fails with 3" 3
expect_grep "gate of a tracer: that program regressed" report.md '^\| prog.leave/step \|.*\*\*regressed\*\* \|'
expect_no_grep "gate of a tracer: and the other has not" report.md '^\| prog.entry/step \|.*\*\*regressed\*\* \|$'
expect_grep "gate of a tracer: the lines that it is in" report.md '\| [0-9]+ \| .*spent \+= bpf'
rm -rf "$results"
nothing_left "gate of a tracer" 0
plan_done
