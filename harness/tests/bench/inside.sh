#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: inside.sh [PATTERN...]: runs Debian's libbpf-tools and bpftrace's scripts under `bpfbench inside`, and prints a table in Markdown:
# how many programs the kernel accepted, how many clones have paths and time, and how many have less. COMMANDS=FILE adds other commands,
# one a line. PATTERNs choose by name; ONLY_COMMANDS=1: only those of COMMANDS. About 4 s a command; needs root. A command is watched for
# SECONDS_EACH (4). LIMIT (120): seconds after which a command that hangs is ended. Reasons go to stderr.
set -euo pipefail
# shellcheck source=harness/tests/tracefs.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../tracefs.sh" "$@"
# shellcheck source=harness/tests/bench/commands.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/commands.sh"
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

((EUID == 0)) || { echo 'inside.sh: loading programs needs root' >&2; exit 4; }

# Columns: commands, commands that load nothing, programs that the kernel accepted, clones with paths and time, clones with less,
# programs without a clone, µs of all loads, loads.
group=(0 0 0 0 0 0 0 0) rows=()
one() {
	local name=$1 n i

	shift
	timeout "${LIMIT:-120}" ./bpfbench inside --no-store --format json --for "${SECONDS_EACH:-4}" -- "$@" >"$work/json" 2>"$work/err" || true
	group[0]=$((group[0] + 1))
	[[ -s $work/json ]] || echo '{"programs": [], "loads": 0, "spent_ns": 0}' >"$work/json"
	# Prints "COMMAND: PROGRAM: REASON" for each program that has a reason.
	jq -r --arg name "$name" '.programs[] | select(.why != "" and .why != "a test of the loader'"'"'s") | "\($name): \(.name): \(.why)"' "$work/json" >&2
	# libbpf loads a refused program a second time, to get the verifier's log; it counts once
	read -ra n < <(jq -r '[.programs[] | select(.why == "the kernel refuses it, too") | .name] as $refused
		| [.programs[] | select(.why != "a test of the loader'"'"'s" and ([.name] | inside($refused) | not))] as $took
		| [$took[] | select(.id > 0 and .with_paths and .with_time) | .loads] as $whole
		| [$took[] | select(.id > 0 and (.with_paths and .with_time | not)) | .loads] as $less
		| [$took[] | select(.id == 0) | .loads] as $none
		| "\($took | map(.loads) | add // 0) \($whole | add // 0) \($less | add // 0) \($none | add // 0) \(.spent_ns / 1000 | floor) \(.loads)"' "$work/json")
	((n[0])) || {
		group[1]=$((group[1] + 1))
		printf '%s: loads nothing here: %s\n' "$name" "$(grep -v '^bpfbench' "$work/err" | tail -n 1)" >&2
	}
	for i in "${!n[@]}"; do group[i + 2]=$((group[i + 2] + n[i])); done
}

end_group() {
	((!group[0])) || rows+=("$(printf '| %s | %d | %d | %d | %d | %d | %d | %d |' "$1, ${group[0]}" $((group[0] - group[1])) "${group[@]:2:4}" \
		$((group[7] ? group[6] / group[7] : 0)) "${group[7]}")")
	group=(0 0 0 0 0 0 0 0)
}

[[ -n ${ONLY_COMMANDS:-} ]] || each_libbpf_tool one "$@"
end_group "Debian's libbpf-tools"
[[ -n ${ONLY_COMMANDS:-} ]] || each_bpftrace_script one "$@"
end_group "Debian's bpftrace scripts"
each_command one
end_group "\$COMMANDS"
printf '| commands | load what the kernel takes | programs that the kernel took | with paths and time | with less | not replaced | µs a load | loads |\n'
printf '|---|--:|--:|--:|--:|--:|--:|--:|\n'
((!${#rows[@]})) || printf '%s\n' "${rows[@]}"
