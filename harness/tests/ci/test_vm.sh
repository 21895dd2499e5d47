#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ci/vm-test.sh with a script in place of bpfbench: the table, the outcomes, time limits, and that no process or file is left behind.
# harness/tests/vm/ runs it with real guests.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

fake=$TMP/fake vm=$TMP/o/vm
mkdir -p "$fake" "$vm"/bpfbench/vm/9.{1,2} "$TMP"/o/{bpf,workloads,tests/bpf}
touch "$vm"/bpfbench/vm/9.{1,2}/vmlinuz "$TMP/o/tests/bpf/x.bpf.o"
cat >"$fake/bpfbench" <<EOF
#!/usr/bin/env bash
[[ \$2 == shell ]] || { echo "bpfbench: \$3: no network" >&2; exit 4; }
. "$vm/\$3.play"
EOF
chmod +x "$fake/bpfbench"
play() { cat >"$vm/$1.play"; }
vm_test() { run env O="$TMP/o" BPFBENCH="$fake/bpfbench" BB_VM_TESTS="unit/x" "$@"; }

play 9.1 <<'EOF'
printf 'ok    bpf   loads\nwarn  perf_pmu   no PMU\nok    smt   no matter\n2 ok, 1 warn, 0 fail, 0 skip\n'
printf 'ok    unit/x     7 passed   0 failed   1 skipped   3.00 s\n\nskipped:\n  unit/x: y - too old\n\n7 passed, 0 failed, 1 skipped\n'
EOF
play 9.2 <<'EOF'
printf 'ok    bpf   loads\n1 ok, 0 warn, 0 fail, 0 skip\n'
printf 'FAIL  unit/x     5 passed   2 failed   0 skipped   3.00 s\n      | failed: z\n\n5 passed, 2 failed, 0 skipped\n'
exit 1
EOF
vm_test ci/vm-test.sh 9.1
expect_status "what passes: exit code 0" 0
expect_grep "what passes: how many passed, and were skipped" out '^unit/x +7, 1 skipped$'
expect_grep "what passes: the verdict" out '^all of it +passed$'
expect_grep "what is missing is said, with the reason" out '^9.1: perf_pmu +no PMU$'
expect_grep "what is skipped as well" out '^9.1: unit/x: y - too old$'
expect_no_grep "what is not the kernel's stays out" out 'smt'
vm_test ci/vm-test.sh 9.1 9.2
expect_status "a failure: exit code 1" 1
expect_grep "two kernels: a column each" out '^capability, or passed +9\.1 +9\.2$'
expect_grep "two kernels: a cell where only one has it" out '^perf_pmu +warn +-$'
expect_grep "a failure: in the table" out '^unit/x +7, 1 skipped +5, 2 FAILED$'
expect_grep "a failure: the verdicts" out '^all of it +passed +FAILED$'
expect_grep "a failure: by name" err 'failed: z$'

play 9.1 <<'EOF'
echo "bpfbench: Kernel panic" >&2
exit 1
EOF
vm_test ci/vm-test.sh 9.1
expect_status "a guest that ends early: exit code 1" 1
expect_grep "a guest that ends early: in the table" out '^all of it +ENDED EARLY$'
expect_grep "a guest that ends early: its last words" err '^bpfbench: Kernel panic$'
play 9.1 <<EOF
echo \$\$ >"$TMP/pid"
exec sleep 600
EOF
vm_test env BB_VM_TIMEOUT=3 ci/vm-test.sh 9.1
expect_status "the time is over: exit code 1" 1
expect_grep "the time is over: in the table" out '^all of it +TIMED OUT$'
expect_grep "the time is over: says so" err 'the time was over after 3 s'
# shellcheck disable=SC2317 # called by check
ended() { [[ -s $TMP/pid ]] && ! kill -0 "$(<"$TMP/pid")" 2>/dev/null; }
# shellcheck disable=SC2317 # called by check
gone() { ended && [[ -z $(ls -d "$vm"/tree.* 2>/dev/null) ]]; }
check "the time is over: nothing is left" wait_until 2 gone
for signal in TERM KILL; do
	rm -f "$TMP/pid"
	start env O="$TMP/o" BPFBENCH="$fake/bpfbench" BB_VM_TESTS=unit/x ci/vm-test.sh 9.1
	check "$signal: the guest runs" wait_until 10 test -s "$TMP/pid"
	stop_child "$signal"
	if [[ $signal == TERM ]]; then
		expect_status "$signal: exit code 130" 130
		check "$signal: nothing is left" wait_until 2 gone
	else
		check "$signal: the guest ends as well" wait_until 2 ended
	fi
done
rm -rf "$vm"/tree.*

vm_test ci/vm-test.sh 9.3
expect_status "no network: exit code 4" 4
expect_grep "no network: the last line is the reason" err '^bpfbench: 9.3: no network$'
vm_test ci/vm-test.sh 9.2 9.3
expect_status "one of two kernels is not there: exit code 1" 1
expect_grep "one of two kernels is not there: in the table" out '^all of it +FAILED +not fetched$'
for tool in bash env cat dirname uname realpath; do ln -s "$(command -v "$tool")" "$fake/$tool"; done
run env O="$TMP/o" BPFBENCH="$fake/bpfbench" PATH="$fake" bash ci/vm-test.sh 9.1
expect_status "no QEMU: exit code 4" 4
expect_grep "no QEMU: says so" err 'no qemu-system-x86_64 here'
run ci/vm-test.sh
expect_status "no kernel: usage" 2
plan_done
