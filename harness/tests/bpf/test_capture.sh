#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bpfbench capture`: the file with the programs that a command loaded, measured like an object;
# commands that fork, load nothing or do not end; bpfbench killed while the command loads.
# slow: it waits for commands to be attached, to end and to be killed
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"
# shellcheck source=harness/tests/gate_repo.sh
. "$(dirname "$0")/../gate_repo.sh"

names=("the file" "measured" "tail calls" "commands" "killed" "two at once" "gate")
need_root "${names[@]}" || plan_done
objects=$O/tests/bpf load=$O/tests/tools/load_all file=$TMP/a.capture

capture() { run "$BPFBENCH" capture -o "$file" "$@"; }
manifest() { tar xOf "$file" bpfbench-capture.json; }
loaders() { pgrep -f "^$load" || true; }
no_loader() { [[ -z $(loaders) ]]; }
end_loaders() {
	local -a left

	mapfile -t left < <(loaders)
	end_processes "${left[@]}"
}

# --- the file ---
capture -- "$load" "$objects/sections.bpf.o"
expect_status "the file: exit code 0" 0
expect_grep "the file: its programs are listed" out '^  sampled +perf_event .* perf_event cpu-clock, 99 Hz$'
expect_eq "the file: it is the caller's alone" "$(stat -c %a "$file")" 600
check "the file: a plain tar with a manifest" tar tf "$file" bpfbench-capture.json
check "the file: nothing of the command is left" wait_until 2 no_loader
mv "$file" "$TMP/sections.capture"
capture --no-contents -- "$load" "$objects/sections.bpf.o"
expect_status "without contents: exit code 0" 0
manifest >"$TMP/manifest"
check "without contents: said in the file" grep -q '"left_out": "as asked for"' "$TMP/manifest"

# --- measured like the object ---
# measured CASE...: each has a latency above 0 in the BMF of the last run. For `check`.
measured() {
	local case

	for case in "$@"; do more "$(bmf "$TMP/out" "$case" latency)" 0 || { printf '%s\n' "$case"; return 1; }; done
}
run_undisturbed "$BPFBENCH" --object "$TMP/sections.capture" --program counts --loads 2 -n 48 --no-store
expect_status "measured: exit code 0" 0
check "measured: beside its floor" measured sections/{empty-xdp,counts}/{step,slope}
run "$BPFBENCH" compare --exact --base-object "$objects/sections.bpf.o" --head-object "$TMP/sections.capture" \
	--program counts --no-store
expect_status "measured: it executes the instructions of the object" 0
expect_grep "measured: none more or less" out 'counts|same'
run "$BPFBENCH" --object "$TMP/sections.capture" --program counts --cpus 1,all --per-cpu bpfbench_pin --no-store
complains "--per-cpu: not the maps of a capture" 1 '--per-cpu=bpfbench_pin: .*sections\.capture is a capture, .*give the object file$'
run "$BPFBENCH" init "$TMP/sections.capture"
expect_status "init: a scenario of it" 0
expect_grep "init: where it was attached" out 'section "?perf_event/cpu-clock, 99 Hz'

# other commands that take an object
capture -- "$load" -1 "$objects/loop.bpf.o"
run "$BPFBENCH" --object "$file" --lines --loads 2 -n 200 --results "$TMP/results" --quiet
expect_status "lines: exit code 0" 0
run "$BPFBENCH" annotate latest --results "$TMP/results"
expect_grep "annotated: the executions of a line of its source" out '^ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+  .*;'
run "$BPFBENCH" annotate --time latest --results "$TMP/results"
expect_grep "annotated: the time of its lines" out '^a/loop/lines: [0-9.]+ ns per run'
run "$BPFBENCH" report latest --results "$TMP/results" -o "$TMP/page.html"
expect_status "a page about it: exit code 0" 0
# A load is void, rightly, if its caches were warmer or colder than those of the others, as may
# happen where other guests of the host use the caches. With all loads void: once more.
for _ in 1 2 3 4 5; do
	run_undisturbed "$BPFBENCH" --object "$file" --drive step --cold --drive step-cold --loads 4 -n 20 --no-store
	! measured a/{empty-xdp,loop}/step-cold >"$TMP/measured" || break
	sed -n 's/^.* void: /# void: /p' "$TMP/err"
done
expect_status "cold: exit code 0" 0
check "cold: measured" measured a/{empty-xdp,loop}/step-cold

run_undisturbed "$BPFBENCH" --capture "$load $objects/sections.bpf.o" --program counts --loads 2 -n 48 --no-store
expect_status "in one line: exit code 0" 0
check "in one line: measured" measured load_all/{empty-xdp,counts}/{step,slope}
run_undisturbed "$BPFBENCH" --loads 2 -n 48 --no-store --program counts -- "$load" "$objects/sections.bpf.o"
expect_status "in one line, without a shell: exit code 0" 0
check "in one line, without a shell: measured" measured load_all/{empty-xdp,counts}/{step,slope}
check "in one line: the capture is not kept" test -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'bpfbench-capture-*' -newer "$file")"

# --- tail calls: the programs that are called are loaded, too ---
capture -- "$load" -1 "$objects/tailcall.bpf.o"
run_undisturbed "$BPFBENCH" --object "$file" --program first --drive step --loads 2 -n 300 --no-store
expect_status "tail calls: exit code 0" 0
# Another program on this machine may slow down one of the two runs: then both are done again.
as_in_object() {
	cp "$TMP/out" "$TMP/captured.bmf"
	run_undisturbed "$BPFBENCH" --object "$objects/tailcall.bpf.o" --program first --drive step --loads 2 -n 300 --no-store
	near "$(bmf "$TMP/captured.bmf" a/first/step latency-p50)" "$(bmf "$TMP/out" tailcall/first/step latency-p50)" 50 && return
	run_undisturbed "$BPFBENCH" --object "$file" --program first --drive step --loads 2 -n 300 --no-store
	return 1
}
check "tail calls: they count towards the caller, as in the object" wait_until 1 as_in_object

