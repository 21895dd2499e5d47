#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The first step of action.yml: builds bpfbench in the action's folder, unless the runner has bpfbench in PATH. Guests of other kernels
# (GATE_KERNELS) need QEMU.
set -euo pipefail

as_root=()
((EUID == 0)) || as_root=(sudo)
[[ -z $GATE_KERNELS ]] || "${as_root[@]}" "$GITHUB_ACTION_PATH/ci/deps.sh" --for guests
! command -v bpfbench || exit 0
"${as_root[@]}" make -C "$GITHUB_ACTION_PATH" deps
make -C "$GITHUB_ACTION_PATH" -j"$(nproc)" all
