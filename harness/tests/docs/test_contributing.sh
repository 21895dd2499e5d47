#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of CONTRIBUTING.md.
. "$(dirname "$0")/docs.sh"

run_page CONTRIBUTING.md
plan_done
