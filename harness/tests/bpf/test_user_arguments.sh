#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions in user space that no trigger calls: bpfbench makes a call of its own, with arguments of
# the types in the function's prototype.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

names=("triggers" "a measurement" "no debugging information" "a damaged file")
need_root "${names[@]}" && need_command gcc "${names[@]}" && need_command objcopy "${names[@]}" && need_uprobes "${names[@]}" || plan_done
object=$O/tests/bpf/user_arguments.bpf.o PATH=$TMP/bin:$PATH
mkdir "$TMP/bin"
cat >"$TMP/greets.c" <<-'C'
	#include <string.h>
	struct options { const char *name; };
	__attribute__((noinline)) int greet(const char *name, double unused, int times, struct options *options)
	{
		return (int)strlen(name) * times + (unused > 0) + (options != NULL);
	}
	__attribute__((noinline)) const char *name_of(struct options *options)
	{
		return options->name;
	}
	int main(int argc, char **argv)
	{
		struct options o = {argv[0]};

		return argc > 9 ? greet(name_of(&o), 1.0, argc, &o) : 0;
	}
	C
gcc -g -O1 -o "$TMP/bin/bb_greets" "$TMP/greets.c" || { not_ok "gcc builds a program"; plan_done; }
real() { run "$BPFBENCH" --object "$object" --drive step --loads 1 -n 40 --no-store --format details; }

run "$BPFBENCH" triggers "$object"
expect_status "triggers: exit code" 0
expect_grep "triggers: parameters, each by its type" out "^  \* own-call +arguments made: text, float, integer, page of pointers\$"
expect_grep "triggers: a result" out "^  \* own-call +arguments made: page of pointers; returns text\$"
expect_grep "triggers: a function that there is not" out "has no function 'grete'; did you mean 'greet'"
real
expect_status "a measurement: exit code" 0
expect_grep "a measurement: the same is said" out "^    on_greet: own-call .*arguments made: text, float, integer, page of pointers\)"
expect_grep "a measurement: no set of equal values executes all" out "[ ,]on_greet( +[-+*0-9.]+)* +([0-9]+) of \\2\\b"
expect_grep "a measurement: a result" out "[ ,]on_name( +[-+*0-9.]+)* +([0-9]+) of \\2\\b"

# If the types cannot be read, the function still gets a call of ours.
objcopy --remove-section .debug_info "$TMP/bin/bb_greets"
run "$BPFBENCH" triggers --program on_greet "$object"
expect_grep "no debugging information: integers, as before" out "^  \* own-call +arguments made: integers\$"
gcc -g -O1 -o "$TMP/bin/bb_greets" "$TMP/greets.c"
head -c 4000 /dev/zero | tr "\0" "\377" >"$TMP/ones"
objcopy --update-section .debug_abbrev="$TMP/ones" "$TMP/bin/bb_greets"
run "$BPFBENCH" triggers --program on_greet "$object"
expect_grep "no debugging information: damaged, likewise" out "^  \* own-call +arguments made: integers\$"

# If a file of the user's cannot be read, there is no call of ours in its place.
head -c 5000 "$TMP/bin/bb_greets" >"$TMP/cut" && cp "$TMP/cut" "$TMP/bin/bb_greets"
run "$BPFBENCH" triggers --program on_greet "$object"
expect_no_grep "a damaged file: no call of ours in its place" out "own-call"
expect_grep "a damaged file: it is named" out "bb_greets:greet: $TMP/bin/bb_greets"
real
expect_grep "a damaged file: a measurement names it, too" err "skipped user_arguments/on_greet/step: .*$TMP/bin/bb_greets"
plan_done
