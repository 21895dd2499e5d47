#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bpfbench capture` of commands of all kinds: static, 32-bit, scripts, with a seccomp filter of
# their own, without the rights that they need or after they dropped them; one that fails or is
# interrupted; programs that tc attached; variables of a capture that a scenario sets.
# slow: each command is watched until it has been quiet for a second
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=(static "own filter" "dropped rights" "32-bit" fails "no rights" probes script supervises attachments "test runs" interrupted "the caller's" tc netns "light skeleton" variables maps gate budget "no tracefs" "attached nowhere")
need_root "${names[@]}" || plan_done
objects=$O/tests/bpf load=$O/tests/tools/load_all file=$WORK/a.capture

capture() { run "$BPFBENCH" capture -o "$file" "$@"; }

# A command that loads a program by the bare system call: it needs no library, so it can be linked
# statically, and for 32 bits.
cat >"$TMP/bare.c" <<'C'
#if __SIZEOF_POINTER__ == 8
#define BPF 321
#define EXIT 60
#define PAUSE 34
#define PRCTL 157
#define SETUID 105
#define SECCOMP 317
static long call(long nr, long a, long b, long c)
{
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(nr), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}
#else
#define BPF 357
#define EXIT 1
#define PAUSE 29
#define PRCTL 172
#define SETUID 213
#define SECCOMP 354
static long call(long nr, long a, long b, long c)
{
	long r;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return r;
}
#endif
static unsigned char insns[] = {0xb7, 0, 0, 0, 1, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0};
static struct {
	unsigned type, n;
	unsigned long long insns, license;
	unsigned log[4], version, flags;
	char name[16];
} attr = {.type = 1, .n = 2, .name = "bare"};
static unsigned char allow[] = {6, 0, 0, 0, 0, 0, 0xff, 0x7f};
static struct {
	unsigned short n;
	void *filter;
} filter = {1, allow};

static unsigned char frame[] = {0x5a, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 8, 0, 0x45, 0x42};
static struct {
	unsigned fd, value, in_size, out_size;
	unsigned long long in, out;
	unsigned repeat, ns;
} run;

static struct {
	unsigned long long name;
	unsigned fd;
} point;

void _start(void)
{
	long fd;

#ifdef OWN_FILTER
	if (call(PRCTL, 38, 1, 0) || call(SECCOMP, 1, 0, (long)&filter))
		call(EXIT, 9, 0, 0);
#endif
#ifdef POINTS
	attr.type = 17;
#endif
#ifdef PROBES
	attr.name[0] = 0;
#endif
	attr.insns = (unsigned long)insns;
	attr.license = (unsigned long)"GPL";
	fd = call(BPF, 5, (long)&attr, sizeof(attr));
#ifdef RUNS
	run.fd = fd;
	run.in = (unsigned long)frame;
	run.in_size = sizeof(frame);
	call(BPF, 10, (long)&run, sizeof(run));
#endif
#ifdef POINTS
	point.fd = fd;
	point.name = (unsigned long)"no_such_point";
	call(BPF, 17, (long)&point, sizeof(point));
	point.name = (unsigned long)"sys_enter";
	call(BPF, 17, (long)&point, sizeof(point));
	point.name = (unsigned long)"no_such_point_either";
	call(BPF, 17, (long)&point, sizeof(point));
#endif
#ifdef SUPERVISES
	if (call(SECCOMP, 1, 8, (long)&filter) != -16)
		call(EXIT, 6, 0, 0);
#endif
#ifdef DROPS
	if (call(SETUID, 65534, 0, 0))
		call(EXIT, 8, 0, 0);
#endif
#ifdef FAILS
	call(EXIT, 7, 0, 0);
#endif
	if (fd < 0)
		call(EXIT, -fd, 0, 0);
	for (;;)
		call(PAUSE, 0, 0, 0);
}
C
none_runs() { ! pgrep -xf "$1"; }
# bare NAME FLAG...: the command, compiled with these flags, loads a program, which is captured.
bare() {
	local name=$1 to=$TMP/bare seconds

	shift
	if [[ $(uname -m) != x86_64 ]] || ! "${CC:-gcc}" -O1 -nostdlib -static -fno-pie -no-pie -fno-stack-protector "$@" -o "$to" "$TMP/bare.c" 2>"$TMP/cc"; then
		skip "$name" "no compiler for that here"
		return
	fi
	if [[ $name == 32-bit ]] && ! (timeout 1 "$to" || (($? == 124))); then
		skip "$name" "the kernel runs no 32-bit programs that load BPF"
		return
	fi
	rm -f "$file"
	# until a second after it has begun; a slow machine takes longer to load a program
	for seconds in 1 5 25; do
		capture --until "until pgrep -xf '$to'; do sleep 0.05; done; sleep $seconds" --all -- "$to"
		((status == 4)) || break
	done
	expect_status "$name: exit code 0" 0
	expect_grep "$name: its program is captured" out '^  bare +(socket_filter|raw_tracepoint) '
	check "$name: nothing of it is left" wait_until 2 none_runs "$to"
}
bare static
bare "own filter" -DOWN_FILTER
bare "dropped rights" -DDROPS
bare 32-bit -m32
bare fails -DFAILS
[[ ! -s $TMP/cc ]] && expect_grep "fails: said" err 'the command ended with exit code 7'

