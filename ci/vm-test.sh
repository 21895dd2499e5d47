#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs privileged tests in Debian's kernels, each in a guest of `bpfbench vm shell`. Called by `make vm-test`; see --help.
set -euo pipefail

ROOT=$(cd -- "${BASH_SOURCE[0]%/*}/.." && pwd)
cd -- "$ROOT"
O=$(realpath -m -- "${O:-build}")
bpfbench=$(realpath -- "${BPFBENCH:-./bpfbench}")
vm=$O/vm kernels=$O/vm/bpfbench/vm
kept=/var/cache/bpfbench
limit_s=${BB_VM_TIMEOUT:-900}
scratch='' child=''
trap '[[ -z $scratch ]] || rm -rf -- "$scratch"' EXIT
# `timeout` has a process group of its own, so the terminal's Ctrl-C does not reach it; it passes SIGTERM on to its command.
trap '[[ -z $child ]] || kill "$child" 2>/dev/null; wait; exit 130' INT TERM
export XDG_CACHE_HOME=$vm

# Some tests of each drive.
default_tests=(unit/test_bpf_fun_xdp unit/test_bpf_maps unit/test_bpf_placement unit/test_bpf_slope
	unit/test_bpf_static unit/test_bpf_stats unit/test_bpf_step unit/test_bpf_test_run bpf/test_context bpf/test_kernel_hooks
	bpf/test_network_hooks bpf/test_reclaim)
# The tests execute these commands. A guest gets those that this machine has. For the others it has busybox.
commands=(awk bash bpftool cat chmod chown comm cp cut date dirname env find flock grep head id ip kill ln ls mkdir mktemp mv nice ps
	realpath rm sed seq setpriv setsid sleep sort stat stdbuf tail tc tee timeout touch tr uname uniq unshare wc xargs)

usage() {
	cat <<-'EOF'
	Usage: ci/vm-test.sh KERNEL... | --list

	Runs `bpfbench check` and privileged tests in guests with Debian's KERNEL (5.10, 6.1, 6.12, ...), emulated by QEMU as for
	`bpfbench vm shell`, and prints what each kernel can do: function, not timing. A guest has one CPU, so tests that need two
	are skipped. --list prints the names of the tests. Needs no root. Kernels, fetched once with signatures checked, and what
	was found are in vm/ of the build folder. Where there is a folder /var/cache/bpfbench, it keeps kernels for other build folders, for 30 days.

	Environment: O, the build folder (build); BPFBENCH, the program (./bpfbench); BB_VM_TESTS, names of tests as for
	harness/tests/run.sh; BB_VM_TIMEOUT, seconds for each kernel (900).
	Exit codes: 0 all passed, 1 a kernel failed, 2 usage, 4 it cannot be tried here (stderr ends with the reason).
	EOF
}

say() { printf 'vm-test: %s\n' "$*" >&2; }
cannot() { say "$@"; exit 4; }

# within SECONDS CMD...: runs CMD in the background, so that this script handles signals at once. CMD ends when this script ends, however
# that happens.
within() {
	local rc=0

	setpriv --pdeathsig TERM timeout -k 5 "$@" <&0 &
	child=$!
	wait "$child" || rc=$?
	child=''
	return $rc
}

# fetch KERNEL: gets the kernel from $kept or from Debian.
fetch() {
	local kernel=$1

	[[ ! -e $kernels/$kernel/vmlinuz ]] || return 0
	mkdir -p "$kernels"
	if [[ -n $(find "$kept/$kernel/vmlinuz" -mtime -30 2>/dev/null) ]]; then
		cp -R -- "$kept/$kernel" "$kernels/"
		return
	fi
	within "$limit_s" "$bpfbench" vm fetch "$kernel" </dev/null || return
	[[ ! -w $kept ]] || { rm -rf -- "${kept:?}/$kernel" && cp -R -- "$kernels/$kernel" "$kept/" && touch "$kept/$kernel/vmlinuz"; } || true
}

