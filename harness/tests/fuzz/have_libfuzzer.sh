#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: have_libfuzzer.sh CLANG: succeeds if this clang can build fuzzers; otherwise says which package is missing.
set -euo pipefail
program=$(mktemp "${TMPDIR:-/tmp}/bpfbench-fuzzer.XXXXXX")
trap 'rm -f -- "$program"' EXIT
"$1" -x c -fsanitize=fuzzer,address,undefined - -o "$program" 2>/dev/null <<'EOC' && exit 0
int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size);
int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { return !data + !size ? 0 : 0; }
EOC
printf 'fuzz: %s has no libFuzzer or no sanitizers: sudo apt-get install libclang-rt-dev\n' "$1" >&2
exit 1
