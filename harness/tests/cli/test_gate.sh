#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bpfbench gate` refuses bad input before it builds anything. bpf/test_gate.sh tests its verdicts.
# turn: it turns bpf_stats on for moments
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check and wait_until call
. "$(dirname "$0")/../tool.sh"

names=("gate: refuses before it builds")
need_command git "${names[@]}" || plan_done
# shellcheck source=harness/tests/gate_repo.sh
. "$(dirname "$0")/../gate_repo.sh"

repo=$TMP/repo
export TMPDIR=$WORK
make_repo "$repo" 1
gate() { run env -C "$repo" "$BPFBENCH" gate "$@"; }

gate
complains "gate: without --base" 2 'against which revision\? --base REV'
gate --base main --frobnicate
complains "gate: an unknown option" 2 'unrecognized option'
gate --base main --threshold much
complains "gate: a threshold that is none" 2 "'much'"
gate --base main --scenario perf_profiler --program x
complains "gate: a scenario has programs of its own" 2 'without a --scenario'
gate --base main --env 'A=1'
complains "gate: --env takes a name alone" 2 "name of a variable, not 'A=1'"
gate --base nowhere
complains "gate: an unknown base is named" 1 "git knows no revision 'nowhere' here"
expect_no_grep "gate: an unknown base: a whole clone is not called shallow" err 'shallow'
gate --base -q
complains "gate: a base that looks like an option" 1 "'-q' is no revision"
gate --base main --head nowhere
complains "gate: an unknown head is named" 1 "git knows no revision 'nowhere' here"
gate --base main --markdown "$TMP/none/report.md"
complains "gate: a report that cannot be written" 1 'none/report.md: cannot be written'
gate --base main --scenario nowhere
complains "gate: an unknown scenario" 1 "no scenario 'nowhere'"
run env -C "$TMP" GIT_CEILING_DIRECTORIES="$TMP" "$BPFBENCH" gate --base main
complains "gate: outside a repository" 1 'revisions of a git repository.*not a git repository'
mkdir "$TMP/no-git"
ln -s "$(type -P env)" "$TMP/no-git/env"
run env -C "$repo" PATH="$TMP/no-git" "$BPFBENCH" gate --base main
complains "gate: without git" 1 "no 'git' in \\\$PATH: install it"

first=$(git -C "$repo" rev-parse HEAD)
(cd "$repo" && set_steps 2 && git commit -qam two)
git clone -q --depth 1 "file://$repo" "$TMP/shallow"
run env -C "$TMP/shallow" "$BPFBENCH" gate --base "$first"
complains "gate: a shallow clone says how to deepen it" 1 'this clone is shallow: git fetch --unshallow, or fetch-depth: 0'

if ((EUID != 0 || ${#user[@]})); then
	chmod -R a+rX "$repo"
	((EUID != 0)) || chown -R "$NOBODY" "$repo"
	run env -C "$repo" "${user[@]}" "$BPFBENCH" gate --base main
	complains "gate: without root, before it builds" 1 'root|sudo|CAP_'
else
	skip "gate: without root, before it builds" "nobody cannot reach this tree"
fi

# The gate is stopped when the scratch folder exists, but the `mkdir` that made it has not ended yet.
mkdir "$TMP/slow"
printf '#!/bin/sh\n%s "$@"; sleep 60\n' "$(type -P mkdir)" >"$TMP/slow/mkdir"
chmod 755 "$TMP/slow" "$TMP/slow/mkdir"
start env -C "$repo" PATH="$TMP/slow:$PATH" "$BPFBENCH" gate --base main
scratch_is_there() { [[ -n $(find "$WORK" -mindepth 1) ]]; }
check "gate: the scratch folder is made" wait_until 5 scratch_is_there
stop_child TERM
expect_eq "gate: no scratch folder or work tree is left" \
	"$(find "$WORK" -mindepth 1 | wc -l) $(git -C "$repo" -c safe.directory='*' worktree list | wc -l)" "0 1"
plan_done
