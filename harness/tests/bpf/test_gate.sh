#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slow: it builds and measures two revisions many times
# `bpfbench gate` as root, in a repository with a BPF program, a Makefile and nothing of ours: what
# it finds, that it leaves nothing behind however it ends, and the workflows of ci/.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check and wait_until call
. "$(dirname "$0")/../tool.sh"

names=("gate: measures" "gate: leaves nothing" "gate: the workflows")
need_root "${names[@]}" || plan_done
need_command git "${names[@]}" || plan_done
need_command clang "${names[@]}" || plan_done
# shellcheck source=harness/tests/gate_repo.sh
. "$(dirname "$0")/../gate_repo.sh"
# shellcheck source=harness/tests/github.sh
. "$(dirname "$0")/../github.sh"

repo=$TMP/repo
export TMPDIR=$WORK
make_repo "$repo" 200
gate() { run env -C "$repo" "$BPFBENCH" gate --markdown - --quiet --each 10 "$@"; }
here() { (cd "$repo" && "$@"); }
nothing_left() { [[ -z $(find "$WORK" -mindepth 1 -name 'bpfbench-gate.*') && $(here git worktree list | wc -l) == 1 ]]; }

# --- base and head are the same ---
gate --base main
expect_status "gate: an unchanged revision passes" 0
expect_grep "gate: what is the same to the last byte is not measured" out '^- prog.bpf.o: the same bytes in both, not measured$'
expect_empty "gate: --quiet says nothing on stderr" err
run env -C "$repo" "$BPFBENCH" gate --base main
expect_grep "gate: one commit is built once" err 'head is the same commit: it is not built again$'
# If another process has bpf_stats on, slope is void, and a void case has no BMF; very rarely,
# chance gives a verdict. In both cases: once more.
for _ in 1 2 3; do
	gate --base main --unchanged --bmf-base "$TMP/base.bmf" --bmf-head "$TMP/head.bmf"
	if ((status == 0)) && ! grep -q 'another process has bpf_stats on' "$TMP/err"; then break; fi
	sed 's/^/# /' "$TMP/out" "$TMP/err"
done
expect_status "gate: measured all the same, it passes" 0
expect_grep "gate: every drive that suits the type has a verdict" out '^\| prog.work/step \|.*\| (same|inconclusive)'
check "gate: base as BMF" valid_bmf "$TMP/base.bmf"
check "gate: head as BMF" valid_bmf "$TMP/head.bmf"
expect_eq "gate: both have the names of a plain run, and what was counted" \
	"$(grep -o '^  "[^"]*"' "$TMP/base.bmf" | sort | tr -d ' \n') $(grep -o '^  "[^"]*"' "$TMP/head.bmf" | sort | tr -d ' \n')" \
	'"prog/work""prog/work/exact""prog/work/slope""prog/work/step" "prog/work""prog/work/exact""prog/work/slope""prog/work/step"'

# --- slower, and not committed ---
here set_steps 600
echo 'int not_tracked;' >"$repo/new.h"
sed -i 's/^#define STEPS/#include "new.h"\n&/' "$repo/prog.bpf.c"
sed -i 's/int not_tracked;/#define NOT_TRACKED 1/' "$repo/new.h"
gate --base main --markdown "$TMP/report.md" --results "$WORK/results"
expect_status "gate: a slower program fails with 3" 3
expect_grep "gate: what is not committed is measured, and said" report.md '^- B: head: the work tree \([0-9a-f&#;]+ and uncommitted changes\)$'
expect_grep "gate: what regressed, by how much" report.md \
	'^- \*\*prog.work/step\*\*: \+[0-9.]+ % \\\[\+[0-9.]+, \+[0-9.]+\\\], measured again: \+[0-9.]+ % \\\['
expect_grep "gate: the lines that it is in" report.md '^[0-9]+ lines? of prog.bpf.c: '
expect_grep "gate: the verdict is in the table" report.md '^\| prog.work/step \|.*\*\*regressed\*\* \|'
expect_grep "gate: with --markdown, stdout has text, which a log shows" out '^  prog.work/step: \+[0-9.]+ % \[\+'
check "gate: both measurements are stored" only_whole "$WORK/results" 2
rm -rf "$WORK/results"
expect_eq "gate: the work tree is as it was" "$(here git status --porcelain | tr '\n' ' ')" " M prog.bpf.c ?? new.h "
run env -C "$repo" "$BPFBENCH" gate --quiet --base main --each 1 --markdown /dev/stdout
expect_eq "gate: --markdown /dev/stdout is --markdown -" "$(grep -c 'bpfbench gate: ' "$TMP/out")" 1
here git add -A
here git commit -qm slower
gate --base main --head main~1
expect_status "gate: the other way round it improved and passes" 0
expect_grep "gate: improved is said" out 'improved'
gate --base main~1 --head main --threshold 900
expect_status "gate: below the threshold it passes" 0

