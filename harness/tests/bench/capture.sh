#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: capture.sh [PATTERN...]: capture the programs of Debian's libbpf-tools, of bpftrace's scripts and of our own objects by libbpf,
# load each again with maps made anew, and print a table in Markdown: how many the kernel took, and how many came back with equal tag,
# translated length and JIT length. With COMMANDS=FILE, a command a line, also of those (a Go program, an Aya application).
# PATTERNs choose by name. About 3 s a command; needs root.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
O=$(realpath -m "${O:-build}")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

((EUID == 0)) || { echo 'capture.sh: loading programs needs root' >&2; exit 4; }
# tracepoints are found in tracefs: in a mount namespace of our own, where it is not mounted
if [[ ! -e /sys/kernel/tracing/events && ${BB_UNSHARED:-} != 1 ]]; then
	exec env BB_UNSHARED=1 unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing && exec "$0" "$@"' "$0" "$@"
fi

wanted() {
	local pattern

	(($# > 1)) || return 0
	for pattern in "${@:2}"; do [[ $1 != *"$pattern"* ]] || return 0; done
	return 1
}

sum=(0 0 0 0 0) commands=0 silent=0
# one NAME COMMAND...: a row, where the command loads anything.
one() {
	local name=$1 file=$work/a.capture row us status=0 n

	shift
	commands=$((commands + 1))
	rm -f "$file"
	timeout 60 ./bpfbench capture -o "$file" --for "${SECONDS_EACH:-2.5}" -- "$@" >/dev/null 2>"$work/err" || status=$?
	if [[ ! -s $file ]]; then
		silent=$((silent + 1))
		printf '%s: loads nothing here (exit code %d): %s\n' "$name" "$status" "$(grep -v '^bpfbench' "$work/err" | tail -n 1)" >&2
		return 0
	fi
	us=$(sed -nE 's/.* calls waited ([0-9]+) us .*/\1/p' "$work/err")
	row=$("$O/tests/tools/recapture" "$file" 2>"$work/why") || sed "s/^/$name: /" "$work/why" >&2
	read -ra n <<<"$row"
	printf '| %s | %s | %s | %s | %s | %s | %s |\n' "$name" "${n[@]}" "$us"
	for i in 0 1 2 3 4; do sum[i]=$((sum[i] + n[i])); done
}

printf '| command | programs | tests of the loader | refused | loaded again | equal | µs a call |\n|---|--:|--:|--:|--:|--:|--:|\n'
if command -v opensnoop >/dev/null; then
	while IFS= read -r tool; do
		! wanted "${tool##*/}" "$@" || one "${tool##*/}" "$tool"
	done < <(dpkg -L libbpf-tools | grep '/sbin/' | sort)
else
	echo 'skipped: libbpf-tools is not installed' >&2
fi
if command -v bpftrace >/dev/null; then
	for script in /usr/sbin/*.bt; do
		! wanted "${script##*/}" "$@" || one "${script##*/}" bpftrace "$script"
	done
else
	echo 'skipped: bpftrace is not installed' >&2
fi
for object in "$O"/bpf/*.bpf.o "$O"/tests/bpf/*.bpf.o; do
	! wanted "${object##*/}" "$@" || SECONDS_EACH=0.5 one "${object##*/}" "$O/tests/tools/load_all" "$object"
done
if [[ -n ${COMMANDS:-} ]]; then
	while IFS= read -r line; do one "${line%% *}" sh -c "$line"; done <"$COMMANDS"
fi
printf '| all | %s | %s | %s | %s | %s | |\n' "${sum[@]}"
printf '%d commands, %d of them load nothing here\n' "$commands" "$silent" >&2
read -r write_ms read_ms < <("$O/tests/tools/recapture" -b "$work/large.capture")
printf '\nA capture of 200 programs and 100 MiB of maps is written in %s ms and read in %s ms.\n' "$write_ms" "$read_ms"
