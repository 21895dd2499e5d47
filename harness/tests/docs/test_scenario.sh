#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of docs/scenario.md.
# slow: it runs the scenarios of the page whole, a quarter of a minute
. "$(dirname "$0")/docs.sh"

run_page docs/scenario.md
plan_done
