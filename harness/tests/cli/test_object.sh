#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Any BPF object without a scenario: `init` writes a scenario that leads to the same plan as --object. No root.
# shellcheck source=harness/tests/tool.sh disable=SC2317 # functions that check, wait_until and run call
. "$(dirname "$0")/../tool.sh"

objects=$O/tests/bpf
bpfbench() { run "${user[@]}" "$BPFBENCH" "$@"; }

# --- every object of the build ---
# same_plan OBJECT: init's file leads to the same plan as --object, except for the lines about programs that cannot be driven. For an
# object of which no program can be driven, or which is not valid, init complains and writes no file.
same_plan() {
	local name=${1##*/} code=0 file

	file=$WORK/${name%.bpf.o}.yml
	"${user[@]}" "$BPFBENCH" init "$1" -o "$file" >"$TMP/init.out" 2>"$TMP/init.err" || code=$?
	case $name in
	legacy_maps.bpf.o | no_extern.bpf.o | no_program.bpf.o | freplace.bpf.o | static_program.bpf.o | pinned_elsewhere.bpf.o) [[ $code == [14] && -s $TMP/init.err && ! -e $file ]]; return ;;
	esac
	[[ $code == 0 && ! -s $TMP/init.out ]] || { cat "$TMP/init.err"; return 1; }
	"${user[@]}" "$BPFBENCH" --scenario "$file" --dry-run >"$TMP/plan.file" || return 1
	"${user[@]}" "$BPFBENCH" --object "$1" --dry-run | grep -v ' not driven: ' | diff - "$TMP/plan.file" || return 1
	[[ $name == struct_ops.bpf.o ]] || grep -q ', the floor$' "$TMP/plan.file"
}
for object in "$O"/bpf/*.bpf.o "$objects"/*.bpf.o; do
	check "init and --object: ${object#"$O"/}" same_plan "$object"
done

# --- init ---
bpfbench init "$objects/sections.bpf.o"
expect_status "init: exit code 0" 0
expect_grep "init: says what the object holds" out '^# /.*/sections\.bpf\.o: programs 8, maps 1, with BTF, licence GPL$'
expect_grep "init: the floor of each type" out 'floor: empty-sched_cls$'
expect_grep "init: what is not driven, and why" out '^# Not driven: sections/replaces: no trigger here makes a program of type ext run; '
cp "$TMP/out" "$TMP/sections.yml"
bpfbench init "$objects/filters.bpf.o"
for global in 'target_pid, also to \{pid: self\}' 'target_cgroup, also to \{cgroup: self\}' 'target_comm, also to \{comm: self\}'; do
	expect_grep "init: a global that filters: $global" out "^# Globals that a variant can set .*[:;] $global(;|$)"
done
expect_grep "init: a map of cgroups" out '^# .*\[\{name: cgroups, entries: \[\{key: 0, value: \{cgroup: self\}\}\]\}\]'
run "${user[@]}" "$BPFBENCH" --object "$objects/filters.bpf.o" --drive exact --dry-run
expect_grep "--object --drive exact" out '^  filters/by_pid/exact '
expect_no_grep "--object --drive exact: nothing else" out '/step '
bpfbench init "$objects/sections.bpf.o" -o "$WORK/sections.yml"
complains "init: a file that is there is kept" 1 'sections\.yml: this file exists'
bpfbench init "$objects/sections.bpf.o" -o "$WORK/no/such/folder.yml"
complains "init: a folder that is not there" 1 'no/such/folder\.yml: No such file or directory'
bpfbench init "$objects/sections.bpf.o" -o /dev/full
complains "init: a device is not replaced either" 1 '/dev/full: this file exists'
run bash -c "'$BPFBENCH' init '$objects/sections.bpf.o' >/dev/full"
expect_status "init: a full disk is an error" 1
bpfbench init
complains "init: which object?" 2 'for which object\? bpfbench init prog\.bpf\.o'
bpfbench init --help
expect_grep "init --help" out '^Usage: bpfbench init .*\[NAME=\]FILE'
run env -C "$objects" "$BPFBENCH" init sections.bpf.o
check "init: the path is absolute wherever it is called" cmp "$TMP/sections.yml" "$TMP/out"

