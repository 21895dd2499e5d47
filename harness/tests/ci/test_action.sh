#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# action.yml: runs its steps unchanged, with fakes of bpfbench and gh that record their calls, and with GitHub's files. bpf/test_gate.sh
# tests the gate with the real bpfbench.
# shellcheck source=harness/tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=harness/tests/github.sh
. "$(dirname "$0")/../github.sh"

unset "${!GITHUB_@}" "${!GATE_@}"
expect_eq "action: no expression in a run" "$(steps_of action.yml | tr '\037' '\n' | grep -E '^run=.*\$\{\{' || true)" ""
expect_eq "action: actions are pinned to commits" "$(grep -oE 'uses: [^ ]+' action.yml | grep -vE '@[0-9a-f]{40}$' || true)" ""
if need_command actionlint "action: actionlint finds nothing in the workflows"; then
	check "action: actionlint finds nothing in the workflows" actionlint .github/workflows/*.yml ci/github/*.yml
fi
need_command jq "action: comments" || plan_done

make_runner "$TMP/runner"
# The fake gate writes the report of the verdict in FAKE_FOUND, and ends with its exit code.
cat >"$runner/bin/bpfbench" <<'EOF'
#!/usr/bin/env bash
printf '[%s]' "$@" >>"$FAKE_COMMENTS/../bpfbench.log"
echo >>"$FAKE_COMMENTS/../bpfbench.log"
for ((i = 1; i < $#; i++)); do
	value=${@:i+1:1}
	case ${!i} in
	--markdown | --output) report=$value ;;
	--results) results=$value ;;
	--source-lines) lines=$value ;;
	esac
done
[[ $1 == gate ]] || { [[ $1 == vm ]] || touch "$report"; exit "${FAKE_SHOW_RC:-0}"; }
rc=0
case $FAKE_FOUND in
error) echo 'bpfbench: the base does not build' >&2; exit 1 ;;
regressed) rc=3; printf '%s\n' 'src/a,b.bpf.c:15: fw.drop: +12.50 ns a run' 'src/a.bpf.c:9: 100% of it' 'no line' ;;
esac >"${lines:-/dev/null}"
echo "## bpfbench gate: $FAKE_FOUND" >"$report"
[[ $FAKE_FOUND == nothing ]] || { mkdir "$results"; touch "$results/1-gate.json" "$results/2-gate-again.json"; }
exit "$rc"
EOF
chmod +x "$runner/bin/bpfbench"
# found WHAT INPUT=VALUE...: runs the action with these inputs; its gate finds WHAT.
found() { export FAKE_FOUND=$1; run_action "$TMP" 0123abc "${@:2}"; }
comments() { find "$runner/comments" -type f | wc -l; }

found inconclusive
expect_status "action: inconclusive: passes" 0
expect_eq "action: inconclusive: no comment" "$(comments)" 0
expect_eq "action: the report is in the summary" "$(cat "$runner/summary")" "## bpfbench gate: inconclusive"
expect_no_grep "action: inconclusive: no annotation" out '^::'
folder=$(sed -n 's/^folder=//p' "$runner/output")
expect_eq "action: the folder is uploaded" "$(cat "$runner/uploads")" "name=bpfbench-gate-bpf-0 path=$folder"
expect_eq "action: page and BMF are in it" "$(cd "$folder" && echo *.html *.json)" "report.html bmf.json"
expect_eq "action: without inputs, only the base is named" "$(head -n 1 "$runner/bpfbench.log")" \
	"[gate][--base][0123abc][--merge-base][--results][$folder/results][--markdown][$folder/report.md][--source-lines][$folder/source-lines.txt]"
found same
expect_eq "action: the same: no comment" "$(comments)" 0

# a user's comment that contains our marker
printf 'User\n<!-- bpfbench gate, job bpf 0 -->\nmine\n' >"$runner/comments/1"
found regressed
expect_status "action: regressed: fails with 3" 3
expect_eq "action: regressed: one comment" "$(comments)" 2
expect_eq "action: a person's comment is left alone" "$(tail -n 1 "$runner/comments/1")" mine
check "action: the comment has the report" grep -q '^## bpfbench gate: regressed$' "$runner/comments/2"
check "action: and a link to the page" grep -qF '(https://github.example/me/it/actions/runs/42)' "$runner/comments/2"
expect_eq "action: source lines are annotated, and escaped" "$(grep '^::' "$TMP/out")" \
	'::error file=src/a%2Cb.bpf.c,line=15,title=bpfbench::fw.drop%3A +12.50 ns a run
::error file=src/a.bpf.c,line=9,title=bpfbench::100%25 of it'
check "action: a failed gate is uploaded, too" test -s "$runner/uploads"
found regressed
expect_eq "action: regressed again: the same comment" "$(comments)" 2
found error
expect_status "action: an error fails" 1
check "action: an error leaves the comment" grep -q '^## bpfbench gate: regressed$' "$runner/comments/2"
expect_no_grep "action: an error: no annotation" out '^::'
found same
expect_status "action: mended: passes" 0
expect_eq "action: mended: still one comment" "$(comments)" 2
check "action: mended: it says that the regression is gone" grep -q 'not confirmed any more' "$runner/comments/2"
check "action: mended: it has the new report" grep -q '^## bpfbench gate: same$' "$runner/comments/2"
found nothing
expect_status "action: nothing to compare: passes" 0
expect_no_grep "action: nothing to compare: no complaint about a page" out '^::notice'

rm "$runner/comments"/*
FAKE_REFUSES=1 found regressed
expect_status "action: a token that may not comment: the verdict stands" 3
expect_grep "action: a token that may not comment is said" out '^::notice title=bpfbench::the token may not comment'
found regressed comment=false
expect_eq "action: comment: false" "$(comments)" 0
found regressed token=''
expect_status "action: no token: the verdict stands" 3
expect_grep "action: no token is said" out '^::notice title=bpfbench::the comments could not be read'
FAKE_SHOW_RC=1 found same
expect_status "action: no page: the verdict stands" 0

: >"$runner/bpfbench.log"
# shellcheck disable=SC2016 # nobody is to expand it
found same build='make -C src bpf' object=$'a b.o\n$(touch x)\n' scenario='`x`' threshold=2 exact=true options='--each 3 --env "A B" $(y)' base='main; z'
expect_eq "action: inputs arrive as they are" "$(head -n 1 "$runner/bpfbench.log" | sed "s,$TMP/[^]]*/,,g")" \
	'[gate][--base][main; z][--merge-base][--results][results][--markdown][report.md][--source-lines][source-lines.txt][--build][make -C src bpf][--scenario][`x`][--threshold][2][--exact][--object][a b.o][--object][$(touch x)][--each][3][--env][A B][$(y)]'
