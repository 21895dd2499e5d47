#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# results/schema.json is the schema that the descriptions of stored structs (harness/report/records.c) lead to.
. "$(dirname "$0")/../lib.sh"

run "$O/tests/tools/run_schema" harness/tests/tools/run_schema.json
expect_status "the schema is made" 0
check "results/schema.json is up to date: make schema" diff -u results/schema.json "$TMP/out"
plan_done