run "${user[@]}" "$BPFBENCH" --object "$objects/raw_tracepoints.bpf.o" --dry-run
expect_status "two triggers of one type: exit code 0" 0
expect_grep "two triggers of one type: a floor for the first" out '^  raw_tracepoints/empty-raw_tracepoint/step '
expect_grep "two triggers of one type: and one for the second" out '^  raw_tracepoints/empty-raw_tracepoint-test-run/step '
run "${user[@]}" "$BPFBENCH" --object a="$objects/many.bpf.o" --object b="$objects/many.bpf.o" --dry-run
complains "too many programs" 1 "many\.bpf\.o: 2000 programs are too many for one run, which measures 1000 .*--program NAME"
expect_no_grep "too many programs: no line of a scenario that nobody wrote" err 'scenario|[0-9]:[0-9]'

# --- files that are not BPF objects ---
printf 'int main;\n' >"$WORK/prog.bpf.c"
bpfbench --object "$WORK/prog.bpf.c" --dry-run
complains "a source file" 1 'prog\.bpf\.c: not a BPF object, not even an ELF file \(10 bytes\); build it with clang'
bpfbench --object "$WORK/none.o" --dry-run
complains "a file that is not there" 1 'none\.o: there is no such BPF object; build it'
bpfbench --object "$O/obj/main.o" --dry-run
complains "an object of the host" 1 'main\.o: not a BPF object: an ELF file for .* \(machine [0-9]+\)'
bpfbench --object "$objects/legacy_maps.bpf.o" --dry-run
complains "maps of old" 1 'SEC\("maps"\), which libbpf no longer reads'
bpfbench init "$objects/no_extern.bpf.o"
complains "libbpf's reason" 1 'no_extern\.bpf\.o: not a BPF object that libbpf can read \(.*bb_of_no_section'
for object in static_program pinned_elsewhere; do
	bpfbench init "$objects/$object.bpf.o"
	complains "$object: its own loader is the advice" 1 "$object.*(is static and not supported|invalid pinning value).*bpfbench -- LOADER"
	expect_no_grep "$object: nobody is told to build it anew" err 'clang'
done
bpfbench init "$objects/no_extern.bpf.o"
expect_eq "libbpf's reason: one line, and none of libbpf's own" "$(grep -c . "$TMP/err")" 1
bpfbench --object "$objects/sections.bpf.o" --program replaces
expect_status "nothing that can be driven: exit code 4" 4
expect_empty "nothing that can be driven: stdout stays empty" out
expect_grep "nothing that can be driven: said so" err '^bpfbench: .*/sections.bpf.o: none of its programs can be driven:$'
expect_grep "nothing that can be driven: a line a reason" err '^  sections/replaces: no trigger here makes a program of type ext run'

# --- programs and names ---
bpfbench --object "$O/bpf/fun_xdp.bpf.o" --program v3 --program v1 --dry-run
expect_eq "--program: only these, and the floor" "$(grep -c '/step ' "$TMP/out")" 3
bpfbench --object "$O/bpf/fun_xdp.bpf.o" --program v9 --dry-run
complains "--program: that is not there" 1 "no program 'v9' \(did you mean 'v0'\?\); it has: empty, v0, v1"
bpfbench --object "old=$O/bpf/fun_xdp.bpf.o" --object "new=$O/bpf/fun_xdp.bpf.o" --program v3 --dry-run
expect_grep "two objects: called by their names" out '^  objects/new/step .* program v3$'
bpfbench --object "$O/bpf/fun_xdp.bpf.o" --object "$O/bpf/fun_xdp.bpf.o" --dry-run
complains "two objects of one name" 1 'would both be called .*--object NAME=FILE'
bpfbench --object "o:=$O/bpf/fun_xdp.bpf.o" --object "$O/bpf/loops.bpf.o" --program empty --dry-run
complains "a name that is none" 1 "name 'o:' must be letters, digits"
cp "$O/bpf/fun_xdp.bpf.o" "$WORK/a=b.o"
run env -C "$WORK" "$BPFBENCH" --object a=b.o --dry-run
expect_grep "a file with = in its name" out '^a_b: '

# --- several CPUs ---
bpfbench init "$O/bpf/fun_xdp.bpf.o" --cpus 1,all
expect_grep "--cpus: a drive" out '^  - with: parallel '
expect_grep "--cpus: with these numbers" out '^    cpus: \[1,all\]$'
for bad in 0 "1," many; do
	bpfbench init "$O/bpf/fun_xdp.bpf.o" --cpus "$bad"
	complains "--cpus $bad is refused" 1 "--cpus=$bad is not N or N,N...: numbers of CPUs, or all"
done
bpfbench init "$O/bpf/perf_profiler.bpf.o" --cpus 1
complains "--cpus: programs that no test run repeats" 1 '--cpus=1: BPF_PROG_TEST_RUN repeats none of these programs'

