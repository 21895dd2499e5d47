#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `make install` without root. The installed bpfbench works from any folder; its manual page and its completion have all options.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check calls
. "$(dirname "$0")/../tool.sh"

need_built "installed" "the manual page" "completion" "removed" "flags" || plan_done
# as_built TARGET VARIABLE...: runs make without root, by `run`.
as_built() { run "${user[@]}" "${make_built[@]}" "$@"; }
files_of() { (cd -- "$1" && find . ! -type d | sort); }

# --- installed ---
before=$(stat -c %y bpfbench)
prefix=$WORK/usr
as_built install PREFIX="$prefix"
expect_status "make install needs no root below a folder of one's own" 0
expect_eq "make install builds nothing that is built" "$(stat -c %y bpfbench)" "$before"
as_built install DESTDIR="$WORK/staged" PREFIX=/opt
expect_eq "DESTDIR: the same files" "$(files_of "$WORK/staged/opt")" "$(files_of "$prefix")"
expect_eq "installed: every page, its folder too" "$(cd -- "$prefix/share/doc/bpfbench" && find docs -name '*.md' | sort)" "$(find docs -name '*.md' | sort)"
"${user[@]}" mkdir "$WORK/empty"
cd -- "$WORK/empty"
bpfbench() { run "${user[@]}" "$prefix/bin/bpfbench" "$@"; }
bpfbench list --scenarios
expect_eq "installed: the scenarios are found from any folder" "$(cat "$TMP/out")" \
	"$(cd "$ROOT/scenarios" && printf '%s\n' *.yml | sed 's/\.yml$//')"
mv "$prefix" "$WORK/moved"
prefix=$WORK/moved
bpfbench --scenario process_sample -V fixed --samples 20
expect_status "installed, moved: a scenario runs" 0
check "installed: its result is BMF" valid_bmf "$TMP/out"
check "installed: its run is stored in results/ here" only_whole "$WORK/empty/results" 1
bpfbench -s nosuch
complains "installed: says where it looked" 1 "no scenario 'nosuch' in $prefix/share/bpfbench/scenarios"
run cmp "$prefix/lib/bpfbench/workloads/amicable_pairs" "$O/workloads/amicable_pairs"
expect_status "installed: the workloads" 0
if command -v gnuplot >/dev/null; then
	run "${user[@]}" "$prefix/share/bpfbench/plots/plot.sh" "$ROOT/harness/tests/golden/run-depths.json"
	expect_grep "installed: plots go to plots/ here" out '^plots/ecdf-.*\.svg$'
else
	skip "installed: plots go to plots/ here" "no gnuplot here"
fi
mv "$prefix" "$WORK/usr"
prefix=$WORK/usr
cd -- "$ROOT"

# --- the manual page ---
page=$prefix/share/man/man1/bpfbench.1
commands=$("$BPFBENCH" --help | sed -n '/^Commands/,/^Options/s/^  \([a-z]*\) .*/\1/p')
# Prints every option of every command, as "command --option".
options() {
	local command

	for command in $commands; do
		"$BPFBENCH" "$command" --help | sed -nE "s/^  (    |-., )?(--[a-z-]+).*/$command \2/p" | grep -vE -- '--(help|usage)$' || true # none
	done
}
options >"$TMP/options"
sed -e 's/\\-/-/g' -e 's/\\fR//g' "$page" | sed -nE -e 's/^\.SS "(.*)"$/= \1/p' -e 's/^\\fB(-., )?(--[a-z-]+).*/\2/p' |
	awk '$1 == "=" { command = $2; next } command { print command, $1 }' >"$TMP/in-page"
check "man: some options were seen" test "$(wc -l <"$TMP/options")" -gt 50
expect_eq "man: exactly the options of --help" "$(cat "$TMP/in-page")" "$(cat "$TMP/options")"
if need_command man "man: groff has nothing to say" "man: what people see"; then
	MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" >/dev/null 2>"$TMP/warnings"
	expect_eq "man: groff has nothing to say" "$(cat "$TMP/warnings")" ""
	MANWIDTH=80 run man -E ascii -l "$page"
	expect_grep "man: what people see" out '^ +-s, --scenario=NAME$'
fi

# --- completion ---
# complete_words WORD...: prints what completion offers for the last word, one a line. As bash does, pass "=" as a word of its own.
# shellcheck disable=SC1091 # just installed
complete_words() {
	(
		. "$prefix/share/bash-completion/completions/bpfbench"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		_bpfbench
		((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
	)
}
bin=$prefix/bin/bpfbench
scenarios=$("$BPFBENCH" list --scenarios)
formats=$("$BPFBENCH" show --help | sed -n '/^Formats:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
expect_eq "completion: the commands" "$(complete_words "$bin" '')" "$commands"
expect_eq "completion: a command" "$(complete_words "$bin" sel)" selftest
for command in $commands; do
	expect_eq "completion: the options of $command" "$(complete_words "$bin" "$command" -- | grep -vE '^--(help|usage)$')" \
		"$(sed -n "s/^$command //p" "$TMP/options")"
done
expect_eq "completion: without a command: those of run" "$(complete_words "$bin" --samp)" --samples
expect_eq "completion: the scenarios" "$(complete_words "$bin" --scenario '')" "$scenarios"
expect_eq "completion: -s" "$(complete_words "$bin" compare -s perf)" perf_profiler
expect_eq "completion: --scenario=" "$(complete_words "$bin" --scenario =)" "$scenarios"
expect_eq "completion: the formats" "$(complete_words "$bin" show --format = '')" "$formats"
expect_eq "completion: a format" "$(complete_words "$bin" run -f bm)" bmf
expect_eq "completion: folders" "$(complete_words "$bin" show --results "$prefix/sh")" "$prefix/share"
expect_eq "completion: files are left to bash" "$(complete_words "$bin" show -o sc)" ""
id=$("$BPFBENCH" list --runs --results "$WORK/empty/results")
expect_eq "completion: stored runs" "$(complete_words "$bin" show --results "$WORK/empty/results" '')" "latest"$'\n'"$id"
expect_eq "completion: stored runs, --results=" "$(complete_words "$bin" compare --results = "$WORK/empty/results" "${id%????}")" "$id"
expect_eq "completion: a program that is not there: nothing" "$(complete_words "$WORK/nowhere" show -- 2>&1)" ""
expect_eq "completion: bash knows the function" \
	"$(bash --norc -c '. "$1" && complete -p bpfbench' _ "$prefix/share/bash-completion/completions/bpfbench")" \
	"complete -o default -F _bpfbench bpfbench"

# --- removed ---
"${user[@]}" touch "$prefix/bin/other"
as_built uninstall PREFIX="$prefix"
expect_eq "make uninstall leaves what is not ours" "$(files_of "$prefix")" "./bin/other"

# --- flags ---
as_built "$WORK/o/flags" "O=$WORK/o" CFLAGS=-O1
as_built "$WORK/o/flags" "O=$WORK/o" CFLAGS=-O3
check "make: other flags are seen" grep -q -- ' -O3 ' "$WORK/o/flags"

plan_done
