#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bpfbench schema`: a common validator of JSON schemas accepts every scenario of the tree, and refuses the same bad ones as bpfbench.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

run "$BPFBENCH" schema
expect_status "schema: succeeds" 0
expect_empty "schema: nothing on stderr" err
cp "$TMP/out" "$TMP/schema.json"
run "$BPFBENCH" schema more
expect_status "schema: takes no argument" 2
if ! python3 -c 'import yaml, jsonschema' 2>/dev/null; then
	skip "schema: a validator agrees with the reader" "no python3-jsonschema or python3-yaml here"
	plan_done
fi

# A script that prints the names of the files that the schema refuses.
cat >"$TMP/validate.py" <<'EOF'
import json, sys, yaml
from jsonschema import Draft202012Validator
schema = json.load(open(sys.argv[1]))
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
for path in sys.argv[2:]:
    for error in validator.iter_errors(yaml.safe_load(open(path))):
        print(path.rsplit("/", 1)[1])
        print(path, list(error.path), error.message[:200], file=sys.stderr)
        break
EOF
run python3 "$TMP/validate.py" "$TMP/schema.json" scenarios/*.yml harness/tests/fuzz/seeds/scenario*.yml
expect_status "schema: it is a JSON schema" 0
expect_empty "schema: every scenario of the tree is good" out

# Each line is a scenario. The first four are good; each other one differs from a good one by a word.
mkdir "$TMP/scenarios"
n=0
while IFS= read -r line; do
	printf '%s\n' "${line// ; /$'\n'}" >"$TMP/scenarios/$(printf %02d "$n").yml"
	n=$((n + 1))
done <<'EOF'
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{with: step, stack_depth: [8, 9], inside: amicable_pairs}]
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{with: step, trigger: test-run, inputs: [{name: i, packet: {ipv4: {src: 1.2.3.4, dst: 1.2.3.4}}}]}]
name: a ; object: /x.o ; variants: [{name: b, maps: [{name: m, flags: [no_prealloc]}]}] ; drive: [{with: slope, inputs: [{name: i, packet: {ipv4: {src: 1.2.3.4, dst: 1.2.3.4}, tcp: {src: 1, dst: 2}, tcp_flags: [syn, ack]}}]}]
name: a ; object: /x.o ; variants: [{name: b, globals: {g: 1, h: true, p: {pid: self}}, maps: [{name: m, fill: {count: 3}}]}] ; drive: [{with: slope, inputs: [{name: i, hex: 00112233445566778899aabbccdd}]}]
object: /x.o ; variants: [{name: b}] ; drive: [{with: step}]
name: a/b ; object: /x.o ; variants: [{name: b}] ; drive: [{with: step}]
name: a ; object: /x.o ; variants: [] ; drive: [{with: step}]
name: a ; object: /x.o ; variants: [{nam: b}] ; drive: [{with: step}]
name: a ; object: /x.o ; variants: [{name: b, id: -1}] ; drive: [{with: step}]
name: a ; object: /x.o ; variants: [{name: b, globals: {g: [1, [2]]}}] ; drive: [{with: step}]
name: a ; object: /x.o ; variants: [{name: b, sampler: me}] ; drive: [{with: step}]
name: a ; object: /x.o ; variants: [{name: b, maps: [{name: m, fill: {count: 3, key: odd}}]}] ; drive: [{with: step}]
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{with: stepp}]
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{trigger: fire}]
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{with: step, trigger: fires}]
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{with: step, trigger: test-run, stack_depth: 8}]
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{with: step, repeat: 8}]
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{with: slope, repeat: 7}]
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{with: step, stack_depth: [8, 8]}]
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{with: step, inside: nothing}]
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{with: slope, inputs: [{name: i}]}]
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{with: slope, inputs: [{name: i, hex: 00112233445566778899aabbccdd, pcap: f}]}]
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{with: slope, inputs: [{name: i, packet: {tcp: {src: 1, dst: 65536}}}]}]
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{with: slope, inputs: [{name: i, packet: {ipv4: {src: 1.2.3.4, dst: 1.2.3.4}, tcp: {src: 1, dst: 2}, tcp_flags: ack}}]}]
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{with: slope, inputs: [{name: i, packet: {ipv4: {src: 1.2.3.4, dst: 1.2.3.4}, tcp: {src: 1, dst: 2}, tcp_flags: [akc]}}]}]
name: a ; object: /x.o ; variants: [{name: b, maps: [{name: m, flags: [prealloc]}]}] ; drive: [{with: step}]
name: a ; object: /x.o ; variants: [{name: b}] ; drive: [{with: slope, inputs: [{name: i, packet: {ipv4: {src: 1.2.3.4}}}]}]
EOF
for file in "$TMP/scenarios"/*; do
	"$BPFBENCH" run --scenario "$file" --dry-run >/dev/null 2>"$TMP/why" || { basename "$file"; cat "$TMP/why" >&2; }
done >"$TMP/refused" 2>"$TMP/reasons"
run python3 "$TMP/validate.py" "$TMP/schema.json" "$TMP/scenarios"/*
expect_eq "schema: the reader takes four of $n, and refuses the others" "$(paste -sd ' ' "$TMP/refused")" \
	"$(for ((i = 4; i < n; i++)); do printf '%02d.yml\n' "$i"; done | paste -sd ' ')"
expect_eq "schema: so does the validator" "$(paste -sd ' ' "$TMP/out")" "$(paste -sd ' ' "$TMP/refused")"
check "schema: the reader refuses none for its object" test "$(grep -c 'cannot open\|No such file' "$TMP/reasons")" = 0
plan_done
