#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Gives hostile BPF objects to the commands that read objects; see --help.
case ${1:-} in
'') ;;
-h | --help)
	cat <<-'EOH'
	Usage: SEED=1 COUNT=200 harness/tests/stress/objects.sh

	Makes COUNT objects that are damaged, huge, slow, of 1000 programs, of names as long as they can be and with control
	characters, of unknown sections and map types; gives each to `init` and `--object`, and some to `compare`, and to
	`--drive exact` with `annotate`. No command crashes; each ends within its budget of 2 s, a run of its slowest program,
	a load of its largest map and 1 s (beside the time that the kernel kept it waiting for a CPU or a disk); its messages are
	one line a program, without control characters; nothing of it is left. Needs root and clang.

	Environment: SEED, of all that is random (1); COUNT (200); FIRST, the number of the first object (0): FIRST=N COUNT=1
	makes object N again; KEEP, a folder to keep the objects in; JOBS, how many at once (2); SECONDS_MOST, begin no object
	after so long; O, the build folder (build).
	Exit codes: 0 nothing found, 1 violations, which are listed, 2 usage.
	EOH
	exit 0
	;;
*) printf 'objects.sh: no argument %s; see --help\n' "$1" >&2; exit 2 ;;
esac
# shellcheck source=harness/tests/stress/stress.sh disable=SC2317 # functions that in_jobs calls
. "$(dirname "$0")/stress.sh"
COUNT=${COUNT:-200}
numbers SEED COUNT FIRST JOBS
ready
budget_ms=2000

mapfile -t wholes < <(find "$O/bpf" "$O/tests/bpf" -name '*.bpf.o' -size -200k | LC_ALL=C sort)
damages=(flip cut header section strings btf code symbols)

# --- objects that are valid, but extreme ---
begins='#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
char LICENSE[] SEC("license") = "GPL";'
compiled() {
	"${CLANG:-clang}" -O2 -g -target bpf -idirafter "/usr/include/$(uname -m)-linux-gnu" -x c - -c -o "$made/$1.bpf.o"
}

# many NAME N: an object with N programs
many() {
	local i

	{
		printf '%s\n' "$begins"
		for ((i = 0; i < $2; i++)); do
			printf 'SEC("xdp") int p%d(struct xdp_md *ctx) { return ctx->ingress_ifindex == %d ? XDP_DROP : XDP_PASS; }\n' "$i" "$i"
		done
	} | compiled "$1"
}

long=$(printf '%0500d' 0 | tr 0 n)
map() { printf 'struct { __uint(type, %s); __uint(max_entries, %s); __uint(key_size, %s); __uint(value_size, %s); } m SEC(".maps");\n' "$@"; }
uses='SEC("xdp") int user(struct xdp_md *ctx) { __u32 k = 0; return bpf_map_lookup_elem(&m, &k) ? XDP_DROP : XDP_PASS; }'

make_wholes() {
	many programs 1000
	printf '%s\nconst volatile char data[%d] = {1, 2, 3};\nSEC("xdp") int f(struct xdp_md *ctx) { return data[ctx->ingress_ifindex & 1023]; }\n' \
		"$begins" $((40 << 20)) | compiled huge_section
	printf '%s\nchar data[%d];\nSEC("xdp") int f(struct xdp_md *ctx) { return data[ctx->ingress_ifindex & 1023]; }\n' \
		"$begins" $((1 << 30)) | compiled huge_bss
	{ printf '%s\n' "$begins"; map BPF_MAP_TYPE_HASH 0xffffffff 4 0x7fffffff; echo "$uses"; } | compiled huge_map
	{ printf '%s\n' "$begins"; map BPF_MAP_TYPE_ARRAY 0x7ffffff 4 4096; echo "$uses"; } | compiled huge_array
	{ printf '%s\n' "$begins"; map 200 1 4 4; echo "$uses"; } | compiled unknown_map
	{ printf '%s\n' "$begins"; map BPF_MAP_TYPE_HASH 0 0 0; echo "$uses"; } | compiled empty_map
	printf '%s\nSEC("no/such/section") int f(void *ctx) { return 0; }\nSEC("xdp") int g(struct xdp_md *ctx) { return 1; }\n' "$begins" | compiled unknown_section
	printf '%s\nSEC("xdp") int %s(struct xdp_md *ctx) { return 1; }\nSEC("xdp") int %sb(struct xdp_md *ctx) { return 2; }\n' \
		"$begins" "$long" "$long" | compiled long_names
	{ printf '%s\n' "$begins"; map BPF_MAP_TYPE_HASH 1 4 4; echo "$uses"; } | sed "s/} m /} $long /; s/&m,/\\&$long,/" | compiled long_map
	# Names in an object are any bytes, control characters included.
	printf '%s\nSEC("xdp") int esc_________ape(struct xdp_md *ctx) { return 1; }\nSEC("sec_______tion") int in_it(void *ctx) { return 1; }\n' "$begins" | compiled control
	sed -i 's/esc_________ape/esc\x1b[31m\x07\r\n\x01\x7fape/; s/sec_______tion/sec\x1b[2J\x0d\x0b\x08tion/' "$made/control.bpf.o"
	{
		printf '%s\nstatic long step(__u32 i, void *c) { *(volatile __u64 *)c += i; return 0; }\n' "$begins"
		printf 'static long turn(__u32 i, void *c) { bpf_loop(100000, step, c, 0); return 0; }\n'
		printf 'SEC("xdp") int slow(struct xdp_md *ctx) { __u64 s = 0; bpf_loop(%d, turn, &s, 0); return s ? 1 : 2; }\n' 2000
	} | compiled slow
	cp "$O/tests/bpf/slow.bpf.o" "$made/slow_some.bpf.o"
	head -c $((32 << 20)) /dev/zero >"$made/zeros.bpf.o"
	: >"$made/empty.bpf.o"
	cat "$O/bpf/loops.bpf.o" "$made/zeros.bpf.o" >"$made/tail.bpf.o"
}

