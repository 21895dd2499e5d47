#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The set-up commands of a scenario: they run as the caller in namespaces of their own, test runs see their devices, a command
# that fails ends the run with its last lines, and nothing of them stays.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

names=("devices" "the caller" "a long output" "a command that fails" "the budget" "a signal" "nothing is left behind")
need_root "${names[@]}" || plan_done
need_user "${names[@]}" || plan_done
need_command ip "${names[@]}" || plan_done
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# scenario COMMAND...: these set-up commands, and a program that runs on packets of device 77
scenario() {
	{
		printf 'name: setup\nobject: %s\nsetup:\n' "$O/tests/bpf/held.bpf.o"
		printf '  - %s\n' "$@"
		printf 'variants: [{name: a, program: rcu}]\n'
		printf 'drive: [{with: step, trigger: test-run, samples: 60, inputs: [{name: x, packet: {%s}, skb: {%s}}]}]\n' \
			"ipv4: {src: 10.0.0.1, dst: 10.0.0.2}" "ingress_ifindex: 77, ifindex: 77"
	} >"$TMP/setup.yml"
	chmod 755 "$TMP"
	chmod 644 "$TMP/setup.yml"
}
measure() { run "${sudo[@]}" "$BPFBENCH" --scenario "$TMP/setup.yml" --loads 6 --results "$results" "$@"; }
no_sleep() { ! pgrep -f "sleep 4711.$$" >/dev/null; }

scenario "true"
measure
if grep -q 'kernel.unprivileged_userns_clone' "$TMP/err"; then
	skip_each "no user namespaces here" "${names[@]}" || plan_done
fi
expect_status "devices: without them the kernel refuses the input" 1
expect_grep "devices: and says so" err "No such device"

scenario "ip link add name uplink index 77 type veth peer name far" \
	"id -u >$WORK/said; grep -E '^(NoNewPrivs|CapEff)' /proc/self/status >>$WORK/said; ip -br link >>$WORK/said" \
	"(setsid sleep 4711.$$ &)" "touch /etc/bpfbench-setup-$$ || touch $WORK/refused"
measure
expect_status "devices: the test runs see them" 0
check "devices: they are not in our namespace" eval '! ip link show uplink'
check "the caller: root in the namespaces" grep -qx 0 "$WORK/said"
check "the caller: gets no more rights" grep -qx 'NoNewPrivs:.1' "$WORK/said"
expect_eq "the caller: no devices but these and lo" "$(grep -c '@\|^lo' "$WORK/said")" 3
check "the caller: writes as this user" test "$(stat -c %u "$WORK/said")" = "$NOBODY"
check "the caller: may not write files of root" test -e "$WORK/refused" -a ! -e "/etc/bpfbench-setup-$$"
check "the caller: what it left in the background is gone" wait_until 2 no_sleep

scenario "head -c 64M /dev/zero; sleep 0.5; stat -Lc %s /proc/self/fd/1 >$WORK/size" "(sleep 0.1; echo late && touch $WORK/late) &" \
	"ip link add name uplink index 77 type veth peer name far"
measure
expect_status "a long output: goes on" 0
check "a long output: is not kept" test "$(<"$WORK/size")" -lt 1048576
check "a long output: commands in the background may write" test -e "$WORK/late"

scenario "(setsid sleep 4711.$$ &)" "echo one; echo 'no such' thing >&2; exit 3" "touch $WORK/third"
measure
expect_status "a command that fails: ends the run" 1
expect_grep "a command that fails: is named, with its last lines" err "setup: 'echo one; .* ended with exit code 3; .*one no such thing"
check "a command that fails: is the last" test ! -e "$WORK/third"
check "a command that fails: what was in the background is gone" wait_until 2 no_sleep

scenario "sleep 4711.$$"
measure --budget 2
expect_status "the budget: ends the commands" 1
expect_grep "the budget: the message" err "setup takes longer than its share of the budget"
check "the budget: the command is gone" wait_until 2 no_sleep

"${sudo[@]}" "$BPFBENCH" --scenario "$TMP/setup.yml" --results "$results" >/dev/null 2>"$TMP/err" &
check "a signal: the command runs" wait_until 20 eval '! no_sleep'
kill -TERM $!
wait $! || :
expect_grep "a signal: ends the commands" err "stopped by signal 15"
check "a signal: the command is gone" wait_until 2 no_sleep

run "${sudo[@]}" "$BPFBENCH" --scenario "$TMP/setup.yml" --dry-run
expect_status "nothing runs with --dry-run" 0

nothing_left "nothing is left behind" 2
plan_done
