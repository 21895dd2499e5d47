#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Captured programs whose load names something besides maps: another program, which is the command's
# own or somebody else's; a token.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("own program" "a program of others" "small programs" token "later version" events)
need_root "${names[@]}" || plan_done
objects=$O/tests/bpf load=$O/tests/tools/load_all file=$WORK/a.capture
owner=
trap '[[ -z $owner ]] || kill "$owner" 2>/dev/null || true; rm -rf -- "$TMP"' EXIT

# capture ARG...: until the command has loaded everything, which it says on our stderr.
capture() { run "$BPFBENCH" capture -o "$file" --until "until grep -q '^[0-9]* programs\|^ready' '$TMP/err'; do sleep 0.05; done" "$@"; }

# named NAME PROGRAM OBJECT: PROGRAM is attached to a program that the command loads, too. It is
# loaded again, or the capture says that the kernel refuses it.
named() {
	capture -- "$load" -p 0 "$objects/live.bpf.o" "$objects/$3"
	expect_status "$1: $2 one of the command's own: captured" 0
	if grep -q "^  $2 .*the kernel refuses it: " "$TMP/out"; then
		skip "$1: $2 one of the command's own" "$(sed -n "s/^  $2 .*; *//p; s/^  $2 .*the kernel/the kernel/p" "$TMP/out" | head -n 1)"
		return
	fi
	check "$1: $2 one of the command's own: it is loaded again" "$O/tests/tools/recapture" "$file"
	run "$BPFBENCH" --object "$file" --program "$2" --no-store
	expect_grep "$1: $2 one of the command's own: why it cannot be driven" err "$2"
}
named "own program" replaces freplace.bpf.o
named "own program" watches fentry_prog.bpf.o

# others NAME PROGRAM OBJECT: PROGRAM is attached to a program of somebody else, which is not in the
# capture. So it cannot be loaded again.
others() {
	capture -- "$load" -p "$id" "$objects/$3"
	if ((status == 4)) && grep -q "loaded no program that the kernel takes; '$2' is refused: " "$TMP/err"; then
		skip "$1: $2 that of somebody else" "$(sed -n "s/.*'$2' is refused/it is refused/p" "$TMP/err")"
		return
	fi
	expect_status "$1: $2 that of somebody else: captured" 0
	expect_grep "$1: $2 that of somebody else: said" out "^  $2 .*not whole, without the program of others that it is attached to"
	run "$BPFBENCH" --object "$file" --program "$2" --no-store
	expect_status "$1: $2 that of somebody else: exit code 4" 4
	expect_grep "$1: $2 that of somebody else: why" err "the capture has not the program of others that it is attached to"
}
"$O/tests/tools/live_prog" "$objects/live.bpf.o" - >"$TMP/live" 2>"$TMP/live.err" </dev/null &
owner=$!
wait_until 10 test -s "$TMP/live" || true
id=$(head -n 1 "$TMP/live")
others "a program of others" replaces freplace.bpf.o
others "a program of others" watches fentry_prog.bpf.o

# --- small programs: a loader's tests of the kernel are told from its real programs ---
# small ARGUMENT PROGRAMS: the command keeps other programs or none, by its argument. These programs
# are shown, and the tests only with --all.
small() {
	capture -- "$O/tests/tools/small_programs" "$1"
	if grep -q '^nameless: \|^kept: ' "$TMP/err"; then
		skip "small programs: $1" "this kernel refuses them"
		return
	fi
	expect_status "small programs: $1: captured" 0
	check "small programs: $1: those that are no tests are shown" test "$(awk '/^  program/ {on = 1; next} /^[^ ]/ {on = 0} on {printf "%s ", $1}' "$TMP/out" | xargs -n 1 | sort | xargs)" = "$2"
	capture --all -- "$O/tests/tools/small_programs" "$1"
	expect_grep "small programs: $1: --all shows them" out '^  ksys_read .*no  +a test of the loader'
	run "$BPFBENCH" --object "$file" --program jumps --loads 1 -n 50 --no-store
	expect_status "small programs: $1: --program finds the one with a tail call" 0
}
small others "jumps kept works"
small last "jumps returns works"

# --- the manifest is edited: repack SED-SCRIPT ---
repack() {
	rm -rf "$TMP/tar"
	mkdir "$TMP/tar"
	tar xf "$file" -C "$TMP/tar"
	tar tf "$file" >"$TMP/members"
	sed -i "$1" "$TMP/tar/bpfbench-capture.json"
	tar cf "$TMP/edited.capture" --format=ustar -C "$TMP/tar" -T "$TMP/members"
}
capture -- "$load" "$objects/loop.bpf.o"
# BPF_F_TOKEN_FD: the program was loaded with a token of the command; root needs none
repack '/"name": "loop"/,/}/s/"flags": 0/"flags": 65536/'
check "token: a program that was loaded by one" grep -q '"flags": 65536' "$TMP/tar/bpfbench-capture.json"
run_undisturbed "$BPFBENCH" --object "$TMP/edited.capture" --loads 1 -n 48 --no-store
expect_status "token: it is loaded again without" 0
repack 's/"bpfbench_capture": 1/"bpfbench_capture": 2/'
run "$BPFBENCH" --object "$TMP/edited.capture" --no-store
complains "later version" 1 'version 2'
repack 's/"release": "[^"]*"/"release": "4.4.0"/'
run "$BPFBENCH" --object "$TMP/edited.capture" --no-store
expect_grep "another kernel" err '4\.4\.0'
check "another kernel: refused" test "$status" -ne 0
# --- the event is named, also if the tracepoint is known by its number only, or not at all ---
# has_event NAME REGEX FILE: what is said of the event of program NAME, or of why it has none,
# matches REGEX.
has_event() {
	run "$BPFBENCH" --object "$3" --program "$1" --loads 1 -n 20 --no-store --format details
	cat "$TMP/err" >>"$TMP/out"
	expect_grep "events: $1 of ${3##*.}" out "$2"
}
id=$(unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null; cat /sys/kernel/tracing/events/task/task_rename/id' 2>/dev/null || true)
if [[ -z $id ]]; then
	skip events "no tracefs here"
else
	capture -- "$load" "$objects/events.bpf.o"
	for from in "$objects/events.bpf.o" "$file"; do
		has_event task_rename 'by .*tracepoint task/task_rename' "$from"
		has_event tracepoint__task__task_rename 'by .*tracepoint task/task_rename' "$from"
		has_event of_nothing "'of_nothing' is to be" "$from"
	done
	has_event without_group 'by .*tracepoint task/task_rename' "$objects/events.bpf.o"
	capture --all -- "$load" "$objects/events.bpf.o"
	number=$(awk '/^  program/ {on = NR} $1 == "of_nothing" {print NR - on - 1}' "$TMP/out")
	repack "s|\"attachments\": \[|&{\"program\": $number, \"kind\": \"tracepoint\", \"where\": \"id $id\", \"attach_type\": 0, \"times\": 1}|"
	has_event of_nothing 'by .*tracepoint task/task_rename' "$TMP/edited.capture"
fi

plan_done
