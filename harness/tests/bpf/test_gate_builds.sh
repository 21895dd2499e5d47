#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What `bpfbench gate` has make build: only the objects of a scenario or of --object if make knows
# how to make them, and otherwise everything. Nothing is measured, as no program differs.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check calls
. "$(dirname "$0")/../tool.sh"

names=("gate: builds")
need_root "${names[@]}" || plan_done
for command in git make; do need_command "$command" "${names[@]}" || plan_done; done
# shellcheck source=harness/tests/gate_repo.sh
. "$(dirname "$0")/../gate_repo.sh"

repo=$WORK/repo made=$WORK/made
export TMPDIR=$WORK/tmp
mkdir "$TMPDIR"
make_repo "$repo" 1
cp="cp $O/tests/bpf/loop.bpf.o" # as a compiler would, in less time

# commit MAKEFILE: makes two commits with it. Its rules write what they make to $made.
commit() {
	printf '%s\n' "$1" >"$repo/Makefile"
	git -C "$repo" add -A
	git -C "$repo" commit -qm 'a makefile'
	git -C "$repo" commit -q --allow-empty -m 'another commit'
}
gate() {
	: >"$made"
	run env -C "$repo" "$BPFBENCH" gate --markdown - --base HEAD~1 "$@"
}
# scenario OBJECT
scenario() {
	printf "name: mine\nobject: '%s'\nvariants: [{name: steps, program: work}]\ndrive: [{with: step, trigger: test-run}]\n" "$1" >"$WORK/work.yml"
}
# builds NAME COMMANDS MADE: the build commands of both revisions, a line each, and what their rules
# made. The object is compared.
builds() {
	expect_status "gate: $1: it passes" 0
	expect_eq "gate: $1: the commands" "$(sed -nE 's/^bpfbench: building (base|head), .*\): (.*)$/\1: \2/p' "$TMP/err")" "$2"
	expect_eq "gate: $1: what they made" "$(tr '\n' ' ' <"$made")" "$3"
	expect_grep "gate: $1: the object is compared" out '^- .*prog.bpf.o.*: the same bytes in both, not measured$'
}
both() { printf 'base: %s\nhead: %s' "$1" "$1"; }
# reports NAME COMMAND: the report says of both revisions that COMMAND built them.
reports() { expect_eq "gate: $1: the report says it" "$(grep -cE "^- [AB]: (base|head): .*\), built by '$2'\$" "$TMP/out")" 2; }

# --- make knows how to make the object ---
object=build/bpf/prog.bpf.o
commit "all: $object program
build/bpf/%.bpf.o: %.bpf.c; mkdir -p build/bpf; $cp \$@; echo \$@ >>$made
program: ; echo \$@ >>$made"
scenario prog.bpf.o
gate --scenario "$WORK/work.yml"
builds "a scenario" "$(both "make $object")" "$object $object "
reports "a scenario" "make $object"
gate --object "$object"
builds "an object" "$(both "make $object")" "$object $object "
gate
builds "neither" "$(both make)" "$object program $object program "
expect_no_grep "gate: neither: the report does not say it" out 'built by'
gate --scenario "$WORK/work.yml" --build 'make all'
builds "a command is given" "$(both 'make all')" "$object program $object program "
echo new >"$repo/new.txt"
gate --scenario "$WORK/work.yml"
builds "uncommitted changes" "$(both "make $object")" "$object $object "
expect_grep "gate: uncommitted changes: they are in the tree" err '^bpfbench: building head, the work tree \([0-9a-f]+ and changes\): '
gate --base HEAD --head HEAD --scenario "$WORK/work.yml"
builds "one commit" "base: make $object" "$object "

