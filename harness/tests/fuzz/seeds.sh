#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: seeds.sh TARGET DIR: makes DIR anew and fills it with the seeds of fuzz_TARGET.c: files of the tree and its build, small files
# made here, and all inputs that once made the target fail (found/TARGET/).
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../../.."
O=${O:-build}
target=$1 dir=$2
rm -rf -- "$dir"
mkdir -p -- "$dir"

# objects: copies the BPF objects of at most 32 KiB
objects() { find "$O/bpf" "$O/tests/bpf" -name '*.bpf.o' -size -33k -exec cp -t "$dir" {} +; }

# seed NAME BYTES: writes a file; BYTES may have escapes as in printf.
seed() { printf '%b' "$2" >"$dir/$1"; }

# Packet captures with a packet of 14 bytes: pcap in little and in big endian, and pcapng.
captures() {
	local mac='\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0'

	seed little.pcap "\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\xff\xff\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\x0e\0\0\0\x0e\0\0\0$mac"
	seed big.pcap "\xa1\xb2\xc3\xd4\0\x02\0\x04\0\0\0\0\0\0\0\0\0\0\xff\xff\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\x0e\0\0\0\x0e$mac"
	seed new.pcapng "\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0\x01\0\0\0\x14\0\0\0\x01\0\0\0\0\0\0\0\x14\0\0\0\x06\0\0\0\x30\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0e\0\0\0\x0e\0\0\0$mac\0\0\x30\0\0\0"
}

# Captures of a command's programs: one has a program that returns 0, its map and its attachments; the other has a program that extends
# another one, and a map of maps.
bpf_captures() {
	local kernel='"bpfbench_capture": 1, "command": "c", "kernel": {"release": "r", "version": "v", "machine": "m"}, "cpus": 2'
	local exits='\xb7\0\0\0\0\0\0\0\x95\0\0\0\0\0\0\0' made=$dir/made

	mkdir -p "$made"/{prog,btf,map,input}
	printf '{%s, "btfs": [{}], "maps": [{"name": "m", "type": 1, "key_size": 4, "value_size": 4, "max_entries": 2, "btf": 0, "entries": 1}],
		"programs": [{"name": "p", "type": 6, "license": "GPL", "btf": 0, "tag": "0102030405060708"}],
		"attachments": [{"program": 0, "kind": "xdp", "where": "lo", "times": 1}], "test_runs": [{"program": 0, "repeat": 1}]}' \
		"$kernel" >"$made/bpfbench-capture.json"
	printf '\x18\x11\0\0\0\0\0\0\0\0\0\0\0\0\0\0%b' "$exits" >"$made/prog/0.insns"
	printf '\0\0\0\0\x01\0\0\0' >"$made/prog/0.funcs"
	printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\x04\0\0' >"$made/prog/0.lines"
	printf '\x9f\xeb\x01\0\x18\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0' >"$made/btf/0"
	printf 'key1val1' >"$made/map/0"
	printf 'packet' >"$made/input/0.data"
	tar --format=ustar -C "$made" -cf "$dir/one.capture" bpfbench-capture.json prog/0.{insns,funcs,lines} btf/0 map/0 input/0.data
	printf '{%s, "maps": [{"name": "jumps", "type": 3, "key_size": 4, "value_size": 4, "max_entries": 2, "entries": 1},
		{"name": "outer", "type": 12, "key_size": 4, "value_size": 4, "max_entries": 1, "inner": 2, "entries": 1},
		{"name": "inner", "type": 2, "key_size": 4, "value_size": 8, "max_entries": 1}],
		"programs": [{"name": "p", "type": 6}, {"name": "q", "type": 28, "attach_prog": 0, "fd_array": [{}, {"map": 1}], "refused": "EINVAL"}],
		"attachments": [{"program": 1, "kind": "xdp", "where": "lo", "times": 1, "refused": true}]}' \
		"$kernel" >"$made/bpfbench-capture.json"
	printf '%b' "$exits" | tee "$made/prog/0.insns" >"$made/prog/1.insns"
	printf '\0\0\0\0\x01\0\0\0' >"$made/map/0"
	printf '\0\0\0\0\x02\0\0\0' >"$made/map/1"
	tar --format=ustar -C "$made" -cf "$dir/two.capture" bpfbench-capture.json prog/0.insns prog/1.insns map/0 map/1
	rm -r -- "$made"
}

