#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# --help of every command: a short option means the same everywhere, each heading has options, each command has valid examples, and no
# option takes only one value.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

expect_eq "--help: no line is longer than 80 columns" "$("$BPFBENCH" --help | awk 'length > 80')" ""
commands=$("$BPFBENCH" --help | sed -n '/^Commands/,/^Options/s/^  \([a-z]*\) .*/\1/p')
check "some commands were seen" test "$(wc -w <<<"$commands")" -gt 10
for command in $commands; do
	run "$BPFBENCH" "$command" --help
	expect_status "$command: --help" 0
	sed -nE 's/^  (-[a-zA-Z]), (--[a-z-]+).*/\1 \2/p' "$TMP/out" >>"$TMP/short"
	# A heading begins with one blank and ends in a colon. An option must follow it, perhaps after an empty line.
	lonely=$(awk '/^ [^ ].*:$/ { heading = $0; next }
		heading != "" && /^$/ { next }
		heading != "" && !/^      ?--|^  -/ { print heading }
		{ heading = "" }' "$TMP/out")
	expect_eq "$command: every heading has options" "$lonely" ""
	expect_eq "$command: no line is longer than 80 columns" "$(awk 'length > 80' "$TMP/out")" ""
	# The examples come before the options. `bpfbench --OPTION` and `bpfbench -- COMMAND` are examples of run.
	sed -n '/^Examples:$/,/^$/p' "$TMP/out" | sed '1d;/^$/d' >"$TMP/examples"
	check "$command: its help has an example" test -s "$TMP/examples"
	check "$command: the examples stand before the options" test "$(sed -n '/^Examples:$/=' "$TMP/out")" -le 8
	[[ $command == run ]] && of=-+ || of=$command
	expect_eq "$command: the examples are of this command" "$(grep -vE "^  (sudo )?bpfbench $of" "$TMP/examples" || true)" ""
	expect_eq "$command: the options in them exist" "$(grep -oE -- '--[a-z][a-z-]+' "$TMP/examples" |
		while read -r option; do grep -qE "^ +(-., )?$option" "$TMP/out" || echo "$option"; done)" ""
done
check "some short options were seen" test "$(wc -l <"$TMP/short")" -gt 20
expect_eq "a short option is the same long one in every command" \
	"$(sort -u "$TMP/short" | awk '{ if (seen[$1]++) print $1 }')" ""

# Earlier names of options are accepted, but not shown.
run "$BPFBENCH" profile --duration x
expect_grep "profile: --duration is --seconds" err '--duration takes a number'
run "$BPFBENCH" history --metric latency
expect_status "history: an option that could take one value only is gone" 2
plan_done
