#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How exact are the counts of `--vm`, and how much time do guests take? Called by `make bench-vm`.
set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
bpfbench=$(realpath -- "${BPFBENCH:-./bpfbench}")
read -ra kernels <<<"${KERNELS:-5.10 6.1 6.12}"
slower=${SLOWER:-100} same=${SAME:-1000} programs=${PROGRAMS:-50}
last=${kernels[-1]} scratch=''
# shellcheck source=harness/tests/bench/busy_cpus.sh
. harness/tests/bench/busy_cpus.sh

usage() {
	cat <<-EOF
	Usage: harness/tests/bench/vm.sh

	Fetches the kernels that are missing (bpfbench vm fetch), builds a guest of each, measures an object of five programs in
	them, idle and with a busy loop on every CPU, and traces them. Then it runs \`bpfbench gate --vm $last\` on $slower programs
	with one map lookup more, and on $same programs that did not change. Prints a line for each figure: its bound, and MET or
	MISS. Needs QEMU, git and clang, and no root.

	Environment: KERNELS (${kernels[*]}); SLOWER and SAME, the numbers of programs ($slower, $same), and PROGRAMS, how many of
	them one gate compares ($programs).
	Exit codes: 0 all bounds held, 1 one was missed, 2 usage, 4 no QEMU.
	EOF
}

case ${1:-} in
'') ;;
--help | -h) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac
command -v qemu-system-x86_64 >/dev/null || { echo 'vm.sh: there is no qemu-system-x86_64 here: install qemu-system-x86' >&2; exit 4; }

trap 'leave_cpus; rm -rf -- "$scratch"' EXIT
scratch=$(mktemp -d "${TMPDIR:-/tmp}/bpfbench-vm-bench.XXXXXX")
# shellcheck source=harness/tests/gate_repo.sh
. harness/tests/gate_repo.sh

# The bench uses copies of the guests, so that those of the user stay as they are.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/bpfbench/vm
for kernel in "${kernels[@]}"; do
	[[ -e $cache/$kernel/vmlinuz ]] || "$bpfbench" vm fetch "$kernel"
	mkdir -p "$scratch/cache/bpfbench/vm/$kernel"
	cp -R "$cache/$kernel/vmlinuz" "$cache/$kernel/lib" "$scratch/cache/bpfbench/vm/$kernel/"
done
export XDG_CACHE_HOME=$scratch/cache
all=$(IFS=,; echo "${kernels[*]}")

cat >"$scratch/map.h" <<'EOT'
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} map SEC(".maps");
EOT
cat >"$scratch/five.bpf.c" <<'EOT'
#include "map.h"

#define STRAIGHT(n)                                                                                \
	SEC("tc") int straight##n(struct __sk_buff *skb)                                           \
	{                                                                                          \
		asm volatile("r0 = 0; .rept " #n "; r0 += 1; .endr" ::: "r0");                     \
		return 0;                                                                          \
	}

STRAIGHT(100)
STRAIGHT(101)
STRAIGHT(200)
STRAIGHT(400)

SEC("tc") int lookup(struct __sk_buff *skb)
{
	__u32 key = 1;

	return bpf_map_lookup_elem(&map, &key) != 0;
}

char LICENSE[] SEC("license") = "GPL";
EOT

# The repository for the gate.
make_repo "$scratch/repo" 0

# write_programs N FIRST LOOKUPS: prints the source of N programs. Each fills a map of its own in its first run, and looks up LOOKUPS
# keys. FIRST and the program's number determine the keys, and so which of them share a bucket.
write_programs() {
	cat <<-EOT
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>

		#define KEY(n, i) (($2 + (n)) * 100 + (i))
		#define PROGRAM(n)                                                                                \\
			struct {                                                                                  \\
				__uint(type, BPF_MAP_TYPE_HASH);                                                  \\
				__uint(max_entries, 64);                                                          \\
				__type(key, __u32);                                                               \\
				__type(value, __u64);                                                             \\
			} map##n SEC(".maps");                                                                    \\
			static __u32 is_filled##n;                                                                \\
			SEC("tc") int work##n(struct __sk_buff *skb)                                              \\
			{                                                                                         \\
				__u64 value = 1, sum = 0;                                                         \\
				__u32 key;                                                                        \\
				if (!is_filled##n) {                                                              \\
					is_filled##n = 1;                                                         \\
					_Pragma("unroll") for (int i = 0; i < 64; i++)                            \\
						key = KEY(n, i), bpf_map_update_elem(&map##n, &key, &value, 0);   \\
				}                                                                                 \\
				_Pragma("unroll") for (int i = 0; i < $3; i++)                                    \\
					key = KEY(n, i), sum += bpf_map_lookup_elem(&map##n, &key) != 0;          \\
				return (int)sum;                                                                  \\
			}
		char LICENSE[] SEC("license") = "GPL";
	EOT
	local n

	for ((n = 0; n < $1; n++)); do echo "PROGRAM($n)"; done
}

clang -O2 -g -target bpf -idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$scratch/five.bpf.c" -o "$scratch/five.bpf.o"

# write_revisions N FIRST LOOKUPS: N programs with keys from FIRST on. Base, a commit, has 10 lookups; head, the work tree, has LOOKUPS.
write_revisions() {
	local program=$scratch/repo/prog.bpf.c

	write_programs "$1" "$2" 10 >"$program"
	git -C "$scratch/repo" commit -qam "keys from $2" --allow-empty
	write_programs "$1" "$2" "$3" >"$program"
}

missed=0
# row WHAT BOUND FIGURE IS_MET: prints a row; IS_MET 0 is a miss.
row() {
	local verdict=MET

	(($4)) || verdict=MISS missed=1
	printf '%-62s  %-12s  %-22s  %s\n' "$1" "$2" "$3" "$verdict"
}

is_at_most() { awk -v a="$1" -v b="$2" 'BEGIN { print (a <= b) ? 1 : 0 }'; }

# timed FILE COMMAND...: runs the command with its output to FILE. $status is its exit code, $cpu_s the CPU time of it and its children,
# and $wall_s its wall time.
timed() {
	local out=$1 user system

	shift
	status=0
	{ TIMEFORMAT='%U %S %R'; time "$@" >"$out" 2>"$scratch/err" || status=$?; } 2>"$scratch/time"
	read -r user system wall_s <"$scratch/time"
	cpu_s=$(awk -v u="$user" -v s="$system" 'BEGIN { printf "%.2f", u + s }')
}

# measured FILE KERNELS OPTION...: measures the object in guests with these kernels; the output goes to FILE.
measured() {
	timed "$1" "$bpfbench" --object "$scratch/five.bpf.o" --vm "$2" --no-store "${@:3}"
	((status == 0)) || { cat "$scratch/err" >&2; exit 1; }
}

# gated: runs the gate; $status is its exit code.
gated() { timed "$scratch/gate" env -C "$scratch/repo" "$bpfbench" gate --base HEAD --unchanged --vm "$last" --quiet --format markdown; }

# counts FILE KERNEL: prints the machine instructions of the straight programs in a BMF file.
counts() {
	awk -v kernel="$2" '/^  "/ { split($1, name, "/") } index($1, "kernel=" kernel "\"") && $1 ~ /straight.*step/ { is_it = 1; next }
		/^  "/ { is_it = 0 } is_it && /"machine-instructions"/ { gsub(/[^0-9]/, "", $3); print $3 }' "$1" | paste -sd ' '
}

# on_mode FILE: of a run in JSON, takes for each program the share (%) of runs that have its most frequent value; prints the smallest.
on_mode() {
	grep -o '"bins": "[^"]*"' "$1" | tr -d '"' | awk '{
		n = most = 0
		for (i = 2; i <= NF; i++) { split($i, bin, ":"); n += bin[2]; if (bin[2] > most) most = bin[2] }
		if (least == "" || 100 * most / n < least) least = 100 * most / n
	} END { printf "%.2f\n", least }'
}

printf '%s, %d CPUs, kernel %s, %s\n\n' "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" \
	"$(uname -r)" "$(qemu-system-x86_64 --version | head -n 1)"
printf '%-62s  %-12s  %-22s\n' what bound figure

for kernel in "${kernels[@]}"; do
	measured "$scratch/first.$kernel" "$kernel"
	size_mb=$(awk -v b="$(stat -c %s "$scratch/cache/bpfbench/vm/$kernel/guest")" 'BEGIN { printf "%.0f", b / 1e6 }')
	row "$kernel: build a guest, and measure five programs: seconds" '<= 40' "$wall_s (CPU $cpu_s)" "$(is_at_most "$wall_s" 40)"
	row "$kernel: size of the guest, MB" '<= 100' "$size_mb" "$(is_at_most "$size_mb" 100)"
done

for kernel in "${kernels[@]}"; do
	measured "$scratch/one" "$kernel" --format bmf
	row "$kernel: five programs: CPU seconds" '<= 2.5' "$cpu_s" "$(is_at_most "$cpu_s" 2.5)"
	measured "$scratch/one" "$kernel" --format json
	row "$kernel: five programs: runs on the most frequent value, %" '>= 99.9' "$(on_mode "$scratch/one")" \
		"$(is_at_most 99.9 "$(on_mode "$scratch/one")")"
done
measured "$scratch/1.bmf" "$all" --format bmf
row "${#kernels[@]} kernels: five programs: CPU seconds" '<= 8' "$cpu_s" "$(is_at_most "$cpu_s" 8)"
measured "$scratch/2.bmf" "$all" --format bmf
write_revisions 1 0 11
gated
row "gate --vm $last of two revisions: CPU seconds" '<= 6' "$cpu_s" "$(is_at_most "$cpu_s" 6)"

keep_cpus_busy
for kernel in "${kernels[@]}"; do
	measured "$scratch/one" "$kernel" --format bmf
	row "$kernel: five programs, all CPUs busy: CPU seconds" '<= 2.5' "$cpu_s" "$(is_at_most "$cpu_s" 2.5)"
done
measured "$scratch/3.bmf" "$all" --format bmf
row "${#kernels[@]} kernels: five programs, all CPUs busy: CPU seconds" '<= 8' "$cpu_s" "$(is_at_most "$cpu_s" 8)"
gated
row "gate --vm $last of two revisions, all CPUs busy: CPU seconds" '<= 6' "$cpu_s" "$(is_at_most "$cpu_s" 6)"
leave_cpus
busy=()

for kernel in "${kernels[@]}"; do
	read -ra n < <(counts "$scratch/1.bmf" "$kernel") || true
	differences="$((n[1] - n[0])) $((n[2] - n[0])) $((n[3] - n[0]))"
	row "$kernel: straight lines of 101, 200, 400 instructions, less 100" '1 100 300' "$differences" \
		"$([[ $differences == '1 100 300' ]] && echo 1 || echo 0)"
done
differing=$({ diff "$scratch/1.bmf" "$scratch/2.bmf"; diff "$scratch/1.bmf" "$scratch/3.bmf"; } | grep -c '^[<>]' || true)
row "three runs, one with all CPUs busy: values that differ" 0 "$differing of $((3 * $(grep -c '"value"' "$scratch/1.bmf")))" \
	"$((differing == 0))"

for kernel in "${kernels[@]}"; do
	timed "$scratch/traced" "$bpfbench" annotate --vm "$kernel" "$scratch/five.bpf.o" --results "$scratch/results"
	row "$kernel: traced programs whose instructions are run_time_ns" '5 of 5' \
		"$(($(grep -c 'by kernel function: ' "$scratch/traced") - $(grep -c 'the clock says' "$scratch/traced"))) of 5" \
		"$(($(grep -c 'by kernel function: ' "$scratch/traced") == 5 && $(grep -c 'the clock says' "$scratch/traced") == 0))"
	timed "$scratch/traced" "$bpfbench" annotate --vm "$kernel" "$scratch/five.bpf.o" --program lookup --results "$scratch/results" \
		--flame "$scratch/lookup.folded"
	whole=$(sed -n 's/^lookup by kernel function: one run, \([0-9]*\) machine.*/\1/p' "$scratch/traced")
	sum=$(awk '{ sum += $NF } END { print sum }' "$scratch/lookup.folded")
	row "$kernel: folded stacks of a map lookup, summed up" "$whole" "$sum" "$((whole && sum == whole))"
done

# failing LOOKUPS N: gates N programs. $failed: programs that fail the gate. $errors: gates with another exit code, or with fewer
# programs compared than there are.
failing() {
	local left n

	failed=0 errors=0
	for ((left = $2; left > 0; left -= n)); do
		n=$((left < programs ? left : programs))
		write_revisions $n $((1000 + left)) "$1"
		gated
		if [[ $status != [03] ]] || (($(grep -cE "prog\.work[0-9]+ +\|" "$scratch/gate") < n)); then
			errors=$((errors + 1))
			cat "$scratch/err" >&2
		fi
		failed=$((failed + $(grep -cE "prog\.work[0-9]+: machine instructions: " "$scratch/gate" || true)))
		[[ $1 != 10 || $status != 3 ]] || grep -E "prog\.work[0-9]+: " "$scratch/gate" >&2 || true
	done
}
failing 11 "$slower"
row "gate: one map lookup more is found" "$slower of $slower" "$failed of $slower, $errors errors" "$((failed == slower && errors == 0))"
failing 10 "$same"
row "gate: the same program fails" "0 of $same" "$failed of $same, $errors errors" "$((failed == 0 && errors == 0))"
exit "$missed"
