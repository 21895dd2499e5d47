#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of docs/where-time-goes.md.
# slow: it compares and times a program by line, as the page does
. "$(dirname "$0")/docs.sh"

run_page docs/where-time-goes.md
plan_done
