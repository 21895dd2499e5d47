#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: capture.sh [PATTERN...]: captures the programs of Debian's libbpf-tools, of bpftrace's scripts and of our own objects (loaded by
# libbpf), loads each again with new maps, measures it, and prints a table in Markdown: how many programs the kernel accepted, how many
# have the same tag, translated length and JIT length after the second load, how many have a cost, and for how many a reason is stated
# why they have none. COMMANDS=FILE adds other commands, one a line (for example a Go program). PATTERNs choose by name;
# ONLY_COMMANDS=1: only those of COMMANDS. About 5 s a command; needs root. A command is watched for SECONDS_EACH (2.5). Measuring its
# programs takes at most BUDGET seconds (120 and 10 a program). LIMIT (600): seconds after which a command that hangs is ended.
set -euo pipefail
# shellcheck source=harness/tests/tracefs.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../tracefs.sh" "$@"
# shellcheck source=harness/tests/bench/commands.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/commands.sh"
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
O=$(realpath -m "${O:-build}")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

((EUID == 0)) || { echo 'capture.sh: loading programs needs root' >&2; exit 4; }

# Columns: programs that the kernel accepted, tests of the loader, refused, loaded again, equal, with a cost, with a reason, with neither.
names=() group=() all=(0 0 0 0 0 0 0 0) commands=0 silent=0
add() { # add ARRAY NUMBER...
	local -n to=$1
	local i

	for ((i = 0; i < $# - 1; i++)); do to[i]=$((${to[i]:-0} + ${@:i+2:1})); done
}
row() { # row NAME US NUMBER...
	local name=$1 us=$2

	shift 2
	printf '| %s |%s %s |\n' "$name" "$(printf ' %s |' "$@")" "$us"
}

# measure FILE PROGRAMS: writes the names of the programs that have a cost to $work/cost, and "NAME REASON" of the others to $work/reason.
measure() {
	local budget=${BUDGET:-$((120 + 10 * $2))}

	rm -f "$work/bmf"
	timeout $((budget + ${LIMIT:-600})) ./bpfbench --object "$1" --drive step --loads 1 --samples 60 --no-store --budget "$budget" \
		--output "$work/bmf" 2>"$work/said" || true
	touch "$work/bmf"
	sed -nE '/^  "/h; /^    "latency":/{x; s#^  "[^/]+/([^/]+)/step.*#\1#p; x}' "$work/bmf" | grep -v '^empty-' | sort -u >"$work/cost" || true
	# bpfbench says "skipped: NAME/PROGRAM[/step]: WHY", or "  NAME/PROGRAM: WHY" if it can drive none of the programs.
	sed -nE 's#^(bpfbench: )? *(skipped:? )?[^ /]+/([^ /:]+)(/[^ :]*)?: (.*)#\3 \5#p' "$work/said" |
		grep -vE '^[^ ]+ (the kernel refuses it: |.* the budget of )|^empty-' | sort -u -k1,1 | join -v 1 - "$work/cost" >"$work/reason" || true
}

# one NAME COMMAND...: adds a row, if the command loads a program.
one() {
	local name=$1 file=$work/a.capture status=0 n us

	shift
	commands=$((commands + 1))
	rm -f "$file"
	timeout "${LIMIT:-600}" ./bpfbench capture -o "$file" --for "${SECONDS_EACH:-2.5}" -- "$@" >/dev/null 2>"$work/err" || status=$?
	if [[ ! -s $file ]]; then
		silent=$((silent + 1))
		printf '%s: loads nothing here (exit code %d): %s\n' "$name" "$status" "$(grep -v '^bpfbench' "$work/err" | tail -n 1)" >&2
		return 0
	fi
	us=$(sed -nE 's/.* delayed .* by ([0-9]+) us each.*/\1/p' "$work/err")
	read -ra n < <("$O/tests/tools/recapture" "$file" 2>"$work/why") || true
	sed "s/^/$name: /" "$work/why" >&2
	measure "$file" "${n[0]}"
	n+=("$(wc -l <"$work/cost")" "$(wc -l <"$work/reason")")
	n+=("$((n[0] - n[5] - n[6]))")
	sed "s#^#$name: no cost: #" "$work/reason" >&2
	((n[7] == 0)) || { printf '%s: %d with neither a cost nor a reason\n' "$name" "${n[7]}"; grep 'skipped' "$work/said" || true; } >&2
	row "$name" "$us" "${n[@]}"
	add group "${n[@]}"
}

# end_group NAME: adds a row with the sums over the commands since the last end_group.
end_group() {
	((${#group[@]})) || return 0
	names+=("$(row "$1" '' "${group[@]}")")
	add all "${group[@]}"
	group=()
}

head='programs | tests of the loader | refused | loaded again | equal | with a cost | with a reason | neither | µs a call |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|'
printf '| command | %s\n' "$head"
[[ -n ${ONLY_COMMANDS:-} ]] || each_libbpf_tool one "$@"
end_group libbpf-tools
[[ -n ${ONLY_COMMANDS:-} ]] || each_bpftrace_script one "$@"
end_group bpftrace
[[ -n ${ONLY_COMMANDS:-} ]] || for object in "$O"/bpf/*.bpf.o "$O"/tests/bpf/*.bpf.o; do
	! wanted "${object##*/}" "$@" || one "${object##*/}" "$O/tests/tools/load_all" "$object"
done
end_group 'objects by libbpf'
each_command one
end_group "\$COMMANDS"
printf '\n| loader | %s\n' "$head"
printf '%s\n' "${names[@]}"
row all '' "${all[@]}"
printf '%d commands, %d of them load nothing here\n' "$commands" "$silent" >&2
read -r write_ms read_ms < <("$O/tests/tools/recapture" -b "$work/large.capture")
printf '\nA capture of 200 programs and 100 MiB of maps is written in %s ms and read in %s ms.\n' "$write_ms" "$read_ms"