# --- no right to load: libbpf's tests of the kernel fail first, so that it loads no program ---
# refused NAME REGEX COMMAND...: nothing is captured, and stderr matches REGEX.
refused() {
	local name=$1 regex=$2

	shift 2
	rm -f "$file"
	capture -- "$@"
	expect_status "$name: exit code 4" 4
	expect_grep "$name: said" err "$regex"
	check "$name: no file" test ! -e "$file"
}
no_rights=(setpriv --bounding-set -all)
mkdir "$TMP/theirs"
cp "$load" "$objects/loop.bpf.o" "$TMP/theirs/"
chmod -R a+rX "$TMP/theirs"
may_not="^bpfbench: '.*', which ended with exit code 1, is not allowed to load BPF programs: .* without CAP_BPF, .*CAP_SYS_ADMIN"
refused "no rights: root without capabilities" "$may_not" "${no_rights[@]}" "$TMP/theirs/load_all" "$TMP/theirs/loop.bpf.o"
refused "no rights: another user" "$may_not" setpriv "--reuid=$NOBODY" "--regid=$NOGROUP" --clear-groups "$TMP/theirs/load_all" "$TMP/theirs/loop.bpf.o"
if unshare -Ur true 2>/dev/null; then
	refused "no rights: root of another user namespace" "$may_not" unshare -Ur "$TMP/theirs/load_all" "$TMP/theirs/loop.bpf.o"
else
	skip "no rights: root of another user namespace" "no user namespaces here"
fi
run "$BPFBENCH" --no-store -- "${no_rights[@]}" "$TMP/theirs/load_all" "$TMP/theirs/loop.bpf.o"
expect_status "no rights: measured at once: exit code 4" 4
expect_grep "no rights: measured at once: said" err 'is not allowed to load BPF programs'

# --- only tests of the kernel ---
if [[ $(uname -m) == x86_64 ]] && "${CC:-gcc}" -O1 -nostdlib -static -fno-pie -no-pie -fno-stack-protector -DPROBES -DFAILS -o "$TMP/bare" "$TMP/bare.c" 2>"$TMP/cc"; then
	refused probes "loaded its loader's tests of the kernel \(1\), and no program: give it the arguments" "$TMP/bare"
else
	skip probes "no compiler for that here"
fi

# --- a script ---
printf '#!/bin/sh\n"$@"\nexit 3\n' >"$TMP/script"
chmod 755 "$TMP/script"
capture -- "$TMP/script" "$load" -1 "$objects/loop.bpf.o"
expect_status "script: exit code 0" 0
expect_grep "script: its program's program is captured" out '^  loop +xdp '
expect_grep "script: its exit code" err 'the command ended with exit code 3'

