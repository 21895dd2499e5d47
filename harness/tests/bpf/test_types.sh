#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs whose sections tell libbpf no type, as root: from a clear name the type is guessed, and
# that is said; --type and the key `type` give another type.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

object=$O/tests/bpf/old_sections.bpf.o
run "$BPFBENCH" init --object "$object"
expect_status "init: exit code 0" 0
expect_grep "init: a guess is a key" out 'name: as_tc, type: tc}'
expect_grep "init: what cannot be guessed is not driven" out '^# Not driven: .*unknown: .*section "mystery"; --type'
run "$BPFBENCH" init --object "$object" --program unknown --type xdp
expect_grep "init: --type" out 'name: unknown, type: xdp}'
run "$BPFBENCH" init --object "$object" --program unknown --type xpd
expect_status "init: a type that there is not: exit code" 1
expect_grep "init: a type that there is not" err "type 'xpd' is no name of a section"

need_root "a run by guessed types" "a run by --type" "a run by the key" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# has_figure PROGRAM DRIVE: its latency is above 0. For `check`.
has_figure() { more "$(bmf "$TMP/out" "$1/$2" latency)" 0; }

real --object "$object" --loads 2 -n 40 --drive step --budget 30
expect_status "a run by guessed types: exit code" 0
expect_grep "a run by guessed types says so" err '^bpfbench: as_tc: its section "classifier/ingress" is taken for "tc"; --type says otherwise'
check "a guessed tc program" has_figure old_sections/as_tc step
check "a guessed XDP program" has_figure old_sections/as_xdp step
check "a guessed socket filter" has_figure old_sections/as_socket step
if grep -q ' cgroup2 ' /proc/self/mounts; then
	check "a guessed sockops program" has_figure old_sections/as_sockops step
else
	skip "a guessed sockops program" "no cgroup2 file system is mounted"
fi
nothing_left "a run by guessed types" 1

real --object "$object" --program unknown --type tc --loads 2 -n 40 --drive step
check "a run by --type" has_figure old_sections/unknown step
cat >"$WORK/types.yml" <<YML
name: types
object: $object
variants:
  - {name: unknown, type: xdp}
drive:
  - {with: step, trigger: test-run}
YML
real --scenario "$WORK/types.yml" --loads 2 -n 40
check "a run by the key" has_figure types/unknown step
nothing_left "a run by --type and by the key" 2
plan_done
