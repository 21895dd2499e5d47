#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `bpfbench vm` and `--vm` without a virtual machine: kernels in the cache, and messages about errors. harness/tests/vm/ tests real
# guests.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

cache=$TMP/cache
vm() { run env -u SUDO_UID XDG_CACHE_HOME="$cache" PATH="$TMP/bin:$PATH" "$BPFBENCH" "$@"; }
mkdir "$TMP/bin"
vm vm list
expect_status "no kernel yet: exit code 0" 0
expect_grep "no kernel yet: what to do" err 'bpfbench vm fetch 6.12'
vm --object x.bpf.o --vm 6.1
expect_status "a kernel that is not here: exit code 1" 1
expect_grep "a kernel that is not here: what to do" err 'kernel 6.1 is not here yet: bpfbench vm fetch 6.1'
mkdir -p "$cache/bpfbench/vm/6.1"
touch "$cache/bpfbench/vm/6.1/vmlinuz"
vm vm list
expect_eq "a kernel is listed" "$(<"$TMP/out")" 6.1
vm --object "$TMP/x.bpf.o" --vm 6.1
expect_grep "an object that is not there" err 'x.bpf.o: No such file'
vm vm fetch ../../etc
expect_status "a name that is a path: exit code 1" 1
expect_grep "a name that is a path" err "is no kernel"
vm vm fetch 6.1 --from "$TMP/none.deb"
expect_grep "a package that is not there" err 'no package'
expect_eq "a package that is not there: the kernel stays" "$(ls "$cache/bpfbench/vm")" 6.1
vm vm remove 6.1
expect_status "remove: exit code 0" 0
expect_eq "remove: it is gone" "$(ls "$cache/bpfbench/vm")" ""
vm vm remove 6.1
expect_status "remove: what is not there" 1
vm vm
expect_status "no word: usage" 2
for what in build shell; do
	vm vm $what
	expect_status "$what: no kernel: usage" 2
	vm vm $what 6.1
	expect_status "$what: a kernel that is not here" 1
	expect_grep "$what: a kernel that is not here: what to do" err 'bpfbench vm fetch 6.1'
done
vm check --vm 6.1
expect_status "check: no object: usage" 2
vm check a.bpf.o
expect_status "check: an object without a kernel: usage" 2
vm check --vm 6.1 a.bpf.o
expect_grep "check: a kernel that is not here" err 'bpfbench vm fetch 6.1'
vm annotate --vm 6.1
expect_status "annotate: no object: usage" 2
vm annotate --object a.bpf.o
expect_status "annotate: an object without a kernel: usage" 2
vm annotate --vm 5.10,6.1 a.bpf.o --flame x.svg
expect_status "annotate: a flame graph of two kernels: usage" 2
vm annotate --vm 6.1 a.bpf.o
expect_grep "annotate: a kernel that is not here" err 'bpfbench vm fetch 6.1'
vm compare --vm 6.1 a.bpf.o
expect_status "compare: one object in one kernel: usage" 2
vm compare --vm 5.10,6.1 a.bpf.o
expect_status "compare: one object between kernels that are not here: exit code 1" 1
expect_grep "compare: one object between kernels" err 'bpfbench vm fetch 5.10'
vm compare --vm 6.1 a.bpf.o b.bpf.o c.bpf.o
expect_status "compare: three objects: usage" 2
vm --prog-id 1 --vm 6.1
expect_status "loaded programs have no other kernel: usage" 2
vm gate --base main --vm 6.1 --scenario x
expect_status "gate: a scenario does not go with --vm: usage" 2
vm gate --base main --vm 6.1
expect_status "gate: a kernel that is not here: exit code 1" 1
expect_grep "gate: a kernel that is not here: what to do" err 'bpfbench vm fetch 6.1'
vm compare a.bpf.o b.bpf.o --vm 6.1 --exact
expect_status "compare: --exact does not go with --vm: usage" 2
vm compare a.bpf.o b.bpf.o --vm 6.1
expect_grep "compare: a kernel that is not here" err 'bpfbench vm fetch 6.1'

# play SCRIPT: from here on, a shell script takes the place of QEMU.
play() { printf '#!/usr/bin/env bash\nfor word; do [[ $word != file:* ]] || files+=("${word#file:}"); done\n%s\n' "$1" >"$TMP/bin/qemu-system-x86_64"; chmod +x "$TMP/bin/qemu-system-x86_64"; }
object=$O/bpf/floors.bpf.o
touch "$TMP/bzImage"
# shellcheck disable=SC2016 # of the script
play 'echo "Kernel panic: no more" >"${files[0]}"'
vm --object "$object" --vm "$TMP/bzImage"
expect_status "a panic: exit code 1" 1
expect_grep "a panic: the last words" err 'Kernel panic: no more'
play 'echo "no such machine" >&2; exit 1'
vm --object "$object" --vm "$TMP/bzImage"
expect_grep "QEMU fails: its words" err 'ended with exit code 1: no such machine'
# The guest boots, sends that it is ready in two parts, and its state is saved when it is told to end; or a saved guest goes on with a job.
# shellcheck disable=SC2016
saves='if [[ " $* " == *" -kernel "* ]]; then
	echo >>"$0.boots"
	printf "\nbpfbench-guest-" >"${files[1]}"
	if read -r -t 0.3 line; then echo >>"$0.early"; fi
	printf "ready\n" >>"${files[1]}"
	while read -r line && [[ $line != quit ]]; do :; done
	echo "Migration status: $STATUS"
	exit