# --- guests --------------------------------------------------------------------------------------------------------------
# libraries_of FILE...: prints the libraries that the files need and that a guest does not have for bpfbench already.
libraries_of() {
	{ ldd "$@" 2>/dev/null || true; } | grep -o '/[^ ]*[^ :]' | sort -u | comm -23 - <(ldd "$bpfbench" 2>/dev/null | grep -o '/[^ ]*' | sort -u)
}

# make_tree: fills the folder $scratch and the list $files. The folder gets a copy of each file that the tests read, without debugging
# information. The list names the files that a guest gets: those in the folder, the commands, and the libraries of both.
make_tree() {
	local test

	scratch=$(mktemp -d "$vm/tree.XXXXXX")
	mkdir -p "$scratch/build/tests/bpf"
	for test in "$O"/tests/test_bpf_*; do
		[[ ! -x $test ]] || strip -g -o "$scratch/build/tests/${test##*/}" "$test"
	done
	cp -- "$bpfbench" "$scratch/bpfbench"
	cp -R -- "$O/bpf" "$O/workloads" "$scratch/build/"
	cp -- "$O"/tests/bpf/*.o "$scratch/build/tests/bpf/"
	cp -R -- scenarios "$scratch/"
	tar -c --exclude=golden --exclude=fuzz harness/tests | tar -x -C "$scratch"
	mapfile -t files < <(type -P "${commands[@]}")
	mapfile -t files < <(printf '%s\n' "${files[@]}" && libraries_of "${files[@]}" "$scratch"/build/tests/test_* && find "$scratch" -type f)
}

# run_tests KERNEL: runs the tests in a guest. Their output goes to $vm/KERNEL/out, what `vm shell` says to $vm/KERNEL/err, and its exit
# code to $vm/KERNEL/status.
run_tests() {
	local out=$vm/$1 rc=0

	mkdir -p "$out"
	within "$limit_s" nice -n 10 "$bpfbench" vm shell "$1" "${files[@]}" /etc/passwd /etc/group \
		>"$out/out" 2>"$out/err" <<-EOF || rc=$?
		mkdir -p /dev/shm /dev/pts /root /var/tmp
		mount -t tmpfs -o mode=1777 tmpfs /dev/shm
		mount -t devpts devpts /dev/pts
		ln -sfn /proc/self/fd /dev/fd
		echo +memory >/sys/fs/cgroup/cgroup.subtree_control
		export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C
		export O=$scratch/build BB_TEST_TIMEOUT=${BB_TEST_TIMEOUT:-300}
		export BB_ALONE=1	# nobody else is on this machine: tests may attach what acts on all of it
		cd $scratch
		COLUMNS=1000 ./bpfbench check --details | cat
		exec bash -o pipefail -c 'bash harness/tests/run.sh ${tests[*]} | cat'
	EOF
	echo $rc >"$out/status"
}

# --- results -------------------------------------------------------------------------------------------------------------
# The checks of `bpfbench check` that depend on the kernel.
capabilities='^(bpf|jit|btf|memlock|bpf_stats|perf_page_fault|perf_cpu_clock|perf_pmu|prog_.*)$'

# cells KERNEL: prints a line "ROW<TAB>KERNEL<TAB>CELL" for each capability and each test program.
cells() {
	awk -v OFS='\t' -v kernel="$1" -v wanted="$capabilities" '
		$2 ~ wanted && $1 ~ /^(ok|warn|fail|skip)$/ { print $2, kernel, $1 }
		$1 ~ /^(ok|FAIL)$/ && $4 == "passed" && $8 == "skipped" {
			print $2, kernel, $3 ($7 ? ", " $7 " skipped" : "") ($5 ? ", " $5 " FAILED" : "")
		}' "$vm/$1/out"
}

print_table() {
	local kernel

	{
		for kernel; do [[ ! -e $vm/$kernel/out ]] || cells "$kernel"; done
		for kernel; do printf 'all of it\t%s\t%s\n' "$kernel" "$(outcome "$kernel")"; done
	} | awk -F '\t' -v list="$*" '
		!($1 in seen) { rows[++n] = $1; seen[$1] = 1 }
		{ cell[$1, $2] = $3 }
		END {
			columns = split(list, kernels, " ")
			printf "%-24s", "capability, or passed"
			for (k = 1; k <= columns; k++)
				printf "  %-16s", kernels[k]
			for (r = 1; r <= n; r++) {
				printf "\n%-24s", rows[r]
				for (k = 1; k <= columns; k++)
					printf "  %-16s", (rows[r], kernels[k]) in cell ? cell[rows[r], kernels[k]] : "-"
			}
			print ""
		}' | sed 's/ *$//'
}

# print_reasons KERNEL: prints the capabilities that the kernel lacks, in the words of `check` and of the tests.
print_reasons() {
	[[ -e $vm/$1/out ]] || return 0
	awk -v kernel="$1" -v wanted="$capabilities" '
		/^skipped:/ { skips = 1; next }
		/^[^ ]/ { skips = 0 }
		skips && NF { sub(/^ */, ""); print kernel ": " $0 }
		$2 ~ wanted && $1 ~ /^(warn|fail|skip)$/ { sub(/^[a-z]+ +/, ""); print kernel ": " $0 }
	' "$vm/$1/out"
}

