#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Static probes (usdt) of a library that is called, of an executable that is run and of python3: the programs find the arguments.
# slow: a command is run for each sample, and five scenarios wait for the CPU
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("a library's probe" "an executable's probe" "no such probe" "compare" "nothing is left")
need_root "${names[@]}" && need_user "${names[@]}" && need_command gcc "${names[@]}" && need_uprobes "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# A static probe as sys/sdt.h makes it: a nop, and a note with its address, the address of a
# counter, and the places of the arguments.
cat >"$TMP/usdt.h" <<'C'
#define PROBE(name, counter, arguments, ...)                                                                     \
	__asm__ volatile("990: nop\n"                                                                            \
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"                                            \
			 ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"                                           \
			 "991: .asciz \"stapsdt\"\n992: .balign 4\n"                                             \
			 "993: .8byte 990b, 0, " counter "\n"                                                    \
			 ".asciz \"bench\"\n.asciz \"" name "\"\n.asciz \"" arguments "\"\n994: .balign 4\n"     \
			 ".popsection\n" ::__VA_ARGS__)
C
cat >"$TMP/lib.c" <<'C'
#include "usdt.h"
__attribute__((section(".probes"), visibility("hidden"))) volatile unsigned short query_semaphore;
long query(long number, const char *text, int negative)
{
	if (query_semaphore) /* the kernel counts it up while somebody is there */
		PROBE("query", "query_semaphore", "-8@%0 8@%1 -4@%w2", "r"(number), "r"(text), "r"((long)negative));
	return number;
}
/* Twice, with the arguments elsewhere. */
static __attribute__((noinline)) void again(const char *text, long negative, long number)
{
	PROBE("twice", "0", "-8@%0 8@%1 -4@%w2", "r"(number), "r"(text), "r"(negative));
}
long twice(long number, const char *text, int negative)
{
	PROBE("twice", "0", "-8@%0 8@%1 -4@%w2", "r"(number), "r"(text), "r"((long)negative));
	again(text, negative, number);
	return number;
}
C
cat >"$TMP/prog.c" <<'C'
#include "usdt.h"
#include <string.h>
int main(void)
{
	char text[8]; /* where it is: a page that nobody has touched cannot be read from a probe */

	strcpy(text, "hello");
	PROBE("begin", "0", "-8@%0 8@%1 -4@%w2", "r"(64L), "r"(text), "r"(-5L) : "memory");
	return 0;
}
C
case $(uname -m) in
x86_64) sed -i 's/%w\([0-9]\)/%k\1/g' "$TMP"/*.c ;;
aarch64) sed -i 's/%w/%/g' "$TMP"/*.c ;;
*) skip_each "the probes of this test are for x86-64 and arm64" "${names[@]}" || plan_done ;;
esac
gcc -O1 -shared -fPIC -o "$TMP/libbb_usdt.so" "$TMP/lib.c" && gcc -O1 -o "$TMP/prog" "$TMP/prog.c" ||
	{ not_ok "gcc builds a library and a program with probes"; plan_done; }

# scenario VARIANT...: programs of usdt.bpf.o, a line each.
more_drives='  - {with: exact, trigger: fire}'
scenario() {
	printf '%s\n' 'name: u' "object: $O/tests/bpf/usdt.bpf.o" 'loads: 2' 'refused: skip' 'variants:' >"$WORK/u.yml"
	printf '  - {%s}\n' "$@" >>"$WORK/u.yml"
	printf '%s\n' 'drive:' '  - {with: step, trigger: fire, samples: 20}' "$more_drives" >>"$WORK/u.yml"
}
measure() { SUDO_UID=$NOBODY SUDO_GID=$NOGROUP LD_LIBRARY_PATH=$TMP real "$@"; }
figure() { more "$(bmf "$TMP/out" "u/$1/step" latency)" 0 || { grep -E 'skipped|void' "$TMP/err"; return 1; }; }
# found NAME: the program found all arguments in each run, as it executed as many instructions as on
# the first probe.
found() {
	local want

	want=$(bmf "$TMP/out" u/query/exact instructions)
	more "$want" 200 && near "$(bmf "$TMP/out" "u/$1/exact" instructions)" "$want" 0 || { grep -A3 executed: "$TMP/err"; return 1; }
}

arguments='arguments: [64, "hello", -5]'
scenario "name: query, program: on_probe, binary: $TMP/libbb_usdt.so, function: \"bench:query\", fired_by: {call: query, $arguments}" \
	"name: on_query, fired_by: {call: query, $arguments}" \
	"name: twice, program: on_probe, binary: $TMP/libbb_usdt.so, function: \"bench:twice\", fired_by: {call: twice, $arguments}" \
	"name: begin, program: on_probe, binary: $TMP/prog, function: \"bench:begin\", fired_by: {run: [$TMP/prog]}" \
	"name: typo, program: on_probe, binary: $TMP/libbb_usdt.so, function: \"bench:qury\", fired_by: {call: query, $arguments}" \
	"name: none, program: on_probe, binary: libc.so.6, function: \"bench:query\", fired_by: malloc" \
	"name: no_name, program: on_probe, binary: $TMP/prog, function: begin, fired_by: {run: [$TMP/prog]}"
measure -s "$WORK/u.yml"
expect_status "static probes: exit code 0" 0
"$BPFBENCH" show latest --results "$results" --format table --details >>"$TMP/err"
for name in query on_query twice begin; do
	check "$name: a figure" figure "$name"
	check "$name: the program found all arguments" found "$name"
done
expect_grep "who fired it, and where" err "^    query: call \(static probe $TMP/libbb_usdt.so:bench:query\)"
expect_grep "two places: the mean of two runs" err "^    twice: call \(.*, mean of 2 runs"
expect_grep "a probe that there is not: the nearest" err "skipped: u/typo/step: .* has no static probe 'bench:qury'; did you mean 'bench:query'"
expect_grep "a file without probes" err "skipped: u/none/step: .* has no static probe 'bench:query'"
expect_grep "a name that is none" err "skipped: u/no_name/step: .* names no static probe; FILE:PROVIDER:NAME would"
rm -rf "$results"

more_drives=''
# --- two probes are compared, each with its own arguments ---
scenario "name: a, program: on_probe, binary: $TMP/libbb_usdt.so, function: \"bench:query\", fired_by: {call: query, $arguments}" \
	"name: b, program: on_probe, binary: $TMP/libbb_usdt.so, function: \"bench:twice\", fired_by: {call: twice, $arguments}"
for budget in 2 15 45; do
	measure compare -s "$WORK/u.yml" --base a --head b --budget "$budget"
	! grep -q '^u/step ' "$TMP/out" || break
done
expect_grep "compare takes static probes" out '^u/step .* (same|regressed|improved|inconclusive)'
rm -rf "$results"

# --- a static probe of python3 ---
python=$(realpath -m /usr/bin/python3)
if [[ $(readelf -n "$python" 2>/dev/null || true) == *'Name: gc__start'* ]]; then
	scenario "name: gc, program: on_any, binary: $python, function: \"python:gc__start\", fired_by: {run: [$python, -S, -c, import gc; gc.collect()]}"
	measure -s "$WORK/u.yml"
	check "python3's gc__start: a figure" figure gc
	rm -rf "$results"
else
	skip "python3's gc__start" "no python3 with static probes here"
fi
nothing_left "static probes" 0
plan_done
