#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: inside.sh [PATTERN...]: run Debian's libbpf-tools and bpftrace's scripts under `bpfbench inside`, and print a table in Markdown:
# how many programs the kernel took, how many clones have paths and time, and how many have less. With COMMANDS=FILE, a command a
# line, also of those. PATTERNs choose by name; ONLY_COMMANDS=1: nothing but COMMANDS. About 4 s a command; needs root. A command is
# watched for SECONDS_EACH (4); LIMIT seconds (120) end one that hangs. Reasons go to stderr.
set -euo pipefail
# shellcheck source=harness/tests/tracefs.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../tracefs.sh" "$@"
# shellcheck source=harness/tests/bench/commands.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/commands.sh"
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

((EUID == 0)) || { echo 'inside.sh: loading programs needs root' >&2; exit 4; }

# Commands, those that load nothing, programs that the kernel took, clones with paths and time, with less, none, µs of all loads, loads.
group=(0 0 0 0 0 0 0 0) rows=()
one() {
	local name=$1 n i

	shift
	timeout "${LIMIT:-120}" ./bpfbench inside --no-store --format json --for "${SECONDS_EACH:-4}" -- "$@" >"$work/json" 2>"$work/err" || true
	group[0]=$((group[0] + 1))
	[[ -s $work/json ]] || echo '{"programs": [], "loads": 0, "spent_ns": 0}' >"$work/json"
	# The first field of a row is a program's: its name, and the reason.
	jq -r --arg name "$name" '.programs[] | select(.why != "" and .why != "a test of the loader'"'"'s") | "\($name): \(.name): \(.why)"' "$work/json" >&2
	# libbpf loads a program that was refused once more, to have the verifier's log
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
