#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# If a setting of the machine changes during a run, all of its series are void, and the message names the setting. The setting here is a
# file of ours, mounted over the kernel's in a mount namespace of its own, because other processes measure on this machine, too.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check and wait_until call
. "$(dirname "$0")/../tool.sh"

harden=/proc/sys/net/core/bpf_jit_harden
need_root "the machine changed during the run" || plan_done
echo 0 >"$WORK/harden"
# with_harden CMD...: runs CMD in a mount namespace in which our file covers the kernel's. /proc is made private and not /, because in a
# chroot / is not a mount.
with_harden() {
	# shellcheck disable=SC2016 # the inner shell's
	exec unshare --mount --propagation unchanged bash -c \
		'mount --make-rprivate /proc && mount --bind "$1" "$2" && exec "${@:3}"' - "$WORK/harden" "$harden" "$@"
}
if ! (with_harden true) 2>/dev/null; then
	skip "the machine changed during the run" "nothing can be mounted over $harden here"
	plan_done
fi

cat >"$WORK/fake.yml" <<'EOF'
name: fake
floor: empty
variants: [{name: empty, globals: {location_ns: 30}}, {name: plain}]
drive: [{with: fake, samples: 40000000}]
EOF

start with_harden "$BPFBENCH" -s "$WORK/fake.yml" --seed 1 --results "$WORK/results"
check "it measures" wait_until 20 used $(($(getconf CLK_TCK) / 3))
echo 1 >"$WORK/harden"
finish
expect_status "it fails" 1
expect_empty "and prints no BMF" out
expect_grep "every series is void, and why" err 'void: fake/(empty|plain)/fake: .*the machine changed during the run: jit_harden \(and 1 more'
expect_grep "the error says so" err '^bpfbench: nothing was measured .*the machine changed during the run'
plan_done
