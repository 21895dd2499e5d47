#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Rules of the source tree: layers include only lower layers, only one file turns text into numbers, only cli/ prints, and the like.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
# shellcheck source=harness/tests/lib.sh
. harness/tests/lib.sh

# layer DIR ALLOWED...: harness/DIR includes only from these folders of harness/; DIR itself must be among them.
layer() {
	local dir=$1 found allowed

	shift
	allowed=$(printf '%s\n' "$@")
	found=$(sed -nE 's,^#include "([a-z]+)/.*,\1,p' harness/"$dir"/*.[ch] | sort -u | grep -vxF "$allowed" || true)
	if [[ -z $found ]]; then
		ok "$dir/ includes from its own layer and below only"
	else
		not_ok "$dir/ includes from its own layer and below only" "it includes from: ${found//$'\n'/ }"
	fi
}

# absent NAME PATTERN FILE...: no line of the files matches the pattern.
absent() {
	local name=$1 pattern=$2 found

	shift 2
	found=$(grep -nE "$pattern" "$@" || true)
	if [[ -z $found ]]; then ok "$name"; else not_ok "$name" "$found"; fi
}

layer base base
layer core base core
layer stats base core stats
layer plan base core plan
layer env base env
layer workloads base core workloads
layer capture base capture
layer bpf base core plan capture bpf
layer profile base core bpf profile
layer exact base core plan bpf exact
layer inside base core plan bpf capture exact inside
layer lines base core plan bpf exact lines
layer fire base core plan bpf fire
layer drivers base core stats plan bpf profile exact lines fire workloads drivers
layer report base core stats env report
layer store base core stats env report store
layer judge base core stats env report store judge
layer export base core stats env report store judge export
layer html base core stats env report store judge export html
layer vm base bpf vm
layer run base core stats plan env capture bpf profile exact lines inside fire drivers report store judge run

absent 'only what loads or watches programs knows of libbpf' '#include <bpf/' \
	harness/{base,core,stats,plan,report,store,judge,export,html}/*.[ch]
mapfile -t sources < <(find harness -name '*.[ch]' -not -path '*/tests/*' -not -path 'harness/base/parse.c')
absent 'text becomes numbers in base/parse.c only' '[^_a-z](atoi|atol|atof|strto(l|ul|ll|ull|d|f)|sscanf)\(' "${sources[@]}"
mapfile -t quiet < <(find harness -name '*.c' -not -path '*/tests/*' -not -path 'harness/cli/*' -not -name 'main.c' \
	-not -name '*_main.c')
absent 'only cli/ and main.c print or exit' '(^|[^_a-z])(printf|puts|perror|exit)\(|fprintf\(std|fputs\([^)]*, std' \
	"${quiet[@]}"
mapfile -t others < <(printf '%s\n' "${sources[@]}" | grep -E '\.c$' | grep -vE '^harness/(base/child|fire/triggers_process)\.c$')
absent 'only base/child.c makes processes, and triggers whose event that is' \
	'(^|[^_a-z])(v?fork|clone|popen|system|daemon|posix_spawnp?)\(|SYS_(clone|v?fork)' "${others[@]}"
found=$(grep -hoE '^(struct|enum|union) bb_[a-z0-9_]+ \{' harness/*/*.[ch] | sort | uniq -d)
expect_eq 'no tag has two definitions' "$found" ''
found=$(grep -nE '^#define [A-Z]|^\t[A-Z][A-Z0-9_]+( = [^,]*)?,( |$)' harness/[!t]*/*.h bpf/*.h | grep -vE '(define |\t)_?BB_' || true)
expect_eq 'names in headers begin with BB_' "$found" ''
# A command of a documentation page may have written an empty file by mistake. Without git, as in an unpacked archive, this finds nothing.
found=$({ git ls-files 2>/dev/null || true; } | while read -r file; do [[ ! -f $file || -s $file ]] || echo "$file"; done)
expect_eq 'no file of the tree is empty' "$found" ''
if command -v nm >/dev/null; then
	found=$(nm --defined-only --extern-only "$O/libbpfbench.a" | awk 'NF == 3 && $3 !~ /^(bb_|__|DW\.)/ { print $3 }')
	if [[ -z $found ]]; then ok 'external names begin with bb_'; else not_ok 'external names begin with bb_' "$found"; fi
else
	skip 'external names begin with bb_' 'there is no nm (binutils)'
fi
plan_done
