#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: capture_aa.sh [PAIRS]: does a figure from a capture agree with one from the object of the same program? Makes PAIRS (50)
# comparisons of the two; capture and object are base in turns. The programs are the same, so each `regressed` or `improved` is false.
# About 6 s a pair; needs root and jq.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
O=$(realpath -m "${O:-build}")
pairs=${1:-50}
programs=(sections:counts fun_xdp:v1 tailcall:first loop:loop maps:finds_in_hash)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

((EUID == 0)) || { echo 'capture_aa.sh: loading programs needs root' >&2; exit 4; }
false=0 judged=0 same=0
for ((i = 0; i < pairs; i++)); do
	name=${programs[i % ${#programs[@]}]} object=$O/tests/bpf/${programs[i % ${#programs[@]}]%:*}.bpf.o
	[[ -e $object ]] || object=$O/bpf/${name%:*}.bpf.o
	file=$work/${name%:*}.capture
	[[ -e $file ]] || ./bpfbench capture -o "$file" -- "$O/tests/tools/load_all" "$object" >/dev/null 2>"$work/err" || { cat "$work/err" >&2; exit 1; }
	sides=("--base-object=$object" "--head-object=$file")
	((i % 2 == 0)) || sides=("--base-object=$file" "--head-object=$object")
	status=0
	./bpfbench compare "${sides[@]}" --program "${name#*:}" --no-store --quiet --format json --budget 5 --seed "$((i + 1))" >"$work/out" 2>"$work/err" || status=$?
	((status == 0 || status == 3)) || { cat "$work/err" >&2; exit 1; }
	verdicts=$(jq -r '.comparisons[] | "\(.name) \(.summary.verdict)"' "$work/out")
	wrong=$(grep -E ' (regressed|improved)$' <<<"$verdicts" || true)
	judged=$((judged + $(grep -c . <<<"$verdicts" || true))) same=$((same + $(grep -c ' same$' <<<"$verdicts" || true)))
	[[ -z $wrong ]] || { false=$((false + 1)); printf '%s, seed %d: %s\n' "$name" "$((i + 1))" "$wrong"; }
done
printf '%d of %d pairs have a false verdict; of %d verdicts %d are "same", the others "inconclusive"\n' "$false" "$pairs" "$judged" "$same"
((false == 0))
