#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The test runner itself, harness/tests/run.sh, on a small tree of fake programs: no failure of any kind may count as passed.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

tree=$TMP/tree
runner() { run env BB_TEST_ROOT="$tree" O=build "$@"; }

# Makes an empty tree.
new_tree() { rm -rf "$tree"; mkdir -p "$tree/harness/tests/unit/base" "$tree/harness/tests/cli" "$tree/build/tests"; }

# unit NAME, script NAME: make a unit test or a shell test from the program on stdin.
unit() {
	touch "$tree/harness/tests/unit/base/test_$1.c"
	{ echo '#!/usr/bin/env bash'; cat; } >"$tree/build/tests/test_$1"
	chmod +x "$tree/build/tests/test_$1"
}
script() {
	{ echo '#!/usr/bin/env bash'; cat; } >"$tree/harness/tests/cli/test_$1.sh"
	chmod +x "$tree/harness/tests/cli/test_$1.sh"
}

# totals NAME CODE LINE: the last run ended with this exit code, and its last line is this.
totals() { expect_eq "$1" "$status: $(tail -n 1 "$TMP/out")" "$2: $3"; }

all=harness/tests/run.sh

new_tree
runner $all
totals "nothing to run is a failure" 1 "0 passed, 0 failed, 0 skipped"

# TAP in the form of cmocka 1.1.5 (two groups in one program), and in that of cmocka 1.1.7 and the standard.
unit cmocka <<'EOF'
[[ $CMOCKA_MESSAGE_OUTPUT == TAP ]] || exit 9
printf '1..3\nok 1 - a\n# skip: no BTF here\nnot ok 2 # SKIP b\nok 3 - c\n# ok - tests\n1..1\nok 1 - d\n'
EOF
script tap <<'EOF'
printf 'ok 1 - x\nok 2 - y # SKIP needs root\nok 3 # SKIP z\n1..3\n'
EOF
runner $all
totals "passes and skips are counted" 0 "4 passed, 0 failed, 3 skipped"
expect_grep "a skip of cmocka has its name and the reason given before it" out '^  unit/test_cmocka: b - no BTF here$'
expect_grep "a skip of TAP has its name and reason" out '^  cli/test_tap: y - needs root$'
expect_grep "a skip without a reason says so" out '^  cli/test_tap: z - no reason given$'

runner $all nothing-like-it
expect_status "a name that matches nothing is a usage error" 2
runner $all cli/
totals "names choose" 0 "1 passed, 0 failed, 2 skipped"
for name in unit/base/ unit/base/test_c unit/test_cmocka; do
	runner $all $name
	totals "$name chooses a unit test" 0 "3 passed, 0 failed, 1 skipped"
done
runner $all unit/core/
expect_status "a folder of unit tests without any is a usage error" 2
runner $all --frobnicate
expect_status "an unknown option is a usage error" 2

new_tree
unit quick <<<"printf '1..1\\nok 1 - q\\n'"
unit long <<<"printf '1..1\\nok 1 - l\\n'"
echo '/* slow: a million rounds */' >"$tree/harness/tests/unit/base/test_long.c"
script long <<<"# slow: a build of its own
printf '1..2\\nok 1 - l\\nok 2 - m\\n'"
runner $all
totals "slow ones run" 0 "4 passed, 0 failed, 0 skipped"
runner $all --fast
totals "--fast leaves them out" 0 "1 passed, 0 failed, 0 skipped"
expect_grep "--fast says which" out '^left out as slow, make test-all runs them: unit/test_long cli/test_long$'
runner $all --without unit/
totals "--without leaves out by name" 0 "2 passed, 0 failed, 0 skipped"
runner $all --without unit/ --without cli/test_l
totals "--without twice, and nothing is left: a failure" 1 "0 passed, 0 failed, 0 skipped"
runner $all --without
expect_status "--without needs a name" 2

new_tree
script skips <<'EOF'
printf 'ok 1 - y # SKIP needs root\n1..1\n'
EOF
runner $all
totals "skips alone are no success" 1 "0 passed, 0 failed, 1 skipped"

# one unit|script: runs a tree with a good program and a bad one, which is on stdin.
one() { new_tree; unit good <<<"printf '1..1\nok 1 - g\n'"; "$1" bad; runner $all; }

one unit <<'EOF'
printf '1..2\nok 1 - a\nnot ok 2 - b\n# 0x1 != 0x2\n'; echo to stderr >&2; exit 1
EOF
totals "a failed test is one failure" 1 "2 passed, 1 failed, 0 skipped"
expect_grep "a failed test is named" out 'failed: b$'
expect_grep "its details are shown" out '# 0x1 != 0x2$'
expect_grep "its stderr is shown" out 'to stderr$'
expect_eq "all of it stands once more before the sum" "$(sed -n '/^failed:$/,$p' "$TMP/out" | grep -cE 'unit/test_bad$|failed: b$|to stderr$')" 3
# shellcheck disable=SC2016 # the fake's own
one unit <<<'printf "1..2\nok 1 - a\n"; kill -SEGV $$'
totals "a crash midway is a failure" 1 "2 passed, 1 failed, 0 skipped"
expect_grep "a crash says by which signal" out 'killed by SIGSEGV'
expect_grep "a crash says what is missing" out 'planned 2 tests, saw 1$'
one unit <<<'printf "1..1\nok 1 - a\n"; exit 3'
totals "a non-zero exit after all passed is a failure" 1 "2 passed, 1 failed, 0 skipped"
expect_grep "a non-zero exit is told" out 'exit code 3$'
one unit <<<'exit 0'
totals "silence is a failure" 1 "1 passed, 1 failed, 0 skipped"
one script <<<'echo "ok 1 - a"'
totals "no plan is a failure" 1 "2 passed, 1 failed, 0 skipped"
one script <<<'printf "ok 1 - a\nok 2 - b\n1..1\n"'
totals "more results than planned is a failure" 1 "3 passed, 1 failed, 0 skipped"
new_tree
unit good <<<"printf '1..1\nok 1 - g\n'"
script slow <<<'sleep 30'
runner BB_TEST_TIMEOUT=3 $all
totals "a program that hangs is a failure" 1 "1 passed, 1 failed, 0 skipped"
expect_grep "a program that hangs is told" out 'timed out after 3 s'
one script <<<'printf "ok 1 - a\n1..1\n"'
chmod -x "$tree/harness/tests/cli/test_bad.sh"
rm "$tree/build/tests/test_good"
runner $all
totals "what cannot be run is a failure" 1 "0 passed, 2 failed, 0 skipped"
expect_grep "a script that is not executable is told" out 'cli/test_bad .*not executable'
expect_grep "a program that was not built is told" out 'unit/test_good .*not built'

