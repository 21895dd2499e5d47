#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The fuzzers, without libFuzzer: each has seeds, and its reader survives them and damaged copies of them, which are cut off or have some
# bytes changed. `make fuzz` searches for more.
# shellcheck source=harness/tests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$ROOT"

# Makes damaged copies of the files in $1; the damage is the same each time.
damage() {
	local file size i

	for file in "$1"/*; do
		size=$(stat -c %s "$file")
		head -c $((size / 2)) "$file" >"$file.cut"
		cp "$file" "$file.changed"
		for ((i = 1; i <= 8; i++)); do
			printf '\xff' | dd of="$file.changed" bs=1 seek=$((size * i / 9)) conv=notrunc status=none
		done
	done
	: >"$1/empty"
}

for source in harness/tests/fuzz/fuzz_*.c; do
	name=${source##*/fuzz_}
	name=${name%.c}
	run harness/tests/fuzz/seeds.sh "$name" "$TMP/$name"
	expect_status "$name: there are seeds" 0
	damage "$TMP/$name"
	run "$O/tests/fuzz/$name" "$TMP/$name"/*
	expect_grep "$name: reads them all, and damaged ones" out '^[0-9]+ files$'
done
run harness/tests/fuzz/seeds.sh nosuch "$TMP/nosuch"
expect_status "a fuzzer without seeds: refused" 2
run harness/tests/fuzz/have_libfuzzer.sh false
expect_status "no libFuzzer: exit code 1" 1
expect_grep "no libFuzzer: the package is named" err 'apt-get install libclang-rt-dev'
plan_done
