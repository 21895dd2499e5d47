#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's own tracers as apt installs them (libbpf-tools, bpftrace, bpfcc): watched while they run, captured and measured.
# slow: tracers are started, and watched for seconds
# shellcheck source=harness/tests/tracefs.sh
. "$(dirname "$0")/../tracefs.sh"
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

names=("opensnoop" "execsnoop" "bpftrace" "bpfcc")
need_root "${names[@]}" || plan_done
if [[ ! -e /sys/kernel/tracing/events/syscalls ]]; then
	skip_each "no tracepoints of system calls in tracefs here" "${names[@]}" || plan_done
fi
# shellcheck source=harness/tests/bpf/left.sh
. "$(dirname "$0")/left.sh"

# A process that opens files and starts programs, for the tracers to see.
while :; do /bin/true </dev/null; done &
child=$!
trap 'kill $child 2>/dev/null || true; rm -rf -- "$TMP"' EXIT

# tracer NAME PROGRAM COMMAND...: a program of COMMAND runs while it is watched, and has a figure
# when it is captured. PROGRAM is a regular expression for its name.
tracer() {
	local name=$1 program=$2 seen seconds

	shift 2
	need_command "$1" "$name" || return 0
	# How soon the tracer has compiled and loaded its program depends on the machine.
	for seconds in 2 8 32; do
		run "$BPFBENCH" live --once --format json --seconds "$seconds" -- "$@"
		seen=$(jq -r --arg program "$program" '[.programs[] | select(.name | test($program)) | .runs] | add // 0' "$TMP/out" || true)
		[[ ${seen:-0} == 0 ]] || break
	done
	expect_status "$name: it can be watched" 0
	check "$name: its program ran meanwhile" more "$seen" 0
	run "$BPFBENCH" run --capture "$(printf '%q ' "$@")" --loads 2 -n 60 --no-store --quiet --budget 120
	expect_eq "$name: captured, its program has a figure" \
		"$(jq -r --arg program "$program" 'any(to_entries[]; (.key | test($program)) and .value.latency.value > 0)' "$TMP/out")" true
}

# Debian 13 calls them opensnoop-libbpf and execsnoop-libbpf.
for name in opensnoop execsnoop; do
	tool=$(command -v "$name-libbpf" || true)
	tracer "$name" syscalls__sys_enter_ "${tool:-$name}"
done
tracer bpftrace '' bpftrace -e 'tracepoint:syscalls:sys_enter_openat { @opened[comm] = count(); }'
if [[ -e /lib/modules/$(uname -r)/build || -e /sys/kernel/kheaders.tar.xz ]]; then
	tracer bpfcc '' opensnoop-bpfcc
else
	skip "bpfcc" "its tools are compiled with this kernel's headers when they start, and these are not here"
fi

# same_output NAME SCRIPT: a script of bpftrace prints the same about the same command when its
# programs run as clones. Both outputs are sorted, as bpftrace prints maps in the order of a hash.
same_output() {
	local name="inside: $1" script=$2 cat

	need_command bpftrace "$name" || return 0
	cat=$(command -v cat)
	run bpftrace -o "$TMP/alone" -c "$cat /etc/passwd" -e "$script"
	run "$BPFBENCH" inside --no-store -- bpftrace -o "$TMP/cloned" -c "$cat /etc/passwd" -e "$script"
	expect_grep "$name: it runs on clones" out '^programs: [1-9][0-9]* of [0-9]* loads measured'
	check "$name: it counts something" grep -q '^@' "$TMP/alone"
	expect_eq "$name: the same output" "$(sort "$TMP/cloned")" "$(sort "$TMP/alone")"
}
# The name is read when the call returns. When it begins, the page with the name may not be in memory yet: bpftrace then
# counts a file without a name, with bpfbench as without it.
same_output "files opened" 'tracepoint:syscalls:sys_enter_openat /pid == cpid/ { @name[tid] = args->filename; }
	tracepoint:syscalls:sys_exit_openat /@name[tid]/ { @[str(@name[tid])] = count(); delete(@name[tid]); }'
same_output "bytes read" 'tracepoint:syscalls:sys_exit_read /pid == cpid && args->ret >= 0/ { @size = hist(args->ret); @all = sum(args->ret); }'
same_output "calls in order" 'tracepoint:raw_syscalls:sys_enter /pid == cpid && comm == "cat"/ { @n += 1; @weighted += args->id * @n; @last[args->id] = @n; }'
end_processes "$child"
nothing_left "tracers" 0

plan_done