# --- contents of maps ---
bpfbench init "$O/tests/bpf/maps.bpf.o" --fill big_hash=1000 --fill trie=8
expect_grep "--fill: each program has the maps filled" out \
	'\{name: finds_in_big_hash, maps: \[\{name: trie, fill: \{count: 8, key: random\}\}, \{name: big_hash, fill: \{count: 1000, key: random\}\}\]\}'
bpfbench init "$O/tests/bpf/maps.bpf.o" --max-entries big_hash=1000
expect_grep "--max-entries: each program has the map" out '\{name: finds_in_big_hash, maps: \[\{name: big_hash, max_entries: 1000\}\]\}'
bpfbench init "$O/tests/bpf/maps.bpf.o" --program finds_in_big_hash --cpus 1,all --per-cpu big_hash
expect_grep "--per-cpu: the program has one value for all" out '\{name: finds_in_big_hash\}'
expect_grep "--per-cpu: and one for each CPU" out '\{name: finds_in_big_hash.big_hash, program: finds_in_big_hash, maps: \[\{name: big_hash, per_cpu: yes\}\]\}'
bpfbench init "$O/tests/bpf/maps.bpf.o" --program finds_in_big_hash --cpus 1,all --same-input
expect_eq "--same-input: two drives" "$(grep -c 'with: parallel' "$TMP/out") $(grep -c 'same_input: yes' "$TMP/out")" "2 1"
expect_grep "--same-input: flows" out 'name: udp-64, hex: "[0-9a-f]+", flows: [0-9]+\}'
bpfbench --object "$O/tests/bpf/maps.bpf.o" --cpus 1,all --same-input --try-inputs
expect_status "--same-input and --try-inputs: usage" 2
expect_grep "--same-input and --try-inputs: why" err 'a found input is one, and has no flows'
bpfbench init "$O/tests/bpf/maps.bpf.o" --same-input
complains "--same-input: on one CPU" 1 "--same-input tells what several CPUs contend for"
bpfbench init "$O/tests/bpf/raw_tracepoints.bpf.o" --cpus 1,all --same-input
expect_status "--same-input: no packets" 1
bpfbench init "$O/tests/bpf/test_run.bpf.o" --cpus 1,all --same-input
expect_grep "--same-input: a program with one context beside those of packets" err ' lookup_pass: --same-input is not for it: each CPU has the same context'
# a pcap with one packet: the file's header, the packet's header, 16 bytes of packet
printf '%b' '\xd4\xc3\xb2\xa1\x02\x00\x04\x00\0\0\0\0\0\0\0\0\xff\xff\0\0\x01\0\0\0' '\0\0\0\0\0\0\0\0\x10\0\0\0\x10\0\0\0' \
	'\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x08\0\x45\0' >"$WORK/one.pcap"
bpfbench --object "$O/tests/bpf/maps.bpf.o" --program finds_in_big_hash --cpus 1,2 --same-input --packet "$WORK/one.pcap" --no-store
complains "--same-input: one packet for two CPUs" 1 "1 input for 2 CPUs: .* give 2 inputs"
bpfbench init "$O/tests/bpf/maps.bpf.o" --cpus 1,all --per-cpu nothing
complains "--per-cpu: no such map" 1 "--per-cpu=nothing: there is no such map; there are: "
bpfbench init "$O/tests/bpf/tailcall.bpf.o" --cpus 1,all --per-cpu jumps
complains "--per-cpu: a map that has no such type" 1 "--per-cpu=jumps: this map of type prog_array cannot have a value for each CPU; a hash, an LRU hash or an array can$"
bpfbench init "$O/tests/bpf/maps.bpf.o" --cpus 1,all --per-cpu big_hash=1
complains "--per-cpu: not a name" 1 "--per-cpu=big_hash=1 is not the name of a map"
bpfbench init "$O/tests/bpf/maps.bpf.o" --program finds_in_big_hash --cpus 1,all --per-cpu big_hash --per-cpu big_hash
expect_status "--per-cpu: named twice" 0
bpfbench init "$O/tests/bpf/maps.bpf.o" --per-cpu big_hash
complains "--per-cpu: on one CPU" 1 "--per-cpu=big_hash tells what several CPUs contend for"
bpfbench init "$O/tests/bpf/maps.bpf.o" --max-entries big_hash=1,2
complains "--max-entries: one number only" 1 "--max-entries=big_hash=1,2 is not MAP=N: a map and its number of entries"
bpfbench run --object "$O/tests/bpf/maps.bpf.o" --program finds_in_big_hash --fill big_hash=10,1000 --dry-run
expect_grep "--fill: several sizes are the parameter" out ' maps/finds_in_big_hash/step/entries=1000 +[0-9]+ samples'
expect_eq "--fill: a case for each size and drive, and its floor" "$(grep -c '/entries=' "$TMP/out")" 8
bpfbench run --object "$O/tests/bpf/maps.bpf.o" --program finds_in_big_hash --fill big_hash=10,1000 --fill trie=1,2 --dry-run
complains "--fill: other sizes of another map are refused" 1 "map 'big_hash' has other counts than another map"
for bad in 'big_hash=1,,2 is not MAP=N' 'big_hash=1, is not MAP=N' 'big_hash=0 is not MAP=N' 'big_hash=many is not MAP=N' 'big_hash=00000000000000000000001junk is not MAP=N' 'big_hash is not MAP=N' 'bighash=1: there is no such map; there are: hash, '; do
	bpfbench init "$O/tests/bpf/maps.bpf.o" --fill "${bad%%[: ]*}"
	complains "--fill ${bad%%[: ]*} is refused" 1 "--fill=$bad"
