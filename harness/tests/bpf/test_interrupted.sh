#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slow: each drive is interrupted five times
# Drives that are interrupted at random times, as root: each run that is stored can be read.
# harness/tests/stress/interrupted.sh interrupts all drives, and more often.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

drives="step-test-run lines-test-run pipeline slowdown compare-slowdown fake"
# shellcheck disable=SC2086 # a word a drive
need_root $drives || plan_done
status=0
ONLY=$drives EACH=5 "$ROOT/harness/tests/stress/interrupted.sh" >"$TMP/out" 2>"$TMP/err" || status=$?
expect_status "interrupted: exit code 0" 0
for drive in $drives; do
	said=$(grep "^$drive " "$TMP/out" || true)
	case $said in
	*' not here: '*) skip "$drive: what it stores can be read" "${said#*not here: }" ;;
	*', 0 cannot be read') ok "$drive: what it stores can be read" ;;
	*) not_ok "$drive: what it stores can be read" "$(cat "$TMP/out" "$TMP/err")" ;;
	esac
done
plan_done