# Compiles one small source into files for the reader of debug information. The source has inlined functions, each long enough that
# fuzz_symbols.c looks up an address in it. Files: libraries with DWARF 3, 4 and 5, with compressed DWARF, and stripped of it; an object
# file that is not linked; a static program.
libraries() {
	local source='static inline __attribute__((always_inline)) int in(int x) { __asm__(".skip 200, 0x90"); return x * 3 + 1; }
int f(int x) { return in(x) + in(x + 1); } static int g(int x) { return in(f(x)); } int (*h)(int) = g;'
	local cc=${CLANG:-clang} version

	for version in 3 4 5; do
		$cc -O1 -gdwarf-$version -shared -nostdlib -fPIC -x c - -o "$dir/dwarf$version.so" <<<"$source"
	done
	$cc -O1 -gdwarf-5 -gz -shared -nostdlib -fPIC -x c - -o "$dir/compressed.so" <<<"$source"
	$cc -O1 -s -shared -nostdlib -fPIC -x c - -o "$dir/stripped.so" <<<"$source"
	$cc -O1 -g -c -fPIC -x c - -o "$dir/object.o" <<<"$source"
	$cc -O1 -g -static -nostdlib -ffreestanding -Wl,-e,f -x c - -o "$dir/static" <<<"$source"
}

# Makes a library with a static probe (sys/sdt.h).
probes() {
	${CLANG:-clang} -shared -nostdlib -x assembler - -o "$dir/probes.so" <<-'S'
		.section .stapsdt.base,"a",@progbits
		.byte 0
		.text
		.globl f
		.type f, @function
		f: nop
		.section .note.stapsdt,"","note"
		.balign 4
		.4byte 8, 2f-1f, 3
		.asciz "stapsdt"
		1: .8byte f, .stapsdt.base, 0
		.asciz "bench"
		.asciz "query"
		.asciz "-8@%rax"
		2: .balign 4
	S
}

# Makes the history database of one stored run.
histories() {
	mkdir "$dir/results"
	cp harness/tests/golden/run.json "$dir/results"
	./bpfbench history --results "$dir/results" >/dev/null
	mv "$dir/results/history.db" "$dir/one.db"
	rm -r -- "$dir/results"
}

case $target in
scenario) cp scenarios/*.yml harness/tests/fuzz/seeds/scenario*.yml "$dir" ;;
run) cp harness/tests/golden/run*.json harness/tests/fuzz/seeds/run*.json "$dir" ;;
elf | btf_ext | object) objects ;;
pcap) captures ;;
folded) seed stacks 'sh;main;work_[k] 7\nsh;main;[off-CPU] 2\nsh;jit_[j];in_[i] 1\n' ;;
perf_map) seed map '1000 20 one\n1010 8 two\n1000 20 again\n0 0 none\nffffffffffffffff 1 last\n' ;;
kallsyms) seed kallsyms 'ffffffff81000000 T schedule\nffffffff81000100 t clock [mod]\nffffffffa0000000 t bpf_prog_1_x\t[bpf]\n0 T hidden\n' ;;
keys_file)
	seed typed 'ipv4,u16be,u8\n10.0.0.1,80,0xff\n10.0.0.2,443,6\n'
	seed bytes '0a000001,0050\n0a:00:00:02,0051'
	;;
maps_file) seed maps '{"maps": [{"name": "flows", "type": "hash", "entries": {"01000000": "05", "02000000": "06"}}]}' ;;
maps) head -n 60 /proc/self/maps >"$dir/maps" ;;
dhat) seed heap '{"dhatFileVersion":2,"mode":"heap","pps":[{"tb":5,"tbk":1,"gb":2,"gbk":3,"eb":4,"ebk":5,"fs":[]}]}' ;;
capture) bpf_captures ;;
symbols) libraries ;;
user_elf) libraries && probes ;;
history_db) histories ;;
*)
	printf 'seeds.sh: no seeds are known for fuzz_%s.c: add them\n' "$target" >&2
	exit 2 ;;
esac
[[ ! -d harness/tests/fuzz/found/$target ]] || cp harness/tests/fuzz/found/"$target"/* "$dir"
