#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The layout of C files: clang-format 14 changes nothing, and no line is longer than 100 columns.
# shellcheck source=harness/tests/lib.sh
. "$(dirname "$0")/../lib.sh"

mapfile -t files < <(find bpf harness -name '*.[ch]' | sort)

# long_lines FILE...: prints "FILE:LINE: COLUMNS" for each line that is too long. A tab has 8 columns, a character of UTF-8 one.
long_lines() {
	local file

	for file; do
		LC_ALL=C sed 's/[\x80-\xbf]//g' "$file" | LC_ALL=C expand | LC_ALL=C awk -v file="$file" 'length > 100 { print file ":" NR ": " length " columns" }'
	done
}
expect_eq "no line of the ${#files[@]} files of C is over 100 columns" "$(long_lines "${files[@]}")" ""

# Other versions of clang-format break lines at other places.
name="clang-format 14 finds nothing to change"
if format=$(command -v clang-format-14 || command -v clang-format) && "$format" --version | grep -q ' version 14\.'; then
	check "$name" "$format" --dry-run --Werror "${files[@]}"
else
	skip "$name" "no clang-format 14 here"
fi
plan_done
