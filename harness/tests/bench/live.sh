#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How much CPU time and memory does `bpfbench live --serve` itself use while it watches many programs?
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
O=${O:-build} programs=${PROGRAMS:-200} seconds=${SECONDS_WATCHED:-20}

case ${1:-} in
--help | -h | '')
	cat <<-EOF
	Usage: harness/tests/bench/live.sh OBJECT...

	Loads each object $programs times, attached where its sections say, serves the figures of all for $seconds s at a look
	a second, and prints the CPU time and the memory that bpfbench took. Needs root, curl and \`make tests\`.

	Environment: PROGRAMS and SECONDS_WATCHED, the numbers above (200, 20); O, the build (build).
	Exit codes: 0 at most 1 % of a CPU and 20 MiB, 1 more, 2 usage.
	EOF
	[[ -n ${1:-} ]] || exit 2
	exit 0
	;;
esac

tmp=$(mktemp -d) pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf -- "$tmp"' EXIT
"$O/tests/tools/load_all" -t "$programs" "$@" >"$tmp/loaded" &
pids+=($!)
until [[ -s $tmp/loaded ]]; do sleep 0.2; done
./bpfbench live --serve 127.0.0.1:0 2>"$tmp/err" &
watch=$!
pids+=("$watch")
sleep 3
# ticks: prints the CPU time of the watch and of its server, in hundredths of a second.
ticks() { awk '{ n += $14 + $15 } END { print n }' "/proc/$watch/stat" "/proc/$(pgrep -P "$watch")/stat"; }
before=$(ticks)
sleep "$seconds"
took=$(($(ticks) - before))
kib=$(awk '/^VmHWM/ { print $2 }' "/proc/$watch/status")
url=$(sed -nE 's,.*(http://[^ ]*/metrics).*,\1,p' "$tmp/err")
printf '%s, %s: %d.%02d %% of a CPU, %d.%d MiB, a page of %d kB; %s\n' "$(<"$tmp/loaded")" "$*" \
	$((took / seconds)) $((took * 100 / seconds % 100)) $((kib / 1024)) $((kib % 1024 * 10 / 1024)) \
	$(($(curl -fsS "$url" | wc -c) / 1000)) "$(sed -nE 's/^model name.*: //p' /proc/cpuinfo | head -n 1)"
((took <= seconds && kib <= 20480))
