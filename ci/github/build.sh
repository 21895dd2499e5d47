#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The first step of action.yml: builds bpfbench in the action's folder. A runner with the package in PATH needs no build.
set -euo pipefail

! command -v bpfbench || exit 0
as_root=()
((EUID == 0)) || as_root=(sudo)
"${as_root[@]}" make -C "$GITHUB_ACTION_PATH" deps
make -C "$GITHUB_ACTION_PATH" -j"$(nproc)" all
