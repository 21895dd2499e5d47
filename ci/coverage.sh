#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the unit and cli tests, as root also those of bpf/, on a build with gcc --coverage, and prints which share of bpfbench's own lines
# they ran. Called by `make coverage`, which builds first. Environment: O, the build folder (build-coverage).
# Exit codes: 0 ok, 1 a test failed or there is no lcov.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
export O=${O:-build-coverage}
declare -a folders=(cli/ unit/)
((EUID != 0)) || folders+=(bpf/)
rc=0

command -v lcov >/dev/null || { printf 'coverage.sh: lcov is missing; install it: sudo apt-get install lcov\n' >&2; exit 1; }
find "$O" -name '*.gcda' -delete
harness/tests/run.sh "${folders[@]}" >&2 || rc=1
# The figure is a lower bound: child processes that give up their rights or are killed cannot write their counts.
lcov --quiet --capture --directory "$O/obj" --base-directory . --output-file "$O/coverage.info" >&2
lcov --quiet --extract "$O/coverage.info" "$PWD/harness/*" --output-file "$O/coverage.info" >&2
lcov --summary "$O/coverage.info" 2>&1 | sed -n 's/^ *lines[. ]*: */lines of bpfbench that the tests ran: /p'
exit $rc
