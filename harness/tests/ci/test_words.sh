#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The words that docs/glossary.md rules out ("Words that are not used") are used nowhere: neither in the prose of pages, comments, help
# and messages, nor as parts of identifiers.
# shellcheck source=harness/tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# spans COLUMN ROW: prints the texts in backquotes in a column of the table, one a line.
spans() { awk -F ' *[|] *' -v column="$1" '{ print $(column + 1) }' <<<"$2" | grep -oE '`[^`]+`' | tr -d '`' || true; }

# pattern_of WORDS: prints a regular expression for the words, to be used without regard to case. A blank also matches an underscore.
pattern_of() {
	local words

	words=$(sed -E 's/[.]/\\./g; s/ /[ _]/g' <<<"$1" | paste -sd '|')
	printf '(^|[^a-z])(%s)s?([^a-z]|$)' "$words"
}

# banned ROW FILE...: prints "FILE:LINE:TEXT" for each line that has a word of that row where the row does not allow it. The row's third
# column has allowed texts, and allowed paths, which end in / or .sh.
banned() {
	local pattern allowed

	pattern=$(pattern_of "$(spans 1 "$1")")
	allowed=$(spans 3 "$1")
	shift
	{ grep -HniE "$pattern" "$@" || true; } | PATTERN=$pattern ALLOWED=$allowed awk '
		BEGIN { n = split(ENVIRON["ALLOWED"], allowed, "\n"); pattern = ENVIRON["PATTERN"] }
		{
			text = tolower($0)
			sub(/^[^:]*:[0-9]*:/, "", text)
			for (i = 1; i <= n; i++) {
				if (allowed[i] ~ /(\/|\.sh)$/ && index($0, allowed[i]) == 1)
					next
				word = tolower(allowed[i])
				while (at = index(text, word))
					text = substr(text, 1, at - 1) "." substr(text, at + length(word))
			}
			if (text ~ pattern)
				print
		}'
}

table=$(sed -n '/^## Words that are not used$/,$p' docs/glossary.md | grep -E '^[|] `')
check "the glossary has such words" test "$(wc -l <<<"$table")" -ge 10

# A test of this test: banned() finds planted words, and not the allowed ones.
printf '%s\n' '/* One Bad Word here. */' 'int n_bad_words;' 'int bad_wordy, key_bad_word;' >"$TMP/plant.c"
# shellcheck disable=SC2016 # the glossary writes words so
row='| `bad word` | good one | `key_bad_word` |'
expect_eq "a word is found in prose and in identifiers, and not where it is allowed" \
	"$(banned "$row" "$TMP/plant.c" | sed -E 's/^[^:]*:([0-9]+):.*/\1/' | tr '\n' ' ')" "1 2 "

mapfile -t files < <(find harness bpf scenarios docs ci packaging plots README.md CONTRIBUTING.md Makefile .ci -type f \
	\( -name '*.[ch]' -o -name '*.sh' -o -name '*.md' -o -name '*.yml' -o -name '*.gp' -o -name '*.awk' -o -name '*.css' -o -name '*.js' \
	-o -name '*.html' -o -name '*.sql' -o -name Makefile -o -name run \) -not -path 'harness/tests/golden/*' -not -path docs/glossary.md)
while IFS= read -r row; do
	expect_eq "not used: $(spans 1 "$row" | paste -sd ',' | sed 's/,/, /g')" "$(banned "$row" "${files[@]}")" ""
done <<<"$table"
plan_done