# --- a command that watches system calls by seccomp itself: it cannot, and the user is told ---
bare supervises -DSUPERVISES
if [[ ! -s $TMP/cc ]]; then
	expect_grep "supervises: said" err 'wants to watch system calls by seccomp itself'
	expect_no_grep "supervises: it was told EBUSY, and goes on" err 'the command ended with exit code'
fi
capture -- "$BPFBENCH" capture -o "$WORK/inner.capture" -- "$load" -1 "$objects/sections.bpf.o"
expect_grep "supervises: bpfbench itself does not start under another" err "watching the system calls of '[^']*': .*another supervisor"

# --- attachments: those that the kernel refuses are told from the others, the last one, too ---
bare attachments -DPOINTS
[[ ! -s $TMP/cc ]] && expect_grep "attachments: those that the kernel refuses are said" out \
	' refused: raw_tracepoint no_such_point, raw_tracepoint sys_enter, refused: raw_tracepoint no_such_point_either$'

# --- the inputs of the command's own test runs are the default inputs ---
bare "test runs" -DRUNS
if [[ -s $file && ! -s $TMP/cc ]]; then
	run "$BPFBENCH" init "$file"
	expect_grep "test runs: the packet that the command gave is the input" out 'hex: "?5a0102030405060708090a0b08004542"?\}'
	run "$BPFBENCH" --object "$file" --cpus 1,2 --same-input --no-store
	complains "test runs: one input for two CPUs" 1 '1 input for 2 CPUs: '
fi

# --- interrupted: a first SIGINT ends the capture and writes it, a SIGTERM leaves no file ---
rm -f "$file"
start "$BPFBENCH" capture -o "$file" --for 600 -- "$load" "$objects/sections.bpf.o"
check "interrupted: the command has loaded" wait_until 20 grep -q '^[0-9]* programs' "$TMP/err"
stop_child TERM
expect_eq "interrupted: by SIGTERM: exit code 1" "$status" 1
check "interrupted: no file" test -z "$(find "$WORK" -name '*.capture*')"
no_loader() { ! pgrep -f "^$load $objects/sections"; }
check "interrupted: the command has ended" wait_until 2 no_loader
start "$BPFBENCH" capture -o "$file" --for 600 -- "$load" "$objects/sections.bpf.o"
check "interrupted: the next has loaded" wait_until 20 grep -q '^[0-9]* programs' "$TMP/err"
stop_child INT
expect_eq "interrupted: by SIGINT: it is the end of the capture" "$status" 0
check "interrupted: the file is whole" "$BPFBENCH" init "$file"

# --- the caller's: under sudo, the file belongs to the user who called it ---
if need_user "the caller's"; then
	rm -f "$file"
	run "${sudo[@]}" "$BPFBENCH" capture -o "$file" -- "$load" "$objects/sections.bpf.o"
	expect_status "the caller's: exit code 0" 0
	expect_eq "the caller's: the file, and nobody else's" "$(stat -c '%u %a' "$file")" "$NOBODY 600"
fi

# --- tc: attached by netlink, in a network namespace of its own ---
if need_command tc tc netns; then
	printf '%s\n' '#include <linux/bpf.h>' '#include <bpf/bpf_helpers.h>' 'char L[] SEC("license") = "GPL";' \
		'SEC("tc") int shape(struct __sk_buff *s) { return s->len > 100 ? 2 : 0; }' >"$TMP/tc.bpf.c"
	clang -target bpf -g -O2 -idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$TMP/tc.bpf.c" -o "$TMP/tc.bpf.o"
	capture --until "until test -e '$TMP/attached'; do sleep 0.05; done" -- unshare -n sh -c "tc qdisc add dev lo clsact &&
		tc filter add dev lo egress bpf da obj '$TMP/tc.bpf.o' sec tc; touch '$TMP/attached'; exec sleep 600"
	expect_status "tc: exit code 0" 0
	if grep -q 'shape ' "$TMP/out"; then
		expect_grep "tc: where its program is attached, in another network namespace" out '^  shape +sched_cls .* tc lo egress$'
	else
		skip "tc: where its program is attached" "no clsact in this kernel, or a tc without BPF: $(grep -v bpfbench: "$TMP/err" | head -n 1)"
	fi
