#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of docs/profile.md.
# slow: it samples for some seconds for each command of the page
. "$(dirname "$0")/docs.sh"

run_page docs/profile.md
plan_done