# --- the verifier's figures ---
gate --base main~1 --head main --threshold 900 --each 1 --complexity 80% --grow 900%
expect_status "gate: --complexity: far from the limit it passes" 0
gate --base main~1 --head main --threshold 900 --each 1 --complexity 0.1% --grow 10%
expect_status "gate: --complexity and --grow fail with 3" 3
expect_grep "gate: --complexity and --grow: the figures are said" out \
	'^- \*\*prog.work\*\*: verified instructions: [0-9 ]+ to [0-9 ]+, 0\.2 % of the limit; .*--complexity.*--grow'

# --- one instruction more, which no clock can see ---
here git checkout -q -b longer main
here sed -i 's/^__sync_fetch_and_add(&sink, x);/x ^= 0x5bd1e995; \/\/ one more\n&/' prog.bpf.c
gate --base main --exact --each 1
expect_status "gate: --exact: one instruction more fails with 3" 3
expect_grep "gate: --exact: it is counted, twice" out '^\| prog.work/exact \| ([0-9 ]+) \| [0-9 ]+ \| \+1 \| \*\*regressed\*\* \|$'
expect_grep "gate: --exact: the line is shown" out '^- \+1  prog\.bpf\.c:[0-9]+  x \^= 0x5bd1e995; // one more$'
gate --base main --each 1
expect_status "gate: without --exact it is reported and fails nothing" 0
expect_grep "gate: without --exact, with its line" out '^- \+1  prog\.bpf\.c:[0-9]+  x '
here git reset -q --hard
gate --base main --unchanged --exact --each 1
expect_status "gate: --exact: an unchanged revision passes" 0
expect_grep "gate: --exact: and was counted" out '^Executed instructions per run: 0 of 1 cases differ$'
here git checkout -q main

# --- programs and objects that are not in both revisions ---
here git mv prog.bpf.c other.bpf.c
here sed -i 's/prog.bpf.o/other.bpf.o/' Makefile
gate --base main
complains "gate: no object in common" 1 'base and head have no object in common: prog.bpf.o is only in base'
here git reset -q --hard
sed -i 's/^char LICENSE/SEC("tc") int more(struct __sk_buff *ctx) { return 0; }\n&/' "$repo/prog.bpf.c"
here sed -i 's/all: .*/all: prog.bpf.o extra.bpf.o/' Makefile
cp "$repo/prog.bpf.c" "$repo/extra.bpf.c"
gate --base main --each 1
expect_status "gate: a new program and a new object fail nothing" 0
expect_grep "gate: a new program is listed" out '^- prog.bpf.o, more: new in head$'
expect_grep "gate: a new object is listed" out '^- extra.bpf.o: new in head$'
here git reset -q --hard
rm -f "$repo/extra.bpf.c"
here sed -i 's/^SEC("tc")/SEC("kprobe\/x")/' prog.bpf.c
gate --base main
expect_status "gate: a program of another type cannot be compared: exit code 4" 4
expect_grep "gate: its types are named" out 'its type was sched.*_cls and is kprobe'
here git reset -q --hard
here sed -i 's/return 0;/return *(int *)(__u64)(sink + 1);/' prog.bpf.c
gate --base main
expect_status "gate: a program that does not load any more: exit code 1" 1
expect_grep "gate: it is named" out '^- prog.bpf.o, work: head does not load, base does: '
here git reset -q --hard

# --- builds ---
gate --base main --build 'echo no such header >&2; exit 7'
complains_of_build() { grep -q "^bpfbench: base, main ([0-9a-f]*) does not build: .* ended with 7; the end" "$TMP/err" && grep -qx 'no such header' "$TMP/err"; }
expect_status "gate: a base that does not build: exit code 1" 1
check "gate: the end of the build's log is shown" complains_of_build
gate --base main --object nowhere.o
complains "gate: an object that no build made" 1 'nowhere.o: neither build made it'
gate --base main --build true
complains "gate: no object at all" 1 'neither build made a \*.bpf.o'
here git rm -q Makefile
gate --base main
complains "gate: no Makefile" 1 'head, the work tree .* has no Makefile at its top; name the command that makes its objects: --build'
here git reset -q --hard

# --- another user's repository, and what is left behind ---
chown -R "$NOBODY" "$repo"
run env -C "$repo" "$BPFBENCH" gate --quiet --base main --build "id -u >$WORK/uid; make"
expect_status "gate: a repository of another user" 0
expect_eq "gate: is built as that user" "$(cat "$WORK/uid")" "$NOBODY"
expect_eq "gate: nothing of root's is left in it" "$(find "$repo" ! -uid "$NOBODY")" ""
chown -R root "$repo"
check "gate: no scratch folder or work tree is left" nothing_left
for signal in TERM KILL; do
	start env -C "$repo" "$BPFBENCH" gate --base main --build "touch $WORK/started; sleep 600"
	wait_until 20 test -e "$WORK/started" || true
	stop_child "$signal"
	check "gate: after SIG$signal during a build nothing is left" wait_until 10 nothing_left
	rm -f "$WORK/started"
done

