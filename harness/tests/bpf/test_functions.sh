#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions in user space that a scenario names: of a library, called with arguments by another user
# than root; of a program that is run; of a process that runs already. Files that crash, are
# stripped or lack the function are named.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
# shellcheck disable=SC2154 # child is tool.sh's
. "$(dirname "$0")/../tool.sh"

names=("a library's function" "a program's function" "a process" "bad input" "nothing is left")
need_root "${names[@]}" && need_user "${names[@]}" && need_command gcc "${names[@]}" && need_uprobes "${names[@]}" || plan_done

# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"
cat >"$TMP/lib.c" <<'C'
#include <stdlib.h>
#include <string.h>
long add_text(long a, const char *text, char *buffer, double x)
{
	strcpy(buffer, text);
	return a + (long)strlen(buffer) + (long)x;
}
long crashes(void)
{
	abort();
}
C
cat >"$TMP/prog.c" <<'C'
#include <unistd.h>
__attribute__((noinline)) int work(int n)
{
	volatile int x = n;

	return x + 1;
}
int main(int argc, char **argv)
{
	do
		work(argc);
	while (argc > 1 && argv[1][0] == 'l' && !usleep(2000));
	return 0;
}
C
# The process runs a file of its own: with one file for both, its calls would count, too.
gcc -o "$TMP/loop" "$TMP/prog.c" && gcc -shared -fPIC -o "$TMP/lib.so" "$TMP/lib.c" && gcc -o "$TMP/prog" "$TMP/prog.c" && gcc -s -o "$TMP/stripped" "$TMP/prog.c" ||
	{ not_ok "gcc builds a library and a program"; plan_done; }

# scenario VARIANT...: variants of the programs of functions.bpf.o.
scenario() {
	printf '%s\n' 'name: f' "object: $O/tests/bpf/functions.bpf.o" 'loads: 1' 'refused: skip' 'variants:' >"$WORK/f.yml"
	printf '  - {%s}\n' "$@" >>"$WORK/f.yml"
	printf '%s\n' 'drive:' '  - {with: step, trigger: fire, samples: 20}' >>"$WORK/f.yml"
	rm -rf "$results"
	SUDO_UID=$NOBODY SUDO_GID=$NOGROUP real -s "$WORK/f.yml"
}
figure() { more "$(bmf "$TMP/out" "f/$1/step" latency)" 0 || { grep -E 'skipped|void' "$TMP/err"; return 1; }; }
# most_of NAME: it executed more than half of its instructions: all but the error branch
most_of() {
	tr -d '\n' <"$TMP/err" | grep -oE "[ ,]$1( +[-+*0-9.]+)* +[0-9]+ of [0-9]+" |
		awk '{n++; ok = 2 * $(NF - 2) > $NF} END {exit !(n && ok)}' ||
		{ grep -A2 executed: "$TMP/err"; return 1; }
}

# --- a library ---
call='fired_by: {call: add_text, arguments: [64, "hello", {buffer: 64}, 0.5]}'
scenario "name: entry, program: on_call, binary: $TMP/lib.so, function: add_text, $call" \
	"name: return, program: on_return, binary: $TMP/lib.so, function: add_text, $call" \
	"name: crash, program: on_work, binary: $TMP/lib.so, function: crashes, fired_by: {call: crashes}" \
	"name: nobody, program: on_work, binary: $TMP/lib.so, function: add_text, fired_by: {call: add_txt}" \
	"name: typo, program: on_work, binary: $TMP/lib.so, function: add_txt, fired_by: {call: add_text}"
expect_status "a library: exit code 0" 0
"$BPFBENCH" show latest --results "$results" --details >>"$TMP/err"
check "a library's function: a figure" figure entry
check "a library's function is called with the arguments, not by root" most_of entry
check "a library's return: a figure" figure return
check "a library's return: all arguments were there" most_of return
expect_grep "a library's function: who fired it" err "^    entry: call \(function $TMP/lib.so:add_text\)"
expect_grep "a function that crashes is named" err "skipped: f/crash/step: .*calling 'crashes' was killed by signal 6 \(Aborted\)"
expect_grep "a call of no function is named" err "skipped: f/nobody/step: .*/f.yml:9:[0-9]+: 'add_txt' of .* cannot be called: .*undefined symbol"
expect_grep "a function that there is not: the nearest" err "skipped: f/typo/step: .*/f.yml:10:[0-9]+: .* has no function 'add_txt'; did you mean 'add_text'"

