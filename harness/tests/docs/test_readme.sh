#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of README.md.
. "$(dirname "$0")/docs.sh"

run_page README.md
plan_done