# --- a second try ---
new_tree
unit good <<<"printf '1..1\nok 1 - g\n'"
script once <<<'printf "1..2\nok 1 - x # SKIP why\n"; mkdir "$BB_TEST_ROOT/tried" 2>/dev/null && { echo "not ok 2 - once"; exit 1; }; echo "ok 2 - once"'
script never <<<"printf '1..1\nnot ok 1 - never\n'"
runner $all
totals "without --second-try, what fails once is a failure" 1 "1 passed, 2 failed, 1 skipped"
rmdir "$tree/tried"
runner $all --second-try
totals "with it, the second result counts" 1 "2 passed, 1 failed, 1 skipped"
expect_eq "what failed once is listed" "$(sed -n '/^failed at the first try:$/,/^failed:$/p' "$TMP/out" | grep -oE 'failed: (once|never)$' | sort | tr '\n' ' ')" \
	"failed: never failed: once "
expect_eq "what failed twice, too" "$(sed -n '/^failed:$/,$p' "$TMP/out" | grep -oE 'failed: (once|never)$')" "failed: never"
expect_eq "a skip is listed once" "$(grep -c '^  cli/test_once: x - why$' "$TMP/out")" 1
rmdir "$tree/tried"
for i in 2 3; do cp "$tree/harness/tests/cli/test_never.sh" "$tree/harness/tests/cli/test_never$i.sh"; done
runner $all --second-try
totals "where more than three fail, no neighbour is to blame" 1 "1 passed, 4 failed, 1 skipped"

# --- privileged tests take turns ---
if need_root "a privileged test waits for its turn" "others run meanwhile"; then
	new_tree
	mkdir "$tree/harness/tests/bpf"
	script free <<<"printf '1..1\\nok 1 - a\\n'"
	mv "$tree/harness/tests/cli/test_free.sh" "$tree/harness/tests/bpf/test_turn.sh"
	script free <<<"printf '1..1\\nok 1 - a\\n'"
	script without <<<"# no turn: it times nothing
printf '1..1\\nok 1 - a\\n'"
	mv "$tree/harness/tests/cli/test_without.sh" "$tree/harness/tests/bpf/test_without.sh"
	script marked <<<"# turn: it is told to
printf '1..1\\nok 1 - a\\n'"
	exec 8<"$tree"
	flock 8
	start env BB_TEST_ROOT="$tree" O=build $all
	check "others run meanwhile" wait_until 10 grep -q '^ok .*cli/test_free' "$TMP/out"
	check "one that is marked to take none does, too" wait_until 10 grep -q '^ok .*bpf/test_without' "$TMP/out"
	sleep 0.5
	stop_child TERM
	expect_no_grep "a privileged test waits for its turn" out 'bpf/test_turn'
	expect_no_grep "one that is marked does, too" out 'cli/test_marked'
	runner $all cli/test_free
	totals "others alone do not wait" 0 "1 passed, 0 failed, 0 skipped"
	exec 8<&-
	script bad <<<"printf '1..1\\nnot ok 1 - a\\n'"
	for how in '' --together; do
		runner $all $how
		totals "both kinds${how:+ $how}" 1 "4 passed, 1 failed, 0 skipped"
		expect_eq "each once${how:+ $how}" "$(grep -cE '^(ok|FAIL) ' "$TMP/out")" 5
	done
fi

# --- lib.sh, which all shell tests use: in a shell of its own, because plan_done exits ---
lib() { printf '. %q\n%s\nplan_done\n' "$ROOT/harness/tests/lib.sh" "$1" >"$TMP/lib-test"; run bash "$TMP/lib-test"; }
lib 'check "good" true; run sh -c "echo out; exit 4"; expect_status "four" 4; expect_grep "out" out ^out; skip s why'
expect_eq "lib: what holds" "$status $(tr '\n' ';' <"$TMP/out")" \
	"0 ok 1 - good;ok 2 - four;ok 3 - out;ok 4 - s # SKIP why;1..4;"
lib 'check "bad" false; run true; expect_status "zero is not one" 1; expect_grep "no" out x; expect_eq "eq" a b
run echo x; expect_empty "empty" out; expect_no_grep "no grep" out x'
expect_eq "lib: what does not hold" "$status $(grep -cE '^not ok' "$TMP/out") $(tail -n 1 "$TMP/out")" "1 6 1..6"
lib 'false; check "never reached" true'
expect_eq "lib: a command that fails ends the test without a plan" "$status $(wc -c <"$TMP/out")" "1 0"

plan_done