fi
'
# shellcheck disable=SC2016
play "$saves"'printf "\nbpfbench-guest-ended 1\n" >"${files[1]}"; echo "bpfbench: no BPF" >"${files[0]}"'
sed -i 's/\$STATUS/failed/' "$TMP/bin/qemu-system-x86_64"
vm --object "$object" --vm "$TMP/bzImage"
expect_grep "a guest that cannot be saved: QEMU's words" err 'cannot save the guest: Migration status: failed'
expect_eq "a guest that cannot be saved: nothing is left" "$(find "$cache" -type f)" ""
sed -i 's/status: failed/status: completed/' "$TMP/bin/qemu-system-x86_64"
rm -f "$TMP/bin/qemu-system-x86_64.boots"
for i in 1 2; do
	vm --object "$object" --vm "$TMP/bzImage"
	expect_grep "bpfbench fails in the guest, command $i: its words" err 'ended with exit code 1: no BPF'
done
check "the guest is not saved before its whole sentence that it is ready" test ! -e "$TMP/bin/qemu-system-x86_64.early"
expect_eq "two commands: the guest boots once" "$(wc -l <"$TMP/bin/qemu-system-x86_64.boots")" 1
touch -d 2001-01-01 "$TMP/bzImage"
vm --object "$object" --vm "$TMP/bzImage"
expect_eq "another kernel of that name: it boots again" "$(wc -l <"$TMP/bin/qemu-system-x86_64.boots")" 2
# spoiled NAME ENDS WHY BOOTS: a saved guest runs ENDS once instead of going on. bpfbench says WHY and boots the kernel again; there are
# BOOTS boots by then.
spoiled() {
	sed -i "2a if [[ -e \$0.spoiled && \" \$* \" == *\" -incoming \"* ]]; then rm \"\$0.spoiled\"; $2; fi" "$TMP/bin/qemu-system-x86_64"
	vm --object "$object" --vm "$TMP/bzImage"
	touch "$TMP/bin/qemu-system-x86_64.spoiled"
	vm --object "$object" --vm "$TMP/bzImage"
	expect_grep "$1: says so" err "Linux .*bzImage boots again, as its saved guest may be damaged: $3"
	expect_eq "$1: it boots again" "$(wc -l <"$TMP/bin/qemu-system-x86_64.boots")" "$4"
	expect_grep "$1: and does its job" err 'ended with exit code 1: no BPF'
}
spoiled "a damaged saved guest" 'echo "load of migration failed" >\&2; exit 1' '.*load of migration failed' 4
spoiled "a saved guest that ends early" exit 'the guest ended early' 6
vm vm remove "$TMP/bzImage"
expect_eq "remove of an own kernel: its saved guest is gone" "$(find "$cache" -type f)" ""
name="shell: a process in the background of its terminal is told what to do"
if need_command script "$name"; then # `timeout` puts its command into the background, unless it leads the session
	run env XDG_CACHE_HOME="$cache" PATH="$TMP/bin:$PATH" script -qec "timeout 30 '$BPFBENCH' vm shell '$TMP/bzImage'; true" /dev/null
	expect_grep "$name" out 'it: try `fg`, or `timeout --foreground`'
fi
# shellcheck disable=SC2016
play 'echo $$ >'"$TMP"'/pid; exec sleep 600'
vm --object "$object" --vm "$TMP/bzImage" --vm-limit 1
expect_grep "the time is over: says so" err 'did not end within 1 s of CPU time or 4 s in all'
# shellcheck disable=SC2317 # called by check
gone() { [[ -s $TMP/pid ]] && ! kill -0 "$(<"$TMP/pid")" 2>/dev/null; }
check "the time is over: QEMU is gone" wait_until 2 gone
rm -f "$TMP/pid"
start env XDG_CACHE_HOME="$cache" PATH="$TMP/bin:$PATH" "$BPFBENCH" --object "$object" --vm "$TMP/bzImage"
check "SIGKILL: QEMU is up" wait_until 10 test -s "$TMP/pid"
stop_child KILL
check "SIGKILL: QEMU is gone" wait_until 2 gone
plan_done