found same complexity=80%
expect_grep "action: complexity" runner/bpfbench.log '\[--source-lines\]\[[^]]*\]\[--complexity\]\[80%\]$'
found regressed fail-on=never
expect_status "action: fail-on: never: passes" 0
expect_eq "action: fail-on: never: the output has the verdict" "$(sed -n 's/^status=//p' "$runner/output")" 3
check "action: fail-on: never: it is annotated" grep -q '^::error file=' "$TMP/out"
found same fail-on=always
expect_status "action: fail-on: another word: usage" 2
expect_grep "action: fail-on: another word: says so" out "^::error .*the input 'fail-on'"
: >"$runner/bpfbench.log"
found regressed kernels=5.10,6.12
expect_status "action: kernels: fails with 3" 3
expect_eq "action: kernels: fetched, then measured in guests" "$(head -n 2 "$runner/bpfbench.log" | sed "s,$TMP/[^]]*/,,g")" \
	'[vm][fetch][5.10][6.12]
[gate][--base][0123abc][--merge-base][--results][results][--vm][5.10,6.12][--format][markdown][--output][report.md]'
expect_eq "action: kernels: the report is in the summary" "$(cat "$runner/summary")" "## bpfbench gate: regressed"
check "action: kernels: and in the log" grep -q '^## bpfbench gate: regressed$' "$TMP/out"
found same base=''
expect_status "action: no base: usage" 2
expect_grep "action: no base: says so" out "^::error .*the input 'base'"
plan_done
