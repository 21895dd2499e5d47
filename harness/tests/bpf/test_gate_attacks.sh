#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `sudo bpfbench gate` on a tree whose author means harm: its build, its files, its names. The user
# is nobody, who may do all that a pull request can. Little is measured, so that the test takes
# seconds.
# slow: builds that do not end are given seconds each
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check and wait_until call
. "$(dirname "$0")/../tool.sh"

names=("gate: attacks")
need_root "${names[@]}" || plan_done
need_command git "${names[@]}" || plan_done
need_command clang "${names[@]}" || plan_done
need_user "${names[@]}" || plan_done
# shellcheck source=harness/tests/gate_repo.sh
. "$(dirname "$0")/../gate_repo.sh"

repo=$WORK/repo
token="bpfbench-attack-$$"
export TMPDIR=$WORK/tmp
touch "$TMP/began"
make_repo "$repo" 1
mkdir -m 700 "$TMPDIR" "$TMP/secret"
echo "the secret $token" >"$TMP/secret/secret.bpf.o"
chmod 600 "$TMP/secret/secret.bpf.o"
chown -R "$NOBODY" "$WORK"

# `gate` is called by nobody through sudo, `owner` by root itself, in nobody's folder.
as_caller=("SUDO_UID=$NOBODY" "SUDO_GID=$NOGROUP")
gate() { run env -C "$repo" "${as_caller[@]}" "$BPFBENCH" gate --quiet --markdown - --base main "$@"; }
owner() { run env -C "$repo" "$BPFBENCH" gate --quiet --base main "$@"; }
here() { (cd "$repo" && HOME=/nonexistent "${user[@]}" "$@"); }
nothing_left() {
	[[ -z $(find "$TMPDIR" -mindepth 1; find /run /tmp -maxdepth 1 -name 'bpfbench-gate.*' -newer "$TMP/began" -gid "$NOGROUP") &&
		$(here git worktree list | wc -l) == 1 ]]
}
none_runs() { ! pgrep -f "$token" >"$TMP/pids"; }
no_secret() { ! grep -rqF "the secret $token" "$TMP/out" "$TMP/err" "$repo"; }

# --- the object that the build makes ---
for whose in gate owner; do
	"$whose" --build "ln -s $TMP/secret/secret.bpf.o evil.bpf.o" --object evil.bpf.o
	complains "$whose: a symbolic link as the object is not followed" 1 'evil.bpf.o is a symbolic link'
	"$whose" --build "ln -s /etc/shadow evil.bpf.o"
	complains "$whose: and not found by itself" 1 'neither build made a \*.bpf.o'
	"$whose" --build "ln -s $TMP/secret sub" --object sub/secret.bpf.o
	complains "$whose: a link to a folder leads where the user may go" 1 'secret.bpf.o, as the user [0-9]+ who built it: Permission denied'
	"$whose" --build "mkfifo evil.bpf.o" --object evil.bpf.o
	complains "$whose: a FIFO is no object, and nobody waits for it" 1 'evil.bpf.o: not a regular file'
	"$whose" --build "truncate -s 300M evil.bpf.o"
	complains "$whose: nor is a file of any size" 1 'evil.bpf.o cannot be copied.*File too large'
	if (($(df --output=avail -k /run | tail -n 1) > 700000)); then
		"$whose" --build 'for i in 1 2 3; do truncate -s 250M evil$i.bpf.o; done'
		complains "$whose: nor are many of any size together" 1 'evil3.bpf.o: with this one, the objects of both builds .* more than 512 MiB'
	else
		skip "$whose: nor are many of any size together" "/run has less than 700 MB"
	fi
	"$whose" --build "id -u; false"
	expect_grep "$whose: builds are nobody's" err "^$NOBODY\$"
	"$whose" --build "grep NoNewPrivs /proc/self/status; false"
	expect_grep "$whose: and stay it" err 'NoNewPrivs:.1'
done
check "gate: no secret came out" no_secret

