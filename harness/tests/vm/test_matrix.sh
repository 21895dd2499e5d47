#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `--vm`: the matrix of a few programs in two kernels, as an ordinary user, and guests that fail.
# slow: a minute where machines are emulated
# shellcheck source=harness/tests/tool.sh
. "$(dirname "$0")/../tool.sh"
# shellcheck source=harness/tests/gate_repo.sh
. "$(dirname "$0")/../gate_repo.sh"

object=$O/tests/bpf/straight.bpf.o cache=$WORK/cache
mkdir -p "$cache/bpfbench/vm"
cp "$object" "$O/tests/bpf/"{loop,maps,room}.bpf.o "$WORK/"
here=()
for kernel in 5.10 6.1; do
	kept=/var/cache/bpfbench/$kernel
	[[ ! -e $O/vm/bpfbench/vm/$kernel/vmlinuz ]] || kept=$O/vm/bpfbench/vm/$kernel
	if [[ -e $kept/vmlinuz ]]; then cp -R "$kept" "$cache/bpfbench/vm/" && rm -f "$cache/bpfbench/vm/$kernel/guest"; fi
	[[ ! -e $cache/bpfbench/vm/$kernel/vmlinuz ]] || here+=("$kernel")
done
make_repo "$WORK/repo" 3
# set_other FOLDER EXPRESSION: the second program returns 2, or reads outside of the packet and does
# not load.
set_other() { sed -i "/^SEC(\"xdp\")/d" "$1/prog.bpf.c"; echo "SEC(\"xdp\") int other(struct xdp_md *c) { return $2; }" >>"$1/prog.bpf.c"; }
set_other "$WORK/repo" 2
git -C "$WORK/repo" commit -qam 'another program'
set_other "$WORK/repo" '*(int *)(long)c->data'
(cd "$WORK/repo" && set_steps 4)
cp -R "$WORK/repo" "$WORK/same" && git -C "$WORK/same" checkout -q . && echo '// nothing else' >>"$WORK/same/prog.bpf.c"
# In another repository, programs look up keys of full hash maps. A lookup costs more if two keys
# share a bucket.
cp -R "$WORK/same" "$WORK/maps"
cat >"$WORK/maps/prog.bpf.c" <<'EOF'
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#define LOOKUP(n)                                                                                                                \
	struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 16); __type(key, __u32); __type(value, __u64); }           \
		m##n SEC(".maps");                                                                                               \
	SEC("tc") int lookup##n(struct __sk_buff *skb)                                                                           \
	{                                                                                                                        \
		__u64 value = 1, sum = 0;                                                                                        \
		_Pragma("unroll") for (int i = 0; i < 16; i++) { __u32 key = i; bpf_map_update_elem(&m##n, &key, &value, 1); }   \
		_Pragma("unroll") for (int i = 0; i < 16; i++) { __u32 key = i; sum += bpf_map_lookup_elem(&m##n, &key) != 0; }  \
		return (int)sum;                                                                                                 \
	}
LOOKUP(0) LOOKUP(1) LOOKUP(2)
char LICENSE[] SEC("license") = "GPL";
EOF
git -C "$WORK/maps" commit -qam maps && echo '// nothing else' >>"$WORK/maps/prog.bpf.c"
[[ ! ${user[*]} ]] || chown -R "$NOBODY" "$WORK"

# vm ARGUMENT...: bpfbench as an ordinary user.
vm() { run "${user[@]}" env -C "$WORK/${in_repo:-}" XDG_CACHE_HOME="$cache" "$BPFBENCH" "$@"; }
# instructions PROGRAM COLUMN: the machine instructions in that column, which is a kernel.
instructions() { awk -v p="$1" -v c="$2" '$2 == "verified" || $2 == "loads" { name = $1 }
	name == p && $1 == "machine" { gsub(/ \([^)]*\)/, ""); print $(c + 2) }' "$TMP/out"; }
names=("the matrix" "machine instructions" "by line" "the run is stored" "more than the memory holds" "a panic" "a time limit" "gate" "compare" "annotate" "annotate, by kernel function" "without plugins" "check" "build" "shell")
if [[ " ${here[*]} " != *" 6.1 "* ]]; then
	skip_each "Linux 6.1 was not fetched: make vm-test" "${names[@]}" || true
elif ! command -v qemu-system-x86_64 >/dev/null; then
	skip_each "there is no qemu-system-x86_64" "${names[@]}" || true
else
	kernels=$(IFS=,; echo "${here[*]}")
	vm --object straight.bpf.o --vm "$kernels"
	expect_status "the matrix: exit code 0" 0
	expect_grep "the matrix: what does not load" out "reads_outside +loads( +no){${#here[@]}}$"
	expect_grep "the matrix: what is next is a whole command" out "^next: .bpfbench annotate --vm ${here[-1]} straight.bpf.o. "
	expect_grep "the matrix: the reason" out "straight/reads_outside: .*the verifier rejects"
	for figure in "verifier states" "stack bytes"; do expect_grep "the matrix: $figure" out "^ +$figure( +[0-9]+){${#here[@]}}$"; done
	for ((i = 1; i <= ${#here[@]}; i++)); do
		counts=()
		for n in 100 101 200 400; do counts+=("$(instructions alu$n $i)"); done
		expect_eq "${here[i - 1]}: programs differ by their instructions" \
			"$((counts[1] - counts[0])) $((counts[2] - counts[0])) $((counts[3] - counts[0]))" "1 100 300"
		counts=()
		for n in 5000 5001 5002; do counts+=("$(instructions varies$n $i)"); done
		expect_eq "${here[i - 1]}: so do long ones with a rarer, shorter path" \
			"$((counts[1] - counts[0])) $((counts[2] - counts[1]))" "1 1"
	done
	expect_eq "each kernel has a stored run" "$(find "$WORK/results" -name '*.json' ! -name schema.json | wc -l)" "${#here[@]}"
	last=${here[-1]}
	vm --object straight.bpf.o --program alu100 --program alu400 --lines --vm "$last" --results "$WORK/lines"
	expect_status "by line: exit code 0" 0
	vm annotate latest --time --all --cases --results "$WORK/lines"
	expect_grep "by line: what is next" out 'compare OLD.o NEW.o --vm'
	expect_grep "by line: the unit" out 'alu400/lines.*: [0-9.]+ machine instructions per run'
	expect_eq "by line: they differ by their instructions" \
		"$(awk '/STRAIGHT/ { v[++n] = $1 } END { printf "%d %.0f", n, v[2] - v[1] }' "$TMP/out")" "2 300"
	in_repo=repo
	vm gate --base main --vm "$last"
	expect_status "gate: exit code 3" 3
	expect_grep "gate: what costs more" out "$last.*: prog.work: machine instructions: .* \(\+[1-9]"
	expect_grep "gate: what does not load any more" out "prog.other: head does not load, base does: "
	vm gate --base main --vm "$last" --program work
	expect_status "gate, the only program: exit code 3" 3
	expect_grep "gate, the only program: what costs more" out "$last.*: prog.work: machine instructions: .* \(\+[1-9]"
	in_repo=same
	vm gate --base main --vm "$last" --unchanged --complexity 80% --grow 10%
	expect_status "gate, the same programs: exit code 0" 0
	expect_grep "gate, the same programs: says so" out 'bpfbench gate: passed \(exit code 0\): no regression'
	expect_grep "gate, the same programs: both are equal" out 'prog.work .* 0 .* 0$'
	in_repo=maps
	vm gate --base main --vm "$last" --unchanged
	expect_status "gate, lookups in full hash maps: exit code 0" 0
	expect_eq "gate, lookups in full hash maps: no count differs" "$(grep -cE 'prog.lookup[012] .* 0 .* 0$' "$TMP/out")" 3
	in_repo=''
	vm compare straight.bpf.o straight.bpf.o --program alu100 --program alu101 --vm "$last"
	expect_status "compare: exit code 0" 0
	expect_grep "compare: A, B and the difference" out "alu101 +$last +yes +104 +104 +0 +102 +102 +0$"
	vm compare straight.bpf.o straight.bpf.o --program alu100 --vm "$last"
	expect_grep "compare: the only program has a row, too" out "alu100 +$last +yes +103 +103 +0 +101 +101 +0$"
	check "compare: equal objects have no differing function" sh -c "! grep 'one run in A' '$TMP/out'"
	make -s -C "$WORK/maps" && mv "$WORK/maps/prog.bpf.o" "$WORK/old.bpf.o"
	sed -i 's/i < 16; i++) { __u32 key = i; sum/i < 17; i++) { __u32 key = i; sum/' "$WORK/maps/prog.bpf.c"
	make -s -C "$WORK/maps" && mv "$WORK/maps/prog.bpf.o" "$WORK/new.bpf.o"
	vm compare old.bpf.o new.bpf.o --program lookup0 --vm "$last"
	expect_eq "compare, one lookup more: the runs differ by as much as the figures" \
		"$(sed -n 's/^lookup0: one run in A has .* in B [0-9]* (+\([0-9]*\),.*/\1/p' "$TMP/out")" \
		"$(awk '$1 == "lookup0" && $2 ~ /^[0-9]/ { print substr($NF, 2) }' "$TMP/out")"
	expect_grep "compare, one lookup more: the line" out '^ +\+[0-9]+ +[0-9]+ +[0-9]+ +line +LOOKUP\(0\)'
	expect_grep "compare, one lookup more: a function of the kernel" out '^ +\+[0-9]+ +[0-9]+ +[0-9]+ +kernel function +_*htab_map_(hash|lookup_elem)$'
	vm compare old.bpf.o new.bpf.o --program lookup0 --vm "$last" --format markdown
	expect_grep "compare, as Markdown: the line, too" out '^\| \+[0-9]+ \| [0-9]+ \| [0-9]+ \| line \| LOOKUP'
	if ((${#here[@]} > 1)); then
		vm compare maps.bpf.o --program finds_in_hash --vm "$kernels"
		expect_status "compare, between kernels: exit code 0" 0
		expect_eq "compare, between kernels: the lines, all of which are shown, differ by as much as the runs" \
			"$(awk '$4 == "line" { sum += $1 } END { print sum + 0 }' "$TMP/out")" \
			"$(tr '\n' ' ' <"$TMP/out" | sed -n 's/.*finds_in_hash: one run in 5.10 has [0-9]* [^(]*(\([+-]*\)\([0-9]*\), *with.*/\1\2/p' | tr -d +)"
		expect_grep "compare, between kernels: what costs more, and where" out \
			'^  .*(htab_map|hash).* costs [0-9]+ (more|less) in 6.1(: [+-][0-9]+ in|$)'
	fi
	vm annotate --vm "$last" straight.bpf.o --program alu100 --program alu400 --results "$WORK/annotated"
	expect_status "annotate: exit code 0" 0
	expect_grep "annotate: the kernel" out "^Linux $last\."
	expect_eq "annotate: the same counts as those of the stored run" \
		"$(awk '/by kernel function/ { exit } /STRAIGHT/ { v[++n] = $1 } END { printf "%d %.0f", n, v[2] - v[1] }' "$TMP/out")" "2 300"
	# The trace of QEMU's plugin has as many instructions as the clock counts. If not, the text
	# says both.
	expect_eq "annotate, by kernel function: both programs, without their floor" "$(grep -c '^alu.* by kernel function: ' "$TMP/out") \
$(grep -c 'by kernel function: ' "$TMP/out")" "2 2"
	expect_eq "annotate, by kernel function: as many instructions as by the clock" "$(grep -c 'the clock says' "$TMP/out")" 0
	expect_eq "annotate, by kernel function: they differ by their instructions" \
		"$(awk '/by kernel function/ { traced = 1 } traced && /STRAIGHT/ { v[++n] = $1 } END { printf "%d %.0f", n, v[2] - v[1] }' "$TMP/out")" \
		"2 300"
	# alu400 has 300 instructions more, which access no data: fetching them is 300 accesses
	# more, to whichever level.
	expect_eq "annotate, by the model of caches: accesses, and cycles that are their sum by weights" \
		"$(tr '\n' ' ' <"$TMP/out" | sed 's/  */ /g' | grep -oE '[0-9]+ accesses to L1, [0-9]+ to LL, [0-9]+ to RAM; estimated cycles [0-9]+' |
			awk '{ v[NR] = $1 + $6 + $10; ok += $1 + 5 * $6 + 35 * $10 == $16 } END { printf "%d %d", ok, v[2] - v[1] }' FS='[ ,;]')" "2 300"
	for kernel in "${here[@]}"; do
		vm annotate --vm "$kernel" maps.bpf.o --program finds_in_hash --flame "$WORK/hash.folded" --results "$WORK/annotated"
		expect_eq "$kernel: annotate, by kernel function: helpers, too" "$(grep -c 'the clock says' "$TMP/out")" 0
		expect_grep "$kernel: annotate, by kernel function: names the functions below a line" out ' (htab_map_hash|_*htab_map_lookup_elem|lookup_nulls_elem_raw)$'
		expect_eq "$kernel: the folded stacks sum to the run" "$(awk '{ sum += $NF } END { print sum }' "$WORK/hash.folded")" \
			"$(sed -n 's/^finds_in_hash by kernel function: one run, \([0-9]*\) machine.*/\1/p' "$TMP/out")"
	done
	# Each program of the object has a map of 200 MB, and a guest 1 GB of memory.
	vm --object room.bpf.o --vm "$last" --seed 4
	expect_status "more than the memory holds: exit code 0" 0
	expect_eq "more than the memory holds: each has one" \
		"$(for n in 1 2 3 4 5 6; do instructions room$n 1; done | grep -cE '^[1-9]')" 6
	# The programs differ in one constant. With this seed, and several programs attached at a time,
	# the dispatcher of XDP programs took 2 instructions more for some of them.
	expect_eq "more than the memory holds: each has the same" \
		"$(for n in 1 2 3 4 5 6; do instructions room$n 1; done | sort -u | wc -l)" 1
	vm --object room.bpf.o --max-entries pages=524288 --vm "$last"
	expect_status "more than the memory holds: exit code 0, also if none fits alone" 0
	expect_eq "more than the memory holds: each that does not fit alone has its reason" \
		"$(grep -cE "room/room[1-6]: map 'pages' .* needs about" "$TMP/out")" 6
	printf 'name: %s\nobject: room.bpf.o\nvariants:\n  - {name: absent}\n  - {name: room1, maps: [{name: pages, max_entries: 524288}]}\n%s\n' \
		full 'drive: [{with: step, trigger: fire, variants: [absent]}, {with: step, trigger: test-run, variants: [room1]}]' >"$WORK/full.yml"
	vm --scenario ./full.yml --vm "$last"
	expect_status "more than the memory holds: a scenario: exit code 1" 1
	expect_grep "more than the memory holds: a scenario: what does not load" out 'full/absent: '
	expect_grep "more than the memory holds: a scenario: the failure that ended it" out "incomplete: .*map 'pages'"
	vm check --vm "$kernels" straight.bpf.o
	expect_status "check: exit code 1 for a program that does not load" 1
	expect_grep "check: which one" out "reads_outside +loads( +no){${#here[@]}}$"
	expect_grep "check: the reason" out "straight/reads_outside: .*the verifier rejects"
	for figure in "verifier states" "stack bytes"; do expect_grep "check: $figure" out "^ +$figure( +[0-9]+){${#here[@]}}$"; done
	check "check: runs no program" sh -c "! grep -E '^ +(BPF|machine) ' '$TMP/out'"
	vm check --vm "$last" loop.bpf.o
	expect_status "check: exit code 0 if all load" 0
	guest=$cache/bpfbench/vm/$last/guest
	rm "$guest"
	vm vm build "$last"
	check "build: saves a guest" test -s "$guest"
	vm vm build "$last"
	expect_grep "build: once" err "Linux $last: its guest is there already"
	cat >"$WORK/commands" <<-'EOF'
		ls
		bpfbench check --details | grep -c tracepoint
		echo "CPUs with fast strings: $(grep -cwE 'erms|fsrm|fsrs|fzrm|fsrc' /proc/cpuinfo)"
		exit 7
	EOF
	run "${user[@]}" env -C "$WORK" XDG_CACHE_HOME="$cache" sh -c '"$0" vm shell "$1" straight.bpf.o <commands' "$BPFBENCH" "$last"
	expect_status "shell: ends with the shell's exit code" 7
	expect_grep "shell: has the file" out 'straight\.bpf\.o'
	expect_no_grep "shell: finds bpfbench and commands" out 'not found'
	# With them, memset() counts as an instruction for each byte, and QEMU 10 counts others than
	# 7.2.
	expect_grep "the CPU has no fast string instructions" out 'CPUs with fast strings: 0'
	vm vm shell "$last" none.bpf.o </dev/null
	expect_grep "shell: a file that is not there" err 'none.bpf.o: No such file'
	cp "$BPFBENCH" "$WORK/program"
	vm --object program --vm "$last"
	expect_status "bpfbench fails in the guest: exit code 1" 1
	expect_grep "bpfbench fails in the guest: its whole message" err "$last: bpfbench in the guest .*not a BPF object.* -target bpf -g -O2 -c$"
	head -c 100000 /dev/zero >"$WORK/zImage"
	vm --object straight.bpf.o --vm ./zImage
	expect_status "no kernel: exit code 1" 1
	expect_grep "no kernel: what QEMU says" err 'qemu-system-x86_64'
	# A QEMU that takes no plugin; the guest boots anew, because QEMU is another one.
	mkdir -p "$WORK/bin"
	printf '#!/bin/sh\ncase " $* " in *" -plugin "*) echo "plugins are not supported" >&2; exit 1 ;; esac\nexec %s "$@"\n' \
		"$(command -v qemu-system-x86_64)" >"$WORK/bin/qemu-system-x86_64"
	chmod 755 "$WORK/bin" "$WORK/bin/qemu-system-x86_64"
	PATH=$WORK/bin:$PATH vm annotate --vm "$last" straight.bpf.o --program alu100 --results "$WORK/annotated"
	expect_status "without plugins: exit code 0" 0
	expect_grep "without plugins: the rest is there" out "^straight/alu100/lines: "
	expect_grep "without plugins: says so" err "$last: not by kernel function: qemu-system-x86_64.*"
	expect_grep "without plugins: why" err 'plugins are not supported'
	rm -f "$cache/bpfbench/vm/${here[0]}/guest"	# booting takes longer than that
	vm --object straight.bpf.o --vm "${here[0]}" --vm-limit 1
	expect_status "a time limit: exit code 1" 1
	expect_grep "a time limit: says so" err 'did not end within 1 s of CPU time'
fi
plan_done