# --- a program, and a process ---
"${user[@]}" "$TMP/loop" loop &
looping=$!
runs_loop() { [[ $(readlink "/proc/$looping/exe") == "$TMP/loop" ]]; }
wait_until 10 runs_loop || true
scenario "name: run, program: on_work, binary: $TMP/prog, function: work, fired_by: {run: [$TMP/prog]}" \
	"name: process, program: on_work, binary: $TMP/loop, function: work, pid: $looping" \
	"name: stripped, program: on_work, binary: $TMP/stripped, function: work, fired_by: {run: [$TMP/stripped]}" \
	"name: elsewhere, program: on_work, binary: $TMP/prog, function: work, fired_by: {run: [/bin/true]}" \
	"name: acts, binary: $TMP/prog, function: work, fired_by: {run: [$TMP/prog]}" \
	"name: named, program: on_work, binary: libc.so.6, function: malloc, fired_by: malloc" \
	"name: other, program: on_work, binary: libc.so.6, function: malloc, fired_by: malocc" \
	"name: no_library, program: on_work, binary: $TMP/prog, function: work, fired_by: {call: work}"
end_processes "$looping"
expect_status "a program: exit code 0" 0
check "a program's function: a figure" figure run
check "a process that is there: a figure" figure process
"$BPFBENCH" show latest --results "$results" --details >>"$TMP/err"
expect_grep "a process that is there: who fired it" err "^    process: wait \(function $TMP/loop:work\)"
check "a trigger by its name: a figure" figure named
expect_grep "a trigger that there is not: the nearest" err "skipped: f/other/step: .*/f.yml:12:84: there is no trigger 'malocc' \(did you mean 'malloc'\?\)"
expect_grep "a stripped program" err "skipped: f/stripped/step: .* has no function 'work' \(it is stripped"
expect_grep "a command that does not call it" err "skipped: f/elsewhere/step: .*/f.yml:9:[0-9]+: .* the command '/bin/true' does not make it run"
expect_grep "a program that acts, on a file that anybody may run" err 'skipped: f/acts/step: .*--allow-system-wide'
expect_grep "a program is no library" err "skipped: f/no_library/step: .*/f.yml:13:[0-9]+: 'work' of .* cannot be called: .*(executable|dynamically load)"
scenario "name: gone, program: on_work, binary: $TMP/loop, function: work, pid: $looping"
expect_grep "a process that has ended" err 'No such process'

# --- an object whose sections name something that does not exist: no other event replaces it ---
real --object "$O/tests/bpf/no_place.bpf.o" --loads 1 --samples 20
expect_status "sections that name nothing: exit code 4" 4
expect_grep "no such file" err "skipped no_place/on_file/step: function /no_such_folder/tool:work: .*No such file.*keys 'binary' and 'function'"
expect_grep "no such function" err "skipped no_place/on_symbol/step: function .* has no function 'mallocc'.*did you mean 'malloc'"
expect_grep "no such library" err "skipped no_place/on_probe/step: libbb_nowhere.so: it is in no folder of libraries"

# --- keys that are incomplete or contradict each other ---
for bad in "binary: x" "function: x" "pid: 5, fired_by: open" "fired_by: {call: x, run: [y]}" "fired_by: {run: [y], arguments: [1]}"; do
	scenario "name: on_work, $bad"
	expect_status "$bad: exit code 1" 1
	expect_grep "$bad: where" err 'f.yml:6:'
done
expect_eq "no process is left" "$(pgrep -x call_function || true)" ""
scenario "name: on_work, binary: libc.so.6, function: malloc"
nothing_left "functions" 1
plan_done