fi

# --- a light skeleton: its programs are loaded inside the kernel, and so measured in place ---
if bpftool=$(find_bpftool) || skip_each "no bpftool that works on this kernel" "light skeleton"; then
	printf '%s\n' '#include <linux/bpf.h>' '#include <bpf/bpf_helpers.h>' 'char L[] SEC("license") = "GPL"; __u64 n;' \
		'SEC("raw_tp/task_rename") int bb_renames(void *c) { __sync_fetch_and_add(&n, 1); return 0; }' >"$TMP/light.bpf.c"
	printf '%s\n' '#include <errno.h>' '#include <stdio.h>' '#include <unistd.h>' '#include "light.lskel.h"' \
		'int main(void) { struct light *s = light__open_and_load(); if (!s || light__attach(s)) return 1;' \
		'puts("loaded"); fflush(stdout); sleep(600); return 0; }' >"$TMP/light.c"
	clang -target bpf -g -O2 -idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$TMP/light.bpf.c" -o "$TMP/light.bpf.o" &&
		"$bpftool" gen skeleton -L "$TMP/light.bpf.o" name light >"$TMP/light.lskel.h" && "${CC:-gcc}" -o "$TMP/light" "$TMP/light.c" -lbpf
	rm -f "$file"
	capture --until "until grep -q '^loaded' '$TMP/err'; do sleep 0.05; done" -- "$TMP/light"
	if grep -q 'ended with exit code 1,' "$TMP/err"; then
		skip "light skeleton" "this kernel does not take it"
	else
		complains_of_light() { ((status == 4)) && grep -qE "loads its programs by a light skeleton .*--prog-name" "$TMP/err"; }
		check "light skeleton: its programs are not copied, which is said" complains_of_light
		check "light skeleton: no file" test ! -e "$file"
		capture --until "until grep -q '^loaded' '$TMP/err' && grep -q '^1 programs' '$TMP/err'; do sleep 0.05; done" -- \
			sh -c "'$load' '$objects/loop.bpf.o' & exec '$TMP/light'"
		expect_grep "light skeleton: beside an ordinary program: where it is attached" out '^not captured: .* raw_tracepoint task_rename, which a light skeleton'
		start timeout 600 sh -c "while :; do /bin/true; done"
		renamer=$child
		start "$TMP/light"
		wait_until 10 grep -q '^loaded' "$TMP/out" || true
		light=$child child=$renamer
		for seconds in 1 5 25; do
			run "$BPFBENCH" --prog-name bb_renames --seconds "$seconds" --no-store
			((status != 0)) || break
		done
		end_processes "$light" "$renamer"
		child=''
		check "light skeleton: measured in place" more "$(bmf "$TMP/out" live/bb_renames/live latency)" 0
	fi
fi

# --- variables: a scenario may give them other values ---
capture -- "$load" -1 "$objects/loop.bpf.o"
cat >"$WORK/v.yml" <<Y
name: v
object: $file
variants:
  - {name: as-captured, program: loop}
  - {name: short, program: loop, globals: {rounds: 10}}
