#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of docs/any-loader.md.
. "$(dirname "$0")/docs.sh"

run_page docs/any-loader.md
plan_done