done

# --- inputs ---
printf '0200 0000 0002 0200 0000 0001 ffff\n' >"$WORK/frame.hex"
bpfbench init "$O/bpf/fun_xdp.bpf.o" --packet "$WORK/frame.hex"
expect_grep "--packet: hexadecimal text" out '\{name: frame, hex: "0200 0000 .*ffff\\x0a"\}'
printf 'no bytes\n' >"$WORK/bad.hex"
: >"$WORK/empty.hex"
echo 0102 >"$WORK/short.hex"
printf '\1\2' >"$WORK/short.bin"
for input in 'bad.hex: a text that is not hexadecimal: character 1 is wrong' 'empty.hex has 0 bytes; a packet' \
	'short.hex has 2 bytes of hexadecimal text; a packet' "short.bin' has 2 bytes"; do
	bpfbench --object "$O/bpf/fun_xdp.bpf.o" --packet "$WORK/${input%%[: \']*}" --dry-run
	complains "--packet ${input%%[: \']*} is named" 1 "$input"
done
head -c 64 /dev/zero >"$WORK/zeros.bin"
run env -C "$WORK" "${user[@]}" "$BPFBENCH" init "$O/bpf/fun_xdp.bpf.o" --packet zeros.bin
expect_grep "--packet: bytes, by an absolute path" out '\{name: zeros, file: /.*/zeros\.bin\}'
bpfbench --object "$O/bpf/perf_profiler.bpf.o" --packet "$WORK/zeros.bin" --dry-run
complains "--packet: for nothing that takes one" 1 'none of the programs takes a packet'
bpfbench --object "$O/bpf/fun_xdp.bpf.o" --trigger page-falt --dry-run
complains "--trigger: unknown" 1 "unknown trigger 'page-falt' \(did you mean 'page-fault'\?\)"

# --- usage ---
bpfbench --object "$O/bpf/fun_xdp.bpf.o" --scenario fun_xdp
complains "usage: --object and --scenario" 2 'one of --scenario, --object, --capture and loaded programs'
bpfbench --scenario fun_xdp --packet "$WORK/zeros.bin"
complains "usage: --packet and --scenario" 2 '--packet.* for --object'
bpfbench compare --object "$O/bpf/fun_xdp.bpf.o"
complains "usage: compare needs two objects" 2 'two objects are compared, not 1: --object OLD --object NEW'
bpfbench compare --object a.o --object b.o --base-object c.o --head-object d.o
complains "usage: compare, objects named twice" 2 'either --object twice or --base-object and --head-object'
bpfbench compare -s fun_xdp --base v1 --object a.o --object b.o --program p --program q
complains "usage: compare, two programs" 2 'one --program'
bpfbench compare -s fun_xdp --base v1 --head v3 --trigger test-run
complains "usage: compare, a trigger beside a scenario" 2 'which has its own'
bpfbench compare "$objects/sections.bpf.o" "$O/bpf/fun_xdp.bpf.o"
complains "compare: no program in common" 1 "no program can be compared: empty, v0, .*: only in NEW"
bpfbench compare "$O/bpf/fun_xdp.bpf.o" "$O/bpf/lpm_firewall.bpf.o" --program empty --program v0
complains "compare: a program that one object does not have" 1 "lpm_firewall.bpf.o has no program 'v0'; it has: empty"
bpfbench compare --object "$objects/sections.bpf.o" --object "$objects/sections.bpf.o" --program replaces
expect_status "compare: a program that nothing here drives" 4
expect_grep "compare: either is named" err '^  [a-z0-9_]+/base, [a-z0-9_]+/head: no trigger'

plan_done