# object N FILE: writes object N to FILE, and sets $kind, its kind of damage, and $origin, the valid object that it was made from.
object() {
	local i

	i=$1
	if ((i < ${#hostile[@]})); then
		kind=${hostile[$i]##*/}
		kind=${kind%.bpf.o}
		origin=${hostile[$i]}
		cp "$origin" "$2"
		return 0
	fi
	random ${#damages[@]}
	kind=${damages[$drawn]}
	random ${#wholes[@]}
	origin=${wholes[$drawn]}
	"$O/tests/tools/damage" "$kind" $((SEED * 1000003 + $1)) "$origin" "$2"
}

# given NAME MS ARG...: runs one command on the object. It may take MS, and the time of a run of the program more.
given() {
	local name=$1 most=$2 lines began_s

	shift 2
	read -r began_s _ </proc/uptime
	begin "$dir" env -C "$dir" "$BPFBENCH" "$@"
	finished 120000
	printf '%d\n' "$status" >>"$TMP/codes"
	# shellcheck disable=SC2031 # it is one()'s
	try="object $n ($kind of ${origin##*/}): $name"
	((!hung)) || violation "did not end within 120 s"
	if waited "$dir"; then most=120000; fi
	[[ $origin != */huge_bss.* ]] || most=$((most + huge_load_ms))
	answered_by $((most + slow_run_ms))
	((status < 128)) || violation "crashed: exit code $status"
	! dmesg 2>/dev/null | awk -F '[][ ]+' -v since="$began_s" '$2 >= since' | grep -E "bpfbench\[$pid\]" >"$dir/dmesg" ||
		violation "dmesg: $(head -n 1 "$dir/dmesg")"
	! control_characters "$dir/stderr" || violation "control characters in stderr"
	! control_characters "$dir/stdout" || violation "control characters in stdout"
	lines=$(grep ^bpfbench "$dir/stderr" | grep -vc '^bpfbench: waiting: ' || true)
	((lines <= programs + 2)) || violation "$lines messages, programs: $programs"
	((status == 0 || lines > 0)) || violation "exit code $status without a message"
	nobody_left "$dir"
	[[ -z $(find "$dir/tmp" -mindepth 1) ]] || violation "left: $(find "$dir/tmp" -mindepth 1 | head -n 1)"
}

one() {
	local n=$1

	dir=$TMP/$(printf 'object-%09d' "$1") # no name begins another
	seeded "$1"
	mkdir -p "$dir/tmp"
	object "$1" "$dir/object.bpf.o"
	[[ -z ${KEEP:-} ]] || cp "$dir/object.bpf.o" "$KEEP/$1-$kind-${origin##*/}"
	programs=$(readelf -sW "$origin" 2>/dev/null | grep -c ' FUNC ' || true)
	given init 1000 init object.bpf.o
	given run $((budget_ms + 1000)) run --object object.bpf.o --budget 2 --no-store --format bmf -q
	if (($1 % 4 == 0)); then
		given compare $((budget_ms + 1000)) compare --object "$origin" --object object.bpf.o --budget 2 --no-store -q
		if "$BPFBENCH" init "$dir/object.bpf.o" 2>/dev/null | sed 's/with: step$/with: exact/' >"$dir/exact.yml"; then
			given exact $((budget_ms + 1000)) run --scenario exact.yml --drive exact --budget 2 --results results --format bmf -q
		fi
		[[ ! -d $dir/results ]] || given annotate 1000 annotate --results results
	fi
	note_suspects "$dir"
	rm -rf -- "$dir"
}

made=$TMP/made
mkdir "$made"
make_wholes
mapfile -t hostile < <(find "$made" -name '*.bpf.o' | LC_ALL=C sort)
make_cgroups
# The time of one run of the slowest program here, slow.bpf.c's.
slow_run_ms=$("$BPFBENCH" run --object "$made/slow.bpf.o" -d step -n 2 --loads 1 --budget 0 --no-store -q |
	jq '[.[] | .["latency-p50"].value // .latency.value // 0] | max / 1e6 | ceil')
# The time to load the object with the largest map. The kernel creates a map in one system call, which cannot be interrupted.
load_began_ms=$(now_ms)
"$BPFBENCH" run --object "$made/huge_bss.bpf.o" --budget 0.1 --no-store -q -f bmf >/dev/null 2>&1 || true
huge_load_ms=$(($(now_ms) - load_began_ms))
printf '# %d hostile objects, the others damaged; a run of the slowest program: %s ms; a load of the largest map: %s ms\n' \
	"${#hostile[@]}" "$slow_run_ms" "$huge_load_ms"
touch "$TMP/codes"
[[ -z ${SECONDS_MOST:-} ]] || UNTIL=$(($(date +%s) + SECONDS_MOST))
in_jobs "$COUNT" one
settle
sort -n "$TMP/codes" | uniq -c | awk '{ printf "%sexit code %s: %s", (NR > 1 ? ", " : ""), $2, $1 } END { print "" }'
summary command
