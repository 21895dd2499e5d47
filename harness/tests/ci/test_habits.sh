#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Promises of CONTRIBUTING.md: when warnings are errors, the files for editors, and the length of the first lines of commits.
# shellcheck source=harness/tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# --- warnings are errors in CI only: a copy of the Makefile compiles a source with an unused variable ---
tree=$TMP/tree
mkdir -p "$tree/harness/base"
cp Makefile "$tree/"
printf 'int bb_unused(void);\nint bb_unused(void)\n{\n\tint unused;\n\n\treturn 0;\n}\n' >"$tree/harness/base/unused.c"
# build ARG...: compiles that source.
build() { run env -u MAKEFLAGS -u MAKELEVEL -u WERROR make -C "$tree" O=build "$@" build/obj/base/unused.o; }
build
expect_status "a warning does not stop a user's build" 0
expect_grep "it is shown" err 'unused variable'
build WERROR=1
expect_status "WERROR=1 makes it an error" 2
# shellcheck disable=SC2016 # words of a script
expect_eq "CI sets it for each of its machines" "$(grep -cE '^(bench|sanitized)=.*WERROR=1' .ci/run)" 2

# --- compile_commands.json ---
cp -R ci "$tree/"
mkdir -p "$tree/bpf"
echo 'int none;' >"$tree/bpf/none.bpf.c"
run env -u MAKEFLAGS -u MAKELEVEL -u WERROR make -C "$tree" O=build compile_commands.json
expect_status "make compile_commands.json" 0
if need_command jq "an entry a file" "a command that compiles" "a quote of the command is kept"; then
	database=$tree/compile_commands.json
	expect_eq "an entry a file" "$(jq -r '.[].file' "$database" | tr '\n' ' ')" "harness/main.c harness/base/unused.c bpf/none.bpf.c "
	command=$(jq -r '.[] | select(.file == "harness/base/unused.c") | .command' "$database")
	check "a command that compiles" sh -c "cd '$tree' && $command -o unused.o"
	expect_eq "a quote of the command is kept" "$(grep -oE "BB_VERSION='.*[0-9]\"'" <<<"$command" | cut -c1-13)" "BB_VERSION='\""
fi
expect_eq "it is not committed" "$(git ls-files compile_commands.json 2>/dev/null)" ""

# --- .editorconfig agrees with the files ---
# indented_by PATTERN FILE...: prints the files that have a line matching PATTERN.
indented_by() { local pattern=$1; shift; grep -lE "$pattern" "$@" || true; }
mapfile -t sources < <(find bpf harness ci plots -name '*.sh' -o -name '*.[ch]' -not -path '*/golden/*'; echo Makefile; echo .ci/run)
mapfile -t yamls < <(find scenarios ci -name '*.yml')
expect_eq "C and scripts are indented by tabs" "$(indented_by '^ {8}[^ *]' "${sources[@]}" | grep -v '\.sh$' || true)" ""
expect_eq "YAML by spaces" "$(indented_by '^ *'$'\t' "${yamls[@]}")" ""
expect_eq "no line ends in blanks" "$(indented_by '[ '$'\t'']$' "${sources[@]}" "${yamls[@]}")" ""
for key in indent_style=tab indent_size=8 indent_style=space indent_size=2 end_of_line=lf; do
	check ".editorconfig has $key" grep -qxF "${key/=/ = }" .editorconfig
done

# --- first lines of the commits after the one that added CONTRIBUTING.md ---
name="first lines of commits have at most 72 characters"
if since=$(git log --diff-filter=A --format=%H -- CONTRIBUTING.md 2>/dev/null) && [[ $since ]]; then
	expect_eq "$name" "$(git log --no-merges --format=%s "${since##*$'\n'}.." | awk 'length > 72')" ""
else
	skip "$name" "no history here"
fi
plan_done
