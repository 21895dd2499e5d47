#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine that changes while it is measured on: what was taken is void, by name.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check and wait_until call
. "$(dirname "$0")/../tool.sh"

harden=/proc/sys/net/core/bpf_jit_harden
need_root "the machine changed during the run" || plan_done
if ! before=$(cat "$harden" 2>/dev/null) || ! (echo "$before" >"$harden") 2>/dev/null; then
	skip "the machine changed during the run" "net.core.bpf_jit_harden cannot be set here"
	plan_done
fi
trap 'echo "$before" >"$harden"; rm -rf -- "$TMP"' EXIT

cat >"$WORK/fake.yml" <<'EOF'
name: fake
floor: empty
variants: [{name: empty, globals: {location_ns: 30}}, {name: plain}]
drive: [{with: fake, samples: 40000000}]
EOF
start "$BPFBENCH" -s "$WORK/fake.yml" --seed 1 --results "$WORK/results"
sleep 0.3
echo "$((before == 1 ? 2 : 1))" >"$harden"
finish
echo "$before" >"$harden"
expect_status "it fails" 1
expect_empty "and prints no BMF" out
expect_grep "every series is void, and why" err 'void: fake/plain/fake: .*the machine changed during the run: jit_harden'
expect_grep "the error says so" err '^bpfbench: nothing was measured .*the machine changed during the run'
expect_eq "the setting is as it was" "$(cat "$harden")" "$before"
plan_done