drive: [{with: exact, trigger: test-run}]
Y
run "$BPFBENCH" -s "$WORK/v.yml" --no-store
expect_status "variables: exit code 0" 0
# 400 rounds of about ten instructions each in the capture, 10 rounds in `short`
check "variables: as the command set it" more "$(bmf "$TMP/out" v/as-captured/exact instructions)" 3000
check "variables: as the scenario sets it" more 300 "$(bmf "$TMP/out" v/short/exact instructions)"
sed -i 's/rounds: 10/round: 10/' "$WORK/v.yml"
run "$BPFBENCH" -s "$WORK/v.yml" --no-store
expect_status "variables: one that is not there: exit code 1" 1
expect_grep "variables: one that is not there: said" err "no global variable 'round'"
# --- maps: a scenario says what they hold ---
capture -- "$load" -1 "$objects/maps.bpf.o"
# contents NAME ENTRIES RETVAL: with these entries in map NAME, finds_in_array returns RETVAL.
contents() {
	cat >"$WORK/m.yml" <<Y
name: m
object: $file
maps: [{name: $1, reset: run, entries: [$2]}]
variants: [{name: a, program: finds_in_array}]
drive: [{with: step, trigger: test-run, samples: 60, inputs: [{name: p, packet: {}, retval: $3}]}]
Y
	run "$BPFBENCH" -s "$WORK/m.yml" --loads 2 --no-store
}
contents array '{key: 3, value: 77}, {key: 5, value: 1}' 78
expect_status "maps: exit code 0" 0
expect_no_grep "maps: every run finds the scenario's entries" err ' void: '
contents array '{key: 3, value: 77}' 78
expect_grep "maps: another sum is seen" err 'void: .*returned 77( \(.*\))?, 78 expected'
contents arry '{key: 3, value: 77}' 77
expect_grep "maps: one that is not there" err "map 'arry' .*did you mean 'array'\?"
# --- gate: a tree with nothing to build ---
git init -q "$WORK/repo"
git -C "$WORK/repo" config user.email t@example.org
git -C "$WORK/repo" config user.name t
cp "$objects/loop.bpf.o" "$WORK/repo/script.o"
git -C "$WORK/repo" add script.o
git -C "$WORK/repo" commit -qm base
git -C "$WORK/repo" branch base
((${#user[@]} == 0)) || chown -R "$NOBODY:$NOGROUP" "$WORK/repo"
(cd "$WORK/repo" && run "$BPFBENCH" gate --markdown - --base base --capture "$load script.o" --each 2; printf '%s' "$status" >"$TMP/status")
status=$(<"$TMP/status")
expect_status "gate: without a makefile nothing is built" 0
expect_grep "gate: and both are captured" out '^- capture, loop: the same bytes in both'
# --- a budget limits captures, too: this command never ends ---
never="while :; do $load -1 $objects/loop.bpf.o; sleep 0.2; done"
(cd "$WORK/repo" && run "$BPFBENCH" gate --markdown - --base base --capture "$never" --budget 3; printf '%s' "$status" >"$TMP/status")
status=$(<"$TMP/status")
expect_status "budget: of a gate: exit code 1" 1
expect_grep "budget: of a gate: said" err 'base: the budget was used up while .* was captured \(3 s, [0-9]+ programs so far\); --budget gives more'
run "$BPFBENCH" --capture "$never" --budget 3
expect_status "budget: of a run: exit code 1" 1
expect_grep "budget: of a run: said" err 'the budget was used up while .* was captured'

# --- a machine without tracefs: the command gets one of its own ---
hidden=()
# shellcheck disable=SC2016 # of the inner shell
! grep -qE '^[^ ]* [^ ]* (tracefs|debugfs) ' /proc/self/mounts ||
	hidden=(unshare -m sh -c 'umount -l /sys/kernel/debug /sys/kernel/tracing 2>/dev/null; exec "$@"' sh)
if ((${#hidden[@]})) && ! unshare -m true 2>/dev/null; then
	skip "no tracefs" "no mount namespace for us"
else
	run "${hidden[@]}" "$BPFBENCH" capture -o "$file" -- "$load" -1 "$objects/turns.bpf.o"
	expect_status "no tracefs: exit code" 0
	expect_grep "no tracefs: a loader finds the tracepoint" out ' tracepoint task/task_rename$'
	expect_no_grep "no tracefs: nothing to say" err 'attached .* to no event'
fi
capture -- "$load" -1 "$objects/own_arguments.bpf.o"
expect_grep "attached nowhere: said, with the names" err "^bpfbench: the command attached [0-9]+ programs to no event \\(wants_zero, .*\\); bpfbench measures (it|them) on events of its own$"
expect_grep "attached nowhere: what was captured is said in one sentence" err "^bpfbench: captured [0-9]+ programs in [0-9.]+ s, which delayed [0-9]+ of the command's system calls by [0-9]+ us each$"
plan_done