# --- a scenario ---
cat >"$repo/work.yml" <<'YML'
name: mine
object: prog.bpf.o
variants: [{name: steps, program: work}]
drive: [{with: step, trigger: test-run}, {with: in-situ, event: cpu-clock, workload: amicable_pairs, freq_hz: 100}]
YML
here set_steps 1200
gate --base main --scenario "$repo/work.yml"
expect_status "gate: with a scenario: a slower program fails with 3" 3
expect_grep "gate: with a scenario: its names" out '^\| mine.steps/step \|'
expect_no_grep "gate: with a scenario: drives by time are left out" out 'in-situ'
gate --base main --scenario "$repo/work.yml" --drive nosuch
complains "gate: an unknown drive is named" 1 "nosuch"
gate --base main --drive step
complains "gate: --drive is for a scenario" 2 'drive is for a --scenario'
gate --base main --scenario "$repo/work.yml" --exact
complains "gate: --exact without a drive that counts" 1 'work.yml: --exact takes a drive \{with: exact\}'
here git reset -q --hard
rm "$repo/work.yml"

# --- the workflows, as they stand in their files ---
# Only `git clone` is replaced: a link to this tree, which is built already, takes its place.
mkdir "$TMP/bin"
cat >"$TMP/bin/git" <<SH
#!/bin/sh
[ "\$1" = clone ] || exec "$(type -P git)" "\$@"
for word; do url=\$dir dir=\$word; done
exec ln -s "\$url" "\$dir"
SH
printf '#!/bin/sh\nexec "$@"\n' >"$TMP/bin/sudo"
chmod +x "$TMP/bin/git" "$TMP/bin/sudo"

# block FILE KEY N: the N-th block of text that follows KEY.
block() {
	awk -v key="$2" -v n="$3" '
		inside { match($0, /^ */); if ($0 != "" && RLENGTH < indent) exit; print substr($0, indent + 1); next }
		index($0, key) && ++seen == n { getline; match($0, /^ */); indent = RLENGTH; inside = 1; print substr($0, indent + 1) }' "$1"
}
block ci/gitlab/gate.yml '- |' 1 >"$TMP/gitlab.sh"
make_runner "$TMP/actions"

# job ENGINE BASE: the workflow as the engine runs it, with the variables that it sets. O= must be,
# to the letter, the one that this tree was built with: another would rebuild it, also for later
# tests.
job() {
	rm -rf "$TMP/runner"
	mkdir "$TMP/runner"
	if [[ $1 == github ]]; then
		O="$(<"$ROOT/.built-for")" run_action "$repo" "$2" build='make all' options='--each 10'
		cp "$runner/summary" "$TMP/runner/gate.md"
		return
	fi
	run env -C "$repo" O="$(<"$ROOT/.built-for")" PATH="$TMP/bin:$PATH" BPFBENCH_URL="$ROOT" BPFBENCH_REF='' \
		GATE_OPTIONS="--each 10 --build 'make all'" CI_MERGE_REQUEST_DIFF_BASE_SHA="$2" CI_PROJECT_DIR="$TMP/runner" \
		BB_NO_INSTALL=1 bash -eo pipefail "$TMP/gitlab.sh"
}
slow=$(here git rev-parse main) fast=$(here git rev-parse main~1)
here git checkout -q -b broken main
echo 'all: ; false' >"$repo/Makefile"
here git commit -qam broken
here git checkout -q -b mended
here git checkout -q main -- Makefile
here git commit -qm mended
for engine in github gitlab; do
	report=$TMP/runner/gate.md
	here git checkout -q main
	job $engine "$slow"
	expect_status "gate: ci/$engine/gate.yml: an unchanged revision passes" 0
	check "gate: ci/$engine/gate.yml: the report is kept" grep -q '^## bpfbench gate: passed (exit code 0): nothing to compare' "$report"
	job $engine "$fast"
	expect_status "gate: ci/$engine/gate.yml: a slower program fails with 3" 3
	check "gate: ci/$engine/gate.yml: what regressed is in the report" grep -q 'prog.work/step\*\*: +' "$report"
	here git checkout -q mended
	job $engine "$(here git rev-parse broken)"
	expect_status "gate: ci/$engine/gate.yml: a base that does not build is an error" 1
	expect_grep "gate: ci/$engine/gate.yml: and says so" err 'base, [0-9a-f]+ .* does not build: `make all` ended with 2'
done
expect_eq "gate: action.yml: one comment, about the regression" "$(grep -c 'prog.work/step\*\*: +' "$runner/comments"/*)" 1
folder=$(find "$runner/temp" -name report.html -printf '%h\n' | head -n 1)
expect_eq "gate: action.yml: the line is named" "$(head -n 1 "$folder/source-lines.txt" | sed 's/[0-9.]* ns/N ns/')" \
	"prog.bpf.c:16: prog.work: +N ns a run"
check "gate: action.yml: BMF" valid_bmf "$folder/bmf.json"
expect_eq "gate: the workflows leave no work tree behind" "$(here git worktree list | wc -l)" 1
plan_done