# --- processes that the build leaves behind ---
cat >"$WORK/swap.sh" <<'EOF'
# A daemon that puts another object there, again and again, and says that it is alive.
while :; do
	echo "$0" >>"$1/alive"
	for o in "$1"/tmp/*/tree/prog.bpf.o "$1"/tmp/*/*.o /run/bpfbench-gate.*/*.o; do
		[ ! -e "$o" ] || { echo swapped >"$o.new" && mv -f "$o.new" "$o"; }
		chmod 666 "$o"
	done 2>/dev/null
	sleep 0.01
done
EOF
run env -C "$repo" "${as_caller[@]}" "$BPFBENCH" gate --base main --build "make && cp prog.bpf.o good && { (setsid sh $WORK/swap.sh $WORK $token </dev/null >/dev/null 2>&1 &) & } &&
	timeout 60 sh -c 'until [ -s $WORK/alive ]; do sleep 0.1; done'; sleep 0.5; cp -f good prog.bpf.o"
if grep -q 'no PID namespace' "$TMP/err"; then
	skip "gate: a daemon of the build" "no PID namespace can be made here"
else
	check "gate: a daemon of the build did run" test -s "$WORK/alive"
	expect_no_grep "gate: and had no hand in the outcome" out swapped
	check "gate: it does not outlive the build" none_runs
fi
gate --build "make && setsid sh -c 'trap \"\" TERM HUP INT; sleep 600; : $token' & sleep 0.2"
check "gate: nor does one that ignores signals" none_runs

# --- names ---
here sh -c 'echo 1 >-rf && echo 1 >--help && mkdir -- "-C" && echo 1 >"-C/a b" && git add -A && git commit -qm names'
here sh -c 'echo 1 >--target-directory=x && echo 1 >"-t" && printf 1 >"$(printf "a\nb")" && echo 2 >-rf'
gate --build "make && ls -A . ./-C >$WORK/listing && cat ./-rf >>$WORK/listing"
expect_grep "gate: files that look like options are files" out '^- prog.bpf.o: the same bytes in both, not measured$'
expect_eq "gate: and all are there" "$(grep -xE -e '-rf|--help|-C|a b|--target-directory=x|-t|a|b|2' "$WORK/listing" | sort | tr '\n' ' ')" \
	"$(printf '%s\n' -rf --help -C 'a b' a b --target-directory=x -t 2 | sort | tr '\n' ' ')"
here git reset -q --hard
here git clean -qfd
# shellcheck disable=SC2016 # they are to stay as they are
for branch in '$(touch${IFS}pwned)' ';touch${IFS}pwned;' '`touch${IFS}pwned`' "'\"&touch\${IFS}pwned&\"'" '|touch${IFS}pwned'; do
	here git branch "$branch"
	run env -C "$repo" "${as_caller[@]}" "$BPFBENCH" gate --quiet --base "$branch" --head "$branch"
	expect_grep "gate: a branch called $branch is a branch" out 'the same bytes in both'
done
expect_eq "gate: and no command" "$(find "$repo" "$WORK/tmp" /tmp -maxdepth 2 -name pwned -newer "$TMP/began" 2>/dev/null)" ""

gate --build 'make && cp prog.bpf.o _a@b.bpf.o'
expect_grep "gate: a file's name calls no user on the page of the report" out '^- \\_a@&#8203;b.bpf.o: the same bytes'
owner --build 'make && cp prog.bpf.o _a@b.bpf.o'
expect_grep "gate: a log gets the name as it is" out '^  _a@b.bpf.o: the same bytes'
if need_command script "gate: a terminal gets the name as it is"; then
	run env -C "$repo" "${as_caller[@]}" script -qec "$BPFBENCH gate --quiet --base main --build 'make && cp prog.bpf.o _a@b.bpf.o'" /dev/null
	expect_grep "gate: a terminal gets the name as it is" out '^  _a@b.bpf.o: the same bytes'
fi

# --- commands that git would run ---
for hook in post-checkout post-index-change reference-transaction; do
	printf '#!/bin/sh\ntouch %s/hooked\n' "$WORK" >"$repo/.git/hooks/$hook"
done
chmod +x "$repo"/.git/hooks/*
printf '#!/bin/sh\ntouch %s/monitored\n' "$WORK" >"$WORK/monitor.sh"
chmod +x "$WORK/monitor.sh"
here git -c core.hooksPath=/dev/null config core.fsmonitor "$WORK/monitor.sh"
gate
expect_grep "gate: a repository with hooks" out 'the same bytes in both'
expect_eq "gate: no hook of it was run, no monitor" "$(find "$WORK" -maxdepth 1 -name "*hooked*" -o -name "*monitored*")" ""
rm -f "$repo"/.git/hooks/*
here git config --unset core.fsmonitor

# --- what the build finds in its environment, and its log ---
secret() { run env -C "$repo" "${as_caller[@]}" "BB_TOKEN=$token" GIT_DIR=/nowhere MAKEFLAGS=-n "$BPFBENCH" gate --quiet --base main "$@"; }
secret --build 'env; false'
expect_grep "gate: the build has a PATH" err '^PATH='
expect_no_grep "gate: and no secret of ours" err 'BB_TOKEN|GIT_DIR|MAKEFLAGS|SUDO_'
secret --build 'env; false' --env BB_TOKEN
expect_grep "gate: but what --env names" err "^BB_TOKEN=$token\$"
gate --build 'echo one; echo two >/dev/stderr; echo three >/dev/stdout; false'
expect_eq "gate: a recipe that opens /dev/stderr empties no log" "$(grep -E '^(one|two|three)$' "$TMP/err" | tr '\n' ' ')" "one two three "

# --- commands of its scenario ---
cat >"$repo/fired.bpf.c" <<'EOF'
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
SEC("tp/syscalls/sys_enter_umask") int on_umask(void *ctx) { return 0; }
char LICENSE[] SEC("license") = "GPL";
EOF
cat >"$repo/fired.yml" <<EOF
name: fired
object: fired.bpf.o
variants:
  - {name: on_umask, fired_by: {run: [sh, -c, "umask 22; id -u >>$WORK/fired"]}}
drive:
  - {with: step, trigger: fire}
  - {with: in-situ, event: attach, workload: /bin/sh, args: [-c, "while umask 22; do id -u >>$WORK/workload; done"], seconds: 0.2}
EOF
chown "$NOBODY" "$repo"/fired.*
here git add fired.bpf.c fired.yml
here git commit -qm fired
for whose in gate owner; do
	for what in step:fired in-situ-attach:workload; do
		rm -f "$WORK/${what#*:}"
		"$whose" -s fired.yml --build 'make fired.bpf.o' --unchanged --budget 6 --each 2 --no-store --drive "${what%:*}"
		if [[ ! -e $WORK/${what#*:} ]] && grep -qE 'cannot|not supported|no tracepoint' "$TMP/out"; then
			skip "$whose: ${what#*:}" "$(grep -m 1 -E 'cannot|not supported|no tracepoint' "$TMP/out")"
			continue
		fi
		check "$whose: the command of the scenario was run (${what#*:})" test -s "$WORK/${what#*:}"
		expect_eq "$whose: and it was nobody's" "$(sort -u "$WORK/${what#*:}")" "$NOBODY"
	done
done
here git reset -q --hard HEAD~1

# --- more objects than there is time for ---
here sh -c 'echo "/* changed */" >>prog.bpf.c'
# shellcheck disable=SC2016 # the build's
gate --build 'make && for i in $(seq 60); do { cat prog.bpf.o; date +%s%N; } >more$i.bpf.o; done' --budget 0.02
expect_grep "gate: objects that the budget does not reach are named" out 'more.*the budget was over before its'
here git reset -q --hard

# --- no folder for scratch files ---
mkdir -m 755 "$TMP/roots"
for place in "$TMP/roots" /proc /nowhere; do
	run env -C "$repo" "${as_caller[@]}" "TMPDIR=$place" "$BPFBENCH" gate --base main
	complains "gate: TMPDIR=${place##*/} is none of nobody's" 1 'cannot make a scratch folder'
	run env -C "$repo" "TMPDIR=$place" "$BPFBENCH" gate --base main
	complains "gate: nor when root calls" 1 'cannot make a scratch folder'
done
expect_eq "gate: nothing is left there" "$(find "$TMP/roots" -mindepth 1)" ""

# --- another's repository ---
run env -C "$repo" SUDO_UID=1 SUDO_GID=1 "$BPFBENCH" gate --base main --build "id -u >'$TMP/none'; false"
complains "gate: a caller does not build as the owner of somebody else's repository" 1 'dubious ownership|safe.directory'
check "gate: nothing is left" wait_until 10 nothing_left
plan_done
