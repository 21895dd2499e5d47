#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The step "Gate" of action.yml: runs `bpfbench gate` and exits with its exit code. The inputs are in GATE_*; "" means the default. Adds
# the report to the job's summary, and makes annotations for the source lines of confirmed regressions.
# Outputs: status (the exit code) and folder (with the report, the page, the BMF and the stored runs).
set -euo pipefail

[[ $GATE_FAIL_ON == regressed || $GATE_FAIL_ON == never ]] ||
	{ echo "::error title=bpfbench::the input 'fail-on' is regressed or never"; exit 2; }
[[ -n $GATE_BASE ]] || { echo "::error title=bpfbench::no pull request, so the input 'base' must name the old revision"; exit 2; }
folder=$(mktemp -d "$RUNNER_TEMP/bpfbench-gate.XXXXXX")
bpfbench=$(command -v bpfbench || echo "$GITHUB_ACTION_PATH/bpfbench")
as_root=()
((EUID == 0)) || as_root=(sudo env "PATH=$PATH")

options=(--base "$GATE_BASE" --merge-base --results "$folder/results")
if [[ -n $GATE_KERNELS ]]; then
	as_root=() # guests need no root
	IFS=, read -ra kernels <<<"$GATE_KERNELS"
	"$bpfbench" vm fetch "${kernels[@]}"
	options+=(--vm "$GATE_KERNELS" --format markdown --output "$folder/report.md")
else
	options+=(--markdown "$folder/report.md" --source-lines "$folder/source-lines.txt")
fi
[[ -z $GATE_BUILD ]] || options+=(--build "$GATE_BUILD")
[[ -z $GATE_SCENARIO ]] || options+=(--scenario "$GATE_SCENARIO")
[[ -z $GATE_THRESHOLD ]] || options+=(--threshold "$GATE_THRESHOLD")
[[ -z $GATE_COMPLEXITY ]] || options+=(--complexity "$GATE_COMPLEXITY")
[[ $GATE_EXACT != true ]] || options+=(--exact)
while read -r path; do
	[[ -z $path ]] || options+=(--object "$path")
done <<<"$GATE_OBJECT"
# xargs splits at blanks and understands quotes, but expands nothing.
mapfile -t more < <(xargs -r printf '%s\n' <<<"$GATE_OPTIONS")

status=0
"${as_root[@]}" "$bpfbench" gate "${options[@]}" "${more[@]}" || status=$?
printf '%s\n' "status=$status" "folder=$folder" >>"$GITHUB_OUTPUT"
[[ -s $folder/report.md ]] || exit "$status"
cat "$folder/report.md" >>"$GITHUB_STEP_SUMMARY"
[[ -z $GATE_KERNELS ]] || cat "$folder/report.md" # without --vm, gate itself prints it

# There are stored runs only if something was measured. A case without a valid sample has no BMF. A missing page is not a failure.
runs=("$folder"/results/*.json)
if [[ -e ${runs[0]} ]]; then
	"$bpfbench" report --output "$folder/report.html" "${runs[@]}" || echo "::notice title=bpfbench::no page, see the log"
	"$bpfbench" show --format bmf --output "$folder/bmf.json" "${runs[0]}" || echo "::notice title=bpfbench::no BMF, see the log"
fi

# escaped TEXT: prints the text, escaped for a property or message of a workflow command.
escaped() {
	local text=${1//'%'/%25}

	text=${text//,/%2C}
	printf '%s' "${text//:/%3A}"
}

# One annotation for each line; GitHub shows the first ten of a step.
while ((status == 3)) && IFS=: read -r file line text; do
	[[ $line =~ ^[0-9]+$ ]] || continue
	printf '::error file=%s,line=%s,title=bpfbench::%s\n' "$(escaped "$file")" "$line" "$(escaped "${text# }")"
done < <([[ ! -e $folder/source-lines.txt ]] || head -n 10 "$folder/source-lines.txt")
[[ $status != 3 || $GATE_FAIL_ON == regressed ]] || exit 0
exit "$status"
