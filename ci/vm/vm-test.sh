#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the privileged tests in Debian's kernels, each in a virtual machine. Called by `make vm-test`; see --help.
set -euo pipefail

here=$(cd -- "${BASH_SOURCE[0]%/*}" && pwd)
ROOT=$(cd -- "$here/../.." && pwd)
cd -- "$ROOT"
O=$(realpath -m -- "${O:-build}")
vm=$O/vm
kept=/var/cache/bpfbench
limit_s=${BB_VM_TIMEOUT:-900}
scratch='' child=''
trap '[[ -z $scratch ]] || rm -rf -- "$scratch"' EXIT
# `timeout` has a process group of its own, so the terminal's Ctrl-C does not reach it; it passes SIGTERM on to its command.
trap '[[ -z $child ]] || kill "$child" 2>/dev/null; wait; exit 130' INT TERM

usage() {
	cat <<-'EOF'
	Usage: ci/vm/vm-test.sh KERNEL...

	Boots Debian's KERNEL (5.10, 6.1, 6.12, ...) under QEMU, by KVM where that works and else emulated, runs `bpfbench check`
	and privileged tests on the files of this machine (read-only), and prints what each kernel can do: function, not timing.
	Needs no root. Kernels, fetched once with signatures checked, and what was found are in vm/KERNEL/ of the build folder.
	Where there is a folder /var/cache/bpfbench, it keeps them for other build folders, for 30 days.

	Environment: O, the build folder (build); BB_VM_TESTS, names of tests as for harness/tests/run.sh (those of
	ci/vm/tests.txt); BB_VM_TIMEOUT, seconds for each kernel (900).
	Exit codes: 0 all passed, 1 a kernel failed, 2 usage, 4 it cannot be tried here (stderr ends with the reason).
	EOF
}

say() { printf 'vm-test: %s\n' "$*" >&2; }
cannot() { say "$@"; exit 4; }

# within SECONDS CMD...: runs CMD, at most SECONDS and the rest of this kernel's time. It runs in the background, so that this script
# handles signals at once, and ends when this script ends, however that happens.
within() {
	local seconds=$1 left=$((deadline - SECONDS)) rc=0

	shift
	setpriv --pdeathsig TERM timeout -k 5 $((left < 1 ? 1 : left < seconds ? left : seconds)) "$@" </dev/null &
	child=$!
	wait "$child" || rc=$?
	child=''
	return $rc
}

# --- virtual machines ----------------------------------------------------------------------------------------------------
# machine SECONDS KERNEL OPTION...: runs a virtual machine until it ends, or the time is over.
machine() {
	local seconds=$1 kernel=$2

	shift 2
	within "$seconds" nice -n 10 qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -smp 2 -m 2G \
		-kernel "$vm/$kernel/vmlinuz" "$@"
}

# fetch KERNEL: puts the kernel into $vm/KERNEL, from $kept or from Debian.
fetch() {
	local kernel=$1

	[[ ! -e $vm/$kernel/vmlinuz ]] || return 0
	if [[ -n $(find "$kept/$kernel/vmlinuz" -mtime -30 2>/dev/null) ]]; then
		mkdir -p "$vm/$kernel" && cp -R -- "$kept/$kernel/." "$vm/$kernel/"
		return
	fi
	within "$limit_s" "$here/fetch-kernel.sh" "$kernel" "$vm/$kernel" || return
	[[ ! -w $kept ]] || { rm -rf -- "${kept:?}/$kernel" && cp -R -- "$vm/$kernel" "$kept/" && touch "$kept/$kernel/vmlinuz"; } || true
}

