#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: ci/compile-commands.sh COMMAND FILE... [-- COMMAND FILE...]...
# Prints a compilation database (clang's compile_commands.json): each FILE is compiled in this folder by the COMMAND in front of it.
# Called by `make compile_commands.json`.
set -euo pipefail

# in_json TEXT: prints the text, escaped for a JSON string.
in_json() {
	local text=${1//\\/\\\\}

	printf '%s' "${text//\"/\\\"}"
}

dir=$(in_json "$PWD") comma='' command=''
echo '['
for word; do
	if [[ $word == -- ]]; then
		command=''
	elif [[ ! $command ]]; then
		command=$(in_json "$word")
	else
		printf '%s{"directory": "%s", "file": "%s", "command": "%s -c %s"}' "$comma" "$dir" "$word" "$command" "$word"
		comma=$',\n'
	fi
done
printf '\n]\n'
