#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tools whose output is the same each time print the same on the clones of `bpfbench inside`. As root.
# slow: each tool is started twice
# shellcheck source=harness/tests/tracefs.sh
. "$(dirname "$0")/../tracefs.sh"
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check and wait_until call
. "$(dirname "$0")/../tool.sh"

scripts=("bpftrace: counts and a histogram" "bpftrace: sums by key" "bpftrace: events")
tools=(opensnoop execsnoop sigsnoop)
need_root "${scripts[@]}" "${tools[@]}" || plan_done
need_command jq "${scripts[@]}" "${tools[@]}" || plan_done

# The work that the tools watch. Its processes have names that no others have.
cp "$(command -v dd)" "$WORK/bb_same"
cp "$BASH" "$WORK/bb_kill"
cat >"$WORK/work" <<SH
#!/bin/bash
trap '' USR1
export LC_ALL=C
cd $WORK
for i in 1 2 3 4 5; do
	./bb_same if=/dev/zero of=out.\$i bs=\$((i * 100)) count=200 status=none 2>/dev/null
	./bb_same if=missing.\$i of=/dev/null 2>/dev/null
	./bb_kill -c "kill -USR1 \$\$"
done
SH
chmod 755 "$WORK/work"

# on_clones COMMAND...: replaces this shell; the command's output goes to $TMP/tool.err, and the
# report to $TMP/json
on_clones() { exec "$BPFBENCH" inside --no-store --format json -- "$@" 2>"$TMP/tool.err" >"$TMP/json"; }
alone() { exec "$@" 2>/dev/null >"$TMP/tool.out"; }
has_runs() { jq -e '[.programs[] | select(.id > 0 and .runs > 0)] | length > 0' "$TMP/json"; }

# compare_outputs NAME: $TMP/clones and $TMP/alone are the same.
compare_outputs() {
	check "$1: on clones" has_runs
	check "$1: prints something" test -s "$TMP/alone"
	expect_eq "$1: prints the same" "$(<"$TMP/clones")" "$(<"$TMP/alone")"
}

script() {
	local name=$1

	shift
	(alone bpftrace -c "$BASH $WORK/work" -e "$1") || true
	grep -E '^(@|\[|\(|open )' "$TMP/tool.out" >"$TMP/alone" || true
	(on_clones bpftrace -c "$BASH $WORK/work" -e "$1") || true
	grep -E '^(@|\[|\(|open )' "$TMP/tool.err" >"$TMP/clones" || true
	if [[ ! -s $TMP/alone ]]; then
		skip "$name" "the script prints nothing here: $(tail -n 1 "$TMP/tool.err")"
		return
	fi
	compare_outputs "$name"
}
if need_command bpftrace "${scripts[@]}"; then
	# shellcheck disable=SC2016 # bpftrace's $
	script "${scripts[0]}" 'tracepoint:syscalls:sys_enter_write /comm == "bb_same"/ { @writes = count(); @bytes = hist(args->count); }
		tracepoint:syscalls:sys_exit_openat /comm == "bb_same"/ { if (args->ret < 0) { @failed = count(); } else { @opened = count(); } }'
	script "${scripts[1]}" 'tracepoint:syscalls:sys_enter_write /comm == "bb_same"/ { @sum[args->count] = sum(args->count); @most = max(args->count); }
		tracepoint:syscalls:sys_enter_kill /comm == "bb_kill"/ { @signals[args->sig] = count(); }'
	script "${scripts[2]}" 'tracepoint:syscalls:sys_enter_openat /comm == "bb_same"/ { printf("open %s %d\n", str(args->filename), args->flags); }'
fi

# tool NAME ROWS COMMAND...: ROWS is a program for awk that prints the rows that are ours, without process ids
started() { grep -q . "$TMP/tool.out" "$TMP/tool.err"; }
watched() {
	local how=$1

	shift
	: >"$TMP/tool.out"
	: >"$TMP/tool.err"
	"$how" stdbuf -oL "$@" </dev/null &
	child=$!
	wait_until 5 started || true
	"$WORK/work"
	sleep 1
	kill -INT "$child" 2>/dev/null || true
	wait "$child" 2>/dev/null || true
	child=''
}
tool() {
	local name=$1 rows=$2

	shift 2
	need_command "$1" "$name" || return 0
	watched alone "$@"
	awk "$rows" "$TMP/tool.out" | sort >"$TMP/alone"
	if [[ ! -s $TMP/alone ]]; then
		skip "$name" "it sees nothing here"
		return
	fi
	watched on_clones "$@"
	awk "$rows" "$TMP/tool.err" | sort >"$TMP/clones"
	compare_outputs "$name"
}
# shellcheck disable=SC2016 # awk's $
{
	tool opensnoop '$2 == "bb_same" { print $2, $3, $4, $5 }' opensnoop -n bb_same
	tool execsnoop '/bb_same/ { print $1, $4, $5, $6, $7, $8, $9 }' execsnoop -n bb_same
	tool sigsnoop '$3 == "bb_kill" { print $3, $4, $6 }' sigsnoop -s 10
}
plan_done
