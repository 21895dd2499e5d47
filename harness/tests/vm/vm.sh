# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For harness/tests/vm/test_*.sh: a few privileged tests in another kernel, by ci/vm-test.sh. If
# that cannot be done, or not in time (without KVM everything is emulated), it is skipped by name.
# shellcheck source=harness/tests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# slowness_percent: how long a fixed piece of work takes now, at the niceness of the virtual
# machine. 100 is 0.2 s, as on the machine that the limits below are for; 100 to 250. Tests that
# begin later make this machine slower still.
slowness_percent() {
	local began=${EPOCHREALTIME//[!0-9]/} percent

	nice -n 10 bash -c 'for ((i = 0; i < 200000; i++)); do :; done'
	percent=$(((${EPOCHREALTIME//[!0-9]/} - began) / 2000))
	echo $((percent < 100 ? 100 : percent > 250 ? 250 : percent))
}

# The limit of the whole is less than that of run.sh, and includes fetching the kernel. A program of
# tests that hangs is ended before that.
slowness=$(slowness_percent)
vm_limit_s=$((300 * slowness / 100)) vm_test_limit_s=$((180 * slowness / 100))

# vm_details NAME: what run.sh in the guest printed of that program, its line and those below it.
vm_details() { awk -v name="$1" '/^[^ ]/ { is_it = $2 == name } is_it' "$vm_out/out"; }

# in_kernel KERNEL: a TAP line for each program of tests, one for `bpfbench check`, and one for what is missing.
in_kernel() {
	local verdict name units

	vm_out=$O/vm/$1
	# The scripts are left to `make vm-test`. In a chroot of Debian 12, bpf/test_context found no device of its own in 6.1 (ENODEV), each of
	# two times. Why is not known.
	units=$(ci/vm-test.sh --list | grep '^unit/' | tr '\n' ' ')
	run env BB_VM_TESTS="$units" BB_TEST_TIMEOUT=$vm_test_limit_s BB_VM_TIMEOUT=$vm_limit_s ci/vm-test.sh "$1"
	if [[ $status == 4 ]]; then
		skip "Linux $1" "$(tail -n 1 "$TMP/err")"
		return 0
	fi
	if [[ -s $vm_out/out ]]; then
		check "Linux $1: the main job can work" grep -qE ' 0 fail, ' "$vm_out/out"
	fi
	while read -r verdict name _; do
		if [[ $verdict == ok ]]; then ok "Linux $1: $name"; else not_ok "Linux $1: $name" "$(vm_details "$name")"; fi
	done < <(grep -sE '^(ok|FAIL) .* passed +[0-9]+ failed' "$vm_out/out")
	if [[ -e $vm_out/status ]]; then
		expect_grep "Linux $1: is in the table" out "^capability, or passed +$1$"
	elif grep -q 'the time was over' "$TMP/err"; then
		skip "Linux $1: what was left" "$(grep 'the time was over' "$TMP/err")"
	else
		not_ok "Linux $1: runs all tests" "$(tap_shown)"
	fi
}
