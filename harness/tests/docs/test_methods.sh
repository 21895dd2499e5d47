#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of docs/methods/, all pages.
. "$(dirname "$0")/docs.sh"

run_page docs/methods/*.md
plan_done
