#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slow: a program of thousands of calls is loaded many times
# The drive `lines` of a program that is too long for a jump out of each cut: it has fewer cuts, and
# still a table.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

names=("long: has a table")
need_root "${names[@]}" || plan_done
if ! command -v clang >"$TMP/clang"; then
	skip "${names[0]}" "clang is missing"
	plan_done
fi

awk 'BEGIN {
	print "#include \"bb_bpf.h\"\n__u64 sink;\nSEC(\"xdp\")\nint calls(struct xdp_md *ctx)\n{\n\t__u64 x = 0;"
	for (i = 0; i < 3500; i++) print "\tx += bpf_get_smp_processor_id();"
	print "\tsink = x;\n\treturn XDP_PASS;\n}"
}' >"$TMP/long.bpf.c"
clang -O2 -g -target bpf -Ibpf -idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$TMP/long.bpf.c" -o "$TMP/long.bpf.o"
run "$BPFBENCH" --object "$TMP/long.bpf.o" --program calls --lines --loads 1 --samples 40 --seed 1 --budget 300 --quiet --results "$WORK/results"
expect_status "long: succeeds" 0
run "$BPFBENCH" annotate --time --all --cases --results "$WORK/results"
expect_status "long: has a table" 0
check "long: of many rows" awk '/bpf_get_smp_processor_id(:|\(|$)/ { n++ } END { exit !(n > 100) }' "$TMP/out"
expect_no_grep "long: cuts are left out, not refused" out 'cuts are not allowed'
expect_grep "long: the table says so" out '^  cuts at [0-9]+ of [0-9]+ points, so some rows are several lines: .'
run "$BPFBENCH" show latest --format json --results "$WORK/results"
expect_grep "long: and the run that is stored" out '"thinned_why": ".'
plan_done