# --- names ---
# shellcheck disable=SC2016 # they are to stay as they are
evil=('V=1' '-f x' '$(touch pwned)' '--eval=$(shell touch pwned)' ';touch pwned;')
printf 'name: mine\nvariants:\n' >"$WORK/evil.yml"
for i in "${!evil[@]}"; do printf "  - {name: v%d, program: work, object: '%s/prog.bpf.o'}\n" "$i" "${evil[i]}"; done >>"$WORK/evil.yml"
echo 'drive: [{with: step, trigger: test-run}]' >>"$WORK/evil.yml"
gate --scenario "$WORK/evil.yml"
builds "folders of odd names" "$(both "make $object")" "$object $object "
for name in "${evil[0]}" "${evil[3]}"; do
	scenario "$name.bpf.o"
	gate --scenario "$WORK/work.yml"
	expect_eq "gate: an object called $name.bpf.o is none that make knows" "$(tr '\n' ' ' <"$made")" "$object program $object program "
done
expect_eq "gate: no name is a command" "$(find "$WORK" -name pwned)" ""
commit "eq := =
all: V\$(eq)1/prog.bpf.o -f/prog.bpf.o
V\$(eq)1/prog.bpf.o -f/prog.bpf.o: ; mkdir -p -- \$(@D); $cp ./\$@; echo \$@ >>$made"
gate --object V=1/prog.bpf.o
builds "a target that make would take for a variable" "$(both make)" "V=1/prog.bpf.o -f/prog.bpf.o V=1/prog.bpf.o -f/prog.bpf.o "
gate --object -f/prog.bpf.o
builds "a target that make would take for an option" "$(both make)" "V=1/prog.bpf.o -f/prog.bpf.o V=1/prog.bpf.o -f/prog.bpf.o "

# --- make does not know how to make it, or not it alone ---
scenario prog.bpf.o
commit "all: one/prog.bpf.o two/prog.bpf.o
%/prog.bpf.o: ; mkdir -p \$(@D); $cp \$@; echo \$@ >>$made"
gate --object two/prog.bpf.o
builds "two of one name, and a path" "$(both 'make two/prog.bpf.o')" "two/prog.bpf.o two/prog.bpf.o "
gate --scenario "$WORK/work.yml"
expect_eq "gate: two of one name" "$(tr '\n' ' ' <"$made")" "one/prog.bpf.o two/prog.bpf.o one/prog.bpf.o two/prog.bpf.o "
commit "all: ; \$(MAKE) -f other.mk $object"
printf '%s\n' "$object: ; mkdir -p build/bpf; $cp \$@; echo \$@ >>$made" >"$repo/other.mk"
git -C "$repo" add -A
git -C "$repo" commit -qm 'a makefile of its own'
gate --base HEAD --head HEAD --scenario "$WORK/work.yml"
builds "a make that make starts" "base: make" "$object "
commit "all: prog.h prog.bpf.o
prog.h: ; touch \$@
prog.bpf.o: ; test -e prog.h && $cp \$@ && echo \$@ >>$made"
gate --scenario "$WORK/work.yml"
builds "a rule that counts on another" "$(printf '%s\n' 'base: make prog.bpf.o' 'base: make' 'head: make prog.bpf.o' 'head: make')" "prog.bpf.o prog.bpf.o "
expect_grep "gate: a rule that counts on another: said" err '^bpfbench: make cannot build these alone; so everything is built$'
expect_no_grep "gate: a rule that counts on another: not in the report" out 'built by'
commit "all: prog.bpf.o
prog.bpf.o: ; false"
gate --scenario "$WORK/work.yml"
expect_status "gate: an object that cannot be made: exit code 1" 1
expect_grep "gate: an object that cannot be made: it is that of the whole build" err '^bpfbench: base, HEAD~1 .* does not build: `make` ended with 2'
mkdir "$TMP/bin"
printf '#!/bin/sh\ncase $1 in -p*) exit 2;; esac\nexec %s "$@"\n' "$(type -P make)" >"$TMP/bin/make"
chmod 755 "$TMP/bin" "$TMP/bin/make"
commit "all: prog.bpf.o
prog.bpf.o: ; $cp \$@; echo \$@ >>$made"
PATH=$TMP/bin:$PATH gate --scenario "$WORK/work.yml"
builds "a make that does not tell its rules" "$(both make)" "prog.bpf.o prog.bpf.o "
plan_done
