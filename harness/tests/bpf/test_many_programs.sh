#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An object of many programs: for twice as many programs bpfbench reads about twice as many bytes,
# and not four times as many.
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"

names=("triggers")
need_root "${names[@]}" && need_command clang "${names[@]}" && need_command awk "${names[@]}" || plan_done

# build N: an object with N programs, which have no hook.
build() {
	{
		printf '%s\n' '#define SEC(name) __attribute__((section(name), used))' 'char LICENSE[] SEC("license") = "GPL";'
		for ((i = 0; i < $1; i++)); do printf 'SEC("tc") int p%d(void *ctx) { return %d; }\n' "$i" "$i"; done
	} >"$WORK/many.c"
	clang -target bpf -g -O2 -c "$WORK/many.c" -o "$WORK/many$1.o" 2>"$TMP/clang" || { not_ok "clang builds $1 programs"; plan_done; }
}
# read_by COMMAND...: the bytes that it and its children read, by /proc/PID/io, to which the kernel
# adds those of children that were waited for.
read_by() (
	self=$BASHPID
	io() { sed -n 's/^rchar: //p' "/proc/$self/io"; }
	before=$(io)
	run "$@"
	cp "$TMP/out" "$TMP/listed"
	echo $(($(io) - before))
)
# at_most_thrice MORE LESS
at_most_thrice() { awk -v more="$1" -v less="$2" 'BEGIN {exit !(less > 0 && more <= 3 * less)}'; }

build 300
build 600
few=$(read_by "$BPFBENCH" triggers "$WORK/many300.o") more=$(read_by "$BPFBENCH" triggers "$WORK/many600.o")
expect_eq "triggers: each program is listed" "$(grep -c '^p[0-9]* (no hook)$' "$TMP/listed")" 600
printf '# triggers reads %d bytes for 300 programs, %d for 600\n' "$few" "$more"
check "triggers: the object is not read anew for each program" at_most_thrice "$more" "$few"
plan_done