# outcome KERNEL: prints the outcome, which is the last row of the table.
outcome() {
	local dir=$vm/$1 rc

	[[ -e $dir/status ]] || { echo "not fetched"; return; }
	rc=$(<"$dir/status")
	if [[ $rc =~ ^(124|137)$ ]]; then
		echo "TIMED OUT"
	elif ! grep -qE '^[0-9]+ passed, [0-9]+ failed, ' "$dir/out"; then
		echo "ENDED EARLY"
	elif [[ $rc != 0 ]]; then
		echo "FAILED"
	else
		echo "passed"
	fi
}

# say_failed KERNEL OUTCOME: says where to find more about a failure.
say_failed() {
	local dir=$vm/$1

	case $2 in
	'TIMED OUT') say "$1: the time was over after $limit_s s (BB_VM_TIMEOUT); how far it came is in $dir/out" ;;
	'ENDED EARLY')
		say "$1: the guest ended early; the last that was seen of it, in $dir/out and $dir/err:"
		tail -qn 10 "$dir/out" "$dir/err" >&2 ;;
	FAILED)
		say "$1: the whole output is $dir/out:"
		grep '^ ' "$dir/out" | head -n 100 >&2 ;;
	esac
}

main() {
	local kernel rc=0 ran=0

	for command in qemu-system-x86_64 busybox strip; do
		type -P "$command" >/dev/null || cannot "there is no $command here: make deps-test"
	done
	read -rd '' -a tests <<<"${BB_VM_TESTS:-${default_tests[*]}}" || true
	mkdir -p "$vm"
	make_tree
	for kernel; do
		rm -rf -- "${vm:?}/$kernel"
		fetch "$kernel" || continue
		say "$kernel: runs ${tests[*]}"
		run_tests "$kernel"
		ran=1
	done
	((EUID)) || chown -Rh --reference=. -- "$vm"	# for those who come without sudo next time
	((ran)) || exit 4
	print_table "$@"
	echo
	for kernel; do print_reasons "$kernel"; done
	for kernel; do
		[[ $(outcome "$kernel") != passed ]] || continue
		say_failed "$kernel" "$(outcome "$kernel")"
		rc=1
	done
	return $rc
}

declare -a tests=() files=()
case ${1:-} in
--help | -h) usage ;;
--list) printf '%s\n' "${default_tests[@]}" ;;
'' | -*) usage >&2; exit 2 ;;
*) main "$@" ;;
esac
