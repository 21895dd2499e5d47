#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The objects of Debian's xdp-tools and libxdp, which nobody here wrote, measured as root without a scenario.
#
# slow: a dozen objects are loaded and measured.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check and run call
. "$(dirname "$0")/../tool.sh"

need_root "objects of others" && need_exact_faults "objects of others" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# forgotten FILE: the cases of a dry run that were neither measured nor skipped, by themselves or
# with their whole drive.
forgotten() {
	local case

	"$BPFBENCH" --object "$1" --dry-run | sed -nE 's,^  ([^ ]*/[^ ]*) .*,\1,p' | while read -r case; do
		grep -qF "\"$case\"" "$TMP/out" || grep -qF -e "skipped: $case" -e "skipped: ${case%%/*}/${case##*/}: " "$TMP/err" ||
			printf '%s ' "$case"
	done
}

shopt -s nullglob
files=(/usr/lib/*/bpf/*.o /usr/lib/bpf/*.o)
((${#files[@]})) || skip "objects of others" "no xdp-tools here"
for file in "${files[@]}"; do
	name=${file##*/}
	real --object "$file" --loads 1 --samples 24
	{ grep -oE '^  "[^"]*' "$TMP/out" || true; grep -E 'skipped|none of its' "$TMP/err" || true; } | sed 's/^/# /'
	case $status in
	4) expect_grep "objects of others: $name is refused by name" err '^(  |bpfbench: skipped )[^: ]*/[^: ]*: ' ;;
	1) if grep -q 'another process has bpf_stats on' "$TMP/err"; then
		skip "objects of others: $name" "another process has bpf_stats on, so that no slope counts"
		continue
	fi
	expect_grep "objects of others: $name is refused with the kernel's reason" err 'skipped .*: .*(verifier rejects|failed to find kernel BTF)' ;;
	*) expect_eq "objects of others: $name: every program is measured or skipped" "$status $(forgotten "$file")" "0 " ;;
	esac
done
rm -rf "$results"
nothing_left "objects of others" 0

plan_done
