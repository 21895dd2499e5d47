#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: ci/compile-commands.sh COMMAND FILE... [-- COMMAND FILE...]...
# Prints a compilation database (compile_commands.json of clang) in which each file is compiled in this folder by its command.
# `make compile_commands.json` calls it.
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