# --- commands ---
capture -- true
complains "a command that loads nothing" 4 "'true', which ended with exit code 0, loaded no BPF program"
check "a command that loads nothing: no file of it" test ! -e "$TMP/true.capture"
capture -- /nonexistent/command
complains "no such command" 1 'cannot be executed: No such file'
rm -f "$file"
capture --for 0.3 -- sleep 60
expect_status "a command that does nothing for long: exit code 4" 4
capture -- sh -c "trap '' INT TERM; '$load' '$objects/attach.bpf.o' & wait; sleep 60"
expect_status "a command that forks and does not end when it is asked to: exit code 0" 0
check "a command that does not end: it is gone" wait_until 2 no_loader
capture -- setpriv --no-new-privs "$load" -1 "$objects/sections.bpf.o"
expect_status "a command that ends at once, after an exec: exit code 0" 0
capture -- "$load" "$objects/loop.bpf.o" "$objects/rejected.bpf.o"
expect_status "a command one of whose programs is refused: exit code 0" 0
expect_grep "a command one of whose programs is refused: said" out '^  rejected .*the kernel refuses it: '
rm -f "$file"
capture -- "$load" "$objects/rejected.bpf.o"
expect_status "a command whose only program is refused: exit code 4" 4
expect_grep "a command whose only program is refused: why" err "^bpfbench: '.*'.* loaded no program that the kernel takes; 'rejected' is refused: Permission denied: "
check "a command whose only program is refused: no file" test ! -e "$file"
BB_SECRET=1 BB_KEPT=1 run "$BPFBENCH" capture -o "$file" --env BB_KEPT --until "env; until test -e $TMP/loaded; do sleep 0.1; done" \
	-- sh -c "env; $load -1 $objects/sections.bpf.o; touch $TMP/loaded; exec sleep 60"
expect_status "the environment: exit code 0" 0
expect_no_grep "the environment is a clean one" err '^BB_SECRET='
expect_eq "but for --env; that of --until, too" "$(grep -c '^BB_KEPT=1$' "$TMP/err")" 2
capture --leave -- "$load" "$objects/sections.bpf.o"
check "left alone: the command goes on" pgrep -f "^$load"
end_loaders

# --- damaged ---
head -c 20000 "$TMP/sections.capture" >"$TMP/cut.capture"
run "$BPFBENCH" --object "$TMP/cut.capture" --no-store
complains "a damaged file" 1 'a damaged capture'

# --- bpfbench is killed while the command loads ---
rm -f "$file"
start "$BPFBENCH" capture -o "$file" --for 600 -- "$load" -t 200 "$objects/sections.bpf.o"
wait_until 5 pgrep -f "^$load" || true
stop_child KILL
check "killed: the command goes on to its end" wait_until 20 grep -q '^[0-9]* programs' "$TMP/err"
end_loaders
check "killed: no file" test ! -e "$file"

# --- two at once ---
"$BPFBENCH" capture -o "$TMP/b.capture" --until "until grep -q '^[0-9]* programs' '$TMP/err.b'; do sleep 0.05; done; sleep 1" \
	-- "$load" "$objects/tailcall.bpf.o" >"$TMP/out.b" 2>"$TMP/err.b" &
other=$!
capture -- "$load" "$objects/sections.bpf.o"
status_a=$status
wait "$other" && status_b=0 || status_b=$?
expect_eq "two at once: exit codes 0" "$status_a $status_b" "0 0"
check "two at once: each has its own programs" grep -q ' counts ' "$TMP/out"
check "two at once: and not the other's" test "$(grep -c ' counts ' "$TMP/out.b")" = 0
# --- gate: programs of two revisions, without naming an object ---
gate() { (cd "$WORK/repo" && run "$BPFBENCH" gate --markdown - --base main --capture "$load prog.bpf.o" --each 20 "$@"; printf '%s' "$status" >"$TMP/status"); status=$(<"$TMP/status"); }
make_repo "$WORK/repo" 40
sed -i '/^char LICENSE/i SEC("tc") int unchanged(struct __sk_buff *ctx) { return 1; }\nSEC("perf_event") int before(void *ctx) { return sink & 1; }' \
	"$WORK/repo/prog.bpf.c"
git -C "$WORK/repo" commit -qam 'two more programs'
(cd "$WORK/repo" && set_steps 400 && sed -i 's/int before(void \*ctx) { return sink & 1/int after(void *ctx) { return sink \& 3/' prog.bpf.c)
((${#user[@]} == 0)) || chown -R "$NOBODY:$NOGROUP" "$WORK/repo"
gate
expect_status "gate: a program that got slower: exit code 3" 3
expect_grep "gate: by its name" out '^\| capture\.work/step .*\*\*regressed\*\*'
expect_grep "gate: the same program is not measured" out '^- capture, unchanged: the same bytes in both'
expect_grep "gate: a renamed program is paired by its place" out "^- capture, after: renamed: called 'before' in base"
gate --head main
expect_status "gate: nothing changed: exit code 0" 0
expect_no_grep "gate: nothing changed, nothing measured" out 'regressed\*\*'
plan_done
