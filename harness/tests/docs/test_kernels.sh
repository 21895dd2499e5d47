#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of docs/kernels.md.
. "$(dirname "$0")/docs.sh"

run_page docs/kernels.md
plan_done
