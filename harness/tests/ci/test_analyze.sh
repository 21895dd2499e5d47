#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slow: it compiles all code once more, which takes two minutes
# gcc -fanalyzer, with the checks of `make analyze`, finds nothing in the code, and finds the error in a function that frees twice.
# shellcheck source=harness/tests/lib.sh
. "$(dirname "$0")/../lib.sh"

if [[ $(gcc -dumpversion 2>/dev/null) != 12* ]]; then
	skip "gcc -fanalyzer finds nothing" "no gcc 12 here, and others have other opinions"
	plan_done
	exit
fi
analyze() { run env -u MAKEFLAGS -u MAKELEVEL make "$@" O="$TMP/o" CC=gcc analyze; }
mkdir -p "$TMP/tree/harness/base"
cp Makefile "$TMP/tree/"
printf '%s\n' '#include <stdlib.h>' 'void bb_twice(void *p);' 'void bb_twice(void *p)' '{' '	free(p);' '	free(p);' '}' >"$TMP/tree/harness/base/twice.c"
analyze -C "$TMP/tree"
expect_grep "it finds what is freed twice" err 'double-.free.'
analyze
expect_status "gcc -fanalyzer finds nothing" 0
plan_done
