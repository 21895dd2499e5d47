#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slow: it measures all of perf_profiler twice
# The commands of docs/tutorial.md.
. "$(dirname "$0")/docs.sh"

run_page docs/tutorial.md
plan_done
