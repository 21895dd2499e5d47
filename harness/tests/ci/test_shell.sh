#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slow: shellcheck takes half a minute
# All scripts parse, and shellcheck finds nothing in them.
# shellcheck source=harness/tests/lib.sh
. "$(dirname "$0")/../lib.sh"

mapfile -t scripts < <(find . \( -path ./.git -o -path "./${O#"$ROOT"/}" -o -path ./build \) -prune -o -name '*.sh' -print; echo ./.ci/run)
# shellcheck disable=SC2317 # called by check
parse_all() { local s; for s in "${scripts[@]}"; do bash -n "$s" || return 1; done; }
check "all ${#scripts[@]} scripts parse" parse_all
if need_command shellcheck "shellcheck finds nothing"; then
	check "shellcheck finds nothing" xargs -a <(printf '%s\n' "${scripts[@]}") -n 4 -P "$(nproc)" shellcheck -x -S warning
fi
plan_done
