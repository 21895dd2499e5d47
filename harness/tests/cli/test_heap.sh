#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bpfbench heap`: totals from DHAT's files, against those that valgrind prints of the same runs.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

run "$BPFBENCH" heap
expect_status "no file: usage" 2
run "$BPFBENCH" heap nofile
expect_status "a file without a name: usage" 2
expect_grep "a file without a name: said" err "'nofile' is not NAME=FILE"
run "$BPFBENCH" heap "a=$TMP/absent"
complains "a file that is not there" 1 'absent'
printf '{}' >"$TMP/other.json"
run "$BPFBENCH" heap "a=$TMP/other.json"
complains "a file of something else" 1 'other.json: not a file of valgrind --tool=dhat: dhatFileVersion is not 2'

mkdir "$TMP/none"
for tool in bash dirname sed; do ln -s "$(type -P "$tool")" "$TMP/none/$tool"; done
run env PATH="$TMP/none" ci/heap.sh
expect_status "without valgrind: failure" 1
expect_grep "without valgrind: what to install" err 'apt-get install valgrind'

if grep -qs -- -fsanitize=address "$O/flags"; then
	skip "ci/heap.sh" "valgrind cannot run what is built with AddressSanitizer"
elif need_command valgrind "ci/heap.sh"; then
	run env O="$O" HEAP="$TMP/heap" SAMPLES=2 ci/heap.sh
	expect_status "ci/heap.sh: succeeds" 0
	check "ci/heap.sh: stdout is strictly valid BMF" valid_bmf "$TMP/out"
	cp "$TMP/out" "$TMP/heap.bmf"
	for consumer in oops fixed; do
		valgrind --tool=dhat --dhat-out-file=/dev/null "$O/workloads/process_sample" "$consumer" 2 \
			>/dev/null 2>"$TMP/valgrind" </dev/null
		said=$(sed -nE 's/.*(Total|At t-gmax|At t-end): +([0-9,]+) bytes in ([0-9,]+) blocks/\2 \3/p' "$TMP/valgrind" |
			tr -d , | tr '\n' ' ')
		ours=$(for at in total gmax end; do
			for what in bytes blocks; do
				bmf "$TMP/heap.bmf" "process_sample/$consumer/heap" "heap-$at-$what"
			done
		done | tr '\n' ' ')
		expect_eq "$consumer: the totals are those that valgrind prints" "$ours" "$said"
	done
	check "the bug asks for a block a sample" test \
		"$(bmf "$TMP/heap.bmf" process_sample/oops/heap heap-total-blocks)" = 3
fi
plan_done