# choose_accelerator KERNEL: uses KVM if it works. /dev/kvm alone does not prove that: in a nested machine it may hang. So this boots a
# kernel without a root file system, which ends by itself.
choose_accelerator() {
	((${#accelerator[@]} == 0)) || return 0
	if [[ -w /dev/kvm ]] && machine 10 "$1" -accel kvm -cpu host -append panic=-1 >/dev/null 2>&1; then
		accelerator=(-accel kvm -cpu host)
		say "by KVM"
	else
		accelerator=(-accel "tcg,thread=multi" -cpu "max,la57=off")
		say "emulated: $([[ -w /dev/kvm ]] && echo "/dev/kvm is there but does not work" || echo "no /dev/kvm for us")"
	fi
}

# Prints the initramfs of a machine, a cpio archive with busybox, init.sh and the kernel's modules.
pack_initramfs() {
	local tree=$scratch/initramfs

	mkdir -p "$tree/bin"
	cp -- "$here/init.sh" "$tree/init"
	cp -- "$(command -v busybox)" "$tree/bin/"
	cp -a -- "$vm/$1/lib" "$tree/"
	(cd -- "$tree" && find init bin lib | busybox cpio -o -H newc 2>/dev/null)
}

# boot KERNEL: boots a machine, which runs the tests. Results go to $vm/KERNEL/out, QEMU's exit code to $vm/KERNEL/out/qemu.
boot() {
	local kernel=$1 out=$vm/$1/out rc=0

	rm -rf -- "$out"
	mkdir -p "$out"
	touch "$out"/{check,tests,console}
	printf '%s=%q\n' ROOT "$ROOT" O "$O" TESTS "${tests[*]}" BB_TEST_TIMEOUT "${BB_TEST_TIMEOUT:-300}" >"$out/env"
	scratch=$(mktemp -d "$vm/boot.XXXXXX")
	pack_initramfs "$kernel" >"$scratch/initrd"
	machine "$limit_s" "$kernel" "${accelerator[@]}" -initrd "$scratch/initrd" \
		-append 'console=ttyS0 panic=-1 tsc=reliable mitigations=off lsm=bpf' -serial "file:$out/console" \
		-virtfs local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap \
		-virtfs "local,path=$out,mount_tag=out,security_model=none" || rc=$?
	echo $rc >"$out/qemu"
	rm -rf -- "$scratch"
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
		}' "$vm/$1"/out/{check,tests}
}

print_table() {
	local kernel

	{
		for kernel; do [[ ! -d $vm/$kernel/out ]] || cells "$kernel"; done
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
	[[ -d $vm/$1/out ]] || return 0
	awk -v kernel="$1" -v wanted="$capabilities" '
		/^skipped:/ { skips = 1; next }
		/^[^ ]/ { skips = 0 }
		skips && NF { sub(/^ */, ""); print kernel ": " $0 }
		$2 ~ wanted && $1 ~ /^(warn|fail|skip)$/ { sub(/^[a-z]+ +/, ""); print kernel ": " $0 }
	' "$vm/$1"/out/{check,tests}
}

# outcome KERNEL: prints the outcome, which is the last row of the table.
outcome() {
	local out=$vm/$1/out

	if [[ ! -e $out/qemu ]]; then
		echo "not fetched"
	elif [[ ! -e $out/status ]]; then
		if [[ $(<"$out/qemu") =~ ^(124|137)$ ]]; then echo "TIMED OUT"; else echo "ENDED EARLY"; fi
	elif [[ $(<"$out/status") != 0 ]]; then
		echo "FAILED"
	else
		echo "passed"
	fi
}

# say_failed KERNEL OUTCOME: says where to find more about a failure.
say_failed() {
	local out=$vm/$1/out

	case $2 in
	'TIMED OUT') say "$1: the time was over after $limit_s s (BB_VM_TIMEOUT); how far it came is in $out" ;;
	'ENDED EARLY')
		say "$1: the machine ended early; the last that was seen of it, in $out/console:"
		tail -n 10 "$out/console" >&2 ;;
	FAILED)
		say "$1: the whole output is $out/tests:"
		grep '^ ' "$out/tests" | head -n 100 >&2 ;;
	esac
}

main() {
	local kernel rc=0 ran=0

	[[ $(uname -m) == x86_64 ]] || cannot "kernels are fetched for x86_64 only, this machine is $(uname -m)"
	for command in qemu-system-x86_64 busybox apt-get dpkg-deb; do
		command -v "$command" >/dev/null || cannot "there is no $command here: make deps"
	done
	read -ra tests <<<"${BB_VM_TESTS:-$(grep -v '^#' "$here/tests.txt" | tr '\n' ' ')}"
	mkdir -p "$vm"
	for kernel; do
		deadline=$((SECONDS + limit_s))
		fetch "$kernel" || continue
		choose_accelerator "$kernel"
		say "$kernel: boots and runs ${tests[*]}"
		boot "$kernel"
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

declare -a accelerator=() tests=()
deadline=0
case ${1:-} in
--help | -h) usage ;;
'' | -*) usage >&2; exit 2 ;;
*) main "$@" ;;
esac
